//! Whether the failures of a command are single findings, and all that it would have printed.
//!
//! Only then can a check that fails before any change still tell what is new: every finding is known by its own words, and
//! nothing is hidden behind another one. Refuses in doubt: a usage error, a crash, a syntax error or a step that did not run
//! may hide anything.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::command::Coverage;
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};

/// What a program says of how it was called, of its settings, or of its own end, in lower case.
const TROUBLES: [&str; 88] = [
    "usage:",
    "unknown option",
    "unknown argument",
    "unknown flag",
    "unknown shorthand flag",
    "unknown command",
    "unknown subcommand",
    "unrecognized option",
    "unrecognized argument",
    "unrecognized command",
    "unrecognised option",
    "unrecognised argument",
    "unexpected argument",
    "unexpected option",
    "invalid option",
    "invalid argument",
    "invalid choice",
    "illegal option",
    "no such option",
    "flag provided but not defined",
    "missing argument",
    "missing operand",
    "requires an argument",
    "requires a value",
    "too few arguments",
    "too many arguments",
    "arguments are required",
    "arguments were not provided",
    "no input file",
    "no files matching",
    "no files found",
    "no such file",
    "no such directory",
    "no such linter",
    "no tests",
    "no specs",
    "not found",
    "does not exist",
    "cannot find",
    "can't find",
    "could not find",
    "couldn't find",
    "cannot open",
    "could not open",
    "failed to load",
    "no required module",
    "too many warnings",
    "level=error",
    "level=fatal",
    "(fatal)",
    "can't open file",
    "config file",
    "configuration file",
    "config not found",
    "configuration not found",
    "no config",
    "invalid config",
    "reading config",
    "loading config",
    "load config",
    "parse config",
    "find config",
    "find a config",
    "read config",
    "config error",
    "configuration error",
    "eslint.config",
    "traceback (most recent call last)",
    "panicked at",
    "unhandled exception",
    "uncaught",
    "internal error",
    "internal compiler error",
    "segmentation fault",
    "core dumped",
    "out of memory",
    "stack overflow",
    "fatal error",
    "compilation terminated",
    "prevented further checking",
    "too many errors",
    "only showing the first",
    "stopped after",
    "stopping after",
    "stopping now",
    "interrupted",
    "timed out",
    "permission denied",
];

/// Steps of a build that were not run because one before failed.
const STOPPED: [&str; 4] = ["ninja: build stopped", "build failed", "recipe `", "failed to run task"];

/// Words of lines that only say that something failed.
const UNSPECIFIC: [&str; 96] = [
    "a",
    "above",
    "aborted",
    "again",
    "all",
    "an",
    "and",
    "any",
    "are",
    "at",
    "bad",
    "been",
    "below",
    "broken",
    "build",
    "check",
    "checks",
    "code",
    "command",
    "completed",
    "did",
    "details",
    "done",
    "error",
    "errors",
    "exit",
    "exited",
    "fail",
    "failed",
    "failing",
    "fails",
    "failure",
    "failures",
    "fatal",
    "fix",
    "for",
    "found",
    "had",
    "has",
    "have",
    "i",
    "in",
    "incorrect",
    "information",
    "invalid",
    "is",
    "issue",
    "issues",
    "it",
    "lint",
    "log",
    "logs",
    "more",
    "no",
    "not",
    "of",
    "oh",
    "ok",
    "on",
    "or",
    "output",
    "panic",
    "pass",
    "passed",
    "please",
    "problem",
    "problems",
    "program",
    "result",
    "results",
    "run",
    "see",
    "some",
    "something",
    "sorry",
    "status",
    "stop",
    "stopped",
    "summary",
    "test",
    "tests",
    "that",
    "the",
    "there",
    "this",
    "to",
    "total",
    "try",
    "was",
    "went",
    "were",
    "with",
    "without",
    "wrong",
    "you",
    "your",
];

static TROUBLE: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| finder(&TROUBLES));
static STOP: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| finder(&STOPPED));

fn finder(words: &[&str]) -> Option<AhoCorasick> {
    AhoCorasick::builder().ascii_case_insensitive(true).build(words).ok()
}

/// Signs in lines that are no finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Signs {
    /// The program could not do its work.
    pub(crate) trouble: bool,
    /// A step failed, and later ones did not run.
    pub(crate) stopped: bool,
}

impl Signs {
    pub(crate) fn add(&mut self, line: &str) {
        self.trouble = self.trouble || TROUBLE.as_ref().is_some_and(|finder| finder.is_match(line));
        let is_make = || {
            let line = line.trim_start();
            line.starts_with("make") && line.contains(": ***")
                || line.contains("step ") && line.contains(" failed")
        };
        self.stopped = self.stopped || is_make() || STOP.as_ref().is_some_and(|finder| finder.is_match(line));
    }
}

