//! The working files of a slot, and our own git directory for them.
//!
//! Owns the commit they are compared with and the index that makes it fast. Refuses to fail because of our git
//! directory: if anything is wrong with it, it is written again and all files are read.

use std::path::Path;
use std::sync::Arc;

use fixpoint_ports::{CommitId, TreeId, WorkspaceError};

use crate::files::{ensure_directory, remove, restore_permissions};
use crate::git::parse;
use crate::private_git_dir::{Head, WorkTreeView, write_config, write_git_dir};
use crate::working_tree::{TreeOwner, write_tree};
use crate::workspaces::Inner;

#[derive(Debug)]
pub(crate) struct Checkout {
    pub(crate) inner: Arc<Inner>,
    pub(crate) view: WorkTreeView,
    pub(crate) base: CommitId,
    /// The paths of submodules in the commit; git does not look into their directories.
    pub(crate) submodules: Vec<Vec<u8>>,
}

impl Checkout {
    /// The checkout in the directory of a slot. Its submodules are not known yet.
    pub(crate) fn new(inner: Arc<Inner>, directory: &Path, base: CommitId) -> Self {
        let objects = inner.objects.clone();
        let view = WorkTreeView { git_dir: directory.join("git"), tree: directory.join("tree"), objects };
        Self { inner, view, base, submodules: Vec::new() }
    }

    /// Whether there is a directory for the files, and not a link in its place.
    pub(crate) fn has_tree(&self) -> bool {
        self.view.tree.symlink_metadata().is_ok_and(|found| found.is_dir())
    }

    pub(crate) fn write_our_git_dir(&self) -> Result<(), WorkspaceError> {
        let Inner { repository, objects, .. } = self.inner.as_ref();
        write_git_dir(&self.view.git_dir, repository, objects, Head::Detached(&self.base))?;
        // We hold the slot, so a lock file in it is from a process that is dead.
        for stale in ["index.lock", "HEAD.lock", "config.lock"] {
            remove(&self.view.git_dir.join(stale))?;
        }
        Ok(())
    }

    /// Asks the commit for its submodules, because an agent may have changed `.gitmodules`.
    pub(crate) fn find_submodules(&mut self) -> Result<(), WorkspaceError> {
        self.submodules = self.inner.submodules_of(&self.base)?;
        Ok(())
    }

    /// The files of the commit that have another content now, or are gone.
    pub(crate) fn changed_files(&self) -> Result<Vec<Vec<u8>>, WorkspaceError> {
        let quiet = ["--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all"];
        let output = self.view.git("diff").args(["--name-only", "-z"]).args(quiet).run()?;
        Ok(parse::nul_separated(&output).map(<[u8]>::to_vec).collect())
    }

    /// The tree of the files as they are now.
    pub(crate) fn tree(&self) -> Result<TreeId, WorkspaceError> {
        self.try_tree().or_else(|_| {
            self.rebuild_index()?;
            restore_permissions(&self.view.tree);
            self.try_tree()
        })
    }

    fn rebuild_index(&self) -> Result<(), WorkspaceError> {
        remove(&self.view.git_dir)?;
        self.write_our_git_dir()?;
        self.view.git("read-tree").arg(&self.base.0).run().map(drop)
    }

    fn try_tree(&self) -> Result<TreeId, WorkspaceError> {
        // The agent may have removed the directory that it was given, or put a link in its place.
        ensure_directory(&self.view.tree)?;
        write_config(&self.view.git_dir, &self.inner.repository, Head::Detached(&self.base))?;
        write_tree(&self.view, TreeOwner::Slot, &self.submodules, None).map(|written| written.tree)
    }
}
