//! Finds files by name in a working tree, without looking into what is installed or built there.

use std::fs;
use std::path::{Path, PathBuf};

/// Directories of packages of others and of build output.
const SKIPPED: [&str; 8] =
    ["node_modules", "target", "vendor", "dist", "build", "venv", "site-packages", "__pycache__"];
/// Entries that are looked at; a larger tree is searched in part.
const MOST_ENTRIES: u32 = 20_000;

/// How deep packages of a monorepo are.
const DEPTH: u32 = 3;

/// Files of Python projects.
const OF_PYTHON: [&str; 3] = ["pyproject.toml", "setup.py", "setup.cfg"];
const OF_GO: [&str; 2] = ["go.mod", "go.work"];
const OF_NODE: [&str; 1] = ["package.json"];

/// The manifests in a tree, found with one look at its files.
#[derive(Debug, Clone, Default)]
pub(crate) struct Manifests {
    files: Vec<PathBuf>,
}

impl Manifests {
    pub(crate) fn of(root: &Path) -> Self {
        let names = [&OF_PYTHON[..], &OF_GO[..], &OF_NODE[..]].concat();
        Self { files: all_named(root, &names, DEPTH) }
    }

    pub(crate) fn has_python(&self) -> bool {
        self.named(&OF_PYTHON).next().is_some()
    }

    pub(crate) fn of_go(&self) -> impl Iterator<Item = &PathBuf> {
        self.named(&OF_GO)
    }

    pub(crate) fn of_node(&self) -> impl Iterator<Item = &PathBuf> {
        self.named(&OF_NODE)
    }

    fn named<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = &'a PathBuf> {
        let is_it = |file: &&PathBuf| names.iter().any(|name| file.ends_with(name));
        self.files.iter().filter(is_it)
    }
}

/// The files of these names, to a depth below the root.
fn all_named(root: &Path, names: &[&str], depth: u32) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = MOST_ENTRIES;
    search(root, names, depth, &mut left, &mut found);
    found.sort();
    found
}

fn search(directory: &Path, names: &[&str], depth: u32, left: &mut u32, found: &mut Vec<PathBuf>) {
    let mut below = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let Some(fewer) = left.checked_sub(1) else { return };
        *left = fewer;
        let name = entry.file_name();
        let is = |known: &&str| name == **known;
        match entry.file_type() {
            Ok(kind) if kind.is_file() && names.iter().any(is) => found.push(entry.path()),
            Ok(kind) if kind.is_dir() && depth > 0 => {
                let is_hidden = name.as_encoded_bytes().starts_with(b".");
                below.extend((!is_hidden && !SKIPPED.iter().any(is)).then(|| entry.path()));
            }
            Ok(_) | Err(_) => {}
        }
    }
    for inner in below {
        search(&inner, names, depth - 1, left, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn installed_packages_and_deep_directories_are_not_searched() {
        let root = tempfile::tempdir().unwrap();
        for path in ["a/go.mod", "node_modules/b/go.mod", ".cache/go.mod", "1/2/3/go.mod", "1/2/3/4/go.mod"] {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let found = all_named(root.path(), &["go.mod", "go.work"], 3);
        assert_eq!(found, [root.path().join("1/2/3/go.mod"), root.path().join("a/go.mod")]);
        let manifests = Manifests::of(root.path());
        assert_eq!(manifests.of_go().collect::<Vec<_>>(), found.iter().collect::<Vec<_>>());
        assert!(!manifests.has_python());
    }
}
