//! From what a check printed, wrote and returned to what is reported of it. Pure.
//!
//! Owns the order of trust: a decision file of this very check, what a test runner said test by test, the exit code,
//! and a verdict in words only where the check declares it. Whatever cannot be told is a failure, never a pass.

use std::collections::BTreeSet;

use fixpoint_decide::task_run::NO_TESTS_RAN;
use fixpoint_decide::verdict::{self, Decision, Source};
use fixpoint_failures::{Failure, Report, Runner};
use fixpoint_ports::ExitCause;
use fixpoint_vocabulary::settings::{Check, CheckKind, CheckVerdict};
use fixpoint_vocabulary::work::{CheckCall, CheckEnd, CheckReport, ReportedFailure};
use fixpoint_vocabulary::{Lang, Redacted, Redactor};

/// Failures that are reported, at most; the names of the others are only counted.
const MOST_FAILURES: usize = 500;
/// Characters of a message that are reported.
const LONGEST_MESSAGE: usize = 1000;
const MOST_REASONS: usize = 20;
/// What a shell answers when a command does not exist or may not be run.
const NOT_FOUND: [i32; 2] = [126, 127];

/// What one run of a check left.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) cause: ExitCause,
    pub(crate) report: Report,
    pub(crate) verdict: verdict::Answer,
    /// Who runs the tests, as far as the command line tells.
    pub(crate) runner: Option<Runner>,
    pub(crate) took_ms: u64,
}

impl Ran {
    /// Whether single tests were asked for and none of them was seen in any way.
    pub(crate) fn says_nothing_about(&self, only: &BTreeSet<String>, check: &Check) -> bool {
        let failing = self.report.failures.iter().map(|failure| identity(failure, check));
        let passing = self.report.passed.iter().map(ToString::to_string);
        !only.is_empty() && !failing.chain(passing).any(|test| only.contains(&test)) && !self.report.masked
    }

    /// Whether it ran tests at all, or should have.
    fn is_test_run(&self) -> bool {
        self.report.ran_any || self.runner.is_some_and(runs_tests)
    }
}

/// Whether a tool runs tests, so that a success without any is suspicious.
fn runs_tests(runner: Runner) -> bool {
    match runner {
        Runner::CargoTest
        | Runner::Nextest
        | Runner::GoTest
        | Runner::Pytest
        | Runner::Unittest
        | Runner::Jest
        | Runner::Vitest
        | Runner::Mocha
        | Runner::NodeTest
        | Runner::Junit
        | Runner::Tap => true,
        Runner::Rustc | Runner::Gcc | Runner::Tsc | Runner::Eslint | Runner::Generic => false,
    }
}

/// A check that could not run at all.
pub(crate) fn could_not_run(check: u32, why: &'static str) -> CheckReport {
    CheckReport {
        check,
        end: CheckEnd::CouldNotRun,
        failures: Vec::new(),
        masked: false,
        passed: None,
        counted: 0,
        passed_set: None,
        seen_passing: BTreeSet::new(),
        gone: BTreeSet::new(),
        reasons: vec![Redacted::ours(why)],
        took_ms: 0,
    }
}

/// A check whose directory an attempt has replaced with something else.
pub(crate) fn unplaced(number: u32, check: &Check) -> CheckReport {
    prevented(number, ours("directory", check, "the directory it runs in is no directory any more"))
}

/// A check on a commit that set-up fails on.
pub(crate) fn not_set_up(number: u32, check: &Check) -> CheckReport {
    prevented(
        number,
        ours("set_up", check, "the set-up command fails; are the files that name packages in order?"),
    )
}

/// A check that an attempt made impossible.
fn prevented(number: u32, failure: ReportedFailure) -> CheckReport {
    CheckReport {
        end: CheckEnd::Failed,
        failures: vec![failure],
        masked: true,
        reasons: Vec::new(),
        ..could_not_run(number, "")
    }
}

