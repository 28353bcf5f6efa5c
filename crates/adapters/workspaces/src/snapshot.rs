//! The user's tree as a commit, without touching index, working tree, stash or branches.
//!
//! Owns the copy of the user's index that makes this fast: only what differs from it is read. Refuses to run the
//! user's filters: a pointer of large-file storage that is unchanged stays the pointer that the index names.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fixpoint_ports::{CommitId, Snapshot, SnapshotOrigin, TreeId, WorkspaceError};

use crate::capture::{Ground, capture};
use crate::files::{io_error, write};
use crate::index::{copy_index, date_back};
use crate::local::Inner;
use crate::private::{Head, View, write_git_dir};
use crate::repository::{CheckedOut, read_optional};

/// The user's working tree seen through a copy of the index.
pub(crate) struct UsersView {
    pub(crate) view: View,
    /// The modification time of the user's own index.
    index_modified: SystemTime,
}

impl Inner {
    pub(crate) fn snapshot(&self, reference: &str) -> Result<Snapshot, WorkspaceError> {
        let scratch = self.scratch()?;
        let head = self.repository.head()?;
        let view = self.users_view(scratch.path(), head.as_ref())?;
        let snapshot = self.snapshot_with(&view, head)?;
        self.keep(reference, &snapshot.commit)?;
        Ok(snapshot)
    }

    /// Takes the snapshot into the index of a view, which afterwards knows the state of every working file.
    pub(crate) fn snapshot_with(
        &self,
        UsersView { view, index_modified }: &UsersView,
        head: Option<CheckedOut>,
    ) -> Result<Snapshot, WorkspaceError> {
        let tree = capture(view, Ground::Users, &[], head.as_ref().map(|head| &head.tree))?;
        // The user may go on editing: whoever uses this index next compares what is not older than the user's own.
        date_back(&view.index(), *index_modified)?;
        match head {
            Some(CheckedOut { commit, tree: committed }) if committed == tree => {
                Ok(Snapshot { commit, tree, origin: SnapshotOrigin::Commit })
            }
            Some(CheckedOut { commit, .. }) => self.working_tree(tree, Some(&commit)),
            None if view.git("ls-files").arg("-z").run()?.is_empty() => Err(empty()),
            None => self.working_tree(tree, None),
        }
    }

    fn working_tree(&self, tree: TreeId, parent: Option<&CommitId>) -> Result<Snapshot, WorkspaceError> {
        let commit = self.commit(&tree, parent, "Fixpoint: the working tree as it was\n")?;
        Ok(Snapshot { commit, tree, origin: SnapshotOrigin::WorkingTree })
    }

    /// A view of the user's working tree with a copy of the index.
    pub(crate) fn users_view(
        &self,
        scratch: &Path,
        head: Option<&CheckedOut>,
    ) -> Result<UsersView, WorkspaceError> {
        let repository = &self.repository;
        let view = View {
            git_dir: scratch.join("git"),
            tree: repository.tree.clone(),
            objects: self.store.objects.clone(),
        };
        let head = head.map_or(Head::Unborn, |head| Head::Detached(&head.commit));
        write_git_dir(&view.git_dir, repository, &self.store, head)?;
        self.exclude_slots(&view)?;
        let index_modified = self.copy_users_index(&view)?;
        Ok(UsersView { view, index_modified })
    }

    /// Copies the index, and the files beside it that a split index is made of: git dates those when it reads them.
    fn copy_users_index(&self, view: &View) -> Result<SystemTime, WorkspaceError> {
        let index = &self.repository.index;
        let modified = copy_index(index, &view.index())?;
        let directory = index.parent().unwrap_or(index);
        for entry in directory.read_dir().map_err(io_error(directory))?.flatten() {
            let name = entry.file_name();
            if name.as_bytes().starts_with(b"sharedindex.") {
                copy_index(&entry.path(), &view.git_dir.join(&name))?;
            }
        }
        // Without an index every file is new. Git takes the very beginning of time for "unknown".
        Ok(modified.unwrap_or(UNIX_EPOCH + Duration::from_secs(1)))
    }

    /// Slots that lie inside the working tree are no part of it.
    fn exclude_slots(&self, view: &View) -> Result<(), WorkspaceError> {
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
        self.fetch_promised(&commit)?;
        let tree = self.tree_of(&commit)?;
        self.keep(reference, &commit)?;
        Ok(Snapshot { commit, tree, origin: SnapshotOrigin::Commit })
    }

    /// Refuses a commit that does not exist and, where none is named, a repository without anything in it.
    pub(crate) fn require(&self, revision: Option<&str>) -> Result<(), WorkspaceError> {
        if let Some(revision) = revision {
            return self.commit_of(revision).map(drop);
        }
        let head = self.repository.git("rev-parse").args(["--verify", "--quiet", "HEAD^{commit}"]).end()?;
        let listed = ["-z", "--cached", "--others", "--exclude-standard"];
        if head.code != Some(0) && self.repository.git("ls-files").args(listed).run()?.is_empty() {
            return Err(empty());
        }
        Ok(())
    }

    fn commit_of(&self, revision: &str) -> Result<CommitId, WorkspaceError> {
        let name = || format!("{revision}^{{commit}}");
        let ask =
            |git: crate::git::Git| git.args(["--verify", "--quiet", "--end-of-options"]).arg(name()).end();
        let mut ended = ask(self.repository.git("rev-parse"))?;
        if ended.code != Some(0) {
            // Results that are kept apart are known only there.
            ended = ask(self.object_git("rev-parse"))?;
        }
        if ended.code != Some(0) {
            return Err(WorkspaceError::NoSuchCommit(revision.to_string()));
        }
        Ok(CommitId(String::from_utf8_lossy(ended.stdout.trim_ascii()).into_owned()))
    }
}

fn empty() -> WorkspaceError {
    WorkspaceError::UnusableRepository {
        problem: "the repository has no commits and no files".to_string(),
        remedy: "add a file first".to_string(),
    }
}
