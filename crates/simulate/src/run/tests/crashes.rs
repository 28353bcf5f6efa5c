//! Power lost at every record of whole runs, and inside of records.
//!
//! Catches a step performed before it is on the disk, anything of a run that lives outside its journal, a record read
//! back as something else, an answer that is asked for again although it is on record, and a task that is forgotten.

use fixpoint_journal::{FaultyDisk, Residue};
use fixpoint_vocabulary::work::Allowance;

use super::super::circumstances::Circumstances;
use super::super::crash::{Course, asks_on_record, asks_under_way, deliveries_on_record};
use super::super::fake_executor::{Conduct, EndOrder};
use super::super::simulator::{RunSimulator, SimulatedRun};
use crate::performer::Manners;

/// Crash points of whole runs in all tests of this file together; those of single tasks come on top.
const CRASHES: usize = 8_000;
const TESTS: usize = 5;

/// A run that nothing but the crash stops: how often it pauses for money depends on what a crash has cost.
fn unlimited(seed: u64) -> Circumstances {
    Circumstances {
        budget: Allowance::default(),
        stops_after: None,
        unblocks: false,
        ..Circumstances::drawn(seed)
    }
}

fn conduct(manners: Manners, order: EndOrder) -> Conduct {
    Conduct { manners, order, dies_after: None }
}

/// Plays on with what a disk holds.
fn go_on(
    circumstances: &Circumstances,
    disk: Vec<u8>,
    first: &RunSimulator,
    order: EndOrder,
) -> Result<SimulatedRun, String> {
    let theatre = RunSimulator {
        disk: FaultyDisk::holding(disk),
        blobs: std::sync::Arc::clone(&first.blobs),
        ..RunSimulator::default()
    };
    theatre
        .play(circumstances, conduct(Manners::Bad, order), &mut |_, _| {})
        .map_err(|error| error.to_string())
}

/// Bytes on the disk and questions in flight at the end of each batch of records.
fn undisturbed(
    circumstances: &Circumstances,
    theatre: &RunSimulator,
    order: EndOrder,
) -> (Course, u64, Vec<(usize, u64)>) {
    let mut ends = Vec::new();
    let disk = theatre.disk.clone();
    let played = theatre
        .play(circumstances, conduct(Manners::Good, order), &mut |_, run| {
            ends.push((disk.contents().len(), asks_under_way(run)))
        })
        .unwrap();
    (Course::of(&played), played.performed.asks, ends)
}

fn crash_everywhere(seeds: impl Iterator<Item = u64>, order: EndOrder) {
    let mut done = 0;
    for seed in seeds {
        let circumstances = unlimited(seed);
        let theatre = RunSimulator::default();
        let (course, asks, ends) = undisturbed(&circumstances, &theatre, order);
        let whole = theatre.disk.contents();
        let mut before = 0;
        for (number, (end, under_way)) in ends.iter().enumerate() {
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
                let played = go_on(&circumstances, disk, &theatre, order)
                    .unwrap_or_else(|error| panic!("seed {seed}, record {number}, disk {kind}: {error}"));
                let difference = course.difference(&Course::of(&played));
                assert_eq!(difference, None, "seed {seed}, record {number}, disk {kind}");
                if kind == 0 {
                    let on_record = asks_on_record(&played.recorded);
                    let counted = played.run.ledger().spent().model_calls;
                    assert!(
                        on_record <= asks + under_way,
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
/// forgotten because nobody started it, and a result that is delivered twice, elsewhere, or not at all.
#[test]
fn crashes_before_some_commands_of_a_batch() {
    let order = EndOrder::Together { most: 3 };
    let mut done = 0;
    for seed in 0..400 {
        let circumstances = unlimited(seed);
        let first = RunSimulator::default();
        let (course, ..) = undisturbed(&circumstances, &first, order);
        let expected = first.performed.borrow().clone();
        for started in 0..expected.started {
            let theatre = RunSimulator::default();
            let dying = Conduct { dies_after: Some(started), ..conduct(Manners::Good, order) };
            theatre.play(&circumstances, dying, &mut |_, _| {}).expect_err("the machine dies");
            theatre.disk.restart();
            let played = theatre.play(&circumstances, conduct(Manners::Bad, order), &mut |_, _| {}).unwrap();
            let place = format!("seed {seed}, after {started} commands");
            assert_eq!(course.difference(&Course::of(&played)), None, "{place}");
            assert_eq!(played.performed.branch, expected.branch, "{place}");
            assert!(deliveries_on_record(&played.recorded) <= 2, "{place}");
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
        let circumstances = unlimited(seed);
        let (course, ..) = undisturbed(&circumstances, &RunSimulator::default(), EndOrder::Shuffled);
        for part in 1..6 {
            let theatre = RunSimulator::default();
            theatre
                .disk
                .lose_power_after(part * 3_500, if part % 2 == 0 { Residue::Short } else { Residue::Zeros });
            if let Ok(played) = theatre.play(&circumstances, Manners::Good, &mut |_, _| {}) {
                assert_eq!(course.difference(&Course::of(&played)), None);
                continue;
            }
            theatre.disk.restart();
            let recorded = theatre.read().map_or(0, |recorded| recorded.records.len() as u64);
            let last = theatre.performed.borrow().last;
            assert!(last.is_none_or(|last| last.seq <= recorded), "seed {seed}: {last:?} of {recorded}");
            let played = theatre.play(&circumstances, Manners::Good, &mut |_, _| {}).unwrap();
            assert_eq!(course.difference(&Course::of(&played)), None, "seed {seed}, part {part}");
        }
    }
}
