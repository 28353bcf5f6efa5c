//! The directory that holds what is private to one confined program, or is kept for the next of the same run.
//!
//! ```text
//! <temporary>/root      the new root is mounted here
//! <temporary>/tmp       /tmp of the program
//! <temporary>/spec, report
//! <kept>/home           the home directory as the program sees it
//! <kept>/layers/<name>  what it wrote over directories of tools
//! <kept>/files/<name>   what it keeps in place of hidden directories
//! ```

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

#[derive(Debug)]
pub(crate) struct PrivateDirectory {
    temporary: TempDir,
    kept: PathBuf,
    layers: Layers,
}

/// Whether the kernel can put a directory for changes over another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layers {
    Available,
    Missing,
}

impl PrivateDirectory {
    /// In a directory for temporary files; `kept` outlives it.
    pub(crate) fn new(parent: &Path, kept: Option<&Path>, layers: Layers) -> io::Result<Self> {
        make(parent)?;
        let temporary = tempfile::Builder::new().prefix("s-").tempdir_in(parent)?;
        let kept = kept.map_or_else(|| temporary.path().join("kept"), Path::to_path_buf);
        let new = Self { temporary, kept, layers };
        for directory in [new.root(), new.temporary()] {
            make(&directory)?;
        }
        Ok(new)
    }

    pub(crate) fn has_layers(&self) -> bool {
        self.layers == Layers::Available
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.temporary.path().join("root")
    }

    pub(crate) fn temporary(&self) -> PathBuf {
        self.temporary.path().join("tmp")
    }

    pub(crate) fn spec(&self) -> PathBuf {
        self.temporary.path().join("spec")
    }

    pub(crate) fn report(&self) -> PathBuf {
        self.temporary.path().join("report")
    }

    pub(crate) fn home(&self) -> io::Result<PathBuf> {
        home_in(&self.kept)
    }

    /// Where changes of a directory go, and what the kernel needs for that.
    pub(crate) fn layer(&self, name: &Path) -> io::Result<(PathBuf, PathBuf)> {
        let layer = self.kept.join("layers").join(flat(name));
        let (upper, work) = (layer.join("upper"), layer.join("work"));
        make(&upper)?;
        make(&work)?;
        Ok((upper, work))
    }

    /// An empty directory in place of one of the user's.
    pub(crate) fn empty(&self, path: &Path) -> io::Result<PathBuf> {
        let directory = self.temporary.path().join("empty").join(flat(path));
        make(&directory)?;
        Ok(directory)
    }

    /// A directory of ours in place of a hidden one.
    pub(crate) fn kept(&self, name: &Path) -> io::Result<PathBuf> {
        let directory = self.kept.join("files").join(flat(name));
        make(&directory)?;
        Ok(directory)
    }

    /// Copies a file of the user's to the same place in the private home, unless an earlier program has left one there.
    pub(crate) fn copy_into_home(&self, file: &Path, name: &Path) -> io::Result<()> {
        let to = self.home()?.join(name);
        // A link could lead anywhere, and only a confined program makes one.
        if fs::symlink_metadata(&to).is_ok() {
            return Ok(());
        }
        if let Some(parent) = to.parent() {
            make(parent)?;
        }
        fs::copy(file, &to).map(drop)
    }
}

impl Drop for PrivateDirectory {
    /// Programs and overlays leave directories that even their owner cannot change.
    fn drop(&mut self) {
        if fs::remove_dir_all(self.temporary.path()).is_err() {
            make_writable(self.temporary.path());
        }
    }
}

fn make_writable(directory: &Path) {
    // What cannot be changed cannot be deleted either; the directory for temporary files is emptied by others then.
    drop(fs::set_permissions(directory, fs::Permissions::from_mode(0o700)));
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_writable(&entry.path());
        }
    }
}

pub(crate) fn home_in(kept: &Path) -> io::Result<PathBuf> {
    let home = kept.join("home");
    make(&home)?;
    Ok(home)
}

/// What an earlier program wrote over a directory, if it wrote anything.
pub(crate) fn layer_in(kept: &Path, name: &Path) -> Option<PathBuf> {
    let upper = kept.join("layers").join(flat(name)).join("upper");
    fs::read_dir(&upper).ok()?.next().is_some().then_some(upper)
}

fn make(directory: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

/// A path as one name.
fn flat(name: &Path) -> PathBuf {
    let text = name.as_os_str().to_string_lossy();
    let name = text.trim_matches('/').replace('%', "%25").replace('/', "%2f");
    PathBuf::from(if name.is_empty() { "home".to_string() } else { name })
}
