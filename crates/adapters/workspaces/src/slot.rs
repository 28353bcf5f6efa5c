//! One slot: brought to a commit, handed out, its tree taken.
//!
//! Owns two git directories of the slot: the one the agent sees (`tree/.git`, made anew for every use) and ours
//! (`git`), beside the working files and never named to the agent. Refuses to learn anything from the agent's: what it
//! committed, stashed, rebased or deleted there makes no difference. Invariant: after `prepare` the working files are
//! those of the commit, and beside them only files that it ignores.

use std::path::Path;
use std::sync::Arc;

use fixpoint_ports::{CommitId, Slot, TakenTree, TreeId, WorkspaceError};

use crate::capture::{Ground, capture, submodules};
use crate::files::{as_path, ensure_directory, io_error, make_directory, remove, take_back_permissions};
use crate::local::Inner;
use crate::pool::Place;
use crate::private::{Head, View, write_git_dir, write_settings};

/// A private working directory at a commit.
#[derive(Debug)]
pub(crate) struct LocalSlot {
    inner: Arc<Inner>,
    place: Place,
    view: View,
    base: CommitId,
    /// Where the commit has submodules, whose directories git does not look into.
    submodules: Vec<Vec<u8>>,
}

impl LocalSlot {
    /// Brings a locked place to a commit, building it anew as far as it is broken.
    pub(crate) fn prepare(inner: Arc<Inner>, place: Place, at: &CommitId) -> Result<Self, WorkspaceError> {
        inner.fetch_promised(at)?;
        let view = View {
            git_dir: place.directory.join("git"),
            tree: place.directory.join("tree"),
            objects: inner.store.objects.clone(),
        };
        let mut slot = Self { inner, place, view, base: at.clone(), submodules: Vec::new() };
        if !slot.view.tree.is_dir() {
            slot.inner.require_space(at)?;
        }
        slot.switch()
            .or_else(|error| slot.again(error, Self::forget_index))
            .or_else(|error| slot.again(error, Self::forget_everything))?;
        slot.submodules = submodules(&slot.view)?;
        slot.empty_submodules()?;
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
            WorkspaceError::NotARepository(_)
            | WorkspaceError::Empty
            | WorkspaceError::NoSuchCommit(_)
            | WorkspaceError::NoSpace(_)
            | WorkspaceError::Busy(_)
            | WorkspaceError::NoGit(_) => Err(error),
        }
    }

    /// Our index is the first thing to distrust; caches survive.
    fn forget_index(&self) -> Result<(), WorkspaceError> {
        self.inner.tree_of(&self.base)?;
        take_back_permissions(&self.view.tree);
        remove(&self.view.git_dir)
    }

    fn forget_everything(&self) -> Result<(), WorkspaceError> {
        remove(&self.place.directory)?;
        self.inner.require_space(&self.base)
    }

    /// Makes the working files those of the base, and the agent's repository a new one.
    fn switch(&self) -> Result<(), WorkspaceError> {
        make_directory(&self.place.directory)?;
        ensure_directory(&self.view.tree)?;
        self.write_our_git_dir()?;
        let theirs = self.view.tree.join(".git");
        let removed = std::thread::scope(|scope| {
            // What the last agent had in its repository may be large; it goes while the files are written.
            let removal = scope.spawn(|| remove(&theirs));
            let switched = self.view.git("read-tree").args(["--reset", "-u", &self.base.0]).run();
            let removed = removal.join().unwrap_or(Ok(()));
            switched.and(removed)
        });
        removed?;
        std::thread::scope(|scope| {
            // Only now are the ignore rules those of the new commit. Git itself never enters the `.git` at the root.
            let cleaning = scope.spawn(|| self.view.git("clean").args(["-ffdq"]).run());
            let written = self.write_their_git_dir(&theirs);
            let cleaned = cleaning.join().unwrap_or_else(|_| Ok(Vec::new()));
            cleaned.and(written)
        })
    }

    fn write_our_git_dir(&self) -> Result<(), WorkspaceError> {
        write_git_dir(
            &self.view.git_dir,
            &self.inner.repository,
            &self.inner.store,
            Head::Detached(&self.base),
        )?;
        // We hold the slot, so a lock file in it belongs to a process that is dead.
        for stale in ["index.lock", "HEAD.lock", "config.lock"] {
            remove(&self.view.git_dir.join(stale))?;
        }
        Ok(())
    }

    /// An ordinary repository at the base, with an index that knows the files already.
    fn write_their_git_dir(&self, path: &Path) -> Result<(), WorkspaceError> {
        write_git_dir(path, &self.inner.repository, &self.inner.store, Head::Agents(&self.base))?;
        let index = path.join("index");
        std::fs::copy(self.view.index(), &index).map(drop).map_err(io_error(&index))
    }

    /// What an earlier user of the slot put where submodules belong is no part of the commit.
    fn empty_submodules(&self) -> Result<(), WorkspaceError> {
        for path in &self.submodules {
            let place = self.view.tree.join(as_path(path));
            let is_empty = place.read_dir().map(|mut entries| entries.next().is_none()).unwrap_or(true);
            if !is_empty {
                remove(&place)?;
                make_directory(&place)?;
            }
        }
        Ok(())
    }

    /// A fresh index at the base, for when ours turns out to be unreadable while a tree is taken.
    fn rebuild_index(&self) -> Result<(), WorkspaceError> {
        remove(&self.view.git_dir)?;
        self.write_our_git_dir()?;
        self.view.git("read-tree").arg(&self.base.0).run().map(drop)
    }

    fn tree_now(&self) -> Result<TreeId, WorkspaceError> {
        // The agent may have removed the directory it was given, or put a link in its place.
        ensure_directory(&self.view.tree)?;
        write_settings(&self.view.git_dir, &self.inner.repository, Head::Detached(&self.base))?;
        capture(&self.view, Ground::Slot, &self.submodules)
    }
}

impl Slot for LocalSlot {
    fn directory(&self) -> &Path {
        &self.view.tree
    }

    fn take(&mut self, reference: &str, message: &str) -> Result<TakenTree, WorkspaceError> {
        let tree = self.tree_now().or_else(|_| {
            self.rebuild_index()?;
            take_back_permissions(&self.view.tree);
            self.tree_now()
        })?;
        let commit = self.inner.commit(&tree, Some(&self.base), message)?;
        self.inner.keep(reference, &commit)?;
        Ok(TakenTree { commit, tree })
    }
}

impl Drop for LocalSlot {
    fn drop(&mut self) {
        // Closing the file releases the lock in any case; this only does it before the others are woken.
        drop(self.place.lock.unlock());
        self.inner.freed.notify_all();
    }
}
