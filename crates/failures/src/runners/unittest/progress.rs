//! The lines of a verbose run before its failures: which test runs, and its outcome.
//!
//! A test is open from its name until its outcome, which is on its own line if the test printed something. The end of a
//! printed line is an outcome only if the next test begins right after it. Whether a test failed is read from its block,
//! not here.

use super::name::{Heading, Subject};
use crate::collector::Collector;
use crate::search::Search;

/// The test that is running.
#[derive(Debug, Default)]
pub(super) struct Progress {
    open: Option<Open>,
    /// A name alone on the line before: a description follows.
    announced: Option<Announced>,
}

#[derive(Debug)]
struct Open {
    subject: Subject,
    last: Last,
}

/// The last words of an open test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Other,
    /// They end like an outcome, but on the same line as other output.
    EndsPassed,
    Failed,
}

#[derive(Debug)]
enum Announced {
    /// Its path has several parts.
    Dotted(Subject),
    /// It is a test only if an outcome follows.
    Bare(Subject),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    /// Part of a test's lines.
    Test,
    /// A name, to be confirmed by the next line.
    Name,
    Nothing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    Skipped,
    Failed,
}

/// Whether a test certainly begins here.
pub(super) fn is_start(line: &str) -> bool {
    opening(line).is_some() || is_announcement(line)
}

/// Whether the line is only the name of a test.
pub(super) fn is_announcement(line: &str) -> bool {
    Heading::of(line).is_some_and(|heading| heading.is_of_test() && heading.behind.is_empty())
}

/// Whether a line contains the dots between a description and an outcome.
pub(super) fn is_description(line: &str) -> bool {
    behind_description(line).is_some()
}

impl Progress {
    /// Reads a line outside of a block.
    pub(super) fn line(&mut self, line: &str, out: &mut Collector) -> Said {
        let announced = self.announced.take();
        let mut rest = line;
        // A test with a failed sub-test has no outcome until Python 3.11: the next test follows.
        while let Some((subject, behind)) = opening(rest) {
            self.begin(subject, out);
            rest = behind;
        }
        if rest.len() == line.len() {
            match (announced, behind_description(line)) {
                (Some(Announced::Dotted(subject)), Some(behind)) => {
                    self.begin(subject, out);
                    rest = behind;
                }
                (Some(Announced::Bare(subject)), Some(behind)) if outcome(behind).is_some() => {
                    self.begin(subject, out);
                    rest = behind;
                }
                (Some(_) | None, _) => {}
            }
        }
        if let Some(heading) = Heading::of(rest).filter(|heading| heading.behind.is_empty()) {
            let subject = heading.subject();
            if heading.is_dotted() {
                self.announced = Some(Announced::Dotted(subject));
                return Said::Name;
            } else if self.open.is_none() {
                self.announced = Some(Announced::Bare(subject));
                return Said::Name;
            }
        }
        if self.open.is_none() && rest.len() == line.len() {
            return Said::Nothing;
        }
        self.further(rest, out);
        Said::Test
    }

    pub(super) fn close(&mut self, out: &mut Collector) {
        self.announced = None;
        if let Some(Open { subject: Subject::Test(name), last: Last::EndsPassed }) = self.open.take() {
            out.passed(None, &name);
        }
    }

    fn begin(&mut self, subject: Subject, out: &mut Collector) {
        self.close(out);
        self.open = Some(Open { subject, last: Last::Other });
    }

    /// Output or outcome of an open test.
    fn further(&mut self, text: &str, out: &mut Collector) {
        if let Some((part, result)) = part(text) {
            match outcome(result) {
                Some(Outcome::Failed) => self.open = None,
                Some(Outcome::Skipped) => out.skipped(None, &part),
                Some(Outcome::Passed) | None => {}
            }
            return;
        }
        let Some(open) = &mut self.open else { return };
        match (outcome(text), &open.subject) {
            (Some(Outcome::Failed), _) => open.last = Last::Failed,
            // Until Python 3.11 that is what comes of the class behind it.
            (Some(Outcome::Skipped), _) if open.last == Last::Failed => self.open = None,
            (Some(result), subject) => {
                match (result, subject) {
                    (Outcome::Passed, Subject::Test(name)) => out.passed(None, name),
                    (Outcome::Skipped, Subject::Test(name)) => out.skipped(None, name),
                    (_, Subject::Test(_) | Subject::Fixture { .. } | Subject::Module(_)) => {}
                }
                self.open = None;
            }
            (None, _) if open.last == Last::Failed || text.trim().is_empty() => {}
            (None, _) => {
                let ends_passed = text.ends_with("ok") || text.ends_with("expected failure");
                open.last = if ends_passed { Last::EndsPassed } else { Last::Other };
            }
        }
    }
}

/// `test_x (m.C.test_x) ... ` and what follows it.
fn opening(line: &str) -> Option<(Subject, &str)> {
    let heading = Heading::of(line)?;
    let rest = if heading.behind == " ..." { "" } else { heading.behind.strip_prefix(" ... ")? };
    (heading.is_dotted() || outcome(rest).is_some()).then(|| (heading.subject(), rest))
}

/// `  test_x (m.C.test_x) (number=1) ... FAIL`: a sub-test and its outcome.
fn part(line: &str) -> Option<(String, &str)> {
    let heading = Heading::of(line.strip_prefix("  ")?)?;
    let (parameters, result) = heading.behind.cut_last(" ... ")?;
    match heading.subject() {
        Subject::Test(name) => Some((format!("{name} {}", parameters.trim()), result)),
        Subject::Fixture { .. } | Subject::Module(_) => None,
    }
}

fn behind_description(line: &str) -> Option<&str> {
    line.cut_last(" ... ").map(|(_, behind)| behind).or_else(|| line.ends_with(" ...").then_some(""))
}

fn outcome(text: &str) -> Option<Outcome> {
    match text {
        "ok" | "expected failure" => Some(Outcome::Passed),
        "FAIL" | "ERROR" | "unexpected success" => Some(Outcome::Failed),
        text => {
            let reason = text.strip_prefix("skipped ")?;
            reason.ends_with(['\'', '"']).then_some(Outcome::Skipped)
        }
    }
}
