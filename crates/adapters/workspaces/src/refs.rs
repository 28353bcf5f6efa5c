//! References below `refs/fixpoint/`, and the commits that are stored there.
//!
//! Owns the only lasting change to the user's repository during a run: references with one prefix, each moved in one
//! step. Refuses every other reference.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fixpoint_ports::{CommitId, TreeId, WorkspaceError};

use crate::git::GitCommand;
use crate::workspaces::{Inner, RefStorage};

const PREFIX: &str = "refs/fixpoint/";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRef {
    /// Without `refs/fixpoint/`.
    pub reference: String,
    pub commit: CommitId,
    /// The age of the commit.
    pub age: Duration,
}

impl Inner {
    /// Creates or moves a reference.
    pub(crate) fn store_ref(&self, reference: &str, commit: &CommitId) -> Result<(), WorkspaceError> {
        self.update_refs(format!("update {PREFIX}{reference}\0{commit}\0\0"))
    }

    /// Creates or moves a reference. Another tree that it has held before is the work of an agent whose process died
    /// before that was recorded: it is stored under a name of its own.
    pub(crate) fn store_newest(
        &self,
        reference: &str,
        commit: &CommitId,
        tree: &TreeId,
    ) -> Result<(), WorkspaceError> {
        // Mostly the name is new, and nothing else need be asked.
        if self.update_refs(format!("create {PREFIX}{reference}\0{commit}\0")).is_ok() {
            return Ok(());
        }
        let old = self.read_ref(reference)?;
        if let Some((old_tree, old)) = old.and_then(|old| Some((self.tree_of(&old).ok()?, old)))
            && old_tree != *tree
        {
            self.store_beside(&format!("{reference}-interrupted"), &old, &old_tree)?;
        }
        self.store_ref(reference, commit)
    }

    /// Creates a reference, with a number behind its name if that holds another tree already. Returns the name and the
    /// commit that is stored there.
    pub(crate) fn store_beside(
        &self,
        reference: &str,
        commit: &CommitId,
        tree: &TreeId,
    ) -> Result<(String, CommitId), WorkspaceError> {
        let mut number = 1_u32;
        loop {
            let name = if number == 1 { reference.to_string() } else { format!("{reference}-{number}") };
            let created = self.update_refs(format!("create {PREFIX}{name}\0{commit}\0"));
            let Err(error) = created else { return Ok((name, commit.clone())) };
            match self.read_ref(&name)? {
                // A process stored this same tree, and died before it could record that.
                Some(there) if self.tree_of(&there).is_ok_and(|stored| stored == *tree) => {
                    return Ok((name, there));
                }
                Some(_) => number = number.saturating_add(1),
                None => return Err(error),
            }
        }
    }

    fn read_ref(&self, reference: &str) -> Result<Option<CommitId>, WorkspaceError> {
        let git = self.refs_git("rev-parse").args(["--verify", "--quiet", "--end-of-options"]);
        let output = git.arg(format!("{PREFIX}{reference}")).output()?;
        Ok(output.succeeded().then(|| CommitId(output.line())))
    }

    pub(crate) fn stored_refs(&self) -> Result<Vec<StoredRef>, WorkspaceError> {
        let format = "--format=%(refname)%00%(objectname)%00%(committerdate:unix)%00";
        let listed = self.refs_git("for-each-ref").arg(format).arg(PREFIX).run()?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let text = String::from_utf8_lossy(&listed).into_owned();
        // A record ends with a NUL and a newline, and neither can be part of a name.
        let record = |line: &str| {
            let mut fields = line.split('\0');
            let reference = fields.next()?.strip_prefix(PREFIX)?.to_string();
            let commit = CommitId(fields.next()?.to_string());
            let committed = Duration::from_secs(fields.next()?.parse().unwrap_or_default());
            Some(StoredRef { reference, commit, age: now.saturating_sub(committed) })
        };
        Ok(text.lines().filter_map(record).collect())
    }

    pub(crate) fn delete_refs(&self, refs: &[StoredRef]) -> Result<(), WorkspaceError> {
        let line = |stored: &StoredRef| format!("delete {PREFIX}{}\0{}\0", stored.reference, stored.commit);
        self.update_refs(refs.iter().map(line).collect())
    }

    /// Runs all of the lines for `update-ref --stdin -z`, or none of them.
    fn update_refs(&self, lines: String) -> Result<(), WorkspaceError> {
        self.refs_git("update-ref").args(["--stdin", "-z"]).input(lines.into_bytes()).run().map(drop)
    }

    fn refs_git(&self, subcommand: &'static str) -> GitCommand {
        match self.ref_storage {
            RefStorage::UsersRepository => {
                self.repository.git(subcommand).env("GIT_OBJECT_DIRECTORY", &self.objects)
            }
            RefStorage::Pool => self.object_git(subcommand),
        }
    }

    pub(crate) fn commit_tree<'a>(
        &self,
        tree: &TreeId,
        parents: impl IntoIterator<Item = &'a CommitId>,
        message: &str,
    ) -> Result<CommitId, WorkspaceError> {
        let parents = parents.into_iter().flat_map(|parent| ["-p", &parent.0]);
        let git = self.object_git("commit-tree").arg(&tree.0).args(parents).args(["-F", "-"]);
        let commit = git.input(message.as_bytes().to_vec()).run_for_line().map(CommitId)?;
        self.listings.keep_tree(&commit, tree);
        Ok(commit)
    }

    /// A commit with another message, and everything else as it is.
    pub(crate) fn reword(
        &self,
        commit: &CommitId,
        message: &str,
        reference: &str,
    ) -> Result<CommitId, WorkspaceError> {
        let tree = self.tree_of(commit)?;
        let mut content = self.object_git("cat-file").args(["commit", &commit.0]).run()?;
        let headers = content.windows(2).position(|pair| pair == b"\n\n").unwrap_or(content.len());
        content.truncate(headers);
        content.extend_from_slice(b"\n\n");
        content.extend_from_slice(message.as_bytes());
        let git = self.object_git("hash-object").args(["-t", "commit", "-w", "--stdin"]);
        let reworded = git.input(content).run_for_line().map(CommitId)?;
        self.store_newest(reference, &reworded, &tree)?;
        Ok(reworded)
    }

    pub(crate) fn tree_of(&self, commit: &CommitId) -> Result<TreeId, WorkspaceError> {
        let git = self.object_git("rev-parse").args(["--verify", "--quiet", "--end-of-options"]);
        let output = git.arg(format!("{commit}^{{commit}}^{{tree}}")).output()?;
        if !output.succeeded() {
            return Err(WorkspaceError::NoSuchCommit(commit.to_string()));
        }
        Ok(TreeId(output.line()))
    }
}
