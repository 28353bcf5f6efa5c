//! Running a program under limits, so that nothing of it is left afterwards, whatever it does.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::Cancel;

/// What is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// A program with its arguments, found on the `PATH` of the environment given.
    Direct {
        /// The program.
        program: OsString,
        /// Its arguments.
        arguments: Vec<OsString>,
    },
    /// A command line for `sh -c`.
    Shell(String),
}

/// What the program reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing: end of file at once.
    Closed,
    /// These bytes, then end of file.
    Bytes(Vec<u8>),
}

/// How long and how much.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The whole run, by the monotonic clock.
    pub wall: Duration,
    /// The longest time without any output.
    pub silence: Option<Duration>,
    /// Between asking the program to end and making it.
    pub grace: Duration,
    /// Bytes of output kept in the file: the first half of this and the last half.
    pub kept_output: u64,
}

/// A program to run. The environment is complete: nothing is inherited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// What is run.
    pub program: Program,
    /// Where.
    pub directory: PathBuf,
    /// With which environment.
    pub environment: Vec<(OsString, OsString)>,
    /// What it reads.
    pub stdin: Stdin,
    /// Under which limits.
    pub limits: Limits,
    /// The file that receives its output, both streams as they come.
    pub output: PathBuf,
}

/// Why a program is no longer running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExitCause {
    /// It ended by itself with this code.
    Exited(i32),
    /// A signal of somebody else's ended it.
    Signalled(i32),
    /// It took too long and was ended.
    TimedOut,
    /// It was silent for too long and was ended.
    Silent,
    /// It was ended because a stop was asked for.
    Cancelled,
    /// It could not be started: the program does not exist, or may not be run.
    NotStarted(String),
}

/// The output that was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// The file.
    pub path: PathBuf,
    /// Bytes the program wrote.
    pub written: u64,
    /// Bytes left out of the middle.
    pub left_out: u64,
}

/// How a run ended. When this exists, no process of it is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Why it is no longer running.
    pub cause: ExitCause,
    /// How long it ran.
    pub duration: Duration,
    /// What it wrote.
    pub output: Captured,
    /// Processes of its tree that had to be ended.
    pub stragglers: u32,
}

/// Why nothing can be said about a run.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The output cannot be kept, as on a full disk: make space and try again.
    #[error("cannot keep the output in {}: {source}", .path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The supervisor could not be started or was killed; its processes are gone with it.
    #[error("the supervisor failed: {0}")]
    Supervisor(String),
}

/// Runs programs under supervision.
pub trait Processes: Send + Sync {
    /// Runs a program to its end. `progress` sees the output as it comes, in pieces of bounded size.
    fn run(
        &self,
        invocation: &Invocation,
        cancel: &Cancel,
        progress: &mut dyn FnMut(&[u8]),
    ) -> Result<Ended, ProcessError>;
}
