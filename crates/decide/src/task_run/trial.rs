//! One attempt on trial: scope, goals, guards, each step only when the one before it left something to ask.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixpoint_vocabulary::settings::OnViolation;
use fixpoint_vocabulary::work::{
    AgentEnd, AttemptCommand, AttemptResult, Base, CheckEnd, CheckReport, Command, CommitId, FailureId,
    GraftOrder, ReportedFailure, TreeId,
};
use fixpoint_vocabulary::{Cause, Redacted};
use serde::{Deserialize, Serialize};

use super::beginning::run_checks;
use super::ground::failing;
use super::next_attempt::Told;
use super::{CommandResult, Decision, TaskRun, Work};
use crate::convergence::Outcome;

/// An attempt that is being judged, with the evidence so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    pub(super) stage: u32,
    pub(super) start: CommitId,
    pub(super) start_tree: Option<String>,
    pub(super) commit: CommitId,
    pub(super) tree: TreeId,
    pub(super) violations: Vec<String>,
    pub(super) reverted: Vec<String>,
    pub(super) edited_tests: Vec<String>,
    pub(super) goal_runs: Vec<Vec<CheckReport>>,
    pub(super) with_base_tests: Option<Vec<CheckReport>>,
    pub(super) guards: Vec<CheckReport>,
    pub(super) at_base: BTreeMap<u32, BTreeSet<FailureId>>,
    pub(super) confirmations: Vec<BTreeMap<u32, BTreeSet<FailureId>>>,
    #[serde(default)]
    pub(super) base_confirmations: Vec<BTreeMap<u32, BTreeSet<FailureId>>>,
    /// What a merge left, where that was the task.
    #[serde(default)]
    pub(super) unresolved: Vec<ReportedFailure>,
    /// How often the judge agreed.
    #[serde(default)]
    pub(super) yeses: u32,
    /// The agent's session that made it; nothing once somebody else changed what it left.
    #[serde(default)]
    pub(super) session: Option<String>,
}

impl Trial {
    /// Work that was there before any attempt.
    pub(super) fn given(commit: &CommitId, tree: &TreeId) -> Self {
        Self {
            stage: 1,
            start: commit.clone(),
            start_tree: None,
            commit: commit.clone(),
            tree: tree.clone(),
            violations: Vec::new(),
            reverted: Vec::new(),
            edited_tests: Vec::new(),
            unresolved: Vec::new(),
            goal_runs: Vec::new(),
            with_base_tests: None,
            guards: Vec::new(),
            at_base: BTreeMap::new(),
            confirmations: Vec::new(),
            base_confirmations: Vec::new(),
            yeses: 0,
            session: None,
        }
    }

    fn new(order: &AttemptCommand, start_tree: Option<String>, result: &AttemptResult) -> Self {
        Self {
            stage: order.stage,
            start: order.base.clone(),
            start_tree,
            violations: result.violations.clone(),
            edited_tests: result.edited_tests.clone(),
            unresolved: result.unresolved.clone(),
            session: result.session.clone(),
            ..Self::given(&result.commit, &result.tree)
        }
    }

    /// What the checks showed, each once.
    pub(super) fn reports(&self) -> impl Iterator<Item = &CheckReport> {
        self.goal_runs.first().into_iter().flatten().chain(&self.guards)
    }

    /// What the checks showed, each once.
    pub(super) fn into_reports(self) -> Vec<CheckReport> {
        let mut reports = self.goal_runs.into_iter().next().unwrap_or_default();
        reports.extend(self.guards);
        reports
    }

    /// Folds what checks showed, by what they were run for.
    fn record_checks(&mut self, work: Work, reports: &[CheckReport]) {
        match work {
            Work::Goals => self.goal_runs.push(reports.to_vec()),
            Work::GoalsWithBaseTests => self.with_base_tests = Some(reports.to_vec()),
            Work::Guards => self.guards = reports.to_vec(),
            Work::SuspectsAtBase => self.at_base = failing_by_check(reports),
            Work::Confirming => self.confirmations.push(failing_by_check(reports)),
            Work::FlakyAtBase => self.base_confirmations.push(failing_by_check(reports)),
            Work::TakingBase
            | Work::Baseline
            | Work::Attempting
            | Work::Reverting
            | Work::RestoringTests
            | Work::Judging => {}
        }
    }
}

fn failing_by_check(reports: &[CheckReport]) -> BTreeMap<u32, BTreeSet<FailureId>> {
    reports.iter().map(|report| (report.check, failing(report))).collect()
}

/// Why checks said nothing.
pub(super) enum Silence {
    CouldNotRun,
    Waiting,
}

/// Whether checks said nothing: not to have run outweighs waiting, since nobody can end that.
pub(super) fn silence(reports: &[CheckReport]) -> Option<Silence> {
    let any = |end| reports.iter().any(|report| report.end == end);
    if any(CheckEnd::CouldNotRun) {
        Some(Silence::CouldNotRun)
    } else {
        any(CheckEnd::Waiting).then_some(Silence::Waiting)
    }
}

pub(super) fn failures_in(reports: &[&CheckReport]) -> Vec<ReportedFailure> {
    reports.iter().flat_map(|report| report.failures.iter().cloned()).collect()
}

/// A failure that no check reported and the comparison found.
pub(super) fn found(id: FailureId, message: &'static str) -> ReportedFailure {
    ReportedFailure::new(id, Redacted::ours(message))
}

