//! What parsers hand in, within bounds: failures, names of tests, and whether the run was cut short.
//!
//! Owns every bound on memory but that of a line. What does not fit is counted, never silently dropped. Makes the
//! report at the end, when the exit code is known.

use std::collections::{BTreeMap, BTreeSet};

use crate::fingerprint::FingerprintParts;
use crate::normalise::Normaliser;
use crate::report::{Failure, Omitted, Report, Runner, TestId};

/// Failures that are kept; readers hold back no more than this either.
pub(crate) const MAX_FAILURES: usize = 4096;
/// Bytes of a message that are kept.
pub(crate) const MAX_MESSAGE: usize = 4096;
/// Names of tests that are kept, of each outcome.
pub(crate) const MAX_NAMES: usize = 200_000;

/// What was read so far.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    failures: Vec<FingerprintParts>,
    /// What was handed in already, word for word: a log that repeats itself must not use up the room.
    known: BTreeSet<[u8; 16]>,
    /// What would explain a failing command if nothing better is found, such as an uncaught exception.
    last_resort: Option<FingerprintParts>,
    passed: Names,
    /// Tests that passed as summaries count them.
    counted: u64,
    /// Test cases of XML documents that passed. They may be those that a summary counts already.
    cases: u64,
    skipped: Names,
    masked: bool,
    ran_any: bool,
    /// The first runner that was recognised.
    first: Option<Runner>,
    omitted: Omitted,
}

/// What the end of the output is told.
#[derive(Debug)]
pub(crate) struct Ending<'a> {
    pub(crate) told: Option<Runner>,
    pub(crate) exit_code: Option<i32>,
    pub(crate) normaliser: &'a Normaliser,
    pub(crate) long_lines: u64,
    /// The last lines of the output, for a failure that nothing else explains.
    pub(crate) tail: FingerprintParts,
}

impl Collector {
    /// A runner was recognised.
    pub(crate) fn recognised(&mut self, runner: Runner) {
        self.first.get_or_insert(runner);
    }

    /// A failure.
    pub(crate) fn failed(&mut self, mut draft: FingerprintParts) {
        self.ran_any |= draft.test.is_some();
        self.masked |= draft.masks();
        let digest = draft.digest();
        if self.known.contains(&digest) {
            return;
        }
        if self.failures.len() >= MAX_FAILURES {
            self.omitted.failures += 1;
            return;
        }
        self.known.insert(digest);
        for text in [&mut draft.message, &mut draft.signature, &mut draft.source] {
            self.omitted.messages += u64::from(cut(text));
        }
        self.failures.push(draft);
    }

    /// Something that explains a failing command if nothing else does; the last one counts.
    pub(crate) fn suspect(&mut self, mut draft: FingerprintParts) {
        cut(&mut draft.message);
        self.last_resort = Some(draft);
    }

    /// A test passed.
    pub(crate) fn passed(&mut self, package: Option<&str>, test: &str) {
        self.ran_any = true;
        self.passed.add(package, test);
    }

    /// A test was skipped.
    pub(crate) fn skipped(&mut self, package: Option<&str>, test: &str) {
        self.skipped.add(package, test);
    }

    /// A summary counts this many tests that passed.
    pub(crate) fn counted(&mut self, passed: u64) {
        self.ran_any |= passed > 0;
        self.counted = self.counted.saturating_add(passed);
    }

    /// A test case of an XML document passed; several may share a name.
    pub(crate) fn case_passed(&mut self, package: Option<&str>, test: &str) {
        self.cases = self.cases.saturating_add(1);
        self.passed(package, test);
    }

    /// Tests ran whose names are not known.
    pub(crate) fn ran_unnamed(&mut self) {
        self.ran_any = true;
    }

    /// More might have failed.
    pub(crate) fn masked(&mut self) {
        self.masked = true;
    }

