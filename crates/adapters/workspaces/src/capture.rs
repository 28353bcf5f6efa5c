//! The tree that a working directory amounts to, built with an index of our own.
//!
//! Owns which working files count: everything the index knows, and everything else that is not ignored. Refuses to
//! start anything that the files under it could name: no filter (ours knows none), no hook, no monitor, and no git
//! process inside a repository found there. Invariant: what git would hide behind a nested repository is listed file
//! by file in a slot, so that no file can be there without being seen.

use fixpoint_ports::{TreeId, WorkspaceError};

use crate::files::{as_path, remove, take_back_permissions, write};
use crate::git::records::{self, Dirty, Standing};
use crate::private::View;
use crate::repository::read_optional;

/// Whose files they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ground {
    /// The user's. An untracked repository among them is somebody else's work and is left out; permissions stay.
    Users,
    /// A slot's. The files of a repository an agent made are files; permissions it took away are taken back.
    Slot,
}

/// Repositories inside repositories are followed this far.
const DEPTH: usize = 16;

/// What has to be told to the index.
#[derive(Debug, Default)]
struct Updates {
    /// Paths to read again: changed, new, or gone.
    read: Vec<Vec<u8>>,
    /// Paths to forget, whatever is there now.
    forget: Vec<Vec<u8>>,
}

/// Brings the index of the view up to the working files and writes its tree. Where git sees no difference at all
/// between what is checked out, the index and the working files, the tree is the one that is checked out.
pub(crate) fn capture(
    view: &View,
    ground: Ground,
    submodules: &[Vec<u8>],
    checked_out: Option<&TreeId>,
) -> Result<TreeId, WorkspaceError> {
    let mut updates = Updates::default();
    let seen = scan(view, ground)?;
    if let (true, Some(tree)) = (seen.is_empty(), checked_out) {
        return Ok(tree.clone());
    }
    for dirty in records::dirty(&seen)? {
        sort_in(view, ground, dirty, &mut updates)?;
    }
    for path in submodules {
        // Git looks away from whatever lies where a submodule belongs, unless it is a repository.
        let place = view.tree.join(as_path(path));
        if ground == Ground::Slot && place.is_dir() && place.join(".git").symlink_metadata().is_err() {
            let files = nested_files(view, path, DEPTH)?;
            if !files.is_empty() {
                updates.forget.push(path.clone());
                updates.read.extend(files);
            }
        }
    }
    update(view, &updates)?;
    // A partial clone lacks objects that nothing here has changed.
    view.git("write-tree").arg("--missing-ok").word().map(TreeId)
}

/// What git says about the working files: nothing where they are as they were checked out.
fn scan(view: &View, ground: Ground) -> Result<Vec<u8>, WorkspaceError> {
    let look = || {
        let git = view.git("status").args(["--porcelain=v2", "-z", "--no-renames"]);
        git.args(["--untracked-files=all", "--ignore-submodules=dirty"]).end()
    };
    let mut ended = look()?;
    if ground == Ground::Slot && (ended.code != Some(0) || !ended.message.is_empty()) {
        // A directory that cannot be opened is only warned about, and would hide what it holds.
        take_back_permissions(&view.tree);
        ended = look()?;
    }
    match ended.code {
        Some(0) => Ok(ended.stdout),
        Some(_) | None => Err(WorkspaceError::Git { command: "status".to_string(), message: ended.message }),
    }
}

fn sort_in(view: &View, ground: Ground, dirty: Dirty, updates: &mut Updates) -> Result<(), WorkspaceError> {
    match (dirty.standing, ground) {
        (Standing::Gone, Ground::Users | Ground::Slot) => updates.forget.push(dirty.path),
        (Standing::NestedRepository, Ground::Users) => {}
        (Standing::NestedRepository, Ground::Slot) => {
            updates.read.extend(nested_files(view, &dirty.path, DEPTH)?);
        }
        (Standing::Changed | Standing::Untracked, Ground::Users | Ground::Slot) => {
            match view.tree.join(as_path(&dirty.path)).symlink_metadata() {
                Ok(metadata) if metadata.is_file() || metadata.is_symlink() => {
                    if ground == Ground::Slot {
                        make_readable(view, &dirty.path);
                    }
                    updates.read.push(dirty.path);
                }
                // The directory of a submodule whose commit is another.
                Ok(metadata) if metadata.is_dir() && has_repository(view, &dirty.path) => {
                    updates.read.push(dirty.path);
                }
                // A directory in place of a file is listed file by file; a socket or a pipe is no content; and what
                // has vanished since is gone.
                Ok(_) | Err(_) => updates.forget.push(dirty.path),
            }
        }
    }
    Ok(())
}

fn has_repository(view: &View, path: &[u8]) -> bool {
    view.tree.join(as_path(path)).join(".git").symlink_metadata().is_ok()
}

fn make_readable(view: &View, path: &[u8]) {
    let place = view.tree.join(as_path(path));
    if std::fs::File::open(&place).is_err() {
        take_back_permissions(&place);
    }
}

/// The files under a directory that git takes for a repository of its own, its `.git` excepted.
fn nested_files(view: &View, path: &[u8], depth: usize) -> Result<Vec<Vec<u8>>, WorkspaceError> {
    let Some(depth) = depth.checked_sub(1) else {
        let message = format!("repositories are nested too deeply at {}", String::from_utf8_lossy(path));
        return Err(WorkspaceError::Git { command: "ls-files".to_string(), message });
    };
    let inside = View { tree: view.tree.join(as_path(path)), ..view.clone() };
    take_back_permissions(&inside.tree);
    let listed = inside
        .git("ls-files")
        .args(["-z", "--others", "--exclude-standard"])
        .env("GIT_INDEX_FILE", view.git_dir.join("no-index"))
        .run()?;
    let mut files = Vec::new();
    for found in records::list(&listed) {
        let whole = [path, b"/", found].concat();
        match whole.strip_suffix(b"/") {
            Some(nested) => files.extend(nested_files(view, nested, depth)?),
            None => files.push(whole),
        }
    }
    Ok(files)
}

fn update(view: &View, updates: &Updates) -> Result<(), WorkspaceError> {
    if !updates.forget.is_empty() {
        let git = view.git("update-index").args(["-z", "--force-remove", "--stdin"]);
        git.input(records::joined(&updates.forget)).run()?;
    }
    if updates.read.is_empty() {
        return Ok(());
    }
    let paths = records::joined(&updates.read);
    let read = |git: crate::git::Git| {
        let git = git.args(["-z", "--add", "--remove", "--replace", "--stdin"]);
        git.input(paths.clone()).run().map(drop)
    };
    read(view.git("update-index")).or_else(|_| without_encodings(view, || read(view.git("update-index"))))
}

/// Runs git without the text encodings that attributes in the tree ask for: one that does not exist is fatal. Our own
/// attributes come before those in the tree; `GIT_ATTR_SOURCE` would need git 2.41.
fn without_encodings(
    view: &View,
    run: impl FnOnce() -> Result<(), WorkspaceError>,
) -> Result<(), WorkspaceError> {
    let path = view.git_dir.join("info/attributes");
    let carried = read_optional(&path)?;
    let rules = [b"* !working-tree-encoding\n", carried.as_deref().unwrap_or_default()].concat();
    write(&path, &rules)?;
    let ended = run();
    match carried {
        Some(rules) => write(&path, &rules)?,
        None => remove(&path)?,
    }
    ended
}
