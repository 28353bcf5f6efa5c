//! What differs between two commits, and a commit made of parts of two.
//!
//! Owns both over objects alone: no working tree is read, so no attribute that an agent wrote can declare its lines
//! uncountable. Refuses renames: a rename is a deletion and an addition, so that both ends are seen.

use std::collections::{HashMap, HashSet};

use fixpoint_ports::{Change, ChangeKind, CommitId, TakenTree, TreeId, WorkspaceError};

use crate::git::records::{self, Differing, Mode};
use crate::local::Inner;

impl Inner {
    pub(crate) fn changes(&self, from: &CommitId, to: &CommitId) -> Result<Vec<Change>, WorkspaceError> {
        let (raw, counted) = records::differing(&self.diff_tree(from, to, &["-z", "--raw", "--numstat"])?)?;
        let mut lines: HashMap<Vec<u8>, Option<u64>> = counted.into_iter().collect();
        let change = |entry: Differing| Change {
            kind: kind(&entry),
            lines: match (entry.before, entry.after) {
                (Mode::Submodule, _) | (_, Mode::Submodule) => None,
                _ => lines.remove(&entry.path).flatten(),
            },
            path: entry.path,
        };
        Ok(raw.into_iter().map(change).collect())
    }

    pub(crate) fn graft(
        &self,
        onto: &CommitId,
        from: &CommitId,
        paths: &[Vec<u8>],
        reference: &str,
    ) -> Result<TakenTree, WorkspaceError> {
        let wanted: HashSet<&Vec<u8>> = paths.iter().collect();
        let mut entries = self.differing(onto, from)?;
        entries.retain(|entry| wanted.contains(&entry.path));
        // What goes must be gone before a file can take the name of a directory, or a directory that of a file.
        entries.sort_by_key(|entry| entry.after != Mode::Absent);
        self.changed_tree(onto, entries.iter().flat_map(index_line).collect(), reference)
    }

    /// A commit that is `onto` with these files as they are given.
    pub(crate) fn overlay(
        &self,
        onto: &CommitId,
        files: &[(Vec<u8>, Vec<u8>)],
        reference: &str,
    ) -> Result<TakenTree, WorkspaceError> {
        let mut lines = Vec::new();
        for (path, content) in files {
            let object =
                self.object_git("hash-object").args(["-w", "--stdin"]).input(content.clone()).word()?;
            lines.extend([format!("{ORDINARY} {object}\t").as_bytes(), path, b"\0"].concat());
        }
        self.changed_tree(onto, lines, reference)
    }

    /// A commit that is `onto` with its index changed by these lines.
    fn changed_tree(
        &self,
        onto: &CommitId,
        lines: Vec<u8>,
        reference: &str,
    ) -> Result<TakenTree, WorkspaceError> {
        let scratch = self.scratch()?;
        let index = scratch.path().join("index");
        let git = |subcommand| self.object_git(subcommand).env("GIT_INDEX_FILE", &index);
        git("read-tree").arg(&onto.0).run()?;
        if !lines.is_empty() {
            git("update-index").args(["-z", "--index-info"]).input(lines).run()?;
        }
        let tree = git("write-tree").arg("--missing-ok").word().map(TreeId)?;
        let commit = self.commit(&tree, Some(onto), "Fixpoint: parts of another result\n")?;
        self.keep(reference, &commit)?;
        Ok(TakenTree { commit, tree })
    }
}

/// The mode of a file that nobody executes.
const ORDINARY: &str = "100644";

fn kind(entry: &Differing) -> ChangeKind {
    match (entry.before, entry.after) {
        (Mode::Absent, _) => ChangeKind::Added,
        (_, Mode::Absent) => ChangeKind::Deleted,
        (before, after) if before == after => ChangeKind::Modified,
        _ => ChangeKind::TypeChanged,
    }
}

fn index_line(entry: &Differing) -> Vec<u8> {
    let header = format!("{} {}\t", entry.after.octal(), entry.object);
    [header.as_bytes(), &entry.path, b"\0"].concat()
}
