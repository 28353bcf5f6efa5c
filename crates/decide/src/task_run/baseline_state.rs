//! What the checks showed before the first attempt, and what is known of them after the last.

use fixpoint_vocabulary::Cause;
use fixpoint_vocabulary::prepared::TestsAtBase;
use fixpoint_vocabulary::work::{
    Base, BlobId, CheckCall, CheckEnd, CheckProblem, CheckReport, CheckRun, FailureId, Leftovers,
    ReportedFailure, Reuse, TestName,
};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::evaluation::{NoResult, no_result};
use super::{ImpliedGoals, TaskRun, TaskStatus};
use crate::prelude::*;
use crate::progress::FailureSet;

/// What one check showed at the base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckBaseline {
    /// How it ended the first time.
    pub end: CheckEnd,
    /// What failed in each run.
    pub failing: Vec<BTreeSet<FailureId>>,
    /// What failed the first time.
    pub failures: Vec<ReportedFailure>,
    /// Whether it was cut short.
    pub masked: bool,
    /// Whether what failed are single findings, and all that it found.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub itemised: bool,
    /// How many tests were seen passing by name; `None` where the output names none.
    pub passed: Option<u32>,
    /// How many tests are known to have passed, by name or by a summary.
    pub counted: u64,
    pub passed_set: Option<BlobId>,
    /// Whether it wrote a decision file.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub decided_by_file: bool,
    /// The tests, and the files that decide what it does, that it rewrote as it ran.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub rewrites: BTreeSet<String>,
}

impl CheckBaseline {
    fn of(report: &CheckReport) -> Self {
        Self {
            end: report.end,
            failing: Vec::from([failing(report)]),
            failures: report.failures.clone(),
            masked: report.masked,
            itemised: report.itemised,
            passed: report.passed,
            counted: report.counted,
            passed_set: report.passed_set.clone(),
            decided_by_file: report.decided_by_file,
            rewrites: report.rewrote.clone(),
        }
    }

    /// Folds a further run. A run that was cut short hides what it did not reach, so a complete one takes its place, and
    /// none takes the place of a complete one. How the first run ended stays: a check that ended badly once has not passed.
    fn record_again(&mut self, report: &CheckReport) {
        match (self.masked, report.masked) {
            (true, false) => {
                let decided_by_file = self.decided_by_file || report.decided_by_file;
                *self = Self { end: self.end, decided_by_file, ..Self::of(report) };
            }
            (false, true) => {}
            (true, true) | (false, false) => {
                self.itemised &= report.itemised || report.end == CheckEnd::Passed;
                self.failing.push(failing(report));
            }
        }
    }

    /// The baseline for a task that begins with an accepted attempt. A failure that used to be there every time and is
    /// gone is forgotten; one that is there sometimes stays known.
    fn after(before: Option<&Self>, report: &CheckReport) -> Self {
        let now = failing(report);
        let Some(before) = before else { return Self::of(report) };
        let always = |id: &&FailureId| before.failing.iter().all(|run| run.contains(*id));
        let still = |run: &BTreeSet<FailureId>| {
            run.iter().filter(|id| now.contains(*id) || !always(id)).cloned().collect()
        };
        Self {
            failing: before.failing.iter().map(still).collect(),
            passed_set: report.passed_set.clone().or_else(|| before.passed_set.clone()),
            decided_by_file: before.decided_by_file,
            rewrites: before.rewrites.clone(),
            ..Self::of(report)
        }
    }

    /// The baseline for the merge of two results: see [`BaselineState::common`].
    fn common(&self, other: &Self) -> Self {
        let (ours, theirs) = (self.failing_always(), other.failing_always());
        let both: BTreeSet<FailureId> = ours.intersection(&theirs).cloned().collect();
        let sometimes = |check: &Self, always: &BTreeSet<FailureId>| -> BTreeSet<FailureId> {
            check.failing.iter().flatten().filter(|id| !always.contains(*id)).cloned().collect()
        };
        let flaky: BTreeSet<FailureId> =
            sometimes(self, &ours).union(&sometimes(other, &theirs)).cloned().collect();
        let failures = self.failures.iter().filter(|failure| both.contains(failure.id()));
        Self {
            failures: failures.cloned().collect(),
            // One run in which the flaky ones failed, and one in which they did not.
            failing: Vec::from([both.union(&flaky).cloned().collect(), both]),
            ..self.clone()
        }
    }

    /// The same without what no longer fails.
    pub(crate) fn still_failing(&self, now: &Self) -> Self {
        let fails = |id: &FailureId| now.failing.iter().any(|run| run.contains(id));
        let still = |run: &BTreeSet<FailureId>| run.iter().filter(|id| fails(id)).cloned().collect();
        Self {
            failures: self.failures.iter().filter(|failure| fails(failure.id())).cloned().collect(),
            failing: self.failing.iter().map(still).collect(),
            ..self.clone()
        }
    }

