//! One git process: how it is started, fed, bounded in time, and what its end means.
//!
//! Owns the environment every git process gets: no `GIT_*` variable of ours or of the user's reaches it, nothing is
//! asked on a terminal, no hook, no file-system monitor, no signature and no housekeeping runs. Refuses to read what
//! git writes for people: callers ask for NUL-separated records, and a message is only ever passed on.

pub(crate) mod records;

use std::ffi::OsStr;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use fixpoint_ports::WorkspaceError;

/// Longer than any honest command on a large repository needs; a hung network mount must not hang a run.
const LIMIT: Duration = Duration::from_secs(600);
/// What is kept of a message: enough to name the cause.
const MESSAGE_BYTES: usize = 4096;

/// Settings no configuration may change, because each would run a program or touch something else. They are given on
/// the command line, which wins over every file.
const FIXED: [&str; 11] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotepath=off",
    "core.logAllRefUpdates=false",
    "core.splitIndex=false",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "diff.external=",
    "core.alternateRefsCommand=",
];

const PERSON: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "Fixpoint"),
    ("GIT_AUTHOR_EMAIL", "fixpoint@localhost"),
    ("GIT_COMMITTER_NAME", "Fixpoint"),
    ("GIT_COMMITTER_EMAIL", "fixpoint@localhost"),
];

/// Whose settings a git process reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Settings {
    /// Those of the user: system, global and repository. Only for commands that run nothing of them.
    Users,
    /// Only what lies in our own git directory.
    Ours,
}

/// What a git process left.
pub(crate) struct Ended {
    /// Its exit code; `None` when a signal ended it.
    pub(crate) code: Option<i32>,
    /// What it wrote.
    pub(crate) stdout: Vec<u8>,
    /// What it said, for a person.
    pub(crate) message: String,
}

/// A git process to be.
pub(crate) struct Git {
    subcommand: &'static str,
    command: Command,
    input: Option<Vec<u8>>,
}

impl Git {
    pub(crate) fn new(settings: Settings, subcommand: &'static str) -> Self {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"GIT_") {
                command.env_remove(name);
            }
        }
        command.env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0").env("GIT_NO_REPLACE_OBJECTS", "1");
        command.env_remove("LANGUAGE").envs(PERSON);
        match settings {
            Settings::Users => command.env("GIT_OPTIONAL_LOCKS", "0"),
            Settings::Ours => command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null"),
        };
        for setting in FIXED {
            command.arg("-c").arg(setting);
        }
        command.arg(subcommand);
        Self { subcommand, command, input: None }
    }

    pub(crate) fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    pub(crate) fn args<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.command.args(arguments);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn current_dir(mut self, directory: &Path) -> Self {
        self.command.current_dir(directory);
        self
    }

    pub(crate) fn input(mut self, bytes: Vec<u8>) -> Self {
        self.input = Some(bytes);
        self
    }

    /// What it wrote, when it succeeded.
    pub(crate) fn run(self) -> Result<Vec<u8>, WorkspaceError> {
        let command = self.subcommand;
        let ended = self.end()?;
        match ended.code {
            Some(0) => Ok(ended.stdout),
            Some(_) | None => {
                Err(WorkspaceError::Git { command: command.to_string(), message: ended.message })
            }
        }
    }

    /// The one word it wrote, such as an object's name.
    pub(crate) fn word(self) -> Result<String, WorkspaceError> {
        let bytes = self.run()?;
        Ok(String::from_utf8_lossy(bytes.trim_ascii()).into_owned())
    }

    /// How it ended, whatever its exit code.
    pub(crate) fn end(mut self) -> Result<Ended, WorkspaceError> {
        let stdin = if self.input.is_some() { Stdio::piped() } else { Stdio::null() };
        self.command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().map_err(|error| self.not_started(error))?;
        let feeder = child.stdin.take().zip(self.input.take());
        if let Some((mut pipe, bytes)) = feeder {
            // A process that ends before it has read everything is judged by its exit code, not by the broken pipe.
            std::thread::spawn(move || drop(pipe.write_all(&bytes)));
        }
        let messages = collect(child.stderr.take());
        let answers = collect(child.stdout.take());
        let Ok(stdout) = answers.recv_timeout(LIMIT) else {
            return Err(self.too_slow(&mut child));
        };
        let status = child.wait().map_err(|error| self.lost(&error))?;
        let said = messages.recv().unwrap_or_default();
        let cut = said.get(..said.len().min(MESSAGE_BYTES)).unwrap_or_default();
        let message = String::from_utf8_lossy(cut.trim_ascii()).into_owned();
        Ok(Ended { code: status.code(), stdout, message })
    }

    fn not_started(&self, error: std::io::Error) -> WorkspaceError {
        // A missing working directory is reported by the operating system as if git itself were missing.
        let directory = self.command.get_current_dir().filter(|directory| !directory.is_dir());
        match directory {
            Some(directory) => WorkspaceError::Io { path: PathBuf::from(directory), source: error },
            None => WorkspaceError::UnusableGit {
                problem: match error.kind() {
                    ErrorKind::NotFound => "git was not found on PATH".to_string(),
                    _ => format!("git cannot be started: {error}"),
                },
                remedy: format!("install git {}.{} or newer", OLDEST.0, OLDEST.1),
            },
        }
    }

    fn too_slow(&self, child: &mut Child) -> WorkspaceError {
        // Errors of these two only say that it has just ended by itself.
        drop(child.kill());
        drop(child.wait());
        let message = format!("did not end within {} seconds", LIMIT.as_secs());
        WorkspaceError::Git { command: self.subcommand.to_string(), message }
    }

    fn lost(&self, error: &std::io::Error) -> WorkspaceError {
        WorkspaceError::Git { command: self.subcommand.to_string(), message: error.to_string() }
    }
}

