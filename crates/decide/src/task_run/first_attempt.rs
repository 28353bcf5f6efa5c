//! From the base to the first attempt: is there anything to do, and can the checks tell when it is done?

use fixpoint_vocabulary::Cause;
use fixpoint_vocabulary::work::{Base, CheckCall, CheckReport, CheckRun, Command, CommitId, Leftovers};

use super::{
    BaselineLimits, BaselineState, BaselineStep, CheckBaseline, Decision, ImpliedGoals, TaskActivity,
    TaskRun, TaskStart,
};
use crate::prelude::*;

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
                TaskStart::FromCommit(_)
                | TaskStart::FromCheckedBase(_)
                | TaskStart::FromBaseline(_)
                | TaskStart::Evaluate { .. },
                _,
                Some(base),
            ) => self.after_base(base),
        }
    }

    pub(super) fn after_base(&self, base: &Base) -> Decision {
        let checks = self.options.goals.union(&self.options.guards);
        let unknown = checks.filter(|check| !self.baseline.checks.contains_key(check));
        let calls: Vec<CheckCall> = unknown.copied().map(CheckCall::whole).collect();
        if calls.is_empty() && !self.baseline.checks.is_empty() {
            return self.first_attempt(base);
        }
        self.run_at_base(base, calls, 1)
    }

    pub(super) fn after_baseline_run(&self, reports: &[CheckReport]) -> Decision {
        // A command that a person named is misspelt. One that a planner made up may be what the task is to write.
        let is_given = |check: u32| !self.options.invented.contains(&check);
        let limits = BaselineLimits {
            runs: self.options.baseline.runs,
            failed_runs: self.options.limits.max_infra_failures,
        };
        let calls = match &self.last_command {
            Some(Command::RunChecks(run)) => run.calls.as_slice(),
            Some(_) | None => &[],
        };
        let step = self.baseline.after_run(calls, reports, limits, is_given, |_| true);
        let Some(base) = &self.baseline.base else { return Decision::end(Cause::BaselineUnusable) };
        match step {
            BaselineStep::Unusable => Decision::end(Cause::BaselineUnusable),
            BaselineStep::Waiting => Decision::pause(TaskActivity::Baseline, Cause::Waiting),
            BaselineStep::Again(calls) => self.run_at_base(base, calls, self.baseline.runs + 1),
            BaselineStep::Settled => self.first_attempt(base),
        }
    }

    /// Runs checks on what an attempt left. A decision file counts only where the check wrote one at the base, and it
    /// may rewrite only what it rewrote there.
    pub(super) fn run_checks(
        &self,
        commit: &CommitId,
        calls: Vec<CheckCall>,
        leftovers: Leftovers,
    ) -> Command {
        let as_at_base = |call: CheckCall| match self.baseline.checks.get(&call.check) {
            Some(CheckBaseline { decided_by_file, rewrites, .. }) => {
                CheckCall { decided_by_file: *decided_by_file, rewrites: rewrites.clone(), ..call }
            }
            None => CheckCall { decided_by_file: false, rewrites: BTreeSet::new(), ..call },
        };
        let calls = calls.into_iter().map(as_at_base).collect();
        Command::RunChecks(CheckRun { commit: commit.clone(), calls, reuse: None, leftovers })
    }

    /// Runs checks at the base. Another task that began with the same tree may have run them already.
    fn run_at_base(&self, base: &Base, calls: Vec<CheckCall>, run: u32) -> Decision {
        let leftovers = match self.options.start {
            TaskStart::TakeBase | TaskStart::FromCommit(_) | TaskStart::FromCheckedBase(_) => {
                Leftovers::Baseline
            }
            // The base is the result of other agents.
            TaskStart::FromBaseline(_) | TaskStart::Evaluate { .. } => Leftovers::Pristine,
        };
        let run = BaselineState::run_of(base, calls, run, leftovers);
        Decision::execute(TaskActivity::Baseline, Command::RunChecks(run))
    }

    /// Lets the agent work, unless nothing is to be done or nothing could show that it is done.
    fn first_attempt(&self, base: &Base) -> Decision {
        let baseline_of = |check: &u32| self.baseline.checks.get(check);
        let goals = self.goals();
        // A guard that must pass as a goal proves something when it does.
        let is_guard_only = |guard: &&u32| !self.options.promised.contains(*guard);
        let mut guards_only = self.options.guards.difference(&goals).filter(is_guard_only);
        if guards_only.any(|guard| baseline_of(guard).is_some_and(CheckBaseline::proves_nothing)) {
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
