//! The goals of an attempt: they must be seen to pass, every time, in its own tree and in the proof tree.

use fixpoint_vocabulary::work::{
    CheckCall, CheckEnd, CheckReport, CommitId, FailureId, GoalProblem, ReportedFailure, TestName,
};

use super::evaluation::{Evaluation, failures_in, found};
use super::next_attempt::CheckFindings;
use super::proof_tree::TreeKind;
use super::{CheckBaseline, Decision, TaskActivity, TaskRun, TestEdits};
use crate::goals::{self, GoalEvidence, GoalRun, GoalVerdict, NamedTests};
use crate::prelude::*;

/// Whether tests were removed whose names nobody knows, since the base could not run them.
pub(super) fn runs_fewer_tests(runs: &[&CheckReport], in_proof_tree: &[&CheckReport]) -> bool {
    let before = in_proof_tree.iter().map(|report| report.counted).max().unwrap_or(0);
    runs.iter().any(|run| run.counted < before)
}

/// Whether so many tests passed that those that failed must be among them, whatever they are called: that counts where
/// the output names no passing tests, and where tests may be renamed.
fn count_suffices(
    before: &CheckBaseline,
    failing: usize,
    runs: &[&CheckReport],
    test_edits: TestEdits,
) -> bool {
    let needed = before.counted.saturating_add(failing as u64);
    let may_be_renamed = test_edits == TestEdits::Allowed;
    runs.iter().all(|run| (run.passed.is_none() || may_be_renamed) && run.counted >= needed)
}

impl TaskRun {
    /// Runs the goals in the attempt's own tree, then in the proof tree, so that they have run as often as they must.
    pub(super) fn run_goals(&self, evaluation: &Evaluation) -> Decision {
        let proof_tree = match self.goal_tree(evaluation) {
            Ok(commit) if commit == evaluation.commit && self.options.goal_runs <= 1 => Ok(commit),
            // The own tree comes first: where the goals fail there, nothing is to be proven.
            _ if evaluation.goal_runs.is_empty() => {
                return self.call_goals(TreeKind::Own, &evaluation.commit);
            }
            tree => tree,
        };
        match proof_tree {
            Ok(commit) => self.call_goals(TreeKind::Proof, &commit),
            Err(restore) => Self::build_proof_tree(restore),
        }
    }

    fn call_goals(&self, tree: TreeKind, commit: &CommitId) -> Decision {
        let call = |goal: &u32| {
            let check = self.baseline.checks.get(goal);
            let watched = check.into_iter().flat_map(CheckBaseline::failing_tests).cloned().collect();
            CheckCall { watched, passed_before: self.passed_before(*goal), ..CheckCall::whole(*goal) }
        };
        let activity = match tree {
            TreeKind::Own => TaskActivity::Goals,
            TreeKind::Proof => TaskActivity::ProofGoals,
        };
        let calls = self.goals().iter().map(call).collect();
        Decision::execute(activity, self.run_checks(commit, calls, tree.leftovers()))
    }

    pub(super) fn after_goals(&self, activity: TaskActivity, evaluation: &Evaluation) -> Decision {
        let runs = evaluation.goal_runs.iter().chain(&evaluation.proof_goal_runs);
        let all_pass = runs.clone().flatten().all(|report| report.end == CheckEnd::Passed);
        let is_proven = !evaluation.proof_goal_runs.is_empty();
        if all_pass && (!is_proven || runs.count() < self.options.goal_runs as usize) {
            return self.run_goals(evaluation);
        }
        let failures = self.goal_failures(evaluation);
        if failures.is_empty() {
            return self.run_guards(evaluation);
        }
        let masked = evaluation.goal_runs.iter().flatten().any(|report| report.masked);
        self.conclude(activity, evaluation, CheckFindings { masked, ..CheckFindings::incomplete(failures) })
    }

    /// Why the goals do not count as passing; empty where they do.
    fn goal_failures(&self, evaluation: &Evaluation) -> Vec<ReportedFailure> {
        let (own, proof) = (&evaluation.goal_runs, &evaluation.proof_goal_runs);
        let all_pass = own.iter().chain(proof).flatten().all(|report| report.end == CheckEnd::Passed);
        let goals = self.goals();
        let verdicts = goals.iter().flat_map(|goal| {
            let of_goal =
                |run: &'_ Vec<CheckReport>| run.iter().find(|report| report.check == *goal).cloned();
            let (own, proof): (Vec<CheckReport>, Vec<CheckReport>) =
                (own.iter().filter_map(of_goal).collect(), proof.iter().filter_map(of_goal).collect());
            // Where one goal fails the others are not run again: what they showed once is no failure of theirs.
            let required = if all_pass { self.options.goal_runs } else { 1 };
            if evaluation.proof_trees.goals.is_some() {
                let (own, proof): (Vec<_>, Vec<_>) = (own.iter().collect(), proof.iter().collect());
                let required = required.saturating_sub(u32::try_from(proof.len()).unwrap_or(u32::MAX));
                self.failures_of_goal(evaluation, *goal, required, &own, &proof)
            } else {
                let all: Vec<&CheckReport> = own.iter().chain(&proof).collect();
                self.failures_of_goal(evaluation, *goal, required, &all, &[])
            }
        });
        verdicts.collect()
    }

