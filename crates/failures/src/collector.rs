//! Collects within limits what readers report: failures, names of tests, and whether the run ended early.
//!
//! Owns every limit on memory but that of a line. What does not fit is counted. Makes the report at the end, when the
//! exit code is known.

use std::collections::{BTreeMap, BTreeSet};

use crate::command::Coverage;
use crate::environment;
use crate::fingerprint::{FingerprintParts, numbered};
use crate::general::{General, Outcome};
use crate::itemised::{self, Signs};
use crate::normalise::Normaliser;
use crate::report::{Failure, Kind, Omitted, Report, Runner, TestId};
use crate::seen::{self, Seen};

/// A reader keeps no more than this many failures either.
pub(crate) const MAX_FAILURES: usize = 4096;
pub(crate) const MAX_MESSAGE: usize = 4096;
/// For each outcome.
pub(crate) const MAX_NAMES: usize = 200_000;
/// For each outcome: bytes of all names.
const MAX_NAME_BYTES: usize = 8 * 1024 * 1024;

#[derive(Debug, Default)]
pub(crate) struct Collector {
    failures: Vec<FingerprintParts>,
    /// Failures that were reported already, so that a repetitive log does not use up the limit.
    known: Seen,
    /// The digests of those that were cut.
    known_long: BTreeSet<[u8; 16]>,
    reported: u64,
    /// Explains a failing command if nothing better is found, such as an uncaught exception.
    last_resort: Option<FingerprintParts>,
    /// Complaints without a place, which explain it as well.
    remarks: Vec<FingerprintParts>,
    passed: Names,
    /// Passed tests, by summaries.
    counted: u64,
    /// Passed test cases of XML documents. A summary may count them too.
    cases: u64,
    /// Failed tests, by a summary, and whose it is.
    failed_by_summary: Option<(Runner, u64)>,
    skipped: Names,
    masked: bool,
    /// Whether a runner says that it did not come to the end.
    is_cut_short: bool,
    ran_any: bool,
    first: Option<Runner>,
    omitted: Omitted,
}

/// What is known at the end of the output.
#[derive(Debug)]
pub(crate) struct Ending<'a> {
    pub(crate) told: Option<Runner>,
    pub(crate) exit_code: Option<i32>,
    pub(crate) normaliser: &'a Normaliser,
    pub(crate) coverage: Coverage,
    pub(crate) long_lines: u64,
    /// The lines that no reader took.
    pub(crate) general: General,
    /// The last lines of the output, for a failure that nothing else explains.
    pub(crate) tail: FingerprintParts,
}

impl Collector {
    pub(crate) fn recognised(&mut self, runner: Runner) {
        self.first.get_or_insert(runner);
    }

    /// How often a failure was reported, also one that was known.
    pub(crate) fn reported(&self) -> u64 {
        self.reported
    }

    pub(crate) fn failed(&mut self, mut draft: FingerprintParts) {
        self.reported += 1;
        self.ran_any |= draft.test.is_some();
        self.masked |= draft.masks();
        if !self.is_new(&draft) {
            return;
        }
        if self.failures.len() >= MAX_FAILURES {
            self.omitted.failures += 1;
            return;
        }
        for text in [&mut draft.message, &mut draft.signature, &mut draft.source] {
            self.omitted.messages += u64::from(cut(text));
        }
        self.failures.push(draft);
    }

    /// Whether a failure was not reported before. It is known from now on, if there is room for it.
    fn is_new(&mut self, draft: &FingerprintParts) -> bool {
        let is_full = self.failures.len() >= MAX_FAILURES;
        if draft.longest() > MAX_MESSAGE {
            let digest = draft.digest();
            return if is_full { !self.known_long.contains(&digest) } else { self.known_long.insert(digest) };
        }
        let is_same = |at: usize| self.failures.get(at).is_some_and(|known| known.says_the_same(draft));
        if is_full {
            return !self.known.has(draft.hash(), is_same);
        }
        self.known.is_new(draft.hash(), self.failures.len(), is_same)
    }

    /// Explains a failing command if nothing else does; the last one counts.
    pub(crate) fn suspect(&mut self, mut draft: FingerprintParts) {
        cut(&mut draft.message);
        self.last_resort = Some(draft);
    }

    /// Explains a failing command, as each of the others does, if no reader finds a failure.
    pub(crate) fn remarked(&mut self, mut draft: FingerprintParts) {
        cut(&mut draft.message);
        if self.remarks.len() < MAX_FAILURES {
            self.remarks.push(draft);
        } else {
            self.omitted.failures += 1;
        }
    }

