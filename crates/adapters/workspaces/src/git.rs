//! One git process: how it is started, its input and output, its time limit, its errors.
//!
//! Owns the environment of every git process: no `GIT_*` variable from outside reaches it, nothing is asked on a
//! terminal, and no program that the configuration of a repository names is started (see [`isolation`]). Refuses to depend
//! on messages for people: callers ask for NUL-separated records. What git prints about an error is only passed on.

mod isolation;
pub(crate) mod parse;
mod version;

use std::ffi::OsStr;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use fixpoint_ports::WorkspaceError;

pub(crate) use self::isolation::ConfigFiles;
use self::version::OLDEST;
pub use self::version::git_version;

/// More than any command needs on a large repository, so that a hung network mount does not hang a run.
const TIME_LIMIT: Duration = Duration::from_secs(600);
/// What is kept of an error message.
const MESSAGE_BYTES: usize = 4096;

const FULL_DISK: [&str; 2] = ["No space left on device", "Disk quota exceeded"];

const IDENTITY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "Fixpoint"),
    ("GIT_AUTHOR_EMAIL", "fixpoint@localhost"),
    ("GIT_COMMITTER_NAME", "Fixpoint"),
    ("GIT_COMMITTER_EMAIL", "fixpoint@localhost"),
];

pub(crate) struct GitOutput {
    subcommand: &'static str,
    /// `None` if a signal killed it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    /// The beginning of what it wrote to stderr.
    pub(crate) message: String,
}

impl GitOutput {
    pub(crate) fn succeeded(&self) -> bool {
        self.code == Some(0)
    }

    /// The only line it printed, such as an object's name.
    pub(crate) fn line(&self) -> String {
        String::from_utf8_lossy(self.stdout.trim_ascii()).into_owned()
    }

    /// What it printed, if it succeeded.
    pub(crate) fn checked(self) -> Result<Vec<u8>, WorkspaceError> {
        if self.succeeded() { Ok(self.stdout) } else { Err(self.error()) }
    }

    pub(crate) fn error(&self) -> WorkspaceError {
        let message = match (self.message.as_str(), self.code) {
            ("", Some(code)) => format!("exit code {code}"),
            ("", None) => "killed by a signal".to_string(),
            (message, _) => message.to_string(),
        };
        // The exit code is the same for a full disk; the message is not, and git runs in the C locale.
        if FULL_DISK.iter().any(|text| message.contains(text)) {
            return WorkspaceError::NoSpace(format!("`git {}` failed: {message}", self.subcommand));
        }
        WorkspaceError::Git { command: self.subcommand.to_string(), message }
    }
}

/// A git process that is not started yet.
pub(crate) struct GitCommand {
    subcommand: &'static str,
    command: Command,
    input: Option<Vec<u8>>,
}

