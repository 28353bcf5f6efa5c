//! What a confined program sees: the system, its tools, and what it is given; nothing else of the user's.
//!
//! Owns the rules by which tools are found (tables, `PATH`, variables, the program itself). Reads directories, changes nothing.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use fixpoint_ports::{FileAccess, Invocation, Program, Purpose};

use crate::places::{Place, Places};
use crate::private::PrivateDirectory;
use crate::spec::Mechanism;
use crate::tables::{self, Row};

/// Variables whose value is a directory or a file of a toolchain, or several of them.
const TOOL_VARIABLES: &str = "
    CARGO_HOME RUSTUP_HOME GOPATH GOROOT GOCACHE GOMODCACHE JAVA_HOME M2_HOME MAVEN_HOME GRADLE_HOME GRADLE_USER_HOME
    ANDROID_HOME DOTNET_ROOT NVM_DIR NVM_BIN VOLTA_HOME FNM_DIR PNPM_HOME COREPACK_HOME BUN_INSTALL DENO_DIR
    NPM_CONFIG_CACHE npm_config_cache PYENV_ROOT VIRTUAL_ENV CONDA_PREFIX UV_CACHE_DIR UV_PYTHON POETRY_HOME PIP_CACHE_DIR
    GEM_HOME RBENV_ROOT ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR COMPOSER_HOME MIX_HOME HEX_HOME PKG_CONFIG_PATH PYTHONPATH
    NODE_PATH PIP_FIND_LINKS SSL_CERT_FILE SSL_CERT_DIR PIP_CERT REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS";
/// Where the directories below the home directory are, if a variable says otherwise.
const MOVED: [(&str, &str); 4] = [
    (".config", "XDG_CONFIG_HOME"),
    (".local/share", "XDG_DATA_HOME"),
    (".local/state", "XDG_STATE_HOME"),
    (".cache", "XDG_CACHE_HOME"),
];
/// Variables that name the directory in which an agent keeps its settings and sessions.
const AGENT_VARIABLES: [&str; 5] =
    ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "OPENCODE_CONFIG_DIR", "GEMINI_CLI_HOME", "AIDER_HOME"];
/// Directories of a working tree that hold installed packages, not the user's work.
const INSTALLED: [&str; 4] = [".venv", "venv", "node_modules", ".direnv"];

/// Directories that all programs of the machine write to.
const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// What is the same for all programs of a run.
#[derive(Debug, Clone, Default)]
pub struct SandboxPolicy {
    pub home: Option<PathBuf>,
    /// The user's working tree. Of it, only installed packages are visible.
    pub working_tree: Option<PathBuf>,
    /// Where results are read from: the objects of the user's repository.
    pub objects: Vec<PathBuf>,
    /// Directories that no rule makes visible as a whole: state and caches of ours.
    pub protected: Vec<PathBuf>,
    /// The agent, by its kind or the name of its program.
    pub agent: String,
    /// As configured.
    pub read: Vec<PathBuf>,
    pub write: Vec<PathBuf>,
    pub hide: Vec<PathBuf>,
}

/// The places of one program, as they are collected.
struct Collector<'a> {
    policy: &'a SandboxPolicy,
    mechanism: Mechanism,
    private: &'a PrivateDirectory,
    access: &'a FileAccess,
    environment: &'a [(OsString, OsString)],
    places: Places,
}

impl SandboxPolicy {
    pub(crate) fn places(
        &self,
        invocation: &Invocation,
        mechanism: Mechanism,
        private: &PrivateDirectory,
    ) -> std::io::Result<Places> {
        let (access, environment) = (&invocation.access, invocation.environment.as_slice());
        let places = Places::default();
        let mut collector = Collector { policy: self, mechanism, private, access, environment, places };
        collector.system();
        collector.own_directories()?;
        collector.home_rows(tables::home())?;
        if access.purpose == Purpose::Agent {
            collector.home_rows(tables::of_agent(&self.agent))?;
            collector.agent_directories()?;
        }
        collector.given();
        collector.tools(invocation);
        Ok(collector.places)
    }

