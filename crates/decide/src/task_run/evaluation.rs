//! An attempt under evaluation: scope, goals, guards and judge, each only where the one before left something to ask.

use fixpoint_vocabulary::settings::OnViolation;
use fixpoint_vocabulary::work::{
    AgentEnd, AttemptCommand, AttemptResult, Base, CheckEnd, CheckReport, Command, CommitId, FailureId,
    ProtectedChange, ReportedFailure, RestorePaths, RestoredPath, TreeId,
};
use fixpoint_vocabulary::{Cause, Redacted};
use serde::{Deserialize, Serialize};

use super::baseline_state::failing;
use super::next_attempt::CheckFindings;
use super::proof_tree::{ProofTrees, TreeKind};
use super::{Decision, TaskActivity, TaskRun};
use crate::convergence::AttemptOutcome;
use crate::prelude::*;

/// An attempt that is being evaluated, with the evidence so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Evaluation {
    pub(super) stage: u32,
    /// The commit the attempt began with.
    pub(super) start: CommitId,
    /// Its tree; `None` for work that was there before any attempt.
    pub(super) start_tree: Option<String>,
    pub(super) commit: CommitId,
    pub(super) tree: TreeId,
    /// Files changed outside the scope.
    pub(super) violations: Vec<String>,
    /// Those of them that were reverted.
    pub(super) reverted: Vec<String>,
    /// Changes of tests, and of what decides what the checks do.
    pub(super) protected: Vec<ProtectedChange>,
    /// The commit that has these files as they were.
    pub(super) protected_from: CommitId,
    pub(super) proof_trees: ProofTrees,
    /// What the goals showed in the attempt's own tree, run by run.
    pub(super) goal_runs: Vec<Vec<CheckReport>>,
    /// What they showed in the proof tree.
    pub(super) proof_goal_runs: Vec<Vec<CheckReport>>,
    /// What the guards showed in the attempt's own tree, where that is not the proof tree.
    pub(super) own_guards: GuardRound,
    /// What they showed in the proof tree.
    pub(super) proof_guards: GuardRound,
    /// Places where the sides of a merge are not resolved, where that was the task.
    pub(super) unresolved: Vec<ReportedFailure>,
    /// How often the judge agreed.
    pub(super) yeses: u32,
    /// The agent's session that made it; `None` once somebody else changed what it left.
    pub(super) session: Option<String>,
}

/// What the guards showed in one tree.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct GuardRound {
    /// `None` before they ran; empty where every guard is a goal, too.
    pub(super) reports: Option<Vec<CheckReport>>,
    /// What fails at the base too, where a failure there had hidden it.
    pub(super) at_base: FailingByCheck,
    /// What failed again, in each further run of what looked new.
    pub(super) confirmations: Vec<FailingByCheck>,
    /// What failed at the base, in each further run there of what fails sometimes.
    pub(super) base_confirmations: Vec<FailingByCheck>,
}

pub(super) type FailingByCheck = BTreeMap<u32, BTreeSet<FailureId>>;

impl Evaluation {
    /// Of work that was there before any attempt.
    pub(super) fn of_existing(work: &Base) -> Self {
        Self {
            stage: 1,
            start: work.commit.clone(),
            start_tree: None,
            commit: work.commit.clone(),
            tree: work.tree.clone(),
            violations: Vec::new(),
            reverted: Vec::new(),
            protected: Vec::new(),
            protected_from: work.commit.clone(),
            proof_trees: ProofTrees::default(),
            unresolved: Vec::new(),
            goal_runs: Vec::new(),
            proof_goal_runs: Vec::new(),
            own_guards: GuardRound::default(),
            proof_guards: GuardRound::default(),
            yeses: 0,
            session: None,
        }
    }

    fn of_attempt(command: &AttemptCommand, start_tree: Option<String>, result: &AttemptResult) -> Self {
        let left = Base { commit: result.commit.clone(), tree: result.tree.clone() };
        Self {
            stage: command.stage,
            start: command.base.clone(),
            start_tree,
            violations: result.violations.clone(),
            protected: result.protected.clone(),
            protected_from: result.protected_from.clone().unwrap_or_else(|| command.origin.clone()),
            unresolved: result.unresolved.clone(),
            session: result.session.clone(),
            ..Self::of_existing(&left)
        }
    }

    /// Whether the attempt left the tree it began with.
    pub(super) fn is_unchanged(&self) -> bool {
        self.start_tree.as_ref() == Some(&self.tree.0)
    }

