//! Lines that silence a checker and were there already: in a file that was renamed, or in one that they were taken out of.
//!
//! Owns when a file goes on with another one, and which lines may move. A line that silences the rest of its file may not:
//! there it silences something else. Invariant: no line counts as moved that the change has more often than the base.

use std::collections::BTreeMap;

use crate::paths::extension;
use crate::tree::{Tree, text};
use crate::{Change, ChangeKind};

/// What the table says of text that silences a checker.
pub(crate) const SILENCES: &str = "silences a checker";
/// What silences more than the line it stands in, or the next one.
const WIDE: [&str; 14] = [
    "ruff: noqa",
    "flake8: noqa",
    "nocheck",
    "fmt: off",
    "fmt:off",
    "skip_file",
    "phpcs:",
    "#![",
    "luacheck:",
    "CHECKSTYLE",
    "mypy:",
    "typed: false",
    "#pragma",
    "_Pragma",
];
/// What silences the next line.
const NEXT: [&str; 7] =
    ["next-line", "@ts-ignore", "@ts-expect-error", "#[allow(", "#[expect(", "biome-ignore", "nolint"];

/// Two trees and what differs between them.
pub(crate) struct Moves<'a> {
    pub(crate) changes: &'a [Change],
    pub(crate) base: &'a dyn Tree,
    pub(crate) result: &'a dyn Tree,
}

impl Moves<'_> {
    /// What a file silenced already: its version at the base, the file that it goes on with, and the lines that moved into it.
    pub(crate) fn before(&self, path: &str, old: &str, new: &str) -> String {
        let mut before = old.to_string();
        if old.is_empty()
            && let Some(origin) = self.origin(path, new)
        {
            before.push_str(&origin);
            return before;
        }
        let (lost, all) = self.balance(path);
        let lines: Vec<&str> = new.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let is_moved = |line: &str| {
            lost.get(line).is_some_and(|lost| *lost > 0) && all.get(line).is_none_or(|more| *more <= 0)
        };
        for (at, line) in lines.iter().enumerate() {
            let next = lines.get(at + 1).copied().unwrap_or_default();
            if is_moved(line) && (is_of_line(line) || is_of_next(line) && is_moved(next)) {
                before.push_str(&format!("\n{line}"));
            }
        }
        before
    }

    /// How many of each line the other changed files lost, and how many more the whole change has.
    fn balance(&self, path: &str) -> (BTreeMap<String, i64>, BTreeMap<String, i64>) {
        let (mut lost, mut all) = (BTreeMap::new(), BTreeMap::new());
        let alike = self.changes.iter().filter(|change| extension(&change.path) == extension(path));
        for change in alike {
            for (tree, step) in [(self.base, -1), (self.result, 1)] {
                let content = text(tree, &change.path).unwrap_or_default();
                for line in content.lines().map(str::trim) {
                    *all.entry(line.to_string()).or_insert(0) += step;
                    if change.path != path {
                        *lost.entry(line.to_string()).or_insert(0) -= step;
                    }
                }
            }
        }
        (lost, all)
    }

    /// The text of the file that an added one goes on with: that file is gone, or next to nothing is left of it.
    fn origin(&self, path: &str, new: &str) -> Option<String> {
        let alike = self.changes.iter().filter(|change| extension(&change.path) == extension(path));
        let mut found = alike.filter(|change| change.path != path && change.kind != ChangeKind::Added);
        found.find_map(|change| {
            let content = text(self.base, &change.path)?;
            let left = text(self.result, &change.path).unwrap_or_default();
            let is_gone = common(&content, &left) * 4 < code(&content).len();
            (is_gone && is_renamed(&content, new) && !self.takes_more(&content, new, &change.path, path))
                .then_some(content)
        })
    }

    /// Whether a file also has lines of others than the one that it goes on with.
    fn takes_more(&self, origin: &str, new: &str, from: &str, path: &str) -> bool {
        let own = code(origin);
        let added: Vec<&str> = code(new).into_iter().filter(|line| !own.contains(line)).collect();
        let others = self.changes.iter().filter(|change| change.path != from && change.path != path);
        others
            .filter_map(|change| text(self.base, &change.path))
            .any(|content| code(&content).iter().any(|line| added.contains(line)))
    }
}

fn code(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| line.len() > 2).collect()
}

fn common(before: &str, now: &str) -> usize {
    let now = code(now);
    code(before).iter().filter(|line| now.contains(line)).count()
}

/// Whether most of a text is in another, and most of that in it.
fn is_renamed(before: &str, now: &str) -> bool {
    let (old, new) = (code(before).len(), code(now).len());
    let same = common(before, now);
    old > 0 && new > 0 && same * 20 >= (old + new) * 7
}

fn is_comment(line: &str) -> bool {
    ["#", "//", "/*", "*", "<!--", "--", ";"].iter().any(|mark| line.starts_with(mark))
}

