//! The working files of a slot, and our own git directory for them.
//!
//! Owns the commit they are compared with and the index that makes it fast. Refuses to fail because of our git
//! directory: if anything is wrong with it, it is written again and all files are read.

use std::path::Path;
use std::sync::Arc;

use fixpoint_ports::{CommitId, TreeId, WorkspaceError};

use crate::files::{as_path, ensure_directory, remove, restore_permissions};
use crate::git::parse;
use crate::private_git_dir::{Head, WorkTreeView, write_config, write_git_dir};
use crate::sweep::Sweep;
use crate::working_tree::{TreeOwner, write_tree};
use crate::workspaces::Inner;

/// Whether there can be anything in a slot that is not in its commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Others {
    None,
    Possible,
}

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

    /// Makes the working files those of the commit. Files that are in no commit stay.
    pub(crate) fn switch(&self) -> Result<Others, WorkspaceError> {
        let swept = Sweep::of(&self.view).filter(Sweep::has_few_suspects);
        if let Some(sweep) = swept
            && self.switch_few(&sweep).is_ok()
        {
            // Git deletes what only the last commit has, so what was not there before is not there now.
            return Ok(if sweep.others.is_empty() { Others::None } else { Others::Possible });
        }
        self.view.git("read-tree").args(["--reset", "-u", &self.base.0]).run()?;
        Ok(Others::Possible)
    }

    /// Puts back the suspects as the index has them. Then all files are as git noted, and it need not look at those
    /// that do not differ between index and commit.
    fn switch_few(&self, sweep: &Sweep) -> Result<(), WorkspaceError> {
        if !sweep.suspects.is_empty() {
            let git = self.view.git("checkout-index").args(["--force", "--index", "-q", "-z", "--stdin"]);
            git.input(parse::nul_terminated(&sweep.suspects)).run()?;
        }
        let tree = self.inner.known_tree_of(&self.base)?;
        if sweep.tree.as_ref() != Some(&tree.0) {
            self.view.git("read-tree").args(["-m", "-u", &self.base.0]).run()?;
        }
        Ok(())
    }

    /// The files of the commit that have another content now, or are gone.
    pub(crate) fn changed_files(&self) -> Result<Vec<Vec<u8>>, WorkspaceError> {
        let suspects = Sweep::of(&self.view).filter(Sweep::has_few_suspects).map(|sweep| sweep.suspects);
        if suspects.as_ref().is_some_and(Vec::is_empty) {
            return Ok(Vec::new());
        }
        let quiet = ["--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all"];
        let git =
            self.view.git("diff").env("GIT_LITERAL_PATHSPECS", "1").args(["--name-only", "-z"]).args(quiet);
        let output = git.arg("--").args(suspects.iter().flatten().map(|path| as_path(path))).run()?;
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

    pub(crate) fn rebuild_index(&self) -> Result<(), WorkspaceError> {
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
