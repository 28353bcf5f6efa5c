//! Results delivered to the user: as a new branch, by a fast-forward, or as changes of the working files.
//!
//! Owns the only three ways in which more than `refs/fixpoint/` changes. Refuses to move a branch otherwise, and to
//! overwrite the user's changes: the result is merged with the working tree as it is now, in objects first, and files are
//! written only if nothing conflicts and nothing has changed in the meantime. The user's index is never written.

use fixpoint_ports::{BranchUpdate, CommitId, WorkspaceError};

use crate::files::as_path;
use crate::git::parse::{self, EntryMode};
use crate::workspaces::GitWorkspaces;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApplyOutcome {
    /// These paths were written or deleted; none, if the working tree had all changes already.
    Written(Vec<Vec<u8>>),
    /// These paths do not merge, or are ignored files that would be overwritten. Nothing was changed.
    Conflict(Vec<Vec<u8>>),
}

impl GitWorkspaces {
    pub(crate) fn create_or_forward(
        &self,
        branch: &str,
        commit: &CommitId,
    ) -> Result<BranchUpdate, WorkspaceError> {
        self.inner.tree_of(commit)?;
        let create = format!("create refs/heads/{branch}\0{commit}\0");
        let update = self.inner.repository.git("update-ref").args(["--stdin", "-z"]);
        let Err(error) = update.input(create.into_bytes()).run() else { return Ok(BranchUpdate::Updated) };
        match self.branch_commit(branch)? {
            Some(at) if at == *commit => Ok(BranchUpdate::Updated),
            Some(_) => self.forward(branch, commit),
            None => Err(error),
        }
    }

    pub(crate) fn forward(&self, branch: &str, commit: &CommitId) -> Result<BranchUpdate, WorkspaceError> {
        self.inner.tree_of(commit)?;
        let repository = &self.inner.repository;
        let name = format!("refs/heads/{branch}");
        if !repository.git("check-ref-format").arg(&name).output()?.succeeded() {
            return Err(WorkspaceError::InvalidName(branch.to_string()));
        }
        let Some(old) = self.branch_commit(branch)? else { return Ok(BranchUpdate::Missing) };
        if old == *commit {
            return Ok(BranchUpdate::Updated);
        }
        let worktrees = repository.git("worktree").args(["list", "--porcelain", "-z"]).run()?;
        let checked_out = format!("branch {name}").into_bytes();
        if parse::nul_separated(&worktrees).any(|line| line == checked_out) {
            return Ok(BranchUpdate::CheckedOut);
        }
        let ancestor = repository.git("merge-base").args(["--is-ancestor", &old.0, &commit.0]).output()?;
        if !ancestor.succeeded() {
            return Ok(BranchUpdate::Diverged);
        }
        let update = format!("update {name}\0{commit}\0{old}\0");
        repository.git("update-ref").args(["--stdin", "-z"]).input(update.into_bytes()).run()?;
        Ok(BranchUpdate::Updated)
    }

    /// The commit of a branch; `None` where there is no such branch.
    pub fn branch_commit(&self, branch: &str) -> Result<Option<CommitId>, WorkspaceError> {
        let name = format!("refs/heads/{branch}");
        let found =
            self.inner.repository.git("rev-parse").args(["--verify", "--quiet"]).arg(&name).output()?;
        Ok(found.succeeded().then(|| CommitId(found.line())))
    }

    /// Merges what a result changed since `base` into the user's working files.
    pub fn apply(&self, base: &CommitId, result: &CommitId) -> Result<ApplyOutcome, WorkspaceError> {
        let inner = &self.inner;
        let scratch = inner.scratch()?;
        let head = inner.repository.head()?;
        let users = inner.users_tree_view(scratch.path(), head.as_ref())?;
        let now = inner.snapshot_of(&users, head)?;
        let merge = inner.merge_since(base, &now.commit, result)?;
        if !merge.conflicts.is_empty() {
            return Ok(ApplyOutcome::Conflict(merge.conflicts));
        }
        let merged = inner.commit_tree(&merge.tree, Some(&now.commit), "Fixpoint: merged\n")?;
        let entries = inner.diff_entries(&now.commit, &merged)?;
        // Ignored files are not in the snapshot, so a path that is added and exists already is one of them.
        let exists = |path: &[u8]| self.root().join(as_path(path)).symlink_metadata().is_ok();
        let added = entries.iter().filter(|entry| entry.before == EntryMode::Absent);
        let overwritten: Vec<Vec<u8>> =
            added.filter(|entry| exists(&entry.path)).map(|entry| entry.path.clone()).collect();
        if !overwritten.is_empty() {
            return Ok(ApplyOutcome::Conflict(overwritten));
        }
        users.view.git("read-tree").args(["-m", "-u"]).args([&now.commit.0, &merged.0]).run()?;
        Ok(ApplyOutcome::Written(entries.into_iter().map(|entry| entry.path).collect()))
    }
}
