//! One reader for each runner, and what they share.
//!
//! A reader takes lines in order and hands in what it reads. It owns the runner's format and nothing else: bounds,
//! fingerprints and the choice of reader are elsewhere. Readers are tested on recorded output of the real tools, in
//! `tests/recorded.rs`.

pub(crate) mod diagnostics;
pub(crate) mod eslint;
pub(crate) mod go;
pub(crate) mod go_json;
pub(crate) mod javascript;
pub(crate) mod jest;
pub(crate) mod junit;
pub(crate) mod libtest;
pub(crate) mod libtest_json;
pub(crate) mod mocha;
pub(crate) mod nextest;
pub(crate) mod node;
pub(crate) mod panic;
pub(crate) mod pytest;
pub(crate) mod python;
pub(crate) mod rustc;
pub(crate) mod rustc_json;
pub(crate) mod tap;
pub(crate) mod unittest;
pub(crate) mod vitest;

use std::fmt;

use crate::collector::Collector;
use crate::report::Runner;

/// What a reader did with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Took it, and wants the next.
    Taken,
    /// Took it, and is done.
    Ended,
    /// It is not for this reader, which is done and has handed in everything.
    Refused,
}

/// Reads what one runner prints.
pub(crate) trait Read: fmt::Debug {
    /// Takes a line.
    fn line(&mut self, line: &str, out: &mut Collector) -> Step;
    /// Hands in what is left; there are no more lines.
    fn finish(&mut self, out: &mut Collector);
}

/// A reader at work.
#[derive(Debug)]
pub(crate) struct Reader {
    runner: Runner,
    read: Box<dyn Read>,
}

impl Reader {
    /// A reader of a runner's output.
    pub(crate) fn new(runner: Runner, read: impl Read + 'static) -> Self {
        Self { runner, read: Box::new(read) }
    }

    /// Whose output it reads.
    pub(crate) fn runner(&self) -> Runner {
        self.runner
    }

    /// Takes a line.
    pub(crate) fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        self.read.line(line, out)
    }

    /// Hands in what is left.
    pub(crate) fn finish(&mut self, out: &mut Collector) {
        self.read.finish(out);
    }
}

/// The number before a word in a summary, as in `1 failed, 3 passed in 0.1s`; nothing where the word is not there.
pub(crate) fn count_of(summary: &str, word: &str) -> Option<u64> {
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

/// A place written as `file:line` or `file:line:column`, with whatever stands behind it.
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

/// How far a line is indented.
pub(crate) fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// A name without the duration some runners print behind it: `(1.9ms)`, `(4 ms)` or `16ms`.
pub(crate) fn without_duration(name: &str) -> &str {
    let name = name.trim();
    let is_duration = |text: &str| {
        let number =
            text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == 'µ' || c == 'μ').trim_end();
        number.len() < text.len()
            && !number.is_empty()
            && number.bytes().all(|b| b.is_ascii_digit() || b == b'.')
    };
    if let Some((before, inside)) = name.strip_suffix(')').and_then(|rest| rest.rsplit_once(" ("))
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
