//! The engine of one run: the loop itself, beginning, resuming, stopping.

use std::collections::VecDeque;
use std::sync::Arc;

use fixpoint_decide::run::{Decision, OutOfPlace, Run, Standing, Turn};
use fixpoint_ports::{BlobError, Blobs, Clock, Executor, Inbox, Journal, JournalError, Seq};
use fixpoint_vocabulary::ask::Remark;
use fixpoint_vocabulary::work::{Allowance, CommandEnd, CommandId, Event};
use fixpoint_vocabulary::{Cause, TaskId};

use crate::record::{Opening, Record, RecordError, Recorded, Recorder};

/// Why the loop stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The run is over.
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
    #[error("nothing can happen any more, and the run is not over")]
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

/// What a person brings when a run is taken up again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Return {
    /// What may be spent beyond what was allowed.
    pub more: Allowance,
    /// Blocked tasks that may try again.
    pub unblocked: Vec<TaskId>,
    /// What people said meanwhile.
    pub said: Vec<Remark>,
}

/// One run, its journal and whoever performs its commands.
#[derive(Debug)]
pub struct Engine<J, X> {
    recorder: Recorder<J>,
    clock: Arc<dyn Clock>,
    executor: X,
    run: Run,
    /// What happens first: the beginning, or what a restart makes of the record.
    first: VecDeque<Event>,
    /// What the clock that does not jump showed at the last record.
    last: u64,
}

impl<J: Journal, X: Executor> Engine<J, X> {
    /// Begins a run on an empty journal.
    pub fn begin(desk: Desk<J>, executor: X, opening: Opening) -> Result<Self, EngineError> {
        let mut recorder = Recorder { journal: desk.journal, blobs: desk.blobs, next: Seq::default() };
        recorder.write(&opening)?;
        let run = Run::new(opening.order, opening.brief);
        let last = desk.clock.elapsed_ms();
        Ok(Self { recorder, clock: desk.clock, executor, run, first: VecDeque::from([Event::Begun]), last })
    }

    /// Takes up a run that is on record. What was under way is lost and is told so; what was paused goes on, with
    /// more to spend if more was granted. A run that is over stays over, unless a blocked task may try again.
    pub fn resume(desk: Desk<J>, executor: X, recorded: &Recorded, back: Return) -> Self {
        Self::resume_folded(desk, executor, recorded.run(), recorded.next(), back)
    }

    /// The same for a run that was folded from its records already; `next` is the number of the next record.
    pub fn resume_folded(desk: Desk<J>, executor: X, run: Run, next: Seq, back: Return) -> Self {
        let lost = |command| Event::Ended { command, end: CommandEnd::Lost, took_ms: 0 };
        let mut first: VecDeque<Event> = run.under_way().map(|(id, ..)| lost(id)).collect();
        let is_empty = back == Return::default();
        let Return { more, unblocked, said } = back;
        let opens_again = !unblocked.is_empty();
        let resumed = Event::Resumed { more, unblocked, said };
        match run.standing() {
            Standing::New => first.push_back(Event::Begun),
            Standing::Working if is_empty => {}
            Standing::Working | Standing::Paused { .. } => first.push_back(resumed),
            Standing::Ended { .. } if opens_again => first.push_back(resumed),
            Standing::Ended { .. } => {}
        }
        let recorder = Recorder { journal: desk.journal, blobs: desk.blobs, next };
        let last = desk.clock.elapsed_ms();
        Self { recorder, clock: desk.clock, executor, run, first, last }
    }

    /// Goes on until the run is over or waits for a person. `watch` sees every record once it is on the disk.
    pub fn run(
        &mut self,
        inbox: &Inbox,
        watch: &mut dyn FnMut(&Record, &Run),
    ) -> Result<Ending, EngineError> {
        loop {
            let event = match (self.first.pop_front(), self.run.standing()) {
                (Some(event), _) => event,
                (None, Standing::Ended { cause }) => return Ok(Ending::Ended(cause)),
                (None, Standing::Paused { cause }) => return Ok(Ending::Paused(cause)),
                (None, Standing::New | Standing::Working) => inbox.next().ok_or(EngineError::Silence)?,
            };
            if !self.is_current(&event) {
                continue;
            }
            let now = self.clock.elapsed_ms();
            let elapsed_ms = now.saturating_sub(self.last);
            let turn = Turn { seq: self.recorder.next.0, elapsed_ms };
            let decision = self.run.decide(turn, &event)?;
            let record = Record { at: self.clock.now_ms(), elapsed_ms, event, decision };
            self.recorder.write_record(&record)?;
            self.last = now;
            let before: Vec<CommandId> = self.run.under_way().map(|(id, ..)| id).collect();
            self.run.apply(turn, &record.event, &record.decision);
            watch(&record, &self.run);
            self.call_off(&before, &record.event);
            self.perform(turn.seq, &record.decision);
        }
    }

    /// Where the run stands.
    pub const fn state(&self) -> &Run {
        &self.run
    }

    /// Gives the run back. Whoever performs its commands is dropped, and with it what is under way.
    pub fn into_state(self) -> Run {
        self.run
    }

    /// A result of a command that is no longer under way has had its end already.
    fn is_current(&self, event: &Event) -> bool {
        match event {
            Event::Ended { command, .. } => self.run.is_under_way(*command),
            Event::Begun | Event::StopAsked | Event::Resumed { .. } => true,
        }
    }

    /// Calls off what was under way and is no longer wanted.
    fn call_off(&mut self, before: &[CommandId], event: &Event) {
        let has_ended = |id: &CommandId| matches!(event, Event::Ended { command, .. } if command == id);
        for id in before.iter().filter(|id| !self.run.is_under_way(**id) && !has_ended(id)) {
            self.executor.cancel(*id);
        }
    }

    fn perform(&mut self, seq: u64, decision: &Decision) {
        for (index, owner, command) in decision.commands() {
            let id = CommandId { seq, index };
            // What the same decision gave up again is not begun.
            if self.run.is_under_way(id) {
                self.executor.start(id, &self.run.errand(&owner, command));
            }
        }
    }
}

impl Recorded {
    /// The number of the next record.
    pub fn next(&self) -> Seq {
        Seq(self.records.len() as u64 + 1)
    }

    /// Where the run stands by its record.
    pub fn run(&self) -> Run {
        let mut run = Run::new(self.opening.order.clone(), self.opening.brief.clone());
        for (seq, record) in (1u64..).zip(&self.records) {
            let turn = Turn { seq, elapsed_ms: record.elapsed_ms };
            run.apply(turn, &record.event, &record.decision);
        }
        run
    }
}
