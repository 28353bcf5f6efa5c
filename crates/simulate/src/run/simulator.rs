//! A whole made-up run through the real engine, from the beginning or from what is on a disk, to its end.
//!
//! Owns the person at the desk: who grants more when the budget is used up, has the run go on when it waits, and gives
//! blocked tasks another chance, each a bounded number of times.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use fixpoint_decide::run::Run;
use fixpoint_engine::{Engine, EngineDeps, EngineExit, Record, RecordedRun, ResumeRequest, replay};
use fixpoint_journal::{FaultyDisk, MemoryBlobs, MemoryJournal, OpenError, OpenMode, StoredJournal};
use fixpoint_ports::{Clock, mailbox};
use fixpoint_vocabulary::usage::{Allowance, MicroUsd};
use fixpoint_vocabulary::work::Event;
use fixpoint_vocabulary::{Cause, TaskId, TaskState};

use super::circumstances::Circumstances;
use super::fake_executor::{Conduct, FakeExecutor, Performed, SharedExecutor};
use super::stage::Stage;
use crate::machine::Interrupted;

/// How often a person has a run go on that waits.
const GOES_ON: u32 = 30;

#[derive(Debug)]
struct Still;

impl Clock for Still {
    fn elapsed_ms(&self) -> u64 {
        0
    }

    fn now_ms(&self) -> u64 {
        0
    }
}

/// What a whole run came to.
#[derive(Debug)]
pub(crate) struct SimulatedRun {
    pub(crate) ending: EngineExit,
    pub(crate) run: Run,
    #[cfg_attr(not(test), expect(dead_code, reason = "only the tests look at it"))]
    pub(crate) recorded: RecordedRun,
    pub(crate) performed: Performed,
    /// Every cause it paused with on the way.
    #[cfg_attr(not(test), expect(dead_code, reason = "only the tests look at it"))]
    pub(crate) pauses: Vec<Cause>,
}

/// Sees records once they are on the disk, with the run as it is after them.
pub(crate) type Watch<'a> = &'a mut dyn FnMut(&[Record], &Run);

/// What survives when the power goes.
#[derive(Debug, Default)]
pub(crate) struct RunSimulator {
    pub(crate) disk: FaultyDisk,
    pub(crate) blobs: Arc<MemoryBlobs>,
    pub(crate) performed: Rc<RefCell<Performed>>,
}

impl RunSimulator {
    /// Begins a run or takes it up, and goes on until it is over or nobody has it go on.
    pub(crate) fn play(
        &self,
        circumstances: &Circumstances,
        conduct: impl Into<Conduct>,
        watch: Watch<'_>,
    ) -> Result<SimulatedRun, Interrupted> {
        let conduct = conduct.into();
        let mut pauses = Vec::new();
        let mut back = ResumeRequest::default();
        let mut stop = circumstances.stops_after;
        loop {
            let (outbox, inbox) = mailbox();
            let stage = Stage { cast: circumstances.cast.clone() };
            let mut executor = FakeExecutor::new(stage, conduct.clone(), outbox.clone(), self.disk.clone());
            executor.performed = self.performed.borrow().clone();
            let executor = Rc::new(RefCell::new(executor));
            let (mut engine, mut seq) = self.open(&executor, circumstances, back)?;
            let ending = engine.run(&inbox, &mut |records, run| {
                executor.borrow_mut().recorded(seq + 1, records, run);
                seq += records.len() as u64;
                *self.performed.borrow_mut() = executor.borrow().performed.clone();
                watch(records, run);
                if stop.is_some_and(|after| seq as usize > after) {
                    stop = None;
                    outbox.send(Event::StopRequested);
                }
            });
            *self.performed.borrow_mut() = executor.borrow().performed.clone();
            let ending = ending?;
            match next(ending, engine.state(), circumstances, &pauses) {
                Some(next) => back = next,
                None => return self.finished(ending, engine.state().clone(), pauses),
            }
            pauses.push(ending.cause());
        }
    }

    fn open(
        &self,
        executor: &Rc<RefCell<FakeExecutor>>,
        circumstances: &Circumstances,
        back: ResumeRequest,
    ) -> Result<(Engine<MemoryJournal, SharedExecutor>, u64), Interrupted> {
        let (journal, payloads) = match StoredJournal::resume(self.disk.clone(), OpenMode::Continue) {
            Ok(opened) => (opened.journal, opened.records),
            Err(OpenError::Missing(_)) => (StoredJournal::begin(self.disk.clone())?, Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let deps = EngineDeps { journal, blobs: Arc::clone(&self.blobs) as _, clock: Arc::new(Still) };
        let shared = SharedExecutor(Rc::clone(executor));
        if payloads.is_empty() {
            return Ok((Engine::begin(deps, shared, circumstances.header())?, 0));
        }
        let payloads = payloads.iter().map(|record| record.payload.as_slice());
        let recorded = RecordedRun::read(payloads, &*self.blobs)?;
        let run = recorded.run();
        executor.borrow_mut().recall(&recorded, &run);
        let seq = recorded.records.len() as u64;
        Ok((Engine::resume(deps, shared, run, recorded.next(), back), seq))
    }

    /// The records on the disk.
    pub(crate) fn read(&self) -> Result<RecordedRun, Interrupted> {
        let records = StoredJournal::examine(self.disk.clone())?.records;
        Ok(RecordedRun::read(records.iter().map(|record| record.payload.as_slice()), &*self.blobs)?)
    }

    fn finished(
        &self,
        ending: EngineExit,
        run: Run,
        pauses: Vec<Cause>,
    ) -> Result<SimulatedRun, Interrupted> {
        let recorded = self.read()?;
        let (options, spec) = (recorded.header.options.clone(), recorded.header.spec.clone());
        // Every journal that is ever simulated is decided again.
        match replay(&recorded, options, spec).difference {
            Some(difference) => Err(Interrupted::DecidedOtherwise { number: difference.number }),
            None => {
                let performed = self.performed.borrow().clone();
                Ok(SimulatedRun { ending, run, recorded, performed, pauses })
            }
        }
    }
}

/// What the person at the desk does about a run that came to rest; `None` to leave it.
fn next(
    ending: EngineExit,
    run: &Run,
    circumstances: &Circumstances,
    pauses: &[Cause],
) -> Option<ResumeRequest> {
    if pauses.len() >= GOES_ON as usize {
        return None;
    }
    match ending {
        EngineExit::Paused(Cause::Budget) => Some(ResumeRequest { more: more(), ..ResumeRequest::default() }),
        EngineExit::Paused(_) => Some(ResumeRequest::default()),
        EngineExit::Ended(_) => {
            let blocked = run.tasks().find(|node| node.state == TaskState::Blocked);
            let unblocked: Vec<TaskId> = blocked.map(|node| node.id().clone()).into_iter().collect();
            let is_first = !pauses.contains(&ending.cause());
            (circumstances.unblocks && is_first && !unblocked.is_empty())
                .then(|| ResumeRequest { unblocked, ..ResumeRequest::default() })
        }
    }
}

/// What a person grants at a time.
fn more() -> Allowance {
    Allowance {
        model_calls: Some(20),
        tokens: Some(2_000_000),
        money: Some(MicroUsd::from_usd(40.0)),
        attempts: Some(10),
        seconds: None,
    }
}
