//! The tree object of a working tree, built with an index of our own.
//!
//! Owns which working files count: those in the index, and all others that are not ignored. Refuses to start anything
//! that the files could name: no filter (our configuration has none), no hook, no monitor, and no git process inside a
//! repository found there. Invariant: in a slot, files that git would hide behind a nested repository are added one by
//! one, so that no file can be there without being seen.

use std::fs::File;
use std::io::ErrorKind;

use fixpoint_ports::{TreeId, WorkspaceError};

use crate::files::{as_path, read_optional, remove, restore_permissions, write};
use crate::git::parse::{self, FileStatus, StatusEntry};
use crate::private_git_dir::WorkTreeView;
use crate::sweep::Sweep;

/// Whose files they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TreeOwner {
    /// An untracked repository among them is left out and reported, and permissions are left alone.
    User,
    /// The files of a repository that an agent made are added, and permissions that it took away are restored.
    Slot,
}

/// Repositories inside repositories are followed this far.
const MAX_NESTING: usize = 16;

#[derive(Debug, Default)]
struct IndexUpdates {
    /// Paths to read from the working tree.
    add: Vec<Vec<u8>>,
    remove: Vec<Vec<u8>>,
}

pub(crate) struct WrittenTree {
    pub(crate) tree: TreeId,
    /// Untracked repositories of the user's, which are not part of the tree.
    pub(crate) nested_repositories: Vec<Vec<u8>>,
}

/// Updates the index of the view from the working files and writes its tree. If git sees no difference between `head`,
/// the index and the working files, the tree is `head`.
pub(crate) fn write_tree(
    view: &WorkTreeView,
    owner: TreeOwner,
    submodules: &[Vec<u8>],
    head: Option<&TreeId>,
) -> Result<WrittenTree, WorkspaceError> {
    let status = status(view, owner)?;
    if let (true, Some(tree)) = (status.is_empty(), head) {
        return Ok(WrittenTree { tree: tree.clone(), nested_repositories: Vec::new() });
    }
    let mut updates = IndexUpdates::default();
    let mut nested_repositories = Vec::new();
    for entry in parse::status(&status)? {
        if entry.status == FileStatus::NestedRepository && owner == TreeOwner::User {
            nested_repositories.push(entry.path);
            continue;
        }
        add_update(view, owner, entry, &mut updates)?;
    }
    for path in submodules {
        // Git does not look into the directory of a submodule that is no repository.
        let directory = view.tree.join(as_path(path));
        if owner == TreeOwner::Slot && directory.is_dir() && !is_repository(view, path) {
            let files = nested_files(view, path, MAX_NESTING)?;
            if !files.is_empty() {
                updates.remove.push(path.clone());
                updates.add.extend(files);
            }
        }
    }
    update_index(view, &updates)?;
    // A partial clone lacks objects of files that were not changed.
    let tree = view.git("write-tree").arg("--missing-ok").run_for_line().map(TreeId)?;
    Ok(WrittenTree { tree, nested_repositories })
}

/// The output of `git status`, which is empty if nothing has changed.
fn status(view: &WorkTreeView, owner: TreeOwner) -> Result<Vec<u8>, WorkspaceError> {
    let doubts = match owner {
        TreeOwner::Slot => Sweep::of(view).and_then(Sweep::few_doubts),
        TreeOwner::User => None,
    };
    if doubts.as_ref().is_some_and(Vec::is_empty) {
        return Ok(Vec::new());
    }
    let run = || {
        let git = view.git("status").env("GIT_LITERAL_PATHSPECS", "1");
        let git = git.args(["--porcelain=v2", "-z", "--no-renames"]);
        let git = git.args(["--untracked-files=all", "--ignore-submodules=dirty", "--"]);
        git.args(doubts.iter().flatten().map(|path| as_path(path))).output()
    };
    let mut output = run()?;
    if owner == TreeOwner::Slot && (!output.succeeded() || !output.message.is_empty()) {
        // Git only warns about a directory that it cannot open, and leaves out the files in it.
        restore_permissions(&view.tree);
        output = run()?;
    }
    if owner == TreeOwner::User && output.succeeded() {
        refuse_unreadable(&output.message)?;
    }
    output.checked()
}

/// Git only warns about a directory that it cannot open. Its files would be missing from the snapshot.
fn refuse_unreadable(message: &str) -> Result<(), WorkspaceError> {
    let unreadable = message.lines().find_map(|line| {
        line.strip_prefix("warning: could not open directory '")?.strip_suffix("': Permission denied")
    });
    unreadable.map_or(Ok(()), |path| Err(WorkspaceError::PermissionDenied(path.to_string())))
}

