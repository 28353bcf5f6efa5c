//! CTest: the result of every test, what a failed test printed, and the closing list.
//!
//! Owns CTest's own lines. What a test printed is read by the reader it belongs to; if that finds failures, they stand
//! for the test. The closing list counts only where no results were read. A run that ends before its last test was cut
//! short.

use std::collections::BTreeMap;

use super::{Read, Reader, Step};
use crate::collector::{Collector, append};
use crate::detect;
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::search::Search;
use crate::tail::Tail;

/// Tests whose output is kept at a time.
const MAX_OUTPUTS: usize = 256;
/// Lines of a test's output in its message.
const MAX_LINES: usize = 40;

/// Words of lines that say what went wrong.
const COMPLAINTS: [&str; 8] =
    ["error", "fail", "expected", "assert", "exception", "abort", "cannot", "unable"];

#[derive(Debug, Default)]
pub(crate) struct Ctest {
    outputs: BTreeMap<u32, Output>,
    /// The test whose output follows.
    current: Option<(u32, Test)>,
    /// A program that CTest looked for in vain.
    missing: String,
    has_results: bool,
    is_listing: bool,
    /// Tests that have ended, and all that there are.
    progress: (u64, u64),
    ended: bool,
}

#[derive(Debug)]
struct Test {
    name: String,
    status: Status,
    /// What the result says beyond its status.
    note: String,
    /// Whether the result goes on in the next line.
    is_open: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Passed,
    Failed,
    Timeout,
    Crashed,
    NotRun,
    Skipped,
}

/// What a test printed.
#[derive(Debug, Default)]
struct Output {
    reader: Option<Reader>,
    text: String,
    lines: usize,
    /// Failures that were found in it.
    found: bool,
}

pub(crate) fn is_start(line: &str) -> bool {
    line.starts_with("Test project /")
        || line.starts_with("Internal ctest changing into directory: ")
        || is_unmistakable(line)
        || summary(line).is_some()
        || result(line).is_some()
}

/// Whether a line can be that of no other tool.
pub(crate) fn is_unmistakable(line: &str) -> bool {
    line == "The following tests FAILED:"
}

impl Read for Ctest {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        if let Some(result) = result(line) {
            self.end_test(out);
            self.has_results = true;
            self.progress = (result.index, result.all);
            let mut test = result.test;
            let missing = std::mem::take(&mut self.missing);
            if test.status == Status::NotRun {
                append(&mut test.note, &missing);
            }
            self.current = Some((result.number, test));
        } else if is_begin(line) {
            self.end_test(out);
        } else if let Some((passed, failed)) = summary(line) {
            self.end_test(out);
            out.summarised(Runner::Ctest, failed);
            if !self.has_results {
                out.counted(passed);
            } else if self.progress.0 < self.progress.1 {
                out.masked();
            }
            if passed + failed > 0 {
                out.ran_unnamed();
            }
            self.ended = true;
        } else if line == "The following tests passed:" {
            self.end_test(out);
            self.ended = true;
        } else if is_unmistakable(line) {
            self.is_listing = !self.has_results;
            self.ended = true;
        } else if line == "No tests were found!!!" {
            out.suspect(FingerprintParts::new(Runner::Ctest, Kind::Error).message(line));
            self.ended = true;
        } else if self.ended {
            return self.closing(line, out);
        } else if let Some((number, text)) = verbose(line) {
            self.output(number, text, out);
        } else if line.starts_with("Unable to find executable: ") {
            self.missing = line.to_string();
        } else if let Some((number, test)) = &mut self.current {
            if test.is_open {
                test.is_open = !line.ends_with(" sec");
                append(&mut test.note, without_seconds(line));
                return Step::Taken;
            }
            let number = *number;
            self.output(number, line, out);
        }
        Step::Taken
    }

    fn finish(&mut self, out: &mut Collector) {
        self.end_test(out);
        for mut output in std::mem::take(&mut self.outputs).into_values() {
            output.end(out);
        }
        if !self.ended {
            out.masked();
        }
    }
}

