//! How a run ends or comes to rest, and how it goes on.

use alloc::vec::Vec;

use fixpoint_vocabulary::ask::Remark;
use fixpoint_vocabulary::work::{Command, Event};
use fixpoint_vocabulary::{Cause, TaskId, TaskState};

use super::{Deciding, Extent, Move, Node, On, OutOfPlace, Run, Standing};
use crate::scheduling;
use crate::task_run::Step;

impl Run {
    /// The tasks that cannot start because something they wait for cannot be done.
    pub fn waiting_in_vain(&self) -> Vec<TaskId> {
        let question = scheduling::Question { tasks: self.outline(), max_workers: 1 };
        scheduling::decide(&question).map(|answer| answer.blocked).unwrap_or_default()
    }

    /// Whether nothing runs and nothing can start any more.
    pub(super) fn is_finished(&self) -> bool {
        let question = scheduling::Question { tasks: self.outline(), max_workers: 1 };
        scheduling::decide(&question).is_ok_and(|answer| answer.finished)
    }

    /// What the run comes to when nothing is left to do.
    fn cause_of_end(&self) -> Cause {
        let is_done = |node: &&Node| node.state == TaskState::Done && !node.is_merge();
        let has_result = self.tasks().any(|node| is_done(&node)) && !self.loose_ends().is_empty();
        let blocked = self.tasks().find_map(|node| node.cause.filter(|_| node.state == TaskState::Blocked));
        // What was planned may be only a part of what was asked for.
        let is_all = self.is_all_in() && self.planning.partial.is_none();
        match (is_all, self.whole.is_complete, has_result) {
            (true, None | Some(true), true) => Cause::Done,
            (true, None | Some(true), false) => Cause::AlreadySatisfied,
            (_, _, true) => Cause::Partial,
            (false, _, false) => blocked.unwrap_or(Cause::Partial),
            (true, Some(false), false) => Cause::Partial,
        }
    }

    /// Why a task that is paused waits.
    fn cause_of_pause(&self) -> Option<Cause> {
        self.tasks().find_map(|node| match node.step {
            Step::Paused { cause, .. } => Some(cause),
            Step::New | Step::Working { .. } | Step::Ended { .. } => None,
        })
    }
}

impl Deciding<'_> {
    /// The only task there is: its end is the run's.
    pub(super) fn next_of_given(&mut self) {
        let ended = self.run.tasks().find_map(|node| match node.step {
            Step::Ended { cause } => Some(cause),
            Step::New | Step::Working { .. } | Step::Paused { .. } => None,
        });
        if let Some(cause) = ended {
            self.end(cause);
        }
    }

    /// Nothing is left to do.
    pub(super) fn finish(&mut self) {
        let cause = self.run.cause_of_end();
        self.end(cause);
    }

    /// Nothing more can be begun now: if nothing is under way either, the run waits.
    pub(super) fn rest(&mut self) {
        match self.run.standing {
            Standing::Working if self.run.under_way.is_empty() => {}
            Standing::New | Standing::Working | Standing::Paused { .. } | Standing::Ended { .. } => return,
        }
        let is_planned_only = self.run.plan_order().is_some_and(|order| order.extent == Extent::PlanOnly);
        let waits = self.run.cause_of_rest().or_else(|| self.run.cause_of_pause());
        match waits {
            None if is_planned_only && self.run.review.accepted.is_some() => self.end(Cause::Done),
            // Nothing waits and nothing can be done: somebody must look at it.
            None => self.push(Move::Pause { cause: Cause::RequiresHumanIntervention }),
            Some(cause) => self.push(Move::Pause { cause }),
        }
    }

    /// What was held back because the worst of something else was set aside may be paid for once that has ended and
    /// cost less. Only what waited before this event: a task that comes to wait by it is not folded in yet.
    pub(super) fn take_up_affordable(&mut self, before: &Run) -> Result<(), OutOfPlace> {
        if !matches!((self.event, self.run.standing), (Event::Ended { .. }, Standing::Working)) {
            return Ok(());
        }
        let is_affordable =
            |run: &Run, command: &Command, cause: Cause| cause == Cause::Budget && run.can_afford(command);
        let held = self.run.held.clone();
        if held.iter().any(|(_, command, cause)| is_affordable(&self.run, command, *cause)) {
            self.push(Move::Released);
            for (owner, command, cause) in held {
                if cause == Cause::Budget {
                    self.begin(owner, command);
                } else {
                    self.push(Move::Hold { owner, command, cause });
                }
            }
        }
        for node in before.nodes.active() {
            let is_waiting = matches!(node.step, Step::Paused { cause: Cause::Budget, .. });
            let held = node.run.as_ref().filter(|_| is_waiting).and_then(|run| run.held());
            if held.is_some_and(|command| self.run.can_afford(command)) {
                self.tell(node.id(), On::Resumed)?;
            }
        }
        Ok(())
    }

    /// Takes up what was held back, tells tasks to go on, and gives blocked ones another chance.
    pub(super) fn resume(&mut self, unblocked: &[TaskId], said: &[Remark]) -> Result<(), OutOfPlace> {
        if !said.is_empty() {
            self.push(Move::Heard { said: said.to_vec() });
        }
        for task in unblocked {
            if self.run.task(task).is_some_and(|node| node.state == TaskState::Blocked) {
                let (task, state) = (task.clone(), TaskState::Ready);
                self.push(Move::TaskMoved { task, state, cause: None });
            }
        }
        let held = self.run.held.clone();
        if !held.is_empty() {
            self.push(Move::Released);
        }
        for (owner, command, _) in held {
            self.begin(owner, command);
        }
        let paused: Vec<TaskId> = self
            .run
            .tasks()
            .filter(|node| matches!(node.step, Step::Paused { .. }))
            .map(|node| node.id().clone())
            .collect();
        paused.iter().try_for_each(|task| self.tell(task, On::Resumed))
    }
}
