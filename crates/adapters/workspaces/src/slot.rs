//! One slot: brought to a commit, handed out, its tree taken.
//!
//! Owns two git directories of the slot: the one the agent sees (`tree/.git`, made anew for every use) and ours
//! (`git`), beside the working files and never named to the agent. Refuses to learn anything from the agent's: what it
//! committed, stashed, rebased or deleted there makes no difference. Invariant: after `prepare` the working files are
//! those of the commit, and beside them only files that it ignores.

use std::path::Path;
use std::sync::Arc;

use fixpoint_ports::{CommitId, IgnoredFile, Slot, TakenTree, WorkspaceError};

use crate::checkout::Checkout;
use crate::files::{as_path, ensure_directory, make_directory, remove, take_back_permissions};
use crate::index::copy_index;
use crate::local::Inner;
use crate::marks::{self, Mark};
use crate::pool::Place;
use crate::private::{Head, write_git_dir};
use crate::rescue::rescue;

/// A private working directory at a commit.
#[derive(Debug)]
pub(crate) struct LocalSlot {
    place: Place,
    checkout: Checkout,
}

impl LocalSlot {
    /// Brings a locked place to a commit, building it anew as far as it is broken. What nobody took from it before is
    /// kept first, and the mark of the new user is the last thing that is written.
    pub(crate) fn prepare(
        inner: &Arc<Inner>,
        place: Place,
        at: &CommitId,
        mark: Option<&Mark>,
    ) -> Result<Self, WorkspaceError> {
        rescue(inner, &place)?;
        inner.fetch_promised(at)?;
        let checkout = Checkout::new(Arc::clone(inner), &place.directory, at.clone());
        let mut slot = Self { place, checkout };
        if !slot.checkout.has_tree() {
            inner.require_space(at)?;
            marks::forget_notes(&slot.place.directory)?;
        }
        slot.switch()
            .or_else(|error| slot.again(error, Self::forget_index))
            .or_else(|error| slot.again(error, Self::forget_everything))?;
        // Only a tree that declares submodules is asked for them.
        if slot.checkout.view.tree.join(".gitmodules").is_file() {
            slot.checkout.find_submodules()?;
        }
        slot.empty_submodules()?;
        if let Some(mark) = mark {
            mark.write(&slot.place.directory)?;
        }
        Ok(slot)
    }

    /// Tries once more after a remedy, if a remedy can help.
    fn again(
        &self,
        error: WorkspaceError,
        remedy: impl FnOnce(&Self) -> Result<(), WorkspaceError>,
    ) -> Result<(), WorkspaceError> {
        match error {
            WorkspaceError::Git { .. } | WorkspaceError::Io { .. } => {
                remedy(self).and_then(|()| self.switch())
            }
            WorkspaceError::UnusableGit { .. }
            | WorkspaceError::UnusableRepository { .. }
            | WorkspaceError::NoSuchCommit(_)
            | WorkspaceError::InvalidName(_)
            | WorkspaceError::TooLarge { .. }
            | WorkspaceError::NoSpace(_)
            | WorkspaceError::AllInUse(_)
            | WorkspaceError::Cancelled => Err(error),
        }
    }

    /// Our index is the first thing to distrust; caches survive.
    fn forget_index(&self) -> Result<(), WorkspaceError> {
        self.checkout.inner.tree_of(&self.checkout.base)?;
        take_back_permissions(&self.checkout.view.tree);
        remove(&self.checkout.view.git_dir)
    }

    fn forget_everything(&self) -> Result<(), WorkspaceError> {
        remove(&self.place.directory)?;
        self.checkout.inner.require_space(&self.checkout.base)
    }

    /// Makes the working files those of the base, and the agent's repository a new one.
    fn switch(&self) -> Result<(), WorkspaceError> {
        make_directory(&self.place.directory)?;
        ensure_directory(&self.checkout.view.tree)?;
        self.checkout.write_our_git_dir()?;
        let theirs = self.checkout.view.tree.join(".git");
        let removed = std::thread::scope(|scope| {
            // What the last agent had in its repository may be large; it goes while the files are written.
            let removal = scope.spawn(|| remove(&theirs));
            let switched =
                self.checkout.view.git("read-tree").args(["--reset", "-u", &self.checkout.base.0]).run();
            let removed = removal.join().unwrap_or(Ok(()));
            switched.and(removed)
        });
        removed?;
        std::thread::scope(|scope| {
            // Only now are the ignore rules those of the new commit. Git itself never enters the `.git` at the root.
            let cleaning = scope.spawn(|| self.checkout.view.git("clean").args(["-ffdq"]).run());
            let written = self.write_their_git_dir(&theirs);
            let cleaned = cleaning.join().unwrap_or_else(|_| Ok(Vec::new()));
            cleaned.and(written)
        })
    }

    /// An ordinary repository at the base, with an index that knows the files already.
    fn write_their_git_dir(&self, path: &Path) -> Result<(), WorkspaceError> {
        write_git_dir(
            path,
            &self.checkout.inner.repository,
            &self.checkout.inner.store,
            Head::Agents(&self.checkout.base),
        )?;
        copy_index(&self.checkout.view.index(), &path.join("index")).map(drop)
    }

    /// What an earlier user of the slot put where submodules belong is no part of the commit.
    fn empty_submodules(&self) -> Result<(), WorkspaceError> {
        for path in &self.checkout.submodules {
            let place = self.checkout.view.tree.join(as_path(path));
            let is_empty = place.read_dir().map(|mut entries| entries.next().is_none()).unwrap_or(true);
            if !is_empty {
                remove(&place)?;
                make_directory(&place)?;
            }
        }
        Ok(())
    }
}

impl Slot for LocalSlot {
    fn directory(&self) -> &Path {
        &self.checkout.view.tree
    }

    fn take(&mut self, reference: &str, message: &str) -> Result<TakenTree, WorkspaceError> {
        let Checkout { inner, base, .. } = &self.checkout;
        let tree = self.checkout.tree()?;
        let commit = inner.commit(&tree, Some(base), message)?;
        inner.keep_newest(reference, &commit, &tree)?;
        self.abandon();
        Ok(TakenTree { commit, tree })
    }

    fn abandon(&mut self) {
        // A mark that stays only makes the next user of the slot keep what nobody needs.
        drop(Mark::remove(&self.place.directory));
    }

    fn note(&self, name: &str) -> Option<Vec<u8>> {
        marks::note(&self.place.directory, name)
    }

    fn set_note(&self, name: &str, content: &[u8]) -> Result<(), WorkspaceError> {
        marks::set_note(&self.place.directory, name, content)
    }

    fn ignored(&self, wanted: &dyn Fn(&[u8]) -> bool) -> Result<Vec<IgnoredFile>, WorkspaceError> {
        self.checkout.ignored(wanted)
    }
}

impl Drop for LocalSlot {
    fn drop(&mut self) {
        // Before the others are woken.
        drop(self.place.lock.unlock());
        self.checkout.inner.freed.notify_all();
    }
}
