//! Work that nobody took, because its process died or gave up, kept before its slot is used for anything else.
//!
//! Owns what becomes of a marked slot: its tree is kept under the reference of the mark if it differs from the base,
//! and then the mark goes. Refuses to move a reference that holds other work, and to let a slot that cannot be read
//! stand in the way: its directory is put aside as `lost-<n>` with the reason in it, and nothing is deleted.
//! Invariant: all of it happens under the lock of the slot.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fixpoint_ports::{Lost, Rescue, Rescued, WorkspaceError};

use crate::checkout::Checkout;
use crate::files::io_error;
use crate::local::{Inner, LocalWorkspaces};
use crate::marks::{self, Mark};
use crate::pool::Place;
use crate::space::free_bytes;

/// What directories that were put aside are called, before their number.
const LOST: &str = "lost-";
/// With less than this the disk is as good as full, whatever git says about its failure.
const FULL_BYTES: u64 = 16 << 20;

/// What became of a slot's unfinished work.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// There was none.
    Nothing,
    /// It is kept.
    Kept(Rescued),
    /// It could not be taken; the slot's directory was put aside.
    PutAside,
}

/// Sees to the unfinished work in a locked place. Afterwards the place has no mark.
pub(crate) fn rescue(inner: &Arc<Inner>, place: &Place) -> Result<Outcome, WorkspaceError> {
    if !Mark::is_on(&place.directory) {
        return Ok(Outcome::Nothing);
    }
    match take_unfinished(inner, &place.directory) {
        Ok(kept) => {
            Mark::remove(&place.directory)?;
            Ok(kept.map_or(Outcome::Nothing, Outcome::Kept))
        }
        Err(error) => {
            if passes(inner, &error) {
                return Err(as_told(error));
            }
            put_aside(inner, &place.directory, &error)?;
            Ok(Outcome::PutAside)
        }
    }
}

/// Whether the slot is not to blame, so that a later attempt can succeed.
fn passes(inner: &Inner, error: &WorkspaceError) -> bool {
    match error {
        WorkspaceError::NoSpace(_) | WorkspaceError::UnusableGit { .. } | WorkspaceError::Cancelled => true,
        // Git does not tell a full disk from other failures.
        WorkspaceError::Git { .. } | WorkspaceError::Io { .. } => {
            free_bytes(&inner.pool).is_some_and(|free| free < FULL_BYTES)
        }
        WorkspaceError::UnusableRepository { .. }
        | WorkspaceError::NoSuchCommit(_)
        | WorkspaceError::InvalidName(_)
        | WorkspaceError::TooLarge { .. }
        | WorkspaceError::AllInUse(_) => false,
    }
}

/// What passes and is not named by git is a full disk.
fn as_told(error: WorkspaceError) -> WorkspaceError {
    match error {
        WorkspaceError::Git { .. } | WorkspaceError::Io { .. } => WorkspaceError::NoSpace(error.to_string()),
        WorkspaceError::UnusableGit { .. }
        | WorkspaceError::UnusableRepository { .. }
        | WorkspaceError::NoSuchCommit(_)
        | WorkspaceError::InvalidName(_)
        | WorkspaceError::TooLarge { .. }
        | WorkspaceError::NoSpace(_)
        | WorkspaceError::AllInUse(_)
        | WorkspaceError::Cancelled => error,
    }
}

fn take_unfinished(inner: &Arc<Inner>, directory: &Path) -> Result<Option<Rescued>, WorkspaceError> {
    let Some(mark) = Mark::read(directory)? else { return Ok(None) };
    let mut checkout = Checkout::new(Arc::clone(inner), directory, mark.base);
    if !checkout.has_tree() {
        // Who removed all of it left nothing to keep, and a commit that deletes every file would be of no use.
        return Ok(None);
    }
    let base = inner.tree_of(&checkout.base)?;
    checkout.find_submodules()?;
    // What is wrong with our git directory is mended when the tree is taken; this only spares a dead process's locks.
    drop(checkout.write_our_git_dir());
    let tree = checkout.tree()?;
    if tree == base {
        return Ok(None);
    }
    let commit = inner.commit(&tree, Some(&checkout.base), "Fixpoint: unfinished work\n")?;
    let (reference, commit) = inner.keep_beside(&mark.reference, &commit, &tree)?;
    Ok(Some(Rescued { reference, commit, tree }))
}

/// Moves the directory of a slot out of the way, with its mark.
fn put_aside(inner: &Inner, directory: &Path, error: &WorkspaceError) -> Result<(), WorkspaceError> {
    for number in 0_u32.. {
        let aside = inner.pool.join(format!("{LOST}{number}"));
        if aside.symlink_metadata().is_ok() {
            continue;
        }
        match fs::rename(directory, &aside) {
            Ok(()) => {
                // The reason is for people; without it the files are still there.
                drop(marks::write_reason(&aside, &error.to_string()));
                return Ok(());
            }
            // Another process took the same number for another slot.
            Err(_) if aside.symlink_metadata().is_ok() => {}
            Err(error) => return Err(io_error(directory)(error)),
        }
    }
    Ok(())
}

impl Inner {
    /// Directories that were put aside.
    pub(crate) fn put_aside_directories(&self) -> Vec<PathBuf> {
        let entries = self.pool.read_dir().into_iter().flatten().flatten();
        let is_lost = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with(LOST);
        let mut found: Vec<PathBuf> = entries.filter(is_lost).map(|entry| entry.path()).collect();
        found.sort();
        found
    }
}

impl LocalWorkspaces {
    pub(crate) fn rescue_all(&self) -> Result<Rescue, WorkspaceError> {
        let mut kept = Vec::new();
        for name in self.inner.slot_names() {
            // Looking before locking leaves alone whoever is about to take a slot that needs no rescue.
            if !Mark::is_on(&self.inner.pool.join(&name)) {
                continue;
            }
            let Some(place) = self.inner.lock_after_the_dead(&name)? else { continue };
            match rescue(&self.inner, &place)? {
                Outcome::Kept(rescued) => kept.push(rescued),
                Outcome::Nothing | Outcome::PutAside => {}
            }
            drop(place);
            self.inner.freed.notify_all();
        }
        let lost: Vec<Lost> = self.inner.put_aside_directories().into_iter().map(marks::describe).collect();
        Ok(Rescue { kept, lost })
    }
}
