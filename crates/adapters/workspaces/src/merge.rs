//! Merges of two commits, without a working tree.
//!
//! Files with conflicts hold both sides between git's conflict markers: nothing of either side is dropped.

use fixpoint_ports::{CommitId, MergedTree, TreeId, WorkspaceError};

use crate::git::parse;
use crate::workspaces::Inner;

/// The tree of a merge, and the paths with conflicts.
pub(crate) struct TreeMerge {
    pub(crate) tree: TreeId,
    pub(crate) conflicts: Vec<Vec<u8>>,
}

impl Inner {
    /// Merges what two commits changed since `base`, whatever their history. `merge-tree --merge-base` needs git 2.40;
    /// any git finds the base of two commits that were made on top of it.
    pub(crate) fn merge_since(
        &self,
        base: &CommitId,
        ours: &CommitId,
        theirs: &CommitId,
    ) -> Result<TreeMerge, WorkspaceError> {
        let on_base = |side: &CommitId| {
            self.commit_tree(&self.tree_of(side)?, [base], "Fixpoint: one side of a merge\n")
        };
        self.merge_trees(&on_base(ours)?, &on_base(theirs)?)
    }

    /// Merges what two commits changed since their merge base.
    fn merge_trees(&self, ours: &CommitId, theirs: &CommitId) -> Result<TreeMerge, WorkspaceError> {
        let git = self.object_git("merge-tree").args(["--write-tree", "-z", "--name-only"]);
        let git = git.args(["--no-messages", "--allow-unrelated-histories"]);
        let output = git.args([&ours.0, &theirs.0]).output()?;
        let mut pieces = parse::nul_separated(&output.stdout);
        let tree = pieces.next().map(|name| TreeId(String::from_utf8_lossy(name).into_owned()));
        match (output.code, tree) {
            (Some(0), Some(tree)) => Ok(TreeMerge { tree, conflicts: Vec::new() }),
            (Some(1), Some(tree)) => {
                let mut conflicts: Vec<Vec<u8>> = pieces.map(<[u8]>::to_vec).collect();
                conflicts.dedup();
                Ok(TreeMerge { tree, conflicts })
            }
            _ => Err(output.error()),
        }
    }

    /// If there are several merge bases, the first that git prints.
    pub(crate) fn merge_base(
        &self,
        ours: &CommitId,
        theirs: &CommitId,
    ) -> Result<Option<CommitId>, WorkspaceError> {
        let output = self.object_git("merge-base").args([&ours.0, &theirs.0]).output()?;
        match output.code {
            Some(0) => Ok(Some(CommitId(output.line()))),
            Some(1) => Ok(None),
            Some(_) | None => Err(output.error()),
        }
    }

    pub(crate) fn merge(
        &self,
        ours: &CommitId,
        theirs: &CommitId,
        reference: &str,
    ) -> Result<MergedTree, WorkspaceError> {
        let TreeMerge { tree, conflicts } = self.merge_trees(ours, theirs)?;
        let commit = self.commit_tree(&tree, [ours, theirs], "Fixpoint: merge\n")?;
        self.store_ref(reference, &commit)?;
        Ok(MergedTree { commit, tree, conflicts })
    }
}
