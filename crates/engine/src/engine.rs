//! The engine of one run: the loop itself, beginning, resuming, stopping.

use std::collections::VecDeque;
use std::sync::Arc;

use fixpoint_decide::run::{Run, RunStatus, Turn, UnexpectedEvent};
use fixpoint_ports::{BlobError, Blobs, Clock, Executor, Inbox, Journal, JournalError, Seq};
use fixpoint_vocabulary::ask::Remark;
use fixpoint_vocabulary::work::{Allowance, CommandEnd, CommandId, Event};
use fixpoint_vocabulary::{Cause, TaskId};

use crate::record::{JournalHeader, Record, RecordError, RecordWriter, RecordedRun};

/// Events that are decided together at most. More only wait for the next batch.
const LARGEST_BATCH: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineExit {
    Ended(Cause),
    /// It waits for a person; resuming goes on.
    Paused(Cause),
}

impl EngineExit {
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
    /// A large record could not be stored.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// An executor reported what cannot have happened, or all who could report anything are gone: a defect.
    #[error("defect in Fixpoint: {0}")]
    Defect(String),
}

impl From<UnexpectedEvent> for EngineError {
    fn from(error: UnexpectedEvent) -> Self {
        Self::Defect(error.to_string())
    }
}

impl From<RecordError> for EngineError {
    fn from(error: RecordError) -> Self {
        Self::Defect(error.to_string())
    }
}

/// Where a run is recorded, and its clock.
#[derive(Debug)]
pub struct EngineDeps<J> {
    pub journal: J,
    pub blobs: Arc<dyn Blobs>,
    pub clock: Arc<dyn Clock>,
}

/// What a person brings when a run is resumed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResumeRequest {
    /// What may be spent beyond what was allowed.
    pub more: Allowance,
    /// Blocked tasks that may try again.
    pub unblocked: Vec<TaskId>,
    pub said: Vec<Remark>,
}

/// One run, its journal and whoever executes its commands.
#[derive(Debug)]
pub struct Engine<J, X> {
    writer: RecordWriter<J>,
    clock: Arc<dyn Clock>,
    executor: X,
    run: Run,
    /// Events to decide first: the start, or what follows from a restart.
    first: VecDeque<Event>,
    /// What the clock that does not jump showed at the last record.
    last_ms: u64,
    largest_batch: usize,
}

impl<J: Journal, X: Executor> Engine<J, X> {
    /// Begins a run on an empty journal.
    pub fn begin(deps: EngineDeps<J>, executor: X, header: JournalHeader) -> Result<Self, EngineError> {
        let mut writer = RecordWriter { journal: deps.journal, blobs: deps.blobs, next: Seq::default() };
        writer.write_header(&header)?;
        let run = Run::new(header.options, header.spec);
        Ok(Self::new(writer, deps.clock, executor, run, VecDeque::from([Event::Started])))
    }

    /// Resumes a run that was folded from its records; `next` is the number of the next record. What was in flight is
    /// lost and is told so; what was paused goes on, with more to spend if more was granted. A run that is over stays
    /// over, unless a blocked task may try again.
    pub fn resume(deps: EngineDeps<J>, executor: X, run: Run, next: Seq, request: ResumeRequest) -> Self {
        let lost = |command| Event::Ended { command, end: CommandEnd::Lost, took_ms: 0 };
        let mut first: VecDeque<Event> = run.in_flight().map(|(id, ..)| lost(id)).collect();
        let is_empty = request == ResumeRequest::default();
        let ResumeRequest { more, unblocked, said } = request;
        let opens_again = !unblocked.is_empty();
        let resumed = Event::Resumed { more, unblocked, said };
        match run.status() {
            RunStatus::New => first.push_back(Event::Started),
            RunStatus::Working if is_empty => {}
            RunStatus::Working | RunStatus::Paused { .. } => first.push_back(resumed),
            RunStatus::Ended { .. } if opens_again => first.push_back(resumed),
            RunStatus::Ended { .. } => {}
        }
        let writer = RecordWriter { journal: deps.journal, blobs: deps.blobs, next };
        Self::new(writer, deps.clock, executor, run, first)
    }

    fn new(
        writer: RecordWriter<J>,
        clock: Arc<dyn Clock>,
        executor: X,
        run: Run,
        first: VecDeque<Event>,
    ) -> Self {
        let last_ms = clock.elapsed_ms();
        Self { writer, clock, executor, run, first, last_ms, largest_batch: LARGEST_BATCH }
    }

    /// The same engine with batches of at most so many events; 1 makes each record durable by itself.
    #[must_use]
    pub fn with_batches_of(mut self, events: usize) -> Self {
        self.largest_batch = events.max(1);
        self
    }