    pub fn ever_failed(&self) -> bool {
        self.end != CheckEnd::Passed || self.failing.iter().any(|run| !run.is_empty())
    }

    pub fn always_failed(&self) -> bool {
        let Some((first, others)) = self.failing.split_first() else { return false };
        first.iter().any(|id| others.iter().all(|run| run.contains(id)))
    }

    fn failing_always(&self) -> BTreeSet<FailureId> {
        let Some((first, others)) = self.failing.split_first() else { return BTreeSet::new() };
        first.iter().filter(|id| others.iter().all(|run| run.contains(*id))).cloned().collect()
    }

    /// The tests that failed there. Only a test can be seen passing later; a compile error cannot.
    pub fn failing_tests(&self) -> impl Iterator<Item = &TestName> {
        self.failures.iter().filter_map(ReportedFailure::test)
    }

    /// Whether nothing it shows later could prove anything: it fails, and shows nothing passing or never ends. Single
    /// findings are known one by one, so that a new one can be told from them.
    pub fn proves_nothing(&self) -> bool {
        self.end != CheckEnd::Passed && (self.counted == 0 && !self.lists_findings() || self.never_ends())
    }

    /// Whether it fails with findings that are known one by one, and runs no tests.
    pub fn lists_findings(&self) -> bool {
        self.itemised && self.counted == 0 && self.failing_tests().next().is_none()
    }

    /// How many findings are known.
    pub fn known_findings(&self) -> usize {
        self.failing.iter().flatten().collect::<BTreeSet<_>>().len()
    }

    /// Whether it timed out every time. What it had not reached may fail later, and nobody would see it.
    fn never_ends(&self) -> bool {
        let is_timeout =
            |id: &FailureId| matches!(id, FailureId::Check { problem: CheckProblem::Timeout, .. });
        !self.failing.is_empty() && self.failing.iter().all(|run| run.iter().any(is_timeout))
    }

    /// Whether it ran tests, and none of them passed.
    pub fn every_test_failed(&self) -> bool {
        let has_tests = self.failing_tests().next().is_some();
        self.end == CheckEnd::Failed && self.proves_nothing() && self.always_failed() && has_tests
    }
}

/// The call that runs again at the base what failed there. All of it, where a failure may have hidden tests.
fn again(report: &CheckReport) -> CheckCall {
    let whole = CheckCall::whole(report.check);
    if report.masked { whole } else { CheckCall { only: failing(report), ..whole } }
}

pub(super) fn failing(report: &CheckReport) -> BTreeSet<FailureId> {
    report.failures.iter().map(|failure| failure.id().clone()).collect()
}

impl TaskRun {
    pub const fn baseline(&self) -> &BaselineState {
        &self.baseline
    }

    /// The checks that must pass: the named goals, and guards that are goals because they fail.
    pub(super) fn goals(&self) -> BTreeSet<u32> {
        let fails = |guard: &&u32| self.baseline.checks.get(guard).is_some_and(CheckBaseline::always_failed);
        let implied = match self.options.implied_goals {
            ImpliedGoals::None => BTreeSet::new(),
            ImpliedGoals::FailingGuards | ImpliedGoals::FailingGuardsOrNothing => {
                self.options.guards.iter().filter(fails).copied().collect()
            }
        };
        self.options.goals.union(&implied).copied().collect()
    }

    /// The guards that fail at the base with findings that are known one by one, so that only new ones count.
    pub fn guards_with_known_findings(&self) -> impl Iterator<Item = (u32, &CheckBaseline)> {
        let goals = self.goals();
        let guards = self.options.guards.iter().filter(move |guard| !goals.contains(guard));
        let seen = guards.filter_map(|guard| Some((*guard, self.baseline.checks.get(guard)?)));
        seen.filter(|(_, check)| check.ever_failed() && check.lists_findings())
    }

    /// The resulting commit: the accepted attempt, or the base where nothing had to be done.
    pub fn result(&self) -> Option<&Base> {
        match self.status {
            TaskStatus::Ended { cause: Cause::Done } => self.snapshots.last(),
            TaskStatus::Ended { cause: Cause::AlreadySatisfied } => self.baseline.base.as_ref(),
            TaskStatus::Ended { .. }
            | TaskStatus::New
            | TaskStatus::Working { .. }
            | TaskStatus::Paused { .. } => None,
        }
    }

    /// Whether the result differs from what the task began with.
    pub fn changes_files(&self) -> bool {
        let base = self.baseline.base.as_ref().map(|base| &base.tree);
        self.result().is_some_and(|result| Some(&result.tree) != base)
    }

