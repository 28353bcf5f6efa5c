//! The goals of an attempt on trial: they must be seen to pass, every time, with the tests as they were.

use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixpoint_vocabulary::work::{CheckCall, CheckEnd, CheckReport, Command, GraftOrder, ReportedFailure};

use super::beginning::whole;
use super::ground::identities;
use super::next_attempt::Told;
use super::trial::{failures_in, found};
use super::{CheckBaseline, Decision, TaskRun, TestEdits, Trial, Work};
use crate::goals::{self, GoalEvidence, GoalRun, GoalVerdict, NamedTests};

/// How the failure of a check begins that ran no test where it should.
pub const NO_TESTS_RAN: &str = "no_tests_ran";

/// Whether tests were removed whose names nobody knew, since the base could not run them.
pub(super) fn runs_fewer_tests(runs: &[CheckReport], with_base_tests: Option<&CheckReport>) -> bool {
    let before = with_base_tests.map_or(0, |report| report.counted);
    runs.iter().any(|run| run.counted < before)
}

/// Whether the goals told no names of passing tests, but so many passed that those that failed must be among them.
fn count_suffices(before: &CheckBaseline, failing: &BTreeSet<String>, runs: &[CheckReport]) -> bool {
    let needed = before.counted.saturating_add(failing.len() as u64);
    runs.iter().all(|run| run.passed.is_none() && run.counted >= needed)
}

impl TaskRun {
    pub(super) fn goal_calls(&self) -> Vec<CheckCall> {
        let call = |goal: &u32| {
            let watched = self.ground.checks.get(goal).map(|check| check.failing_tests()).unwrap_or_default();
            CheckCall { watched, passed_before: self.passed_before(*goal), ..whole(*goal) }
        };
        self.goals().iter().map(call).collect()
    }

    pub(super) fn with_goals(&self, trial: &Trial, reports: &[CheckReport]) -> Decision {
        let all_pass = reports.iter().all(|report| report.end == CheckEnd::Passed);
        if all_pass && trial.goal_runs.len() < self.order.goal_runs as usize {
            return self.evaluate(trial);
        }
        let is_passing = self.goal_failures(trial).is_empty();
        let must_restore = is_passing
            && !trial.edited_tests.is_empty()
            && self.order.test_edits == TestEdits::Checked
            && self.has_tests_to_weaken();
        match &self.ground.base {
            Some(base) if must_restore => {
                let (onto, from) = (trial.commit.clone(), base.commit.clone());
                let order = GraftOrder { onto, from, paths: trial.edited_tests.clone() };
                Decision::perform(Work::RestoringTests, Command::Graft(order))
            }
            Some(_) | None => self.with_goal_verdict(Work::Goals, trial),
        }
    }

    pub(super) fn with_goal_verdict(&self, work: Work, trial: &Trial) -> Decision {
        let failures = self.goal_failures(trial);
        if failures.is_empty() {
            return self.run_guards(trial);
        }
        let masked = trial.goal_runs.iter().flatten().any(|report| report.masked);
        self.judge(work, trial, Told { masked, ..Told::incomplete(failures) })
    }

    /// Tests that did not exist at the base cannot have been weakened.
    fn has_tests_to_weaken(&self) -> bool {
        let goals = self.goals();
        let goals = goals.iter().filter_map(|goal| self.ground.checks.get(goal));
        let mut failing = goals.flat_map(|goal| goal.failing.iter().flatten());
        failing.any(|identity| !identity.starts_with(NO_TESTS_RAN))
    }

    /// What stands between the goals and passing.
    fn goal_failures(&self, trial: &Trial) -> Vec<ReportedFailure> {
        let goals = self.goals();
        // Where one goal fails the others are not run again: what they showed once is no failure of theirs.
        let all_pass = trial.goal_runs.iter().flatten().all(|report| report.end == CheckEnd::Passed);
        let required_runs = if all_pass { self.order.goal_runs } else { 1 };
        let verdicts = goals.iter().flat_map(|goal| {
            let of_goal =
                |reports: &Vec<CheckReport>| reports.iter().find(|report| report.check == *goal).cloned();
            let runs: Vec<CheckReport> = trial.goal_runs.iter().filter_map(of_goal).collect();
            let with_base_tests = trial.with_base_tests.as_ref().and_then(of_goal);
            self.failures_of_goal(*goal, required_runs, &runs, with_base_tests.as_ref())
        });
        verdicts.collect()
    }

    fn failures_of_goal(
        &self,
        goal: u32,
        required_runs: u32,
        runs: &[CheckReport],
        with_base_tests: Option<&CheckReport>,
    ) -> Vec<ReportedFailure> {
        let before = self.ground.checks.get(&goal);
        let failing_before = before.map(|before| before.failing_tests()).unwrap_or_default();
        let named = before
            .is_some_and(|before| before.passed.is_some() && !count_suffices(before, &failing_before, runs));
        let failing_before = if named { failing_before } else { BTreeSet::new() };
        let as_run = |report: &CheckReport| GoalRun {
            succeeded: report.end == CheckEnd::Passed,
            // Only the watched tests are reported by name; that some test ran is known by their number.
            passed: match report.passed {
                Some(0) | None => BTreeSet::new(),
                Some(_) => report.seen_passing.iter().cloned().chain([String::new()]).collect(),
            },
            failed: identities(report),
        };
        let evidence = GoalEvidence {
            failing_before,
            named_tests_before: if named { NamedTests::Yes } else { NamedTests::No },
            required_runs,
            runs: runs.iter().map(as_run).collect(),
            with_base_tests: with_base_tests.map(as_run),
        };
        let unread =
            || Vec::from([found("goal", &goal.to_string(), "the goal fails without saying at what")]);
        match goals::decide(&evidence) {
            GoalVerdict::Passing if runs_fewer_tests(runs, with_base_tests) => {
                let message = "runs fewer tests than with the tests as they were";
                Vec::from([found("vanished", &goal.to_string(), message)])
            }
            GoalVerdict::Passing => Vec::new(),
            GoalVerdict::Failing { .. } | GoalVerdict::Flaky { .. } => {
                let failures = failures_in(runs);
                if failures.is_empty() { unread() } else { failures }
            }
            GoalVerdict::NoTestsRan => {
                Vec::from([found(NO_TESTS_RAN, &goal.to_string(), "the goal ran no test")])
            }
            GoalVerdict::NotObserved { tests } => {
                let gone = |test: &String| found("vanished", test, "was not seen passing");
                tests.iter().map(gone).collect()
            }
            GoalVerdict::TestsWeakened { failures } => {
                let weakened = |test: &String| found("weakened", test, "fails with the tests as they were");
                let named: Vec<ReportedFailure> = failures.iter().map(weakened).collect();
                if named.is_empty() { unread() } else { named }
            }
            GoalVerdict::NotRun => unread(),
        }
    }
}
