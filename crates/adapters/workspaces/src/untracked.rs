//! The files of a slot that are not in its commit, and what each is like.
//!
//! Owns walking the working files without git, so that ignore rules and repositories that an agent made hide nothing.
//! Refuses to follow a link and to open anything but a regular file.

use std::collections::HashSet;
use std::fs::{self, DirEntry, File};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use fixpoint_ports::{FileState, UntrackedFile, WorkspaceError};

use crate::checkout::Checkout;
use crate::files::{as_path, io_error, restore_permissions};

impl Checkout {
    /// The wanted ones, sorted by path.
    pub(crate) fn untracked_files(
        &self,
        wanted: &dyn Fn(&[u8]) -> bool,
    ) -> Result<Vec<UntrackedFile>, WorkspaceError> {
        let mut paths = wanted_files(&self.view.tree, wanted)?;
        if !paths.is_empty() {
            let listing = self.inner.listing(&self.base)?;
            let committed: HashSet<&[u8]> = listing.iter().map(|entry| entry.path.as_slice()).collect();
            paths.retain(|path| !committed.contains(path.as_slice()));
        }
        paths.sort();
        let mut files = Vec::new();
        for path in paths {
            if let Some(state) = file_state(&self.view.tree.join(as_path(&path)))? {
                files.push(UntrackedFile { path, state });
            }
        }
        Ok(files)
    }
}

fn wanted_files(root: &Path, wanted: &dyn Fn(&[u8]) -> bool) -> Result<Vec<Vec<u8>>, WorkspaceError> {
    let mut found = Vec::new();
    let mut open: Vec<Vec<u8>> = vec![Vec::new()];
    while let Some(directory) = open.pop() {
        for entry in children(&root.join(as_path(&directory)))? {
            let name = entry.file_name();
            let path = match directory.as_slice() {
                // The agent's repository is new for every use, and holds no files of the project.
                [] if name == ".git" => continue,
                [] => name.as_bytes().to_vec(),
                above => [above, b"/", name.as_bytes()].concat(),
            };
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(path),
                Ok(_) if wanted(&path) => found.push(path),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(io_error(&entry.path())(error)),
            }
        }
    }
    Ok(found)
}

/// The entries of a directory, also of one that was made unreadable. One that was deleted has none.
fn children(directory: &Path) -> Result<Vec<DirEntry>, WorkspaceError> {
    let read = || fs::read_dir(directory)?.collect::<io::Result<Vec<DirEntry>>>();
    let entries = read().or_else(|error| {
        if error.kind() != ErrorKind::PermissionDenied {
            return Err(error);
        }
        restore_permissions(directory);
        read()
    });
    match entries {
        Ok(entries) => Ok(entries),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(io_error(directory)(error)),
    }
}

/// `None` if the file was deleted in the meantime.
fn file_state(path: &Path) -> Result<Option<FileState>, WorkspaceError> {
    let state = read_state(path).or_else(|error| {
        if error.kind() != ErrorKind::PermissionDenied {
            return Err(error);
        }
        restore_permissions(path);
        read_state(path)
    });
    match state {
        Ok(state) => Ok(Some(state)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io_error(path)(error)),
    }
}

/// What a file is like, read without following a link.
pub(crate) fn read_state(path: &Path) -> io::Result<FileState> {
    let metadata = path.symlink_metadata()?;
    if metadata.is_symlink() {
        return Ok(FileState::Link(fs::read_link(path)?.into_os_string().into_vec()));
    }
    if !metadata.is_file() {
        return Ok(FileState::Special);
    }
    // If a link or a pipe takes the place of the file just now, it is neither followed nor waited for.
    let flags = nix::fcntl::OFlag::O_NOFOLLOW | nix::fcntl::OFlag::O_NONBLOCK;
    let file = File::options().read(true).custom_flags(flags.bits()).open(path)?;
    let content = *blake3::Hasher::new().update_reader(file)?.finalize().as_bytes();
    Ok(FileState::File { content, executable: metadata.permissions().mode() & 0o100 != 0 })
}
