//! Exchanging files of the working tree for prepared ones.
//!
//! Owns the order: former files are moved away first and compared with what was seen of them, then the new ones are moved
//! to their places. Refuses to copy into a place: a rename needs no space and leaves no half of a file.

use std::fs::{self, File, Metadata};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use fixpoint_ports::WorkspaceError;
use nix::unistd::{AccessFlags, access};

use super::contents::{TrustsFileModes, keep_permissions};
use super::journal::{Journal, Location, Move, Moves, failed};
use crate::files::{as_path, create_directory, io_error, remove};
use crate::git::parse::{DiffEntry, EntryMode};

/// Why files were not exchanged. All are as before.
pub(super) enum Interference {
    /// Somebody changed this path just now.
    Changed(Vec<u8>),
    Failed(WorkspaceError),
}

impl From<WorkspaceError> for Interference {
    fn from(error: WorkspaceError) -> Self {
        Self::Failed(error)
    }
}

/// What tells whether a file is still the one that was seen. The change time is not part of it: a rename changes that.
type Identity = (u64, u64, u64, i64, i64);

fn identity(metadata: &Metadata) -> Identity {
    (metadata.dev(), metadata.ino(), metadata.len(), metadata.mtime(), metadata.mtime_nsec())
}

pub(super) struct Exchange {
    journal: Journal,
    moves: Moves,
    /// What was seen of each former file, in the order of the moves.
    seen: Vec<Option<Identity>>,
}

impl Exchange {
    /// Decides where everything goes. Only our own directory is written.
    pub(super) fn plan(root: &Path, directory: &Path, entries: &[DiffEntry]) -> Result<Self, WorkspaceError> {
        remove(directory)?;
        create_directory(&directory.join("old"))?;
        let journal = Journal::new(root, directory);
        let device = directory.symlink_metadata().map_err(io_error(directory))?.dev();
        let (mut moves, mut seen) = (Moves::default(), Vec::new());
        for (number, entry) in entries.iter().enumerate() {
            let above = existing_directory(root, &entry.path);
            let found = journal.root.join(as_path(&above)).symlink_metadata();
            let is_elsewhere = found.is_ok_and(|found| found.dev() != device);
            let location = |name: &str, staged: Vec<u8>| {
                if is_elsewhere {
                    let name = format!(".fixpoint-apply-{number}.{name}");
                    return Location::Tree(join(&above, name.as_bytes()));
                }
                Location::Staging(staged)
            };
            let old = (entry.before != EntryMode::Absent)
                .then(|| location("old", format!("old/{number}").into_bytes()));
            let new = (entry.after != EntryMode::Absent)
                .then(|| location("new", [b"new/", entry.path.as_slice()].concat()));
            seen.push(journal.target(&entry.path).symlink_metadata().ok().map(|found| identity(&found)));
            moves.files.push(Move { path: entry.path.clone(), old, new });
        }
        for entry in entries.iter().filter(|entry| entry.before == EntryMode::Absent) {
            moves.removed.extend(directories_at(root, &entry.path)?);
        }
        for entry in entries.iter().filter(|entry| entry.after != EntryMode::Absent) {
            for above in parents(&entry.path) {
                let is_missing =
                    !root.join(as_path(above)).symlink_metadata().is_ok_and(|found| found.is_dir());
                if is_missing && !moves.created.iter().any(|created| created == above) {
                    moves.created.push(above.to_vec());
                }
            }
        }
        Ok(Self { journal, moves, seen })
    }

    /// The directory for new contents, each at its path.
    pub(super) fn staging(&self) -> PathBuf {
        self.journal.directory.join("new")
    }

    /// Completes the new files in the staging directory: permissions, the right file system, and on the disk.
    pub(super) fn stage(&self, entries: &[DiffEntry], modes: TrustsFileModes) -> Result<(), WorkspaceError> {
        for (file, entry) in self.moves.files.iter().zip(entries) {
            let Some(new) = &file.new else { continue };
            let staged = self.staging().join(as_path(&file.path));
            if entry.before != EntryMode::Absent {
                keep_permissions(&staged, &self.journal.target(&file.path), modes)
                    .map_err(io_error(&staged))?;
            }
            let place = self.journal.locate(new);
            if place != staged {
                copy(&staged, &place).map_err(failed(&file.path))?;
            }
            if place.symlink_metadata().is_ok_and(|found| found.is_file()) {
                // A file that its owner may not read cannot be opened for this, and git could not have read it either.
                File::open(&place).and_then(|file| file.sync_all()).map_err(failed(&file.path))?;
            }
        }
        Ok(())
    }

    /// Removes everything that was prepared.
    pub(super) fn discard(&self) -> Result<(), WorkspaceError> {
        self.journal.finish(&self.moves)
    }

