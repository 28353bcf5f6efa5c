//! What is reported of a check, from its output, its decision file and its exit. Pure.
//!
//! Owns the order of trust: a decision file of this very check, what a test runner said test by test, the exit code,
//! and a verdict in words only where the check declares it. Whatever cannot be told is a failure, never a pass.

use std::collections::BTreeSet;

use fixpoint_decide::verdict::{self, Decision, Source};
use fixpoint_failures::{Failure, Report, Runner, TestId};
use fixpoint_ports::ExitCause;
use fixpoint_vocabulary::settings::{Check, CheckKind, CheckVerdict};
use fixpoint_vocabulary::work::{
    CheckCall, CheckEnd, CheckProblem, CheckReport, FailureId, Fingerprint, ReportedFailure, TestName,
};
use fixpoint_vocabulary::{EnvironmentProblem, Lang, Redacted, Redactor};

use crate::idle::Idle;

/// Failures that are reported at most; the others are counted.
const MOST_FAILURES: usize = 500;
/// Characters of a message that are reported.
const LONGEST_MESSAGE: usize = 1000;
const MOST_REASONS: usize = 20;
/// The exit codes of a shell for a command that does not exist or may not be run.
const NOT_FOUND: [i32; 2] = [126, 127];

/// Which tests a run of a check was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Selection {
    All,
    /// Those that were named, as far as the runner found them.
    Named,
}

/// What one run of a check left.
#[derive(Debug)]
pub(crate) struct FinishedCheck {
    pub(crate) cause: ExitCause,
    pub(crate) report: Report,
    pub(crate) verdict: verdict::Answer,
    /// Who runs the tests, as far as the command line tells.
    pub(crate) runner: Option<Runner>,
    pub(crate) selection: Selection,
    pub(crate) took_ms: u64,
    /// The tests, and the files that decide what it does, that are not as they were before it ran.
    pub(crate) rewrote: BTreeSet<String>,
    /// Tests that were waited for and seen under another name, since their file was renamed.
    pub(crate) moved: BTreeSet<TestName>,
    /// What it says where it ran nothing, if it had everything to do.
    pub(crate) idle: Option<Idle>,
    /// Whether no attempt had changed anything yet, so that what it rewrote is what it always does.
    pub(crate) is_at_base: bool,
    /// What the environment lacked, if that is why it failed.
    pub(crate) environment: Option<EnvironmentProblem>,
}

impl FinishedCheck {
    /// Whether single tests were asked for and none of them was seen in any way.
    pub(crate) fn missed_all(&self, only: &BTreeSet<FailureId>) -> bool {
        let failing = self.report.failures.iter().filter_map(Failure::test_id);
        let mut seen = failing.chain(self.report.passed.iter().cloned());
        let is_asked = |test: TestId| only.contains(&FailureId::Test(TestName(test.to_string())));
        self.selection == Selection::Named && !self.report.masked && !seen.any(is_asked)
    }

    /// Whether it ran tests at all, or should have.
    fn is_test_run(&self) -> bool {
        self.report.ran_any || self.runner.is_some_and(Runner::runs_tests)
    }
}

/// A check that could not run at all.
pub(crate) fn could_not_run(check: u32, why: &'static str) -> CheckReport {
    CheckReport { reasons: vec![Redacted::ours(why)], ..CheckReport::new(check, CheckEnd::CouldNotRun) }
}

/// A check that would use the user's working tree instead of its slot.
pub(crate) fn wrong_tree(number: u32, why: Redacted) -> CheckReport {
    CheckReport { reasons: vec![why], ..could_not_run(number, "") }
}

/// A check that an attempt led into the user's working tree.
pub(crate) fn led_out(number: u32, check: &Check, why: Redacted) -> CheckReport {
    let id = FailureId::Check { check: check.name.clone(), problem: CheckProblem::SetUp };
    prevented(number, ReportedFailure::new(id, why))
}

/// A check whose directory an attempt has replaced with something else.
pub(crate) fn without_directory(number: u32, check: &Check) -> CheckReport {
    let message = "the directory it runs in is no longer a directory";
    prevented(number, whole_check(check, CheckProblem::Directory, message))
}

