//! Private working directories at a commit, and trees taken out of them.

use std::path::{Path, PathBuf};

use fixpoint_vocabulary::work::{BranchUpdate, CommitId, TreeId};

use crate::cancel::Cancel;

/// What a slot is for. A slot an agent has worked in never serves a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// An agent works in it.
    Agent,
    /// Checks run in it.
    Check,
}

/// What is asked for with a slot.
#[derive(Debug, Clone, Copy)]
pub struct SlotRequest<'a> {
    /// What it is for.
    pub purpose: Purpose,
    /// The commit its files shall be at.
    pub at: &'a CommitId,
    /// The reference, below `refs/fixpoint/`, under which the tree is kept if nobody takes it: because this process
    /// dies, or because the slot is dropped before. `None` where nothing in the slot is worth keeping.
    pub unfinished: Option<&'a str>,
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

/// Two commits brought together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedTree {
    /// A commit with both as its parents.
    pub commit: CommitId,
    /// Its tree.
    pub tree: TreeId,
    /// The paths where the two sides conflict: their files hold both sides, marked as git marks them.
    pub conflicts: Vec<Vec<u8>>,
}

/// Work that nobody had taken, and that is now kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rescued {
    /// Where it is kept: the reference that was named with the request, with a number behind it if other work was
    /// kept there already.
    pub reference: String,
    /// A commit that holds it, on top of the slot's base.
    pub commit: CommitId,
    /// Its tree.
    pub tree: TreeId,
}

/// A slot whose work could not be taken. Its files lie aside until housekeeping removes them by age.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// Where the files are.
    pub directory: PathBuf,
    /// The reference they were meant for, where that is still known.
    pub reference: Option<String>,
    /// Why they could not be taken.
    pub why: String,
}

/// What came of looking after the slots of processes that are gone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rescue {
    /// What was kept just now.
    pub kept: Vec<Rescued>,
    /// What lies aside, from now or from earlier.
    pub lost: Vec<Lost>,
}

/// What a file that is in no commit is like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stamp {
    /// An ordinary file.
    File {
        /// The hash of its content.
        content: [u8; 32],
        /// Whether its owner may execute it.
        executable: bool,
    },
    /// A symbolic link, by what it points to.
    Link(Vec<u8>),
    /// A socket, a pipe or a device, which is never opened.
    Special,
}

/// One file of a slot that its commit does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoredFile {
    /// The path from the root of the slot, as bytes.
    pub path: Vec<u8>,
    /// What it is like.
    pub stamp: Stamp,
}

/// Why a file was not copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NotCopied {
    /// The pattern is absolute or goes up.
    LeavesTheTree,
    /// It is no ordinary file: a link, or a repository of its own.
    NoFile,
    /// A directory on its way is a link in the slot.
    ThroughLink,
    /// The slot's commit has it, or does not ignore it.
    NotIgnoredThere,
}

/// What came of copying ignored files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Copied {
    /// Paths that were copied.
    pub copied: Vec<Vec<u8>>,
    /// Patterns and paths that were not, and why.
    pub refused: Vec<(Vec<u8>, NotCopied)>,
}

/// How the differences between two commits are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffStyle {
    /// As a patch.
    Patch,
    /// A line for each path with the number of its changed lines, and a line with the sums.
    Stat,
    /// The paths alone, a line each; one with control characters is quoted as git quotes.
    Names,
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
    /// Git is missing or too old: every other operation will fail too.
    #[error("{problem}; {remedy}")]
    UnusableGit { problem: String, remedy: String },
    /// There is no repository here, or none with a working tree that git agrees to use and that holds a file.
    #[error("{problem}; {remedy}")]
    UnusableRepository { problem: String, remedy: String },
    #[error("`{0}` is not a commit of this repository")]
    NoSuchCommit(String),
    /// This is not allowed as the name of a reference or of a note.
    #[error("`{0}` is not a valid name")]
    InvalidName(String),
    /// The file is larger than the caller wants to hold in memory.
    #[error("`{path}` has {bytes} bytes; the limit is {limit}")]
    TooLarge { path: String, bytes: u64, limit: u64 },
    /// The disk is full, or too full for another slot: the caller can wait for space.
    #[error("not enough disk space: {0}")]
    NoSpace(String),
    #[error("all {0} workspaces are in use; stop another run, or wait for it")]
    AllInUse(u32),
    /// A stop was asked for while waiting for a slot.
    #[error("stopped while waiting for a workspace")]
    Cancelled,
    /// Git failed, or printed something that cannot be parsed.
    #[error("`git {command}` failed: {message}")]
    Git { command: String, message: String },
    #[error("{}: {source}", .path.display())]
    Io { path: PathBuf, source: std::io::Error },
}