impl GitCommand {
    pub(crate) fn new(config: ConfigFiles, subcommand: &'static str) -> Self {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"GIT_") {
                command.env_remove(name);
            }
        }
        command.env("LC_ALL", "C").env_remove("LANGUAGE").envs(IDENTITY);
        isolation::apply(&mut command, config);
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

    /// Runs it, and returns what it printed. An exit code other than 0 is an error.
    pub(crate) fn run(self) -> Result<Vec<u8>, WorkspaceError> {
        self.output()?.checked()
    }

    /// Runs it, and returns the only line it printed. An exit code other than 0 is an error.
    pub(crate) fn run_for_line(self) -> Result<String, WorkspaceError> {
        let output = self.output()?;
        if output.succeeded() { Ok(output.line()) } else { Err(output.error()) }
    }

    /// Runs it, whatever its exit code.
    pub(crate) fn output(self) -> Result<GitOutput, WorkspaceError> {
        let (mut output, stdout) = self.output_through(|pipe| read_all(pipe))?;
        output.stdout = stdout;
        Ok(output)
    }

    /// Runs it, and returns what `read` made of what it printed. An exit code other than 0 is an error.
    pub(crate) fn run_through<T: Send + 'static>(
        self,
        read: impl FnOnce(&mut dyn Read) -> T + Send + 'static,
    ) -> Result<T, WorkspaceError> {
        let (output, read) = self.output_through(read)?;
        output.checked().map(|_| read)
    }

    fn output_through<T: Send + 'static>(
        mut self,
        read: impl FnOnce(&mut dyn Read) -> T + Send + 'static,
    ) -> Result<(GitOutput, T), WorkspaceError> {
        let stdin = if self.input.is_some() { Stdio::piped() } else { Stdio::null() };
        self.command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().map_err(|error| self.not_started(error))?;
        if let Some((mut pipe, bytes)) = child.stdin.take().zip(self.input.take()) {
            // A process that exits before it has read everything is judged by its exit code, not by the broken pipe.
            std::thread::spawn(move || drop(pipe.write_all(&bytes)));
        }
        let stderr = on_thread(child.stderr.take(), |pipe| read_all(pipe));
        let stdout = on_thread(child.stdout.take(), read);
        let Ok(stdout) = stdout.recv_timeout(TIME_LIMIT) else {
            return Err(self.timed_out(&mut child));
        };
        let status = child.wait().map_err(|error| self.error(error.to_string()))?;
        let stderr = stderr.recv().unwrap_or_default();
        let beginning = stderr.get(..stderr.len().min(MESSAGE_BYTES)).unwrap_or_default();
        let message = String::from_utf8_lossy(beginning.trim_ascii()).into_owned();
        let output =
            GitOutput { subcommand: self.subcommand, code: status.code(), stdout: Vec::new(), message };
        Ok((output, stdout))
    }

    fn not_started(&self, error: std::io::Error) -> WorkspaceError {
        // The operating system reports a missing working directory as if git itself were missing.
        let directory = self.command.get_current_dir().filter(|directory| !directory.is_dir());
        if let Some(directory) = directory {
            return WorkspaceError::Io { path: PathBuf::from(directory), source: error };
        }
        let problem = if error.kind() == ErrorKind::NotFound {
            "git was not found on PATH".to_string()
        } else {
            format!("git cannot be started: {error}")
        };
        let remedy = format!("install git {}.{} or newer", OLDEST.0, OLDEST.1);
        WorkspaceError::UnusableGit { problem, remedy }
    }

    fn timed_out(&self, child: &mut Child) -> WorkspaceError {
        // These two fail only if it has just exited by itself.
        drop(child.kill());
        drop(child.wait());
        self.error(format!("killed after {} seconds", TIME_LIMIT.as_secs()))
    }

    fn error(&self, message: String) -> WorkspaceError {
        WorkspaceError::Git { command: self.subcommand.to_string(), message }
    }
}

/// Reads a pipe on a thread of its own, so that git never waits for a full pipe.
fn on_thread<R: Read + Send + 'static, T: Send + 'static>(
    pipe: Option<R>,
    read: impl FnOnce(&mut dyn Read) -> T + Send + 'static,
) -> mpsc::Receiver<T> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let result = match pipe {
            Some(mut pipe) => read(&mut pipe),
            None => read(&mut std::io::empty()),
        };
        drop(sender.send(result));
    });
    receiver
}

/// Everything up to the end; what was read before an error is still used.
fn read_all(pipe: &mut dyn Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    drop(pipe.read_to_end(&mut bytes));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_directory_is_not_reported_as_a_missing_git() {
        let failed = GitCommand::new(ConfigFiles::Private, "version")
            .current_dir(Path::new("/no/such/directory"))
            .run();
        assert!(matches!(failed, Err(WorkspaceError::Io { .. })), "{failed:?}");
    }

    #[test]
    fn large_input_and_output_do_not_block_each_other() {
        let lines = "x\n".repeat(1_000_000);
        let output = GitCommand::new(ConfigFiles::Private, "stripspace")
            .input(lines.clone().into_bytes())
            .run()
            .unwrap();
        assert_eq!(output.len(), lines.len());
    }

    #[test]
    fn an_error_has_the_command_and_its_message() {
        let failed =
            GitCommand::new(ConfigFiles::Private, "rev-parse").arg("--verify").arg("no such thing").run();
        let Err(WorkspaceError::Git { command, message }) = failed else { panic!("{failed:?}") };
        assert_eq!((command.as_str(), message.is_empty()), ("rev-parse", false));
    }
}
