//! Which paths lead into the user's working tree, and where the same files are in a slot.
//!
//! Owns the comparison: by the words of a path and by what its links lead to. Refuses to move what is installed there
//! rather than written there (virtual environments, `node_modules`), and repositories within the repository. Invariant:
//! a path inside the slot is never one of the working tree.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Directories of packages of others.
const INSTALLED: [&str; 3] = ["node_modules", "site-packages", "dist-packages"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TreePaths {
    /// The working tree as it was named and as its links lead; empty where it cannot be told from the rest of the disk.
    roots: Vec<PathBuf>,
    slot: PathBuf,
    canonical_slot: PathBuf,
}

impl TreePaths {
    pub(crate) fn new(repository: &Path, slot: &Path) -> Self {
        let mut roots = vec![repository.to_path_buf()];
        roots.extend(repository.canonicalize().ok().filter(|canonical| canonical != repository));
        roots.retain(|root| root.is_absolute() && root.parent().is_some());
        let canonical_slot = slot.canonicalize().unwrap_or_else(|_| slot.to_path_buf());
        Self { roots, slot: slot.to_path_buf(), canonical_slot }
    }

    pub(crate) fn slot(&self) -> &Path {
        &self.slot
    }

    /// The path below the root of the working tree, if it is a path of the working tree.
    pub(crate) fn inside(&self, path: &Path) -> Option<PathBuf> {
        let canonical = || path.canonicalize().ok();
        let below = self.lexically_inside(path).or_else(|| self.lexically_inside(&canonical()?))?;
        (!self.is_of_nested_repository(&below)).then_some(below)
    }

    fn lexically_inside(&self, path: &Path) -> Option<PathBuf> {
        if path.starts_with(&self.slot) || path.starts_with(&self.canonical_slot) {
            return None;
        }
        self.roots.iter().find_map(|root| path.strip_prefix(root).ok()).map(Path::to_path_buf)
    }

    fn is_of_nested_repository(&self, below: &Path) -> bool {
        let Some(root) = self.roots.first() else { return false };
        let between = below.ancestors().filter(|between| !between.as_os_str().is_empty());
        between.map(|between| root.join(between).join(".git")).any(|git| git.exists())
    }

    /// Whether it was installed into the working tree rather than written there.
    pub(crate) fn is_installed(&self, below: &Path) -> bool {
        let is_known = |part: &OsStr| INSTALLED.iter().any(|known| part == *known);
        let is_environment = |between: &Path| {
            let mut roots = self.roots.iter();
            !between.as_os_str().is_empty()
                && roots.any(|root| root.join(between).join("pyvenv.cfg").is_file())
        };
        below.iter().any(is_known) || below.ancestors().any(is_environment)
    }

    /// The same path in the slot, for a path of the working tree. What is installed there is left where it is, unless
    /// the slot has its own.
    pub(crate) fn in_slot(&self, path: &Path) -> Option<PathBuf> {
        let below = self.inside(path)?;
        let moved = self.joined(&below);
        (moved.symlink_metadata().is_ok() || !self.is_installed(&below)).then_some(moved)
    }

    fn joined(&self, below: &Path) -> PathBuf {
        // Joining nothing would add a slash.
        if below.as_os_str().is_empty() { self.slot.clone() } else { self.slot.join(below) }
    }

    /// A list of paths such as `PYTHONPATH`, with those of the working tree moved to the slot. Relative ones stay.
    pub(crate) fn list_in_slot(&self, list: &OsStr) -> OsString {
        let moved = std::env::split_paths(list)
            .map(|path| if path.is_absolute() { self.in_slot(&path).unwrap_or(path) } else { path });
        std::env::join_paths(moved).unwrap_or_else(|_| list.to_os_string())
    }

    /// The line, from 1, in which a text names the working tree by its absolute path. Comments do not count.
    pub(crate) fn line_that_names_tree(&self, text: &str) -> Option<usize> {
        let is_comment = |line: &str| {
            let line = line.trim_start();
            (line.starts_with('#') && !line.starts_with("#!")) || line.starts_with("//")
        };
        let names = |line: &str| !is_comment(line) && self.occurrences(line).next().is_some();
        text.lines().position(names).map(|line| line + 1)
    }

    /// A command line with the paths of the working tree that it names moved to the slot.
    pub(crate) fn command_in_slot(&self, command: &str) -> CommandInSlot {
        let mut moved = String::with_capacity(command.len());
        let mut copied = 0;
        for (start, path) in self.occurrences(command) {
            let Some(in_slot) = self.in_slot(Path::new(path)) else { continue };
            let in_slot = in_slot.to_string_lossy();
            if !in_slot.chars().all(is_plain) {
                return CommandInSlot::CannotBeWritten;
            }
            moved.push_str(command.get(copied..start).unwrap_or_default());
            moved.push_str(&in_slot);
            copied = start + path.len();
        }
        if copied == 0 {
            return CommandInSlot::Unchanged;
        }
        moved.push_str(command.get(copied..).unwrap_or_default());
        CommandInSlot::Moved(moved)
    }

    /// Where a text names the root of the working tree or a path below it.
    fn occurrences<'a>(&self, text: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
        let mut found: Vec<(usize, &str)> = Vec::new();
        for root in self.roots.iter().filter_map(|root| root.to_str()) {
            for (start, _) in text.match_indices(root) {
                let before = text.get(..start).and_then(|before| before.chars().next_back());
                let rest = text.get(start + root.len()..).unwrap_or_default();
                let ends = rest.chars().next().is_none_or(|next| next == '/' || !is_path_character(next));
                let begins = before.is_none_or(|before| !is_path_character(before) && before != '/');
                if begins && ends {
                    let length = rest.find(|next| !is_path_character(next) && next != '/');
                    let end = start + root.len() + length.unwrap_or(rest.len());
                    found.extend(text.get(start..end).map(|path| (start, path)));
                }
            }
        }
        found.sort_unstable();
        found.dedup_by_key(|(start, _)| *start);
        found.retain(|(_, path)| self.lexically_inside(Path::new(path)).is_some());
        found.into_iter()
    }
}

