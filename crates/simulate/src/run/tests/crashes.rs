//! Power lost at every record of whole runs, and inside of records.
//!
//! Catches a step performed before it is on the disk, anything of a run that lives outside its journal, a record read
//! back as something else, an answer that is asked for again although it is on record, and a task that is forgotten.

use fixpoint_journal::{FaultyDisk, Residue};
use fixpoint_vocabulary::work::Allowance;

use super::trace::{RunTrace, asks_in_flight, asks_on_record, deliveries_on_record};
use crate::executor::EndReports;
use crate::run::fake_executor::{EndOrder, ExecutorFaults};
use crate::run::scenario::RunScenario;
use crate::run::simulator::{RunSimulator, SimulatedRun};
use crate::storage::Storage;

/// Crash points of whole runs in all tests of this file together; those of single tasks come on top.
const CRASHES: usize = 8_000;
const TESTS: usize = 5;

/// A run that nothing but the crash stops: how often it pauses for money depends on what a crash has cost.
fn unlimited(seed: u64) -> RunScenario {
    RunScenario {
        budget: Allowance::default(),
        stops_after: None,
        unblocks: false,
        ..RunScenario::random(seed)
    }
}

fn faults(end_reports: EndReports, order: EndOrder) -> ExecutorFaults {
    ExecutorFaults { end_reports, order, dies_after: None }
}

/// Resumes from the contents of a disk.
fn resume(
    scenario: &RunScenario,
    disk: Vec<u8>,
    first: &RunSimulator,
    order: EndOrder,
) -> Result<SimulatedRun, String> {
    let blobs = std::sync::Arc::clone(&first.storage.blobs);
    let storage = Storage { disk: FaultyDisk::holding(disk), blobs };
    let simulator = RunSimulator { storage, ..RunSimulator::default() };
    simulator
        .run(scenario, faults(EndReports::LateAndRepeated, order), &mut |_, _| {})
        .map_err(|error| error.to_string())
}

/// Bytes on the disk and questions in flight at the end of each batch of records.
fn undisturbed(
    scenario: &RunScenario,
    simulator: &RunSimulator,
    order: EndOrder,
) -> (RunTrace, u64, Vec<(usize, u64)>) {
    let mut ends = Vec::new();
    let disk = simulator.storage.disk.clone();
    let simulated = simulator
        .run(scenario, faults(EndReports::Once, order), &mut |_, run| {
            ends.push((disk.contents().len(), asks_in_flight(run)))
        })
        .unwrap();
    (RunTrace::of(&simulated), simulated.executed.asks, ends)
}

fn crash_everywhere(seeds: impl Iterator<Item = u64>, order: EndOrder) {
    let mut done = 0;
    for seed in seeds {
        let scenario = unlimited(seed);
        let simulator = RunSimulator::default();
        let (trace, asks, ends) = undisturbed(&scenario, &simulator, order);
        let whole = simulator.storage.disk.contents();
        let mut before = 0;
        for (number, (end, in_flight)) in ends.iter().enumerate() {
            // At the end of the record; and for some inside of it, with nothing or zeros in the place of the rest.
            let torn = before + (end - before) * (number % 7 + 1) / 9;
            let mut zeros = whole[..torn].to_vec();
            zeros.resize(torn + 64, 0);
            let disks = match number % 3 {
                0 => vec![whole[..*end].to_vec(), whole[..torn].to_vec()],
                1 => vec![whole[..*end].to_vec()],
                _ => vec![whole[..*end].to_vec(), zeros],
            };
            for (kind, disk) in disks.into_iter().enumerate() {
                let simulated = resume(&scenario, disk, &simulator, order)
                    .unwrap_or_else(|error| panic!("seed {seed}, record {number}, disk {kind}: {error}"));
                let difference = trace.difference(&RunTrace::of(&simulated));
                assert_eq!(difference, None, "seed {seed}, record {number}, disk {kind}");
                if kind == 0 {
                    let on_record = asks_on_record(&simulated.recorded);
                    let counted = simulated.run.ledger().spent().model_calls;
                    assert!(
                        on_record <= asks + in_flight,
                        "seed {seed}, record {number}: {on_record} of {asks}"
                    );
                    assert_eq!(on_record, counted, "seed {seed}, record {number}");
                }
                done += 1;
            }
            before = *end;
        }
        if done * TESTS >= CRASHES {
            return;
        }
    }
    panic!("{done} crash points are too few");
}