    /// Whether a directory holds more than tools: it is the user's home, or holds it, or what is protected.
    fn is_too_wide(&self, path: &Path) -> bool {
        let inner = self.home.iter().chain(&self.working_tree).chain(&self.protected);
        path.parent().is_none() || inner.into_iter().any(|inner| inner.starts_with(path))
    }
}

impl Collector<'_> {
    fn system(&mut self) {
        for (row, path) in tables::system() {
            let path = PathBuf::from(path);
            match (row, fs::symlink_metadata(&path)) {
                (_, Err(_)) => {}
                (Row::Hide, Ok(_)) => self.places.add(path, Place::Hidden),
                (_, Ok(found)) if found.is_symlink() => {
                    if let Ok(to) = fs::read_link(&path) {
                        self.places.add(path, Place::Link(to));
                    }
                }
                (_, Ok(_)) => match self.mechanism {
                    Mechanism::Namespaces => self.places.add(path.clone(), Place::Read { from: path }),
                    Mechanism::Landlock => {
                        let own = self
                            .policy
                            .home
                            .iter()
                            .chain(&self.policy.working_tree)
                            .chain(&self.policy.protected);
                        let hidden: Vec<PathBuf> =
                            own.cloned().chain(TEMPORARY.iter().map(PathBuf::from)).collect();
                        self.read_but(&path, hidden);
                    }
                },
            }
        }
        if self.mechanism == Mechanism::Landlock {
            for path in ["/proc", "/dev"] {
                self.places.add(path.into(), Place::Read { from: path.into() });
            }
            for path in ["/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/shm", "/dev/pts"] {
                self.places.add(path.into(), Place::Write { from: path.into() });
            }
        }
    }

    /// A directory without what is hidden in it. Landlock cannot take anything back, so what lies beside is named.
    fn read_but(&mut self, path: &Path, mut hidden: Vec<PathBuf>) {
        let is_hidden = |(row, _): &(Row, &str)| matches!(row, Row::Hide | Row::Private);
        hidden.extend(tables::system().filter(is_hidden).map(|(_, path)| PathBuf::from(path)));
        if let Some(home) = &self.policy.home {
            let rows = tables::home().chain(tables::of_agent(&self.policy.agent)).filter(is_hidden);
            hidden.extend(rows.map(|(_, path)| home.join(path)));
        }
        hidden.extend(self.policy.hide.iter().cloned());
        let mut open = vec![path.to_path_buf()];
        while let Some(path) = open.pop() {
            if hidden.iter().any(|hidden| path.starts_with(hidden)) {
            } else if hidden.iter().any(|hidden| hidden.starts_with(&path)) {
                let entries = fs::read_dir(&path).into_iter().flatten().flatten();
                open.extend(entries.filter(|entry| !entry.path().is_symlink()).map(|entry| entry.path()));
            } else {
                self.places.add(path.clone(), Place::Read { from: path });
            }
        }
    }

    /// The home directory and those for temporary files are ours. The user's own are empty, even where they lie in a
    /// directory of the system.
    fn own_directories(&mut self) -> std::io::Result<()> {
        if self.mechanism == Mechanism::Landlock {
            self.write(&self.private.temporary());
            return Ok(());
        }
        for at in TEMPORARY {
            self.places.add(at.into(), Place::Private { from: self.private.temporary() });
        }
        for path in self.policy.working_tree.iter().chain(&self.policy.protected) {
            if self.places.shows(path) {
                let from = self.private.empty(path)?;
                self.places.add(path.clone(), Place::Private { from });
            }
        }
        let Some(home) = &self.policy.home else { return Ok(()) };
        let place = match &self.access.home_before {
            Some(before) if self.private.has_layers() => {
                let lower = vec![crate::private::home_in(before)?];
                self.layered(Path::new(""), lower)?
            }
            Some(_) | None => Place::Private { from: self.private.home()? },
        };
        self.places.add(home.clone(), place);
        Ok(())
    }

    fn layered(&self, name: &Path, mut lower: Vec<PathBuf>) -> std::io::Result<Place> {
        if let Some(before) = self.access.home_before.as_ref().filter(|_| !name.as_os_str().is_empty())
            && let Some(layer) = crate::private::layer_in(before, name)
        {
            lower.insert(0, layer);
        }
        let (upper, work) = self.private.layer(name)?;
        Ok(Place::Layered { lower, upper, work })
    }

    fn home_rows(&mut self, rows: impl Iterator<Item = (Row, &'static str)>) -> std::io::Result<()> {
        let Some(home) = self.policy.home.clone() else { return Ok(()) };
        for (row, name) in rows {
            let at = self.moved(name).unwrap_or_else(|| home.join(name));
            let found = fs::metadata(&at);
            match (row, found) {
                (Row::Private, _) => self.private_below_home(&at, name)?,
                (_, Err(_)) => {}
                (Row::Hide, Ok(_)) => self.places.add(at, Place::Hidden),
                (Row::Read | Row::Tool, Ok(found)) if found.is_dir() => {
                    self.tool_directory(at, Path::new(name))?
                }
                (Row::Read, Ok(_)) => self.agent_file(at, name)?,
                (Row::Tool, Ok(_)) => self.places.add(at.clone(), Place::Read { from: at }),
                (Row::Return, Ok(_)) => {}
            }
        }
        Ok(())
    }

    fn variable(&self, name: &str) -> Option<&OsString> {
        self.environment.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// The place of a directory that a variable moved out of the home directory.
    fn moved(&self, name: &str) -> Option<PathBuf> {
        MOVED.iter().find_map(|(usual, variable)| {
            let below = Path::new(name).strip_prefix(usual).ok()?;
            let directory = PathBuf::from(self.variable(variable)?);
            directory.is_absolute().then(|| directory.join(below))
        })
    }

    /// The directories that variables name for an agent. Its sessions are in them, so changes are kept for the run.
    fn agent_directories(&mut self) -> std::io::Result<()> {
        for name in AGENT_VARIABLES {
            let directory = self.variable(name).map(PathBuf::from);
            if let Some(directory) =
                directory.filter(|directory| directory.is_absolute() && directory.is_dir())
            {
                self.tool_directory(directory.clone(), Path::new(name))?;
            }
        }
        Ok(())
    }

    /// Transcripts of an agent: others are hidden, its own are kept for the run.
    fn private_below_home(&mut self, at: &Path, name: &str) -> std::io::Result<()> {
        if self.mechanism == Mechanism::Landlock {
            self.write(at);
            return Ok(());
        }
        let from = self.private.kept(Path::new(name))?;
        self.places.add(at.to_path_buf(), Place::Private { from });
        Ok(())
    }

    /// A file of settings: a copy, so that the agent can replace it.
    fn agent_file(&mut self, at: PathBuf, name: &str) -> std::io::Result<()> {
        match self.mechanism {
            Mechanism::Landlock => self.places.add(at.clone(), Place::Write { from: at }),
            Mechanism::Namespaces => self.private.copy_into_home(&at, Path::new(name))?,
        }
        Ok(())
    }

    /// A directory of tools or packages.
    fn tool_directory(&mut self, at: PathBuf, name: &Path) -> std::io::Result<()> {
        let from = fs::canonicalize(&at)?;
        match self.mechanism {
            Mechanism::Namespaces if self.private.has_layers() => {
                let place = self.layered(name, vec![from])?;
                self.places.add(at, place);
            }
            Mechanism::Namespaces => self.places.add(at, Place::Read { from }),
            Mechanism::Landlock => self.read_but(&from, Vec::new()),
        }
        Ok(())
    }

    /// What the caller and the configuration name.
    fn given(&mut self) {
        let (access, policy) = (self.access, self.policy);
        for path in access.readable.iter().chain(&policy.objects).chain(&policy.read) {
            self.read(path);
        }
        for path in access.writable.iter().chain(&policy.write) {
            self.write(path);
        }
        for path in &policy.hide {
            self.places.add(path.clone(), Place::Hidden);
        }
        let installed =
            policy.working_tree.iter().flat_map(|tree| INSTALLED.iter().map(|name| tree.join(name)));
        for path in installed.filter(|path| path.is_dir()) {
            self.read(&path);
        }
    }

    fn read(&mut self, path: &Path) {
        if let Ok(from) = fs::canonicalize(path) {
            for at in [path, from.as_path()] {
                if !self.places.shows(at) {
                    self.places.add(at.to_path_buf(), Place::Read { from: from.clone() });
                }
            }
        }
    }

    fn write(&mut self, path: &Path) {
        if let Ok(from) = fs::canonicalize(path) {
            for at in [path, from.as_path()] {
                self.places.add(at.to_path_buf(), Place::Write { from: from.clone() });
            }
        }
    }

    /// Tools that are in no table: found by `PATH`, by variables, and by what is started.
    fn tools(&mut self, invocation: &Invocation) {
        let path = self.variable("PATH").cloned().unwrap_or_default();
        for directory in std::env::split_paths(&path) {
            self.path_entry(&directory);
        }
        let values = TOOL_VARIABLES.split_whitespace().filter_map(|name| self.variable(name).cloned());
        for value in values.collect::<Vec<OsString>>() {
            for named in std::env::split_paths(&value).filter(|named| named.is_absolute()) {
                self.tool(&named);
            }
        }
        match &invocation.program {
            Program::Direct { program, arguments } => self.started(program, arguments, &path),
            Program::Shell(_) => {}
        }
    }

    fn tool(&mut self, path: &Path) {
        if !self.policy.is_too_wide(path) {
            self.read(path);
        }
    }

    /// A directory of programs. What they need is beside them: `lib` beside `bin`, a virtual environment, packages of Node.
    fn path_entry(&mut self, directory: &Path) {
        if !directory.is_absolute() || self.places.shows(directory) {
            return;
        }
        let name = directory.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let whole =
            directory.parent().filter(|_| matches!(name, "bin" | "sbin" | ".bin" | "shims" | "Scripts"));
        match whole.filter(|whole| !self.policy.is_too_wide(whole) && !is_mixed(whole)) {
            Some(whole) => self.read(whole),
            None => self.tool(directory),
        }
    }

    /// The program that is started, and the files it is given.
    fn started(&mut self, program: &OsString, arguments: &[OsString], path: &OsStr) {
        let program = Path::new(program);
        let is_named = program.components().count() > 1;
        let found = if is_named {
            Some(program.to_path_buf())
        } else {
            std::env::split_paths(path).map(|directory| directory.join(program)).find(|file| file.is_file())
        };
        let words = arguments.iter().map(PathBuf::from).filter(|word| word.is_absolute());
        for file in found.into_iter().filter(|file| file.is_absolute()).chain(words) {
            let Ok(real) = fs::canonicalize(&file) else { continue };
            self.tool(&file);
            if let Some(packages) = outermost_packages(&real) {
                self.tool(&packages);
            } else if real.is_file()
                && let Some(directory) = real.parent()
            {
                self.tool(directory);
            }
        }
    }
}

/// Whether a directory holds programs beside settings and secrets.
fn is_mixed(directory: &Path) -> bool {
    let name = directory.file_name().and_then(OsStr::to_str).unwrap_or_default();
    matches!(name, ".local" | ".config" | ".cache" | ".ssh" | "local" | "share")
}

/// The directory with all packages of Node that a file is among.
fn outermost_packages(file: &Path) -> Option<PathBuf> {
    file.ancestors()
        .filter(|above| above.file_name().is_some_and(|name| name == "node_modules"))
        .last()
        .map(Path::to_path_buf)
}
