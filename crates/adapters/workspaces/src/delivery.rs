//! Results delivered to the user: as a new branch, by a fast-forward, or as changes of the working files.
//!
//! Owns the only three ways in which more than `refs/fixpoint/` changes. Refuses to move a branch otherwise, and to
//! overwrite the user's changes: the result is merged with the working tree as it is now, in objects first, and files are
//! written only if nothing conflicts and nothing has changed in the meantime. The user's index is never written.

use std::io;

use fixpoint_ports::{BranchUpdate, CommitId, WorkspaceError};

use crate::files::as_path;
use crate::git::parse::{self, EntryMode};
use crate::private_git_dir::WorkTreeView;
use crate::workspaces::{GitWorkspaces, RefStorage};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApplyOutcome {
    /// These paths were written or deleted; none, if the working tree had all changes already.
    Written(Vec<Vec<u8>>),
    /// These paths do not merge, or have changes that are in no snapshot: they are ignored, marked as unchanged in the
    /// index, or were changed just now. Nothing was written.
    Conflict(Vec<Vec<u8>>),
}

impl GitWorkspaces {
    pub(crate) fn create_or_forward(
        &self,
        branch: &str,
        commit: &CommitId,
    ) -> Result<BranchUpdate, WorkspaceError> {
        self.inner.tree_of(commit)?;
        self.require_shared_objects()?;
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
        self.require_shared_objects()?;
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
        let paths: Vec<Vec<u8>> = entries.into_iter().map(|entry| entry.path).collect();
        // Git checks all paths before it writes the first.
        let written = users.view.git("read-tree").args(["-m", "-u"]).args([&now.commit.0, &merged.0]).run();
        let Err(error) = written else { return Ok(ApplyOutcome::Written(paths)) };
        let differing = self.differing_from(&now.commit, &paths, &users.view)?;
        if differing.is_empty() { Err(error) } else { Ok(ApplyOutcome::Conflict(differing)) }
    }

    /// Those of the paths whose working files are not as in a commit. Flags in the user's index do not count: a snapshot
    /// does not have the changes of files that are marked as "assume unchanged" or "skip worktree".
    fn differing_from(
        &self,
        commit: &CommitId,
        paths: &[Vec<u8>],
        view: &WorkTreeView,
    ) -> Result<Vec<Vec<u8>>, WorkspaceError> {
        let git = |subcommand| {
            let git = view.git(subcommand).env("GIT_LITERAL_PATHSPECS", "1");
            git.env("GIT_INDEX_FILE", view.git_dir.join("index-without-flags"))
        };
        git("read-tree").arg(&commit.0).run()?;
        let arguments = ["-z", "--name-only", "--no-ext-diff", "--ignore-submodules=dirty", "--"];
        let listed = git("diff").args(arguments).args(paths.iter().map(|path| as_path(path))).run()?;
        Ok(parse::nul_separated(&listed).map(<[u8]>::to_vec).collect())
    }
}
