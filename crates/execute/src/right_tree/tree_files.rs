//! Finds files by name in a working tree, without looking into what is installed or built there.

use std::fs;
use std::path::{Path, PathBuf};

/// Directories of packages of others and of build output.
const SKIPPED: [&str; 8] =
    ["node_modules", "target", "vendor", "dist", "build", "venv", "site-packages", "__pycache__"];
/// Entries that are looked at; a larger tree is searched in part.
const MOST_ENTRIES: u32 = 20_000;

/// The files of these names, to a depth below the root.
pub(crate) fn all_named(root: &Path, names: &[&str], depth: u32) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = MOST_ENTRIES;
    search(root, names, depth, &mut left, &mut |path| {
        found.push(path);
        Search::GoOn
    });
    found.sort();
    found
}

pub(crate) fn any_named(root: &Path, names: &[&str], depth: u32) -> bool {
    let mut is_found = false;
    let mut left = MOST_ENTRIES;
    search(root, names, depth, &mut left, &mut |_| {
        is_found = true;
        Search::Stop
    });
    is_found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Search {
    GoOn,
    Stop,
}

fn search(
    directory: &Path,
    names: &[&str],
    depth: u32,
    left: &mut u32,
    on_found: &mut dyn FnMut(PathBuf) -> Search,
) -> Search {
    let mut below = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let Some(fewer) = left.checked_sub(1) else { return Search::Stop };
        *left = fewer;
        let name = entry.file_name();
        let is = |known: &&str| name == **known;
        match entry.file_type() {
            Ok(kind) if kind.is_file() && names.iter().any(is) => {
                if on_found(entry.path()) == Search::Stop {
                    return Search::Stop;
                }
            }
            Ok(kind) if kind.is_dir() && depth > 0 => {
                let is_hidden = name.as_encoded_bytes().starts_with(b".");
                below.extend((!is_hidden && !SKIPPED.iter().any(is)).then(|| entry.path()));
            }
            Ok(_) | Err(_) => {}
        }
    }
    for inner in below {
        if search(&inner, names, depth - 1, left, on_found) == Search::Stop {
            return Search::Stop;
        }
    }
    Search::GoOn
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
        assert!(any_named(root.path(), &["go.mod"], 1));
        assert!(!any_named(root.path(), &["go.mod"], 0));
    }
}