/// `signs` are those of the lines that belong to no failure.
pub(crate) fn is_itemised(
    failures: &[FingerprintParts],
    exit_code: Option<i32>,
    coverage: Coverage,
    mut signs: Signs,
) -> bool {
    // Shells and `sysexits.h` use the others for what went wrong with the command itself.
    if !exit_code.is_some_and(|code| matches!(code, 1..=63 | 79..=125)) {
        return false;
    }
    let is_remark = |draft: &&FingerprintParts| draft.file.is_none();
    failures
        .iter()
        .filter(is_remark)
        .flat_map(|draft| draft.message.lines())
        .for_each(|line| signs.add(line));
    let is_stopped = match coverage {
        Coverage::Steps => true,
        Coverage::KeepsGoing => false,
        Coverage::Unknown | Coverage::Compiler | Coverage::Tests => signs.stopped,
    };
    let is_listed = failures.iter().all(|draft| is_finding(draft, coverage));
    !signs.trouble && !is_stopped && is_listed && failures.iter().any(is_specific)
}

fn is_finding(draft: &FingerprintParts, coverage: Coverage) -> bool {
    let is_unread = draft.runner == Runner::Generic && draft.kind == Kind::Error;
    if draft.test.is_some() {
        return false;
    }
    // A build may print such lines, too.
    let is_of_rust = || draft.file.as_ref().is_none_or(|file| file.ends_with(".rs"));
    let is_compiled = matches!(draft.runner, Runner::Gcc | Runner::Javac | Runner::Tsc)
        || draft.runner == Runner::Rustc && is_of_rust();
    match (&draft.kind, coverage) {
        // Where tests should be, a compiler complains: they did not run.
        (_, Coverage::Tests) => is_unread,
        (Kind::Lint, Coverage::Unknown | Coverage::KeepsGoing | Coverage::Steps) if is_compiled => false,
        (Kind::Lint, _) => !is_syntax_error(draft),
        (Kind::Compile, Coverage::Compiler) => !is_syntax_error(draft),
        // Before Go 1.20, findings of `go vet` look like compile errors.
        (Kind::Compile, _) if draft.runner == Runner::GoTest => is_of_vet(&draft.message),
        (Kind::Error, _) => is_unread && !is_count(&draft.message),
        (
            Kind::Compile
            | Kind::Assertion
            | Kind::Panic
            | Kind::Exception(_)
            | Kind::Timeout
            | Kind::Crash
            | Kind::Exit(_),
            _,
        ) => false,
    }
}

