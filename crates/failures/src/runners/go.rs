//! `go test` and `go vet`, as text.
//!
//! Owns outcomes, the log of each test, panics, and compile errors of packages. Go prints logs and errors of a test
//! alike, so the words of a record decide; a test without an error failed with its last record. Tests are reported when
//! the line with their package is read.

use std::collections::BTreeMap;

use super::{Read, Step, indentation, place};
use crate::collector::{Collector, MAX_FAILURES, MAX_NAMES, append};
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::search::Search;

/// For each test.
const MAX_RECORDS: usize = 64;
/// For each package.
const MAX_TESTS: usize = 1024;

/// Words that appear only in error messages.
const COMPLAINTS: [&str; 25] = [
    "want",
    "expected",
    "got ",
    "error",
    "fail",
    "!=",
    "should",
    "differ",
    "mismatch",
    "unexpected",
    "must",
    "cannot",
    "invalid",
    "nil",
    "denied",
    "not ",
    "missing",
    "wrong",
    "no such",
    "refused",
    "timeout",
    "exceeded",
    "closed",
    "panic",
    "fatal",
];

#[derive(Debug, Clone)]
struct Record {
    file: String,
    line: u32,
    message: String,
}

#[derive(Debug)]
struct Panicked {
    message: String,
    /// The first frame outside Go's own sources: function, file, line.
    frame: Option<(String, String, u32)>,
    function: String,
    test: Option<String>,
    /// The test that began last, if nothing better is found.
    running: Option<String>,
}

/// Reads one `go test` run, or one package of it.
#[derive(Debug, Default)]
pub(crate) struct Go {
    current: Option<String>,
    records: BTreeMap<String, Vec<Record>>,
    failed: Vec<String>,
    outcomes: Vec<(String, Outcome)>,
    panicked: Option<Panicked>,
    /// The package whose compile errors follow.
    compiling: Option<(String, Kind)>,
    /// Whether any package had such errors.
    is_broken: bool,
    exit: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    Skipped,
}

pub(crate) fn is_start(line: &str) -> bool {
    line.starts_with("=== RUN   ")
        || outcome(line).is_some()
        || package_line(line).is_some()
        || compiled(line).is_some()
        || line.starts_with("panic: test timed out after ")
}

/// Whether a line can be that of no other tool.
pub(crate) fn is_unmistakable(line: &str) -> bool {
    line.starts_with("=== RUN   ")
        || line.starts_with("--- FAIL: ") && outcome(line).is_some()
        || line.starts_with("FAIL\t") && package_line(line).is_some()
}

impl Read for Go {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        if let Some((verdict, package)) = package_line(line) {
            if verdict == Verdict::Passed && !line.has("[no tests to run]") {
                // The package is all that is known to have passed where its tests are not named.
                out.counted(1);
            }
            self.end_package(verdict, package, out);
            return Step::Taken;
        }
        if let Some((package, kind)) = compiled(line) {
            self.compiling = Some((package.to_string(), kind));
            return Step::Taken;
        }
        if let Some((package, kind)) = &self.compiling {
            if compile_error(line, package, kind, out) {
                self.is_broken = true;
                return Step::Taken;
            }
            self.compiling = None;
        }
        if let Some(panicked) = &mut self.panicked {
            panicked.add(line);
            return Step::Taken;
        }
        if let Some((verdict, name)) = outcome(line) {
            self.outcome(verdict, name);
        } else if let Some(name) = line.strip_prefix("=== ").and_then(|rest| rest.split_whitespace().nth(1)) {
            self.current = Some(name.to_string());
        } else if let Some(message) =
            line.strip_prefix("panic: ").or_else(|| line.strip_prefix("fatal error: "))
        {
            self.panicked = Some(self.panic(message));
        } else if !self.ended(line) {
            if self.is_idle() && !matches!(line, "" | "FAIL" | "PASS" | "ok") {
                return Step::Refused;
            }
            self.record(line);
        }
        Step::Taken
    }

    fn finish(&mut self, out: &mut Collector) {
        let unfinished = !self.failed.is_empty() || self.panicked.is_some();
        if unfinished {
            self.end_package(Verdict::Failed, "", out);
        }
        self.end_outcomes(None, out);
    }
}

impl Go {
    fn panic(&self, message: &str) -> Panicked {
        let message = message.split(" [recovered").next().unwrap_or(message).to_string();
        // A test that failed before the time was up is another one; those that were running are named below.
        let is_timeout = message.starts_with("test timed out");
        let test = self.failed.last().filter(|_| !is_timeout).or(self.current.as_ref());
        let is_ended = |test: &&String| is_timeout && self.has_ended(test);
        let test = test.filter(|test| !is_ended(test)).cloned();
        let (test, running) = if is_timeout { (None, test) } else { (test, None) };
        Panicked { message, frame: None, function: String::new(), test, running }
    }

