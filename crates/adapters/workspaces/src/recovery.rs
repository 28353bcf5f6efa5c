//! Work that nobody committed, because its process died or gave up, stored before its slot is used for anything else.
//!
//! Owns what happens to a slot with a marker: its tree is stored under the reference of the marker if it differs from the
//! base, and then the marker is removed. Refuses to move a reference that holds other work, and to let a slot that cannot
//! be read block others: its directory is set aside as `lost-<n>` with the reason in it, and nothing is deleted.
//! Invariant: all of it happens under the lock of the slot.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fixpoint_ports::{RecoveredWork, Recovery, WorkspaceError};

use crate::checkout::Checkout;
use crate::disk_space::free_bytes;
use crate::files::io_error;
use crate::pool::LockedSlot;
use crate::slot_files::{self, UnfinishedMarker};
use crate::workspaces::Inner;

/// The name of a directory that was set aside, before its number.
pub(crate) const SET_ASIDE: &str = "lost-";
/// With less free space than this, a failure is taken for a full disk.
const FULL_BYTES: u64 = 16 << 20;

#[derive(Debug)]
pub(crate) enum RecoveryOutcome {
    NothingToRecover,
    Recovered(RecoveredWork),
    /// The work could not be read; the directory of the slot was set aside.
    SetAside,
}

/// Recovers the unfinished work in a slot. Afterwards the slot has no marker.
pub(crate) fn recover(inner: &Arc<Inner>, slot: &LockedSlot) -> Result<RecoveryOutcome, WorkspaceError> {
    if !UnfinishedMarker::exists(&slot.directory) {
        return Ok(RecoveryOutcome::NothingToRecover);
    }
    match store_unfinished(inner, &slot.directory) {
        Ok(work) => {
            UnfinishedMarker::remove(&slot.directory)?;
            Ok(work.map_or(RecoveryOutcome::NothingToRecover, RecoveryOutcome::Recovered))
        }
        Err(error) => match classify(inner, error) {
            Failure::Temporary(error) => Err(error),
            Failure::Permanent(error) => {
                set_aside(inner, &slot.directory, &error)?;
                Ok(RecoveryOutcome::SetAside)
            }
        },
    }
}

enum Failure {
    /// The slot is not to blame, so a later attempt can succeed.
    Temporary(WorkspaceError),
    Permanent(WorkspaceError),
}

fn classify(inner: &Inner, error: WorkspaceError) -> Failure {
    let is_full = || free_bytes(&inner.pool).is_some_and(|free| free < FULL_BYTES);
    match error {
        WorkspaceError::NoSpace(_) | WorkspaceError::UnusableGit { .. } | WorkspaceError::Cancelled => {
            Failure::Temporary(error)
        }
        // Not every error of a full disk says so.
        WorkspaceError::Git { .. } | WorkspaceError::Io { .. } if is_full() => {
            Failure::Temporary(WorkspaceError::NoSpace(error.to_string()))
        }
        WorkspaceError::Git { .. }
        | WorkspaceError::Io { .. }
        | WorkspaceError::UnusableRepository { .. }
        | WorkspaceError::NoSuchCommit(_)
        | WorkspaceError::InvalidName(_)
        | WorkspaceError::TooLarge { .. }
        | WorkspaceError::PermissionDenied(_)
        | WorkspaceError::AllInUse(_) => Failure::Permanent(error),
    }
}

fn store_unfinished(inner: &Arc<Inner>, directory: &Path) -> Result<Option<RecoveredWork>, WorkspaceError> {
    let Some(marker) = UnfinishedMarker::read(directory)? else { return Ok(None) };
    let mut checkout = Checkout::new(Arc::clone(inner), directory, marker.base);
    if !checkout.has_tree() {
        // All files were removed, and a commit that deletes every file would be of no use.
        return Ok(None);
    }
    let base = inner.tree_of(&checkout.base)?;
    checkout.find_submodules()?;
    // If this fails, `tree` rebuilds the directory; it is only meant to delete the locks of a dead process.
    drop(checkout.write_our_git_dir());
    let tree = checkout.tree()?;
    if tree == base {
        return Ok(None);
    }
    let commit = inner.commit_tree(&tree, Some(&checkout.base), "Fixpoint: unfinished work\n")?;
    let (reference, commit) = inner.store_beside(&marker.reference, &commit, &tree)?;
    Ok(Some(RecoveredWork { reference, commit, tree }))
}

/// Moves the directory of a slot out of the way, with its marker.
fn set_aside(inner: &Inner, directory: &Path, reason: &WorkspaceError) -> Result<(), WorkspaceError> {
    for number in 0_u32.. {
        let aside = inner.pool.join(format!("{SET_ASIDE}{number}"));
        if aside.symlink_metadata().is_ok() {
            continue;
        }
        match fs::rename(directory, &aside) {
            Ok(()) => {
                // The reason is for people; without it the files are still there.
                drop(slot_files::write_reason(&aside, &reason.to_string()));
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
    pub(crate) fn set_aside_directories(&self) -> Vec<PathBuf> {
        let entries = self.pool.read_dir().into_iter().flatten().flatten();
        let is_set_aside = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with(SET_ASIDE);
        let mut found: Vec<PathBuf> = entries.filter(is_set_aside).map(|entry| entry.path()).collect();
        found.sort();
        found
    }

    /// Recovers the unfinished work in all slots that nobody holds.
    pub(crate) fn recover_all(self: &Arc<Self>) -> Result<Recovery, WorkspaceError> {
        let mut recovered = Vec::new();
        for name in self.slot_names() {
            // Locking a slot without unfinished work would only keep others from using it.
            if !UnfinishedMarker::exists(&self.pool.join(&name)) {
                continue;
            }
            let Some(slot) = self.lock_after_orphans(&name)? else { continue };
            match recover(self, &slot)? {
                RecoveryOutcome::Recovered(work) => recovered.push(work),
                RecoveryOutcome::NothingToRecover | RecoveryOutcome::SetAside => {}
            }
            drop(slot);
            self.slot_freed.notify_all();
        }
        let unrecovered = self.set_aside_directories().into_iter().map(slot_files::describe).collect();
        Ok(Recovery { recovered, unrecovered })
    }
}
