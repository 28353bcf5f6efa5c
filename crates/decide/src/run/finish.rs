//! How a run ends or pauses, and how it is resumed.

use fixpoint_vocabulary::ask::Remark;
use fixpoint_vocabulary::work::Event;
use fixpoint_vocabulary::{Cause, TaskId, TaskState};

use super::{
    Deferred, PlanningChange, Run, RunChange, RunExtent, RunStatus, TaskChange, TaskNode, TaskSignal,
    Transition, UnexpectedEvent,
};
use crate::prelude::*;
use crate::scheduling;
use crate::task_run::TaskStatus;

impl Run {
    /// The tasks that cannot start because something they wait for cannot be done.
    pub fn unreachable_tasks(&self) -> Vec<TaskId> {
        if self.graph.waiting() == 0 {
            return Vec::new();
        }
        let tasks = self.graph.in_order().into_iter().map(TaskNode::outline).collect();
        let question = scheduling::Question { tasks, max_workers: 1 };
        scheduling::decide(&question).map(|answer| answer.blocked).unwrap_or_default()
    }

    /// How the run ends when nothing is left to do.
    fn cause_of_end(&self) -> Cause {
        let is_done = |node: &&TaskNode| node.state == TaskState::Done && !node.is_merge();
        let has_result = self.tasks().any(|node| is_done(&node)) && !self.unmerged_results().is_empty();
        let blocked = self.tasks().find_map(|node| node.cause.filter(|_| node.state == TaskState::Blocked));
        // What was planned may be only a part of what was asked for.
        let is_all = self.is_everything_included()
            && self.planning.partial.is_none()
            && self.unproven_goals().is_empty();
        match (is_all, self.final_review.is_complete, has_result) {
            (true, None | Some(true), true) => Cause::Done,
            (true, None | Some(true), false) => Cause::AlreadySatisfied,
            (_, _, true) => Cause::Partial,
            (false, _, false) => blocked.unwrap_or(Cause::Partial),
            (true, Some(false), false) => Cause::Partial,
        }
    }

    /// Why a task that is paused waits.
    fn cause_of_pause(&self) -> Option<Cause> {
        self.tasks().find_map(|node| match node.status() {
            TaskStatus::Paused { cause, .. } => Some(cause),
            TaskStatus::New | TaskStatus::Working { .. } | TaskStatus::Ended { .. } => None,
        })
    }
}

impl Transition<'_> {
    /// The only task there is: its end is the run's.
    pub(super) fn next_of_given(&mut self) {
        let ended = self.run.tasks().find_map(|node| match node.status() {
            TaskStatus::Ended { cause } => Some(cause),
            TaskStatus::New | TaskStatus::Working { .. } | TaskStatus::Paused { .. } => None,
        });
        if let Some(cause) = ended {
            self.conclude(cause);
        }
    }

    /// Nothing is left to do.
    pub(super) fn finish(&mut self) {
        let cause = self.run.cause_of_end();
        self.conclude(cause);
    }

    /// Nothing more can be begun now: if nothing is in flight either, the run pauses.
    pub(super) fn rest(&mut self) {
        match self.run.status {
            RunStatus::Working if self.run.in_flight.is_empty() => {}
            RunStatus::New | RunStatus::Working | RunStatus::Paused { .. } | RunStatus::Ended { .. } => {
                return;
            }
        }
        let is_plan_only =
            self.run.plan_options().is_some_and(|options| options.extent == RunExtent::PlanOnly);
        let deferred = self.run.deferred.first().map(|deferred| deferred.cause);
        match deferred.or_else(|| self.run.cause_of_pause()) {
            None if is_plan_only && self.run.review.accepted.is_some() => self.end(Cause::Done),
            // Nothing waits and nothing can be done: a person must look at it.
            None => self.push(RunChange::Pause { cause: Cause::RequiresHumanIntervention }),
            Some(cause) => self.push(RunChange::Pause { cause }),
        }
    }

    /// Something ended and may have cost less than was reserved: what was deferred for the budget may be affordable now.
    pub(super) fn release_affordable(&mut self) -> Result<(), UnexpectedEvent> {
        if !matches!((self.event, self.run.status), (Event::Ended { .. }, RunStatus::Working)) {
            return Ok(());
        }
        let is_affordable =
            |deferred: &Deferred| deferred.cause == Cause::Budget && self.run.can_afford(&deferred.command);
        if self.run.deferred.iter().any(is_affordable) {
            let deferred = self.run.deferred.clone();
            self.push(RunChange::ReleaseDeferred);
            for Deferred { owner, command, cause } in deferred {
                if cause == Cause::Budget {
                    self.begin(owner, command);
                } else {
                    self.push(RunChange::Defer { owner, command, cause });
                }
            }
        }
        let waiting = self.run.graph.active().filter(|node| {
            let is_waiting = matches!(node.status(), TaskStatus::Paused { cause: Cause::Budget, .. });
            let held = node.run.as_ref().filter(|_| is_waiting).and_then(|run| run.deferred_command());
            held.is_some_and(|command| self.run.can_afford(command))
        });
        let waiting: Vec<TaskId> = waiting.map(|node| node.id().clone()).collect();
        // Each that goes on leaves less for the next; a task looks again at what it can afford.
        waiting.iter().try_for_each(|task| self.tell(task, TaskSignal::Resume))
    }

    /// Takes up what was deferred, tells tasks to go on, and gives blocked ones another chance.
    pub(super) fn resume(&mut self, unblocked: &[TaskId], said: &[Remark]) -> Result<(), UnexpectedEvent> {
        if !said.is_empty() {
            self.push(PlanningChange::Remarked { said: said.to_vec() });
        }
        for task in unblocked {
            if self.run.task(task).is_some_and(|node| node.state == TaskState::Blocked) {
                self.push(TaskChange::state(task, TaskState::Ready));
            }
        }
        let deferred = self.run.deferred.clone();
        if !deferred.is_empty() {
            self.push(RunChange::ReleaseDeferred);
        }
        for Deferred { owner, command, .. } in deferred {
            self.begin(owner, command);
        }
        let is_paused = |node: &&TaskNode| matches!(node.status(), TaskStatus::Paused { .. });
        let paused: Vec<TaskId> = self.run.tasks().filter(is_paused).map(|node| node.id().clone()).collect();
        paused.iter().try_for_each(|task| self.tell(task, TaskSignal::Resume))
    }
}