    fn failures_of_goal(
        &self,
        evaluation: &Evaluation,
        goal: u32,
        required_runs: u32,
        runs: &[&CheckReport],
        in_proof_tree: &[&CheckReport],
    ) -> Vec<ReportedFailure> {
        let before = self.baseline.checks.get(&goal);
        let failing_before: BTreeSet<&TestName> =
            before.into_iter().flat_map(CheckBaseline::failing_tests).collect();
        let named = before.is_some_and(|before| {
            let test_edits = self.options.test_edits;
            before.passed.is_some() && !count_suffices(before, failing_before.len(), runs, test_edits)
        });
        let evidence = GoalEvidence {
            failing_before: if named { failing_before } else { BTreeSet::new() },
            named_tests_before: if named { NamedTests::Yes } else { NamedTests::No },
            required_runs,
            runs: runs.iter().map(|report| as_run(report)).collect(),
            in_proof_tree: in_proof_tree.iter().map(|report| as_run(report)).collect(),
        };
        let problem = |problem, message| Vec::from([found(FailureId::Goal { goal, problem }, message)]);
        let unreadable =
            || problem(GoalProblem::Unreadable, "the goal fails, and its output names no failure");
        match goals::decide(&evidence) {
            GoalVerdict::Passing if runs_fewer_tests(runs, in_proof_tree) => {
                problem(GoalProblem::FewerTests, "runs fewer tests than with the base's tests")
            }
            GoalVerdict::Passing if before.is_some_and(|before| self.passes_fewer_tests(before, runs)) => {
                let message = "fewer tests pass than ran at the base: some were left out or skipped";
                problem(GoalProblem::FewerTests, message)
            }
            GoalVerdict::Passing => Vec::new(),
            GoalVerdict::Failing { .. } | GoalVerdict::Flaky { .. } => {
                let mut failures = failures_in(runs);
                failures.extend(self.missing_tests(&evidence.failing_before, runs));
                if failures.is_empty() { unreadable() } else { failures }
            }
            GoalVerdict::NoTestsRan => {
                let mut failures = problem(GoalProblem::NoTestsRan, "the goal ran no test");
                failures.extend(self.missing_tests(&evidence.failing_before, runs));
                failures
            }
            GoalVerdict::NotObserved { tests } => tests.into_iter().map(not_seen).collect(),
            GoalVerdict::TestsWeakened { failures } => {
                let unnamed = FailureId::Goal { goal, problem: GoalProblem::Unreadable };
                let failures = if failures.is_empty() { BTreeSet::from([unnamed]) } else { failures };
                failures.into_iter().map(|id| self.weakened(evaluation, id)).collect()
            }
            GoalVerdict::NotRun => unreadable(),
        }
    }

    /// Whether a goal whose output counts tests without naming those that pass has fewer that pass than it ran at the base.
    fn passes_fewer_tests(&self, before: &CheckBaseline, runs: &[&CheckReport]) -> bool {
        // A test with several parts is counted once, and each part that fails is named: `test_table (row=1)`.
        let whole = |test: &TestName| test.as_str().split([' ', '(']).next().unwrap_or_default().to_string();
        let failing = before.failing_tests().map(whole).collect::<BTreeSet<String>>().len() as u64;
        let ran = before.counted.saturating_add(failing);
        let is_counted = failing > 0 && before.passed.is_none() && !before.masked;
        let may_remove = self.options.test_edits == TestEdits::Allowed;
        // Where none was counted at the base, the output may count none at all.
        let counts = |run: &&&CheckReport| before.counted > 0 || run.counted > 0;
        is_counted && !may_remove && runs.iter().filter(counts).any(|run| run.counted < ran)
    }

    /// Tests that failed before and were neither seen failing nor passing, in runs that were not cut short. To remove a
    /// failing test is no progress.
    fn missing_tests(
        &self,
        failing_before: &BTreeSet<&TestName>,
        runs: &[&CheckReport],
    ) -> Vec<ReportedFailure> {
        let is_seen = |test: &TestName, run: &&CheckReport| {
            run.masked
                || run.seen_passing.contains(test)
                || run.failures.iter().any(|failure| failure.test() == Some(test))
        };
        let is_missing = |test: &&&TestName| !runs.iter().any(|run| is_seen(test, run));
        let may_remove = self.options.test_edits == TestEdits::Allowed;
        let missing = failing_before.iter().filter(is_missing).filter(|_| !may_remove);
        missing.map(|test| not_seen((*test).clone())).collect()
    }
}

fn not_seen(test: TestName) -> ReportedFailure {
    found(FailureId::Vanished(test), "was not seen passing")
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