    pub(super) fn perform(&self) -> Result<(), Interference> {
        let prepared = self.require_permissions().and_then(|()| self.journal.write(&self.moves));
        if let Err(error) = prepared {
            drop(self.discard());
            return Err(error.into());
        }
        if let Err(interference) = self.move_all() {
            self.journal.undo()?;
            return Err(interference);
        }
        self.journal.finish(&self.moves)?;
        self.remove_empty_directories();
        Ok(())
    }

    /// Whether all directories can be changed, asked before the first is.
    fn require_permissions(&self) -> Result<(), WorkspaceError> {
        for file in &self.moves.files {
            let above = self.journal.target(&existing_directory(&self.journal.root, &file.path));
            access(&above, AccessFlags::W_OK | AccessFlags::X_OK)
                .map_err(|errno| failed(&file.path)(errno.into()))?;
        }
        Ok(())
    }

    fn move_all(&self) -> Result<(), Interference> {
        for (file, seen) in self.moves.files.iter().zip(&self.seen) {
            let Some(old) = &file.old else { continue };
            let old = self.journal.locate(old);
            match fs::rename(self.journal.target(&file.path), &old) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    return Err(Interference::Changed(file.path.clone()));
                }
                Err(error) => return Err(failed(&file.path)(error).into()),
            }
            // Nobody finds it under its name any more, so this is what the user's last edit left.
            let found = old.symlink_metadata().map_err(failed(&file.path))?;
            if *seen != Some(identity(&found)) {
                return Err(Interference::Changed(file.path.clone()));
            }
        }
        for (path, _) in &self.moves.removed {
            fs::remove_dir(self.journal.target(path)).map_err(|error| {
                if error.kind() == ErrorKind::DirectoryNotEmpty {
                    return Interference::Changed(path.clone());
                }
                failed(path)(error).into()
            })?;
        }
        for path in &self.moves.created {
            fs::create_dir(self.journal.target(path)).map_err(failed(path))?;
        }
        for file in &self.moves.files {
            let Some(new) = &file.new else { continue };
            let target = self.journal.target(&file.path);
            if target.symlink_metadata().is_ok() {
                return Err(Interference::Changed(file.path.clone()));
            }
            fs::rename(self.journal.locate(new), &target).map_err(failed(&file.path))?;
        }
        Ok(())
    }

    /// As git does after deleting the last file of a directory.
    fn remove_empty_directories(&self) {
        for file in self.moves.files.iter().filter(|file| file.new.is_none()) {
            let above: Vec<&[u8]> = parents(&file.path).collect();
            for path in above.into_iter().rev() {
                if fs::remove_dir(self.journal.target(path)).is_err() {
                    break;
                }
            }
        }
    }
}

/// The directories above a path, the uppermost first.
fn parents(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    ends.filter_map(|(end, _)| path.get(..end))
}

/// The nearest directory above a path that exists; empty for the root.
fn existing_directory(root: &Path, path: &[u8]) -> Vec<u8> {
    let is_directory =
        |above: &&[u8]| root.join(as_path(above)).symlink_metadata().is_ok_and(|found| found.is_dir());
    parents(path).take_while(is_directory).last().unwrap_or_default().to_vec()
}

fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    if directory.is_empty() { name.to_vec() } else { [directory, b"/", name].concat() }
}

/// The directory at a path and those in it, those below first, with their permissions; none if it is no directory.
fn directories_at(root: &Path, path: &[u8]) -> Result<Vec<(Vec<u8>, u32)>, WorkspaceError> {
    let Some(metadata) = root.join(as_path(path)).symlink_metadata().ok().filter(Metadata::is_dir) else {
        return Ok(Vec::new());
    };
    let mut found = vec![(path.to_vec(), metadata.mode() & 0o7777)];
    let mut next = 0;
    while let Some((directory, _)) = found.get(next).cloned() {
        for entry in children(root, &directory)? {
            if let Some(metadata) = entry.1.filter(Metadata::is_dir) {
                found.push((entry.0, metadata.mode() & 0o7777));
            }
        }
        next += 1;
    }
    found.reverse();
    Ok(found)
}

/// All files below a directory.
pub(super) fn files_below(root: &Path, path: &[u8]) -> Result<Vec<Vec<u8>>, WorkspaceError> {
    let mut files = Vec::new();
    for (directory, _) in directories_at(root, path)? {
        for (path, metadata) in children(root, &directory)? {
            if !metadata.is_some_and(|found| found.is_dir()) {
                files.push(path);
            }
        }
    }
    Ok(files)
}

type Child = (Vec<u8>, Option<Metadata>);

fn children(root: &Path, directory: &[u8]) -> Result<Vec<Child>, WorkspaceError> {
    let entries = fs::read_dir(root.join(as_path(directory))).map_err(failed(directory))?;
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed(directory))?;
        let path = join(directory, entry.file_name().as_bytes());
        found.push((path, entry.path().symlink_metadata().ok()));
    }
    Ok(found)
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    if from.symlink_metadata()?.is_symlink() {
        return std::os::unix::fs::symlink(fs::read_link(from)?, to);
    }
    // Permissions are copied as well.
    fs::copy(from, to).map(drop)
}
