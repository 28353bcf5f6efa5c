//! Running a program under limits. When it has ended, no process that it started is left.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::Cancel;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// `program` is looked up on the `PATH` of the environment given.
    Direct { program: OsString, arguments: Vec<OsString> },
    /// A command line for `sh -c`.
    Shell(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing: end of file at once.
    Closed,
    /// These bytes, then end of file.
    Bytes(Vec<u8>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessLimits {
    /// For the whole run, by the monotonic clock.
    pub wall: Duration,
    /// The longest time without any output.
    pub silence: Option<Duration>,
    pub grace: Duration,
    /// Bytes of output kept in the file: the first half of this and the last half.
    pub kept_output: u64,
}

/// What a program is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Purpose {
    /// A coding agent. It may see what it needs to sign in.
    Agent,
    Check,
    SetUp,
    /// A question about the program itself, such as its version.
    #[default]
    Question,
}

/// The files that a program needs beside the system and its tools. Nothing else of the user's is visible where programs are
/// confined.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileAccess {
    pub purpose: Purpose,
    pub writable: Vec<PathBuf>,
    pub readable: Vec<PathBuf>,
    /// What the program writes to the user's home directory is kept here, for later programs; `None` discards it.
    pub home: Option<PathBuf>,
    /// The `home` of an earlier program, whose files this one sees and does not change.
    pub home_before: Option<PathBuf>,
}

/// A program to run. The environment is complete: nothing is inherited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    pub program: Program,
    pub access: FileAccess,
    pub directory: PathBuf,
    pub environment: Vec<(OsString, OsString)>,
    pub stdin: Stdin,
    pub limits: ProcessLimits,
    /// The file for the output: stdout and stderr in the order in which they are written.
    pub output: PathBuf,
}

/// Why a program is no longer running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExitCause {
    /// It exited with this code.
    Exited(i32),
    /// A signal that we did not send killed it.
    Signalled(i32),
    /// It was stopped at the limit of the whole run.
    TimedOut,
    /// It was stopped because it printed nothing for too long.
    Silent,
    /// It was stopped because a stop was asked for.
    Cancelled,
    /// It could not be started: the program does not exist, or may not be run.
    NotStarted(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapturedOutput {
    pub path: PathBuf,
    /// Bytes that the program wrote.
    pub written: u64,
    /// Bytes that were cut out of the middle.
    pub omitted: u64,
}

/// How a program ended. When this exists, no process of its tree does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessExit {
    pub cause: ExitCause,
    pub duration: Duration,
    pub output: CapturedOutput,
    /// Processes besides the program itself that had to be killed.
    pub stragglers: u32,
    /// What the program could not reach because it was confined, as far as its output tells.
    pub refused: Vec<RefusedAccess>,
}

/// A file that a confined program could not reach.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RefusedAccess {
    pub kind: AccessKind,
    pub path: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccessKind {
    Read,
    Write,
}

/// Why the end of a program is unknown.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The output cannot be written, as on a full disk.
    #[error("cannot write the output to {}: {source}", .path.display())]
    Output { path: PathBuf, source: std::io::Error },
    /// The supervisor could not be started or was killed.
    #[error("the supervisor failed: {0}")]
    Supervisor(String),
}

pub trait Processes: Send + Sync {
    /// Runs a program to its end. `progress` gets the output as it is written, in chunks of bounded size.
    fn run(
        &self,
        invocation: &Invocation,
        cancel: &Cancel,
        progress: &mut dyn FnMut(&[u8]),
    ) -> Result<ProcessExit, ProcessError>;
}
