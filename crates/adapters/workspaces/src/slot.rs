//! One slot: a commit is checked out, the slot is used, its files are committed.
//!
//! Owns two git directories: the one that the agent sees (`tree/.git`, new for every use) and ours (`git`), next to the
//! working files and never named to the agent. Refuses to rely on the agent's: whatever it committed, stashed, rebased
//! or deleted there makes no difference. Invariant: after `prepare` the working files are those of the commit, plus
//! files that it ignores.

use std::path::Path;
use std::sync::Arc;

use fixpoint_ports::{CommittedTree, Slot, SlotLeftovers, SlotRequest, UntrackedFile, WorkspaceError};

use crate::above::remove_strangers;
use crate::checkout::{Checkout, Others};
use crate::completeness::MAX_PRUNES;
use crate::file_times::{date_after_earlier, present_second};
use crate::files::{as_path, create_directory, ensure_directory, read_optional, remove, restore_permissions};
use crate::index::copy_index;
use crate::pool::LockedSlot;
use crate::pristine::Pristine;
use crate::private_git_dir::{Head, write_git_dir};
use crate::recovery::recover;
use crate::slot_files::{self, UnfinishedMarker};
use crate::workspaces::Inner;

#[derive(Debug)]
pub(crate) struct GitSlot {
    slot: LockedSlot,
    checkout: Checkout,
}

impl GitSlot {
    /// Checks out a commit in a slot, rebuilding as much of the slot as is broken. Unfinished work of its last user is
    /// stored first; the marker of the new user is written last.
    pub(crate) fn prepare(
        inner: &Arc<Inner>,
        slot: LockedSlot,
        request: &SlotRequest<'_>,
        marker: Option<&UnfinishedMarker>,
    ) -> Result<Self, WorkspaceError> {
        let at = request.at;
        recover(inner, &slot)?;
        inner.fetch_missing_objects(at)?;
        let checkout = Checkout::new(Arc::clone(inner), &slot.directory, at.clone());
        let mut prepared = Self { slot, checkout };
        if !prepared.checkout.has_tree() {
            inner.require_space(at)?;
            slot_files::delete_notes(&prepared.slot.directory)?;
        }
        let others = prepared
            .check_out()
            .or_else(|error| prepared.retry(error, Self::delete_our_git_dir))
            .or_else(|error| prepared.retry(error, Self::delete_everything))?;
        // A submodule need not be in `.gitmodules`.
        prepared.checkout.find_submodules()?;
        prepared.empty_submodules()?;
        match request.leftovers {
            SlotLeftovers::Kept => {}
            SlotLeftovers::Pristine => {
                Pristine::new(&prepared.checkout, &prepared.slot.directory).reset(others)?;
                remove_strangers(&prepared.slot.directory, &inner.pool)?;
            }
        }
        if let Some(marker) = marker {
            marker.write(&prepared.slot.directory)?;
        }
        Ok(prepared)
    }

    /// Applies a remedy and tries again, if the error may be due to the slot.
    fn retry(
        &self,
        error: WorkspaceError,
        remedy: impl FnOnce(&Self) -> Result<(), WorkspaceError>,
    ) -> Result<Others, WorkspaceError> {
        match error {
            WorkspaceError::Git { .. } | WorkspaceError::Io { .. } => {
                remedy(self).and_then(|()| self.check_out())
            }
            WorkspaceError::UnusableGit { .. }
            | WorkspaceError::UnusableRepository { .. }
            | WorkspaceError::NoSuchCommit(_)
            | WorkspaceError::InvalidName(_)
            | WorkspaceError::TooLarge { .. }
            | WorkspaceError::NoSpace(_)
            | WorkspaceError::PermissionDenied(_)
            | WorkspaceError::AllInUse(_)
            | WorkspaceError::Cancelled => Err(error),
        }
    }

    /// The first remedy: caches of the agent stay.
    fn delete_our_git_dir(&self) -> Result<(), WorkspaceError> {
        self.checkout.inner.tree_of(&self.checkout.base)?;
        restore_permissions(&self.checkout.view.tree);
        remove(&self.checkout.view.git_dir)
    }

    fn delete_everything(&self) -> Result<(), WorkspaceError> {
        remove(&self.slot.directory)?;
        self.checkout.inner.require_space(&self.checkout.base)
    }

