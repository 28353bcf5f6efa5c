//! Tells failures of the environment from failures of the code, by their texts.
//!
//! Owns how a row of the table is compared with a line. A failed assertion is never a failure of the environment, whatever
//! it says. Invariant: a report has an environment problem only if every failing test, or every compile error, is one; of
//! an output in which no test and no place is named, one line is enough.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use fixpoint_vocabulary::{EnvironmentCause, EnvironmentProblem};

use crate::fingerprint::FingerprintParts;
use crate::general::is_of_linter;
use crate::report::{Kind, Runner};
use crate::search::Search;

const TABLE: &str = include_str!("../data/environment.txt");
const PYTHON_PACKAGES: &str = include_str!("../data/python_packages.txt");
/// Failures that are compared with the table.
const MOST_FAILURES: usize = 200;
/// Bytes of what is missing.
const LONGEST_SUBJECT: usize = 100;
const LONGEST_LINE: usize = 300;

/// Words of comparisons: what stands beside them was expected or seen by a test.
const COMPARISONS: [&str; 11] = [
    "assert",
    "Assert",
    "want ",
    " expected",
    "Expected",
    "Received",
    "should",
    " == ",
    " != ",
    "toBe",
    "+ '",
];

/// The problem that explains these failures, if all of them are of the environment. `unread` stood in a line that belongs
/// to none of them.
pub(crate) fn problem(
    failures: &[FingerprintParts],
    unread: Option<EnvironmentProblem>,
) -> Option<EnvironmentProblem> {
    if failures.is_empty() {
        return None;
    }
    // What names no test and no rule only tells of something that went wrong.
    let is_unnamed = |draft: &FingerprintParts| {
        let is_remark = draft.runner == Runner::Linter && !is_of_linter(&draft.message);
        is_remark || draft.runner == Runner::Generic && draft.test.is_none()
    };
    if failures.iter().all(is_unnamed) {
        return unread.or_else(|| failures.iter().take(MOST_FAILURES).find_map(problem_of));
    }
    if failures.len() > MOST_FAILURES {
        return None;
    }
    let mut problems = Vec::new();
    for draft in failures {
        problems.push(problem_of(draft)?);
    }
    problems.into_iter().next()
}

/// What the environment of a failed command lacks, by all that it printed. The last line that names something counts, since
/// that is what ended the command.
pub fn environment_problem(output: &str) -> Option<EnvironmentProblem> {
    output.lines().rev().filter(|line| is_suspect(line)).find_map(|line| in_line(line.trim()))
}

fn problem_of(draft: &FingerprintParts) -> Option<EnvironmentProblem> {
    if draft.kind == Kind::Assertion && draft.runner != Runner::GoTest {
        return None;
    }
    draft.message.lines().find_map(|line| in_line(line.trim()))
}

/// Whether a line may be one of the table. Nearly every line of a long output comes by here, and nearly none is meant.
pub(crate) fn is_suspect(line: &str) -> bool {
    static TEXTS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(literals()).ok());
    TEXTS.as_ref().is_some_and(|texts| texts.is_match(line))
}

/// Texts of which every line of the table contains one.
pub(crate) fn literals() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(Row::literal)
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    TABLE.lines().filter(|row| !row.is_empty() && !row.starts_with('#')).filter_map(Row::read).collect()
});

/// The package that installs a module of Python, which may have another name.
pub fn python_package(module: &str) -> &str {
    let mut rows = PYTHON_PACKAGES.lines().filter_map(|row| row.split_once('\t'));
    rows.find(|(known, _)| *known == module).map_or(module, |(_, package)| package)
}

/// The problem that a line tells of.
pub(crate) fn in_line(line: &str) -> Option<EnvironmentProblem> {
    if line.is_empty() || COMPARISONS.iter().any(|word| line.contains(word)) {
        return None;
    }
    ROWS.iter().find_map(|row| row.problem(line))
}

#[derive(Debug)]
struct Row {
    cause: EnvironmentCause,
    text: &'static str,
    subject: Option<&'static str>,
    example: Option<&'static str>,
}