/// A private working directory at a commit. Dropping it gives it back.
///
/// Unless the tree was taken or the work was abandoned before, what it holds then is kept under the reference of the
/// request, by whoever uses the slot next or asks for a rescue, in this process or in another.
pub trait Slot: Send {
    /// Where it is.
    fn directory(&self) -> &Path;
    /// Takes the tree as it is now, whatever the agent did to its own repository, and keeps it as a commit under
    /// `refs/fixpoint/` of the user's repository. From then on nothing is unfinished.
    fn take(&mut self, reference: &str, message: &str) -> Result<TakenTree, WorkspaceError>;
    /// Says that nothing in the slot is worth keeping. Should that not reach the disk, it is kept all the same.
    fn abandon(&mut self);
    /// What was noted about the slot under a name, by whoever had it last, in whichever process. A slot that was
    /// built from nothing has no notes.
    fn note(&self, name: &str) -> Option<Vec<u8>>;
    /// Notes something about the slot, such as what its caches were made from. A name has small letters, digits and
    /// hyphens. The caches can go without the note when a commit no longer ignores them: what is noted should name
    /// what decides that too.
    fn set_note(&self, name: &str, content: &[u8]) -> Result<(), WorkspaceError>;
    /// The files of the slot that its commit does not have and the caller wants, sorted by path.
    ///
    /// No ignore rule is asked, because those in the tree are the agent's to change: right after `acquire` such files
    /// are the ignored ones, and later those and whatever was added. So a file that an agent wrote is in this list
    /// whether it made it ignored or not, and one that it removed is missing. Only the agent's own `.git` at the root
    /// is passed over. Comparing two lists tells what changed outside of the commit; only wanted files are read.
    fn ignored(&self, wanted: &dyn Fn(&[u8]) -> bool) -> Result<Vec<IgnoredFile>, WorkspaceError>;
}

/// The user's repository, never touched but to receive results.
pub trait Workspaces: Send + Sync {
    /// The user's tree as it is, uncommitted work included, kept under `reference`.
    fn snapshot(&self, reference: &str) -> Result<Snapshot, WorkspaceError>;
    /// The commit a revision names, kept under `reference`.
    fn resolve(&self, revision: &str, reference: &str) -> Result<Snapshot, WorkspaceError>;
    /// A slot at a commit. A stop that is asked for ends the waiting; a slot that is free is given all the same.
    fn acquire(&self, request: &SlotRequest<'_>, cancel: &Cancel) -> Result<Box<dyn Slot>, WorkspaceError>;
    /// Keeps at once what is unfinished in slots that nobody holds.
    fn rescue(&self) -> Result<Rescue, WorkspaceError>;
    /// Copies ignored files of the user's tree that match the patterns (git's, from the root) into a slot of these
    /// workspaces. A pattern that names a directory means all ignored files under it.
    fn copy_ignored(&self, slot: &dyn Slot, patterns: &[String]) -> Result<Copied, WorkspaceError>;
    /// The paths that differ between two commits.
    fn changes(&self, from: &CommitId, to: &CommitId) -> Result<Vec<Change>, WorkspaceError>;
    /// The differences between two commits as git writes them, without colours and renames.
    fn diff(&self, from: &CommitId, to: &CommitId, style: DiffStyle) -> Result<Vec<u8>, WorkspaceError>;
    /// The content of a file of a commit; `None` where the commit has no ordinary file. One that is larger than the
    /// limit is refused.
    fn read_file(&self, at: &CommitId, path: &[u8], limit: u64) -> Result<Option<Vec<u8>>, WorkspaceError>;
    /// Several files of a commit at once, each as [`Workspaces::read_file`] gives it; one that is too large is `None`.
    fn read_files(
        &self,
        at: &CommitId,
        paths: &[&[u8]],
        limit: u64,
    ) -> Result<Vec<Option<Vec<u8>>>, WorkspaceError>;
    /// The paths of all files of a commit, sorted.
    fn files(&self, at: &CommitId) -> Result<Vec<Vec<u8>>, WorkspaceError>;
    /// The first lines of the messages of a commit and of those before it, the newest first.
    fn recent(&self, at: &CommitId, most: u32) -> Result<Vec<String>, WorkspaceError>;
    /// A commit that is `onto` with these paths as they are in `from` (absent there: removed), kept under
    /// `reference`.
    fn graft(
        &self,
        onto: &CommitId,
        from: &CommitId,
        paths: &[Vec<u8>],
        reference: &str,
    ) -> Result<TakenTree, WorkspaceError>;
    /// A commit that is `onto` with these files as they are given, kept under `reference`.
    fn overlay(
        &self,
        onto: &CommitId,
        files: &[(Vec<u8>, Vec<u8>)],
        reference: &str,
    ) -> Result<TakenTree, WorkspaceError>;
    /// The commit two have in common and `merge` compares both with; `None` where there is none.
    fn merge_base(&self, ours: &CommitId, theirs: &CommitId) -> Result<Option<CommitId>, WorkspaceError>;
    /// What two commits changed since the commit they have in common, together, kept under `reference`.
    fn merge(
        &self,
        ours: &CommitId,
        theirs: &CommitId,
        reference: &str,
    ) -> Result<MergedTree, WorkspaceError>;
    /// Makes a branch at a commit, or moves it forward to it. Doing it again changes nothing.
    fn deliver_branch(&self, branch: &str, commit: &CommitId) -> Result<BranchUpdate, WorkspaceError>;
    /// Moves a branch of the user's forward to a commit. A branch that is checked out is left alone: its files would
    /// no longer be those of its commit.
    fn fast_forward(&self, branch: &str, commit: &CommitId) -> Result<BranchUpdate, WorkspaceError>;
}