/// A check on a commit that set-up fails on.
pub(crate) fn not_set_up(number: u32, check: &Check) -> CheckReport {
    let message = "the set-up command fails: did the attempt break a package manifest?";
    prevented(number, whole_check(check, CheckProblem::SetUp, message))
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

/// The report of a run, and the names of the tests that passed where they are needed later.
pub(crate) fn report_of(
    call: &CheckCall,
    check: &Check,
    finished: FinishedCheck,
    before: &BTreeSet<TestName>,
    redactor: &Redactor,
) -> (CheckReport, Option<BTreeSet<TestName>>) {
    if let Some(idle) = ran_nothing(check, &finished).filter(|_| finished.is_at_base) {
        let reasons = vec![redactor.redact(&idle.why())];
        return (CheckReport { reasons, took_ms: finished.took_ms, ..could_not_run(call.check, "") }, None);
    }
    if let Some(problem) = lacking(&finished) {
        return (without_environment(call.check, check, &finished, problem, redactor), None);
    }
    let environment = finished.environment.as_ref().map(|problem| redacted_problem(problem, redactor));
    let report = &finished.report;
    let passed: BTreeSet<TestName> =
        report.passed.iter().map(|test| test_name(&test.to_string(), redactor)).collect();
    let mut failures: Vec<ReportedFailure> =
        report.failures.iter().map(|failure| reported(failure, check, redactor)).collect();
    let failing: BTreeSet<TestName> = failures.iter().filter_map(|failure| failure.test().cloned()).collect();
    let others = if failures.is_empty() { OtherTests::Passing } else { OtherTests::Failing };
    if !call.only.is_empty() {
        // Where the runner cannot run single tests, the others ran too and were not asked about.
        failures.retain(|failure| failure.test().is_none() || call.only.contains(failure.id()));
    }
    let is_named = !passed.is_empty() || (report.passed_count() == 0 && failing_tests(report) > 0);
    let Conclusion { end, failures, reasons, is_truncated } =
        conclude(call, check, &finished, failures, others, redactor);
    let cut_short = report.masked || end == CheckEnd::TimedOut;
    let gone = |test: &&TestName| !cut_short && !passed.contains(*test) && !failing.contains(*test);
    let report = CheckReport {
        check: call.check,
        end,
        // What is not listed is as unseen as what did not run.
        masked: cut_short || is_truncated,
        itemised: !is_truncated && is_itemised(end, &finished, report),
        passed: is_named.then(|| u32::try_from(passed.len()).unwrap_or(u32::MAX)),
        counted: report.passed_count(),
        passed_set: None,
        seen_passing: call.watched.intersection(&passed).chain(&finished.moved).cloned().collect(),
        gone: before.iter().filter(gone).cloned().collect(),
        failures,
        reasons,
        took_ms: finished.took_ms,
        decided_by_file: finished.verdict.source == Source::File,
        rewrote: finished.rewrote,
        environment: environment.filter(|_| end == CheckEnd::NotFound),
    };
    let names = (call.only.is_empty() && !passed.is_empty()).then_some(passed);
    (report, names)
}

/// Whether what failed are single findings: a tool listed them, or the check did in its decision file.
fn is_itemised(end: CheckEnd, finished: &FinishedCheck, report: &Report) -> bool {
    let is_declared = finished.verdict.source == Source::File
        && !finished.verdict.fingerprints.is_empty()
        && !report.ran_any;
    let is_listed = report.itemised && finished.verdict.source == Source::None;
    end == CheckEnd::Failed && (is_declared || is_listed)
}

/// What the environment lacks. Where tests pass at the base, what fails there is known; a check's own decision counts; and a
/// command that does not exist is an end of its own.
fn lacking(finished: &FinishedCheck) -> Option<&EnvironmentProblem> {
    let is_known = finished.is_at_base && finished.report.passed_count() > 0;
    let is_decided = finished.verdict.source != Source::None;
    let is_not_found = matches!(finished.cause, ExitCause::Exited(126 | 127));
    finished.environment.as_ref().filter(|_| !is_known && !is_decided && !is_not_found)
}

/// A check that failed because of its environment.
fn without_environment(
    number: u32,
    check: &Check,
    finished: &FinishedCheck,
    problem: &EnvironmentProblem,
    redactor: &Redactor,
) -> CheckReport {
    let sentence = redactor.redact(problem.sentence().in_lang(Lang::En));
    let id = FailureId::Check { check: check.name.clone(), problem: CheckProblem::Environment };
    CheckReport {
        end: CheckEnd::Environment,
        failures: vec![ReportedFailure::new(id, sentence.clone())],
        masked: true,
        reasons: vec![sentence],
        took_ms: finished.took_ms,
        environment: Some(redacted_problem(problem, redactor)),
        ..CheckReport::new(number, CheckEnd::Environment)
    }
}

fn redacted_problem(problem: &EnvironmentProblem, redactor: &Redactor) -> EnvironmentProblem {
    let redacted = |text: &String| redactor.redact(text).to_string();
    EnvironmentProblem {
        cause: problem.cause,
        subject: problem.subject.as_ref().map(redacted),
        example: problem.example.as_ref().map(redacted),
        said: redacted(&problem.said),
    }
}

/// Why a check ran nothing, where that matters: what is made already may be all that a guard asks for.
fn ran_nothing<'a>(check: &Check, finished: &'a FinishedCheck) -> Option<&'a Idle> {
    let idle = finished.idle.as_ref().filter(|_| finished.cause == ExitCause::Exited(0))?;
    match (idle, check.kind) {
        (Idle::Directory(_), _) | (Idle::Made, CheckKind::Goal) => Some(idle),
        (Idle::Made, CheckKind::Guard) => None,
    }
}

