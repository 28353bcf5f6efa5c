//! Why a command could not be executed.

use std::path::PathBuf;

use fixpoint_ports::{BlobError, ProcessError, WorkspaceError};

use crate::right_tree::TreeProblem;

/// Somebody reacts to each variant but the last, which is only a message for people.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExecuteError {
    #[error("stopped")]
    Cancelled,
    #[error("the set-up command `{command}` {why}; its output is in {}", .log.display())]
    SetUp { command: String, why: String, log: PathBuf },
    /// An attempt replaced a directory with something else, or with a link that leads out of the workspace.
    #[error("{} is no longer a directory of the workspace", .0.display())]
    NotADirectory(PathBuf),
    /// A check would use the user's working tree instead of its slot.
    #[error("{}", .0.text())]
    WrongTree(TreeProblem),
    #[error("{0}")]
    Failed(String),
}

impl ExecuteError {
    /// Names the file an error is about.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Failed(format!("{}: {source}", path.into().display()))
    }
}

impl From<WorkspaceError> for ExecuteError {
    fn from(error: WorkspaceError) -> Self {
        if matches!(error, WorkspaceError::Cancelled) {
            Self::Cancelled
        } else {
            Self::Failed(error.to_string())
        }
    }
}

impl From<ProcessError> for ExecuteError {
    fn from(error: ProcessError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<BlobError> for ExecuteError {
    fn from(error: BlobError) -> Self {
        Self::Failed(error.to_string())
    }
}