/// `2  F821  undefined name`: one more of them is the same line with another number.
fn is_count(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    first.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_of_vet(message: &str) -> bool {
    const SAID: [&str; 16] = [
        "format %",
        "possible formatting directive",
        "possible misuse of",
        "struct field tag",
        "unreachable code",
        "self-assignment of",
        "uses unkeyed fields",
        "passes lock by value",
        "copies lock value",
        "call needs ",
        "call has ",
        "redundant newline",
        "redundant or: ",
        "loop variable ",
        "result of ",
        "the cancel function ",
    ];
    SAID.iter().any(|said| message.contains(said))
}

/// Whether the tool could not read the file, or could not go on from there.
fn is_syntax_error(draft: &FingerprintParts) -> bool {
    let said = draft.message.lines().next().unwrap_or_default().to_ascii_lowercase();
    let words = [
        "syntax error",
        "syntaxerror",
        "invalid syntax",
        "invalid-syntax",
        "syntax-error",
        "[syntax]",
        "parse error",
        "parsing error",
        "parsing failed",
        "cannot parse",
        "couldn't parse",
        "no required module",
        "cannot find module",
    ];
    words.iter().any(|word| said.contains(word)) || is_syntax_error_of_tool(draft)
}

/// The same in the words and codes of one tool.
fn is_syntax_error_of_tool(draft: &FingerprintParts) -> bool {
    let said = draft.message.lines().next().unwrap_or_default();
    let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
    let begins = |words: &[&str]| words.iter().any(|word| said.starts_with(word));
    let code = draft.source.lines().next().unwrap_or_default();
    let is_compile = draft.kind == Kind::Compile;
    if draft.runner == Runner::Gcc {
        let later = ["No such file or directory", "file not found", "too many errors", "undefined reference"];
        return begins(&["expected ", "stray ", "unterminated ", "missing terminating ", "extraneous "])
            || says(&later);
    }
    if draft.runner == Runner::Tsc {
        // The others report on what they could read.
        return !["TS2", "TS4", "TS7"].iter().any(|first| code.starts_with(first) && code.len() == 6);
    }
    if draft.runner == Runner::Javac {
        return said.ends_with("expected")
            || says(&[
                "illegal start of",
                "illegal character",
                "end of file",
                "unclosed",
                "not a statement",
            ])
            || says(&[" without '", "orphaned "]);
    }
    if draft.runner == Runner::Rustc {
        let is_coded = code.starts_with('E') && !["E0432", "E0433", "E0463", "E0583"].contains(&code);
        return is_compile && !is_coded;
    }
    if draft.runner == Runner::GoTest {
        return begins(&["could not import", "too many errors", "no required module", "expected "]);
    }
    is_compile || begins(&["E999", "E902", "E0001", "F0001"])
}

/// Whether it says what is wrong, and not only that something is.
fn is_specific(draft: &FingerprintParts) -> bool {
    let is_word = |word: &str| word.len() > 1 && !word.bytes().all(|byte| byte.is_ascii_digit());
    let mut words =
        draft.message.split(|letter: char| !letter.is_alphanumeric()).filter(|word| is_word(word));
    draft.file.is_some() || words.any(|word| !UNSPECIFIC.contains(&word.to_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser::{Options, Parser};

    fn itemised(output: &str, code: i32, coverage: Coverage) -> bool {
        let mut parser = Parser::new(&Options { coverage, ..Options::default() });
        parser.push(output.as_bytes());
        parser.finish(Some(code)).itemised
    }

    #[test]
    fn findings_are_told_from_what_may_hide_others() {
        let (unknown, compiler) = (Coverage::Unknown, Coverage::Compiler);
        for (row, output, code, coverage, expected) in [
            ("a linter", "a.py:3:1: F401 'os' imported but unused\n", 1, unknown, true),
            ("a linter that stops at a file", "a.py:3:1: E999 SyntaxError: bad\n", 1, unknown, false),
            ("complaint lines", "problem with field width in record alpha\n", 1, unknown, true),
            ("lines without a complaint", "record 1 is too wide\n", 1, unknown, true),
            ("lines of errors", "error: alpha is too wide\nerror: bravo is too wide\n", 1, unknown, true),
            ("nothing specific", "Error: some checks failed\n", 1, unknown, false),
            ("no output", "", 1, unknown, false),
            ("a usage error", "lint: unknown option --strict\n", 2, unknown, false),
            ("a usage error like cargo's", "error: unexpected argument '--x' found\n", 2, unknown, false),
            ("usage", "usage: lint [-h] path\nlint: error: path is missing\n", 2, unknown, false),
            ("no settings", "error: config file lint.toml not found\n", 1, unknown, false),
            ("only counts", "2\tF821\tundefined-name\n", 1, unknown, false),
            ("beside a finding", "a.py:3: bad name\nlint: internal error, giving up\n", 1, unknown, false),
            (
                "a crash",
                "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 1\n",
                1,
                unknown,
                false,
            ),
            ("a code of the shell", "a.py:3: bad name\n", 127, unknown, false),
            ("a step of make", "a.py:3: bad name\nmake: *** [Makefile:2: lint] Error 1\n", 2, unknown, false),
            (
                "make goes on",
                "a.py:3: bad name\nmake: *** [Makefile:2: lint] Error 1\n",
                2,
                Coverage::KeepsGoing,
                true,
            ),
            ("steps", "a.py:3: bad name\n", 1, Coverage::Steps, false),
            ("a compiler alone", "a.c:3:5: error: 'x' undeclared\n", 1, compiler, true),
            ("a compiler somewhere", "a.c:3:5: error: 'x' undeclared\n", 1, unknown, false),
            ("a compiler that is lost", "a.c:3:5: error: expected ';' before 'x'\n", 1, compiler, false),
            ("types", "a.ts(1,7): error TS2322: bad type\n", 2, compiler, true),
            ("types that were not checked", "a.ts(1,7): error TS1005: ';' expected.\n", 2, compiler, false),
            ("instead of tests", "a.zig:3:5: error: expected type\n", 1, Coverage::Tests, false),
            ("tests in words", "wrong sum in invoice alpha\n", 1, Coverage::Tests, true),
            ("a test", "=== RUN   TestA\n--- FAIL: TestA (0.00s)\nFAIL\nFAIL\tx\t0.1s\n", 1, unknown, false),
        ] {
            assert_eq!(itemised(output, code, coverage), expected, "{row}");
        }
    }

    /// Catches a tool whose lines begin with `error:` and of which only the last one counts.
    #[test]
    fn every_line_of_errors_is_a_failure() {
        let mut parser = Parser::new(&Options::default());
        parser.push(b"error: alpha is too wide\nerror: record 1 is bad\nerror: record 2 is bad\n");
        assert_eq!(parser.finish(Some(1)).failures.len(), 3);
    }
}