fn add_update(
    view: &WorkTreeView,
    owner: TreeOwner,
    StatusEntry { path, status }: StatusEntry,
    updates: &mut IndexUpdates,
) -> Result<(), WorkspaceError> {
    match (status, owner) {
        (FileStatus::Deleted, TreeOwner::User | TreeOwner::Slot) => {
            // To git, a file in a directory that nobody may enter is deleted.
            let found = view.tree.join(as_path(&path)).symlink_metadata();
            if owner == TreeOwner::User
                && found.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
            {
                return Err(WorkspaceError::PermissionDenied(String::from_utf8_lossy(&path).into_owned()));
            }
            updates.remove.push(path);
        }
        (FileStatus::NestedRepository, TreeOwner::User) => {}
        (FileStatus::NestedRepository, TreeOwner::Slot) => {
            updates.add.extend(nested_files(view, &path, MAX_NESTING)?);
        }
        (FileStatus::Modified | FileStatus::Untracked, TreeOwner::User | TreeOwner::Slot) => {
            match view.tree.join(as_path(&path)).symlink_metadata() {
                Ok(metadata) if metadata.is_file() || metadata.is_symlink() => {
                    if owner == TreeOwner::Slot {
                        make_readable(view, &path);
                    }
                    updates.add.push(path);
                }
                // A submodule with another commit.
                Ok(metadata) if metadata.is_dir() && is_repository(view, &path) => updates.add.push(path),
                // The files of a directory in place of a file have entries of their own; a socket or a pipe has no
                // content; and anything else has been deleted since.
                Ok(_) | Err(_) => updates.remove.push(path),
            }
        }
    }
    Ok(())
}

fn is_repository(view: &WorkTreeView, path: &[u8]) -> bool {
    view.tree.join(as_path(path)).join(".git").symlink_metadata().is_ok()
}

fn make_readable(view: &WorkTreeView, path: &[u8]) {
    let path = view.tree.join(as_path(path));
    if File::open(&path).is_err() {
        restore_permissions(&path);
    }
}

/// The files in a directory that git takes for a repository of its own, except its `.git`.
fn nested_files(view: &WorkTreeView, path: &[u8], depth: usize) -> Result<Vec<Vec<u8>>, WorkspaceError> {
    let Some(depth) = depth.checked_sub(1) else {
        let message =
            format!("more than {MAX_NESTING} nested repositories at {}", String::from_utf8_lossy(path));
        return Err(WorkspaceError::Git { command: "ls-files".to_string(), message });
    };
    let nested = WorkTreeView { tree: view.tree.join(as_path(path)), ..view.clone() };
    restore_permissions(&nested.tree);
    let listed = nested
        .git("ls-files")
        .args(["-z", "--others", "--exclude-standard"])
        .env("GIT_INDEX_FILE", view.git_dir.join("no-index"))
        .run()?;
    let mut files = Vec::new();
    for found in parse::nul_separated(&listed) {
        let whole = [path, b"/", found].concat();
        match whole.strip_suffix(b"/") {
            Some(deeper) => files.extend(nested_files(view, deeper, depth)?),
            None => files.push(whole),
        }
    }
    Ok(files)
}

fn update_index(view: &WorkTreeView, updates: &IndexUpdates) -> Result<(), WorkspaceError> {
    if !updates.remove.is_empty() {
        let git = view.git("update-index").args(["-z", "--force-remove", "--stdin"]);
        git.input(parse::nul_terminated(&updates.remove)).run()?;
    }
    if updates.add.is_empty() {
        return Ok(());
    }
    let paths = parse::nul_terminated(&updates.add);
    let add = || {
        let git = view.git("update-index").args(["-z", "--add", "--remove", "--replace", "--stdin"]);
        git.input(paths.clone()).run().map(drop)
    };
    add().or_else(|_| without_encodings(view, add))
}

/// Runs git without the text encodings that attributes in the tree ask for: one that does not exist is fatal. Our own
/// attributes have precedence over those in the tree; `GIT_ATTR_SOURCE` would need git 2.41.
fn without_encodings(
    view: &WorkTreeView,
    run: impl FnOnce() -> Result<(), WorkspaceError>,
) -> Result<(), WorkspaceError> {
    let path = view.git_dir.join("info/attributes");
    let before = read_optional(&path)?;
    let rules = [b"* !working-tree-encoding\n", before.as_deref().unwrap_or_default()].concat();
    write(&path, &rules)?;
    let result = run();
    match before {
        Some(rules) => write(&path, &rules)?,
        None => remove(&path)?,
    }
    result
}