/// Whether a line silences itself alone.
fn is_of_line(line: &str) -> bool {
    let is_wide = WIDE.iter().any(|word| line.contains(word));
    let is_rest = line.contains("-disable") && !line.contains("-line");
    !is_comment(line) && !is_wide && !is_rest
}

/// Whether a line silences only the next one.
fn is_of_next(line: &str) -> bool {
    NEXT.iter().any(|word| line.contains(word)) && !WIDE.iter().any(|word| line.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryTree;

    fn gained(base: &[(&str, &str)], result: &[(&str, &str)], path: &str, word: &str) -> bool {
        let (base, result) = (MemoryTree::new(base.iter().copied()), MemoryTree::new(result.iter().copied()));
        let mut changes = Vec::new();
        for file in base.files().iter().chain(result.files().iter().filter(|file| !base.is_file(file))) {
            let kind = match (base.is_file(file), result.is_file(file)) {
                (true, true) if base.read(file) == result.read(file) => continue,
                (true, true) => ChangeKind::Modified,
                (true, false) => ChangeKind::Deleted,
                (false, _) => ChangeKind::Added,
            };
            changes.push(Change { path: file.clone(), kind });
        }
        let moves = Moves { changes: &changes, base: &base, result: &result };
        let (old, new) = (text(&base, path).unwrap_or_default(), text(&result, path).unwrap_or_default());
        new.matches(word).count() > moves.before(path, &old, &new).matches(word).count()
    }

    #[test]
    fn files_may_be_renamed() {
        let old = "import os  # noqa: F401\n\n\ndef f():\n    return 1\n";
        for (name, base, result, path, word, expected) in [
            ("renamed", vec![("a.py", old)], vec![("b.py", old)], "b.py", "noqa", false),
            (
                "renamed with its rule for the file",
                vec![("a.js", "/* eslint-disable */\nconst y = 1;\n"), ("c.js", "let a;\n")],
                vec![("b.js", "/* eslint-disable */\nconst y = 1;\n")],
                "b.js",
                "eslint-disable",
                false,
            ),
            (
                "renamed, with the code of another file",
                vec![("a.js", "/* eslint-disable */\nconst y = 1;\nconst z = 1;\n"), ("c.js", "let bad;\n")],
                vec![("b.js", "/* eslint-disable */\nconst y = 1;\nconst z = 1;\nlet bad;\n")],
                "b.js",
                "eslint-disable",
                true,
            ),
        ] {
            assert_eq!(gained(&base, &result, path, word), expected, "{name}");
        }
    }

    #[test]
    fn lines_may_move() {
        let old = "import os  # noqa: F401\n\n\ndef f():\n    return 1\n";
        let line = "import weird  # type: ignore\n";
        let bad = "x: int = ''\n";
        for (name, base, result, path, word, expected) in [
            ("copied", vec![("a.py", old)], vec![("a.py", old), ("b.py", old)], "b.py", "noqa", true),
            (
                "a line that moved",
                vec![("a.py", "import weird  # type: ignore\nx = 1\ny = 2\nz = 3\n")],
                vec![("a.py", "x = 1\ny = 2\nz = 3\n"), ("b.py", line)],
                "b.py",
                "type: ignore",
                false,
            ),
            (
                "a line and the next",
                vec![("a.ts", "// @ts-ignore\nf(1);\nlet a;\n"), ("b.ts", "let b;\n")],
                vec![("a.ts", "let a;\n"), ("b.ts", "let b;\n// @ts-ignore\nf(1);\n")],
                "b.ts",
                "@ts-ignore",
                false,
            ),
            (
                "before another line",
                vec![("a.ts", "// @ts-ignore\nf(1);\nlet a;\n"), ("b.ts", "let b = bad();\n")],
                vec![("a.ts", "f(1);\nlet a;\n"), ("b.ts", "// @ts-ignore\nlet b = bad();\n")],
                "b.ts",
                "@ts-ignore",
                true,
            ),
            (
                "a line that is twice there now",
                vec![("a.py", line)],
                vec![("b.py", line), ("c.py", "import weird  # type: ignore\nx = 1\ny = 1\nz = 1\n")],
                "c.py",
                "type: ignore",
                true,
            ),
            (
                "a rule for the file that moved",
                vec![("a.js", "/* eslint-disable */\nconst y = 1;\nlet a;\n"), ("b.js", bad)],
                vec![("a.js", "const y = 1;\nlet a;\n"), ("b.js", "/* eslint-disable */\nx: int = ''\n")],
                "b.js",
                "eslint-disable",
                true,
            ),
            (
                "new",
                vec![("a.py", bad)],
                vec![("a.py", "x: int = ''  # type: ignore\n")],
                "a.py",
                "type: ignore",
                true,
            ),
        ] {
            assert_eq!(gained(&base, &result, path, word), expected, "{name}");
        }
    }
}