    /// Writes the files of the base, deletes all others that it does not ignore, and makes a new repository for the
    /// agent.
    fn check_out(&self) -> Result<Others, WorkspaceError> {
        let view = &self.checkout.view;
        create_directory(&self.slot.directory)?;
        ensure_directory(&view.tree)?;
        self.checkout.write_our_git_dir()?;
        let agents_git_dir = view.tree.join(".git");
        let index_before = read_optional(&view.index())?.unwrap_or_default();
        let began = present_second();
        let others = std::thread::scope(|scope| {
            // The last agent's repository may be large, so it is deleted at the same time.
            let removal = scope.spawn(|| remove(&agents_git_dir));
            let written = self.checkout.switch();
            let removed = removal.join().unwrap_or(Ok(()));
            removed.and(written)
        })?;
        date_after_earlier(&self.slot.directory, view, began, &index_before)?;
        std::thread::scope(|scope| {
            // The ignore rules are those of the new commit only now. Git never enters the `.git` at the root.
            let clean = || match others {
                Others::None => Ok(Vec::new()),
                Others::Possible => view.git("clean").args(["-ffdq"]).run(),
            };
            let cleaning = scope.spawn(clean);
            let written = self.write_agents_git_dir(&agents_git_dir);
            let cleaned = cleaning.join().unwrap_or_else(|_| Ok(Vec::new()));
            cleaned.and(written)
        })?;
        Ok(others)
    }

    /// An ordinary repository at the base. With a copy of our index its git need not read the files again.
    fn write_agents_git_dir(&self, path: &Path) -> Result<(), WorkspaceError> {
        let Checkout { inner, view, base, .. } = &self.checkout;
        write_git_dir(path, &inner.repository, &inner.objects, Head::AgentBranch(base))?;
        copy_index(&view.index(), &path.join("index")).map(drop)
    }

    /// Deletes what an earlier user of the slot left in directories of submodules: it is no part of the commit.
    fn empty_submodules(&self) -> Result<(), WorkspaceError> {
        for path in &self.checkout.submodules {
            let directory = self.checkout.view.tree.join(as_path(path));
            let is_empty = directory.read_dir().map(|mut entries| entries.next().is_none()).unwrap_or(true);
            if !is_empty {
                remove(&directory)?;
                create_directory(&directory)?;
            }
        }
        Ok(())
    }
}

impl Slot for GitSlot {
    fn directory(&self) -> &Path {
        &self.checkout.view.tree
    }

    fn commit(&mut self, reference: &str, message: &str) -> Result<CommittedTree, WorkspaceError> {
        let Checkout { inner, base, .. } = &self.checkout;
        for _ in 0..MAX_PRUNES {
            let tree = self.checkout.tree()?;
            let commit = inner.commit_tree(&tree, Some(base), message)?;
            inner.store_newest(reference, &commit, &tree)?;
            if !inner.is_in_users_repository() || inner.is_complete(&commit, Some(base)) {
                self.abandon();
                return Ok(CommittedTree { commit, tree });
            }
            // Our index takes the objects for written.
            self.checkout.rebuild_index()?;
        }
        Err(pruned())
    }

    fn abandon(&mut self) {
        // If the marker stays, the next user of the slot only stores what nobody needs.
        drop(UnfinishedMarker::remove(&self.slot.directory));
    }

    fn changed_files(&self) -> Result<Vec<Vec<u8>>, WorkspaceError> {
        self.checkout.changed_files()
    }

    fn capture_pristine(&mut self) -> Result<(), WorkspaceError> {
        Pristine::new(&self.checkout, &self.slot.directory).capture()
    }

    fn note(&self, name: &str) -> Option<Vec<u8>> {
        slot_files::note(&self.slot.directory, name)
    }

    fn set_note(&self, name: &str, content: &[u8]) -> Result<(), WorkspaceError> {
        slot_files::set_note(&self.slot.directory, name, content)
    }

    fn untracked_files(&self, wanted: &dyn Fn(&[u8]) -> bool) -> Result<Vec<UntrackedFile>, WorkspaceError> {
        self.checkout.untracked_files(wanted)
    }
}

/// The marker of the slot stays, so that its files are stored later.
fn pruned() -> WorkspaceError {
    WorkspaceError::Git {
        command: "gc".to_string(),
        message: "new objects are deleted again and again before they can be referred to".to_string(),
    }
}

impl Drop for GitSlot {
    fn drop(&mut self) {
        // Before the others are woken.
        drop(self.slot.lock.unlock());
        self.checkout.inner.slot_freed.notify_all();
    }
}