/// Whether tests fail that nobody may have asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OtherTests {
    Passing,
    Failing,
}

/// How a run ended and what stands against it, within bounds.
struct Conclusion {
    end: CheckEnd,
    failures: Vec<ReportedFailure>,
    reasons: Vec<Redacted>,
    is_truncated: bool,
}

fn conclude(
    call: &CheckCall,
    check: &Check,
    finished: &FinishedCheck,
    mut failures: Vec<ReportedFailure>,
    others: OtherTests,
    redactor: &Redactor,
) -> Conclusion {
    let verdict = &finished.verdict;
    let mut reasons: Vec<Redacted> =
        verdict.reasons.iter().map(|reason| redactor.redact(reason.in_lang(Lang::En))).collect();
    let (end, extra) = match &finished.cause {
        // It failed because of tests that were not asked about.
        ExitCause::Exited(_) if failures.is_empty() && others == OtherTests::Failing => {
            (CheckEnd::Passed, None)
        }
        ExitCause::Exited(_)
        | ExitCause::Signalled(_)
        | ExitCause::TimedOut
        | ExitCause::Silent
        | ExitCause::Cancelled
        | ExitCause::NotStarted(_) => end_of(check, finished, &failures),
    };
    match verdict.source {
        Source::File | Source::Text if end == CheckEnd::Passed => failures.clear(),
        Source::File | Source::Text => {
            failures.extend(verdict.fingerprints.iter().map(|name| declared(name, redactor)));
        }
        // Without a decision, the sentence that there is none would be noise.
        Source::None if check.verdict != CheckVerdict::Text => reasons.clear(),
        Source::None => {}
    }
    if let Some(extra) = extra.filter(|extra| extra.stands == Stands::Always || failures.is_empty()) {
        failures.push(extra.failure);
    }
    let end = match rewritten(call, check, finished, redactor) {
        Some(failure) => {
            failures.push(failure);
            if end == CheckEnd::Passed { CheckEnd::Failed } else { end }
        }
        None => end,
    };
    let is_truncated = failures.len() > MOST_FAILURES;
    if is_truncated {
        failures.sort_by(|a, b| a.id().cmp(b.id()));
        let more = failures.len() - MOST_FAILURES;
        failures.truncate(MOST_FAILURES);
        reasons.push(redactor.redact(&format!("{more} more failures are not listed")));
    }
    reasons.truncate(MOST_REASONS);
    Conclusion { end, failures, reasons, is_truncated }
}

/// What a check rewrote that it did not rewrite at the base: tests that pass only since then prove nothing.
fn rewritten(
    call: &CheckCall,
    check: &Check,
    finished: &FinishedCheck,
    redactor: &Redactor,
) -> Option<ReportedFailure> {
    let new: Vec<&str> = finished.rewrote.difference(&call.rewrites).map(String::as_str).collect();
    let message = format!("while the check ran, the code under test rewrote {}", new.join(", "));
    let id = FailureId::Check { check: check.name.clone(), problem: CheckProblem::Rewritten };
    (!new.is_empty() && !finished.is_at_base).then(|| ReportedFailure::new(id, redactor.redact(&message)))
}

fn failing_tests(report: &Report) -> usize {
    report.failures.iter().filter(|failure| failure.test.is_some()).count()
}

/// A failure of the check as a whole, which its output does not name.
struct ExtraFailure {
    failure: ReportedFailure,
    stands: Stands,
}

/// When an extra failure is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    Always,
    /// Only where nothing else fails.
    Alone,
}

