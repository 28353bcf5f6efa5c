//! From the base to the first attempt: is there anything to do, and can the checks tell when it is done?

use fixpoint_vocabulary::Cause;
use fixpoint_vocabulary::work::{
    Base, CheckCall, CheckEnd, CheckReport, CheckRun, Command, CommitId, Leftovers, Reuse,
};

use super::baseline_state::failing;
use super::evaluation::{NoResult, no_result};
use super::{Decision, ImpliedGoals, TaskActivity, TaskRun, TaskStart};
use crate::prelude::*;

/// A call of a whole check.
pub(super) fn whole(check: u32) -> CheckCall {
    CheckCall {
        check,
        only: BTreeSet::new(),
        watched: BTreeSet::new(),
        passed_before: None,
        decided_by_file: false,
    }
}

/// The call that runs again at the base what failed there. All of it, where a failure may have hidden tests.
fn again(report: &CheckReport) -> CheckCall {
    let whole = whole(report.check);
    if report.masked { whole } else { CheckCall { only: failing(report), ..whole } }
}

impl TaskRun {
    pub(super) fn begin(&self) -> Decision {
        match (&self.options.start, &self.evaluation, &self.baseline.base) {
            (TaskStart::TakeBase, ..) | (_, _, None) => {
                Decision::execute(TaskActivity::TakingBase, Command::TakeBase)
            }
            (TaskStart::Evaluate { work, conflict: Some(_), .. }, ..) => {
                self.attempt(1, work.commit.clone(), 1)
            }
            (TaskStart::Evaluate { .. }, Some(evaluation), _) => self.evaluate(evaluation),
            (
                TaskStart::FromCommit(_) | TaskStart::FromBaseline(_) | TaskStart::Evaluate { .. },
                _,
                Some(base),
            ) => self.after_base(base),
        }
    }

    pub(super) fn after_base(&self, base: &Base) -> Decision {
        let checks = self.options.goals.union(&self.options.guards);
        let unknown = checks.filter(|check| !self.baseline.checks.contains_key(check));
        let calls: Vec<CheckCall> = unknown.copied().map(whole).collect();
        if calls.is_empty() && !self.baseline.checks.is_empty() {
            return self.first_attempt(base);
        }
        self.run_at_base(base, calls, 1)
    }

    pub(super) fn after_baseline_run(&self, reports: &[CheckReport]) -> Decision {
        // A command that a person named is misspelt. One that a planner made up may be what the task is to write.
        let is_given = |report: &&CheckReport| !self.options.invented.contains(&report.check);
        if reports.iter().filter(is_given).any(|report| report.end == CheckEnd::NotFound) {
            return Decision::end(Cause::BaselineUnusable);
        }
        match no_result(reports) {
            Some(NoResult::CouldNotRun) => return Decision::end(Cause::BaselineUnusable),
            Some(NoResult::Waiting) => return Decision::pause(TaskActivity::Baseline, Cause::Waiting),
            None => {}
        }
        let Some(base) = &self.baseline.base else { return Decision::end(Cause::BaselineUnusable) };
        let again: Vec<CheckCall> =
            reports.iter().filter(|report| !report.failures.is_empty()).map(again).collect();
        if self.baseline.runs < self.options.baseline.runs && !again.is_empty() {
            return self.run_at_base(base, again, self.baseline.runs + 1);
        }
        self.first_attempt(base)
    }

    /// Runs checks on what an attempt left. A decision file counts only where the check wrote one at the base.
    pub(super) fn run_checks(
        &self,
        commit: &CommitId,
        calls: Vec<CheckCall>,
        leftovers: Leftovers,
    ) -> Command {
        let decided_by_file =
            |check: &u32| self.baseline.checks.get(check).is_some_and(|check| check.decided_by_file);
        let calls = calls.into_iter();
        let calls =
            calls.map(|call| CheckCall { decided_by_file: decided_by_file(&call.check), ..call }).collect();
        Command::RunChecks(CheckRun { commit: commit.clone(), calls, reuse: None, leftovers })
    }

    /// Runs checks at the base. Another task that began with the same tree may have run them already.
    fn run_at_base(&self, base: &Base, calls: Vec<CheckCall>, run: u32) -> Decision {
        let reuse = Some(Reuse { tree: base.tree.clone(), run });
        let leftovers = match self.options.start {
            TaskStart::TakeBase | TaskStart::FromCommit(_) => Leftovers::Baseline,
            // The base is the result of other agents.
            TaskStart::FromBaseline(_) | TaskStart::Evaluate { .. } => Leftovers::Pristine,
        };
        let run = CheckRun { commit: base.commit.clone(), calls, reuse, leftovers };
        Decision::execute(TaskActivity::Baseline, Command::RunChecks(run))
    }

    /// Lets the agent work, unless nothing is to be done or nothing could show that it is done.
    fn first_attempt(&self, base: &Base) -> Decision {
        let baseline_of = |check: &u32| self.baseline.checks.get(check);
        let goals = self.goals();
        // A guard that must pass as a goal proves something when it does.
        let mut guards_only = self.options.guards.difference(&goals).filter_map(baseline_of);
        if guards_only.any(|guard| guard.proves_nothing()) {
            return Decision::end(Cause::BaselineUnusable);
        }
        let is_unmet = goals.iter().filter_map(baseline_of).any(|goal| goal.ever_failed());
        let can_be_satisfied = match self.options.implied_goals {
            ImpliedGoals::None | ImpliedGoals::FailingGuards => !goals.is_empty(),
            ImpliedGoals::FailingGuardsOrNothing => true,
        };
        match &self.evaluation {
            // Unfinished work that has reached the goals is judged like an attempt.
            Some(evaluation) if can_be_satisfied && !is_unmet => self.evaluate(evaluation),
            None if can_be_satisfied && !is_unmet => Decision::end(Cause::AlreadySatisfied),
            Some(_) | None => self.attempt(1, base.commit.clone(), 1),
        }
    }
}
