//! The engine of one task: the loop itself, beginning, resuming, stopping.

use fixpoint_decide::task_run::{Decision, OutOfPlace, Step, TaskOrder, TaskRun};
use fixpoint_ports::{Executor, Inbox, Journal, JournalError, Seq};
use fixpoint_vocabulary::Cause;
use fixpoint_vocabulary::work::{CommandEnd, CommandId, Event};

use crate::record::{FORMAT, Opening, Record, RecordError, read_all};

/// Why the loop stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The task is over.
    Ended(Cause),
    /// It waits for a person; resuming goes on.
    Paused(Cause),
}

/// Why the loop could not go on. The run can be resumed once the reason is gone.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The journal could not be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The journal holds what cannot be taken up.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// An executor reported what cannot have happened: a defect.
    #[error(transparent)]
    OutOfPlace(#[from] OutOfPlace),
    /// Every source of events is gone while one is awaited: a defect.
    #[error("nothing can happen any more, and the task is not over")]
    Silence,
    /// A record cannot be written down: a defect.
    #[error("a record cannot be encoded: {0}")]
    Encoding(serde_json::Error),
}

/// One task, its journal and whoever performs its commands.
#[derive(Debug)]
pub struct Engine<J, X> {
    journal: J,
    next: Seq,
    executor: X,
    run: TaskRun,
    under_way: Option<CommandId>,
}

impl<J: Journal, X: Executor> Engine<J, X> {
    /// Begins a task on an empty journal.
    pub fn begin(mut journal: J, executor: X, order: TaskOrder) -> Result<Self, EngineError> {
        let opening = Opening { format: FORMAT, order };
        let payload = serde_json::to_vec(&opening).map_err(EngineError::Encoding)?;
        let next = journal.append(Seq::default(), &payload)?;
        let run = TaskRun::new(opening.order);
        let mut engine = Self { journal, next, executor, run, under_way: None };
        engine.step(&Event::Begun)?;
        Ok(engine)
    }

    /// Takes up a task whose journal holds these records. What was under way is lost and is told so; what was paused
    /// goes on. A task that is over stays over.
    pub fn resume<'a>(
        journal: J,
        executor: X,
        payloads: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<Self, EngineError> {
        let (opening, records) = read_all(payloads)?;
        let mut run = TaskRun::new(opening.order);
        let mut under_way = None;
        let mut next = Seq(1);
        for record in &records {
            run.apply(&record.event, &record.decision);
            under_way = record.decision.command.as_ref().map(|_| command_id(next)).or(under_way);
            next = next.next();
        }
        let mut engine = Self { journal, next, executor, run, under_way };
        match (engine.run.step(), engine.under_way) {
            (Step::New, _) => engine.step(&Event::Begun)?,
            (Step::Working { .. }, Some(command)) => {
                engine.step(&Event::Ended { command, end: CommandEnd::Lost })?;
            }
            (Step::Paused { .. }, _) => engine.step(&Event::Resumed)?,
            (Step::Working { .. }, None) | (Step::Ended { .. }, _) => {}
        }
        Ok(engine)
    }

    /// Goes on until the task is over or waits for a person.
    pub fn run(&mut self, inbox: &Inbox) -> Result<Ending, EngineError> {
        loop {
            match self.run.step() {
                Step::Ended { cause } => return Ok(Ending::Ended(cause)),
                Step::Paused { cause, .. } => return Ok(Ending::Paused(cause)),
                Step::New | Step::Working { .. } => {}
            }
            let event = inbox.next().ok_or(EngineError::Silence)?;
            if self.is_current(&event) {
                self.step(&event)?;
            }
        }
    }

    /// Where the task stands.
    pub fn task(&self) -> &TaskRun {
        &self.run
    }

    /// The journal and the executor, for whoever made them.
    pub fn into_parts(self) -> (J, X) {
        (self.journal, self.executor)
    }

    /// A result of a command that is no longer under way has had its end already.
    fn is_current(&self, event: &Event) -> bool {
        match event {
            Event::Ended { command, .. } => self.under_way == Some(*command),
            Event::Begun | Event::StopAsked | Event::Resumed => true,
        }
    }

    /// One turn of the loop.
    fn step(&mut self, event: &Event) -> Result<(), EngineError> {
        let decision = self.run.decide(event)?;
        let record = Record { event: event.clone(), decision };
        let payload = serde_json::to_vec(&record).map_err(EngineError::Encoding)?;
        let at = self.next;
        self.next = self.journal.append(at, &payload)?;
        self.run.apply(event, &record.decision);
        self.perform(at, &record.decision);
        Ok(())
    }

    fn perform(&mut self, at: Seq, decision: &Decision) {
        let leaves_work = matches!(decision.step, Step::Paused { .. } | Step::Ended { .. });
        if let Some(command) = self.under_way.take().filter(|_| leaves_work) {
            self.executor.cancel(command);
        }
        if let Some(command) = &decision.command {
            let id = command_id(at);
            self.under_way = Some(id);
            self.executor.start(id, command);
        }
    }
}

/// The id of the one command of a record.
fn command_id(at: Seq) -> CommandId {
    CommandId { seq: at.0, index: 0 }
}
