//! What differs between two commits, and commits made of parts of others.
//!
//! Only objects are read, so an attribute that an agent wrote cannot turn off the line counts. Refuses renames: a rename
//! is a deletion and an addition, so that both paths are seen.

use std::collections::{HashMap, HashSet};

use fixpoint_ports::{ChangeKind, CommitId, CommittedTree, FileChange, TreeId, WorkspaceError};

use crate::git::parse::{self, DiffEntry, EntryMode};
use crate::workspaces::Inner;

impl Inner {
    pub(crate) fn changes(&self, from: &CommitId, to: &CommitId) -> Result<Vec<FileChange>, WorkspaceError> {
        let (entries, counts) = parse::diff(&self.diff_tree(from, to, &["-z", "--raw", "--numstat"])?)?;
        self.derive_listing(from, to, &entries);
        let mut lines: HashMap<Vec<u8>, Option<u64>> = counts.into_iter().collect();
        let change = |entry: DiffEntry| FileChange {
            kind: kind(&entry),
            lines: match (entry.before, entry.after) {
                (EntryMode::Submodule, _) | (_, EntryMode::Submodule) => None,
                _ => lines.remove(&entry.path).flatten(),
            },
            path: entry.path,
        };
        Ok(entries.into_iter().map(change).collect())
    }

    /// The entries that differ, without line counts.
    pub(crate) fn diff_entries(
        &self,
        from: &CommitId,
        to: &CommitId,
    ) -> Result<Vec<DiffEntry>, WorkspaceError> {
        Ok(parse::diff(&self.diff_tree(from, to, &["-z", "--raw"])?)?.0)
    }

    pub(crate) fn diff_tree(
        &self,
        from: &CommitId,
        to: &CommitId,
        format: &[&str],
    ) -> Result<Vec<u8>, WorkspaceError> {
        self.fetch_missing_objects(from)?;
        self.fetch_missing_objects(to)?;
        let arguments = ["-r", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none"];
        let git = self.object_git("diff-tree").args(arguments).args(format);
        let output = git.arg("--end-of-options").args([&from.0, &to.0]).output()?;
        if !output.succeeded() {
            self.tree_of(from)?;
            self.tree_of(to)?;
        }
        output.checked()
    }

    pub(crate) fn graft(
        &self,
        onto: &CommitId,
        from: &CommitId,
        paths: &[Vec<u8>],
        reference: &str,
    ) -> Result<CommittedTree, WorkspaceError> {
        let wanted: HashSet<&Vec<u8>> = paths.iter().collect();
        let mut entries = self.diff_entries(onto, from)?;
        entries.retain(|entry| wanted.contains(&entry.path));
        // Deletions first, or a file could not take the place of a directory, and a directory not that of a file.
        entries.sort_by_key(|entry| entry.after != EntryMode::Absent);
        self.commit_with(onto, entries.iter().flat_map(index_line).collect(), reference)
    }

    pub(crate) fn overlay(
        &self,
        onto: &CommitId,
        files: &[(Vec<u8>, Vec<u8>)],
        reference: &str,
    ) -> Result<CommittedTree, WorkspaceError> {
        let mut lines = Vec::new();
        for (path, content) in files {
            let object = self
                .object_git("hash-object")
                .args(["-w", "--stdin"])
                .input(content.clone())
                .run_for_line()?;
            lines.extend([format!("{REGULAR_FILE} {object}\t").as_bytes(), path, b"\0"].concat());
        }
        self.commit_with(onto, lines, reference)
    }

    /// A commit on top of `onto`, with its index changed by lines for `update-index --index-info`.
    fn commit_with(
        &self,
        onto: &CommitId,
        lines: Vec<u8>,
        reference: &str,
    ) -> Result<CommittedTree, WorkspaceError> {
        let scratch = self.scratch()?;
        let index = scratch.path().join("index");
        let git = |subcommand| self.object_git(subcommand).env("GIT_INDEX_FILE", &index);
        git("read-tree").arg(&onto.0).run()?;
        if !lines.is_empty() {
            git("update-index").args(["-z", "--index-info"]).input(lines).run()?;
        }
        let tree = git("write-tree").arg("--missing-ok").run_for_line().map(TreeId)?;
        let commit = self.commit_tree(&tree, Some(onto), "Fixpoint: parts of another result\n")?;
        self.store_ref(reference, &commit)?;
        Ok(CommittedTree { commit, tree })
    }
}

/// The mode of a file that is not executable.
const REGULAR_FILE: &str = "100644";

fn kind(entry: &DiffEntry) -> ChangeKind {
    match (entry.before, entry.after) {
        (EntryMode::Submodule, _) | (_, EntryMode::Submodule) => ChangeKind::Submodule,
        (EntryMode::Absent, _) => ChangeKind::Added,
        (_, EntryMode::Absent) => ChangeKind::Deleted,
        (before, after) if before == after => ChangeKind::Modified,
        _ => ChangeKind::TypeChanged,
    }
}

fn index_line(entry: &DiffEntry) -> Vec<u8> {
    let header = format!("{} {}\t", entry.after.octal(), entry.object);
    [header.as_bytes(), &entry.path, b"\0"].concat()
}
