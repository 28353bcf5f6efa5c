//! A result handed to the user: as a branch, by moving one forward, or as changes of the working files.
//!
//! Owns the only three ways in which more than `refs/fixpoint/` changes. Refuses to move a branch otherwise, and to
//! overwrite anything of the user's: the result is merged with the working tree as it is now, in objects first, and
//! files are written only if nothing conflicts and nothing changed meanwhile. The user's index is never written.

use fixpoint_ports::{CommitId, WorkspaceError};

use crate::files::as_path;
use crate::git::records::Mode;
use crate::local::LocalWorkspaces;

/// What came of delivering as a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Branch {
    /// The branch was made.
    Created(String),
    /// A branch of that name is already there, at this commit, and was left alone.
    Exists(String, CommitId),
}

/// What came of applying to the working tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applied {
    /// These paths were written or removed; none, if the tree had it all.
    Written(Vec<Vec<u8>>),
    /// These paths would have been overwritten or do not merge; nothing was changed.
    Conflict(Vec<Vec<u8>>),
}

/// What came of moving a branch forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forwarded {
    /// It is at the result.
    Moved,
    /// It has commits that the result does not have.
    Diverged,
    /// Somebody has it checked out.
    CheckedOut,
    /// There is no such branch.
    NoSuchBranch,
}

impl LocalWorkspaces {
    /// Makes the branch `fixpoint/<run>` at a commit.
    pub fn deliver_branch(&self, run: &str, commit: &CommitId) -> Result<Branch, WorkspaceError> {
        self.inner.tree_of(commit)?;
        let branch = format!("fixpoint/{run}");
        let name = format!("refs/heads/{branch}");
        let repository = &self.inner.repository;
        let create = format!("create {name}\0{commit}\0");
        let made = repository.git("update-ref").args(["--stdin", "-z"]).input(create.into_bytes()).run();
        match made {
            Ok(_) => Ok(Branch::Created(branch)),
            Err(error) => {
                let found = repository.git("rev-parse").args(["--verify", "--quiet"]).arg(&name).end()?;
                match found.code {
                    Some(0) => {
                        let at = String::from_utf8_lossy(found.stdout.trim_ascii()).into_owned();
                        Ok(Branch::Exists(branch, CommitId(at)))
                    }
                    Some(_) | None => Err(error),
                }
            }
        }
    }

    /// Moves a branch of the user's forward to a result. A branch that somebody has checked out is left alone: its
    /// files would no longer be those of its commit.
    pub fn fast_forward(&self, branch: &str, commit: &CommitId) -> Result<Forwarded, WorkspaceError> {
        self.inner.tree_of(commit)?;
        let repository = &self.inner.repository;
        let name = format!("refs/heads/{branch}");
        if repository.git("check-ref-format").arg(&name).end()?.code != Some(0) {
            return Err(WorkspaceError::InvalidName(branch.to_string()));
        }
        let worktrees = repository.git("worktree").args(["list", "--porcelain", "-z"]).run()?;
        let mark = format!("branch {name}").into_bytes();
        if crate::git::records::list(&worktrees).any(|line| line == mark) {
            return Ok(Forwarded::CheckedOut);
        }
        let found = repository.git("rev-parse").args(["--verify", "--quiet"]).arg(&name).end()?;
        if found.code != Some(0) {
            return Ok(Forwarded::NoSuchBranch);
        }
        let old = String::from_utf8_lossy(found.stdout.trim_ascii()).into_owned();
        if old == commit.0 {
            return Ok(Forwarded::Moved);
        }
        let ancestor = repository.git("merge-base").args(["--is-ancestor", &old, &commit.0]).end()?;
        if ancestor.code != Some(0) {
            return Ok(Forwarded::Diverged);
        }
        let update = format!("update {name}\0{commit}\0{old}\0");
        repository.git("update-ref").args(["--stdin", "-z"]).input(update.into_bytes()).run()?;
        Ok(Forwarded::Moved)
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
