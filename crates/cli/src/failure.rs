//! Why a command ended without its result, by what the user can do about it. Each message stays on one line unless
//! it lists several problems.

use std::io;
use std::path::PathBuf;

use fixpoint_config::ConfigErrors;
use fixpoint_engine::EngineError;
use fixpoint_journal::OpenError;
use fixpoint_ports::{BlobError, JournalError, WorkspaceError};
use fixpoint_runs::RunError;

/// Why a command ended without its result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The input is wrong: correct it.
    #[error("{0}")]
    BadInput(String),
    /// The configuration is wrong: correct it.
    #[error("{0}")]
    Configuration(#[from] ConfigErrors),
    /// A file could not be read: name another, or make it readable.
    #[error("cannot read {}: {source}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Standard input could not be read.
    #[error("cannot read standard input: {0}")]
    NoInput(io::Error),
    /// Standard output could not be written, as on a full disk: make space, or write elsewhere.
    #[error("cannot write the result: {0}")]
    NoOutput(io::Error),
    /// Whoever read the output has gone.
    #[error("nobody reads the output any more")]
    ReaderGone,
    /// The repository or its workspaces cannot be used.
    #[error("{0}")]
    Workspace(#[from] WorkspaceError),
    /// The run cannot be used.
    #[error("{0}")]
    Run(#[from] RunError),
    /// The run could not go on; it can be resumed once the reason is gone.
    #[error("{source}\nThe run is kept: once the reason is gone, `fixpoint resume {run}` goes on.")]
    Interrupted {
        /// The run.
        run: String,
        /// Why.
        source: EngineError,
    },
    /// A file could not be written: make space, or make it writable.
    #[error("cannot write {}: {source}", .path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Something needed is not here.
    #[error("{0}")]
    Unavailable(String),
    /// Fixpoint itself is at fault.
    #[error("internal error: {0}; please report it")]
    Internal(String),
}

impl Failure {
    /// The exit code: 2 for what the user can correct, 7 for what is needed and not to be had, 1 for what is ours.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::BadInput(_) | Self::Configuration(_) | Self::Unreadable { .. } => 2,
            Self::NoInput(_) | Self::NoOutput(_) | Self::ReaderGone | Self::Internal(_) => 1,
            Self::Workspace(error) => of_workspace(error),
            Self::Run(error) => of_run(error),
            Self::Interrupted { source, .. } => of_engine(source),
            Self::Unwritable { .. } | Self::Unavailable(_) => 7,
        }
    }
}

fn of_workspace(error: &WorkspaceError) -> u8 {
    match error {
        WorkspaceError::UnusableRepository { .. }
        | WorkspaceError::NoSuchCommit(_)
        | WorkspaceError::InvalidName(_)
        | WorkspaceError::TooLarge { .. } => 2,
        WorkspaceError::UnusableGit { .. }
        | WorkspaceError::NoSpace(_)
        | WorkspaceError::AllInUse(_)
        | WorkspaceError::Git { .. }
        | WorkspaceError::Io { .. } => 7,
        WorkspaceError::Cancelled => 130,
    }
}

fn of_run(error: &RunError) -> u8 {
    match error {
        RunError::NoSuchRun(_) | RunError::NoRuns | RunError::Unclear { .. } => 2,
        RunError::Locked { .. } | RunError::Io { .. } | RunError::Blobs { .. } => 7,
        RunError::Journal { source, .. } => match source {
            OpenError::NoSpace(_) | OpenError::Unavailable(_) => 7,
            OpenError::Missing(_)
            | OpenError::Exists(_)
            | OpenError::Damaged(_)
            | OpenError::Newer { .. }
            | OpenError::TooLarge { .. } => 1,
        },
        RunError::Damaged { .. } | RunError::Record { .. } => 1,
    }
}

fn of_engine(error: &EngineError) -> u8 {
    match error {
        EngineError::Journal(JournalError::NoSpace(_) | JournalError::Unwritable(_))
        | EngineError::Journal(JournalError::Fenced { .. })
        | EngineError::Blob(BlobError::NoSpace(_) | BlobError::Unavailable(_)) => 7,
        EngineError::Journal(JournalError::TooLarge { .. })
        | EngineError::Blob(BlobError::Missing(_) | BlobError::Damaged(_))
        | EngineError::Record(_)
        | EngineError::OutOfPlace(_)
        | EngineError::Silence
        | EngineError::Encoding(_) => 1,
    }
}

impl From<serde_json::Error> for Failure {
    /// Only for values of our own: what a user wrote is read with an error that names its place.
    fn from(error: serde_json::Error) -> Self {
        Self::Internal(error.to_string())
    }
}
