//! The base, before a model is asked anything: do the checks work there, and what do they show?
//!
//! Owns the runs of the given checks at the base and what follows from them; the tasks that begin with the base use what
//! was seen here. A guard is run again where it fails, as the settings say; a goal only has to show that it can run.
//! Invariant: no model is asked before every given check was seen at the base, and none where they could prove nothing.

use fixpoint_vocabulary::Cause;
use fixpoint_vocabulary::work::{Base, CheckCall, CheckReport, Command, CommandResult, Leftovers};
use serde::{Deserialize, Serialize};

use super::{Owner, PlanOptions, Run, RunChange, Transition};
use crate::prelude::*;
use crate::task_run::{BaselineLimits, BaselineState, BaselineStep, CheckBaseline, TaskStart};

/// What the given checks showed at the base.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BaseChecks {
    pub baseline: BaselineState,
    /// Whether they have run as often as they must.
    pub is_settled: bool,
    /// The guards that are goals of the run, because every test of them fails and no goal was given.
    pub goals: BTreeSet<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BaseChecksChange {
    /// The base is known well enough to begin.
    Settled {
        /// The guards that are goals of the run.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        goals: BTreeSet<u32>,
    },
}

impl Run {
    pub const fn base_checks(&self) -> &BaseChecks {
        &self.base_checks
    }

    /// The goals of the run: those that were given, or the guards that stand in for them.
    pub(super) fn run_goals(&self) -> BTreeSet<u32> {
        let given = self.plan_options().map(|options| options.goals.clone()).unwrap_or_default();
        given.union(&self.base_checks.goals).copied().collect()
    }

    /// The guards that fail at the base of the run with findings that are known one by one.
    pub fn guards_with_known_findings(&self) -> impl Iterator<Item = (u32, &CheckBaseline)> {
        let guards = self.plan_options().map(|options| options.guards.clone()).unwrap_or_default();
        let goals = self.run_goals();
        let seen = self.base_checks.baseline.checks.iter().map(|(number, check)| (*number, check));
        seen.filter(move |(number, check)| {
            guards.contains(number)
                && !goals.contains(number)
                && check.ever_failed()
                && check.lists_findings()
        })
    }

    pub(super) fn apply_base_checks(&mut self, change: &BaseChecksChange) {
        match change {
            BaseChecksChange::Settled { goals } => {
                self.base_checks.is_settled = true;
                self.base_checks.goals.clone_from(goals);
            }
        }
    }

    /// Folds what checks showed at the base.
    pub(super) fn record_base_checks(&mut self, reports: &[CheckReport]) {
        self.base_checks.baseline.base.clone_from(&self.planning.base);
        self.base_checks.baseline.record(reports);
    }

    /// The start of a task on the base of the run, with what its checks showed there.
    pub(super) fn start_on_base(
        &self,
        base: Base,
        goals: &BTreeSet<u32>,
        guards: &BTreeSet<u32>,
    ) -> TaskStart {
        let seen = self.base_checks.baseline.checks.iter();
        // A goal of the run that the task does not have would look unmet in what follows from it.
        let own = seen.filter(|(check, _)| goals.contains(check) || guards.contains(check));
        let checks: BTreeMap<u32, CheckBaseline> = own.map(|(check, seen)| (*check, seen.clone())).collect();
        if checks.is_empty() || self.base_checks.baseline.base.as_ref() != Some(&base) {
            return TaskStart::FromCommit(base);
        }
        TaskStart::FromCheckedBase(BaselineState { base: Some(base), checks, ..BaselineState::default() })
    }

    /// The guards that are the goal because nothing else is; `None` where a guard could prove nothing.
    fn goals_of_base(&self, options: &PlanOptions) -> Option<BTreeSet<u32>> {
        let seen = |check: &u32| self.base_checks.baseline.checks.get(check);
        let mut goals = BTreeSet::new();
        for guard in options.guards.difference(&options.goals) {
            match seen(guard) {
                Some(check) if options.goals.is_empty() && check.every_test_failed() => {
                    goals.insert(*guard);
                }
                Some(check) if check.proves_nothing() => return None,
                Some(_) | None => {}
            }
        }
        Some(goals)
    }
}

impl Transition<'_> {
    /// Runs the given checks at the base, unless there are none.
    pub(super) fn next_of_base_checks(&mut self) {
        if self.run.is_busy(&Owner::BaseChecks) {
            return;
        }
        let checks = self.run.plan_options().map(|options| options.goals.union(&options.guards));
        let calls: Vec<CheckCall> = checks.into_iter().flatten().copied().map(CheckCall::whole).collect();
        if calls.is_empty() {
            return self.push(BaseChecksChange::Settled { goals: BTreeSet::new() });
        }
        self.run_at_base(calls, 1);
    }

    fn run_at_base(&mut self, calls: Vec<CheckCall>, number: u32) {
        let Some(base) = &self.run.planning.base else { return };
        let run = BaselineState::run_of(base, calls, number, Leftovers::Baseline);
        self.begin(Owner::BaseChecks, Command::RunChecks(run));
    }

    pub(super) fn with_base_checks(&mut self, command: Command, result: &CommandResult) {
        let (CommandResult::Checks { reports }, Some(options)) = (result, self.run.plan_options()) else {
            return;
        };
        let settings = self.run.settings();
        let limits = BaselineLimits {
            runs: settings.map_or(1, |settings| settings.baseline.runs),
            failed_runs: settings.map_or(1, |settings| settings.check_options.max_infra_failures),
        };
        let calls = if let Command::RunChecks(run) = &command { run.calls.as_slice() } else { &[] };
        let baseline = &self.run.base_checks.baseline;
        let step =
            baseline.after_run(calls, reports, limits, |_| true, |check| options.guards.contains(&check));
        match step {
            BaselineStep::Unusable => self.end(Cause::BaselineUnusable),
            BaselineStep::Waiting => {
                self.push(RunChange::Defer { owner: Owner::BaseChecks, command, cause: Cause::Waiting });
            }
            BaselineStep::Again(calls) => {
                let number = baseline.runs + 1;
                self.run_at_base(calls, number);
            }
            BaselineStep::Settled => match self.run.goals_of_base(options) {
                Some(goals) => self.push(BaseChecksChange::Settled { goals }),
                None => self.end(Cause::BaselineUnusable),
            },
        }
    }
}

#[cfg(test)]
mod tests;
