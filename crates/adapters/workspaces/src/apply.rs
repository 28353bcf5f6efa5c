//! A result written into the user's working files: all of it or nothing.
//!
//! Owns what is in the way: the result is merged with the working tree as it is now, in objects first, and nothing is
//! written if anything conflicts, is ignored, or has changed in the meantime. Refuses to touch a submodule and to write
//! the user's index. Invariant: however this ends, the working files are those before or those after; if the process is
//! killed, the next `apply` restores those before from the journal first.

mod contents;
mod exchange;
mod journal;

use std::collections::HashSet;
use std::fs::{File, TryLockError};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use fixpoint_ports::{CommitId, WorkspaceError};

pub(crate) use self::contents::TrustsFileModes;
use self::exchange::{Exchange, Interference};
use self::journal::Journal;
use crate::files::{as_path, io_error};
use crate::git::parse::{self, DiffEntry, EntryMode};
use crate::private_git_dir::WorkTreeView;
use crate::workspaces::{GitWorkspaces, Inner, RefStorage};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApplyOutcome {
    /// These paths were written or deleted; none, if the working tree had all changes already.
    Written(Vec<Vec<u8>>),
    /// These paths do not merge, are ignored files in the way, or were changed just now. Nothing was written.
    Conflict(Vec<Vec<u8>>),
    /// The result changes these submodules. Nothing was written.
    Submodules(Vec<Vec<u8>>),
}

impl GitWorkspaces {
    /// Merges what a result changed since `base` into the user's working files.
    pub fn apply(&self, base: &CommitId, result: &CommitId) -> Result<ApplyOutcome, WorkspaceError> {
        let inner = &self.inner;
        let _lock = inner.lock_apply()?;
        let directory = inner.apply_directory();
        Journal::new(self.root(), &directory).undo()?;
        // Before anything else, so that a commit that is gone is reported as such.
        inner.tree_of(base)?;
        inner.tree_of(result)?;
        let scratch = inner.scratch()?;
        let head = inner.repository.head()?;
        let users = inner.users_tree_view(scratch.path(), head.as_ref())?;
        let now = inner.snapshot_of(&users, head)?;
        let merge = inner.merge_since(base, &now.commit, result)?;
        if !merge.conflicts.is_empty() {
            return Ok(ApplyOutcome::Conflict(users_names(merge.conflicts)));
        }
        let merged = inner.commit_tree(&merge.tree, Some(&now.commit), "Fixpoint: merged\n")?;
        let entries = inner.diff_entries(&now.commit, &merged)?;
        let paths = |entries: &[DiffEntry]| entries.iter().map(|entry| entry.path.clone()).collect();
        if entries.is_empty() {
            return Ok(ApplyOutcome::Written(Vec::new()));
        }
        let submodules = submodules_of(&entries);
        if !submodules.is_empty() {
            return Ok(ApplyOutcome::Submodules(submodules));
        }
        let in_the_way = in_the_way(self.root(), &entries)?;
        if !in_the_way.is_empty() {
            return Ok(ApplyOutcome::Conflict(in_the_way));
        }
        let exchange = Exchange::plan(self.root(), &directory, &entries)?;
        contents::write_new(inner, &users.view, &merged, &entries, &exchange)?;
        let differing = differing(&users.view, &entries)?;
        if !differing.is_empty() {
            exchange.discard()?;
            return Ok(ApplyOutcome::Conflict(differing));
        }
        match exchange.perform() {
            Ok(()) => Ok(ApplyOutcome::Written(paths(&entries))),
            Err(Interference::Changed(path)) => Ok(ApplyOutcome::Conflict(vec![path])),
            Err(Interference::Failed(error)) => Err(error),
        }
    }
}

impl Inner {
    /// Where contents are prepared, and the journal is: next to the index of the working tree, so that it is usually in
    /// the same file system and goes where the working tree goes.
    fn apply_directory(&self) -> PathBuf {
        match self.ref_storage {
            RefStorage::UsersRepository => self.repository.git_dir.join("fixpoint-apply"),
            RefStorage::Pool => {
                // Linked worktrees share the pool, and what one began must not be undone in another.
                let hash = blake3::hash(self.repository.tree.as_os_str().as_bytes()).to_hex();
                self.pool.join(format!("apply-{}", hash.get(..16).unwrap_or_default()))
            }
        }
    }

