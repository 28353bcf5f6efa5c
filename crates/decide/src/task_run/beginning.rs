//! From the base to the first attempt: is there anything to do, and can it be told?

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use fixpoint_vocabulary::Cause;
use fixpoint_vocabulary::work::{Base, CheckCall, CheckEnd, CheckReport, CheckRun, Command, CommitId, Reuse};

use super::ground::failing;
use super::trial::{Silence, silence};
use super::{Decision, ImpliedGoals, Start, TaskRun, Work};

/// A call of a whole check.
pub(super) fn whole(check: u32) -> CheckCall {
    CheckCall { check, only: BTreeSet::new(), watched: BTreeSet::new(), passed_before: None }
}

pub(super) fn run_checks(commit: &CommitId, calls: Vec<CheckCall>) -> Command {
    Command::RunChecks(CheckRun { commit: commit.clone(), calls, reuse: None })
}

/// The checks at the base, which a task that began with the same tree may have run already.
fn run_at_base(base: &Base, calls: Vec<CheckCall>, run: u32) -> Command {
    let reuse = Some(Reuse { tree: base.tree.clone(), run });
    Command::RunChecks(CheckRun { commit: base.commit.clone(), calls, reuse })
}

impl TaskRun {
    /// What is done first.
    pub(super) fn begin(&self) -> Decision {
        match (&self.order.start, &self.trial, &self.ground.base) {
            (Start::TakeBase, ..) | (_, _, None) => Decision::perform(Work::TakingBase, Command::TakeBase),
            (Start::Trial { commit, conflict: Some(_), .. }, ..) => self.attempt(1, commit.clone(), 1),
            (Start::Trial { .. }, Some(trial), _) => self.evaluate(trial),
            (Start::At(_) | Start::On(_) | Start::Trial { .. }, _, Some(base)) => self.with_base(base),
        }
    }

    pub(super) fn with_base(&self, base: &Base) -> Decision {
        let checks = self.order.goals.union(&self.order.guards);
        let unknown = checks.filter(|check| !self.ground.checks.contains_key(check));
        let calls: Vec<CheckCall> = unknown.copied().map(whole).collect();
        if calls.is_empty() && !self.ground.checks.is_empty() {
            return self.first_attempt(base);
        }
        Decision::perform(Work::Baseline, run_at_base(base, calls, 1))
    }

    pub(super) fn with_baseline(&self, reports: &[CheckReport]) -> Decision {
        // Where a person named it, it is misspelt. Where a planner made it up, the task may be to write it.
        let is_given = |report: &&CheckReport| !self.order.invented.contains(&report.check);
        if reports.iter().filter(is_given).any(|report| report.end == CheckEnd::NotFound) {
            return Decision::end(Cause::BaselineUnusable);
        }
        match silence(reports) {
            Some(Silence::CouldNotRun) => return Decision::end(Cause::BaselineUnusable),
            Some(Silence::Waiting) => return Decision::pause(Work::Baseline, Cause::Waiting),
            None => {}
        }
        let Some(base) = &self.ground.base else { return Decision::end(Cause::BaselineUnusable) };
        let again: Vec<CheckCall> = reports
            .iter()
            .filter(|report| !report.failures.is_empty())
            .map(|report| CheckCall { only: failing(report), ..whole(report.check) })
            .collect();
        if self.ground.runs < self.order.baseline.runs && !again.is_empty() {
            return Decision::perform(Work::Baseline, run_at_base(base, again, self.ground.runs + 1));
        }
        self.first_attempt(base)
    }

    /// Whether there is anything to do, now that it is known how things stand.
    fn first_attempt(&self, base: &Base) -> Decision {
        let baseline_of = |check: &u32| self.ground.checks.get(check);
        let goals = self.goals();
        // A guard that must pass as a goal proves something when it does.
        let mut guards_only = self.order.guards.difference(&goals).filter_map(baseline_of);
        if guards_only.any(|guard| guard.proves_nothing()) {
            return Decision::end(Cause::BaselineUnusable);
        }
        let unmet = goals.iter().filter_map(baseline_of).any(|goal| goal.ever_failed());
        let nothing_to_do = match self.order.implied_goals {
            ImpliedGoals::None | ImpliedGoals::WhatFails => !goals.is_empty(),
            ImpliedGoals::WhatFailsAndElseNothing => true,
        };
        match &self.trial {
            // Unfinished work that has reached the goals is judged like an attempt.
            Some(trial) if nothing_to_do && !unmet => return self.evaluate(trial),
            None if nothing_to_do && !unmet => return Decision::end(Cause::AlreadySatisfied),
            Some(_) | None => {}
        }
        self.attempt(1, base.commit.clone(), 1)
    }
}