impl Ctest {
    fn output(&mut self, number: u32, line: &str, out: &mut Collector) {
        if self.outputs.len() < MAX_OUTPUTS || self.outputs.contains_key(&number) {
            self.outputs.entry(number).or_default().line(line, out);
        }
    }

    /// Behind the counts: the list, and hints.
    fn closing(&mut self, line: &str, out: &mut Collector) -> Step {
        if let Some(test) = listed(line) {
            if self.is_listing {
                test.report(None, out);
            }
            return Step::Taken;
        }
        let is_known = line.trim().is_empty()
            || line.starts_with("Total Test time")
            || line.starts_with("Errors while running CTest")
            || line.starts_with("Output from these tests are in")
            || line.starts_with("Use \"--rerun-failed")
            || line.starts_with("The following tests ")
            || line.starts_with("Label Time Summary")
            || line.starts_with('\t');
        if is_known { Step::Taken } else { Step::Refused }
    }

    fn end_test(&mut self, out: &mut Collector) {
        let Some((number, test)) = self.current.take() else { return };
        let mut output = self.outputs.remove(&number).unwrap_or_default();
        if test.status == Status::Timeout {
            // It did not end by itself, so its last test did not crash.
            output.reader = None;
            output.found = false;
        }
        output.end(out);
        test.report(Some(output), out);
    }
}

impl Test {
    fn report(self, output: Option<Output>, out: &mut Collector) {
        let (kind, signature) = match self.status {
            Status::Passed => return out.passed(None, &self.name),
            Status::Skipped => return out.skipped(None, &self.name),
            Status::Failed => (Kind::Error, "failed"),
            Status::Timeout => (Kind::Timeout, "timeout"),
            Status::Crashed => (Kind::Crash, "crashed"),
            Status::NotRun => (Kind::Error, "not run"),
        };
        let output = output.unwrap_or_default();
        if output.found {
            return;
        }
        let mut draft = FingerprintParts::new(Runner::Ctest, kind).test(None, &self.name);
        draft.message = self.note;
        append(&mut draft.message, &output.text);
        draft.signature = signature.to_string();
        let complains = |line: &&str| {
            let lower = line.to_ascii_lowercase();
            COMPLAINTS.iter().any(|word| lower.contains(word))
        };
        if self.status == Status::Failed {
            output.text.lines().filter(complains).for_each(|line| append(&mut draft.signature, line));
        }
        out.failed(draft);
    }
}

impl Output {
    fn line(&mut self, line: &str, out: &mut Collector) {
        if self.lines < MAX_LINES && !line.trim().is_empty() {
            self.lines += 1;
            append(&mut self.text, line.trim_end());
        }
        let before = out.reported();
        self.read(line, out);
        self.found |= out.reported() > before;
    }

    fn read(&mut self, line: &str, out: &mut Collector) {
        if let Some(reader) = &mut self.reader {
            match reader.read.line(line, out) {
                Step::Taken => return,
                Step::Ended => {
                    self.reader = None;
                    return;
                }
                Step::Refused => self.reader = None,
            }
        }
        let begun = detect::begin(line, None, &Tail::default()).filter(|reader| reader.runner.runs_tests());
        let Some(mut reader) = begun.filter(|reader| reader.runner != Runner::Ctest) else { return };
        if reader.read.line(line, out) == Step::Taken {
            self.reader = Some(reader);
        }
    }

    fn end(&mut self, out: &mut Collector) {
        let before = out.reported();
        if let Some(mut reader) = self.reader.take() {
            reader.read.finish(out);
        }
        self.found |= out.reported() > before;
    }
}

struct TestResult {
    index: u64,
    all: u64,
    number: u32,
    test: Test,
}

