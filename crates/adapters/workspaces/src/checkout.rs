//! The working files of a slot with our git directory beside them, and the tree they amount to.
//!
//! Owns the base they are compared with and the index that makes it fast. Refuses to fail because of what lies in our
//! git directory: whatever is wrong with it, it is made anew and the files are read again.

use std::path::Path;
use std::sync::Arc;

use fixpoint_ports::{CommitId, TreeId, WorkspaceError};

use crate::capture::{Ground, capture};
use crate::files::{ensure_directory, remove, take_back_permissions};
use crate::git::records::{self, Mode};
use crate::local::Inner;
use crate::private::{Head, View, write_git_dir, write_settings};

/// Working files on top of a commit.
#[derive(Debug)]
pub(crate) struct Checkout {
    pub(crate) inner: Arc<Inner>,
    pub(crate) view: View,
    pub(crate) base: CommitId,
    /// Where the commit has submodules, whose directories git does not look into.
    pub(crate) submodules: Vec<Vec<u8>>,
}

impl Checkout {
    /// Those in the directory of a slot. The submodules are not known yet.
    pub(crate) fn new(inner: Arc<Inner>, directory: &Path, base: CommitId) -> Self {
        let objects = inner.store.objects.clone();
        let view = View { git_dir: directory.join("git"), tree: directory.join("tree"), objects };
        Self { inner, view, base, submodules: Vec::new() }
    }

    /// Whether there is a directory for the files, and not a link in its place.
    pub(crate) fn has_tree(&self) -> bool {
        self.view.tree.symlink_metadata().is_ok_and(|found| found.is_dir())
    }

    pub(crate) fn write_our_git_dir(&self) -> Result<(), WorkspaceError> {
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

    /// Learns from the commit where submodules belong: the files are an agent's, who may have changed what they say.
    pub(crate) fn find_submodules(&mut self) -> Result<(), WorkspaceError> {
        let listing = ["-r", "-z", "--full-tree", "--end-of-options"];
        let listed = self.inner.object_git("ls-tree").args(listing).arg(&self.base.0).run()?;
        let submodules = records::entries(&listed)?.into_iter().filter(|entry| entry.mode == Mode::Submodule);
        self.submodules = submodules.map(|entry| entry.path).collect();
        Ok(())
    }

    /// The tree the files amount to now.
    pub(crate) fn tree(&self) -> Result<TreeId, WorkspaceError> {
        self.tree_now().or_else(|_| {
            self.rebuild_index()?;
            take_back_permissions(&self.view.tree);
            self.tree_now()
        })
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
        capture(&self.view, Ground::Slot, &self.submodules, None)
    }
}