/// What is reported of a run, and the names of the tests that passed where they are wanted later.
pub(crate) fn told(
    call: &CheckCall,
    check: &Check,
    ran: Ran,
    before: &BTreeSet<String>,
    redactor: &Redactor,
) -> (CheckReport, Option<Vec<String>>) {
    let clean = |name: &str| redactor.redact(name).to_string();
    let passed: BTreeSet<String> = ran.report.passed.iter().map(|test| clean(&test.to_string())).collect();
    let mut failures: Vec<ReportedFailure> =
        ran.report.failures.iter().map(|failure| reported(failure, check, redactor)).collect();
    let failing: BTreeSet<String> = failures.iter().map(|failure| failure.identity.clone()).collect();
    if !call.only.is_empty() {
        // Where the runner cannot run single tests, the others ran too and were not asked about.
        failures.retain(|failure| failure.test().is_none() || call.only.contains(&failure.identity));
    }
    let others = if failing.is_empty() { Others::Fine } else { Others::Failing };
    let Concluded { end, failures, reasons, is_cut } = concluded(check, &ran, failures, others, redactor);
    let is_named = !passed.is_empty() || (ran.report.passed_count() == 0 && failing_tests(&ran.report) > 0);
    let cut_short = ran.report.masked || end == CheckEnd::TimedOut;
    let gone = |test: &&String| !cut_short && !passed.contains(*test) && !failing.contains(*test);
    let report = CheckReport {
        check: call.check,
        end,
        // What is not listed is as unseen as what did not run.
        masked: cut_short || is_cut,
        passed: is_named.then(|| u32::try_from(passed.len()).unwrap_or(u32::MAX)),
        counted: ran.report.passed_count(),
        passed_set: None,
        seen_passing: call.watched.intersection(&passed).cloned().collect(),
        gone: before.iter().filter(gone).cloned().collect(),
        failures,
        reasons,
        took_ms: ran.took_ms,
    };
    let names = (call.only.is_empty() && !passed.is_empty()).then(|| passed.into_iter().collect());
    (report, names)
}

/// Whether tests fail that nobody may have asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Others {
    Fine,
    Failing,
}

/// How a run ended and what stands against it, within bounds.
struct Concluded {
    end: CheckEnd,
    failures: Vec<ReportedFailure>,
    reasons: Vec<Redacted>,
    is_cut: bool,
}

fn concluded(
    check: &Check,
    ran: &Ran,
    mut failures: Vec<ReportedFailure>,
    others: Others,
    redactor: &Redactor,
) -> Concluded {
    let mut reasons: Vec<Redacted> =
        ran.verdict.reasons.iter().map(|reason| redactor.redact(reason.in_lang(Lang::En))).collect();
    let (end, extra) = match &ran.cause {
        // It failed for the sake of tests that were not asked about.
        ExitCause::Exited(_) if failures.is_empty() && others == Others::Failing => (CheckEnd::Passed, None),
        ExitCause::Exited(_)
        | ExitCause::Signalled(_)
        | ExitCause::TimedOut
        | ExitCause::Silent
        | ExitCause::Cancelled
        | ExitCause::NotStarted(_) => conclusion(check, ran, &failures),
    };
    match ran.verdict.source {
        Source::File | Source::Text => {
            let named = ran.verdict.fingerprints.iter().map(|name| named(name, redactor));
            failures = if end == CheckEnd::Passed {
                Vec::new()
            } else {
                failures.into_iter().chain(named).collect()
            };
        }
        // Without a decision the sentence that there is none would be noise.
        Source::None if check.verdict == CheckVerdict::Auto => reasons.clear(),
        Source::None => {}
    }
    if let Some(extra) = extra.filter(|extra| extra.is_needed || failures.is_empty()) {
        failures.push(extra.failure);
    }
    let is_cut = failures.len() > MOST_FAILURES;
    if is_cut {
        failures.sort_by(|a, b| a.identity.cmp(&b.identity));
        let more = failures.len() - MOST_FAILURES;
        failures.truncate(MOST_FAILURES);
        reasons.push(redactor.redact(&format!("{more} more failures are not listed")));
    }
    reasons.truncate(MOST_REASONS);
    Concluded { end, failures, reasons, is_cut }
}

fn failing_tests(report: &Report) -> usize {
    report.failures.iter().filter(|failure| failure.test.is_some()).count()
}

/// A failure that no output names.
struct Extra {
    failure: ReportedFailure,
    /// Whether it stands beside other failures, or only where there are none.
    is_needed: bool,
}

impl Extra {
    fn beside(kind: &str, check: &Check, message: &'static str) -> Self {
        Self { failure: ours(kind, check, message), is_needed: true }
    }

    fn alone(kind: &str, check: &Check, message: &'static str) -> Self {
        Self { failure: ours(kind, check, message), is_needed: false }
    }
}

