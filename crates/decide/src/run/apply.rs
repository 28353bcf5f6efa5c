//! Folding a recorded event and its changes into the run. Nothing is decided here, so another version resumes a run
//! without deciding it differently.

use fixpoint_vocabulary::work::{CommandEnd, CommandId, CommandResult, Event};

use super::{Change, Decision, Deferred, InFlight, Owner, Run, RunChange, RunStatus, TaskChange, Turn};
use crate::prelude::*;

impl Run {
    /// Folds an event and the changes that were recorded with it.
    pub fn apply(&mut self, turn: Turn, event: &Event, decision: &Decision) {
        self.record(turn, event);
        for (index, change) in (0u32..).zip(&decision.changes) {
            if let Change::Task(TaskChange::Decided { task, signal, .. }) = change {
                self.record_task(task, *signal, event);
            }
            self.apply_change(CommandId { seq: turn.seq, index }, change);
        }
    }

    /// Folds what happened, before any change that follows from it. Answers the command that ended.
    pub(super) fn record(&mut self, turn: Turn, event: &Event) -> Option<InFlight> {
        self.settle(turn, event);
        match event {
            Event::Started => self.status = RunStatus::Working,
            Event::Ended { command, end, .. } => {
                let ended = self.in_flight.remove(command)?;
                match end {
                    CommandEnd::Completed(result) => {
                        self.lost.retain(|whose| *whose != ended.owner);
                        if let (Owner::BaseChecks, CommandResult::Checks { reports }) = (&ended.owner, result)
                        {
                            self.record_base_checks(reports);
                        }
                    }
                    CommandEnd::Lost => self.lost.push(ended.owner.clone()),
                    CommandEnd::Failed { .. } | CommandEnd::Cancelled => {}
                }
                return Some(ended);
            }
            Event::Resumed { .. } => {
                self.lost.clear();
                self.status = RunStatus::Working;
            }
            Event::StopRequested => {}
        }
        None
    }

    /// Folds one change. `id` is the name of the command it begins, if it begins one.
    pub(super) fn apply_change(&mut self, id: CommandId, change: &Change) {
        if let Some((_, command)) = change.command() {
            self.reserve(id, command);
        }
        match change {
            Change::Run(change) => self.apply_run(id, change),
            Change::BaseChecks(change) => self.apply_base_checks(change),
            Change::Planning(change) => self.apply_planning(change),
            Change::PlanReview(change) => self.apply_plan_review(change),
            Change::Task(change) => self.apply_task(id, change),
            Change::Merge(change) => self.apply_merge(change),
            Change::FinalProof(change) => self.apply_final_proof(change),
            Change::FinalReview(change) => self.apply_final_review(change),
            Change::Reflection(change) => self.apply_reflection(change),
            Change::Delivery(change) => self.apply_delivery(change),
        }
    }

    fn apply_run(&mut self, id: CommandId, change: &RunChange) {
        match change {
            RunChange::Begin { owner, command } => {
                let (owner, command) = (owner.clone(), command.clone());
                self.in_flight.insert(id, InFlight { owner, command });
            }
            RunChange::Defer { owner, command, cause } => {
                let (owner, command) = (owner.clone(), command.clone());
                self.deferred.push(Deferred { owner, command, cause: *cause });
            }
            RunChange::ReleaseDeferred => self.deferred.clear(),
            RunChange::RejectAnswer { owner, answer } => self.rejected.push((owner.clone(), answer.clone())),
            RunChange::Pause { cause } => self.stop_with(RunStatus::Paused { cause: *cause }),
            RunChange::End { cause } => self.stop_with(RunStatus::Ended { cause: *cause }),
        }
    }

    /// What is in flight is given up and counts in full.
    fn stop_with(&mut self, status: RunStatus) {
        let given_up: Vec<CommandId> = self.in_flight.keys().copied().collect();
        given_up.into_iter().for_each(|id| self.write_off(id));
        self.in_flight.clear();
        self.status = status;
    }

    /// What was wrong with earlier answers no longer matters.
    pub(super) fn forget_rejected(&mut self, owner: &Owner) {
        self.rejected.retain(|(whose, _)| whose != owner);
    }
}
