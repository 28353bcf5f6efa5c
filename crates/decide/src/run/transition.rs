//! One event being decided: every change is applied at once, so that the next can rest on it.

use fixpoint_vocabulary::ask::{
    ModelAnswer, ModelQuestion, ParsedAnswer, PersonQuestion, PersonQuestionKind, QuestionKind, Retry,
};
use fixpoint_vocabulary::work::{Command, CommandEnd, CommandId, CommandResult, Event};
use fixpoint_vocabulary::{Cause, Redactor, TaskId};

use super::{
    Change, Decision, InFlight, Owner, RejectedAnswer, Run, RunChange, RunStatus, TaskChange, TaskSignal,
    TaskSource, Turn, UnexpectedEvent,
};
use crate::prelude::*;

/// A run at the moment of an event, with the changes so far.
pub(super) struct Transition<'a> {
    pub(super) run: &'a mut Run,
    pub(super) event: &'a Event,
    pub(super) changes: Vec<Change>,
    turn: Turn,
    /// The first change that the tables of states do not allow.
    forbidden: Option<UnexpectedEvent>,
}

impl<'a> Transition<'a> {
    pub(super) const fn new(run: &'a mut Run, turn: Turn, event: &'a Event) -> Self {
        Self { run, event, changes: Vec::new(), turn, forbidden: None }
    }

    /// Decides everything that follows from the event, if the tables of phases and states allow it.
    pub(super) fn decide(mut self) -> Result<Decision, UnexpectedEvent> {
        let (status, from) = (self.run.status, self.run.phase());
        let ended = self.run.record(self.turn, self.event);
        self.react(status, ended)?;
        self.release_affordable()?;
        self.go_on()?;
        let to = self.run.phase();
        match self.forbidden {
            Some(forbidden) => Err(forbidden),
            None if !from.leads_to(to) => Err(UnexpectedEvent::Phase { from, to }),
            None => Ok(Decision { changes: self.changes }),
        }
    }

    /// Applies a change and adds it to the decision.
    pub(super) fn push(&mut self, change: impl Into<Change>) {
        let change = change.into();
        if self.forbidden.is_none() {
            self.forbidden = self.run.forbids(&change);
        }
        let index = u32::try_from(self.changes.len()).unwrap_or(u32::MAX);
        self.run.apply_change(CommandId { seq: self.turn.seq, index }, &change);
        self.changes.push(change);
    }

    /// Ends the run without delivering anything.
    pub(super) fn end(&mut self, cause: Cause) {
        self.push(RunChange::End { cause });
    }

    /// Has a command executed, or defers it if it cannot be afforded.
    pub(super) fn begin(&mut self, owner: Owner, command: Command) {
        if self.run.can_afford(&command) {
            self.push(RunChange::Begin { owner, command });
        } else {
            self.push(RunChange::Defer { owner, command, cause: Cause::Budget });
        }
    }

    /// Puts a question to a model, with what was wrong with the last answer if there was one.
    pub(super) fn ask(&mut self, owner: Owner, about: QuestionKind) {
        let last = self.run.rejected.iter().rev().find(|(whose, _)| *whose == owner);
        let retry = last.map(|(_, answer)| Retry {
            tries: self.run.times_rejected(&owner),
            problem: answer.problem.clone(),
        });
        self.begin(owner, Command::Ask(ModelQuestion { about, retry }));
    }

    /// Asks a person for a yes or no.
    pub(super) fn ask_approval(&mut self, owner: Owner, about: &str, within: u32) {
        let (about, kind) = (Redactor::default().redact(about), PersonQuestionKind::Approval);
        self.begin(owner, Command::AskPerson(PersonQuestion { about, questions: Vec::new(), kind, within }));
    }

    /// Records an answer that cannot be used. Says whether it may be asked for again.
    pub(super) fn is_asked_again(&mut self, owner: &Owner, answer: RejectedAnswer) -> bool {
        let times = self.run.times_rejected(owner);
        let most = self.run.settings().map_or(0, |settings| settings.models.max_format_retries);
        self.push(RunChange::RejectAnswer { owner: owner.clone(), answer });
        times < most
    }

    /// What an event leads to at once. `status` is what the run's was before it, `ended` the command that ended.
    fn react(&mut self, status: RunStatus, ended: Option<InFlight>) -> Result<(), UnexpectedEvent> {
        match (self.event, status) {
            (Event::Started, RunStatus::New) => self.begun(),
            (Event::Ended { end, .. }, RunStatus::Working) => match ended {
                Some(ended) => self.ended(ended, end),
                None => Ok(()),
            },
            (Event::StopRequested, RunStatus::Working) => self.halt(Cause::Stopped),
            (Event::StopRequested, RunStatus::New) => {
                self.end(Cause::Stopped);
                Ok(())
            }
            // What was in flight when the stop came may still end, and asking twice changes nothing.
            (
                Event::StopRequested | Event::Ended { .. },
                RunStatus::Paused { .. } | RunStatus::Ended { .. },
            ) => Ok(()),
            // A crash may have left it working when somebody brings more to spend, or something to say.
            (Event::Resumed { unblocked, said, .. }, RunStatus::Paused { .. } | RunStatus::Working) => {
                self.resume(unblocked, said)
            }
            (Event::Resumed { unblocked, said, .. }, RunStatus::Ended { .. }) if !unblocked.is_empty() => {
                self.resume(unblocked, said)
            }
            (Event::Started | Event::Ended { .. } | Event::Resumed { .. }, _) => {
                Err(UnexpectedEvent::Run { status })
            }
        }
    }

