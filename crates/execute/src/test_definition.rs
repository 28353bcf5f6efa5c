//! Which files decide whether a goal passes: its tests, and what its command runs.
//!
//! A goal whose tests were edited must also pass with the base's version of them. Files that contain nothing but tests
//! are restored whole. Of a file that contains tests beside what they test, only the tests are restored: the fix is in
//! it too.

use fixpoint_ports::ChangeKind;

/// What a changed file has to do with a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TestDefinition {
    /// Nothing, as far as is known.
    None,
    /// It may contain tests beside what they test.
    Inline,
    /// Its `scripts` say what the goal runs.
    Scripts,
    /// It is a test, or what the goal runs.
    Whole,
}

/// Directories of tests in one language or another.
const TEST_DIRECTORIES: [&str; 7] =
    ["tests", "test", "__tests__", "spec", "specs", "testdata", "__snapshots__"];
/// Endings of names, without the extension, that say test.
const TEST_ENDINGS: [&str; 10] =
    ["_test", ".test", ".spec", "_spec", "Test", "Tests", "Spec", "IT", "-test", ".cy"];
/// Configuration of test runners: even a new one can make everything pass.
const RUNNER_CONFIGURATION: [&str; 12] = [
    "conftest.py",
    "pytest.ini",
    "tox.ini",
    "noxfile.py",
    ".mocharc.json",
    ".mocharc.js",
    ".mocharc.yml",
    "jest.config",
    "vitest.config",
    "playwright.config",
    "nextest.toml",
    ".rspec",
];
/// What a command reads to know what to do.
const READS: [(&str, &[&str]); 6] = [
    ("make", &["Makefile", "makefile", "GNUmakefile"]),
    ("gmake", &["Makefile", "makefile", "GNUmakefile"]),
    ("just", &["justfile", "Justfile", ".justfile"]),
    ("task", &["Taskfile.yml", "Taskfile.yaml"]),
    ("rake", &["Rakefile"]),
    ("tox", &["tox.ini"]),
];
/// Words that stand before the program a command really runs.
const BEFORE: [&str; 22] = [
    "!", "if", "then", "else", "elif", "while", "until", "do", "{", "exec", "command", "env", "time", "nice",
    "timeout", "sudo", "npx", "bunx", "uv", "poetry", "pnpm", "run",
];
/// Programs that run what they are given.
const RUNS_WHAT_IT_IS_GIVEN: [&str; 40] = [
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "fish",
    "busybox",
    ".",
    "source",
    "eval",
    "python",
    "pypy",
    "node",
    "deno",
    "bun",
    "tsx",
    "ts-node",
    "ruby",
    "perl",
    "php",
    "lua",
    "Rscript",
    "julia",
    "make",
    "gmake",
    "just",
    "task",
    "rake",
    "tox",
    "pytest",
    "py.test",
    "jest",
    "vitest",
    "mocha",
    "ava",
    "bats",
    "rspec",
    "prove",
    "phpunit",
    "playwright",
];
const PACKAGE_RUNNERS: [&str; 5] = ["npm", "yarn", "pnpm", "bun", "npx"];

/// What a changed path has to do with a goal that runs `command` in `directory`.
pub(crate) fn defines(path: &[u8], kind: ChangeKind, command: &str, directory: &str) -> TestDefinition {
    let path = &String::from_utf8_lossy(path);
    let name = path.rsplit('/').next().unwrap_or(path);
    if is_runner_configuration(name) {
        return TestDefinition::Whole;
    }
    if name == "package.json" && words(command).any(|word| PACKAGE_RUNNERS.contains(&word)) {
        return TestDefinition::Scripts;
    }
    match kind {
        // What did not exist weakens nothing, and it may be just what was asked for.
        ChangeKind::Added | ChangeKind::Submodule => TestDefinition::None,
        ChangeKind::Modified | ChangeKind::Deleted | ChangeKind::TypeChanged
            if is_test(path, name) || is_run_by(path, name, command, directory) =>
        {
            TestDefinition::Whole
        }
        ChangeKind::Modified if name.ends_with(".rs") => TestDefinition::Inline,
        ChangeKind::Modified | ChangeKind::Deleted | ChangeKind::TypeChanged => TestDefinition::None,
    }
}

fn is_runner_configuration(name: &str) -> bool {
    RUNNER_CONFIGURATION.iter().any(|known| match name.strip_prefix(known) {
        Some(rest) => rest.is_empty() || rest.starts_with('.'),
        None => false,
    })
}

fn is_test(path: &str, name: &str) -> bool {
    let mut directories = path.split('/').rev().skip(1);
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    let without_extension = name.rsplit_once('.').map_or(name, |(before, _)| before);
    directories.any(|directory| TEST_DIRECTORIES.contains(&directory))
        || stem.starts_with("test_")
        || TEST_ENDINGS
            .iter()
            .any(|ending| without_extension.ends_with(ending) && without_extension != *ending)
}

