//! The private directory of one run of a check: its `TMPDIR`, and what redirects its imports.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::error::ExecuteError;

/// Deleted when it is dropped, with all that the check left.
#[derive(Debug)]
pub(crate) struct Scratch {
    directory: Option<tempfile::TempDir>,
    path: PathBuf,
}

impl Scratch {
    /// A new one, in the directory for temporary files that the environment names. Its path is short: sockets have
    /// little room for theirs.
    pub(crate) fn new(parent: Option<&OsStr>) -> Result<Self, ExecuteError> {
        let named = parent.map(Path::new).filter(|parent| parent.is_absolute() && parent.is_dir());
        let parent = named.map_or_else(std::env::temp_dir, Path::to_path_buf);
        let made = tempfile::Builder::new().prefix("fp-").tempdir_in(&parent);
        let directory = made.map_err(ExecuteError::file(&parent))?;
        let path = directory.path().to_path_buf();
        // A file there is told by its parent's name to be a temporary one, whatever is printed of its path.
        let temporary = path.join("tmp");
        fs::create_dir(&temporary).map_err(ExecuteError::file(&temporary))?;
        Ok(Self { directory: Some(directory), path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn temporary(&self) -> PathBuf {
        self.path.join("tmp")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let Some(directory) = self.directory.take() else { return };
        // Tools such as Go's write directories that even their owner cannot change.
        if directory.close().is_err() {
            make_writable(&self.path);
            drop(fs::remove_dir_all(&self.path));
        }
    }
}

fn make_writable(directory: &Path) {
    drop(fs::set_permissions(directory, fs::Permissions::from_mode(0o700)));
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_writable(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_deleted_whatever_is_in_it() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(Some(parent.path().as_os_str())).unwrap();
        let inner = scratch.temporary().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join("file"), "").unwrap();
        fs::set_permissions(&inner, fs::Permissions::from_mode(0o500)).unwrap();
        assert!(scratch.path().file_name().unwrap().to_str().unwrap().starts_with("fp-"));
        drop(scratch);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