impl TaskRun {
    /// An attempt ended: it is on trial from now on.
    pub(super) fn record_attempt(&mut self, left: &AttemptResult) {
        if let Some(Command::RunAttempt(order)) = &self.under_way {
            self.trial = Some(Trial::new(order, self.tree_of(&order.base), left));
        }
    }

    /// What lay outside the scope was taken back.
    pub(super) fn record_reverted(&mut self, commit: &CommitId, tree: &TreeId) {
        let Some(trial) = &mut self.trial else { return };
        (trial.commit, trial.tree) = (commit.clone(), tree.clone());
        trial.reverted = core::mem::take(&mut trial.violations);
        trial.session = None;
    }

    /// Checks ran, at the base or on the attempt on trial.
    pub(super) fn record_checks(&mut self, work: Work, reports: &[CheckReport]) {
        let naming = reports.iter().filter(|report| report.passed.is_some());
        self.naming.extend(naming.map(|report| report.check));
        // Checks that said nothing are run again, and what they said is no evidence.
        if silence(reports).is_some() {
            return;
        }
        if work == Work::Baseline {
            self.ground.record_run(reports);
        } else if let Some(trial) = &mut self.trial {
            trial.record_checks(work, reports);
        }
    }

    pub(super) fn with_trial(&self, work: Work, trial: &Trial, result: &CommandResult) -> Decision {
        let reports: &[CheckReport] = match result {
            CommandResult::Checks { reports } => reports,
            CommandResult::Base(_)
            | CommandResult::Attempt(_)
            | CommandResult::Grafted { .. }
            | CommandResult::Merged(_)
            | CommandResult::Answer(_)
            | CommandResult::Person(_)
            | CommandResult::Recalled(_)
            | CommandResult::Kept
            | CommandResult::Delivered(_) => &[],
        };
        match silence(reports) {
            Some(Silence::CouldNotRun) => {
                return self.judge(work, trial, Told::without_failures(Outcome::Infra));
            }
            Some(Silence::Waiting) => return Decision::pause(work, Cause::Waiting),
            None => {}
        }
        match (work, result) {
            (Work::Attempting, CommandResult::Attempt(left)) => self.with_attempt(trial, left),
            (Work::RestoringTests, CommandResult::Grafted { commit, .. }) => {
                Decision::perform(Work::GoalsWithBaseTests, run_checks(commit, self.goal_calls()))
            }
            (Work::Goals, _) => self.with_goals(trial, reports),
            (Work::GoalsWithBaseTests, _) => self.with_goal_verdict(work, trial),
            (Work::Guards, _) => self.with_guards(work, trial),
            (Work::SuspectsAtBase | Work::Confirming | Work::FlakyAtBase, _) => {
                self.with_suspects(work, trial)
            }
            (_, _) => self.evaluate(trial),
        }
    }

    fn with_attempt(&self, trial: &Trial, left: &AttemptResult) -> Decision {
        match left.end {
            AgentEnd::CouldNotStart => return Decision::end(Cause::AgentUnavailable),
            // It says nothing about the task. Going on makes the attempt again, once somebody saw to it.
            AgentEnd::Unavailable => return Decision::pause(Work::Attempting, Cause::AgentUnavailable),
            AgentEnd::Exited | AgentEnd::TimedOut => {}
        }
        // What was not checked fails as it did before.
        let unjudged = || Told::incomplete(self.left_at(&trial.start).0);
        if !trial.violations.is_empty() {
            let enforced = trial.stage >= 2 || self.order.on_violation == OnViolation::Revert;
            if self.order.on_violation == OnViolation::Block {
                // It is judged all the same, so that what it changed is on record.
                let judged = self.judge(Work::Attempting, trial, unjudged()).judged;
                return Decision { judged, ..Decision::end(Cause::ScopeViolation) };
            }
            if enforced && left.revertible.len() == trial.violations.len() {
                return self.revert(trial, left);
            }
            if trial.stage >= 2 {
                // What cannot be taken back is dropped with the whole attempt.
                let tree = trial.start_tree.clone().map_or_else(|| trial.tree.clone(), TreeId);
                let start = Base { commit: trial.start.clone(), tree };
                return self.judge_as(Work::Attempting, trial, start, unjudged());
            }
        }
        if !trial.unresolved.is_empty() {
            return self.judge(Work::Attempting, trial, Told::incomplete(trial.unresolved.clone()));
        }
        let is_shaky = self.last.as_ref().is_some_and(|last| last.is_shaky && last.commit == trial.start);
        if trial.start_tree.as_ref() == Some(&trial.tree.0) && !is_shaky {
            return self.without_change(trial, unjudged());
        }
        self.evaluate(trial)
    }

    fn revert(&self, trial: &Trial, left: &AttemptResult) -> Decision {
        let Some(base) = &self.ground.base else { return Decision::end(Cause::BaselineUnusable) };
        let (onto, from) = (trial.commit.clone(), base.commit.clone());
        let order = GraftOrder { onto, from, paths: left.revertible.clone() };
        Decision::perform(Work::Reverting, Command::Graft(order))
    }

    pub(super) fn evaluate(&self, trial: &Trial) -> Decision {
        if self.goals().is_empty() {
            return self.run_guards(trial);
        }
        Decision::perform(Work::Goals, run_checks(&trial.commit, self.goal_calls()))
    }

    fn tree_of(&self, commit: &CommitId) -> Option<String> {
        let base = self.ground.base.as_ref().filter(|base| &base.commit == commit);
        let made = self.made.iter().rev().find(|made| &made.commit == commit);
        base.map(|base| base.tree.to_string()).or_else(|| made.map(|made| made.tree.clone()))
    }
}