// Four tests instead of one, so that they run at the same time.

#[test]
fn crashes_of_whole_runs_1() {
    crash_everywhere((0..400).map(|n| n * 4), EndOrder::Shuffled);
}

#[test]
fn crashes_of_whole_runs_2() {
    crash_everywhere((0..400).map(|n| n * 4 + 1), EndOrder::Shuffled);
}

#[test]
fn crashes_of_whole_runs_3() {
    crash_everywhere((0..400).map(|n| n * 4 + 2), EndOrder::Shuffled);
}

#[test]
fn crashes_of_whole_runs_4() {
    crash_everywhere((0..400).map(|n| n * 4 + 3), EndOrder::Shuffled);
}

/// Several records written with one flush, and power lost at any byte of it.
#[test]
fn crashes_inside_batches() {
    crash_everywhere((0..400).map(|n| n * 5 + 2), EndOrder::Together { most: 3 });
}

/// The machine dies after a batch is on the disk and before all of its commands are started. Catches a command that is
/// forgotten because it was not started, and a result that is delivered twice, elsewhere, or not at all.
#[test]
fn crashes_before_some_commands_of_a_batch() {
    let order = EndOrder::Together { most: 3 };
    let mut done = 0;
    for seed in 0..400 {
        let scenario = unlimited(seed);
        let first = RunSimulator::default();
        let (trace, ..) = undisturbed(&scenario, &first, order);
        let expected = first.executed.borrow().clone();
        for started in 0..expected.started {
            let simulator = RunSimulator::default();
            let dying = ExecutorFaults { dies_after: Some(started), ..faults(EndReports::Once, order) };
            simulator.run(&scenario, dying, &mut |_, _| {}).expect_err("the machine dies");
            simulator.storage.disk.restart();
            let simulated =
                simulator.run(&scenario, faults(EndReports::LateAndRepeated, order), &mut |_, _| {}).unwrap();
            let place = format!("seed {seed}, after {started} commands");
            assert_eq!(trace.difference(&RunTrace::of(&simulated)), None, "{place}");
            assert_eq!(simulated.executed.branch, expected.branch, "{place}");
            assert!(deliveries_on_record(&simulated.recorded) <= 2, "{place}");
            done += 1;
        }
        if done >= CRASHES / TESTS {
            return;
        }
    }
    panic!("{done} crash points are too few");
}

/// The same by a disk that loses its power itself, so that what was performed is known: nothing is that is not on
/// record. Catches a command begun before its record is flushed.
#[test]
fn nothing_is_performed_that_is_not_on_record() {
    for seed in 0..40 {
        let scenario = unlimited(seed);
        let (trace, ..) = undisturbed(&scenario, &RunSimulator::default(), EndOrder::Shuffled);
        for part in 1..6 {
            let simulator = RunSimulator::default();
            simulator
                .storage
                .disk
                .lose_power_after(part * 3_500, if part % 2 == 0 { Residue::Short } else { Residue::Zeros });
            if let Ok(simulated) = simulator.run(&scenario, EndReports::Once, &mut |_, _| {}) {
                assert_eq!(trace.difference(&RunTrace::of(&simulated)), None);
                continue;
            }
            simulator.storage.disk.restart();
            let recorded = simulator.storage.read().map_or(0, |recorded| recorded.records.len() as u64);
            let last = simulator.executed.borrow().last;
            assert!(last.is_none_or(|last| last.seq <= recorded), "seed {seed}: {last:?} of {recorded}");
            let simulated = simulator.run(&scenario, EndReports::Once, &mut |_, _| {}).unwrap();
            assert_eq!(trace.difference(&RunTrace::of(&simulated)), None, "seed {seed}, part {part}");
        }
    }
}