    fn begun(&mut self) -> Result<(), UnexpectedEvent> {
        let given: Vec<TaskId> = self.run.tasks().map(|node| node.id().clone()).collect();
        given.iter().try_for_each(|task| self.tell(task, TaskSignal::Begin))
    }

    /// A command ended: the part it was for says what that means.
    fn ended(&mut self, ended: InFlight, end: &CommandEnd) -> Result<(), UnexpectedEvent> {
        let InFlight { owner, command } = ended;
        if let Owner::Task(task) = &owner {
            return self.tell(task, TaskSignal::Event);
        }
        match end {
            CommandEnd::Completed(result) => return self.completed(owner, command, result),
            CommandEnd::Lost if self.run.times_lost(&owner) < self.run.options.max_interruptions => {
                self.begin(owner, command);
            }
            CommandEnd::Lost | CommandEnd::Failed { .. } => {
                self.push(RunChange::Defer { owner, command, cause: Cause::Infrastructure });
            }
            CommandEnd::Cancelled => self.push(RunChange::Defer { owner, command, cause: Cause::Stopped }),
        }
        Ok(())
    }

    fn completed(
        &mut self,
        owner: Owner,
        command: Command,
        result: &CommandResult,
    ) -> Result<(), UnexpectedEvent> {
        let is_unanswered = matches!(
            result,
            CommandResult::Answer(ModelAnswer { reading: ParsedAnswer::Unanswered { .. }, .. })
        );
        // A task that nobody replans is blocked; what does not depend on it goes on.
        if is_unanswered && !matches!(owner, Owner::Replan(_)) {
            self.push(RunChange::Defer { owner, command, cause: Cause::ModelUnavailable });
            return Ok(());
        }
        match &owner {
            Owner::Task(_) => {}
            Owner::BaseChecks => self.with_base_checks(command, result),
            Owner::Planning => self.with_planning(&command, result),
            Owner::PlanReview => self.with_review(&command, result),
            Owner::Replan(task) => self.with_replan(task, result),
            Owner::Merge(task) => return self.with_merge(task, result),
            Owner::FinalProof => self.with_final_proof(result),
            Owner::FinalReview => self.with_final_review(result),
            Owner::Reflection(task) => return self.with_reflection(task, result),
            Owner::Delivery => self.with_delivery(result),
        }
        Ok(())
    }

    /// Has a task react to a signal, within what the run allows it.
    pub(super) fn tell(&mut self, task: &TaskId, signal: TaskSignal) -> Result<(), UnexpectedEvent> {
        self.run.record_task(task, signal, self.event);
        let Some(run) = self.run.task(task).and_then(|node| node.run.as_ref()) else { return Ok(()) };
        let decision = run
            .decide(&signal.event(self.event))
            .map_err(|error| UnexpectedEvent::Task { task: task.clone(), error })?;
        let decision = self.run.within_limits(task, decision);
        self.push(TaskChange::Decided { task: task.clone(), signal, decision });
        Ok(())
    }

    /// Everything at work is stopped, so that it can be resumed, and the run pauses.
    pub(super) fn halt(&mut self, cause: Cause) -> Result<(), UnexpectedEvent> {
        let mut tasks = Vec::new();
        for InFlight { owner, command } in self.run.in_flight.values().cloned().collect::<Vec<_>>() {
            match owner {
                Owner::Task(task) => tasks.push(task),
                Owner::BaseChecks
                | Owner::Planning
                | Owner::PlanReview
                | Owner::Replan(_)
                | Owner::Merge(_)
                | Owner::FinalProof
                | Owner::FinalReview
                | Owner::Reflection(_)
                | Owner::Delivery => self.push(RunChange::Defer { owner, command, cause: Cause::Stopped }),
            }
        }
        tasks.iter().try_for_each(|task| self.tell(task, TaskSignal::Stop))?;
        self.push(RunChange::Pause { cause });
        Ok(())
    }

    /// What is needed next, part by part, until nothing more can be begun now.
    fn go_on(&mut self) -> Result<(), UnexpectedEvent> {
        loop {
            let before = self.changes.len();
            match self.run.status {
                RunStatus::New | RunStatus::Working => {}
                RunStatus::Paused { .. } | RunStatus::Ended { .. } => return Ok(()),
            }
            if !self.run.is_delivering() {
                self.next()?;
            }
            if self.changes.len() == before {
                self.rest();
                return Ok(());
            }
        }
    }

    fn next(&mut self) -> Result<(), UnexpectedEvent> {
        match &self.run.options.tasks {
            TaskSource::Given(_) => self.next_of_given(),
            TaskSource::Planned(_) if self.run.graph.is_empty() => self.next_of_planning(),
            TaskSource::Planned(_) => return self.next_of_tasks(),
        }
        Ok(())
    }
}
