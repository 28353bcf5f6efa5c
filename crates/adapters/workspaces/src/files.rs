//! Working files as the file system has them: errors with their path, permissions taken back, removal of anything.
//!
//! Owns what must work on whatever an agent leaves behind. Refuses to follow a symbolic link.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use fixpoint_ports::WorkspaceError;

/// Names the path in an error of the file system; a full disk is told apart, because the caller can wait for space.
pub(crate) fn io_error(path: &Path) -> impl FnOnce(io::Error) -> WorkspaceError + '_ {
    move |source| {
        if matches!(source.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) {
            return WorkspaceError::NoSpace(format!("{}: {source}", path.display()));
        }
        WorkspaceError::Io { path: path.to_path_buf(), source }
    }
}

/// A path of git's, which is bytes, as one of the file system's.
pub(crate) fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// Writes a file whole: another process sees what was there before or all of this, never a part.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), WorkspaceError> {
    let put = || {
        let directory = path.parent().unwrap_or(Path::new("."));
        let mut file = tempfile::NamedTempFile::new_in(directory)?;
        file.write_all(bytes)?;
        file.persist(path).map_err(|error| error.error).map(drop)
    };
    match fs::read(path) {
        Ok(there) if there == bytes => Ok(()),
        Ok(_) | Err(_) => put().map_err(io_error(path)),
    }
}

/// Writes a file whole, and waits until it is on the disk under its name.
pub(crate) fn write_durably(path: &Path, bytes: &[u8]) -> Result<(), WorkspaceError> {
    let put = || {
        let directory = path.parent().unwrap_or(Path::new("."));
        let mut file = tempfile::NamedTempFile::new_in(directory)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        fs::File::open(directory)?.sync_all()
    };
    put().map_err(io_error(path))
}

/// Makes a directory and those above it.
pub(crate) fn make_directory(path: &Path) -> Result<(), WorkspaceError> {
    fs::create_dir_all(path).map_err(io_error(path))
}

/// Gives the owner back what was taken away: reading every file, and entering and changing every directory.
///
/// Errors are passed over: what cannot be mended here makes the command fail that needs it, with its own message.
pub(crate) fn take_back_permissions(root: &Path) {
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
            take_back_permissions(&entry.path());
        }
    }
}

/// Removes whatever is at a path: a file, a link, a tree with directories nobody may enter, or nothing.
pub(crate) fn remove(path: &Path) -> Result<(), WorkspaceError> {
    let attempt = || match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        // Where a file is in place of a directory above, there is nothing either.
        Err(error) if error.kind() == ErrorKind::NotADirectory => Ok(()),
        Err(error) => Err(error),
    };
    let removed = attempt().or_else(|error| {
        if error.kind() == ErrorKind::NotFound {
            return Ok(());
        }
        take_back_permissions(path);
        attempt()
    });
    removed.map_err(io_error(path))
}

/// Makes sure that a directory, not a link to one, is at a path.
pub(crate) fn ensure_directory(path: &Path) -> Result<(), WorkspaceError> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => remove(path).and_then(|()| make_directory(path)),
        Err(_) => make_directory(path),
    }
}
