//! Runs one simulated task: the real engine with a disk that fails on request and a clock that may jump.
//!
//! Owns resuming a task that paused because the simulated machine failed or a person stopped it. Only what is in
//! `TaskSimulator` survives a loss of power.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use fixpoint_decide::run::RunOptions;
use fixpoint_decide::task_run::{TaskOptions, TaskRun};
use fixpoint_engine::{Engine, EngineExit, FORMAT, JournalHeader, Record, ResumeRequest};
use fixpoint_journal::MemoryJournal;
use fixpoint_ports::{Clock, Outbox, mailbox};
use fixpoint_vocabulary::Cause;

use crate::executor::{CommandLog, EndReports, TaskExecutor};
use crate::project::Project;
use crate::random::Random;
use crate::simulated_task::SimulatedTask;
use crate::storage::{SimulationError, Storage};

const MAX_RESUMES: u32 = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WallTime {
    Fixed,
    /// Jumps back and forth.
    Jumping {
        seed: u64,
    },
}

#[derive(Debug)]
pub(crate) struct SimulatedClock {
    pub(crate) wall_time: WallTime,
    pub(crate) reads: AtomicU64,
}

impl Clock for SimulatedClock {
    fn elapsed_ms(&self) -> u64 {
        0
    }

    fn now_ms(&self) -> u64 {
        match self.wall_time {
            WallTime::Fixed => 0,
            WallTime::Jumping { seed } => {
                let read = self.reads.fetch_add(1, Ordering::Relaxed);
                Random::keyed(seed, &format!("clock {read}")).next_u64() >> 20
            }
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct TaskScenario {
    pub(crate) options: TaskOptions,
    pub(crate) end_reports: EndReports,
    pub(crate) wall_time: WallTime,
}

/// Called for every record that is on the disk; may inject a fault or stop the task.
pub(crate) type OnRecord<'a> = &'a mut dyn FnMut(&Record, &Outbox);

#[derive(Debug, Default)]
pub(crate) struct TaskSimulator {
    pub(crate) storage: Storage,
    pub(crate) log: Rc<RefCell<CommandLog>>,
}

impl TaskSimulator {
    /// Begins a task, or resumes it from the disk, and runs it to its end.
    pub(crate) fn run(
        &self,
        project: &Project,
        scenario: &TaskScenario,
        on_record: OnRecord<'_>,
    ) -> Result<SimulatedTask, SimulationError> {
        let mut resumes = 0;
        loop {
            let (outbox, inbox) = mailbox();
            let executor = TaskExecutor {
                project: *project,
                end_reports: scenario.end_reports,
                outbox: outbox.clone(),
                log: Rc::clone(&self.log),
            };
            let (mut engine, mut seq) = self.open(executor, scenario)?;
            let ending = engine.run(&inbox, &mut |records, _| {
                for record in records {
                    seq += 1;
                    self.log.borrow_mut().note_begun(seq, record);
                    on_record(record, &outbox);
                }
            })?;
            let may_resume = matches!(ending, EngineExit::Paused(Cause::Infrastructure | Cause::Stopped));
            if !may_resume || resumes == MAX_RESUMES {
                let tasks = engine.state().tasks().filter_map(|node| node.run.as_ref());
                let results = tasks.flat_map(TaskRun::results).map(|commit| commit.0.clone()).collect();
                let recorded = self.storage.read_and_replay()?;
                return Ok(SimulatedTask::new(ending, results, recorded, self.log.borrow().cost));
            }
            resumes += 1;
        }
    }

    fn open(
        &self,
        executor: TaskExecutor,
        scenario: &TaskScenario,
    ) -> Result<(Engine<MemoryJournal, TaskExecutor>, u64), SimulationError> {
        let clock = SimulatedClock { wall_time: scenario.wall_time, reads: AtomicU64::new(0) };
        let (deps, recorded) = self.storage.open(clock)?;
        let Some(recorded) = recorded else {
            let options = RunOptions::given(scenario.options.clone());
            let header = JournalHeader { format: FORMAT, at: 0, options, spec: None };
            return Ok((Engine::begin(deps, executor, header)?, 0));
        };
        self.log.borrow_mut().restore(&recorded);
        let seq = recorded.records.len() as u64;
        Ok((Engine::resume(deps, executor, recorded.run(), recorded.next(), ResumeRequest::default()), seq))
    }
}
