//! What a command needs to know about its process: environment, working directory, language, terminal. The only place
//! that reads process globals; everything else is handed an [`AppContext`].

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fixpoint_config::{Loaded, Node, ProjectFiles, Sources, load, user_directory, with_sets};
use fixpoint_vocabulary::Lang;
use fixpoint_vocabulary::settings::Settings;

use crate::arguments::{ColorArgument, GlobalArguments, SetArguments, glob};
use crate::failure::Failure;
use crate::language::{self, say};
use crate::output::{Notices, complain};
use crate::scripted_person::DemoScript;
use crate::user_config_api;

const USUAL_WIDTH: usize = 80;
const NARROWEST: usize = 30;
const WIDEST: usize = 100;

#[derive(Debug)]
pub(crate) struct AppContext {
    environment: Vec<(OsString, OsString)>,
    working_dir: Result<PathBuf, String>,
    pub(crate) lang: Lang,
    pub(crate) notices: Notices,
    pub(crate) detail: Detail,
    pub(crate) screen: Screen,
    presence: Presence,
    trust: TrustChoice,
    /// Only in a demo.
    script: Option<Arc<dyn DemoScript>>,
}

/// How much is told about what is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    Usual,
    /// `--verbose`: also commands, times and reasons.
    Verbose,
}

/// Whether a person may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    AtTerminal,
    Nobody,
}

/// Whether what the files of a repository say is obeyed without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TrustChoice {
    IfAgreed,
    /// `--trust`, `FIXPOINT_TRUST=1`, or the demo, whose repository is our own.
    Always,
}

/// How progress is shown on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Screen {
    Silent,
    Lines(Paint),
    /// A few lines at the bottom of a terminal that are redrawn.
    Live(Paint),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    Colors,
    Plain,
}

impl AppContext {
    pub(crate) fn of_this_process(arguments: &GlobalArguments) -> Self {
        let environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        language::problem(&environment).iter().for_each(|problem| complain(problem));
        Self {
            working_dir: std::env::current_dir().map_err(|error| error.to_string()),
            lang: language::choose(arguments.lang, &environment),
            notices: if arguments.quiet { Notices::Hidden } else { Notices::Shown },
            detail: if arguments.verbose { Detail::Verbose } else { Detail::Usual },
            screen: screen(arguments, &environment),
            presence: presence(arguments),
            trust: trust(arguments, &environment),
            script: None,
            environment,
        }
    }

    /// A copy for the demo: another working directory and home, and none of the user's configuration.
    pub(crate) fn alone_in(&self, working_dir: &Path, home: &Path) -> Self {
        let is_kept = |name: &OsStr| {
            let name = name.to_string_lossy();
            !name.starts_with("XDG_") && !name.starts_with("FIXPOINT_") && name != "HOME"
        };
        let mut environment: Vec<(OsString, OsString)> =
            self.environment.iter().filter(|(name, _)| is_kept(name)).cloned().collect();
        environment.push(("HOME".into(), home.as_os_str().to_os_string()));
        Self {
            environment,
            working_dir: Ok(working_dir.to_path_buf()),
            lang: self.lang,
            notices: self.notices,
            detail: self.detail,
            screen: self.screen,
            presence: Presence::Nobody,
            trust: TrustChoice::Always,
            script: None,
        }
    }

    pub(crate) fn without_notices(&self) -> Self {
        Self {
            environment: self.environment.clone(),
            working_dir: self.working_dir.clone(),
            script: self.script.clone(),
            notices: Notices::Hidden,
            ..*self
        }
    }

    /// A copy without `--trust`.
    pub(crate) fn trusting_nothing(&self) -> Self {
        Self {
            environment: self.environment.clone(),
            working_dir: self.working_dir.clone(),
            script: self.script.clone(),
            trust: TrustChoice::IfAgreed,
            ..*self
        }
    }

    pub(crate) fn with_demo_script(self, script: Arc<dyn DemoScript>) -> Self {
        Self { script: Some(script), ..self }
    }

