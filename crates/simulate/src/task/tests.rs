//! Whole tasks: how each agent ends, and what must not matter: clocks, executors, disks, stops.

use fixpoint_engine::{EngineError, EngineExit, Record};
use fixpoint_journal::OpenError;
use fixpoint_ports::{JournalError, Outbox};
use fixpoint_vocabulary::Cause;
use fixpoint_vocabulary::work::Event;

use super::*;
use crate::agent::Agent;
use crate::crash::check_recorded;
use crate::world::World;

/// Every agent in every world.
fn projects(seed: u64) -> impl Iterator<Item = Project> {
    let pairs = Agent::ALL.into_iter().flat_map(|agent| World::ALL.map(|world| (agent, world)));
    pairs.map(move |(agent, world)| Project::new(seed, agent, world))
}

fn agree(expected: &SimulatedTask, with_fault: &SimulatedTask, project: &Project) {
    let difference = expected.difference(with_fault);
    assert_eq!(difference, None, "{project:?}\n{expected:#?}\n{with_fault:#?}");
}

/// Runs on with what is on the disk after a fault that was met.
fn go_on(simulator: &TaskSimulator, project: &Project) -> SimulatedTask {
    check_recorded(simulator).unwrap();
    simulator.run(project, &without_faults(), &mut |_, _| {}).unwrap()
}

#[test]
fn each_agent_ends_as_expected() {
    use Cause::{BaselineUnusable, Done, Infrastructure, MaxIterations, NotConverging};
    for project in (0..6).flat_map(projects) {
        let finished = simulate_task(&project).unwrap();
        let EngineExit::Ended(cause) = finished.ending else { panic!("{project:?}: {finished:?}") };
        let causes = match project.agent {
            Agent::Stalls | Agent::Rewords | Agent::Oscillates | Agent::Idles => &[NotConverging][..],
            Agent::Churns => &[NotConverging, MaxIterations],
            Agent::Fixes
            | Agent::SlowFixes
            | Agent::Breaks
            | Agent::Wanders
            | Agent::Cheats
            | Agent::HidesBreaks
            | Agent::Redefines
            | Agent::Plants
            | Agent::Hangs
            | Agent::Crashes => &[Done, NotConverging, MaxIterations],
        };
        let by_world = match project.world {
            World::Unreliable => &[BaselineUnusable, Infrastructure][..],
            World::Hanging | World::Environment => &[BaselineUnusable],
            World::Plain
            | World::KnownFailure
            | World::FlakyAtBase
            | World::NewlyFlaky
            | World::Masked
            | World::Outages
            | World::NoReader
            | World::FirstProblems => &[],
        };
        assert!(causes.contains(&cause) || by_world.contains(&cause), "{project:?}: {cause:?}");
    }
}

/// Catches a decision that looks at the time of day.
#[test]
fn the_clock_does_not_matter() {
    for project in projects(1) {
        let jumping = TaskScenario { wall_time: WallTime::Jumping { seed: 5 }, ..without_faults() };
        let with_fault = TaskSimulator::default().run(&project, &jumping, &mut |_, _| {}).unwrap();
        agree(&simulate_task(&project).unwrap(), &with_fault, &project);
    }
}

/// Catches an engine that takes an end for that of the command in flight, or a second one for a first.
#[test]
fn ends_that_come_late_or_twice_do_not_matter() {
    for project in projects(2) {
        let rude = TaskScenario { end_reports: EndReports::LateAndRepeated, ..without_faults() };
        let with_fault = TaskSimulator::default().run(&project, &rude, &mut |_, _| {}).unwrap();
        agree(&simulate_task(&project).unwrap(), &with_fault, &project);
    }
}

/// Catches a stop that loses or repeats what was recorded, and a task that goes on otherwise than it was stopped.
#[test]
fn a_stop_anywhere_changes_nothing() {
    for (project, at) in projects(3).zip((0..12).cycle()) {
        let mut seen = 0;
        let mut stop = |record: &Record, outbox: &Outbox| {
            if seen == at && record.decision.commands(0).next().is_some() {
                outbox.send(Event::StopRequested);
            }
            seen += 1;
        };
        let with_fault = TaskSimulator::default().run(&project, &without_faults(), &mut stop).unwrap();
        agree(&simulate_task(&project).unwrap(), &with_fault, &project);
    }
}

/// Catches a record that counts as written although it was not, and a journal that cannot be resumed once there is
/// space again.
#[test]
fn a_disk_that_fills_up_changes_nothing() {
    for (number, project) in projects(4).enumerate() {
        let expected = simulate_task(&project).unwrap();
        for space in [40, 500 + number * 7, 2500 + number * 11] {
            let simulator = TaskSimulator::default();
            simulator.storage.disk.limit_space(space);
            match simulator.run(&project, &without_faults(), &mut |_, _| {}) {
                // The journal was shorter than the disk.
                Ok(finished) => agree(&expected, &finished, &project),
                Err(
                    SimulationError::Engine(EngineError::Journal(JournalError::NoSpace(_)))
                    | SimulationError::Journal(OpenError::NoSpace(_)),
                ) => {
                    simulator.storage.disk.make_space();
                    agree(&expected, &go_on(&simulator, &project), &project);
                }
                Err(other) => panic!("{project:?}, {space} bytes: {other:?}"),
            }
        }
    }
}

/// Catches a record that counts as written although the disk did not confirm it, and an engine that goes on then.
#[test]
fn a_flush_that_fails_changes_nothing() {
    for (project, at) in projects(5).zip((0..12).cycle()) {
        let simulator = TaskSimulator::default();
        let disk = simulator.storage.disk.clone();
        let mut seen = 0;
        let mut fail = |_: &Record, _: &Outbox| {
            if seen == at {
                disk.fail_flushes(1);
            }
            seen += 1;
        };
        let expected = simulate_task(&project).unwrap();
        match simulator.run(&project, &without_faults(), &mut fail) {
            Ok(finished) => {
                assert!(seen <= at + 1, "{project:?}: {seen} records, and the flush after {at} failed");
                agree(&expected, &finished, &project);
            }
            Err(
                SimulationError::Engine(EngineError::Journal(JournalError::Unwritable(_)))
                | SimulationError::Journal(_),
            ) => {
                simulator.storage.disk.crash();
                agree(&expected, &go_on(&simulator, &project), &project);
            }
            Err(other) => panic!("{project:?}, record {at}: {other:?}"),
        }
    }
}