    /// What the checks showed of the attempt's own tree, each once. Where that is the proof tree, one run stands for both.
    pub(super) fn reports(&self) -> impl Iterator<Item = &CheckReport> {
        let goals = self.goal_runs.first().or(self.proof_goal_runs.first());
        let guards = self.own_guards.reports.as_ref().or(self.proof_guards.reports.as_ref());
        goals.into_iter().chain(guards).flatten()
    }

    /// Which tree the guards run in now: the proof tree once they were started there.
    pub(super) const fn guarded_tree(&self) -> TreeKind {
        if self.proof_guards.reports.is_some() { TreeKind::Proof } else { TreeKind::Own }
    }

    pub(super) const fn round(&self, tree: TreeKind) -> &GuardRound {
        match tree {
            TreeKind::Own => &self.own_guards,
            TreeKind::Proof => &self.proof_guards,
        }
    }

    const fn round_mut(&mut self, tree: TreeKind) -> &mut GuardRound {
        match tree {
            TreeKind::Own => &mut self.own_guards,
            TreeKind::Proof => &mut self.proof_guards,
        }
    }

    /// Folds what checks showed, by what they were run for.
    fn record_checks(&mut self, activity: TaskActivity, reports: &[CheckReport]) {
        let guarded = self.guarded_tree();
        match activity {
            TaskActivity::Goals => self.goal_runs.push(reports.to_vec()),
            TaskActivity::ProofGoals => self.proof_goal_runs.push(reports.to_vec()),
            TaskActivity::Guards => self.own_guards.reports = Some(reports.to_vec()),
            TaskActivity::ProofGuards => self.proof_guards.reports = Some(reports.to_vec()),
            TaskActivity::SuspectsAtBase => self.round_mut(guarded).at_base = failing_by_check(reports),
            TaskActivity::Confirming => self.round_mut(guarded).confirmations.push(failing_by_check(reports)),
            TaskActivity::FlakyAtBase => {
                self.round_mut(guarded).base_confirmations.push(failing_by_check(reports));
            }
            TaskActivity::TakingBase
            | TaskActivity::Baseline
            | TaskActivity::Attempting
            | TaskActivity::Reverting
            | TaskActivity::BuildingProofTree
            | TaskActivity::Judging => {}
        }
    }
}

fn failing_by_check(reports: &[CheckReport]) -> FailingByCheck {
    reports.iter().map(|report| (report.check, failing(report))).collect()
}

pub(super) enum NoResult {
    CouldNotRun,
    Environment,
    Waiting,
}

/// Whether checks showed nothing. One that could not run outweighs one that waits: no answer would end that.
pub(super) fn no_result(reports: &[CheckReport]) -> Option<NoResult> {
    let any = |end| reports.iter().any(|report| report.end == end);
    if any(CheckEnd::CouldNotRun) {
        Some(NoResult::CouldNotRun)
    } else if any(CheckEnd::Environment) {
        Some(NoResult::Environment)
    } else {
        any(CheckEnd::Waiting).then_some(NoResult::Waiting)
    }
}

pub(super) fn failures_in(reports: &[&CheckReport]) -> Vec<ReportedFailure> {
    reports.iter().flat_map(|report| report.failures.iter().cloned()).collect()
}

/// A failure that no check reported: comparing them found it.
pub(super) fn found(id: FailureId, message: &'static str) -> ReportedFailure {
    ReportedFailure::new(id, Redacted::ours(message))
}

impl TaskRun {
    pub(super) fn record_attempt(&mut self, result: &AttemptResult) {
        if let Some(Command::RunAttempt(command)) = &self.last_command {
            self.evaluation = Some(Evaluation::of_attempt(command, self.tree_of(&command.base), result));
        }
    }

    pub(super) fn record_reverted(&mut self, commit: &CommitId, tree: &TreeId) {
        let Some(evaluation) = &mut self.evaluation else { return };
        (evaluation.commit, evaluation.tree) = (commit.clone(), tree.clone());
        evaluation.reverted = core::mem::take(&mut evaluation.violations);
        evaluation.session = None;
    }

    /// Folds what checks showed, at the base or of the attempt under evaluation.
    pub(super) fn record_checks(&mut self, activity: TaskActivity, reports: &[CheckReport]) {
        let with_names = reports.iter().filter(|report| report.passed.is_some());
        self.checks_with_names.extend(with_names.map(|report| report.check));
        if activity == TaskActivity::Baseline {
            self.baseline.record(reports);
            return;
        }
        // Inconclusive checks run again, and what they said so far is no evidence.
        if no_result(reports).is_some() {
            return;
        }
        if let Some(evaluation) = &mut self.evaluation {
            evaluation.record_checks(activity, reports);
        }
    }

