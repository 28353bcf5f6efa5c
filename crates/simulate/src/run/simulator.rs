//! Runs one simulated run through the real engine, from the beginning or from what is on a disk, to its end.
//!
//! Owns the person who resumes a paused run, grants more budget and unblocks tasks, each a bounded number of times.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::AtomicU64;

use fixpoint_decide::run::Run;
use fixpoint_engine::{Engine, EngineExit, Record, RecordedRun, ResumeRequest};
use fixpoint_journal::MemoryJournal;
use fixpoint_ports::mailbox;
use fixpoint_vocabulary::usage::{Allowance, MicroUsd};
use fixpoint_vocabulary::work::Event;
use fixpoint_vocabulary::{Cause, TaskId, TaskState};

use super::fake_executor::{Executed, ExecutorFaults, FakeExecutor, SharedExecutor};
use super::scenario::RunScenario;
use crate::storage::{SimulationError, Storage};
use crate::task_simulator::{SimulatedClock, WallTime};

const MAX_RESUMES: usize = 30;

#[derive(Debug)]
pub(crate) struct SimulatedRun {
    pub(crate) ending: EngineExit,
    pub(crate) run: Run,
    #[cfg_attr(not(test), expect(dead_code, reason = "only the tests read it"))]
    pub(crate) recorded: RecordedRun,
    pub(crate) executed: Executed,
    /// The causes of its pauses.
    #[cfg_attr(not(test), expect(dead_code, reason = "only the tests read it"))]
    pub(crate) pauses: Vec<Cause>,
}

/// Called for records that are on the disk, with the run after them.
pub(crate) type OnRecords<'a> = &'a mut dyn FnMut(&[Record], &Run);

/// What survives when the power goes.
#[derive(Debug, Default)]
pub(crate) struct RunSimulator {
    pub(crate) storage: Storage,
    pub(crate) executed: Rc<RefCell<Executed>>,
}

impl RunSimulator {
    /// Begins a run or resumes it, until it ends or is not resumed any more.
    pub(crate) fn run(
        &self,
        scenario: &RunScenario,
        faults: impl Into<ExecutorFaults>,
        on_records: OnRecords<'_>,
    ) -> Result<SimulatedRun, SimulationError> {
        let faults = faults.into();
        let mut pauses = Vec::new();
        let mut request = ResumeRequest::default();
        let mut stop = scenario.stops_after;
        loop {
            let (outbox, inbox) = mailbox();
            let disk = self.storage.disk.clone();
            let mut executor =
                FakeExecutor::new(scenario.actors.clone(), faults.clone(), outbox.clone(), disk);
            executor.executed = self.executed.borrow().clone();
            let executor = Rc::new(RefCell::new(executor));
            let (mut engine, mut seq) = self.open(&executor, scenario, request)?;
            let ending = engine.run(&inbox, &mut |records, run| {
                executor.borrow_mut().recorded(seq + 1, records, run);
                seq += records.len() as u64;
                *self.executed.borrow_mut() = executor.borrow().executed.clone();
                on_records(records, run);
                if stop.is_some_and(|after| seq as usize > after) {
                    stop = None;
                    outbox.send(Event::StopRequested);
                }
            });
            *self.executed.borrow_mut() = executor.borrow().executed.clone();
            let ending = ending?;
            match next(ending, engine.state(), scenario, &pauses) {
                Some(next) => request = next,
                None => {
                    let (run, executed) = (engine.state().clone(), self.executed.borrow().clone());
                    let recorded = self.storage.read_and_replay()?;
                    return Ok(SimulatedRun { ending, run, recorded, executed, pauses });
                }
            }
            pauses.push(ending.cause());
        }
    }

    fn open(
        &self,
        executor: &Rc<RefCell<FakeExecutor>>,
        scenario: &RunScenario,
        request: ResumeRequest,
    ) -> Result<(Engine<MemoryJournal, SharedExecutor>, u64), SimulationError> {
        let clock = SimulatedClock { wall_time: WallTime::Fixed, reads: AtomicU64::new(0) };
        let (deps, recorded) = self.storage.open(clock)?;
        let shared = SharedExecutor(Rc::clone(executor));
        let Some(recorded) = recorded else {
            return Ok((Engine::begin(deps, shared, scenario.header())?, 0));
        };
        let run = recorded.run();
        executor.borrow_mut().restore(&recorded, &run);
        let seq = recorded.records.len() as u64;
        Ok((Engine::resume(deps, shared, run, recorded.next(), request), seq))
    }
}

/// How the person resumes a run that paused or ended; `None` to leave it.
fn next(ending: EngineExit, run: &Run, scenario: &RunScenario, pauses: &[Cause]) -> Option<ResumeRequest> {
    if pauses.len() >= MAX_RESUMES {
        return None;
    }
    match ending {
        EngineExit::Paused(Cause::Budget) => Some(ResumeRequest { more: more(), ..ResumeRequest::default() }),
        EngineExit::Paused(_) => Some(ResumeRequest::default()),
        EngineExit::Ended(_) => {
            let blocked = run.tasks().find(|node| node.state == TaskState::Blocked);
            let unblocked: Vec<TaskId> = blocked.map(|node| node.id().clone()).into_iter().collect();
            let is_first = !pauses.contains(&ending.cause());
            (scenario.unblocks && is_first && !unblocked.is_empty())
                .then(|| ResumeRequest { unblocked, ..ResumeRequest::default() })
        }
    }
}

/// What the person grants at a time.
fn more() -> Allowance {
    Allowance {
        model_calls: Some(20),
        tokens: Some(2_000_000),
        money: Some(MicroUsd::from_usd(40.0)),
        attempts: Some(10),
        seconds: None,
    }
}
