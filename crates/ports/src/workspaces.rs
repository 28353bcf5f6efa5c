//! Private working directories at a commit ("slots"), and what is read from and stored in the user's repository.

use std::path::{Path, PathBuf};

use fixpoint_vocabulary::work::{BranchUpdate, CommitId, TreeId};

use crate::cancel::Cancel;

/// What a slot is for. A slot in which an agent has worked is never used for checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SlotPurpose {
    Agent,
    Check,
}

#[derive(Debug, Clone, Copy)]
pub struct SlotRequest<'a> {
    pub purpose: SlotPurpose,
    /// The commit to check out.
    pub at: &'a CommitId,
    /// The reference, below `refs/fixpoint/`, under which the files are stored if nobody commits them: because this
    /// process dies, or because the slot is dropped before. `None` if nothing in the slot is worth keeping.
    pub recover_as: Option<&'a str>,
    pub leftovers: SlotLeftovers,
}

/// What a slot holds beside its commit, such as build output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SlotLeftovers {
    /// What earlier users left and the commit ignores.
    #[default]
    Kept,
    /// What was there when [`Slot::capture_pristine`] was called last; nothing if it never was.
    Pristine,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotOrigin {
    /// The working tree has no changes since this commit.
    Commit,
    /// The working tree as it is, uncommitted changes included.
    WorkingTree,
}

/// Directories of the user's working tree that are no part of a snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// A slot has an empty directory in place of each.
    pub submodules: Vec<Vec<u8>>,
    /// Untracked repositories.
    pub nested_repositories: Vec<Vec<u8>>,
}

/// The state of the user's repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub commit: CommitId,
    pub tree: TreeId,
    pub origin: SnapshotOrigin,
    pub left_out: LeftOut,
}

/// A commit that was made and stored, with its tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommittedTree {
    pub commit: CommitId,
    pub tree: TreeId,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedTree {
    /// A commit with both as its parents.
    pub commit: CommitId,
    pub tree: TreeId,
    /// The paths with conflicts. Their files hold both sides between git's conflict markers.
    pub conflicts: Vec<Vec<u8>>,
}

/// Work that nobody had committed, and that is stored now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoveredWork {
    /// The reference of the request, with a number behind it if other work was stored there already.
    pub reference: String,
    /// A commit on top of the commit that was checked out.
    pub commit: CommitId,
    pub tree: TreeId,
}

/// A slot whose work could not be read. Its directory is set aside until `prune` deletes it by age.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnrecoveredSlot {
    pub directory: PathBuf,
    /// The reference that the work was meant for, if that is still known.
    pub reference: Option<String>,
    pub reason: String,
}

/// The unfinished work in slots of processes that are gone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovery {
    /// What was stored just now.
    pub recovered: Vec<RecoveredWork>,
    /// What is set aside, from now or from earlier.
    pub unrecovered: Vec<UnrecoveredSlot>,
}

/// What a file that is in no commit is like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileState {
    /// `content` is a hash of the content.
    File { content: [u8; 32], executable: bool },
    /// A symbolic link, by what it points to.
    Link(Vec<u8>),
    /// A socket, a pipe or a device, which is never opened.
    Special,
}

/// A file in a slot that is not in the commit that was checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UntrackedFile {
    /// From the root of the slot, as bytes.
    pub path: Vec<u8>,
    pub state: FileState,
}

/// Why a file was not copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CopyRefusal {
    /// The pattern is absolute or contains `..`.
    OutsideTree,
    /// It is a link that leaves the tree by `..`, or a repository of its own.
    NotAFile,
    /// One of its directories is a link in the slot.
    BehindSymlink,
    /// It is in the slot's commit, or is not ignored there.
    NotIgnored,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CopyReport {
    pub copied: Vec<Vec<u8>>,
    /// Patterns and paths that were not copied.
    pub refused: Vec<(Vec<u8>, CopyRefusal)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffStyle {
    /// For reading: of a binary file only that it differs.
    Patch,
    /// For `git apply`: binary files with their contents.
    CompletePatch,
    /// One line for each path with the number of changed lines, and one with the sums.
    Stat,
    /// One path per line. A path with control characters is quoted as git does it.
    Names,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    Added,
    Modified,
    Deleted,
    /// The mode or type differs (executable, link).
    TypeChanged,
    /// A submodule is added, deleted, at another commit, or replaced by something else.
    Submodule,
}

/// A path that differs between two commits. A rename is a deletion and an addition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// From the root of the repository, as bytes.
    pub path: Vec<u8>,
    pub kind: ChangeKind,
    /// Lines added and removed; `None` for binary files and submodules.
    pub lines: Option<u64>,
}

/// A symbolic link in a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SymbolicLink {
    /// From the root of the repository, as bytes.
    pub path: Vec<u8>,
    pub target: Vec<u8>,
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
    #[error("no space left on device: {0}")]
    NoSpace(String),
    /// A path of the user's working tree that may not be read or changed.
    #[error("permission denied: {0}")]
    PermissionDenied(String),
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

