//! Private git workspaces: snapshots of the user's tree, slots for agents and checks, trees taken out of them.
//!
//! Owns every git process of Fixpoint. Refuses linked worktrees: a slot is a repository of its own that only borrows
//! objects, so nothing that is done in it reaches the user's. Invariant: of the user's repository only objects and
//! `refs/fixpoint/` change, and on delivery one branch or the working files that a person asked for.
//!
//! On disk, under the root for slots:
//!
//! ```text
//! <name>-<hash of the repository>/
//!   .git                stops the search for a repository further up
//!   repository          whose slots these are
//!   store/              a git directory for work on objects alone; holds the results if they are kept apart
//!   scratch/            one directory per operation under way
//!   agent-0.lock        locked while somebody holds the slot
//!   agent-0/tree/       what the agent sees, with its own `.git`
//!   agent-0/git/        our git directory and index for the same files
//!   agent-0/unfinished  what to keep the files under if nobody takes them
//!   agent-0/notes/      what users of the slot leave for the next
//!   check-0.lock, check-0/…
//!   lost-0/             a slot whose unfinished files could not be taken, and why
//! ```

mod capture;
mod checkout;
mod copying;
mod delivery;
mod differences;
mod files;
mod git;
mod housekeeping;
mod ignored;
mod index;
mod local;
mod marks;
mod merging;
mod pool;
mod private;
mod promised;
mod reading;
mod references;
mod repository;
mod rescue;
mod slot;
mod snapshot;
mod space;

pub use delivery::Applied;
pub use git::git_version;
pub use local::{LocalWorkspaces, Options, Placement};
pub use references::Kept;
