//! Results delivered to the user as branches: a new one, or a fast-forward of one that exists.
//!
//! Owns the only two ways in which more references than those in `refs/fixpoint/` change. Refuses to move a branch
//! otherwise, and one that is checked out.

use std::io;

use fixpoint_ports::{BranchUpdate, CommitId, WorkspaceError};

use crate::git::parse;
use crate::workspaces::{GitWorkspaces, RefStorage};

impl GitWorkspaces {
    pub(crate) fn create_or_move(
        &self,
        branch: &str,
        commit: &CommitId,
        replaces: Option<&CommitId>,
    ) -> Result<BranchUpdate, WorkspaceError> {
        self.inner.tree_of(commit)?;
        self.require_shared_objects()?;
        self.require_complete(commit)?;
        let create = format!("create refs/heads/{branch}\0{commit}\0");
        let update = self.inner.repository.git("update-ref").args(["--stdin", "-z"]);
        let created = update.input(create.into_bytes()).run();
        let Err(error) = created.and_then(|_| self.require_at(branch, commit)) else {
            return Ok(BranchUpdate::Updated);
        };
        match self.branch_commit(branch)? {
            Some(at) if at == *commit => Ok(BranchUpdate::Updated),
            Some(_) => self.move_branch(branch, commit, replaces),
            None => Err(error),
        }
    }

    /// Reads back what was written.
    fn require_at(&self, branch: &str, commit: &CommitId) -> Result<(), WorkspaceError> {
        match self.branch_commit(branch)? {
            Some(at) if at == *commit => Ok(()),
            Some(_) | None => Err(WorkspaceError::Git {
                command: "update-ref".to_string(),
                message: format!("the branch {branch} is not at {commit}, although git reported success"),
            }),
        }
    }

    pub(crate) fn forward(&self, branch: &str, commit: &CommitId) -> Result<BranchUpdate, WorkspaceError> {
        self.move_branch(branch, commit, None)
    }

    /// Moves a branch forward to a commit, or away from the one that the commit takes the place of.
    fn move_branch(
        &self,
        branch: &str,
        commit: &CommitId,
        replaces: Option<&CommitId>,
    ) -> Result<BranchUpdate, WorkspaceError> {
        self.inner.tree_of(commit)?;
        self.require_shared_objects()?;
        let repository = &self.inner.repository;
        let name = format!("refs/heads/{branch}");
        self.require_valid_branch(branch)?;
        let Some(old) = self.branch_commit(branch)? else { return Ok(BranchUpdate::Missing) };
        if old == *commit {
            return Ok(BranchUpdate::Updated);
        }
        if self.is_checked_out(branch)? {
            return Ok(BranchUpdate::CheckedOut);
        }
        let ancestor = repository.git("merge-base").args(["--is-ancestor", &old.0, &commit.0]).output()?;
        if !ancestor.succeeded() && replaces != Some(&old) {
            return Ok(BranchUpdate::Diverged);
        }
        let update = format!("update {name}\0{commit}\0{old}\0");
        repository.git("update-ref").args(["--stdin", "-z"]).input(update.into_bytes()).run()?;
        self.require_at(branch, commit)?;
        Ok(BranchUpdate::Updated)
    }

    /// Fails if no branch can have this name.
    pub fn require_valid_branch(&self, branch: &str) -> Result<(), WorkspaceError> {
        let name = format!("refs/heads/{branch}");
        if self.inner.repository.git("check-ref-format").arg(&name).output()?.succeeded() {
            return Ok(());
        }
        Err(WorkspaceError::InvalidName(branch.to_string()))
    }

    /// Whether a branch is checked out, in this working tree or in another of the repository.
    pub fn is_checked_out(&self, branch: &str) -> Result<bool, WorkspaceError> {
        let worktrees = self.inner.repository.git("worktree").args(["list", "--porcelain", "-z"]).run()?;
        let checked_out = format!("branch refs/heads/{branch}").into_bytes();
        Ok(parse::nul_separated(&worktrees).any(|line| line == checked_out))
    }

    /// The commit of a branch; `None` where there is no such branch.
    pub fn branch_commit(&self, branch: &str) -> Result<Option<CommitId>, WorkspaceError> {
        let name = format!("refs/heads/{branch}");
        let found =
            self.inner.repository.git("rev-parse").args(["--verify", "--quiet"]).arg(&name).output()?;
        Ok(found.succeeded().then(|| CommitId(found.line())))
    }

    /// Whether a commit is still stored in the repository or in its pool.
    pub fn has_commit(&self, commit: &CommitId) -> Result<bool, WorkspaceError> {
        match self.inner.tree_of(commit) {
            Ok(_) => Ok(true),
            Err(WorkspaceError::NoSuchCommit(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// A branch of the user's cannot be at a commit that is stored outside of the repository.
    fn require_shared_objects(&self) -> Result<(), WorkspaceError> {
        match self.inner.ref_storage {
            RefStorage::UsersRepository => Ok(()),
            RefStorage::Pool => {
                let problem = "cannot be written, so no branch can be delivered";
                let source = io::Error::new(io::ErrorKind::PermissionDenied, problem);
                Err(WorkspaceError::Io { path: self.inner.repository.objects.clone(), source })
            }
        }
    }
}