    pub(crate) fn passed(&mut self, package: Option<&str>, test: &str) {
        self.ran_any = true;
        self.passed.add(package, test);
    }

    pub(crate) fn skipped(&mut self, package: Option<&str>, test: &str) {
        self.skipped.add(package, test);
    }

    pub(crate) fn counted(&mut self, passed: u64) {
        self.ran_any |= passed > 0;
        self.counted = self.counted.saturating_add(passed);
    }

    /// Several test cases may have the same name.
    pub(crate) fn case_passed(&mut self, package: Option<&str>, test: &str) {
        self.cases = self.cases.saturating_add(1);
        self.passed(package, test);
    }

    pub(crate) fn ran_unnamed(&mut self) {
        self.ran_any = true;
    }

    /// A summary counts failed tests. It counts where nothing names some of them: only the end of the output may be there.
    pub(crate) fn summarised(&mut self, runner: Runner, failed: u64) {
        if failed > 0 {
            let before = self.failed_by_summary.map_or(0, |(_, failed)| failed);
            self.failed_by_summary = Some((runner, before.saturating_add(failed)));
        }
    }

    /// The failures that the summaries count and nothing names, so that fewer of them show as progress.
    fn unnamed(&self) -> Vec<FingerprintParts> {
        let Some((runner, failed)) = self.failed_by_summary else { return Vec::new() };
        if !self.failures.is_empty() && !counts_each_failure(runner) {
            return Vec::new();
        }
        let most = u64::try_from(MAX_FAILURES.saturating_sub(self.failures.len())).unwrap_or(u64::MAX);
        let unnamed = |number: u64| {
            let mut draft = FingerprintParts::new(runner, Kind::Error);
            draft.message =
                format!("failure {number} of {failed} in the summary; the output does not name it");
            draft.signature = "counted in the summary".to_string();
            draft.source = format!("failure {number}");
            draft
        };
        (1..=failed.saturating_sub(self.reported).min(most)).map(unnamed).collect()
    }

    pub(crate) fn masked(&mut self) {
        self.masked = true;
        self.is_cut_short = true;
    }

    pub(crate) fn finish(mut self, ending: Ending<'_>) -> Report {
        let succeeded = ending.exit_code == Some(0);
        let mut ending = ending;
        let unread = ending.general.take_environment();
        let signs = self.signs(ending.general.signs());
        if succeeded {
            // A passing command may print what looks like a compiler's complaint.
            self.failures.retain(|draft| !draft.runner.is_diagnostics());
            self.masked &= self.failures.iter().any(FingerprintParts::masks);
        }
        self.failures.extend(self.unnamed());
        if self.failures.is_empty() && !succeeded {
            let outcome = if ending.exit_code.is_some() { Outcome::Failed } else { Outcome::Unknown };
            let remarks = self.last_resort.take().into_iter().chain(std::mem::take(&mut self.remarks));
            let found = ending.general.failures(outcome, remarks.collect());
            self.failures = found.failures;
            self.omitted.failures += found.omitted;
            if self.failures.is_empty() && outcome == Outcome::Failed {
                // A known tool says what went wrong at the end; of an unknown one, any line may say it.
                self.failures = if self.first.is_none() { found.others } else { Vec::new() };
                if self.failures.is_empty() || ending.tail.masks() {
                    self.failures = Vec::from([ending.tail]);
                }
            }
            self.masked |= self.failures.iter().any(FingerprintParts::masks);
        }
        self.omitted.long_lines = ending.long_lines;
        let runner = ending.told.or_else(|| self.dominant()).unwrap_or(Runner::Generic);
        self.only_once();
        let environment = environment::problem(&self.failures, unread);
        let itemised = self.is_itemised(ending.told, ending.exit_code, ending.coverage, signs);
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
            itemised,
            ran_any: self.ran_any,
            environment,
            omitted: self.omitted,
        }
    }

    /// The signs of an early end, also in what explains nothing because a reader found failures.
    fn signs(&self, unread: Signs) -> Signs {
        let mut signs = unread;
        signs.trouble |= self.last_resort.is_some() && !self.failures.is_empty();
        self.remarks.iter().flat_map(|draft| draft.message.lines()).for_each(|line| signs.add(line));
        signs
    }

    fn is_itemised(
        &self,
        told: Option<Runner>,
        exit_code: Option<i32>,
        coverage: Coverage,
        signs: Signs,
    ) -> bool {
        let is_of_tests = |runner: Runner| runner.runs_tests() && runner != Runner::GoTest;
        let runs_tests = self.ran_any
            || told.is_some_and(Runner::runs_tests)
            || self.first.is_some_and(is_of_tests)
            || self.failures.iter().any(|draft| is_of_tests(draft.runner));
        let is_whole = !self.is_cut_short && self.omitted.failures == 0 && !runs_tests;
        is_whole && itemised::is_itemised(&self.failures, exit_code, coverage, signs)
    }

    /// A test whose failure is in an XML document and in the text failed once. The document has the whole message.
    fn only_once(&mut self) {
        let is_xml = |draft: &FingerprintParts| draft.runner == Runner::Junit;
        let in_xml: BTreeSet<TestId> =
            self.failures.iter().filter(|draft| is_xml(draft)).filter_map(test_id).collect();
        let is_other = |draft: &FingerprintParts| test_id(draft).is_none_or(|test| !in_xml.contains(&test));
        self.failures.retain(|draft| is_xml(draft) || is_other(draft));
    }

    /// The runner with the most failures, or else the first one recognised.
    fn dominant(&self) -> Option<Runner> {
        let mut counts: BTreeMap<Runner, usize> = BTreeMap::new();
        for draft in &self.failures {
            *counts.entry(draft.runner).or_default() += 1;
        }
        // A tail that nothing explains belongs to the runner that was recognised.
        let known =
            counts.into_iter().filter(|(runner, _)| *runner != Runner::Generic || self.first.is_none());
        // A test runner speaks for the compilers it calls.
        known
            .max_by_key(|(runner, count)| (!runner.is_diagnostics(), *count))
            .map(|(runner, _)| runner)
            .or(self.first)
    }
}