/// What a command line is in a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CommandInSlot {
    Unchanged,
    Moved(String),
    /// The path of the slot means something to a shell.
    CannotBeWritten,
}

fn is_path_character(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-' | '.' | '+' | '@' | '%' | '~')
}

fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '/' | '_' | '-' | '.' | '+' | '@' | '%')
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A working tree `r` beside a slot `s`.
    fn trees() -> (tempfile::TempDir, TreePaths) {
        let root = tempfile::tempdir().unwrap();
        for directory in [
            "r/src",
            "r/.venv/bin",
            "r/venv2/bin",
            "r/node_modules/.bin",
            "r/other/.git",
            "s/src",
            "s/venv2/bin",
        ] {
            fs::create_dir_all(root.path().join(directory)).unwrap();
        }
        fs::write(root.path().join("r/.venv/pyvenv.cfg"), "").unwrap();
        fs::write(root.path().join("r/venv2/pyvenv.cfg"), "").unwrap();
        std::os::unix::fs::symlink(root.path().join("r"), root.path().join("alias")).unwrap();
        let paths = TreePaths::new(&root.path().join("r"), &root.path().join("s"));
        (root, paths)
    }

    #[test]
    fn paths_of_the_working_tree_are_moved_and_others_are_not() {
        let (root, paths) = trees();
        let table = [
            ("r", Some("s")),
            ("r/src", Some("s/src")),
            ("r/gone/x.py", Some("s/gone/x.py")),
            ("alias/src", Some("s/src")),
            ("rr/src", None),
            ("s/src", None),
            ("r/other/src", None),
            ("r/.venv/bin", None),
            ("r/venv2/bin", Some("s/venv2/bin")),
            ("r/node_modules/.bin", None),
        ];
        for (path, expected) in table {
            let moved = paths.in_slot(&root.path().join(path));
            assert_eq!(moved, expected.map(|path| root.path().join(path)), "{path}");
        }
    }

    #[test]
    fn lists_keep_their_order_and_their_relative_entries() {
        let (root, paths) = trees();
        let at = root.path().display();
        let list = OsString::from(format!("src:{at}/r/src::/usr/x:{at}/r"));
        assert_eq!(paths.list_in_slot(&list), *format!("src:{at}/s/src::/usr/x:{at}/s"));
    }

    #[test]
    fn commands_name_the_slot_instead() {
        let (root, paths) = trees();
        let at = root.path().display().to_string();
        let table = [
            ("cd @/r && pytest", Some("cd @/s && pytest")),
            ("cd \"@/r\"; x", Some("cd \"@/s\"; x")),
            ("pytest @/r/tests --root=@/r/src", Some("pytest @/s/tests --root=@/s/src")),
            ("A=@/r:@/r/src x", Some("A=@/s:@/s/src x")),
            ("cd @/rr && pytest", None),
            ("cd @/r-old && pytest", None),
            ("cat /x@/r", None),
            ("@/r/.venv/bin/pytest", None),
            ("@/r/.venv/bin/pytest @/r/tests", Some("@/r/.venv/bin/pytest @/s/tests")),
            ("cd @/s && pytest", None),
        ];
        for (command, expected) in table {
            let moved = paths.command_in_slot(&command.replace('@', &at));
            let expected = expected.map(|text| CommandInSlot::Moved(text.replace('@', &at)));
            assert_eq!(moved, expected.unwrap_or(CommandInSlot::Unchanged), "{command}");
        }
        let odd = TreePaths::new(&root.path().join("r"), &root.path().join("s $x"));
        assert_eq!(odd.command_in_slot(&format!("cd {at}/r")), CommandInSlot::CannotBeWritten);
    }

    #[test]
    fn comments_name_nothing() {
        let (root, paths) = trees();
        let at = root.path().display();
        assert_eq!(paths.line_that_names_tree(&format!("a\n# {at}/r\n  // {at}/r\n")), None);
        assert_eq!(paths.line_that_names_tree(&format!("a\ncd {at}/r\n")), Some(2));
        assert_eq!(paths.line_that_names_tree(&format!("cd {at}/rest\n")), None);
    }

    #[test]
    fn without_a_repository_nothing_is_inside() {
        for root in ["", "/", "relative"] {
            let paths = TreePaths::new(Path::new(root), Path::new("/slot"));
            assert_eq!(paths.in_slot(Path::new("/usr/lib")), None, "{root}");
        }
    }
}
