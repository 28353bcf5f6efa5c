//! The user's repository as bytes: what is in it before must be in it afterwards, and nothing beside that.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Every file and directory of a repository with its mode and content, but for objects and what is kept for runs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Picture(BTreeMap<PathBuf, (u32, Vec<u8>)>);

/// What may be new in a repository.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Allowed<'a> {
    /// Nothing.
    Nothing,
    /// The branch of one run.
    Branch(&'a str),
}

impl Picture {
    pub(crate) fn of(root: &Path) -> Self {
        let mut picture = BTreeMap::new();
        walk(root, root, &mut picture);
        Self(picture)
    }

    /// What differs, as text.
    pub(crate) fn differences(&self, after: &Self, allowed: Allowed<'_>) -> Vec<String> {
        let is_allowed = |path: &Path| match allowed {
            Allowed::Nothing => false,
            Allowed::Branch(run) => {
                let branch = format!("refs/heads/fixpoint/{run}");
                let parts = [format!(".git/{branch}"), format!(".git/logs/{branch}")];
                let directories =
                    [".git/refs/heads/fixpoint", ".git/logs/refs/heads/fixpoint"].map(Path::new);
                parts.iter().any(|part| path == Path::new(part)) || directories.contains(&path)
            }
        };
        let changed = after.0.iter().filter(|(path, entry)| self.0.get(*path) != Some(entry));
        let gone = self.0.keys().filter(|path| !after.0.contains_key(*path));
        let words = |word: &str, path: &PathBuf| format!("{word} {}", path.display());
        changed
            .filter(|(path, _)| !is_allowed(path))
            .map(|(path, _)| words("new or other:", path))
            .chain(gone.map(|path| words("gone:", path)))
            .collect()
    }
}

fn walk(root: &Path, directory: &Path, picture: &mut BTreeMap<PathBuf, (u32, Vec<u8>)>) {
    for entry in fs::read_dir(directory).expect("a directory").flatten() {
        let path = entry.path();
        let inside = path.strip_prefix(root).expect("below the root").to_path_buf();
        if inside.starts_with(".git/objects") || inside.starts_with(".git/refs/fixpoint") {
            continue;
        }
        let metadata = fs::symlink_metadata(&path).expect("it is there");
        let mode = metadata.permissions().mode();
        if metadata.is_symlink() {
            let target = fs::read_link(&path).expect("a link");
            picture.insert(inside, (mode, target.as_os_str().as_bytes().to_vec()));
        } else if metadata.is_dir() {
            walk(root, &path, picture);
            picture.insert(inside, (mode, Vec::new()));
        } else {
            let content = fs::read(&path).expect("readable");
            let is_packed = inside == Path::new(".git/packed-refs");
            let content = if is_packed { without_own(&content) } else { content };
            picture.insert(inside, (mode, content));
        }
    }
}

/// The packed references without those of runs.
fn without_own(content: &[u8]) -> Vec<u8> {
    let lines = content.split_inclusive(|byte| *byte == b'\n');
    let is_own = |line: &&[u8]| String::from_utf8_lossy(line).contains(" refs/fixpoint/");
    lines.filter(|line| !is_own(line)).flatten().copied().collect()
}