    fn has_ended(&self, test: &str) -> bool {
        self.failed.iter().any(|failed| failed == test)
            || self.outcomes.iter().any(|(ended, _)| ended == test)
    }

    fn is_idle(&self) -> bool {
        self.current.is_none() && self.failed.is_empty() && self.outcomes.is_empty() && self.exit.is_empty()
    }

    /// Whether the line says how the test binary ended.
    pub(crate) fn ended(&mut self, line: &str) -> bool {
        let ended = line.starts_with("exit status ") || line.starts_with("signal: ");
        if ended {
            self.exit = line.to_string();
        }
        ended
    }

    pub(crate) fn in_test(&mut self, test: &str) {
        if self.current.as_deref() != Some(test) {
            self.current = Some(test.to_string());
        }
    }

    fn outcome(&mut self, verdict: Verdict, name: &str) {
        self.current = Some(name.to_string());
        match verdict {
            Verdict::Failed if self.failed.len() < MAX_FAILURES => self.failed.push(name.to_string()),
            Verdict::Passed | Verdict::Failed | Verdict::Skipped if self.outcomes.len() >= MAX_NAMES => {}
            Verdict::Failed => {}
            Verdict::Passed => self.outcomes.push((name.to_string(), Outcome::Passed)),
            Verdict::Skipped => self.outcomes.push((name.to_string(), Outcome::Skipped)),
        }
        if verdict != Verdict::Failed {
            self.records.remove(name);
        }
    }

    fn record(&mut self, line: &str) {
        let Some(test) = self.current.as_ref().filter(|_| indentation(line) >= 4) else { return };
        if self.records.len() >= MAX_TESTS && !self.records.contains_key(test) {
            return;
        }
        let records = self.records.entry(test.clone()).or_default();
        let trimmed = line.trim();
        let begins = place(trimmed).filter(|(file, ..)| file.ends_with(".go") && !file.contains(' '));
        match (begins, records.last_mut()) {
            (Some((file, line, rest)), _) => {
                if records.len() >= MAX_RECORDS {
                    records.pop();
                }
                let message = rest.trim_start_matches(':').trim().to_string();
                records.push(Record { file: file.to_string(), line, message });
            }
            (None, Some(last)) => append(&mut last.message, trimmed),
            (None, None) => {}
        }
    }

    fn end_package(&mut self, verdict: Verdict, package: &str, out: &mut Collector) {
        let (package, note) = package.split_once(' ').unwrap_or((package, ""));
        let named = Some(package).filter(|package| !package.is_empty());
        let panicked = self.panicked.take();
        let failed = std::mem::take(&mut self.failed);
        // The errors may be those of a package that it imports.
        let mut explained = self.is_broken && note.has("failed");
        for name in &failed {
            explained = true;
            let has_failed_part = failed.iter().any(|other| is_part_of(other, name));
            let records = self.records.remove(name).unwrap_or_default();
            let panics_here =
                panicked.as_ref().is_some_and(|panicked| panicked.test.as_deref() == Some(name));
            let is_only_a_frame = records.is_empty() && has_failed_part;
            if !(panics_here || is_only_a_frame) {
                report(named, name, &records, out);
            }
        }
        if let Some(panicked) = panicked {
            explained = true;
            out.failed(panicked.into_draft(named));
            out.masked();
        }
        if verdict == Verdict::Failed && !explained && !package.is_empty() {
            let kind = if self.exit.starts_with("signal: ") { Kind::Crash } else { Kind::Error };
            let mut draft =
                FingerprintParts::new(Runner::GoTest, kind).message(format!("{} {note}", self.exit).trim());
            draft.package = named.map(str::to_string);
            draft.source = draft.message.clone();
            out.failed(draft);
        }
        self.end_outcomes(named, out);
        self.records.clear();
        self.exit.clear();
        self.current = None;
    }

    fn end_outcomes(&mut self, package: Option<&str>, out: &mut Collector) {
        for (name, outcome) in std::mem::take(&mut self.outcomes) {
            match outcome {
                Outcome::Passed => out.passed(package, &name),
                Outcome::Skipped => out.skipped(package, &name),
            }
        }
    }
}

fn is_part_of(test: &str, whole: &str) -> bool {
    test.strip_prefix(whole).is_some_and(|rest| rest.starts_with('/'))
}

/// Every record with an error is a failure; if there is none, the last record is.
fn report(package: Option<&str>, name: &str, records: &[Record], out: &mut Collector) {
    let complains = |record: &&Record| {
        let lower = record.message.to_ascii_lowercase();
        COMPLAINTS.iter().any(|word| lower.contains(word))
    };
    let mut complaints: Vec<&Record> = records.iter().filter(complains).collect();
    if complaints.is_empty() {
        complaints.extend(records.last());
    }
    if complaints.is_empty() {
        out.failed(FingerprintParts::new(Runner::GoTest, Kind::Error).test(package, name));
    }
    for record in complaints {
        let draft = FingerprintParts::new(Runner::GoTest, Kind::Assertion)
            .test(package, name)
            .message(record.message.clone());
        out.failed(draft.at(Some((&record.file, Some(record.line)))));
    }
}

