//! One reader for each runner, and what they share.
//!
//! A reader reads lines in order and reports what it finds. It owns the runner's format and nothing else: bounds,
//! fingerprints and the choice of reader are elsewhere. Readers are tested on recorded output of the real tools, in
//! `tests/recorded.rs`.

pub(crate) mod ava;
pub(crate) mod behave;
pub(crate) mod biome;
pub(crate) mod bun;
pub(crate) mod catch2;
pub(crate) mod ctest;
pub(crate) mod deno;
pub(crate) mod diagnostics;
pub(crate) mod doctest;
pub(crate) mod dotnet;
pub(crate) mod eslint;
pub(crate) mod exunit;
pub(crate) mod go;
pub(crate) mod go_json;
pub(crate) mod googletest;
pub(crate) mod gradle;
pub(crate) mod jasmine;
pub(crate) mod java;
pub(crate) mod javac;
pub(crate) mod javascript;
pub(crate) mod jest;
pub(crate) mod junit;
pub(crate) mod junit_console;
pub(crate) mod libtest;
pub(crate) mod libtest_json;
pub(crate) mod maven;
pub(crate) mod mocha;
pub(crate) mod nextest;
pub(crate) mod node;
pub(crate) mod panic;
pub(crate) mod phpunit;
pub(crate) mod playwright;
pub(crate) mod pyright;
pub(crate) mod pytest;
pub(crate) mod python;
pub(crate) mod robot;
pub(crate) mod ruby;
pub(crate) mod ruff;
pub(crate) mod rustc;
pub(crate) mod rustc_json;
pub(crate) mod shellcheck;
pub(crate) mod tap;
pub(crate) mod unittest;
pub(crate) mod vitest;

use std::fmt;

use crate::collector::Collector;
use crate::report::Runner;
use crate::search::Search;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Accepted, and wants the next line.
    Taken,
    /// Accepted, and done.
    Ended,
    /// Not for this reader, which is done and has reported everything.
    Refused,
}

/// Reads the output of one runner.
pub(crate) trait Read: fmt::Debug {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step;
    /// Reports what is left at the end of the output.
    fn finish(&mut self, out: &mut Collector);
}

#[derive(Debug)]
pub(crate) struct Reader {
    pub(crate) runner: Runner,
    pub(crate) read: Box<dyn Read>,
}

impl Reader {
    pub(crate) fn new(runner: Runner, read: impl Read + 'static) -> Self {
        Self { runner, read: Box::new(read) }
    }
}

/// The path of the next test in a tree of results: its file, if that is part of the name, and its groups.
#[derive(Debug, Default)]
pub(crate) struct TreePath {
    pub(crate) file: String,
    /// With their indentation.
    pub(crate) groups: Vec<(usize, String)>,
}

/// How a runner marks the results in its tree.
#[derive(Debug)]
pub(crate) struct TreeMarks {
    pub(crate) passed: [&'static str; 2],
    pub(crate) skipped: &'static [&'static str],
    pub(crate) is_failed: fn(&str) -> bool,
}

impl TreePath {
    /// Leaves the groups that end before a line of this indentation.
    pub(crate) fn leave(&mut self, depth: usize) {
        self.groups.retain(|(indented, _)| *indented < depth);
    }

    pub(crate) fn enter(&mut self, depth: usize, name: &str) {
        self.leave(depth);
        self.groups.push((depth, name.to_string()));
    }

    pub(crate) fn test(&self, name: &str) -> String {
        let file = Some(self.file.as_str()).filter(|file| !file.is_empty());
        let groups = self.groups.iter().map(|(_, group)| group.as_str());
        file.into_iter().chain(groups).chain([name]).collect::<Vec<_>>().join(" > ")
    }

    /// Reads a line of the tree: a group, or a test with its mark.
    pub(crate) fn read(&mut self, line: &str, marks: &TreeMarks, out: &mut Collector) {
        let (depth, text) = (indentation(line), line.trim());
        if depth < 2 || text.is_empty() {
            return;
        }
        self.leave(depth);
        let marked = |marks: &[&str]| marks.iter().find_map(|mark| text.strip_prefix(mark));
        if let Some(name) = marked(&marks.passed) {
            out.passed(None, &self.test(without_duration(name)));
        } else if let Some(name) = marked(marks.skipped) {
            out.skipped(None, &self.test(name));
        } else if !(marks.is_failed)(text) {
            self.enter(depth, text);
        }
    }
}

