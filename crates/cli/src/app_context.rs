//! What the process finds around it. The only place that reads process globals; everything else is handed this.

use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fixpoint_config::{Loaded, Node, Sources, load, user_directory, with_sets};
use fixpoint_vocabulary::Lang;
use fixpoint_vocabulary::settings::Settings;

use crate::arguments::{Arguments, ColorArgument, SetArguments};
use crate::failure::Failure;
use crate::language;
use crate::output::Notices;
use crate::personal;
use crate::scripted_person::DemoScript;

/// What the process finds around it.
#[derive(Debug)]
pub(crate) struct AppContext {
    environment: Vec<(OsString, OsString)>,
    working_dir: Result<PathBuf, String>,
    /// In which language people are spoken to.
    pub(crate) lang: Lang,
    /// Whether messages beside the result are wanted.
    pub(crate) notices: Notices,
    /// How progress is shown.
    pub(crate) screen: Screen,
    /// Whether a person sits at the terminal and may be asked.
    presence: Presence,
    /// What a demonstration adds, where this is one.
    script: Option<Arc<dyn DemoScript>>,
}

/// Whether a person may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    There,
    Nobody,
}

/// How progress is shown on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Screen {
    /// Not at all.
    Silent,
    /// Line by line.
    Lines(Paint),
    /// A few lines at the bottom of a terminal, drawn anew.
    Live(Paint),
}

/// Whether colours are used beside words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    /// They are.
    Colours,
    /// They are not.
    Plain,
}

impl AppContext {
    pub(crate) fn of_this_process(arguments: &Arguments) -> Self {
        let environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        Self {
            working_dir: std::env::current_dir().map_err(|error| error.to_string()),
            lang: language::choose(arguments.lang, &environment),
            notices: if arguments.quiet { Notices::Unsaid } else { Notices::Said },
            screen: screen(arguments, &environment),
            presence: presence(arguments),
            script: None,
            environment,
        }
    }

    /// The same, away from whatever this person has configured: at another place, with a home of its own.
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
            screen: self.screen,
            presence: Presence::Nobody,
            script: None,
        }
    }

    /// The same, without messages beside the result.
    pub(crate) fn without_notices(&self) -> Self {
        Self {
            environment: self.environment.clone(),
            working_dir: self.working_dir.clone(),
            script: self.script.clone(),
            notices: Notices::Unsaid,
            ..*self
        }
    }

    /// The same, for a demonstration.
    pub(crate) fn with_demo_script(self, script: Arc<dyn DemoScript>) -> Self {
        Self { script: Some(script), ..self }
    }

    /// What a demonstration adds, where this is one.
    pub(crate) fn demo_script(&self) -> Option<&Arc<dyn DemoScript>> {
        self.script.as_ref()
    }

    /// Whether somebody may be asked: a person at the terminal, or one whose answers are scripted.
    pub(crate) fn can_ask(&self) -> bool {
        self.presence == Presence::There || self.script.is_some()
    }

    /// The environment of this process.
    pub(crate) fn environment(&self) -> &[(OsString, OsString)] {
        &self.environment
    }

    /// Where this process works.
    pub(crate) fn working_dir(&self) -> Result<PathBuf, Failure> {
        self.working_dir.clone().map_err(|error| {
            Failure::BadInput(format!(
                "the working directory cannot be used ({error}); change to another one"
            ))
        })
    }

    /// Where runs are kept.
    pub(crate) fn state_dir(&self) -> Result<PathBuf, Failure> {
        self.directory("XDG_STATE_HOME", ".local/state")
    }

    /// Where private workspaces are kept.
    pub(crate) fn cache_dir(&self) -> Result<PathBuf, Failure> {
        self.directory("XDG_CACHE_HOME", ".cache")
    }

    fn directory(&self, variable: &str, below_home: &str) -> Result<PathBuf, Failure> {
        let absolute = |value: &OsStr| Some(PathBuf::from(value)).filter(|path| path.is_absolute());
        let named = self.variable(variable).and_then(absolute);
        let at_home = || self.variable("HOME").and_then(absolute).map(|home| home.join(below_home));
        let base = named.or_else(at_home).ok_or_else(|| {
            Failure::BadInput(format!("neither {variable} nor HOME names a directory; set one of them"))
        })?;
        Ok(base.join("fixpoint"))
    }

    /// The value of an environment variable.
    pub(crate) fn variable(&self, name: &str) -> Option<&OsStr> {
        self.environment.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_os_str())
    }

    /// The program of a name, as a shell would find it.
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        let is_program = |path: &Path| {
            use std::os::unix::fs::PermissionsExt;
            path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
        };
        let directories = std::env::split_paths(self.variable("PATH")?).collect::<Vec<_>>();
        directories.into_iter().map(|directory| directory.join(name)).find(|path| is_program(path))
    }

    /// Settings that were recorded, with others on top. Nothing else of the configuration counts.
    pub(crate) fn changed(&self, recorded: &Settings, set: &SetArguments) -> Result<Settings, Failure> {
        Ok(with_sets(recorded, &set.sets)?)
    }

    /// The effective configuration of a run for one person, with the settings a service has for them, if one is asked.
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
        let answered = personal::settings_of(&person, service, self)
            .and_then(|node| self.loaded(set, Some(node)).map_err(|failure| failure.to_string()));
        match answered {
            Ok(loaded) => Ok(loaded),
            Err(why) if service.required => {
                Err(Failure::Unavailable(format!("the settings of {person} cannot be had: {why}")))
            }
            Err(why) => {
                self.notices.say(&format!("the settings of {person} cannot be had, going on without: {why}"));
                Ok(loaded)
            }
        }
    }

    /// The effective configuration, seen from the working directory.
    pub(crate) fn configuration(&self, set: &SetArguments) -> Result<Loaded, Failure> {
        self.loaded(set, None)
    }

    fn loaded(&self, set: &SetArguments, remote: Option<Node>) -> Result<Loaded, Failure> {
        let working_dir = self.working_dir()?;
        let sources = Sources {
            user_dir: user_directory(&self.environment),
            working_dir,
            environment: self.environment.clone(),
            remote,
            sets: set.sets.clone(),
        };
        Ok(load(&sources)?)
    }
}

fn presence(arguments: &Arguments) -> Presence {
    let is_there = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if is_there && !arguments.non_interactive && !arguments.quiet {
        Presence::There
    } else {
        Presence::Nobody
    }
}

fn screen(arguments: &Arguments, environment: &[(OsString, OsString)]) -> Screen {
    let is_set = |name: &str| environment.iter().any(|(known, value)| known == name && !value.is_empty());
    let is_terminal = std::io::stderr().is_terminal();
    let paint = match arguments.color {
        ColorArgument::Always => Paint::Colours,
        ColorArgument::Auto if is_terminal && !is_set("NO_COLOR") => Paint::Colours,
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