impl Panicked {
    fn add(&mut self, line: &str) {
        let trimmed = line.trim();
        if let Some((file, number, _)) = place(trimmed).filter(|(file, ..)| file.ends_with(".go")) {
            let is_own = !file.has("/src/runtime/") && !file.has("/src/testing/") && !file.has("/src/time/");
            if is_own && self.frame.is_none() && !file.starts_with("_testmain") {
                self.frame = Some((self.function.clone(), file.to_string(), number));
            }
        } else if let Some(test) = running(line).filter(|_| self.message.starts_with("test timed out")) {
            self.test.get_or_insert(test.to_string());
        } else if let Some((function, _)) = trimmed.rsplit_once('(') {
            self.function = function.to_string();
            // A test that hangs shows only in the stacks.
            let last = function.rsplit('.').next().unwrap_or_default();
            if self.test.is_none() && last.starts_with("Test") && function.contains('.') {
                self.test = Some(last.to_string());
            }
        }
    }

    fn into_draft(self, package: Option<&str>) -> FingerprintParts {
        let kind = if self.message.starts_with("test timed out") { Kind::Timeout } else { Kind::Panic };
        let mut draft = FingerprintParts::new(Runner::GoTest, kind).message(self.message);
        draft.package = package.map(str::to_string);
        draft.test = self.test.or(self.running);
        if let Some((function, file, line)) = self.frame {
            draft.source = function;
            draft = draft.at(Some((&file, Some(line))));
        }
        draft
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Passed,
    Failed,
    Skipped,
}

/// `--- FAIL: TestTable/2+3 (0.00s)`, at any depth.
fn outcome(line: &str) -> Option<(Verdict, &str)> {
    let (word, rest) = line.trim_start().strip_prefix("--- ")?.cut(": ")?;
    let verdict = match word {
        "PASS" => Verdict::Passed,
        "FAIL" => Verdict::Failed,
        "SKIP" => Verdict::Skipped,
        _ => return None,
    };
    let (name, duration) = rest.cut_last(" (")?;
    duration.ends_with("s)").then_some((verdict, name))
}

/// `FAIL` and similar, the package and a duration, separated by tabs: the verdict and the package, with a note in brackets.
fn package_line(line: &str) -> Option<(Verdict, &str)> {
    let (word, rest) = line.split_once('\t')?;
    let verdict = match word.trim_end() {
        "ok" => Verdict::Passed,
        "FAIL" => Verdict::Failed,
        "?" | "---" => Verdict::Skipped,
        "" if rest.has("coverage:") => Verdict::Skipped,
        _ => return None,
    };
    let package = rest.split('\t').next().unwrap_or(rest).trim();
    (!package.is_empty()).then_some((verdict, package))
}

/// `\tTestX (1s)`, below `running tests:`
fn running(line: &str) -> Option<&str> {
    let (test, duration) = line.strip_prefix('\t')?.cut(" (")?;
    (test.starts_with(|letter: char| letter.is_uppercase()) && duration.ends_with("s)")).then_some(test)
}

/// `# example.com/calc/broken [example.com/calc/broken.test]`, and `# [example.com/calc]` of `go vet`: the package, and
/// what its lines are.
fn compiled(line: &str) -> Option<(&str, Kind)> {
    let rest = line.strip_prefix("# ")?;
    if let Some(package) = rest.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return (!package.contains(' ')).then_some((package, Kind::Lint));
    }
    let package = rest.split(' ').next()?;
    let is_word = package.starts_with(|letter: char| letter.is_ascii_lowercase())
        && package.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    let is_path = (package.contains(['/', '.']) || is_word) && !package.contains(':');
    (is_path && (line.ends_with(']') || !rest.contains(' '))).then_some((package, Kind::Compile))
}

/// Whether the line is a compile error, or part of one.
fn compile_error(line: &str, package: &str, kind: &Kind, out: &mut Collector) -> bool {
    let bare = line.strip_prefix("vet: ").unwrap_or(line);
    let Some((file, number, message)) =
        place(bare).filter(|(file, ..)| file.ends_with(".go") && !file.contains(' '))
    else {
        let is_limit = line.starts_with("too many errors");
        if is_limit {
            out.masked();
        }
        return is_limit || line.starts_with('\t');
    };
    let message = message.trim_start_matches(':').trim();
    if message == "too many errors" {
        return true;
    }
    let mut draft =
        FingerprintParts::new(Runner::GoTest, kind.clone()).message(message).at(Some((file, Some(number))));
    draft.package = Some(package.to_string());
    out.failed(draft);
    true
}
