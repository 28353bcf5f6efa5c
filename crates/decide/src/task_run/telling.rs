//! What others must be told of a task: the agent, the judge, the planner.

use alloc::string::String;
use alloc::vec::Vec;

use fixpoint_vocabulary::prepared::AttemptOrder;
use fixpoint_vocabulary::work::{AttemptCommand, CheckReport, Command, CommitId, ReportedFailure};

use super::{Step, TaskRun, Trial};

impl TaskRun {
    /// What it would do if it did not wait.
    pub const fn held(&self) -> Option<&Command> {
        match self.step {
            Step::Paused { .. } => self.under_way.as_ref(),
            Step::New | Step::Working { .. } | Step::Ended { .. } => None,
        }
    }

    /// Attempts that were judged.
    pub fn attempts(&self) -> u32 {
        u32::try_from(self.made.len()).unwrap_or(u32::MAX)
    }

    /// What still fails, and how many attempts in a row it has failed.
    pub fn lasting_failures(&self) -> Vec<(ReportedFailure, u32)> {
        let count = |failure: &ReportedFailure| self.lasting.get(failure.fingerprint()).copied().unwrap_or(1);
        let failures = self.last.iter().flat_map(|last| &last.failures);
        failures.map(|failure| (failure.clone(), count(failure))).collect()
    }

    /// What the last attempt changed outside the scope.
    pub fn outside(&self) -> &[String] {
        self.last.as_ref().map(|last| last.outside.as_slice()).unwrap_or_default()
    }

    /// What the checks showed of the attempt on trial, or of the last that was judged.
    pub fn latest_reports(&self) -> Vec<CheckReport> {
        self.reports().cloned().collect()
    }

    /// What the checks showed of the attempt on trial, or of the last that was judged, each once.
    pub(super) fn reports(&self) -> impl Iterator<Item = &CheckReport> {
        let judged = if self.trial.is_none() { self.shown.as_slice() } else { &[] };
        self.trial.iter().flat_map(Trial::reports).chain(judged)
    }

    /// An attempt with what the agent is told.
    pub fn attempt_order(&self, command: &AttemptCommand) -> AttemptOrder {
        let (failures, outside) = self.left_at(&command.base);
        let (remarks, merge, idle) = (self.remarks(), self.conflict().cloned(), self.idle);
        AttemptOrder { failures, outside, remarks, merge, idle, ..AttemptOrder::new(command) }
    }

    /// What is left to do at a commit that an attempt begins with.
    pub(super) fn left_at(&self, commit: &CommitId) -> (Vec<ReportedFailure>, Vec<String>) {
        let known = self.last.iter().chain(&self.earlier_best).find(|left| left.commit == *commit);
        match known.or(self.last.as_ref()) {
            Some(left) => (left.failures.clone(), left.outside.clone()),
            None => {
                let goals = self.goals();
                let failing = goals.iter().filter_map(|goal| self.ground.checks.get(goal));
                (failing.flat_map(|goal| goal.failures.iter().cloned()).collect(), Vec::new())
            }
        }
    }
}
