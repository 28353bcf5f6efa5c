//! A result handed to the user: as a branch, by moving one forward, or as changes of the working files.
//!
//! Owns the only three ways in which more than `refs/fixpoint/` changes. Refuses to move a branch otherwise, and to
//! overwrite anything of the user's: the result is merged with the working tree as it is now, in objects first, and
//! files are written only if nothing conflicts and nothing changed meanwhile. The user's index is never written.

use fixpoint_ports::{BranchUpdate, CommitId, WorkspaceError};

use crate::files::as_path;
use crate::git::records::Mode;
use crate::local::LocalWorkspaces;

/// What came of applying to the working tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applied {
    /// These paths were written or removed; none, if the tree had it all.
    Written(Vec<Vec<u8>>),
    /// These paths would have been overwritten or do not merge; nothing was changed.
    Conflict(Vec<Vec<u8>>),
}

impl LocalWorkspaces {
    pub(crate) fn make_or_forward(
        &self,
        branch: &str,
        commit: &CommitId,
    ) -> Result<BranchUpdate, WorkspaceError> {
        self.inner.tree_of(commit)?;
        let create = format!("create refs/heads/{branch}\0{commit}\0");
        let update = self.inner.repository.git("update-ref").args(["--stdin", "-z"]);
        match update.input(create.into_bytes()).run() {
            Ok(_) => Ok(BranchUpdate::Updated),
            Err(error) => match self.branch_commit(branch)? {
                Some(at) if at == *commit => Ok(BranchUpdate::Updated),
                Some(_) => self.forward(branch, commit),
                None => Err(error),
            },
        }
    }

    pub(crate) fn forward(&self, branch: &str, commit: &CommitId) -> Result<BranchUpdate, WorkspaceError> {
        self.inner.tree_of(commit)?;
        let repository = &self.inner.repository;
        let name = format!("refs/heads/{branch}");
        if repository.git("check-ref-format").arg(&name).end()?.code != Some(0) {
            return Err(WorkspaceError::InvalidName(branch.to_string()));
        }
        let Some(old) = self.branch_commit(branch)? else { return Ok(BranchUpdate::Missing) };
        if old == *commit {
            return Ok(BranchUpdate::Updated);
        }
        let worktrees = repository.git("worktree").args(["list", "--porcelain", "-z"]).run()?;
        let mark = format!("branch {name}").into_bytes();
        if crate::git::records::list(&worktrees).any(|line| line == mark) {
            return Ok(BranchUpdate::CheckedOut);
        }
        let ancestor = repository.git("merge-base").args(["--is-ancestor", &old.0, &commit.0]).end()?;
        if ancestor.code != Some(0) {
            return Ok(BranchUpdate::Diverged);
        }
        let update = format!("update {name}\0{commit}\0{old}\0");
        repository.git("update-ref").args(["--stdin", "-z"]).input(update.into_bytes()).run()?;
        Ok(BranchUpdate::Updated)
    }

    /// The commit of a branch; `None` where there is no such branch.
    pub fn branch_commit(&self, branch: &str) -> Result<Option<CommitId>, WorkspaceError> {
        let name = format!("refs/heads/{branch}");
        let found = self.inner.repository.git("rev-parse").args(["--verify", "--quiet"]).arg(&name).end()?;
        let commit = || CommitId(String::from_utf8_lossy(found.stdout.trim_ascii()).into_owned());
        Ok((found.code == Some(0)).then(commit))
    }

    /// Brings what a result changed since `base` into the user's working files.
    pub fn apply(&self, base: &CommitId, result: &CommitId) -> Result<Applied, WorkspaceError> {
        let scratch = self.inner.scratch()?;
        let head = self.inner.repository.head()?;
        let users = self.inner.users_view(scratch.path(), head.as_ref())?;
        let now = self.inner.snapshot_with(&users, head)?;
        let merged = self.inner.merge_since(base, &now.commit, result)?;
        if !merged.conflicts.is_empty() {
            return Ok(Applied::Conflict(merged.conflicts));
        }
        let merged = self.inner.commit(&merged.tree, Some(&now.commit), "Fixpoint: merged\n")?;
        let entries = self.inner.differing(&now.commit, &merged)?;
        // The snapshot has no ignored files, so a path that is new to it and exists is one of those.
        let in_the_way = |path: &[u8]| self.tree().join(as_path(path)).symlink_metadata().is_ok();
        let added = entries.iter().filter(|entry| entry.before == Mode::Absent);
        let barred: Vec<Vec<u8>> =
            added.filter(|entry| in_the_way(&entry.path)).map(|entry| entry.path.clone()).collect();
        if !barred.is_empty() {
            return Ok(Applied::Conflict(barred));
        }
        let two = [&now.commit.0, &merged.0];
        users.view.git("read-tree").args(["-m", "-u"]).args(two).run()?;
        Ok(Applied::Written(entries.into_iter().map(|entry| entry.path).collect()))
    }
}
