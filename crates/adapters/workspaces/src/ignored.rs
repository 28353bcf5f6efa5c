//! The files of a slot that its commit does not have, and what each is like.
//!
//! Owns walking the working files without git: rules that an agent can write, and repositories that it can make, have
//! no say in what is seen. Refuses to follow a link and to open anything but an ordinary file.

use std::collections::HashSet;
use std::fs::{self, DirEntry, File};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use fixpoint_ports::{IgnoredFile, Stamp, WorkspaceError};

use crate::checkout::Checkout;
use crate::files::{as_path, io_error, take_back_permissions};
use crate::git::records;

impl Checkout {
    /// Those that are wanted, sorted by path.
    pub(crate) fn ignored(&self, wanted: &dyn Fn(&[u8]) -> bool) -> Result<Vec<IgnoredFile>, WorkspaceError> {
        let mut paths = wanted_files(&self.view.tree, wanted)?;
        if !paths.is_empty() {
            let listing = ["-r", "-z", "--name-only", "--full-tree", "--end-of-options"];
            let listed = self.inner.object_git("ls-tree").args(listing).arg(&self.base.0).run()?;
            let committed: HashSet<&[u8]> = records::list(&listed).collect();
            paths.retain(|path| !committed.contains(path.as_slice()));
        }
        paths.sort();
        let mut files = Vec::new();
        for path in paths {
            if let Some(stamp) = stamp(&self.view.tree.join(as_path(&path)))? {
                files.push(IgnoredFile { path, stamp });
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
                // The agent's repository is made anew for every use, and is nobody's content.
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

/// The entries of a directory, one that was closed to us included. One that has vanished has none.
fn children(directory: &Path) -> Result<Vec<DirEntry>, WorkspaceError> {
    let look = || fs::read_dir(directory)?.collect::<io::Result<Vec<DirEntry>>>();
    let looked = look().or_else(|error| {
        if error.kind() != ErrorKind::PermissionDenied {
            return Err(error);
        }
        take_back_permissions(directory);
        look()
    });
    match looked {
        Ok(entries) => Ok(entries),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(io_error(directory)(error)),
    }
}

/// What a file is like; `None` if it has vanished.
fn stamp(path: &Path) -> Result<Option<Stamp>, WorkspaceError> {
    let looked = look(path).or_else(|error| {
        if error.kind() != ErrorKind::PermissionDenied {
            return Err(error);
        }
        take_back_permissions(path);
        look(path)
    });
    match looked {
        Ok(stamp) => Ok(Some(stamp)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io_error(path)(error)),
    }
}

fn look(path: &Path) -> io::Result<Stamp> {
    let metadata = path.symlink_metadata()?;
    if metadata.is_symlink() {
        return Ok(Stamp::Link(fs::read_link(path)?.into_os_string().into_vec()));
    }
    if !metadata.is_file() {
        return Ok(Stamp::Special);
    }
    // Should a link or a pipe take the place of the file just now, it is neither followed nor waited for.
    let flags = nix::fcntl::OFlag::O_NOFOLLOW | nix::fcntl::OFlag::O_NONBLOCK;
    let file = File::options().read(true).custom_flags(flags.bits()).open(path)?;
    let content = *blake3::Hasher::new().update_reader(file)?.finalize().as_bytes();
    Ok(Stamp::File { content, executable: metadata.permissions().mode() & 0o100 != 0 })
}