    pub(crate) fn demo_script(&self) -> Option<&Arc<dyn DemoScript>> {
        self.script.as_ref()
    }

    /// Whether questions can be answered: by a person at the terminal, or by the script of a demo.
    pub(crate) fn can_ask(&self) -> bool {
        self.presence == Presence::AtTerminal || self.script.is_some()
    }

    /// Whether a person is at the terminal.
    pub(crate) fn is_attended(&self) -> bool {
        self.presence == Presence::AtTerminal
    }

    pub(crate) fn trusts_all(&self) -> bool {
        self.trust == TrustChoice::Always
    }

    /// A message that is neither a result nor an error, in the language of the user.
    pub(crate) fn notice(&self, en: impl Into<String>, ja: impl Into<String>) {
        self.notices.say(&say(self.lang, en, ja));
    }

    /// The environment as text, for the clients of HTTP services.
    pub(crate) fn variables(&self) -> BTreeMap<String, String> {
        let text = |value: &OsString| value.to_string_lossy().into_owned();
        self.environment.iter().map(|(name, value)| (text(name), text(value))).collect()
    }

    pub(crate) fn environment(&self) -> &[(OsString, OsString)] {
        &self.environment
    }

    pub(crate) fn working_dir(&self) -> Result<PathBuf, Failure> {
        self.working_dir.clone().map_err(|error| {
            Failure::BadInput(format!(
                "cannot use the current directory: {error}; change to another directory"
            ))
        })
    }

