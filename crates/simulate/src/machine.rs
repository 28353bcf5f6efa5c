//! A made-up machine: the disk that fails when it is told to, and a clock that may say anything.
//!
//! Owns opening, resuming and the person who has a task go on that paused for the machine. What survives a loss of
//! power is what is here; everything else is made anew.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fixpoint_decide::run::RunOptions;
use fixpoint_decide::task_run::{TaskOptions, TaskRun};
use fixpoint_engine::{
    Engine, EngineDeps, EngineError, EngineExit, FORMAT, JournalHeader, Record, RecordError, RecordedRun,
    ResumeRequest, replay,
};
use fixpoint_journal::{FaultyDisk, MemoryBlobs, MemoryJournal, OpenError, OpenMode, StoredJournal};
use fixpoint_ports::{Clock, Outbox, mailbox};
use fixpoint_vocabulary::Cause;
use fixpoint_vocabulary::work::CommandId;

use crate::history::Finished;
use crate::performer::{Book, Manners, Performer};
use crate::project::Project;
use crate::random::Random;

/// How often a person has a task go on that paused because the machine failed.
const GOES_ON: u32 = 200;

/// What went wrong with the machinery itself. Where no fault was asked for, each of these is a defect.
#[derive(Debug, thiserror::Error)]
pub enum Interrupted {
    /// The engine could not go on.
    #[error("the engine could not go on: {0}")]
    Engine(#[from] EngineError),
    /// The journal could not be opened.
    #[error("the journal could not be opened: {0}")]
    Journal(#[from] OpenError),
    /// The journal's records could not be read.
    #[error("the journal could not be read: {0}")]
    Record(#[from] RecordError),
    /// A command was performed that no record on the disk knows of.
    #[error("command {0} was performed and is not on record")]
    Unrecorded(CommandId),
    /// The journal decides otherwise when it is decided again.
    #[error("record {number} would be decided otherwise when it is decided again")]
    DecidedOtherwise {
        /// The first record that would be.
        number: u64,
    },
}

/// What the clock on the wall says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hands {
    Still,
    /// Anything: it jumps back and forth.
    Jumping {
        seed: u64,
    },
}

#[derive(Debug)]
struct WallClock {
    hands: Hands,
    looks: AtomicU64,
}

impl Clock for WallClock {
    fn elapsed_ms(&self) -> u64 {
        0
    }

    fn now_ms(&self) -> u64 {
        match self.hands {
            Hands::Still => 0,
            Hands::Jumping { seed } => {
                let look = self.looks.fetch_add(1, Ordering::Relaxed);
                Random::keyed(seed, &format!("clock {look}")).next_u64() >> 20
            }
        }
    }
}

/// Everything about a run but the task: what is asked for, and who serves it.
#[derive(Debug, Clone)]
pub(crate) struct Circumstances {
    pub(crate) order: TaskOptions,
    pub(crate) manners: Manners,
    pub(crate) hands: Hands,
}

/// Sees every record once it is on the disk, and may do something to the machine or the task then.
pub(crate) type Watch<'a> = &'a mut dyn FnMut(&Record, &Outbox);

/// A machine: what survives when its power goes.
#[derive(Debug, Default)]
pub(crate) struct Machine {
    pub(crate) disk: FaultyDisk,
    pub(crate) blobs: Arc<MemoryBlobs>,
    pub(crate) book: Rc<RefCell<Book>>,
}

impl Machine {
    /// The records on the disk.
    pub(crate) fn read(&self) -> Result<RecordedRun, Interrupted> {
        let records = StoredJournal::examine(self.disk.clone())?.records;
        Ok(RecordedRun::read(records.iter().map(|record| record.payload.as_slice()), &*self.blobs)?)
    }

    /// Begins a task, or takes it up with what is on the disk, and goes on to the end.
    pub(crate) fn run(
        &self,
        project: &Project,
        circumstances: &Circumstances,
        watch: Watch<'_>,
    ) -> Result<Finished, Interrupted> {
        let mut gone_on = 0;
        loop {
            let (outbox, inbox) = mailbox();
            let performer = Performer {
                project: *project,
                manners: circumstances.manners,
                outbox: outbox.clone(),
                book: Rc::clone(&self.book),
            };
            let (mut engine, mut seq) = self.open(performer, circumstances)?;
            let ending = engine.run(&inbox, &mut |records, _| {
                for record in records {
                    seq += 1;
                    self.book.borrow_mut().note_begun(seq, record);
                    watch(record, &outbox);
                }
            })?;
            let may_go_on = matches!(ending, EngineExit::Paused(Cause::Infrastructure | Cause::Stopped));
            if !may_go_on || gone_on == GOES_ON {
                let tasks = engine.state().tasks().filter_map(|node| node.run.as_ref());
                let results = tasks.flat_map(TaskRun::results).map(|commit| commit.0.clone()).collect();
                return self.finished(ending, results);
            }
            gone_on += 1;
        }
    }

    fn open(
        &self,
        performer: Performer,
        circumstances: &Circumstances,
    ) -> Result<(Engine<MemoryJournal, Performer>, u64), Interrupted> {
        let (journal, payloads) = match StoredJournal::resume(self.disk.clone(), OpenMode::Continue) {
            Ok(opened) => (opened.journal, opened.records),
            // Nothing was ever begun, or the power went before the file itself was: nothing was promised yet.
            Err(OpenError::Missing(_)) => (StoredJournal::begin(self.disk.clone())?, Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let clock = WallClock { hands: circumstances.hands, looks: AtomicU64::new(0) };
        let deps = EngineDeps { journal, blobs: Arc::clone(&self.blobs) as _, clock: Arc::new(clock) };
        if payloads.is_empty() {
            let options = RunOptions::given(circumstances.order.clone());
            let header = JournalHeader { format: FORMAT, at: 0, options, spec: None };
            return Ok((Engine::begin(deps, performer, header)?, 0));
        }
        let payloads = payloads.iter().map(|record| record.payload.as_slice());
        let recorded = RecordedRun::read(payloads, &*self.blobs)?;
        self.book.borrow_mut().recall(&recorded);
        let seq = recorded.records.len() as u64;
        Ok((Engine::resume(deps, performer, recorded.run(), recorded.next(), ResumeRequest::default()), seq))
    }

    fn finished(&self, ending: EngineExit, results: Vec<String>) -> Result<Finished, Interrupted> {
        let recorded = self.read()?;
        // Every journal that is ever simulated is decided again.
        match replay(&recorded, recorded.header.options.clone(), None).difference {
            Some(difference) => Err(Interrupted::DecidedOtherwise { number: difference.number }),
            None => Ok(Finished::of(ending, results, recorded, self.book.borrow().cost)),
        }
    }
}
