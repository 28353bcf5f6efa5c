//! Why a run cannot be used, by what the caller can do about it.

use std::path::Path;

use fixpoint_engine::RecordError;
use fixpoint_journal::{Damage, OpenError};

use crate::directory::RunId;

/// Why a run cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Name another run.
    #[error("no run named `{0}`; `fixpoint list` lists the runs of this repository")]
    NoSuchRun(String),
    /// Start a run first.
    #[error("this repository has no runs yet; see `fixpoint loop --help`")]
    NoRuns,
    /// Type more of the name.
    #[error("`{name}` is ambiguous; it could be {}", .candidates.join(", "))]
    Ambiguous { name: String, candidates: Vec<String> },
    /// Repair the journal, knowing what that loses.
    #[error(
        "run {run}: the journal is {damage}; `fixpoint resume --repair {run}` does that, keeps the cut bytes in a file, and continues"
    )]
    Damaged { run: RunId, damage: Damage },
    /// Give it up, or use another version of the program.
    #[error("run {run}: {why}")]
    Unreadable { run: RunId, why: String },
    /// Wait for the other process, or stop it.
    #[error("process {pid} is already working on {run}; `fixpoint stop {run}` ends it")]
    Held { run: RunId, pid: u32 },
    /// Try again once the disk has space or the other process has ended. `what` is a run or a path.
    #[error("{what}: {why}")]
    Unavailable { what: String, why: String },
}

impl RunError {
    /// A journal could not be opened.
    pub fn journal(run: &RunId, error: &OpenError) -> Self {
        match error {
            OpenError::Damaged(damage) => Self::Damaged { run: run.clone(), damage: *damage },
            OpenError::NoSpace(_) | OpenError::Unavailable(_) => Self::unavailable(run, error),
            OpenError::Missing(_)
            | OpenError::Exists(_)
            | OpenError::Newer { .. }
            | OpenError::TooLarge { .. } => Self::Unreadable { run: run.clone(), why: error.to_string() },
        }
    }

    pub(crate) fn record(run: &RunId, error: &RecordError) -> Self {
        Self::Unreadable { run: run.clone(), why: error.to_string() }
    }

    pub(crate) fn io(path: &Path, error: &std::io::Error) -> Self {
        Self::Unavailable { what: path.display().to_string(), why: error.to_string() }
    }

    pub(crate) fn unavailable(run: &RunId, error: &impl std::fmt::Display) -> Self {
        Self::Unavailable { what: format!("run {run}"), why: error.to_string() }
    }
}
