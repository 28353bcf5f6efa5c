//! The new contents of files, written next to where they will go and not yet in their place.
//!
//! Owns that a file has the bytes that git would check out, except for line endings: if git accepts both, a file keeps
//! those that it has in the working tree. Refuses to leave a doubt about a full disk: git does not always say so.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use fixpoint_ports::{CommitId, WorkspaceError};

use super::exchange::Exchange;
use crate::disk_space::free_bytes;
use crate::files::{as_path, create_directory, io_error, remove};
use crate::git::parse::{self, DiffEntry, EntryMode};
use crate::private_git_dir::WorkTreeView;
use crate::workspaces::Inner;

/// Larger files keep the line endings that git gives them.
const MAX_CONVERTED: u64 = 64 << 20;

/// Writes the contents of all entries that exist afterwards, each at its path below the staging directory.
pub(super) fn write_new(
    inner: &Inner,
    view: &WorkTreeView,
    merged: &CommitId,
    entries: &[DiffEntry],
    exchange: &Exchange,
) -> Result<(), WorkspaceError> {
    let written = Staging { inner, view, directory: &exchange.staging() }.write(merged, entries);
    let written = written.and_then(|()| exchange.stage(entries, inner.repository.trusts_file_modes()));
    if written.is_err() {
        // Nothing of the user's was touched yet; what stays here is removed by the next `apply`.
        drop(exchange.discard());
    }
    written
}

struct Staging<'a> {
    inner: &'a Inner,
    view: &'a WorkTreeView,
    directory: &'a Path,
}

impl Staging<'_> {
    fn git(&self, subcommand: &'static str) -> crate::git::GitCommand {
        // Attributes are those of the result: files in this tree are checked out from the same index.
        self.view
            .git(subcommand)
            .env("GIT_WORK_TREE", self.directory)
            .env("GIT_INDEX_FILE", self.view.git_dir.join("index-of-result"))
            .current_dir(self.directory)
    }

    fn write(&self, merged: &CommitId, entries: &[DiffEntry]) -> Result<(), WorkspaceError> {
        create_directory(self.directory)?;
        let new: Vec<&DiffEntry> = entries.iter().filter(|entry| entry.after != EntryMode::Absent).collect();
        if new.is_empty() {
            return Ok(());
        }
        let needed = self.require_space(&new)?;
        self.git("read-tree").arg(&merged.0).run()?;
        let paths = parse::nul_terminated(new.iter().map(|entry| &entry.path));
        let written = self.git("checkout-index").args(["-z", "--stdin"]).input(paths).run();
        let missing = new
            .iter()
            .find(|entry| self.directory.join(as_path(&entry.path)).symlink_metadata().is_err())
            .map(|entry| WorkspaceError::Git {
                command: "checkout-index".to_string(),
                message: format!("{} was not written", String::from_utf8_lossy(&entry.path)),
            });
        if let Some(error) = written.err().or(missing) {
            probe_space(self.directory, needed)?;
            return Err(error);
        }
        new.iter().try_for_each(|entry| self.keep_line_endings(entry))
    }

    /// Fails if the contents do not fit on the disk. Returns their size.
    fn require_space(&self, new: &[&DiffEntry]) -> Result<u64, WorkspaceError> {
        let names: String = new.iter().map(|entry| format!("{}\n", entry.object)).collect();
        let git = self.inner.object_git("cat-file").arg("--batch-check=%(objectsize)");
        let sizes = git.input(names.into_bytes()).run()?;
        let sizes = String::from_utf8_lossy(&sizes).into_owned();
        let needed = sizes.lines().filter_map(|line| line.parse().ok()).fold(0, u64::saturating_add);
        match free_bytes(self.directory) {
            Some(free) if free < needed => {
                let directory = self.directory.display();
                Err(WorkspaceError::NoSpace(format!(
                    "the new contents have {needed} bytes, and {free} bytes are free at {directory}"
                )))
            }
            Some(_) | None => Ok(needed),
        }
    }

    /// Git stores a text file with one kind of line endings, whichever the working file has. If the new content with
    /// the line endings of the working file is the same to git, it is written that way.
    fn keep_line_endings(&self, entry: &DiffEntry) -> Result<(), WorkspaceError> {
        let (EntryMode::File(_), EntryMode::File(_)) = (entry.before, entry.after) else { return Ok(()) };
        let staged = self.directory.join(as_path(&entry.path));
        let users = self.view.tree.join(as_path(&entry.path));
        let is_small = |path: &Path| {
            path.symlink_metadata().is_ok_and(|found| found.is_file() && found.len() <= MAX_CONVERTED)
        };
        if !is_small(&staged) || !is_small(&users) {
            return Ok(());
        }
        let new = fs::read(&staged).map_err(io_error(&staged))?;
        let old = fs::read(&users).map_err(io_error(&users))?;
        let converted = match (LineEndings::of(&old), LineEndings::of(&new)) {
            (Some(LineEndings::Lf), Some(LineEndings::CrLf)) => without_carriage_returns(&new),
            (Some(LineEndings::CrLf), Some(LineEndings::Lf)) => with_carriage_returns(&new),
            _ => return Ok(()),
        };
        let mut path = std::ffi::OsString::from("--path=");
        path.push(as_path(&entry.path));
        let object =
            self.git("hash-object").arg(path).arg("--stdin").input(converted.clone()).run_for_line()?;
        if object == entry.object {
            fs::write(&staged, converted).map_err(io_error(&staged))?;
        }
        Ok(())
    }
}