    /// The width of reports on standard output: `COLUMNS`, else that of the terminal, else 80 columns; always within
    /// what can be read.
    pub(crate) fn width(&self) -> usize {
        let set = self.variable("COLUMNS").and_then(|columns| columns.to_str()?.parse().ok());
        let of_terminal =
            || terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| width.0.into());
        let columns: usize = set.or_else(of_terminal).unwrap_or(USUAL_WIDTH);
        columns.clamp(NARROWEST, WIDEST) - 1
    }

    /// Where runs are stored.
    pub(crate) fn state_dir(&self) -> Result<PathBuf, Failure> {
        self.directory("XDG_STATE_HOME", ".local/state")
    }

    /// Where private workspaces are stored.
    pub(crate) fn cache_dir(&self) -> Result<PathBuf, Failure> {
        self.directory("XDG_CACHE_HOME", ".cache")
    }

    /// The home directory, if it is one.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        self.variable("HOME").map(PathBuf::from).filter(|home| home.is_absolute() && home.parent().is_some())
    }

    fn directory(&self, variable: &str, below_home: &str) -> Result<PathBuf, Failure> {
        let absolute = |value: &OsStr| Some(PathBuf::from(value)).filter(|path| path.is_absolute());
        let named = self.variable(variable).and_then(absolute);
        let at_home = || self.variable("HOME").and_then(absolute).map(|home| home.join(below_home));
        let base = named.or_else(at_home).ok_or_else(|| {
            Failure::BadInput(format!("neither {variable} nor HOME is an absolute path; set one of them"))
        })?;
        Ok(base.join("fixpoint"))
    }

    pub(crate) fn variable(&self, name: &str) -> Option<&OsStr> {
        self.environment.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_os_str())
    }

    /// Looks a program up on the PATH.
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        let is_program = |path: &Path| {
            use std::os::unix::fs::PermissionsExt;
            path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
        };
        let directories = std::env::split_paths(self.variable("PATH")?).collect::<Vec<_>>();
        directories.into_iter().map(|directory| directory.join(name)).find(|path| is_program(path))
    }

    /// Recorded settings with `--set` on top. Configuration files and the environment are not read.
    pub(crate) fn changed(&self, recorded: &Settings, set: &SetArguments) -> Result<Settings, Failure> {
        let settings = with_sets(recorded, &set.sets)?;
        let scope = &settings.scope;
        let globs = scope.allowed_paths.iter().chain(&scope.denied_paths);
        globs
            .map(|text| glob(text))
            .find_map(Result::err)
            .map_or(Ok(()), |why| Err(Failure::BadInput(why)))?;
        Ok(settings)
    }

    /// The effective configuration, with the settings that the user configuration service has for a person, if it is
    /// enabled.
    pub(crate) fn configuration_for(
        &self,
        person: Option<&str>,
        set: &SetArguments,
    ) -> Result<Loaded, Failure> {
        let loaded = self.configuration(set)?;
        let service = &loaded.settings.user_config_api;
        if !service.enabled {
            return Ok(loaded);
        }
        let local = || self.variable("USER").map(|name| format!("local/{}", name.to_string_lossy()));
        let person =
            person.map(ToString::to_string).or_else(local).unwrap_or_else(|| "local/user".to_string());
        let answered = user_config_api::fetch(&person, service, self)
            .and_then(|node| self.loaded(set, Some(node)).map_err(|failure| failure.to_string()));
        match answered {
            Ok(loaded) => Ok(loaded),
            Err(why) if service.required => {
                Err(Failure::Unavailable(format!("cannot get the settings of {person}: {why}")))
            }
            Err(why) => {
                self.notice(
                    format!("cannot get the settings of {person}, continuing without them: {why}"),
                    format!("{person} の設定を取得できないため、なしで続行します: {why}"),
                );
                Ok(loaded)
            }
        }
    }

    /// The effective configuration in the working directory.
    pub(crate) fn configuration(&self, set: &SetArguments) -> Result<Loaded, Failure> {
        self.loaded(set, None)
    }

    /// The effective configuration without the files of the project, which is not trusted.
    pub(crate) fn own_configuration(&self, set: &SetArguments) -> Result<Loaded, Failure> {
        Ok(load(&Sources { project_files: ProjectFiles::Ignored, ..self.sources(set, None)? })?)
    }

    fn loaded(&self, set: &SetArguments, remote: Option<Node>) -> Result<Loaded, Failure> {
        Ok(load(&self.sources(set, remote)?)?)
    }

    fn sources(&self, set: &SetArguments, remote: Option<Node>) -> Result<Sources, Failure> {
        let working_dir = self.working_dir()?;
        Ok(Sources {
            user_dir: user_directory(&self.environment),
            working_dir,
            project_files: ProjectFiles::Read,
            environment: self.environment.clone(),
            user_config_api: remote,
            sets: set.sets.clone(),
        })
    }
}

fn presence(arguments: &GlobalArguments) -> Presence {
    let is_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if is_terminal && !arguments.non_interactive && !arguments.quiet {
        Presence::AtTerminal
    } else {
        Presence::Nobody
    }
}

fn trust(arguments: &GlobalArguments, environment: &[(OsString, OsString)]) -> TrustChoice {
    let is_set = environment.iter().any(|(name, value)| name == "FIXPOINT_TRUST" && value == "1");
    if arguments.trust || is_set { TrustChoice::Always } else { TrustChoice::IfAgreed }
}

fn screen(arguments: &GlobalArguments, environment: &[(OsString, OsString)]) -> Screen {
    let is_set = |name: &str| environment.iter().any(|(known, value)| known == name && !value.is_empty());
    let is_terminal = std::io::stderr().is_terminal();
    let paint = match arguments.color {
        ColorArgument::Always => Paint::Colors,
        ColorArgument::Auto if is_terminal && !is_set("NO_COLOR") => Paint::Colors,
        ColorArgument::Auto | ColorArgument::Never => Paint::Plain,
    };
    let is_dumb = environment.iter().any(|(name, value)| name == "TERM" && value == "dumb");
    if arguments.quiet {
        Screen::Silent
    } else if is_terminal && !arguments.non_interactive && !is_dumb {
        Screen::Live(paint)
    } else {
        Screen::Lines(paint)
    }
}
