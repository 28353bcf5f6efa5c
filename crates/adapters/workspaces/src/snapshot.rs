//! The user's working tree as a commit, without touching index, working tree, stash or branches.
//!
//! Owns the copy of the user's index that makes this fast: only files that differ from it, or may, are read. Refuses to run the
//! user's filters: an unchanged pointer file of Git LFS stays the pointer file.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fixpoint_ports::{CommitId, LeftOut, Snapshot, SnapshotOrigin, TreeId, WorkspaceError};

use crate::completeness::MAX_PRUNES;
use crate::files::{io_error, read_optional, write};
use crate::git::GitCommand;
use crate::index::{copy_index, date_back};
use crate::private_git_dir::{Head, WorkTreeView, write_git_dir};
use crate::repository::HeadCommit;
use crate::users_index::distrust_entries;
use crate::working_tree::{TreeOwner, WrittenTree, write_tree};
use crate::workspaces::Inner;

/// The user's working tree seen through a copy of the index.
pub(crate) struct UsersTreeView {
    pub(crate) view: WorkTreeView,
    /// The modification time of the user's own index.
    index_modified: SystemTime,
    submodules: Vec<Vec<u8>>,
}

impl Inner {
    pub(crate) fn snapshot(&self, reference: &str) -> Result<Snapshot, WorkspaceError> {
        let mut tries = 0;
        loop {
            let scratch = self.scratch()?;
            let head = self.repository.head()?;
            let users = self.users_tree_view(scratch.path(), head.as_ref())?;
            let parent = head.as_ref().map(|head| head.commit.clone());
            let snapshot = self.snapshot_of(&users, head)?;
            self.store_ref(reference, &snapshot.commit)?;
            tries += 1;
            // Objects may have been deleted before the reference was there. Then they are written again.
            let is_own = snapshot.origin == SnapshotOrigin::WorkingTree && self.is_in_users_repository();
            if !is_own || tries == MAX_PRUNES || self.is_complete(&snapshot.commit, parent.as_ref()) {
                return Ok(snapshot);
            }
        }
    }

    /// The snapshot as a commit. Afterwards the index of the view matches the working files.
    pub(crate) fn snapshot_of(
        &self,
        UsersTreeView { view, index_modified, submodules }: &UsersTreeView,
        head: Option<HeadCommit>,
    ) -> Result<Snapshot, WorkspaceError> {
        let WrittenTree { tree, nested_repositories } =
            write_tree(view, TreeOwner::User, &[], head.as_ref().map(|head| &head.tree))?;
        let left_out = LeftOut { submodules: submodules.clone(), nested_repositories };
        // The user may go on editing, so files that are not older than the user's index must be compared again.
        date_back(&view.index(), *index_modified)?;
        match head {
            Some(HeadCommit { commit, tree: committed }) if committed == tree => {
                Ok(Snapshot { commit, tree, origin: SnapshotOrigin::Commit, left_out })
            }
            Some(HeadCommit { commit, .. }) => self.commit_working_tree(tree, Some(&commit), left_out),
            None if view.git("ls-files").arg("-z").run()?.is_empty() => Err(empty_repository()),
            None => self.commit_working_tree(tree, None, left_out),
        }
    }

    fn commit_working_tree(
        &self,
        tree: TreeId,
        parent: Option<&CommitId>,
        left_out: LeftOut,
    ) -> Result<Snapshot, WorkspaceError> {
        let commit = self.commit_tree(&tree, parent, "Fixpoint: snapshot of the working tree\n")?;
        Ok(Snapshot { commit, tree, origin: SnapshotOrigin::WorkingTree, left_out })
    }

    /// A view of the user's working tree with a copy of the index, in a directory for this operation.
    pub(crate) fn users_tree_view(
        &self,
        scratch: &Path,
        head: Option<&HeadCommit>,
    ) -> Result<UsersTreeView, WorkspaceError> {
        let view = WorkTreeView {
            git_dir: scratch.join("git"),
            tree: self.repository.tree.clone(),
            objects: self.objects.clone(),
        };
        let head = head.map_or(Head::Unborn, |head| Head::Detached(&head.commit));
        write_git_dir(&view.git_dir, &self.repository, &self.objects, head)?;
        self.exclude_slots(&view)?;
        let index_modified = self.copy_users_index(&view)?;
        let submodules = distrust_entries(&view, &self.repository, index_modified)?;
        date_back(&view.index(), index_modified)?;
        Ok(UsersTreeView { view, index_modified, submodules })
    }

