//! Files and directories: errors with their path, whole writes, permissions restored, removal of anything.
//!
//! Owns what must work on whatever an agent leaves behind. Refuses to follow a symbolic link.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use fixpoint_ports::WorkspaceError;

/// Adds the path to an error. A full disk is an error of its own, because the caller can wait for space.
pub(crate) fn io_error(path: &Path) -> impl FnOnce(io::Error) -> WorkspaceError + '_ {
    move |source| {
        if matches!(source.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) {
            return WorkspaceError::NoSpace(format!("{}: {source}", path.display()));
        }
        WorkspaceError::Io { path: path.to_path_buf(), source }
    }
}

/// A path as git prints it, which is bytes.
pub(crate) fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// The content of a file; `None` if it does not exist.
pub(crate) fn read_optional(path: &Path) -> Result<Option<Vec<u8>>, WorkspaceError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io_error(path)(error)),
    }
}

/// Replaces a file in one step: another process never sees a part of it. An equal file is left alone.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), WorkspaceError> {
    match fs::read(path) {
        Ok(there) if there == bytes => Ok(()),
        Ok(_) | Err(_) => replace(path, bytes, Durability::Cached).map_err(io_error(path)),
    }
}

/// Replaces a file in one step, and waits until it is on the disk under its name.
pub(crate) fn write_durably(path: &Path, bytes: &[u8]) -> Result<(), WorkspaceError> {
    replace(path, bytes, Durability::OnDisk).map_err(io_error(path))
}

enum Durability {
    Cached,
    OnDisk,
}

fn replace(path: &Path, bytes: &[u8], durability: Durability) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(bytes)?;
    match durability {
        Durability::Cached => file.persist(path).map_err(|error| error.error).map(drop),
        Durability::OnDisk => {
            file.as_file().sync_all()?;
            file.persist(path).map_err(|error| error.error)?;
            fs::File::open(directory)?.sync_all()
        }
    }
}

/// Creates a directory and those above it.
pub(crate) fn create_directory(path: &Path) -> Result<(), WorkspaceError> {
    fs::create_dir_all(path).map_err(io_error(path))
}

/// Lets the owner read every file, and enter and change every directory.
///
/// Errors are ignored: the command that needs the permission fails with a message of its own.
pub(crate) fn restore_permissions(root: &Path) {
    let Ok(metadata) = root.symlink_metadata() else { return };
    let mode = metadata.permissions().mode();
    let wanted = match metadata.file_type() {
        kind if kind.is_dir() => mode | 0o700,
        kind if kind.is_file() => mode | 0o400,
        _ => return,
    };
    if wanted != mode {
        drop(fs::set_permissions(root, Permissions::from_mode(wanted)));
    }
    if metadata.is_dir() {
        for entry in fs::read_dir(root).into_iter().flatten().flatten() {
            restore_permissions(&entry.path());
        }
    }
}

/// Removes whatever is at a path: a file, a link, a tree with directories that nobody may enter, or nothing.
pub(crate) fn remove(path: &Path) -> Result<(), WorkspaceError> {
    let attempt = || match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        // If a file is in place of a directory above, there is nothing at the path either.
        Err(error) if error.kind() == ErrorKind::NotADirectory => Ok(()),
        Err(error) => Err(error),
    };
    let removed = attempt().or_else(|error| {
        if error.kind() == ErrorKind::NotFound {
            return Ok(());
        }
        restore_permissions(path);
        attempt()
    });
    removed.map_err(io_error(path))
}

/// Makes sure that a directory, not a link to one, is at a path.
pub(crate) fn ensure_directory(path: &Path) -> Result<(), WorkspaceError> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => remove(path).and_then(|()| create_directory(path)),
        Err(_) => create_directory(path),
    }
}
