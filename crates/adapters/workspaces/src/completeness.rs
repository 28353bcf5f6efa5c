//! Whether results can be stored in the user's repository, and whether all that was stored is there.
//!
//! Owns two questions: before a run, whether objects, `refs/fixpoint/` and a branch can be written; and after a commit was
//! stored, whether all its objects exist. The user's own `git gc --prune=now` may delete objects between their creation
//! and that of the reference. Leaves nothing behind in the repository.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use fixpoint_ports::{CommitId, WorkspaceError};
use nix::unistd::{AccessFlags, access};

use crate::files::io_error;
use crate::workspaces::{GitWorkspaces, Inner, RefStorage};

/// As much as a few objects take, so that an almost full disk is noticed.
const PROBE_BYTES: usize = 64 << 10;
/// How often objects are written again that were deleted while they were not referred to.
pub(crate) const MAX_PRUNES: u32 = 3;

impl GitWorkspaces {
    /// Fails if the result of a run could not be stored in the user's repository and delivered as this branch.
    pub fn require_branch_storage(&self, branch: &str) -> Result<(), WorkspaceError> {
        let objects = &self.inner.repository.objects;
        probe(objects).map_err(|error| self.unusable(io_error(objects)(error)))?;
        for entry in fs::read_dir(objects).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_fan_out = entry.file_name().len() == 2 && path.is_dir();
            if is_fan_out && let Err(error) = access(&path, AccessFlags::W_OK | AccessFlags::X_OK) {
                return Err(self.unusable(io_error(&path)(error.into())));
            }
        }
        let Some(head) = self.inner.repository.head()? else { return Ok(()) };
        // Everything but the last step of creating both references, which takes and releases their locks.
        let own = format!("refs/fixpoint/probe-{}", std::process::id());
        let commit = &head.commit;
        let lines =
            format!("start\0create {own}\0{commit}\0create refs/heads/{branch}\0{commit}\0prepare\0abort\0");
        let git = self.inner.repository.git("update-ref").args(["--stdin", "-z"]);
        let probed = git.input(lines.into_bytes()).run();
        // Git leaves the directories of references that it did not create. One that is not empty stays.
        for name in [format!("refs/heads/{branch}"), own] {
            let path = self.inner.repository.common_dir.join(name);
            path.parent().map(fs::remove_dir).and_then(Result::ok).unwrap_or_default();
        }
        match probed {
            Ok(_) => Ok(()),
            // The branch of a run that is resumed may exist.
            Err(_) if self.branch_commit(branch)?.is_some() => Ok(()),
            Err(error) => Err(self.unusable(error)),
        }
    }

    fn unusable(&self, error: WorkspaceError) -> WorkspaceError {
        let root = self.root().display();
        let message = format!("the result could not be stored in the repository {root}: {error}");
        if matches!(error, WorkspaceError::NoSpace(_)) {
            WorkspaceError::NoSpace(message)
        } else {
            WorkspaceError::PermissionDenied(message)
        }
    }

    /// Fails if an object of a commit is missing in the user's repository. Objects of the user's own branches are not
    /// looked at, and a partial clone may lack some.
    pub(crate) fn require_complete(&self, commit: &CommitId) -> Result<(), WorkspaceError> {
        let repository = &self.inner.repository;
        if repository.promisor_remote().is_some() {
            return Ok(());
        }
        let git = repository.git("rev-list").args(["--objects", "--quiet", &commit.0, "--not"]);
        git.args(["--exclude=fixpoint/*", "--branches", "--tags", "--remotes"]).run().map(drop)
    }
}

impl Inner {
    /// Whether every object that a commit adds to another one is there.
    pub(crate) fn is_complete(&self, commit: &CommitId, base: Option<&CommitId>) -> bool {
        let mut git = self.object_git("rev-list").args(["--objects", "--quiet", &commit.0]);
        if let Some(base) = base {
            git = git.args(["--not", &base.0]);
        }
        self.repository.promisor_remote().is_some() || git.run().is_ok()
    }

    /// Whether results are stored in the user's repository, where its clean-up can reach them.
    pub(crate) fn is_in_users_repository(&self) -> bool {
        self.ref_storage == RefStorage::UsersRepository
    }
}

/// Writes a file where git writes its objects. Git deletes files of this name if they are left behind.
pub(crate) fn probe(objects: &Path) -> io::Result<()> {
    let path = objects.join(format!("tmp_obj_fixpoint_{}", std::process::id()));
    // Permissions say nothing about a file system that is mounted read-only or full.
    let written = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&path)
        .and_then(|mut file| file.write_all(&[0x5a; PROBE_BYTES]).and_then(|()| file.sync_all()));
    let removed = fs::remove_file(&path);
    written.and(removed)
}