impl Row {
    fn read(row: &'static str) -> Option<Self> {
        let mut columns = row.split('\t');
        let (cause, text) = (columns.next()?, columns.next()?);
        let mut column = || columns.next().filter(|column| !column.is_empty());
        let cause = EnvironmentCause::ALL.into_iter().find(|known| known.name() == cause)?;
        Some(Self { cause, text, subject: column(), example: column() })
    }

    /// The longest text that every line of this row contains. It is never empty, or every line would be suspect.
    fn literal(&self) -> &'static str {
        let (before, rest) = self.text.split_once('{').unwrap_or((self.text, ""));
        let before = if rest.is_empty() { before } else { before.strip_prefix('#').unwrap_or(before) };
        let after = rest.split_once('}').map_or("", |(_, after)| after);
        if after.len() > before.len() { after } else { before }
    }

    fn problem(&self, line: &str) -> Option<EnvironmentProblem> {
        let found = match self.text.split_once('{') {
            Some((before, rest)) => {
                let (form, after) = rest.split_once('}')?;
                Some(between(line, before, form, after)?)
            }
            None => line.contains(self.text).then_some(None)?,
        };
        let subject = self.subject.map(str::to_string).or(found);
        let name = subject.as_deref().unwrap_or_default();
        let example = self.example.map(|example| {
            let installs = if example.starts_with("pip ") { python_package(name) } else { name };
            example.replace("{}", installs)
        });
        let said = line.get(..line.floor_char_boundary(LONGEST_LINE)).unwrap_or(line).to_string();
        Some(EnvironmentProblem { cause: self.cause, subject, example, said })
    }
}

/// What stands between two texts, if it has a form.
fn between(line: &str, before: &str, form: &str, after: &str) -> Option<String> {
    if before.is_empty() {
        let end = line.find(after)?;
        let word = line.get(..end)?.rsplit([' ', '(', ':', '`', '\'', '"']).find(|word| !word.is_empty())?;
        return subject(word, form);
    }
    let (number, before) = match before.strip_prefix('#') {
        Some(rest) => (true, rest),
        None => (false, before),
    };
    line.match_indices(before).find_map(|(at, _)| {
        let is_counted = line.get(..at)?.ends_with(|letter: char| letter.is_ascii_digit());
        let rest = line.get(at + before.len()..)?;
        let end = if after.is_empty() {
            rest.find([' ', ',', ';', '\'', '"', ')']).unwrap_or(rest.len())
        } else {
            rest.find(after)?
        };
        let found = rest.get(..end)?;
        if number && !is_counted { None } else { subject(found, form) }
    })
}

fn subject(found: &str, form: &str) -> Option<String> {
    let found = found.trim().trim_end_matches(['.', ':', ',']);
    let is_of = |allowed: &str| {
        found.chars().all(|letter| letter.is_ascii_alphanumeric() || allowed.contains(letter))
    };
    let fits = match form {
        "word" => is_of("_-+"),
        // Of a module that is missing as a whole, only the first part is named.
        "module" => is_of("_"),
        "package" => is_of("_.-@/") && !found.starts_with(['.', '/']),
        "header" => is_header(found),
        "CAPITALS" => {
            found.len() > 2
                && found
                    .chars()
                    .all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_')
                && found.starts_with(|letter: char| letter.is_ascii_uppercase())
        }
        _ => !found.has(": "),
    };
    (fits && !found.is_empty() && found.len() <= LONGEST_SUBJECT).then(|| found.to_string())
}

