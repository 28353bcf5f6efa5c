//! Private working directories at a commit, and trees taken out of them.

use std::path::{Path, PathBuf};

use fixpoint_vocabulary::work::{CommitId, TreeId};

/// What a slot is for. A slot an agent has worked in never serves a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// An agent works in it.
    Agent,
    /// Checks run in it.
    Check,
}

/// Where a base comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotOrigin {
    /// The commit the user has checked out, which the working tree equals.
    Commit,
    /// The working tree as it is, uncommitted work included.
    WorkingTree,
}

/// The state of the user's repository at the beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// A commit that holds it.
    pub commit: CommitId,
    /// Its tree.
    pub tree: TreeId,
    /// Where it comes from.
    pub origin: SnapshotOrigin,
}

/// What an agent left in a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenTree {
    /// A commit in the user's repository that holds it, on top of the slot's base.
    pub commit: CommitId,
    /// Its tree.
    pub tree: TreeId,
}

/// How a path differs between two commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// Its content is another.
    Modified,
    /// It is gone.
    Deleted,
    /// Its mode or type is another (executable, link, submodule).
    TypeChanged,
}

/// One path that differs between two commits. A rename is a deletion and an addition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path from the root of the repository, as bytes.
    pub path: Vec<u8>,
    /// How it differs.
    pub kind: ChangeKind,
    /// Lines added and removed; `None` for what has no lines.
    pub lines: Option<u64>,
}

/// Why a workspace operation failed.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// This is no repository: change to one, or make one.
    #[error("{} is not inside a git repository", .0.display())]
    NotARepository(PathBuf),
    /// The repository has no commit and no file yet.
    #[error("the repository holds nothing yet: add a file first")]
    Empty,
    /// There is no such commit.
    #[error("`{0}` names no commit")]
    NoSuchCommit(String),
    /// The disk is full, or too full for another slot: make space and try again.
    #[error("not enough space for a workspace: {0}")]
    NoSpace(String),
    /// All slots are in use by other processes.
    #[error("all {0} workspaces are in use; stop another run, or wait")]
    Busy(u32),
    /// Git is not installed or too old.
    #[error("git cannot be used: {0}")]
    NoGit(String),
    /// Git refused.
    #[error("git {command} failed: {message}")]
    Git {
        /// The subcommand.
        command: String,
        /// Its message.
        message: String,
    },
    /// The file system refused.
    #[error("{}: {source}", .path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// A private working directory at a commit. Dropping it gives it back.
pub trait Slot: Send {
    /// Where it is.
    fn directory(&self) -> &Path;
    /// Takes the tree as it is now, whatever the agent did to its own repository, and keeps it as a commit under
    /// `refs/fixpoint/` of the user's repository.
    fn take(&mut self, reference: &str, message: &str) -> Result<TakenTree, WorkspaceError>;
}

/// The user's repository, never touched but to receive results.
pub trait Workspaces: Send + Sync {
    /// The user's tree as it is, uncommitted work included, kept under `reference`.
    fn snapshot(&self, reference: &str) -> Result<Snapshot, WorkspaceError>;
    /// The commit a revision names, kept under `reference`.
    fn resolve(&self, revision: &str, reference: &str) -> Result<Snapshot, WorkspaceError>;
    /// A slot at a commit.
    fn acquire(&self, purpose: Purpose, at: &CommitId) -> Result<Box<dyn Slot>, WorkspaceError>;
    /// The paths that differ between two commits.
    fn changes(&self, from: &CommitId, to: &CommitId) -> Result<Vec<Change>, WorkspaceError>;
    /// A commit that is `onto` with these paths as they are in `from` (absent there: removed), kept under
    /// `reference`.
    fn graft(
        &self,
        onto: &CommitId,
        from: &CommitId,
        paths: &[Vec<u8>],
        reference: &str,
    ) -> Result<TakenTree, WorkspaceError>;
}
