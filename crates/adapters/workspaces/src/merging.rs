//! Two commits brought together, in objects alone.
//!
//! Where the two sides conflict, the files hold both, marked as git marks them: nothing of either side is dropped.

use fixpoint_ports::{CommitId, MergedTree, TreeId, WorkspaceError};

use crate::git::records;
use crate::local::Inner;

/// The tree two commits come to together, and the paths where they conflict.
pub(crate) struct MergedSides {
    pub(crate) tree: TreeId,
    pub(crate) conflicts: Vec<Vec<u8>>,
}

impl Inner {
    /// Merges what two commits changed since `base`, whatever their history. `merge-tree --merge-base` needs git 2.40;
    /// two commits on top of the base have it in common with any git.
    pub(crate) fn merge_since(
        &self,
        base: &CommitId,
        ours: &CommitId,
        theirs: &CommitId,
    ) -> Result<MergedSides, WorkspaceError> {
        let on_base =
            |side: &CommitId| self.commit(&self.tree_of(side)?, [base], "Fixpoint: one side of a merge\n");
        self.merge_trees(&on_base(ours)?, &on_base(theirs)?)
    }

    /// Merges what two commits changed since the commit they have in common.
    fn merge_trees(&self, ours: &CommitId, theirs: &CommitId) -> Result<MergedSides, WorkspaceError> {
        let git = self.object_git("merge-tree").args(["--write-tree", "-z", "--name-only"]);
        let git = git.args(["--no-messages", "--allow-unrelated-histories"]);
        let ended = git.args([&ours.0, &theirs.0]).end()?;
        let mut pieces = records::list(&ended.stdout);
        let tree = pieces.next().map(|name| TreeId(String::from_utf8_lossy(name).into_owned()));
        match (ended.code, tree) {
            (Some(0), Some(tree)) => Ok(MergedSides { tree, conflicts: Vec::new() }),
            (Some(1), Some(tree)) => {
                let mut conflicts: Vec<Vec<u8>> = pieces.map(<[u8]>::to_vec).collect();
                conflicts.dedup();
                Ok(MergedSides { tree, conflicts })
            }
            _ => Err(WorkspaceError::Git { command: "merge-tree".to_string(), message: ended.message }),
        }
    }

    /// The commit two have in common; of several that are as near, the first that git names.
    pub(crate) fn merge_base(
        &self,
        ours: &CommitId,
        theirs: &CommitId,
    ) -> Result<Option<CommitId>, WorkspaceError> {
        let ended = self.object_git("merge-base").args([&ours.0, &theirs.0]).end()?;
        let said = String::from_utf8_lossy(ended.stdout.trim_ascii()).into_owned();
        match ended.code {
            Some(0) => Ok(Some(CommitId(said))),
            Some(1) => Ok(None),
            Some(_) | None => {
                Err(WorkspaceError::Git { command: "merge-base".to_string(), message: ended.message })
            }
        }
    }

    /// A commit with both as its parents, kept under `reference`.
    pub(crate) fn merge(
        &self,
        ours: &CommitId,
        theirs: &CommitId,
        reference: &str,
    ) -> Result<MergedTree, WorkspaceError> {
        let MergedSides { tree, conflicts } = self.merge_trees(ours, theirs)?;
        let commit = self.commit(&tree, [ours, theirs], "Fixpoint: two results together\n")?;
        self.keep(reference, &commit)?;
        Ok(MergedTree { commit, tree, conflicts })
    }
}