    /// Goes on until the run is over or waits for a person. `watch` sees every batch of records once it is on the
    /// disk, with the run as it is after them.
    pub fn run(
        &mut self,
        inbox: &Inbox,
        watch: &mut dyn FnMut(&[Record], &Run),
    ) -> Result<EngineExit, EngineError> {
        while let Some(first) = self.next_event(inbox)? {
            let before: Vec<CommandId> = self.run.in_flight().map(|(id, ..)| id).collect();
            let seq = self.writer.next.0;
            let records = self.step_all(first, inbox)?;
            self.writer.write_records(&records)?;
            watch(&records, &self.run);
            self.cancel_abandoned(&before, &records);
            self.start_commands(seq, &records);
        }
        match self.run.status() {
            RunStatus::Ended { cause } => Ok(EngineExit::Ended(cause)),
            RunStatus::Paused { cause } => Ok(EngineExit::Paused(cause)),
            RunStatus::New | RunStatus::Working => Err(EngineError::Defect("the run stopped early".into())),
        }
    }

    pub const fn state(&self) -> &Run {
        &self.run
    }

    /// Gives the run back. The executor is dropped, and with it what is in flight.
    pub fn into_state(self) -> Run {
        self.run
    }

    /// The next event; `None` where the run is over or paused and nothing is left to be told.
    fn next_event(&mut self, inbox: &Inbox) -> Result<Option<Event>, EngineError> {
        if let Some(event) = self.first.pop_front() {
            return Ok(Some(event));
        }
        match self.run.status() {
            RunStatus::Ended { .. } | RunStatus::Paused { .. } => Ok(None),
            RunStatus::New | RunStatus::Working => {
                let defect =
                    || EngineError::Defect("no command can end any more, and the run is not over".into());
                inbox.next().map(Some).ok_or_else(defect)
            }
        }
    }

    /// Decides an event and those that wait behind it. Nothing of it counts before it is written.
    fn step_all(&mut self, first: Event, inbox: &Inbox) -> Result<Vec<Record>, EngineError> {
        let mut records = Vec::new();
        let mut next = Some(first);
        while let Some(event) = next {
            if self.is_current(&event) {
                records.push(self.step(event, records.len() as u64)?);
            }
            let is_at_work = matches!(self.run.status(), RunStatus::New | RunStatus::Working);
            let has_room = records.len() < self.largest_batch;
            next = self
                .first
                .pop_front_if(|_| has_room)
                .or_else(|| if has_room && is_at_work { inbox.waiting() } else { None });
        }
        Ok(records)
    }

    fn step(&mut self, event: Event, place: u64) -> Result<Record, EngineError> {
        let now_ms = self.clock.elapsed_ms();
        let elapsed_ms = now_ms.saturating_sub(self.last_ms);
        let turn = Turn { seq: self.writer.next.0 + place, elapsed_ms };
        let decision = self.run.step(turn, &event)?;
        self.last_ms = now_ms;
        Ok(Record { at: self.clock.now_ms(), elapsed_ms, event, decision })
    }

    /// A result of a command that is not in flight any more has had its end already.
    fn is_current(&self, event: &Event) -> bool {
        match event {
            Event::Ended { command, .. } => self.run.is_in_flight(*command),
            Event::Started | Event::StopRequested | Event::Resumed { .. } => true,
        }
    }

    /// Cancels what was in flight before a batch, has not ended in it, and is no longer wanted.
    fn cancel_abandoned(&mut self, before: &[CommandId], records: &[Record]) {
        let has_ended = |id: &CommandId| {
            let is_end =
                |record: &Record| matches!(&record.event, Event::Ended { command, .. } if command == id);
            records.iter().any(is_end)
        };
        for id in before.iter().filter(|id| !self.run.is_in_flight(**id) && !has_ended(id)) {
            self.executor.cancel(*id);
        }
    }

    /// Starts what a batch begins, but for what a later event of the same batch gave up again.
    fn start_commands(&mut self, seq: u64, records: &[Record]) {
        for (seq, record) in (seq..).zip(records) {
            for (id, ..) in record.decision.commands(seq) {
                if let Some(command) = self.run.prepare(id) {
                    self.executor.start(id, command);
                }
            }
        }
    }
}

impl RecordedRun {
    pub fn next(&self) -> Seq {
        Seq(self.records.len() as u64 + 1)
    }

    pub fn run(&self) -> Run {
        let mut run = Run::new(self.header.options.clone(), self.header.spec.clone());
        for (seq, record) in (1u64..).zip(&self.records) {
            let turn = Turn { seq, elapsed_ms: record.elapsed_ms };
            run.apply(turn, &record.event, &record.decision);
        }
        run
    }
}
