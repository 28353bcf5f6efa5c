//! What every durable file needs: private permissions, a flushed directory entry, and knowing a full disk.
//!
//! A new file is on the disk only when the directory that names it is, which is why creation and flushing of
//! directories are in one place.

use std::fs::{DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Only the user may read the journal.
const PRIVATE_FILE: u32 = 0o600;
const PRIVATE_DIRECTORY: u32 = 0o700;

/// Whether making space would help.
pub(crate) fn is_full(error: &io::Error) -> bool {
    // The kinds belong to the standard library, and any other of them means that space is not what is missing.
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// The file must not exist yet. Its name is durable only after [`sync_directory`].
pub(crate) fn create_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(PRIVATE_FILE).open(path)
}

pub(crate) fn open_or_create_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(PRIVATE_FILE).open(path)
}

/// Creates missing parents too, each durably.
pub(crate) fn create_directory(path: &Path) -> io::Result<()> {
    let missing: Vec<PathBuf> = path
        .ancestors()
        .take_while(|above| !above.as_os_str().is_empty() && !above.is_dir())
        .map(Path::to_path_buf)
        .collect();
    for directory in missing.iter().rev() {
        match DirBuilder::new().mode(PRIVATE_DIRECTORY).create(directory) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && directory.is_dir() => {}
            Err(error) => return Err(error),
        }
        sync_directory(parent(directory))?;
    }
    Ok(())
}

pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// A bare name is in the current directory.
pub(crate) fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

pub(crate) fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
