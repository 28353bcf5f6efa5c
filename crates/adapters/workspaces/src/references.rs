//! What is kept under `refs/fixpoint/`, and the commits that are made to be kept there.
//!
//! Owns the only lasting change to the user's repository: references under one prefix, each moved in one step.
//! Refuses every other reference.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fixpoint_ports::{CommitId, TreeId, WorkspaceError};

use crate::git::{Git, records};
use crate::local::{Inner, Keeping};

const PREFIX: &str = "refs/fixpoint/";

/// A commit that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Its name, without `refs/fixpoint/`.
    pub reference: String,
    /// The commit.
    pub commit: CommitId,
    /// How long ago the commit was made.
    pub age: Duration,
}

impl Inner {
    /// Keeps a commit under a name, moving the name if it exists.
    pub(crate) fn keep(&self, reference: &str, commit: &CommitId) -> Result<(), WorkspaceError> {
        let git = self.references_git("update-ref").args(["--stdin", "-z"]);
        git.input(format!("update {PREFIX}{reference}\0{commit}\0\0").into_bytes()).run().map(drop)
    }

    /// Keeps a commit under a name. What the name held before is another agent's work, whose process died before that
    /// was on record: it stays, beside it.
    pub(crate) fn keep_newest(
        &self,
        reference: &str,
        commit: &CommitId,
        tree: &TreeId,
    ) -> Result<(), WorkspaceError> {
        let before = self.kept_at(reference)?;
        if let Some((before, old)) = before.and_then(|before| Some((self.tree_of(&before).ok()?, before)))
            && before != *tree
        {
            self.keep_beside(&format!("{reference}-interrupted"), &old, &before)?;
        }
        self.keep(reference, commit)
    }

    /// Keeps a commit under a name, or under that name with a number if it holds another tree already. Answers with
    /// the name and the commit that is kept there.
    pub(crate) fn keep_beside(
        &self,
        reference: &str,
        commit: &CommitId,
        tree: &TreeId,
    ) -> Result<(String, CommitId), WorkspaceError> {
        let mut number = 1_u32;
        loop {
            let name = if number == 1 { reference.to_string() } else { format!("{reference}-{number}") };
            let create = format!("create {PREFIX}{name}\0{commit}\0").into_bytes();
            let made = self.references_git("update-ref").args(["--stdin", "-z"]).input(create).run();
            let Err(error) = made else { return Ok((name, commit.clone())) };
            match self.kept_at(&name)? {
                // A process that died just after it had kept this same tree.
                Some(there) if self.tree_of(&there).is_ok_and(|kept| kept == *tree) => {
                    return Ok((name, there));
                }
                Some(_) => number = number.saturating_add(1),
                None => return Err(error),
            }
        }
    }

    fn kept_at(&self, reference: &str) -> Result<Option<CommitId>, WorkspaceError> {
        let git = self.references_git("rev-parse").args(["--verify", "--quiet", "--end-of-options"]);
        let ended = git.arg(format!("{PREFIX}{reference}")).end()?;
        let name = || CommitId(String::from_utf8_lossy(ended.stdout.trim_ascii()).into_owned());
        Ok((ended.code == Some(0)).then(name))
    }

    /// Everything that is kept, by name.
    pub(crate) fn kept(&self) -> Result<Vec<Kept>, WorkspaceError> {
        let format = "--format=%(refname)%00%(objectname)%00%(committerdate:unix)%00";
        let listed = self.references_git("for-each-ref").arg(format).arg(PREFIX).run()?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let text = String::from_utf8_lossy(&listed).into_owned();
        // Each record ends with a NUL and a newline, and neither can be part of a name.
        let record = |line: &str| {
            let mut fields = line.split('\0');
            let reference = fields.next()?.strip_prefix(PREFIX)?.to_string();
            let commit = CommitId(fields.next()?.to_string());
            let made = Duration::from_secs(fields.next()?.parse().unwrap_or_default());
            Some(Kept { reference, commit, age: now.saturating_sub(made) })
        };
        Ok(text.lines().filter_map(record).collect())
    }

    /// Forgets what is kept, unless it has been moved since it was listed.
    pub(crate) fn forget(&self, kept: &[Kept]) -> Result<(), WorkspaceError> {
        let line = |kept: &Kept| format!("delete {PREFIX}{}\0{}\0", kept.reference, kept.commit);
        let input: String = kept.iter().map(line).collect();
        self.references_git("update-ref").args(["--stdin", "-z"]).input(input.into_bytes()).run().map(drop)
    }

    /// A commit of a tree.
    pub(crate) fn commit<'a>(
        &self,
        tree: &TreeId,
        parents: impl IntoIterator<Item = &'a CommitId>,
        message: &str,
    ) -> Result<CommitId, WorkspaceError> {
        let parents = parents.into_iter().flat_map(|parent| ["-p", &parent.0]);
        let git = self.object_git("commit-tree").arg(&tree.0).args(parents).args(["-F", "-"]);
        git.input(message.as_bytes().to_vec()).word().map(CommitId)
    }

    /// The tree of a commit, or that there is no such commit.
    pub(crate) fn tree_of(&self, commit: &CommitId) -> Result<TreeId, WorkspaceError> {
        let git = self.object_git("rev-parse").args(["--verify", "--quiet", "--end-of-options"]);
        let ended = git.arg(format!("{commit}^{{commit}}^{{tree}}")).end()?;
        match ended.code {
            Some(0) => Ok(TreeId(String::from_utf8_lossy(ended.stdout.trim_ascii()).into_owned())),
            Some(_) | None => Err(WorkspaceError::NoSuchCommit(commit.to_string())),
        }
    }

    /// Differences between two commits, as `diff-tree` writes them.
    pub(crate) fn diff_tree(
        &self,
        from: &CommitId,
        to: &CommitId,
        more: &[&str],
    ) -> Result<Vec<u8>, WorkspaceError> {
        self.fetch_promised(from)?;
        self.fetch_promised(to)?;
        let asked = ["-r", "--no-renames", "--no-ext-diff", "--no-textconv"];
        let git = self.object_git("diff-tree").args(asked).arg("--ignore-submodules=none").args(more);
        let ended = git.arg("--end-of-options").args([&from.0, &to.0]).end()?;
        match ended.code {
            Some(0) => Ok(ended.stdout),
            Some(_) | None => {
                self.tree_of(from)?;
                self.tree_of(to)?;
                Err(WorkspaceError::Git { command: "diff-tree".to_string(), message: ended.message })
            }
        }
    }

    fn references_git(&self, subcommand: &'static str) -> Git {
        match self.keeping {
            Keeping::InRepository => {
                self.repository.git(subcommand).env("GIT_OBJECT_DIRECTORY", &self.store.objects)
            }
            Keeping::Apart => self.object_git(subcommand),
        }
    }

    /// The entries that differ, without their lines.
    pub(crate) fn differing(
        &self,
        from: &CommitId,
        to: &CommitId,
    ) -> Result<Vec<records::Differing>, WorkspaceError> {
        Ok(records::differing(&self.diff_tree(from, to, &["-z", "--raw"])?)?.0)
    }
}