/// A private working directory at a commit. Dropping it makes it free for others.
///
/// What it holds then, unless it was committed or abandoned before, is stored under the reference of the request by
/// whoever uses the slot next or calls [`Workspaces::recover`], in this process or in another.
pub trait Slot: Send {
    fn directory(&self) -> &Path;
    /// Commits the files as they are, whatever the agent did to its own repository, on top of the commit that was
    /// checked out, and stores that in the user's repository. From then on nothing is unfinished.
    fn commit(&mut self, reference: &str, message: &str) -> Result<CommittedTree, WorkspaceError>;
    /// Says that nothing in the slot is worth keeping. If this cannot be written to the disk, it is kept after all.
    fn abandon(&mut self);
    /// The files of the commit that have another content now, or are gone, sorted by path.
    fn changed_files(&self) -> Result<Vec<Vec<u8>>, WorkspaceError>;
    /// Makes what is in the slot beside its commit, and its notes, the pristine state of the slot.
    fn capture_pristine(&mut self) -> Result<(), WorkspaceError>;
    /// What was noted about the slot under a name by whoever had it last, in whichever process. A slot that was
    /// built from nothing has no notes.
    fn note(&self, name: &str) -> Option<Vec<u8>>;
    /// Notes something about the slot, such as what its caches were built from. A name has small letters, digits and
    /// hyphens. The note can outlive the caches: they are deleted when a commit no longer ignores them. So the note
    /// should name what decides that, too.
    fn set_note(&self, name: &str, content: &[u8]) -> Result<(), WorkspaceError>;
    /// The files that are not in the commit that was checked out and that the caller wants, sorted by path.
    ///
    /// Ignore rules do not count, because an agent can change them. Right after `acquire` these are the ignored files;
    /// later they are those and whatever was added. So comparing two lists tells what changed outside of the commit.
    /// The agent's own `.git` at the root is left out. Only wanted files are read.
    fn untracked_files(&self, wanted: &dyn Fn(&[u8]) -> bool) -> Result<Vec<UntrackedFile>, WorkspaceError>;
}

/// The user's repository. Nothing in it changes but objects and references below `refs/fixpoint/`.
pub trait Workspaces: Send + Sync {
    /// The user's working tree as it is, uncommitted changes included, stored under `reference`.
    fn snapshot(&self, reference: &str) -> Result<Snapshot, WorkspaceError>;
    /// The commit that a revision names, stored under `reference`.
    fn resolve(&self, revision: &str, reference: &str) -> Result<Snapshot, WorkspaceError>;
    /// A slot with a commit checked out. A stop ends the waiting; a slot that is free is given all the same.
    fn acquire(&self, request: &SlotRequest<'_>, cancel: &Cancel) -> Result<Box<dyn Slot>, WorkspaceError>;
    /// Stores what is unfinished in slots that nobody holds.
    fn recover(&self) -> Result<Recovery, WorkspaceError>;
    /// Copies ignored files of the user's tree that match the patterns (git's, from the root) into a slot of these
    /// workspaces. A pattern that names a directory means all ignored files in it.
    fn copy_ignored(&self, slot: &dyn Slot, patterns: &[String]) -> Result<CopyReport, WorkspaceError>;
    fn changes(&self, from: &CommitId, to: &CommitId) -> Result<Vec<FileChange>, WorkspaceError>;
    /// The differences between two commits as git prints them, without colours and renames.
    fn diff(&self, from: &CommitId, to: &CommitId, style: DiffStyle) -> Result<Vec<u8>, WorkspaceError>;
    /// The content of a file in a commit; `None` if there is no regular file at that path. A file larger than `limit`
    /// bytes is an error.
    fn read_file(&self, at: &CommitId, path: &[u8], limit: u64) -> Result<Option<Vec<u8>>, WorkspaceError>;
    /// Several files of a commit at once, each as [`Workspaces::read_file`] reads it; one that is too large is `None`.
    fn read_files(
        &self,
        at: &CommitId,
        paths: &[&[u8]],
        limit: u64,
    ) -> Result<Vec<Option<Vec<u8>>>, WorkspaceError>;
    /// The paths of all files in a commit, sorted.
    fn files(&self, at: &CommitId) -> Result<Vec<Vec<u8>>, WorkspaceError>;
    /// The symbolic links of a commit, sorted by path.
    fn links(&self, at: &CommitId) -> Result<Vec<SymbolicLink>, WorkspaceError>;
    /// The subjects (first lines of the messages) of a commit and of those before it, the newest first.
    fn recent_subjects(&self, at: &CommitId, limit: u32) -> Result<Vec<String>, WorkspaceError>;
    /// A commit that is `onto` with these paths as they are in `from` (deleted if they are not there), stored under
    /// `reference`.
    fn graft(
        &self,
        onto: &CommitId,
        from: &CommitId,
        paths: &[Vec<u8>],
        reference: &str,
    ) -> Result<CommittedTree, WorkspaceError>;
    /// A commit that is `onto` with these files, each a path and its content, stored under `reference`.
    fn overlay(
        &self,
        onto: &CommitId,
        files: &[(Vec<u8>, Vec<u8>)],
        reference: &str,
    ) -> Result<CommittedTree, WorkspaceError>;
    /// The merge base that [`Workspaces::merge`] uses; `None` if the histories are unrelated.
    fn merge_base(&self, ours: &CommitId, theirs: &CommitId) -> Result<Option<CommitId>, WorkspaceError>;
    /// Merges two commits, and stores the result under `reference`, conflicts included.
    fn merge(
        &self,
        ours: &CommitId,
        theirs: &CommitId,
        reference: &str,
    ) -> Result<MergedTree, WorkspaceError>;
    /// The same commit with another message, stored under `reference`. The same message always gives the same commit.
    fn reword(&self, commit: &CommitId, message: &str, reference: &str) -> Result<CommitId, WorkspaceError>;
    /// Makes a branch at a commit, or moves it to it: forward, or from the commit that this one takes the place of.
    /// Doing it again changes nothing.
    fn deliver_branch(
        &self,
        branch: &str,
        commit: &CommitId,
        replaces: Option<&CommitId>,
    ) -> Result<BranchUpdate, WorkspaceError>;
    /// Moves a branch of the user's forward to a commit. A branch that is checked out is left alone: its files would
    /// no longer be those of its commit.
    fn fast_forward(&self, branch: &str, commit: &CommitId) -> Result<BranchUpdate, WorkspaceError>;
}
