//! The goals of an attempt: they must be seen to pass, every time, with the base's tests too.

use fixpoint_vocabulary::work::{
    CheckCall, CheckEnd, CheckProblem, CheckReport, Command, CommitId, FailureId, GoalProblem,
    ReportedFailure, RestorePaths, TestName,
};

use super::evaluation::{Evaluation, failures_in, found};
use super::first_attempt::{run_checks, whole};
use super::next_attempt::CheckFindings;
use super::{CheckBaseline, Decision, TaskActivity, TaskRun, TestEdits};
use crate::goals::{self, GoalEvidence, GoalRun, GoalVerdict, NamedTests};
use crate::prelude::*;

/// Whether tests were removed whose names nobody knows, since the base could not run them.
pub(super) fn runs_fewer_tests(runs: &[&CheckReport], with_base_tests: Option<&CheckReport>) -> bool {
    let before = with_base_tests.map_or(0, |report| report.counted);
    runs.iter().any(|run| run.counted < before)
}

/// Whether the output names no passing tests, but so many passed that those that failed must be among them.
fn count_suffices(before: &CheckBaseline, failing: usize, runs: &[&CheckReport]) -> bool {
    let needed = before.counted.saturating_add(failing as u64);
    runs.iter().all(|run| run.passed.is_none() && run.counted >= needed)
}

impl TaskRun {
    pub(super) fn run_goals(&self, activity: TaskActivity, commit: &CommitId) -> Decision {
        let call = |goal: &u32| {
            let check = self.baseline.checks.get(goal);
            let watched = check.into_iter().flat_map(CheckBaseline::failing_tests).cloned().collect();
            CheckCall { watched, passed_before: self.passed_before(*goal), ..whole(*goal) }
        };
        Decision::execute(activity, run_checks(commit, self.goals().iter().map(call).collect()))
    }

    pub(super) fn after_goals(&self, evaluation: &Evaluation, reports: &[CheckReport]) -> Decision {
        let all_pass = reports.iter().all(|report| report.end == CheckEnd::Passed);
        if all_pass && evaluation.goal_runs.len() < self.options.goal_runs as usize {
            return self.evaluate(evaluation);
        }
        let is_passing = self.goal_failures(evaluation).is_empty();
        let must_restore = is_passing
            && !evaluation.edited_tests.is_empty()
            && self.options.test_edits == TestEdits::Checked
            && self.has_tests_to_weaken();
        match &self.baseline.base {
            Some(base) if must_restore => {
                let (onto, from) = (evaluation.commit.clone(), base.commit.clone());
                let restore = RestorePaths { onto, from, paths: evaluation.edited_tests.clone() };
                Decision::execute(TaskActivity::RestoringTests, Command::RestorePaths(restore))
            }
            Some(_) | None => self.conclude_goals(TaskActivity::Goals, evaluation),
        }
    }

    pub(super) fn conclude_goals(&self, activity: TaskActivity, evaluation: &Evaluation) -> Decision {
        let failures = self.goal_failures(evaluation);
        if failures.is_empty() {
            return self.run_guards(evaluation);
        }
        let masked = evaluation.goal_runs.iter().flatten().any(|report| report.masked);
        self.conclude(activity, evaluation, CheckFindings { masked, ..CheckFindings::incomplete(failures) })
    }

    /// Tests that did not exist at the base cannot have been weakened.
    fn has_tests_to_weaken(&self) -> bool {
        let goals = self.goals();
        let goals = goals.iter().filter_map(|goal| self.baseline.checks.get(goal));
        let mut failing = goals.flat_map(|goal| goal.failing.iter().flatten());
        failing.any(|id| !matches!(id, FailureId::Check { problem: CheckProblem::NoTestsRan, .. }))
    }

    /// Why the goals do not count as passing; empty where they do.
    fn goal_failures(&self, evaluation: &Evaluation) -> Vec<ReportedFailure> {
        let goals = self.goals();
        // Where one goal fails the others are not run again: what they showed once is no failure of theirs.
        let all_pass = evaluation.goal_runs.iter().flatten().all(|report| report.end == CheckEnd::Passed);
        let required_runs = if all_pass { self.options.goal_runs } else { 1 };
        let verdicts = goals.iter().flat_map(|goal| {
            let of_goal = |report: &&CheckReport| report.check == *goal;
            let runs: Vec<&CheckReport> =
                evaluation.goal_runs.iter().filter_map(|reports| reports.iter().find(of_goal)).collect();
            let with_base_tests = evaluation.with_base_tests.iter().flatten().find(of_goal);
            self.failures_of_goal(*goal, required_runs, &runs, with_base_tests)
        });
        verdicts.collect()
    }

    fn failures_of_goal(
        &self,
        goal: u32,
        required_runs: u32,
        runs: &[&CheckReport],
        with_base_tests: Option<&CheckReport>,
    ) -> Vec<ReportedFailure> {
        let before = self.baseline.checks.get(&goal);
        let failing_before: BTreeSet<&TestName> =
            before.into_iter().flat_map(CheckBaseline::failing_tests).collect();
        let named = before.is_some_and(|before| {
            before.passed.is_some() && !count_suffices(before, failing_before.len(), runs)
        });
        let evidence = GoalEvidence {
            failing_before: if named { failing_before } else { BTreeSet::new() },
            named_tests_before: if named { NamedTests::Yes } else { NamedTests::No },
            required_runs,
            runs: runs.iter().map(|report| as_run(report)).collect(),
            with_base_tests: with_base_tests.map(as_run),
        };
        let problem = |problem, message| Vec::from([found(FailureId::Goal { goal, problem }, message)]);
        let unreadable =
            || problem(GoalProblem::Unreadable, "the goal fails, and its output names no failure");
        match goals::decide(&evidence) {
            GoalVerdict::Passing if runs_fewer_tests(runs, with_base_tests) => {
                problem(GoalProblem::FewerTests, "runs fewer tests than with the base's tests")
            }
            GoalVerdict::Passing => Vec::new(),
            GoalVerdict::Failing { .. } | GoalVerdict::Flaky { .. } => {
                let failures = failures_in(runs);
                if failures.is_empty() { unreadable() } else { failures }
            }
            GoalVerdict::NoTestsRan => problem(GoalProblem::NoTestsRan, "the goal ran no test"),
            GoalVerdict::NotObserved { tests } => {
                let vanished = |test| found(FailureId::Vanished(test), "was not seen passing");
                tests.into_iter().map(vanished).collect()
            }
            GoalVerdict::TestsWeakened { failures } => {
                let weakened = |id| found(FailureId::Weakened(Box::new(id)), "fails with the base's tests");
                let named: Vec<ReportedFailure> = failures.into_iter().map(weakened).collect();
                if named.is_empty() { unreadable() } else { named }
            }
            GoalVerdict::NotRun => unreadable(),
        }
    }
}

fn as_run(report: &CheckReport) -> GoalRun<'_> {
    GoalRun {
        succeeded: report.end == CheckEnd::Passed,
        // Only the watched tests are reported by name; that some test ran is known by their number.
        has_passing_tests: report.passed.is_some_and(|passed| passed > 0),
        seen_passing: &report.seen_passing,
        failed: report.failures.iter().map(ReportedFailure::id).collect(),
    }
}