/// Whether the command names the file, or runs a program that reads it.
fn is_run_by(path: &str, name: &str, command: &str, directory: &str) -> bool {
    let is_this = |word: &&str| {
        let word = word.trim_start_matches("./");
        let from_root = if directory.is_empty() { word.to_string() } else { format!("{directory}/{word}") };
        !word.is_empty() && resolved(&from_root).is_some_and(|target| target == path)
    };
    let named = calls(command).any(|call| run_by(&call).any(|word| is_this(&word)));
    let program_of = |word: &str| word.rsplit('/').next().unwrap_or(word).to_string();
    let read = READS.iter().any(|(program, files)| {
        files.contains(&name) && words(command).any(|word| program_of(word) == *program)
    });
    named || read
}

/// The words of a simple command that name what it runs: its program, and whatever an interpreter or a test runner is
/// given. What other programs are given is what they look at, and may be just what is to be changed.
fn run_by<'a>(call: &[&'a str]) -> impl Iterator<Item = &'a str> {
    let is_before = |word: &&&str| BEFORE.contains(*word) || word.starts_with('-') || is_number(word);
    let skipped = call.iter().take_while(is_before).count();
    let program = call.get(skipped).map(|word| word.rsplit('/').next().unwrap_or(word)).unwrap_or_default();
    let stem = program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let all = if RUNS_WHAT_IT_IS_GIVEN.contains(&stem) { usize::MAX } else { 1 };
    let words: Vec<&str> = call.iter().skip(skipped).take(all).copied().collect();
    words.into_iter().flat_map(|word| word.split(['=', ':']))
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// The simple commands of a command line, as words. Quotes are not looked into: a script in them is read as commands.
fn calls(command: &str) -> impl Iterator<Item = Vec<&str>> {
    let ends = |letter: char| matches!(letter, ';' | '&' | '|' | '(' | ')' | '\n' | '`');
    command.split(ends).map(|call| {
        let is_variable = |word: &&str| word.split_once('=').is_some_and(|(name, _)| !name.contains('/'));
        call.split(|letter: char| letter.is_whitespace() || matches!(letter, '"' | '\''))
            .filter(|word| !word.is_empty())
            .skip_while(is_variable)
            .collect()
    })
}

/// A path without `.` and `..`; `None` if it leaves the root.
fn resolved(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The words of a command line, quotes and operators taken for blanks.
fn words(command: &str) -> impl Iterator<Item = &str> {
    command
        .split(|letter: char| {
            letter.is_whitespace() || matches!(letter, '"' | '\'' | ';' | '&' | '|' | '(' | ')' | '=' | ':')
        })
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_decides_whether_a_goal_passes() {
        use ChangeKind::{Added, Deleted, Modified};
        use TestDefinition::{Inline, None, Scripts, Whole};
        for (path, kind, command, directory, expected) in [
            ("src/lib.rs", Modified, "cargo test", "", Inline),
            ("src/lib.rs", Added, "cargo test", "", None),
            ("tests/it.rs", Modified, "cargo test", "", Whole),
            ("tests/it.rs", Deleted, "cargo test", "", Whole),
            ("tests/new.rs", Added, "cargo test", "", None),
            ("calc/test_calc.py", Modified, "pytest", "", Whole),
            ("calc/calc_test.go", Modified, "go test ./...", "", Whole),
            ("web/a.test.tsx", Modified, "npm test", "", Whole),
            ("src/main/java/Latest.java", Modified, "mvn test", "", None),
            ("src/AppTest.java", Modified, "mvn test", "", Whole),
            ("conftest.py", Added, "pytest", "", Whole),
            ("vitest.config.ts", Added, "npx vitest", "", Whole),
            ("package.json", Modified, "npm test", "", Scripts),
            ("package.json", Modified, "cargo test", "", None),
            ("check.sh", Modified, "sh ./check.sh --all", "", Whole),
            ("check.sh", Modified, "sh ../check.sh", "sub", Whole),
            ("check.sh", Modified, "./check.sh", "sub", None),
            ("sub/check.sh", Modified, "./check.sh", "sub", Whole),
            ("scripts/run.py", Modified, "cd x && python3 scripts/run.py", "", Whole),
            ("Makefile", Modified, "make -s test", "", Whole),
            ("Makefile", Modified, "cargo test", "", None),
            ("latest.py", Modified, "pytest", "", None),
            ("verify.py", Modified, "python3.11 -m pytest verify.py::test_x", "", Whole),
            ("verify.js", Modified, "CI=1 npx jest ./verify.js", "", Whole),
            ("check.sh", Modified, "cd x && timeout 60 ./check.sh", "", Whole),
            ("check.sh", Modified, "sh -c \"./check.sh --all\"", "", Whole),
            ("answer", Modified, "grep -qx 42 answer", "", None),
            ("answer", Modified, "test \"$(cat answer)\" = 42", "", None),
            ("app.py", Modified, "mypy app.py && pytest tests", "", None),
            ("src/main.c", Modified, "gcc -o main src/main.c && ./main", "", None),
            ("out.txt", Added, "test -f out.txt", "", None),
            ("test_new.py", Added, "pytest test_new.py", "", None),
        ] {
            assert_eq!(
                defines(path.as_bytes(), kind, command, directory),
                expected,
                "{path} {kind:?} {command}"
            );
        }
        assert_eq!(defines(b"tests/\xff", Modified, "pytest", ""), Whole);
    }
}