    /// The commit of the attempt that left the least to do.
    pub(crate) fn best_result(&self) -> Option<&Base> {
        let best = self.best()?;
        self.snapshots.iter().rev().find(|made| made.commit == best.commit)
    }

    /// Whether the best result changes nothing outside the scope.
    pub fn is_best_within_scope(&self) -> bool {
        self.best().is_some_and(|best| best.outside.is_empty())
    }

    /// What a task that begins with the result is compared with.
    pub fn baseline_after(&self) -> BaselineState {
        let mut checks = self.baseline.checks.clone();
        for report in self.reports() {
            let after = CheckBaseline::after(checks.get(&report.check), report);
            checks.insert(report.check, after);
        }
        let base = self.result().or(self.baseline.base.as_ref()).cloned();
        BaselineState { base, checks, runs: 0, failed_runs: 0, is_unproven: false }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BaselineState {
    /// The commit that all attempts are compared with.
    pub base: Option<Base>,
    /// What each check showed there, by its number.
    #[serde(deserialize_with = "by_number")]
    pub checks: BTreeMap<u32, CheckBaseline>,
    pub runs: u32,
    /// How many runs in a row showed nothing, because a check could not run.
    #[serde(default, skip_serializing_if = "is_none_yet")]
    pub failed_runs: u32,
    /// Whether the base is unfinished work of another task. The guards never ran on it, so that nothing is left to do
    /// there proves nothing.
    #[serde(default, skip_serializing_if = "is_proven")]
    pub is_unproven: bool,
}

/// How often checks run at the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BaselineLimits {
    /// Runs of what fails.
    pub(crate) runs: u32,
    /// Runs in a row that show nothing.
    pub(crate) failed_runs: u32,
}

/// What follows from a run of checks at the base.
pub(crate) enum BaselineStep {
    /// A check cannot run there.
    Unusable,
    /// A check waits for somebody; the same run is made again.
    Waiting,
    /// What failed is to be run again.
    Again(Vec<CheckCall>),
    /// The checks have run as often as they must.
    Settled,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the shape is given by the serialiser")]
fn is_none_yet(runs: &u32) -> bool {
    *runs == 0
}

fn is_proven(is_unproven: &bool) -> bool {
    !is_unproven
}

/// Reads a map whose keys are numbers. Inside a tagged enum serde has read the keys as text, and takes no text for a
/// number.
fn by_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<u32, CheckBaseline>, D::Error> {
    let by_text = BTreeMap::<String, CheckBaseline>::deserialize(deserializer)?;
    let numbered =
        |(key, check): (String, CheckBaseline)| Ok((key.parse().map_err(D::Error::custom)?, check));
    by_text.into_iter().map(numbered).collect()
}

impl BaselineState {
    /// What the merge of two results is compared with: a failure is known where it is there in both every time, and
    /// flaky where it is there in either sometimes. A check that ran for one of them only stays as it is.
    pub fn common(ours: &Self, theirs: &Self, base: Base) -> Self {
        let mut checks = theirs.checks.clone();
        for (check, known) in &ours.checks {
            let both = match theirs.checks.get(check) {
                Some(other) => known.common(other),
                None => known.clone(),
            };
            checks.insert(*check, both);
        }
        Self { base: Some(base), checks, runs: 0, failed_runs: 0, is_unproven: false }
    }

    /// The baseline for a task that goes on with unfinished work. The goals are run again there: some may pass.
    #[must_use]
    pub fn moved_to(&self, base: Base, goals: &BTreeSet<u32>) -> Self {
        let mut checks = self.checks.clone();
        checks.retain(|check, _| !goals.contains(check));
        Self { base: Some(base), checks, runs: 0, failed_runs: 0, is_unproven: true }
    }

    /// Folds what checks showed at the base. Inconclusive ones run again: what they said so far is no evidence.
    pub(crate) fn record(&mut self, reports: &[CheckReport]) {
        match no_result(reports) {
            Some(NoResult::CouldNotRun | NoResult::Environment) => {
                self.failed_runs += 1;
                return;
            }
            Some(NoResult::Waiting) => return,
            None => {}
        }
        self.runs += 1;
        self.failed_runs = 0;
        for report in reports {
            match self.checks.get_mut(&report.check) {
                Some(known) => known.record_again(report),
                None => {
                    self.checks.insert(report.check, CheckBaseline::of(report));
                }
            }
        }
    }