/// Fails if so many bytes cannot be written to a directory.
fn probe_space(directory: &Path, bytes: u64) -> Result<(), WorkspaceError> {
    let path = directory.join(".fixpoint-space");
    let chunk = vec![0_u8; 1 << 20];
    let fill = || {
        let mut file = File::create(&path)?;
        let mut left = bytes.max(1);
        while left > 0 {
            let size = usize::try_from(left).unwrap_or(usize::MAX).min(chunk.len());
            file.write_all(chunk.get(..size).unwrap_or_default())?;
            left = left.saturating_sub(chunk.len() as u64);
        }
        file.sync_all()
    };
    let filled = fill();
    remove(&path)?;
    filled.map_err(io_error(directory))
}

/// Gives a new file the permissions of the one that it replaces. Whether it is executable is part of the result, unless
/// the repository says that this means nothing here.
pub(super) fn keep_permissions(new: &Path, old: &Path, trusts_modes: TrustsFileModes) -> std::io::Result<()> {
    let (Ok(before), Ok(after)) = (old.symlink_metadata(), new.symlink_metadata()) else { return Ok(()) };
    if !before.is_file() || !after.is_file() {
        return Ok(());
    }
    let kept = before.permissions().mode() & 0o777;
    let is_executable = after.permissions().mode() & 0o100 != 0;
    let mode = match trusts_modes {
        TrustsFileModes::No => kept,
        TrustsFileModes::Yes if is_executable => kept | ((kept & 0o444) >> 2),
        TrustsFileModes::Yes => kept & !0o111,
    };
    fs::set_permissions(new, Permissions::from_mode(mode))
}

/// `core.fileMode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrustsFileModes {
    Yes,
    No,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineEndings {
    Lf,
    CrLf,
}

impl LineEndings {
    /// The line endings of all lines; `None` if there are both kinds or no line.
    fn of(bytes: &[u8]) -> Option<Self> {
        let mut found = None;
        let mut previous = 0;
        for byte in bytes {
            if *byte == b'\n' {
                let ending = if previous == b'\r' { Self::CrLf } else { Self::Lf };
                if found.is_some_and(|found| found != ending) {
                    return None;
                }
                found = Some(ending);
            }
            previous = *byte;
        }
        found
    }
}

fn without_carriage_returns(bytes: &[u8]) -> Vec<u8> {
    let next = bytes.iter().skip(1).map(Some).chain([None]);
    let kept = bytes.iter().zip(next).filter(|(byte, next)| (**byte, *next) != (b'\r', Some(&b'\n')));
    kept.map(|(byte, _)| *byte).collect()
}

fn with_carriage_returns(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().flat_map(|byte| if *byte == b'\n' { b"\r\n".to_vec() } else { vec![*byte] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_endings_are_recognized_and_converted_both_ways() {
        let rows: [(&[u8], Option<LineEndings>); 5] = [
            (b"a\nb\n", Some(LineEndings::Lf)),
            (b"a\r\nb\r\n", Some(LineEndings::CrLf)),
            (b"a\r\nb\n", None),
            (b"a\rb", None),
            (b"\n", Some(LineEndings::Lf)),
        ];
        for (bytes, expected) in rows {
            assert_eq!(LineEndings::of(bytes), expected, "{}", bytes.escape_ascii());
        }
        assert_eq!(with_carriage_returns(b"a\n\nb"), b"a\r\n\r\nb");
        assert_eq!(without_carriage_returns(b"a\r\n\r\r\nb\r"), b"a\n\r\nb\r");
    }
}
