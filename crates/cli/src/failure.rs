//! Why a command failed, by what the user can do about it. A message is one line unless it lists several problems.

use std::io;
use std::path::PathBuf;

use fixpoint_config::ConfigErrors;
use fixpoint_engine::EngineError;
use fixpoint_ports::{BlobError, JournalError, WorkspaceError};
use fixpoint_runs::RunError;

/// What to do if runs or workspaces cannot be stored.
pub(crate) const STORAGE_REMEDY: &str = "set XDG_CACHE_HOME and XDG_STATE_HOME to a writable directory";

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The input is wrong: correct it.
    #[error("{0}")]
    BadInput(String),
    /// The configuration is wrong: correct it.
    #[error("{}", without_repeated_key(.0))]
    Configuration(#[from] ConfigErrors),
    /// The repository asks for something that nobody agreed to: trust it, or type the commands.
    #[error("{0}")]
    NotTrusted(String),
    /// A file could not be read: name another, or make it readable.
    #[error("cannot read {}: {source}", .path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    /// Standard input could not be read.
    #[error("cannot read standard input: {0}")]
    NoInput(io::Error),
    /// Standard output could not be written, as on a full disk: make space, or write elsewhere.
    #[error("cannot write the result: {0}")]
    NoOutput(io::Error),
    /// The repository or its workspaces cannot be used.
    #[error("{0}")]
    Workspace(#[from] WorkspaceError),
    /// The run cannot be used.
    #[error("{0}")]
    Run(#[from] RunError),
    /// The run could not continue; it can be resumed when the cause is fixed.
    #[error("{source}\nThe run is saved. When the cause is fixed, `fixpoint resume {run}` continues it.")]
    Interrupted { run: String, source: EngineError },
    /// `fixpoint check` could not continue; it stores nothing, so it is run again when the cause is fixed.
    #[error("{0}\nWhen the cause is fixed, run `fixpoint check` again.")]
    NotCompared(EngineError),
    /// A file could not be written: make space, or make it writable.
    #[error("cannot write {}: {source}", .path.display())]
    Unwritable { path: PathBuf, source: io::Error },
    /// Runs or workspaces cannot be stored: name another directory.
    #[error("cannot write to {}: {source}; {STORAGE_REMEDY}", .path.display())]
    NoStorage { path: PathBuf, source: io::Error },
    /// Something that was stored is not what was written.
    #[error("{0}")]
    Damaged(String),
    /// Something needed is missing.
    #[error("{0}")]
    Unavailable(String),
    /// A defect of Fixpoint.
    #[error("internal error: {0}; please report this")]
    Internal(String),
}

impl Failure {
    /// 2 if the user can correct it, 5 if a person must agree, 7 if something needed is unavailable, 1 if it is a defect
    /// of Fixpoint.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::BadInput(_) | Self::Configuration(_) | Self::Unreadable { .. } => 2,
            Self::NotTrusted(_) => 5,
            Self::NoInput(_) | Self::Internal(_) | Self::Damaged(_) => 1,
            Self::Workspace(error) => of_workspace(error),
            Self::Run(error) => of_run(error),
            Self::Interrupted { source, .. } | Self::NotCompared(source) => of_engine(source),
            Self::NoOutput(_) | Self::Unwritable { .. } | Self::NoStorage { .. } | Self::Unavailable(_) => 7,
        }
    }
}

/// `--set KEY: KEY: …` names the key once.
fn without_repeated_key(errors: &ConfigErrors) -> String {
    let line = |line: &str| {
        let named = line.strip_prefix("--set ").and_then(|line| line.split_once(": "));
        let repeated = named.filter(|(key, rest)| rest.starts_with(key));
        repeated.map_or_else(|| line.to_string(), |(_, rest)| format!("--set {rest}"))
    };
    errors.to_string().lines().map(line).collect::<Vec<_>>().join("\n")
}

fn of_workspace(error: &WorkspaceError) -> u8 {
    match error {
        WorkspaceError::UnusableRepository { .. }
        | WorkspaceError::NoSuchCommit(_)
        | WorkspaceError::InvalidName(_)
        | WorkspaceError::TooLarge { .. } => 2,
        WorkspaceError::UnusableGit { .. }
        | WorkspaceError::NoSpace(_)
        | WorkspaceError::PermissionDenied(_)
        | WorkspaceError::AllInUse(_)
        | WorkspaceError::Git { .. }
        | WorkspaceError::Io { .. } => 7,
        WorkspaceError::Cancelled => 130,
    }
}

fn of_run(error: &RunError) -> u8 {
    match error {
        RunError::NoSuchRun(_) | RunError::NoRuns | RunError::Ambiguous { .. } => 2,
        RunError::Held { .. } | RunError::Unavailable { .. } => 7,
        RunError::Damaged { .. } | RunError::Unreadable { .. } => 1,
        RunError::NeverBegan { .. } => 2,
    }
}

fn of_engine(error: &EngineError) -> u8 {
    match error {
        EngineError::Journal(JournalError::NoSpace(_) | JournalError::Unwritable(_))
        | EngineError::Journal(JournalError::Fenced { .. })
        | EngineError::Blob(BlobError::NoSpace(_) | BlobError::Unavailable(_)) => 7,
        EngineError::Journal(JournalError::TooLarge { .. })
        | EngineError::Blob(BlobError::Missing(_) | BlobError::Damaged(_))
        | EngineError::Defect(_) => 1,
    }
}

impl From<serde_json::Error> for Failure {
    /// Only for values of our own: what a user wrote is read with an error that names its place.
    fn from(error: serde_json::Error) -> Self {
        Self::Internal(error.to_string())
    }
}