    /// What failed in the goals; `None` without goals.
    pub(super) fn goal_failures(&self, goals: &BTreeSet<u32>) -> Option<FailureSet> {
        if goals.is_empty() {
            return None;
        }
        let checks: Vec<&CheckBaseline> = goals.iter().filter_map(|goal| self.checks.get(goal)).collect();
        let failures = checks.iter().flat_map(|check| &check.failures);
        Some(FailureSet {
            fingerprints: failures.map(|failure| failure.fingerprint().clone()).collect(),
            out_of_scope: BTreeSet::new(),
            masked: checks.iter().any(|check| check.masked),
        })
    }

    /// The tests that the checks named there.
    pub(crate) fn tests(&self) -> TestsAtBase {
        let checks = || self.checks.values();
        TestsAtBase {
            passed: checks().filter_map(|check| check.passed_set.clone()).collect(),
            failed: checks().flat_map(CheckBaseline::failing_tests).cloned().collect(),
        }
    }

    /// A run of checks at the base, by its number. Another task that began with the same tree may have made it.
    pub(crate) fn run_of(base: &Base, calls: Vec<CheckCall>, number: u32, leftovers: Leftovers) -> CheckRun {
        let reuse = Some(Reuse { tree: base.tree.clone(), run: number });
        CheckRun { commit: base.commit.clone(), calls, reuse, leftovers }
    }

    /// What follows from a run of these calls at the base that was recorded. A given check must be found; what could not
    /// run is run again, until that happened as often as the limits say; what fails in a confirmed check is run again,
    /// until there were so many runs.
    pub(crate) fn after_run(
        &self,
        calls: &[CheckCall],
        reports: &[CheckReport],
        limits: BaselineLimits,
        is_given: impl Fn(u32) -> bool,
        is_confirmed: impl Fn(u32) -> bool,
    ) -> BaselineStep {
        if reports.iter().any(|report| report.end == CheckEnd::NotFound && is_given(report.check)) {
            return BaselineStep::Unusable;
        }
        match no_result(reports) {
            Some(NoResult::CouldNotRun | NoResult::Environment) => {
                let may_try_again = self.failed_runs < limits.failed_runs && !calls.is_empty();
                return if may_try_again {
                    BaselineStep::Again(calls.to_vec())
                } else {
                    BaselineStep::Unusable
                };
            }
            Some(NoResult::Waiting) => return BaselineStep::Waiting,
            None => {}
        }
        let failed =
            reports.iter().filter(|report| !report.failures.is_empty() && is_confirmed(report.check));
        let again: Vec<CheckCall> = failed.map(again).collect();
        if self.runs < limits.runs && !again.is_empty() {
            BaselineStep::Again(again)
        } else {
            BaselineStep::Settled
        }
    }

    pub(super) fn base_tree(&self) -> Option<String> {
        self.base.as_ref().map(|base| base.tree.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use fixpoint_vocabulary::Redacted;
    use fixpoint_vocabulary::work::Fingerprint;

    fn report(end: CheckEnd, masked: bool, failing: &[&str], passed: Option<&str>) -> CheckReport {
        let failure = |test: &&str| {
            ReportedFailure::of_test((*test).into(), Fingerprint(format!("f:{test}")), Redacted::ours(""))
        };
        CheckReport {
            failures: failing.iter().map(failure).collect(),
            masked,
            passed: passed.map(|_| 1),
            counted: u64::from(passed.is_some()),
            passed_set: passed.map(|name| BlobId(name.into())),
            ..CheckReport::new(0, end)
        }
    }

    fn baseline_of(runs: [&CheckReport; 2]) -> CheckBaseline {
        let mut baseline = BaselineState::default();
        for run in runs {
            baseline.record(core::slice::from_ref(run));
        }
        baseline.checks[&0].clone()
    }

    /// Catches a run that was cut short and is believed where a complete one is known: its tests would be unknown, and
    /// a failure that is always there would look flaky.
    #[test]
    fn a_complete_run_outweighs_one_that_was_cut_short() {
        let complete = report(CheckEnd::Failed, false, &["known"], Some("names"));
        let timeout = FailureId::Check { check: "0".into(), problem: CheckProblem::Timeout };
        let cut_short = CheckReport {
            failures: Vec::from([ReportedFailure::new(timeout, Redacted::ours(""))]),
            counted: 5,
            ..report(CheckEnd::TimedOut, true, &[], None)
        };
        for (row, runs, end) in [
            ("the first is cut short", [&cut_short, &complete], CheckEnd::TimedOut),
            ("the second is cut short", [&complete, &cut_short], CheckEnd::Failed),
        ] {
            let expected = CheckBaseline { end, ..CheckBaseline::of(&complete) };
            assert_eq!(baseline_of(runs), expected, "{row}");
        }
        let both = baseline_of([&cut_short, &cut_short]);
        assert_eq!(both.failing.len(), 2);
        assert!(both.proves_nothing(), "it never ends");
        assert!(!baseline_of([&cut_short, &complete]).proves_nothing());
    }
}