/// Whether the summary counts what is reported, one by one. Some count every repetition, or tests that did not run, or tests
/// that contain others.
const fn counts_each_failure(runner: Runner) -> bool {
    !matches!(runner, Runner::Tap | Runner::Ctest | Runner::GoogleTest | Runner::Robot)
}

fn test_id(draft: &FingerprintParts) -> Option<TestId> {
    draft.test.as_ref().map(|test| TestId { package: draft.package.clone(), test: test.clone() })
}

/// Removes duplicates: details and a summary of the same failure have the same fingerprint. The same complaint at another
/// place is another failure, with a number: that fewer of them are left must show.
fn distinct(drafts: Vec<FingerprintParts>, normaliser: &Normaliser) -> Vec<Failure> {
    let mut seen: BTreeMap<String, BTreeSet<Option<String>>> = BTreeMap::new();
    let mut failures = Vec::new();
    for draft in drafts {
        let occurrence = draft.occurrence(normaliser);
        let mut failure = draft.finish(normaliser);
        let places = seen.entry(failure.fingerprint.clone()).or_default();
        let n = places.len();
        // What has no place of its own is one of those that have.
        if (occurrence.is_some() || n == 0) && places.insert(occurrence) {
            failure.fingerprint = numbered(&failure.fingerprint, n);
            failures.push(failure);
        }
    }
    failures
}

/// Whether the text had to be cut.
fn cut(text: &mut String) -> bool {
    if text.len() <= MAX_MESSAGE {
        return false;
    }
    text.truncate(text.floor_char_boundary(MAX_MESSAGE));
    true
}

/// Does nothing if the text is full.
pub(crate) fn append(text: &mut String, line: &str) {
    if text.len() <= MAX_MESSAGE {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(line.get(..line.floor_char_boundary(MAX_MESSAGE)).unwrap_or(line));
    }
}

/// Names of tests, each once.
#[derive(Debug, Default)]
struct Names {
    names: Vec<TestId>,
    known: Seen,
    /// Bytes of all names.
    size: usize,
    omitted: u64,
}

impl Names {
    fn add(&mut self, package: Option<&str>, test: &str) {
        let is_same = |at: usize| {
            self.names.get(at).is_some_and(|known| known.test == test && known.package.as_deref() == package)
        };
        let hash = seen::hash_of([package, Some(test)]);
        let size = self.size + test.len() + package.map_or(0, str::len);
        if self.names.len() >= MAX_NAMES || size > MAX_NAME_BYTES {
            self.omitted += u64::from(!self.known.has(hash, is_same));
        } else if self.known.is_new(hash, self.names.len(), is_same) {
            self.size = size;
            self.names.push(TestId { package: package.map(str::to_string), test: test.to_string() });
        }
    }

    fn sorted(&mut self) -> Vec<TestId> {
        let mut names = std::mem::take(&mut self.names);
        names.sort_unstable();
        names.dedup();
        names
    }
}