    /// Only one process applies at a time. The kernel releases the lock however it ends.
    fn lock_apply(&self) -> Result<File, WorkspaceError> {
        let path = self.pool.join("apply-in-progress");
        let file = File::options().create(true).append(true).open(&path).map_err(io_error(&path))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => file.lock().map(|()| file).map_err(io_error(&path)),
            Err(TryLockError::Error(error)) => Err(io_error(&path)(error)),
        }
    }
}

/// The submodules among the entries that differ.
fn submodules_of(entries: &[DiffEntry]) -> Vec<Vec<u8>> {
    let is_submodule =
        |entry: &&DiffEntry| entry.before == EntryMode::Submodule || entry.after == EntryMode::Submodule;
    entries.iter().filter(is_submodule).map(|entry| entry.path.clone()).collect()
}

/// What exists where something is added. It is in no snapshot, so it is ignored; or it is above as a file or a link.
fn in_the_way(root: &Path, entries: &[DiffEntry]) -> Result<Vec<Vec<u8>>, WorkspaceError> {
    let deleted: HashSet<&[u8]> = entries
        .iter()
        .filter(|entry| entry.after == EntryMode::Absent)
        .map(|entry| entry.path.as_slice())
        .collect();
    let mut found = Vec::new();
    for entry in entries.iter().filter(|entry| entry.before == EntryMode::Absent) {
        let above = entry.path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let above = above.filter_map(|(end, _)| entry.path.get(..end));
        let is_no_directory =
            |path: &[u8]| root.join(as_path(path)).symlink_metadata().is_ok_and(|found| !found.is_dir());
        found.extend(
            above.filter(|path| !deleted.contains(path) && is_no_directory(path)).map(<[u8]>::to_vec),
        );
        match root.join(as_path(&entry.path)).symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => {
                let inside = exchange::files_below(root, &entry.path)?;
                found.extend(inside.into_iter().filter(|path| !deleted.contains(path.as_slice())));
            }
            Ok(_) => found.push(entry.path.clone()),
            Err(_) => {}
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// Those of the paths whose working files are not as before the change. Their contents are read: an edit that keeps
/// size and times must not be overwritten.
fn differing(view: &WorkTreeView, entries: &[DiffEntry]) -> Result<Vec<Vec<u8>>, WorkspaceError> {
    let existing = entries.iter().filter(|entry| entry.before != EntryMode::Absent);
    let line = |entry: &DiffEntry| {
        let header = format!("{} {}\t", entry.before.octal(), entry.object_before);
        [header.as_bytes(), &entry.path, b"\0"].concat()
    };
    let lines: Vec<u8> = existing.flat_map(line).collect();
    if lines.is_empty() {
        return Ok(Vec::new());
    }
    let git =
        |subcommand| view.git(subcommand).env("GIT_INDEX_FILE", view.git_dir.join("index-of-changed-files"));
    git("update-index").args(["-z", "--index-info"]).input(lines).run()?;
    // Without stat data in the index, `diff-files` would list every file.
    git("update-index").args(["-q", "--refresh"]).output()?;
    let listed = git("diff-files").args(["-z", "--name-only", "--no-ext-diff"]).run()?;
    Ok(parse::nul_separated(&listed).map(<[u8]>::to_vec).collect())
}

/// Where a file and a directory have one name, git renames the file to `name~commit`. The user knows only the name.
fn users_names(conflicts: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let original = |path: Vec<u8>| {
        let Some(tilde) = path.iter().rposition(|byte| *byte == b'~') else { return path };
        let (name, suffix) = path.split_at_checked(tilde).unwrap_or((&path, b""));
        let is_commit = suffix.len() > 40 && suffix.iter().skip(1).take(40).all(u8::is_ascii_hexdigit);
        if is_commit { name.to_vec() } else { path }
    };
    let mut names: Vec<Vec<u8>> = conflicts.into_iter().map(original).collect();
    names.sort();
    names.dedup();
    names
}
