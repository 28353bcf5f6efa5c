//! Tells lines that complain from chatter, and lines of wrappers from both.
//!
//! Owns the two lists. A wrapper only says that what it ran has failed.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

/// Words of error messages.
pub(super) const COMPLAINTS: [&str; 54] = [
    "error",
    "fail",
    "fatal",
    "exception",
    "panic",
    "cannot",
    "can't",
    "could not",
    "couldn't",
    "not found",
    "no such",
    "denied",
    "undefined",
    "unexpected",
    "invalid",
    "missing",
    "unable",
    "abort",
    "refused",
    "killed",
    "fault",
    "wrong",
    "no tests",
    "no specs",
    "does not exist",
    "unknown",
    "problem",
    "mismatch",
    "violat",
    "illegal",
    "should",
    "must ",
    "expected",
    "not allowed",
    "not permitted",
    "too long",
    "too many",
    "too few",
    "too large",
    "too short",
    "too small",
    "unresolved",
    "unsupported",
    "duplicate",
    "incorrect",
    "not set",
    "not ok",
    "in use",
    "no space left",
    "out of memory",
    "✗",
    "✖",
    "✘",
    "❌",
];

/// What programs that run others say when these have failed.
const WRAPPERS: [&str; 40] = [
    "exited with code",
    "exited with status",
    "exited with exit code",
    "exited (",
    "exit status ",
    "exit code ",
    "exit code: ",
    "non-zero exit",
    "elifecycle",
    "npm err!",
    "npm error",
    "lerna err!",
    "command failed",
    "command exited",
    "task failed",
    "tasks failed",
    "failed to run task",
    "failed tasks",
    "script failed",
    "build failed",
    "build failure",
    "build stopped",
    "failure: build failed",
    "recipe for target",
    "recipe `",
    ": *** [",
    "invocationerror",
    "evaluation failed",
    "process completed with",
    "calledprocesserror",
    "subprocess-exited-with-error",
    "checks failed",
    "check failed",
    "hook failed",
    "failed with exit",
    "failed with code",
    "failed with status",
    "run failed: ",
    "what went wrong:",
    "execution failed for task",
];

/// What programs say of what they do, or of what went well.
const CHATTER: [&str; 24] = [
    "✓",
    "✔",
    "pass",
    "success",
    "succeeded",
    " ok",
    "ok ",
    "done",
    "compiling",
    "checking",
    "running",
    "building",
    "finished",
    "downloading",
    "installing",
    "loading",
    "starting",
    "started",
    "collecting",
    "processing",
    "scanning",
    "reading",
    "writing",
    "creating",
];

/// Before and after a number in a line that only counts.
const COUNTED: [&str; 9] =
    ["error", "failure", "problem", "issue", "warning", "violation", "offense", "finding", "complaint"];

static WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| finder(&COMPLAINTS));
static WRAPPING: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| finder(&WRAPPERS));

static CHATTING: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| finder(&CHATTER));

fn finder(words: &[&str]) -> Option<AhoCorasick> {
    AhoCorasick::builder().ascii_case_insensitive(true).match_kind(MatchKind::LeftmostFirst).build(words).ok()
}

pub(crate) fn complains(line: &str) -> bool {
    WORDS.as_ref().is_some_and(|words| words.is_match(line))
}

/// Whether a line tells of progress or success.
pub(super) fn is_chatter(line: &str) -> bool {
    CHATTING.as_ref().is_some_and(|words| words.is_match(line))
}

/// Whether a line only says that another program has failed, or how many complaints there are.
pub(super) fn is_of_wrapper(line: &str) -> bool {
    WRAPPING.as_ref().is_some_and(|words| words.is_match(line)) || only_counts(line)
}

/// `Found 3 errors.`, `✖ 12 problems (12 errors, 0 warnings)`, `3 errors generated`
fn only_counts(line: &str) -> bool {
    let mut words = line.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let first = words.next().unwrap_or_default();
    let number = if is_number(first) { Some(first) } else { words.next().filter(|word| is_number(word)) };
    let counted = words.next().unwrap_or_default().to_ascii_lowercase();
    let counted = counted.strip_suffix('s').unwrap_or(&counted);
    number.is_some() && COUNTED.contains(&counted) && words.count() <= 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrappers_are_told_from_complaints() {
        let rows = [
            ("error: no disk", true, false),
            ("field width is wrong", true, false),
            ("everything is fine", false, false),
            ("make: *** [Makefile:3: test] Error 1", true, true),
            ("error Command failed with exit code 1.", true, true),
            ("npm ERR! code ELIFECYCLE", false, true),
            ("npm error Lifecycle script `test` failed with error:", true, true),
            ("app-1 exited with code 1", false, true),
            ("Found 3 errors.", true, true),
            ("✖ 12 problems (12 errors, 0 warnings)", true, true),
            ("3 errors in alpha: the field is missing from the whole record of the first table", true, false),
        ];
        for (line, complaint, wrapper) in rows {
            assert_eq!((complains(line), is_of_wrapper(line)), (complaint, wrapper), "{line}");
        }
    }
}