/// ` 2/24 Test  #2: Calc.Equal .......................***Failed    0.00 sec`
fn result(line: &str) -> Option<TestResult> {
    let text = line.trim_start();
    text.starts_with(|letter: char| letter.is_ascii_digit()).then_some(())?;
    let (index, rest) = text.split_once('/')?;
    let index: u64 = index.parse().ok()?;
    let (all, rest) = rest.cut(" Test ")?;
    let (number, rest) = rest.trim_start().strip_prefix('#')?.cut(": ")?;
    let (name, rest) = rest.cut(" ..").or_else(|| rest.cut("  "))?;
    let outcome = rest.trim_start_matches('.');
    let (all, number) = (all.trim().parse().ok()?, number.parse().ok()?);
    let text = outcome.trim_start_matches(['*', ' ']);
    let text = without_seconds(text);
    let (status, note) = status(text);
    let status = if outcome.trim_start().starts_with("***") { status } else { Status::Passed };
    let is_open = !outcome.trim_end().ends_with(" sec");
    let test = Test { name: name.to_string(), status, note: note.to_string(), is_open };
    Some(TestResult { index, all, number, test })
}

/// The status, and what to say about it.
fn status(text: &str) -> (Status, &str) {
    let lower = text.to_ascii_lowercase();
    if lower.starts_with("skipped") || lower.has("disabled") {
        (Status::Skipped, text)
    } else if lower.starts_with("timeout") {
        (Status::Timeout, "Timeout")
    } else if lower.starts_with("not run") {
        (Status::NotRun, "Not Run")
    } else if lower.starts_with("failed") {
        (Status::Failed, text)
    } else if lower.starts_with("exception") || is_signal(&lower) {
        (Status::Crashed, text)
    } else {
        (Status::Failed, text)
    }
}

/// As the closing list spells them.
fn is_signal(text: &str) -> bool {
    ["segfault", "subprocess aborted", "child aborted", "illegal", "interrupt", "numerical", "other_fault"]
        .iter()
        .any(|signal| text.starts_with(signal))
}

/// `Failed    0.00 sec`
fn without_seconds(text: &str) -> &str {
    let text = text.trim_end();
    let Some(before) = text.strip_suffix(" sec") else { return text };
    before.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.').trim_end()
}

/// `\t  2 - Calc.Equal (Failed)`
fn listed(line: &str) -> Option<Test> {
    let (number, rest) = line.strip_prefix('\t')?.trim_start().cut(" - ")?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then_some(())?;
    let (name, outcome) = rest.trim_end().strip_suffix(')').and_then(|rest| rest.cut_last(" ("))?;
    let (status, note) = status(outcome);
    Some(Test { name: name.to_string(), status, note: note.to_string(), is_open: false })
}

/// `    Start 17: fine`, `test 17`
fn is_begin(line: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let started = line.trim_start().strip_prefix("Start ").filter(|_| line.starts_with("    "));
    started.and_then(|rest| rest.trim_start().cut(": ")).is_some_and(|(text, _)| number(text))
        || line.strip_prefix("test ").is_some_and(number)
}

/// `18: error: expected 4, got 5`
fn verbose(line: &str) -> Option<(u32, &str)> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = line.get(digits..)?.strip_prefix(':')?;
    let is_of_ctest =
        [" Test command: ", " Working Directory: ", " Test timeout computed", " Environment variables"]
            .iter()
            .any(|own| rest.starts_with(own));
    let number = line.get(..digits)?.parse().ok().filter(|_| !is_of_ctest)?;
    Some((number, rest.strip_prefix(' ').unwrap_or(rest)))
}

/// `27% tests passed, 16 tests failed out of 22`: passed and failed.
fn summary(line: &str) -> Option<(u64, u64)> {
    line.starts_with(|letter: char| letter.is_ascii_digit()).then_some(())?;
    let (_, rest) = line.cut("% tests passed, ")?;
    let (failed, rest) = rest.cut(" tests failed out of ").or_else(|| rest.cut(" test failed out of "))?;
    let failed: u64 = failed.trim().parse().ok()?;
    let all: u64 = rest.split(' ').next()?.trim().parse().ok()?;
    Some((all.saturating_sub(failed), failed))
}
