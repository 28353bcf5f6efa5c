//! `cargo nextest run`: statuses, and the output of each test that failed.
//!
//! Owns nextest's status lines. What a failed test printed is indented below its status and read as libtest's.

use super::libtest::details_of;
use super::{Read, Step, count_of, indentation};
use crate::collector::{Collector, append};
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::search::Search;

/// Bytes of one test's output that are read.
const MAX_OUTPUT: usize = 256 * 1024;

/// A failed test, and its output so far.
#[derive(Debug)]
struct Failed {
    status: String,
    package: String,
    test: String,
    output: String,
}

#[derive(Debug, Default)]
pub(crate) struct Nextest {
    current: Option<Failed>,
    /// After the summary, statuses are repeated.
    summarised: bool,
}

struct Status<'a> {
    word: &'a str,
    package: &'a str,
    test: &'a str,
}

pub(crate) fn is_start(line: &str) -> bool {
    line.trim_start().starts_with("Nextest run ID ")
}

impl Read for Nextest {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        if is_start(line) {
            self.finish(out);
            self.summarised = false;
            return Step::Taken;
        }
        if self.summarised && !belongs_to_summary(line) {
            return Step::Refused;
        }
        let trimmed = line.trim();
        if let Some(status) = status(line) {
            self.status(&status, out);
        } else if trimmed.starts_with("Summary [") {
            self.finish(out);
            self.summarised = true;
            out.counted(count_of(trimmed, "passed").unwrap_or(0));
            out.summarised(Runner::Nextest, count_of(trimmed, "failed").unwrap_or(0));
            if !trimmed.has("] 0 tests run") {
                out.ran_unnamed();
            }
        } else if trimmed.starts_with("Cancelling due to ") || trimmed.starts_with("Canceling due to ") {
            self.finish(out);
            out.masked();
        } else if trimmed.starts_with("warning: ") && trimmed.has(" not run due to ") {
            out.masked();
        } else if let Some(failed) = self.current.as_mut().filter(|failed| failed.output.len() < MAX_OUTPUT) {
            failed.output.push_str(line.strip_prefix("    ").unwrap_or(line));
            failed.output.push('\n');
        }
        Step::Taken
    }

    fn finish(&mut self, out: &mut Collector) {
        if let Some(failed) = self.current.take() {
            out.failed(failed.into_draft());
        }
    }
}

/// After the summary nextest only repeats statuses and prints the final result.
fn belongs_to_summary(line: &str) -> bool {
    line.is_empty()
        || ["  ", "error: ", "warning: ", "(hint: ", "─"].iter().any(|start| line.starts_with(start))
}

impl Nextest {
    fn status(&mut self, status: &Status<'_>, out: &mut Collector) {
        let (package, test) = (status.package, status.test);
        match status.word {
            "PASS" | "LEAK" => {
                self.finish(out);
                out.passed(Some(package), test);
            }
            "SKIP" => out.skipped(Some(package), test),
            // Announced while it runs; the outcome follows.
            "START" | "SLOW" | "TERMINATING" => {}
            _ if self.summarised => {}
            word => {
                self.finish(out);
                self.current = Some(Failed {
                    status: word.to_string(),
                    package: package.to_string(),
                    test: test.to_string(),
                    output: String::new(),
                });
            }
        }
    }
}

impl Failed {
    fn into_draft(self) -> FingerprintParts {
        let plain =
            |kind: Kind| FingerprintParts::new(Runner::Nextest, kind).test(Some(&self.package), &self.test);
        match self.status.as_str() {
            "TIMEOUT" => plain(Kind::Timeout).message("test timed out"),
            status if status.starts_with("SIG") || status == "ABORT" => {
                let mut draft = plain(Kind::Crash).message(format!("test aborted: {status}"));
                let panics = details_of(Runner::Nextest, None, &self.test, &self.output);
                append(&mut draft.message, &panics.message);
                draft.signature = panics.signature;
                draft.source = format!("{status}\n{}", panics.source);
                draft.file = panics.file;
                draft.line = panics.line;
                draft
            }
            _ => details_of(Runner::Nextest, Some(&self.package), &self.test, &self.output),
        }
    }
}

/// `        FAIL [   0.094s] ( 2/18) calc tests::equal`, with or without a counter, with tries before the word.
fn status(line: &str) -> Option<Status<'_>> {
    let indented = indentation(line);
    let begins_with_word = line.as_bytes().get(indented).is_some_and(u8::is_ascii_uppercase);
    if indented < 2 || !begins_with_word {
        return None;
    }
    let (word, rest) = line.cut(" [")?;
    let (duration, rest) = rest.split_once(']')?;
    if !duration.trim().trim_start_matches(['>', ' ']).ends_with('s') {
        return None;
    }
    let word = word.split_whitespace().next_back()?;
    if !word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'-') {
        return None;
    }
    let rest = rest.trim_start();
    let rest = match rest.strip_prefix('(') {
        Some(counter) => counter.split_once(')')?.1.trim_start(),
        None => rest,
    };
    let (package, test) = rest.split_once(' ')?;
    Some(Status { word, package, test: test.trim() })
}
