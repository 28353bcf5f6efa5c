//! Private git workspaces: snapshots of the user's working tree, slots for agents and checks, commits made from them.
//!
//! Owns every git process of a run. Refuses linked worktrees: a slot is a repository of its own that only borrows objects
//! (through `objects/info/alternates`), so nothing that is done in it reaches the user's. Invariant: of the user's
//! repository only objects and `refs/fixpoint/` change, and on delivery one branch or the working files.
//!
//! On disk, below the directory for slots:
//!
//! ```text
//! <name>-<hash of the repository>/
//!   .git                stops the search for a repository further up
//!   repository          the git directory these slots belong to
//!   store/              a git directory without working files; holds the results if they are stored separately
//!   scratch/            one temporary directory per operation
//!   apply-in-progress   locked while a result is written into the working files
//!   apply-<hash>/       what that needs, if it cannot be in the git directory as `fixpoint-apply`
//!   agent-0.lock        locked while the slot is in use
//!   agent-0/tree/       what the agent sees, with its own `.git`
//!   agent-0/git/        our git directory and index for the same files
//!   agent-0/unfinished  the reference to store the files under if nobody commits them
//!   agent-0/notes/      notes for the next user of the slot
//!   check-0.lock, check-0/…
//!   check-0/pristine/   what is in no commit, as it was before an agent's code ran there
//!   lost-0/             a slot whose unfinished files could not be read, and why
//! ```

mod above;
mod apply;
mod changes;
mod checkout;
mod completeness;
mod contents;
mod copy_ignored;
mod delivery;
mod disk_space;
mod file_times;
mod files;
mod git;
mod index;
mod index_file;
mod listing;
mod merge;
mod partial_clone;
mod pool;
mod pristine;
mod private_git_dir;
mod prune;
mod read;
mod recovery;
mod refs;
mod repository;
mod slot;
mod slot_files;
mod snapshot;
mod sweep;
mod tree_edit;
mod untracked;
mod users_index;
mod working_tree;
mod workspaces;

pub use apply::ApplyOutcome;
pub use git::git_version;
pub use refs::StoredRef;
pub use workspaces::{GitWorkspaces, ResultStorage, WorkspaceOptions};