    /// Copies the index and the files that a split index consists of: git would touch the originals when reading them.
    fn copy_users_index(&self, view: &WorkTreeView) -> Result<SystemTime, WorkspaceError> {
        let index = &self.repository.index;
        let modified = copy_index(index, &view.index())?;
        let directory = index.parent().unwrap_or(index);
        for entry in directory.read_dir().map_err(io_error(directory))?.flatten() {
            let name = entry.file_name();
            if name.as_bytes().starts_with(b"sharedindex.") {
                copy_index(&entry.path(), &view.git_dir.join(&name))?;
            }
        }
        // Older than any file. Git takes an index from the second 0 for one whose time is unknown.
        Ok(modified.unwrap_or(UNIX_EPOCH + Duration::from_secs(1)))
    }

    /// Leaves out slots that are inside the user's working tree.
    fn exclude_slots(&self, view: &WorkTreeView) -> Result<(), WorkspaceError> {
        let root = self.pool.parent().unwrap_or(&self.pool);
        let Ok(inside) = root.strip_prefix(&self.repository.tree) else { return Ok(()) };
        let path = view.git_dir.join("info/exclude");
        let mut rules = read_optional(&path)?.unwrap_or_default();
        rules.extend(b"\n/");
        for byte in inside.as_os_str().as_bytes() {
            if matches!(byte, b'*' | b'?' | b'[' | b'\\' | b' ') {
                rules.push(b'\\');
            }
            rules.push(*byte);
        }
        rules.extend(b"/\n");
        write(&path, &rules)
    }

    pub(crate) fn resolve(&self, revision: &str, reference: &str) -> Result<Snapshot, WorkspaceError> {
        let commit = self.commit_of(revision)?;
        self.fetch_missing_objects(&commit)?;
        let tree = self.tree_of(&commit)?;
        self.store_ref(reference, &commit)?;
        let left_out = LeftOut { submodules: self.submodules_of(&commit)?, ..LeftOut::default() };
        Ok(Snapshot { commit, tree, origin: SnapshotOrigin::Commit, left_out })
    }

    pub(crate) fn require_base(&self, revision: Option<&str>) -> Result<(), WorkspaceError> {
        if let Some(revision) = revision {
            return self.commit_of(revision).map(drop);
        }
        let head =
            self.repository.git("rev-parse").args(["--verify", "--quiet", "HEAD^{commit}"]).output()?;
        let listed = ["-z", "--cached", "--others", "--exclude-standard"];
        if !head.succeeded() && self.repository.git("ls-files").args(listed).run()?.is_empty() {
            return Err(empty_repository());
        }
        Ok(())
    }

    fn commit_of(&self, revision: &str) -> Result<CommitId, WorkspaceError> {
        let resolve = |git: GitCommand| {
            let git = git.args(["--verify", "--quiet", "--end-of-options"]);
            git.arg(format!("{revision}^{{commit}}")).output()
        };
        let mut output = resolve(self.repository.git("rev-parse"))?;
        if !output.succeeded() {
            // Results that are stored separately are known only there.
            output = resolve(self.object_git("rev-parse"))?;
        }
        if output.succeeded() {
            return Ok(CommitId(output.line()));
        }
        Err(match revision {
            "HEAD" => WorkspaceError::UnusableRepository {
                problem: "the repository has no commits".to_string(),
                remedy: "make a first commit".to_string(),
            },
            _ => WorkspaceError::NoSuchCommit(revision.to_string()),
        })
    }
}

fn empty_repository() -> WorkspaceError {
    WorkspaceError::UnusableRepository {
        problem: "the repository has no commits and no files".to_string(),
        remedy: "add a file first".to_string(),
    }
}