fn conclusion(check: &Check, ran: &Ran, failures: &[ReportedFailure]) -> (CheckEnd, Option<Extra>) {
    match (ran.verdict.source, ran.verdict.decision) {
        (Source::File, decision) => return by_decision(check, decision),
        (Source::Text, decision) if ran.cause == ExitCause::Exited(0) => return by_decision(check, decision),
        (Source::Text | Source::None, _) => {}
    }
    match &ran.cause {
        ExitCause::Exited(0) if !failures.is_empty() => (CheckEnd::Failed, None),
        ExitCause::Exited(0) if check.kind == CheckKind::Goal && ran.is_test_run() && !ran.report.ran_any => {
            (CheckEnd::Failed, Some(Extra::beside(NO_TESTS_RAN, check, "it ran no test")))
        }
        ExitCause::Exited(0) if check.verdict == CheckVerdict::Text => {
            (CheckEnd::Failed, Some(Extra::beside("undecided", check, "no line of its output is a verdict")))
        }
        ExitCause::Exited(0) => (CheckEnd::Passed, None),
        ExitCause::Exited(code) if NOT_FOUND.contains(code) && !ran.report.ran_any => {
            (CheckEnd::NotFound, Some(Extra::alone("not_found", check, "its command does not exist")))
        }
        ExitCause::Exited(_) => {
            (CheckEnd::Failed, Some(Extra::alone("exit", check, "it failed without a word")))
        }
        ExitCause::TimedOut | ExitCause::Silent => {
            (CheckEnd::TimedOut, Some(Extra::beside("timeout", check, "it did not end in time")))
        }
        ExitCause::Signalled(_) => {
            (CheckEnd::Crashed, Some(Extra::beside("crash", check, "a signal ended it")))
        }
        ExitCause::Cancelled | ExitCause::NotStarted(_) => (CheckEnd::CouldNotRun, None),
    }
}

fn by_decision(check: &Check, decision: Decision) -> (CheckEnd, Option<Extra>) {
    match decision {
        Decision::Complete => (CheckEnd::Passed, None),
        Decision::Waiting => (CheckEnd::Waiting, None),
        Decision::Incomplete | Decision::Undecidable => (
            CheckEnd::Failed,
            Some(Extra::alone("incomplete", check, "it says that something is left to do")),
        ),
    }
}

fn ours(kind: &str, check: &Check, message: &'static str) -> ReportedFailure {
    let identity = format!("{kind}:{}", check.name);
    ReportedFailure { fingerprint: identity.clone(), identity, message: Redacted::ours(message), place: None }
}

/// A failure that a check named itself, in its decision file.
fn named(name: &str, redactor: &Redactor) -> ReportedFailure {
    let name = redactor.redact(name);
    ReportedFailure { identity: name.to_string(), fingerprint: name.to_string(), message: name, place: None }
}

/// Whether an identity names a test, which a runner can be asked to run. The others are of our making.
pub(crate) fn is_test(identity: &str, check: &Check) -> bool {
    let ends_in_name = |rest: &str| rest.split_once(':').is_some_and(|(_, name)| name == check.name);
    let begins_with_name =
        |rest: &str| rest.strip_prefix(&check.name).is_some_and(|rest| rest.starts_with(':'));
    !ends_in_name(identity) && !begins_with_name(identity)
}

/// What a failure is compared by. A command that merely fails is told apart from another that does so in the same
/// words, or without any.
fn identity(failure: &Failure, check: &Check) -> String {
    match (failure.runner, &failure.test) {
        (Runner::Generic, None) => format!("{}:{}", check.name, failure.fingerprint),
        (_, _) => failure.identity(),
    }
}

fn reported(failure: &Failure, check: &Check, redactor: &Redactor) -> ReportedFailure {
    let place = failure.file.as_ref().map(|file| match failure.line {
        Some(line) => format!("{file}:{line}"),
        None => file.clone(),
    });
    // A credential that is cut in two is no longer known as one, so the cut comes last.
    let message = redactor.redact(&failure.message);
    let shortened: String = message.as_str().chars().take(LONGEST_MESSAGE).collect();
    let identity = redactor.redact(&identity(failure, check)).to_string();
    let fingerprint = if failure.test.is_some() { failure.fingerprint.clone() } else { identity.clone() };
    ReportedFailure {
        identity,
        fingerprint,
        message: redactor.redact(&shortened),
        place: place.map(|place| redactor.redact(&place).to_string()),
    }
}

#[cfg(test)]
mod tests;
