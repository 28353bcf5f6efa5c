//! What others need to know of a task: the run, the agent, the judge, the planner.

use fixpoint_vocabulary::prepared::PreparedAttempt;
use fixpoint_vocabulary::work::{
    AttemptCommand, CheckReport, Command, CommitId, Conflict, ProtectedChange, ReportedFailure,
};

use super::evaluation::Evaluation;
use super::proof_tree::is_permitted;
use super::{TaskOptions, TaskRun, TaskStart, TaskStatus};
use crate::goals::{NamedTests, Proof, proof};
use crate::prelude::*;

impl TaskRun {
    pub const fn status(&self) -> TaskStatus {
        self.status
    }

    pub const fn options(&self) -> &TaskOptions {
        &self.options
    }

    /// What shows that the result of this task is done.
    pub fn proof(&self) -> Proof {
        let of = |checks: &BTreeSet<u32>| match checks {
            none if none.is_empty() => None,
            some if some.is_disjoint(&self.checks_with_names) => Some(NamedTests::No),
            _ => Some(NamedTests::Yes),
        };
        proof(of(&self.goals()), of(&self.options.guards))
    }

    /// The changes of tests and definitions in the result that somebody permitted.
    pub fn permitted_changes(&self) -> &[ProtectedChange] {
        &self.permitted_changes
    }

    /// Whether somebody permitted a change of tests or definitions.
    pub fn permits(&self, change: &ProtectedChange) -> bool {
        is_permitted(self.options.test_edits, change)
    }

    /// The commits the judged attempts left, in order.
    pub fn results(&self) -> impl Iterator<Item = &CommitId> {
        self.snapshots.iter().map(|made| &made.commit)
    }

    /// The command that resuming would execute.
    pub const fn deferred_command(&self) -> Option<&Command> {
        if let TaskStatus::Paused { .. } = self.status { self.last_command.as_ref() } else { None }
    }

    pub fn attempts(&self) -> u32 {
        u32::try_from(self.snapshots.len()).unwrap_or(u32::MAX)
    }

    /// What still fails, and for how many attempts in a row.
    pub fn lasting_failures(&self) -> Vec<(ReportedFailure, u32)> {
        let count =
            |failure: &ReportedFailure| self.attempts_with.get(failure.fingerprint()).copied().unwrap_or(1);
        let failures = self.last.iter().flat_map(|last| &last.failures);
        failures.map(|failure| (failure.clone(), count(failure))).collect()
    }

    /// The files the last attempt changed outside the scope.
    pub fn outside(&self) -> &[String] {
        self.last.as_ref().map(|last| last.outside.as_slice()).unwrap_or_default()
    }

    /// What the checks showed of the attempt under evaluation, or of the last judged one; each check once.
    pub fn reports(&self) -> impl Iterator<Item = &CheckReport> {
        let judged = if self.evaluation.is_none() { self.last_reports.as_slice() } else { &[] };
        self.evaluation.iter().flat_map(Evaluation::reports).chain(judged)
    }

    /// An attempt with what the agent is told.
    pub fn prepared_attempt(&self, command: &AttemptCommand) -> PreparedAttempt {
        let (failures, outside) = self.remaining_at(&command.base);
        let (remarks, merge, idle) = (self.remarks(), self.conflict().cloned(), self.idle_attempts);
        PreparedAttempt {
            failures,
            outside,
            remarks,
            merge,
            idle,
            tests_at_base: self.baseline.tests(),
            ..PreparedAttempt::new(command.clone())
        }
    }

    const fn conflict(&self) -> Option<&Conflict> {
        if let TaskStart::Evaluate { conflict, .. } = &self.options.start { conflict.as_ref() } else { None }
    }

    /// What fails, and what lies outside the scope, at a commit that an attempt begins with.
    pub(super) fn remaining_at(&self, commit: &CommitId) -> (Vec<ReportedFailure>, Vec<String>) {
        let known = self.last.iter().chain(&self.earlier_best).find(|known| known.commit == *commit);
        match known.or(self.last.as_ref()) {
            Some(remaining) => (remaining.failures.clone(), remaining.outside.clone()),
            None => {
                let goals = self.goals();
                let failing = goals.iter().filter_map(|goal| self.baseline.checks.get(goal));
                (failing.flat_map(|goal| goal.failures.iter().cloned()).collect(), Vec::new())
            }
        }
    }
}
