//! Why a run cannot be used, by what the caller can do about it.

use std::path::Path;

use fixpoint_engine::RecordError;
use fixpoint_journal::OpenError;

use crate::damage::RunDamage;
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
    #[error("run {run} is damaged: {}{}", .damage.problem, remedy(.run, .damage))]
    Damaged { run: RunId, damage: RunDamage },
    /// Nothing was done: start another one.
    #[error("run {run} never began: its process ended before the first record; `fixpoint gc` deletes it")]
    NeverBegan { run: RunId },
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

/// What to do about damage. Without its opening a run cannot continue.
fn remedy(run: &RunId, damage: &RunDamage) -> String {
    if damage.is_repairable {
        format!("; `fixpoint resume --repair {run}` does that, keeps the cut bytes in a file, and continues")
    } else {
        format!("; `fixpoint rm --force {run}` deletes the run")
    }
}

impl RunError {
    /// A journal could not be opened.
    pub fn journal(run: &RunId, error: &OpenError) -> Self {
        match error {
            OpenError::Damaged(damage) => {
                Self::Damaged { run: run.clone(), damage: RunDamage::of_journal(damage) }
            }
            OpenError::NoSpace(_) | OpenError::Unavailable(_) => Self::unavailable(run, error),
            OpenError::Missing(_)
            | OpenError::Exists(_)
            | OpenError::Newer { .. }
            | OpenError::TooLarge { .. } => Self::Unreadable { run: run.clone(), why: error.to_string() },
        }
    }

    pub(crate) fn record(run: &RunId, error: &RecordError) -> Self {
        match RunDamage::of_record(error) {
            Some(damage) => Self::Damaged { run: run.clone(), damage },
            None => Self::Unreadable { run: run.clone(), why: error.to_string() },
        }
    }

    pub(crate) fn io(path: &Path, error: &std::io::Error) -> Self {
        Self::Unavailable { what: path.display().to_string(), why: error.to_string() }
    }

    pub(crate) fn unavailable(run: &RunId, error: &impl std::fmt::Display) -> Self {
        Self::Unavailable { what: format!("run {run}"), why: error.to_string() }
    }
}