/// Reads a pipe to its end on a thread of its own, so that no pipe can fill up and stop the process.
fn collect<R: Read + Send + 'static>(pipe: Option<R>) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read before an error is what there is.
            drop(pipe.read_to_end(&mut bytes));
        }
        drop(sender.send(bytes));
    });
    receiver
}

/// The oldest git that the tests pass with. `merge-tree --write-tree` is missing before 2.38.
const OLDEST: (u32, u32) = (2, 39);

/// The version of the git on `PATH`, unless it is too old.
pub fn git_version() -> Result<String, WorkspaceError> {
    let printed = Git::new(Settings::Ours, "version").word()?;
    supported_version(&printed)
}

fn supported_version(printed: &str) -> Result<String, WorkspaceError> {
    let version = printed.split_ascii_whitespace().nth(2).unwrap_or_default();
    let mut numbers = version.split('.').map_while(|part| part.parse::<u32>().ok());
    let needed = format!("Fixpoint needs git {}.{} or newer", OLDEST.0, OLDEST.1);
    let problem = match (numbers.next(), numbers.next()) {
        (Some(major), Some(minor)) if (major, minor) >= OLDEST => return Ok(version.to_string()),
        (Some(_), Some(_)) => format!("git {version} is too old: {needed}"),
        _ => format!("{needed}, and `git version` printed `{printed}`"),
    };
    let remedy = "upgrade git, or put a newer one first on PATH".to_string();
    Err(WorkspaceError::UnusableGit { problem, remedy })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_installed_git_is_accepted_and_a_missing_directory_is_not_called_a_missing_git() {
        git_version().unwrap();
        let gone = Git::new(Settings::Ours, "version").current_dir(Path::new("/no/such/directory")).run();
        assert!(matches!(gone, Err(WorkspaceError::Io { .. })), "{gone:?}");
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        let rows = [
            ("Debian 12", "git version 2.39.5", Some("2.39.5")),
            ("macOS", "git version 2.39.5 (Apple Git-154)", Some("2.39.5")),
            ("a release candidate", "git version 2.50.0.rc1", Some("2.50.0.rc1")),
            ("built from source", "git version 2.47.GIT", Some("2.47.GIT")),
            ("the next major version", "git version 3.0.0", Some("3.0.0")),
            ("two digits less", "git version 2.9.5", None),
            ("Ubuntu 22.04", "git version 2.34.1", None),
            ("the one before", "git version 2.38.5", None),
            ("no number", "git version unknown", None),
            ("another program", "hello", None),
        ];
        for (row, printed, version) in rows {
            assert_eq!(supported_version(printed).ok().as_deref(), version, "{row}");
        }
        let error = supported_version("git version 2.34.1").unwrap_err().to_string();
        let expected = "git 2.34.1 is too old: Fixpoint needs git 2.39 or newer; upgrade git, or put a newer one first on PATH";
        assert_eq!(error, expected);
    }

    #[test]
    fn large_input_and_output_do_not_block_each_other() {
        let lines = "x\n".repeat(1_000_000);
        let answer = Git::new(Settings::Ours, "stripspace").input(lines.clone().into_bytes()).run().unwrap();
        assert_eq!(answer.len(), lines.len());
    }

    #[test]
    fn a_refusal_carries_the_command_and_its_message() {
        let refused = Git::new(Settings::Ours, "rev-parse").arg("--verify").arg("no such thing").run();
        let Err(WorkspaceError::Git { command, message }) = refused else { panic!("{refused:?}") };
        assert_eq!((command.as_str(), message.is_empty()), ("rev-parse", false));
    }
}
