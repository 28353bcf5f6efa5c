//! What differs between two commits, and commits made of parts of others.
//!
//! Only objects are read, so an attribute that an agent wrote cannot turn off the line counts. Refuses renames: a rename
//! is a deletion and an addition, so that both paths are seen.

use std::collections::HashMap;

use fixpoint_ports::{ChangeKind, CommitId, CommittedTree, FileChange, WorkspaceError};

use crate::git::parse::{self, DiffEntry, EntryMode};
use crate::tree_edit::Edit;
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
        self.fetch_missing_objects(onto)?;
        self.fetch_missing_objects(from)?;
        let (there, wanted) = (self.listing(onto)?, self.listing(from)?);
        let edit = |path: &Vec<u8>| {
            let [there, wanted] = [&there, &wanted].map(|listing| {
                let position = listing.binary_search_by(|entry| entry.path.cmp(path)).ok()?;
                listing.get(position).map(|entry| (entry.mode, entry.object.clone()))
            });
            (there != wanted).then(|| (path.clone(), wanted))
        };
        let edits: Vec<Edit> = paths.iter().filter_map(edit).collect();
        self.commit_with(onto, &edits, reference)
    }

    pub(crate) fn overlay(
        &self,
        onto: &CommitId,
        files: &[(Vec<u8>, Vec<u8>)],
        reference: &str,
    ) -> Result<CommittedTree, WorkspaceError> {
        let mut edits = Vec::new();
        for (path, content) in files {
            let object = self
                .object_git("hash-object")
                .args(["-w", "--stdin"])
                .input(content.clone())
                .run_for_line()?;
            edits.push((path.clone(), Some((EntryMode::File(REGULAR_FILE), object))));
        }
        self.commit_with(onto, &edits, reference)
    }

    /// A commit on top of `onto`, with some of its entries replaced.
    fn commit_with(
        &self,
        onto: &CommitId,
        edits: &[Edit],
        reference: &str,
    ) -> Result<CommittedTree, WorkspaceError> {
        let (tree, listing) = self.edited_tree(onto, edits)?;
        let commit = self.commit_tree(&tree, Some(onto), "Fixpoint: parts of another result\n")?;
        self.listings.keep(&commit, &listing);
        self.store_ref(reference, &commit)?;
        Ok(CommittedTree { commit, tree })
    }
}

/// The mode of a file that is not executable.
const REGULAR_FILE: u32 = 0o100_644;

fn kind(entry: &DiffEntry) -> ChangeKind {
    match (entry.before, entry.after) {
        (EntryMode::Submodule, _) | (_, EntryMode::Submodule) => ChangeKind::Submodule,
        (EntryMode::Absent, _) => ChangeKind::Added,
        (_, EntryMode::Absent) => ChangeKind::Deleted,
        (before, after) if before == after => ChangeKind::Modified,
        _ => ChangeKind::TypeChanged,
    }
}