fn end_of(
    check: &Check,
    finished: &FinishedCheck,
    failures: &[ReportedFailure],
) -> (CheckEnd, Option<ExtraFailure>) {
    let extra = |stands, problem, message| {
        Some(ExtraFailure { failure: whole_check(check, problem, message), stands })
    };
    let always = |problem, message| extra(Stands::Always, problem, message);
    let alone = |problem, message| extra(Stands::Alone, problem, message);
    let by_decision = |decision| match decision {
        Decision::Complete => (CheckEnd::Passed, None),
        Decision::Waiting => (CheckEnd::Waiting, None),
        Decision::Incomplete | Decision::Undecidable => {
            (CheckEnd::Failed, alone(CheckProblem::Incomplete, "it says that it is incomplete, and not why"))
        }
    };
    match (finished.verdict.source, finished.verdict.decision) {
        // A file may say that something is left to do. It never makes a success of an exit code that is none.
        (Source::File, Decision::Complete) if finished.cause != ExitCause::Exited(0) => {}
        (Source::File, decision) => return by_decision(decision),
        (Source::Text, decision) if finished.cause == ExitCause::Exited(0) => return by_decision(decision),
        (Source::Text | Source::None, _) => {}
    }
    let ran_no_test = || finished.is_test_run() && !finished.report.ran_any;
    match &finished.cause {
        ExitCause::Exited(0) if !failures.is_empty() => (CheckEnd::Failed, None),
        ExitCause::Exited(0) if check.kind == CheckKind::Goal && ran_no_test() => {
            (CheckEnd::Failed, always(CheckProblem::NoTestsRan, "it ran no test"))
        }
        ExitCause::Exited(0) if ran_nothing(check, finished).is_some() => (
            CheckEnd::Failed,
            always(CheckProblem::NoTestsRan, "`make` found nothing to do, so it ran nothing"),
        ),
        ExitCause::Exited(0) if check.verdict == CheckVerdict::Text => {
            (CheckEnd::Failed, always(CheckProblem::Undecided, "no line of its output is a verdict"))
        }
        ExitCause::Exited(0) => (CheckEnd::Passed, None),
        ExitCause::Exited(code) if NOT_FOUND.contains(code) && !finished.report.ran_any => {
            (CheckEnd::NotFound, alone(CheckProblem::NotFound, "its command does not exist"))
        }
        ExitCause::Exited(_) => {
            (CheckEnd::Failed, alone(CheckProblem::Exit, "it failed, and its output names no failure"))
        }
        ExitCause::TimedOut | ExitCause::Silent => {
            (CheckEnd::TimedOut, always(CheckProblem::Timeout, "it did not end in time"))
        }
        ExitCause::Signalled(_) => {
            (CheckEnd::Crashed, always(CheckProblem::Crash, "it was killed by a signal"))
        }
        ExitCause::Cancelled | ExitCause::NotStarted(_) => (CheckEnd::CouldNotRun, None),
    }
}

fn whole_check(check: &Check, problem: CheckProblem, message: &'static str) -> ReportedFailure {
    let id = FailureId::Check { check: check.name.clone(), problem };
    ReportedFailure::new(id, Redacted::ours(message))
}

/// A failure that a check named itself, in its decision file.
fn declared(name: &str, redactor: &Redactor) -> ReportedFailure {
    let name = redactor.redact(name);
    ReportedFailure::new(FailureId::Declared(name.to_string()), name)
}

fn test_name(name: &str, redactor: &Redactor) -> TestName {
    TestName(redactor.redact(name).to_string())
}

fn reported(failure: &Failure, check: &Check, redactor: &Redactor) -> ReportedFailure {
    let place = failure.file.as_ref().map(|file| match failure.line {
        Some(line) => format!("{file}:{line}"),
        None => file.clone(),
    });
    // A credential that is cut in two is no longer recognised, so the cut comes last.
    let message = redactor.redact(&failure.message);
    let shortened: String = message.as_str().chars().take(LONGEST_MESSAGE).collect();
    let message = redactor.redact(&shortened);
    let fingerprint = Fingerprint(failure.fingerprint.clone());
    let reported = match (failure.test_id(), failure.runner) {
        (Some(test), _) => {
            ReportedFailure::of_test(test_name(&test.to_string(), redactor), fingerprint, message)
        }
        // Two checks that fail with the same output, or without any, fail differently.
        (None, Runner::Generic) => {
            let check = redactor.redact(&check.name).to_string();
            ReportedFailure::new(FailureId::Output { check, fingerprint }, message)
        }
        (None, _) => ReportedFailure::new(FailureId::Diagnostic(fingerprint), message),
    };
    reported.at(place.map(|place| redactor.redact(&place).to_string()))
}

#[cfg(test)]
mod tests;
