//! Gradle: results of tests, their count, and why a build stopped.
//!
//! Owns `CalcTest > adds() FAILED` with what is indented below it, and the section `What went wrong`. Compilers print
//! their errors themselves. Passing tests are named only if the build logs them.

use super::java::Throwable;
use super::{Read, Step, count_of, indentation};
use crate::collector::{Collector, append};
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::search::Search;

/// What went wrong, where it was named before.
const SAID_BEFORE: [&str; 7] = [
    "There were failing tests",
    "Compilation failed",
    "Compilation error",
    "A failure occurred while executing",
    "Compile failed",
    "Execution failed for task",
    "Internal compiler error. See log",
];

#[derive(Debug, Default)]
pub(crate) struct Gradle {
    test: Option<Test>,
    /// The lines below `* What went wrong:`.
    reason: Option<String>,
}

#[derive(Debug)]
struct Test {
    class: String,
    name: String,
    thrown: Throwable,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed,
    Skipped,
}

pub(crate) fn is_start(line: &str) -> bool {
    line.starts_with("> Task :")
        || line.starts_with("* What went wrong:")
        || line.starts_with("Starting a Gradle Daemon")
        || line.starts_with("BUILD SUCCESSFUL in ")
        || line.starts_with("BUILD FAILED in ")
        || summary(line).is_some()
        || outcome(line).is_some()
}

/// Whether a line can be that of no other tool.
pub(crate) fn is_unmistakable(line: &str) -> bool {
    line.starts_with("> Task :") || line.ends_with(" FAILED") && outcome(line).is_some()
}

impl Read for Gradle {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        let text = line.trim();
        if let Some(test) = &mut self.test {
            // Processes report their end between the lines of others.
            if indentation(line) > 0 || text.is_empty() || line.starts_with("Gradle Test Executor ") {
                if indentation(line) > 0 {
                    test.thrown.line(line);
                }
                return Step::Taken;
            }
            self.finish(out);
        }
        if let Some(reason) = &mut self.reason {
            if !text.starts_with("* ") && !text.is_empty() {
                append(reason, text);
                return Step::Taken;
            }
            self.finish(out);
        }
        if let Some((outcome, path)) = outcome(line) {
            let (class, name) = names(path);
            match outcome {
                Outcome::Passed => out.passed(Some(class), name),
                Outcome::Skipped => out.skipped(Some(class), name),
                Outcome::Failed => {
                    let (class, name) = (class.to_string(), name.to_string());
                    self.test = Some(Test { class, name, thrown: Throwable::default() });
                }
            }
        } else if line.starts_with("* What went wrong:") {
            self.reason = Some(String::new());
        } else if let Some(summary) = summary(line) {
            out.counted(summary.passed);
            out.summarised(Runner::Gradle, summary.failed);
            if summary.failed > 0 {
                out.ran_unnamed();
            }
        } else if !(is_start(line) || text.is_empty() || is_of_build(line)) {
            return Step::Refused;
        }
        Step::Taken
    }

    fn finish(&mut self, out: &mut Collector) {
        if let Some(test) = self.test.take() {
            let draft =
                FingerprintParts::new(Runner::Gradle, Kind::Error).test(Some(&test.class), &test.name);
            let draft = if test.thrown.is_empty() { draft } else { test.thrown.describe(draft) };
            out.failed(draft);
        }
        if let Some(reason) = self.reason.take() {
            stopped(&reason, out);
        }
    }
}

/// The reasons that say something new: a crash, or what counts if nothing else was named.
fn stopped(reason: &str, out: &mut Collector) {
    let task = reason.lines().find_map(|line| line.strip_prefix("Execution failed for task "));
    let said =
        |line: &&str| !SAID_BEFORE.iter().any(|said| line.trim_start_matches(['>', ' ']).starts_with(said));
    let Some(line) = reason.lines().find(said) else { return };
    let text = line.trim_start_matches(['>', ' ']);
    let mut draft = FingerprintParts::new(Runner::Gradle, Kind::Error).message(text);
    draft.source = task.unwrap_or_default().trim_end_matches('.').to_string();
    // The section says it last, when all tests were read.
    if text.starts_with("Process 'Gradle Test Executor") {
        draft.kind = Kind::Crash;
        draft.signature = "Process 'Gradle Test Executor' finished with non-zero exit value".to_string();
        out.failed(draft);
    } else {
        out.suspect(draft);
    }
}

fn is_of_build(line: &str) -> bool {
    line.starts_with("FAILURE: Build ")
        || line.starts_with("> Run with ")
        || line.starts_with("Run with --")
        || line.starts_with("> Get more help at ")
        || line.starts_with("* ")
        || line.starts_with(':') && line.ends_with(" FAILED")
        || line.has(" actionable task")
}

/// `CalcTest > adds() FAILED`
fn outcome(line: &str) -> Option<(Outcome, &str)> {
    let last = *line.as_bytes().last()?;
    if last != b'D' || line.starts_with([' ', '>', ':']) {
        return None;
    }
    let endings =
        [(" PASSED", Outcome::Passed), (" FAILED", Outcome::Failed), (" SKIPPED", Outcome::Skipped)];
    let (path, outcome) =
        endings.into_iter().find_map(|(ending, outcome)| Some((line.strip_suffix(ending)?, outcome)))?;
    let (first, rest) = path.cut(" > ")?;
    let is_class = !first.contains([' ', '/']) || first.starts_with("Gradle Test ");
    (is_class && !rest.is_empty()).then_some((outcome, path))
}

/// The class, and the rest of the path.
fn names(path: &str) -> (&str, &str) {
    let mut rest = path;
    while let Some((first, behind)) = rest.cut(" > ") {
        if !first.starts_with("Gradle Test ") {
            return (first, behind);
        }
        rest = behind;
    }
    ("", rest)
}

struct Summary {
    passed: u64,
    failed: u64,
}

/// `14 tests completed, 9 failed, 1 skipped`
fn summary(line: &str) -> Option<Summary> {
    if !line.starts_with(|letter: char| letter.is_ascii_digit()) {
        return None;
    }
    let (count, rest) = line.cut(" test")?;
    let rest = rest.strip_prefix('s').unwrap_or(rest).strip_prefix(" completed")?;
    let all: u64 = count.parse().ok()?;
    let failed = count_of(rest, "failed").unwrap_or(0);
    let skipped = count_of(rest, "skipped").unwrap_or(0);
    Some(Summary { passed: all.saturating_sub(failed).saturating_sub(skipped), failed })
}
