//! The engine of one task: the loop itself, beginning, resuming, stopping.

use std::sync::Arc;

use fixpoint_decide::task_run::{Decision, OutOfPlace, Step, TaskRun};
use fixpoint_ports::{BlobError, Blobs, Clock, Executor, Inbox, Journal, JournalError, Seq};
use fixpoint_vocabulary::Cause;
use fixpoint_vocabulary::work::{Allowance, CommandEnd, CommandId, Event};

use crate::record::{Opening, Record, RecordError, Recorded, Recorder};

/// Why the loop stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The task is over.
    Ended(Cause),
    /// It waits for a person; resuming goes on.
    Paused(Cause),
}

impl Ending {
    /// Why.
    pub const fn cause(self) -> Cause {
        match self {
            Self::Ended(cause) | Self::Paused(cause) => cause,
        }
    }
}

/// Why the loop could not go on. The run can be resumed once the reason is gone.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The journal could not be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A large record could not be kept.
    #[error(transparent)]
    Blob(#[from] BlobError),
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

/// Where a run is recorded and what tells its time.
#[derive(Debug)]
pub struct Desk<J> {
    /// The run's journal.
    pub journal: J,
    /// Where large records go.
    pub blobs: Arc<dyn Blobs>,
    /// Dates the records.
    pub clock: Arc<dyn Clock>,
}

/// One task, its journal and whoever performs its commands.
#[derive(Debug)]
pub struct Engine<J, X> {
    recorder: Recorder<J>,
    clock: Arc<dyn Clock>,
    executor: X,
    run: TaskRun,
    under_way: Option<CommandId>,
    /// What happens first: the beginning, or what a restart makes of the record.
    first: Option<Event>,
}

impl<J: Journal, X: Executor> Engine<J, X> {
    /// Begins a task on an empty journal.
    pub fn begin(desk: Desk<J>, executor: X, opening: Opening) -> Result<Self, EngineError> {
        let mut recorder = Recorder { journal: desk.journal, blobs: desk.blobs, next: Seq::default() };
        recorder.write(&opening)?;
        let (run, first) = (TaskRun::new(opening.order), Some(Event::Begun));
        Ok(Self { recorder, clock: desk.clock, executor, run, under_way: None, first })
    }

    /// Takes up a task that is on record. What was under way is lost and is told so; what was paused goes on, with
    /// more to spend if more was granted. A task that is over stays over.
    pub fn resume(desk: Desk<J>, executor: X, recorded: &Recorded, more: Allowance) -> Self {
        let (run, under_way, next) = fold(recorded);
        let first = match (run.step(), under_way) {
            (Step::New, _) => Some(Event::Begun),
            (Step::Working { .. }, Some(command)) => {
                Some(Event::Ended { command, end: CommandEnd::Lost, took_ms: 0 })
            }
            (Step::Paused { .. }, _) => Some(Event::Resumed { more }),
            (Step::Working { .. }, None) | (Step::Ended { .. }, _) => None,
        };
        let recorder = Recorder { journal: desk.journal, blobs: desk.blobs, next };
        Self { recorder, clock: desk.clock, executor, run, under_way, first }
    }

    /// Goes on until the task is over or waits for a person. `watch` sees every record once it is on the disk.
    pub fn run(
        &mut self,
        inbox: &Inbox,
        watch: &mut dyn FnMut(&Record, &TaskRun),
    ) -> Result<Ending, EngineError> {
        loop {
            let event = match (self.first.take(), self.run.step()) {
                (Some(event), _) => event,
                (None, Step::Ended { cause }) => return Ok(Ending::Ended(cause)),
                (None, Step::Paused { cause, .. }) => return Ok(Ending::Paused(cause)),
                (None, Step::New | Step::Working { .. }) => inbox.next().ok_or(EngineError::Silence)?,
            };
            if !self.is_current(&event) {
                continue;
            }
            let decision = self.run.decide(&event)?;
            let record = Record { at: self.clock.now_ms(), event, decision };
            let seq = self.recorder.write_record(&record)?;
            self.run.apply(&record.event, &record.decision);
            watch(&record, &self.run);
            self.perform(seq, &record.decision);
        }
    }

    /// Where the task stands.
    pub const fn task(&self) -> &TaskRun {
        &self.run
    }

    /// A result of a command that is no longer under way has had its end already.
    fn is_current(&self, event: &Event) -> bool {
        match event {
            Event::Ended { command, .. } => self.under_way == Some(*command),
            Event::Begun | Event::StopAsked | Event::Resumed { .. } => true,
        }
    }

    fn perform(&mut self, at: Seq, decision: &Decision) {
        let leaves_work = matches!(decision.step, Step::Paused { .. } | Step::Ended { .. });
        if let Some(command) = self.under_way.take().filter(|_| leaves_work) {
            self.executor.cancel(command);
        }
        if let Some(command) = &decision.command {
            let id = command_id(at);
            self.under_way = Some(id);
            self.executor.start(id, &self.run.told(command));
        }
    }
}

/// Where a task stands by its record, the command that is under way then, and the number of the next record.
fn fold(recorded: &Recorded) -> (TaskRun, Option<CommandId>, Seq) {
    let mut run = TaskRun::new(recorded.opening.order.clone());
    let (mut under_way, mut next) = (None, Seq(1));
    for record in &recorded.records {
        run.apply(&record.event, &record.decision);
        under_way = record.decision.command.as_ref().map(|_| command_id(next)).or(under_way);
        next = next.next();
    }
    (run, under_way, next)
}

impl Recorded {
    /// Where the task stands by its record.
    pub fn task(&self) -> TaskRun {
        fold(self).0
    }
}

/// The id of the one command of a record.
fn command_id(at: Seq) -> CommandId {
    CommandId { seq: at.0, index: 0 }
}
