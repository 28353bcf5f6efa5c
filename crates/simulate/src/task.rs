//! One task through the real engine, on a disk that may lose its power at any byte.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use fixpoint_decide::task_run::{TaskOrder, TaskRun};
use fixpoint_engine::{Desk, Ending, Engine, EngineError, FORMAT, Opening, Recorded, Replayed, replay};
use fixpoint_journal::{FaultyDisk, MemoryBlobs, MemoryJournal, OpenError, OpenMode, Residue, StoredJournal};
use fixpoint_ports::{Clock, Executor, Inbox, Outbox, mailbox};
use fixpoint_vocabulary::work::{Allowance, Command, CommandEnd, CommandId};

use crate::project::{GOAL, GUARD, Project};

/// Crashes in a row that a simulated task survives; a real one gives up earlier and asks a person.
const PATIENCE: u32 = 1000;

/// Where the power goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crash {
    /// After so many bytes written.
    pub after_bytes: usize,
    /// What the torn write leaves.
    pub residue: Residue,
}

/// How a simulated task ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// How.
    pub ending: Ending,
    /// The commits its attempts came to, in order.
    pub results: Vec<String>,
    /// Bytes its journal took.
    pub written: u64,
    /// Deciding its journal again.
    pub replayed: Replayed,
}

/// What went wrong with the machinery itself: each of these is a defect.
#[derive(Debug)]
pub enum Interrupted {
    /// The engine could not go on.
    Engine(EngineError),
    /// The journal could not be opened again.
    Journal(OpenError),
    /// A command was performed that no record on the disk knows of.
    Unrecorded(CommandId),
}

/// Performs commands at once in the made-up project.
#[derive(Debug)]
struct Performer {
    project: Project,
    outbox: Outbox,
    /// The last command that was begun, for whoever looks at the disk after a crash.
    last: Rc<Cell<Option<CommandId>>>,
}

impl Executor for Performer {
    fn start(&mut self, id: CommandId, command: &Command) {
        self.last.set(Some(id));
        let result = self.project.perform(command);
        self.outbox.report(id, CommandEnd::Completed(result), Duration::from_secs(1));
    }

    fn cancel(&mut self, _: CommandId) {}
}

/// A clock that stands still: what it tells must not matter.
#[derive(Debug)]
struct NoClock;

impl Clock for NoClock {
    fn now_ms(&self) -> u64 {
        0
    }
}

/// A machine: what survives when its power goes.
#[derive(Debug, Default)]
struct Machine {
    disk: FaultyDisk,
    blobs: Arc<MemoryBlobs>,
}

impl Machine {
    fn read(&self) -> Result<Recorded, Interrupted> {
        let records = StoredJournal::examine(self.disk.clone()).map_err(Interrupted::Journal)?.records;
        let payloads = records.iter().map(|record| record.payload.as_slice());
        Recorded::read(payloads, &*self.blobs).map_err(|error| Interrupted::Engine(error.into()))
    }
}

fn order() -> TaskOrder {
    let (goals, guards) = (BTreeSet::from([GOAL]), BTreeSet::from([GUARD]));
    TaskOrder { max_interruptions: PATIENCE, ..TaskOrder::new("simulated".into(), goals, guards) }
}

/// Runs a task without any trouble.
pub fn simulate_task(project: &Project) -> Result<Finished, Interrupted> {
    run(project, &Machine::default(), &Rc::default())
}

/// Runs a task whose disk loses its power once, takes it up again, and goes on to the end.
pub fn crash_once(project: &Project, crash: Crash) -> Result<Finished, Interrupted> {
    let machine = Machine::default();
    machine.disk.lose_power_after(crash.after_bytes, crash.residue);
    let last = Rc::default();
    if let Ok(finished) = run(project, &machine, &last) {
        return Ok(finished);
    }
    machine.disk.restart();
    let recorded = match StoredJournal::examine(machine.disk.clone()) {
        Ok(inspection) => inspection.records.len() as u64,
        Err(OpenError::Missing(_)) => 0,
        Err(error) => return Err(Interrupted::Journal(error)),
    };
    match last.get().filter(|command| command.seq >= recorded) {
        Some(unrecorded) => Err(Interrupted::Unrecorded(unrecorded)),
        None => run(project, &machine, &last),
    }
}