    /// Everything, once there is no more.
    pub(crate) fn finish(mut self, ending: Ending<'_>) -> Report {
        let succeeded = ending.exit_code == Some(0);
        if succeeded {
            // A passing command may print what looks like a compiler's complaint.
            self.failures.retain(|draft| !draft.runner.is_diagnostics());
            self.masked &= self.failures.iter().any(FingerprintParts::masks);
        }
        let failed = ending.exit_code.is_some_and(|code| code != 0);
        if self.failures.is_empty() && !succeeded {
            let fallback = self.last_resort.take().or_else(|| failed.then_some(ending.tail));
            self.masked |= fallback.as_ref().is_some_and(FingerprintParts::masks);
            self.failures.extend(fallback);
        }
        self.omitted.long_lines = ending.long_lines;
        let runner = ending.told.or_else(|| self.dominant()).unwrap_or(Runner::Generic);
        let failing: BTreeSet<TestId> = self.failures.iter().filter_map(test_id).collect();
        let mut passed = self.passed.sorted();
        passed.retain(|test| !failing.contains(test));
        let passed_unnamed = self.counted.max(self.cases).saturating_sub(passed.len() as u64);
        self.omitted.tests = self.passed.omitted + self.skipped.omitted;
        Report {
            runner,
            failures: distinct(self.failures, ending.normaliser),
            passed,
            passed_unnamed,
            skipped: self.skipped.sorted(),
            masked: self.masked,
            ran_any: self.ran_any,
            omitted: self.omitted,
        }
    }

    /// Whose failures these mostly are; whoever was recognised first where nobody's are.
    fn dominant(&self) -> Option<Runner> {
        let mut counts: BTreeMap<Runner, usize> = BTreeMap::new();
        for draft in &self.failures {
            *counts.entry(draft.runner).or_default() += 1;
        }
        // A tail that nothing explains belongs to whoever was running.
        let known =
            counts.into_iter().filter(|(runner, _)| *runner != Runner::Generic || self.first.is_none());
        // A test runner speaks for the compilers it calls.
        known
            .max_by_key(|(runner, count)| (!runner.is_diagnostics(), *count))
            .map(|(runner, _)| runner)
            .or(self.first)
    }
}

fn test_id(draft: &FingerprintParts) -> Option<TestId> {
    draft.test.as_ref().map(|test| TestId { package: draft.package.clone(), test: test.clone() })
}

/// Each fingerprint once: what is printed twice, as details and as a summary, is one failure.
fn distinct(drafts: Vec<FingerprintParts>, normaliser: &Normaliser) -> Vec<Failure> {
    let mut seen = BTreeSet::new();
    let failures = drafts.into_iter().map(|draft| draft.finish(normaliser));
    failures.filter(|failure| seen.insert(failure.fingerprint.clone())).collect()
}

/// Cuts a text to the length of a message; whether that was necessary.
fn cut(text: &mut String) -> bool {
    if text.len() <= MAX_MESSAGE {
        return false;
    }
    text.truncate(text.floor_char_boundary(MAX_MESSAGE));
    true
}

/// Adds a line to a text as long as there is room.
pub(crate) fn append(text: &mut String, line: &str) {
    if text.len() <= MAX_MESSAGE {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(line.get(..line.floor_char_boundary(MAX_MESSAGE)).unwrap_or(line));
    }
}

/// Names, without repetition once there are many.
#[derive(Debug, Default)]
struct Names {
    names: Vec<TestId>,
    /// How many of them are known to be distinct.
    distinct: usize,
    omitted: u64,
}

impl Names {
    fn add(&mut self, package: Option<&str>, test: &str) {
        if self.names.len() >= MAX_NAMES {
            // Sorting again pays only where repetition made room the last time.
            if self.distinct < MAX_NAMES / 2 {
                self.settle();
            }
            if self.names.len() >= MAX_NAMES {
                self.omitted += 1;
                return;
            }
        }
        self.names.push(TestId { package: package.map(str::to_string), test: test.to_string() });
    }

    fn settle(&mut self) {
        self.names.sort_unstable();
        self.names.dedup();
        self.distinct = self.names.len();
    }

    fn sorted(&mut self) -> Vec<TestId> {
        self.settle();
        std::mem::take(&mut self.names)
    }
}