/// A header that no project has of its own.
fn is_header(name: &str) -> bool {
    const HEADERS: [&str; 18] = [
        "Python.h",
        "zlib.h",
        "uv.h",
        "ffi.h",
        "sqlite3.h",
        "libpq-fe.h",
        "mysql.h",
        "png.h",
        "jpeglib.h",
        "yaml.h",
        "expat.h",
        "bzlib.h",
        "lzma.h",
        "ruby.h",
        "jni.h",
        "gmp.h",
        "ncurses.h",
        "zstd.h",
    ];
    const DIRECTORIES: [&str; 12] = [
        "openssl/",
        "curl/",
        "libxml2/",
        "libxml/",
        "boost/",
        "gtest/",
        "readline/",
        "X11/",
        "GL/",
        "SDL2/",
        "sys/",
        "glib-2.0/",
    ];
    HEADERS.contains(&name) || DIRECTORIES.iter().any(|directory| name.starts_with(directory))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_is_read() {
        let rows: Vec<&str> = TABLE.lines().filter(|row| !row.starts_with('#')).collect();
        let unread: Vec<&&str> = rows.iter().filter(|row| Row::read(row).is_none()).collect();
        assert!(rows.len() > 150 && unread.is_empty(), "{unread:?}");
    }

    /// Catches a row whose text is taken apart wrongly: an empty text is part of every line.
    #[test]
    fn ordinary_lines_are_not_suspect() {
        let shortest = ROWS.iter().map(Row::literal).min_by_key(|text| text.len());
        assert_eq!(shortest, Some("EROFS"));
        assert!(!is_suspect("2026-11-16T02:35:00Z INFO worker-1: handled request 17 of 10.0.0.9 in 3ms"));
        assert!(is_suspect("sh: 1: ffmpeg: not found"));
    }

    #[test]
    fn the_last_line_that_names_something_counts() {
        let found = environment_problem("sh: 1: a: not found\nsh: 1: b: not found\nbye\n");
        assert_eq!(found.and_then(|found| found.subject).as_deref(), Some("b"));
        assert_eq!(environment_problem("page: not found\n1 failed\n"), None);
    }

    #[test]
    fn a_module_is_installed_by_its_package() {
        let rows = [("yaml", "pip install pyyaml"), ("numpy", "pip install numpy")];
        for (module, expected) in rows {
            let found = environment_problem(&format!("ModuleNotFoundError: No module named '{module}'"));
            assert_eq!(found.and_then(|found| found.example).as_deref(), Some(expected));
        }
    }

    #[test]
    fn lines_say_what_is_missing() {
        let rows = [
            ("sh: 1: ffmpeg: not found", Some(("program_missing", Some("ffmpeg")))),
            ("sh: pnpm: not found", Some(("program_missing", Some("pnpm")))),
            ("./gradlew: line 12: java: command not found", Some(("program_missing", Some("java")))),
            (
                "error: command 'gcc' failed: No such file or directory",
                Some(("program_missing", Some("gcc"))),
            ),
            ("/x/python: No module named pytest", Some(("module_missing", Some("pytest")))),
            ("cannot load such file -- bundler (LoadError)", Some(("module_missing", Some("bundler")))),
            ("page: not found", None),
            ("bash: line 1: ffmpeg: command not found", Some(("program_missing", Some("ffmpeg")))),
            ("E   ModuleNotFoundError: No module named 'yaml'", Some(("module_missing", Some("yaml")))),
            ("E   ModuleNotFoundError: No module named 'shop.discounts'", None),
            ("Error: Cannot find module 'express'", Some(("module_missing", Some("express")))),
            ("Error: Cannot find module './local'", None),
            ("Error: Cannot find module '/w/server.js'", None),
            ("FileNotFoundError: [Errno 2] No such file or directory: 'data.csv'", None),
            ("Error: connect ECONNREFUSED 127.0.0.1:5432", Some(("network", Some("127.0.0.1:5432")))),
            (
                "Error: listen EADDRINUSE: address already in use :::3000",
                Some(("port_in_use", Some(":::3000"))),
            ),
            ("JAVA_HOME is not set", Some(("variable_unset", Some("JAVA_HOME")))),
            ("write error: No space left on device", Some(("disk_full", None))),
            ("check(guest) = \"allowed\", want \"permission denied\"", None),
            ("everything is fine", None),
        ];
        for (line, expected) in rows {
            let found = in_line(line);
            let found = found.as_ref().map(|found| (found.cause.name(), found.subject.as_deref()));
            assert_eq!(found, expected, "{line}");
        }
    }
}