/// Begins or resumes a task with what is on the disk, and goes on to the end.
fn run(
    project: &Project,
    machine: &Machine,
    last: &Rc<Cell<Option<CommandId>>>,
) -> Result<Finished, Interrupted> {
    let (outbox, inbox) = mailbox();
    let performer = Performer { project: project.clone(), outbox, last: Rc::clone(last) };
    let mut engine = open(performer, machine)?;
    let ending = engine.run(&inbox, &mut |_, _| {}).map_err(Interrupted::Engine)?;
    finished(engine.task(), ending, machine, inbox)
}

fn open(performer: Performer, machine: &Machine) -> Result<Engine<MemoryJournal, Performer>, Interrupted> {
    let (journal, is_new) = match StoredJournal::resume(machine.disk.clone(), OpenMode::Continue) {
        Ok(opened) => (opened.journal, opened.records.is_empty()),
        // Nothing was ever begun, or the power went before the file itself was: nothing was promised yet.
        Err(OpenError::Missing(_)) => {
            (StoredJournal::begin(machine.disk.clone()).map_err(Interrupted::Journal)?, true)
        }
        Err(error) => return Err(Interrupted::Journal(error)),
    };
    let desk = Desk { journal, blobs: Arc::clone(&machine.blobs) as _, clock: Arc::new(NoClock) };
    if is_new {
        let opening = Opening { format: FORMAT, at: 0, order: order(), brief: None };
        Engine::begin(desk, performer, opening).map_err(Interrupted::Engine)
    } else {
        Ok(Engine::resume(desk, performer, &machine.read()?, Allowance::default()))
    }
}

fn finished(
    task: &TaskRun,
    ending: Ending,
    machine: &Machine,
    inbox: Inbox,
) -> Result<Finished, Interrupted> {
    drop(inbox);
    let recorded = machine.read()?;
    let replayed = replay(&recorded, recorded.opening.order.clone());
    let results = task.results().map(|commit| commit.0.clone()).collect();
    Ok(Finished { ending, results, written: machine.disk.written(), replayed })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Agent;
    use fixpoint_vocabulary::Cause;

    fn project(seed: u64, agent: Agent) -> Project {
        Project::new(seed, agent, 3)
    }

    #[test]
    fn each_character_ends_as_it_deserves() {
        for (agent, causes) in [
            (Agent::Fixes, &[Cause::Done, Cause::NotConverging][..]),
            (Agent::Stalls, &[Cause::NotConverging]),
            (Agent::Oscillates, &[Cause::NotConverging]),
            (Agent::Churns, &[Cause::NotConverging, Cause::MaxIterations]),
            (Agent::Idles, &[Cause::NotConverging]),
        ] {
            for seed in 0..20 {
                let finished = simulate_task(&project(seed, agent)).unwrap();
                let Ending::Ended(cause) = finished.ending else { panic!("{agent:?} {seed}: {finished:?}") };
                assert!(causes.contains(&cause), "{agent:?} {seed}: {cause:?}");
                assert_eq!(finished.replayed.difference, None);
            }
        }
    }

    /// Power lost at every byte of whole runs, with both kinds of torn tail: each is taken up to the same end and
    /// the same results, and its journal decides the same again. Catches a step performed before it is on the disk,
    /// a count that lives outside the journal, and a record read back as something else. A failure names agent,
    /// seed and byte.
    #[test]
    fn ten_thousand_crash_points_end_as_the_undisturbed_run() {
        const CRASHES: u64 = 10_000;
        let mut points = 0;
        for seed in 0.. {
            for agent in Agent::ALL {
                let project = project(seed, agent);
                let undisturbed = simulate_task(&project).unwrap();
                let share = CRASHES / (2 * Agent::ALL.len() as u64);
                let step = (undisturbed.written / share).max(1);
                for after_bytes in (seed % step..=undisturbed.written).step_by(step as usize) {
                    for residue in [Residue::Short, Residue::Zeros] {
                        let crash = Crash { after_bytes: after_bytes as usize, residue };
                        let finished = crash_once(&project, crash);
                        let place = format!("{agent:?}, seed {seed}, {crash:?}");
                        let finished = finished.unwrap_or_else(|error| panic!("{place}: {error:?}"));
                        assert_eq!(finished.ending, undisturbed.ending, "{place}");
                        assert_eq!(finished.results, undisturbed.results, "{place}");
                        assert_eq!(finished.replayed.difference, None, "{place}");
                        points += 1;
                    }
                }
            }
            if points >= CRASHES {
                break;
            }
        }
        assert!(points >= CRASHES);
    }
}