    pub(super) fn after_attempt(&self, evaluation: &Evaluation, result: &AttemptResult) -> Decision {
        let activity = TaskActivity::Attempting;
        match result.end {
            AgentEnd::CouldNotStart => return Decision::end(Cause::AgentUnavailable),
            // It says nothing about the task. Resuming makes the attempt again, once somebody saw to it.
            AgentEnd::Unavailable => return Decision::pause(activity, Cause::AgentUnavailable),
            AgentEnd::Exited | AgentEnd::TimedOut => {}
        }
        // What was not checked fails as it did before.
        let unchecked = || CheckFindings::incomplete(self.remaining_at(&evaluation.start).0);
        if !evaluation.violations.is_empty() {
            if self.options.on_violation == OnViolation::Block {
                // It is judged all the same, so that what it changed is on record.
                let judged = self.conclude(activity, evaluation, unchecked()).judged;
                return Decision { judged, ..Decision::end(Cause::ScopeViolation) };
            }
            let is_enforced = evaluation.stage >= 2 || self.options.on_violation == OnViolation::Revert;
            if is_enforced && result.revertible.len() == evaluation.violations.len() {
                return self.revert(evaluation, result);
            }
            if evaluation.stage >= 2 {
                // What cannot be reverted is dropped with the whole attempt.
                let tree = evaluation.start_tree.clone().map_or_else(|| evaluation.tree.clone(), TreeId);
                let start = Base { commit: evaluation.start.clone(), tree };
                return self.conclude_with(activity, evaluation, start, unchecked());
            }
        }
        if !evaluation.unresolved.is_empty() {
            return self.conclude(
                activity,
                evaluation,
                CheckFindings::incomplete(evaluation.unresolved.clone()),
            );
        }
        let before = self.last.as_ref().filter(|last| last.commit == evaluation.start);
        let may_pass_unchanged = before.is_some_and(|last| last.may_pass_unchanged);
        if evaluation.is_unchanged() && !may_pass_unchanged {
            return self.after_no_change(evaluation, unchecked());
        }
        self.evaluate(evaluation)
    }

    fn revert(&self, evaluation: &Evaluation, result: &AttemptResult) -> Decision {
        let Some(base) = &self.baseline.base else { return Decision::end(Cause::BaselineUnusable) };
        let (onto, from) = (evaluation.commit.clone(), base.commit.clone());
        let paths = result.revertible.iter().cloned().map(RestoredPath::File).collect();
        let restore = RestorePaths { onto, from, paths };
        Decision::execute(TaskActivity::Reverting, Command::RestorePaths(restore))
    }

    /// Runs the checks on an attempt: the goals first, where there are any.
    pub(super) fn evaluate(&self, evaluation: &Evaluation) -> Decision {
        if self.goals().is_empty() {
            return self.run_guards(evaluation);
        }
        self.run_goals(evaluation)
    }

    pub(super) fn after_checks(
        &self,
        activity: TaskActivity,
        evaluation: &Evaluation,
        reports: &[CheckReport],
    ) -> Decision {
        match no_result(reports) {
            Some(NoResult::CouldNotRun) => {
                return self.conclude(
                    activity,
                    evaluation,
                    CheckFindings::without_failures(AttemptOutcome::Infra),
                );
            }
            Some(NoResult::Environment) => {
                let lacking = reports.iter().filter(|report| report.end == CheckEnd::Environment);
                let failures = failures_in(&lacking.collect::<Vec<_>>());
                let outcome = AttemptOutcome::Environment;
                return self.conclude(
                    activity,
                    evaluation,
                    CheckFindings { outcome, ..CheckFindings::incomplete(failures) },
                );
            }
            Some(NoResult::Waiting) => return Decision::pause(activity, Cause::Waiting),
            None => {}
        }
        match activity {
            TaskActivity::Goals | TaskActivity::ProofGoals => self.after_goals(activity, evaluation),
            TaskActivity::Guards => self.after_guards(activity, evaluation, TreeKind::Own),
            TaskActivity::ProofGuards => self.after_guards(activity, evaluation, TreeKind::Proof),
            TaskActivity::SuspectsAtBase | TaskActivity::Confirming | TaskActivity::FlakyAtBase => {
                self.conclude_guards(activity, evaluation, evaluation.guarded_tree())
            }
            TaskActivity::TakingBase
            | TaskActivity::Baseline
            | TaskActivity::Attempting
            | TaskActivity::Reverting
            | TaskActivity::BuildingProofTree
            | TaskActivity::Judging => self.evaluate(evaluation),
        }
    }

    fn tree_of(&self, commit: &CommitId) -> Option<String> {
        let mut known = self.baseline.base.iter().chain(self.snapshots.iter().rev());
        known.find(|made| &made.commit == commit).map(|made| made.tree.to_string())
    }
}