/// The number before a word in a summary, as in `1 failed, 3 passed in 0.1s`.
pub(crate) fn count_of(summary: &str, word: &str) -> Option<u64> {
    if !summary.has(word) {
        return None;
    }
    let mut words = summary.split([' ', ',', ';', '|', '(', ')']).filter(|part| !part.is_empty());
    let mut before = words.next()?;
    for part in words {
        if part == word {
            return before.parse().ok();
        }
        before = part;
    }
    None
}

/// A position written as `file:line` or `file:line:column`, and what follows it.
pub(crate) fn place(text: &str) -> Option<(&str, u32, &str)> {
    let mut from = 0;
    // A colon may be part of the path, as in `C:\x` and `node:internal`.
    while let Some(colon) = text.get(from..)?.find(':').map(|at| at + from) {
        let behind = text.get(colon + 1..)?;
        let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
        if let Ok(line) = behind.get(..digits)?.parse() {
            let mut rest = behind.get(digits..)?;
            if let Some(column) = rest.strip_prefix(':') {
                let digits = column.bytes().take_while(u8::is_ascii_digit).count();
                if digits > 0 {
                    rest = column.get(digits..)?;
                }
            }
            return Some((text.get(..colon)?, line, rest));
        }
        from = colon + 1;
    }
    None
}

/// What follows `3) `.
pub(crate) fn numbered(text: &str) -> Option<&str> {
    let (number, title) = text.cut(") ")?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(title)
}

pub(crate) fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// A name without the duration some runners print after it: `(1.9ms)`, `(4 ms)` or `16ms`.
pub(crate) fn without_duration(name: &str) -> &str {
    let name = name.trim();
    let is_duration = |text: &str| {
        let number =
            text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == 'µ' || c == 'μ').trim_end();
        number.len() < text.len()
            && !number.is_empty()
            && number.bytes().all(|b| b.is_ascii_digit() || b == b'.')
    };
    if let Some((before, inside)) = name.strip_suffix(')').and_then(|rest| rest.cut_last(" ("))
        && is_duration(inside)
    {
        return before.trim_end();
    }
    match name.rsplit_once(' ') {
        Some((before, last)) if is_duration(last) => before.trim_end(),
        Some(_) | None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_behind_colons_that_belong_to_paths() {
        let table = [
            ("src/lib.rs:40:9:", Some(("src/lib.rs", 40, ":"))),
            ("C:\\x\\main.c:3: error", Some(("C:\\x\\main.c", 3, ": error"))),
            ("node:internal/modules:12:5", Some(("node:internal/modules", 12, ""))),
            ("no place", None),
            ("time: 3", None),
        ];
        for (text, expected) in table {
            assert_eq!(place(text), expected, "{text}");
        }
    }

    #[test]
    fn counts_stand_before_their_word() {
        let table = [
            ("1 failed, 3 passed in 0.12s", Some(3)),
            ("12 skipped, 1 passed, 13 total", Some(1)),
            ("1 failed | 4 passed (5)", Some(4)),
            ("ok. 3 passed; 0 failed; 1 ignored", Some(3)),
            ("2 tests run: 2 passed (1 slow), 0 skipped", Some(2)),
            ("3 failed", None),
            ("passed", None),
            ("99999999999999999999999 passed", None),
        ];
        for (summary, expected) in table {
            assert_eq!(count_of(summary, "passed"), expected, "{summary}");
        }
    }

    #[test]
    fn durations_behind_names_go() {
        let table = [
            ("passes (4 ms)", "passes"),
            ("passes (1.919813ms)", "passes"),
            ("equal 16ms", "equal"),
            ("sums 3", "sums 3"),
            ("adds (twice)", "adds (twice)"),
        ];
        for (name, expected) in table {
            assert_eq!(without_duration(name), expected);
        }
    }
}
