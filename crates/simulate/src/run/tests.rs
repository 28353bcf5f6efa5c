//! Whole runs by the thousand, everything about them drawn by their seed, and what must hold of each.

mod crashes;
mod scenarios;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fixpoint_engine::EngineExit;
use fixpoint_vocabulary::Cause;

use super::circumstances::Circumstances;
use super::fake_executor::{Conduct, EndOrder};
use super::simulator::{RunSimulator, SimulatedRun};
use super::watcher::Watcher;
use crate::performer::Manners;

/// Plays a run under the eyes of a watcher.
pub(super) fn watched(circumstances: &Circumstances) -> (Result<SimulatedRun, String>, Watcher) {
    watched_with(circumstances, Manners::Good)
}

fn watched_with(
    circumstances: &Circumstances,
    conduct: impl Into<Conduct>,
) -> (Result<SimulatedRun, String>, Watcher) {
    let mut watcher = Watcher::default();
    let mut seq = 0;
    let played = RunSimulator::default().play(circumstances, conduct, &mut |records, run| {
        for record in records {
            seq += 1;
            watcher.note_begun(seq, record, run);
        }
        watcher.look(circumstances, records, run);
        assert!(seq < 4000, "{:?}", watcher.complaints);
    });
    if let Ok(played) = &played {
        watcher.look_at_end(circumstances, played);
    }
    (played.map_err(|error| error.to_string()), watcher)
}

/// What many runs came to.
#[derive(Debug, Default)]
struct Seen {
    endings: BTreeMap<String, u32>,
    pauses: BTreeMap<String, u32>,
    parallel: u32,
    complaints: String,
}

fn play_all(seeds: impl Iterator<Item = u64>, order: EndOrder) -> Seen {
    let mut seen = Seen::default();
    for seed in seeds {
        let circumstances = Circumstances::drawn(seed);
        let conduct = Conduct { manners: Manners::Good, order, dies_after: None };
        let (played, watcher) = watched_with(&circumstances, conduct);
        for complaint in &watcher.complaints {
            let _ = writeln!(seen.complaints, "seed {seed}: {complaint}");
        }
        seen.parallel += u32::from(watcher.most_attempts > 1);
        match played {
            Err(error) => drop(writeln!(seen.complaints, "seed {seed}: {error}")),
            Ok(played) => {
                let ending = match played.ending {
                    EngineExit::Ended(cause) => format!("{cause:?}"),
                    EngineExit::Paused(cause) => format!("paused {cause:?}"),
                };
                *seen.endings.entry(ending).or_default() += 1;
                for pause in played.pauses {
                    *seen.pauses.entry(format!("{pause:?}")).or_default() += 1;
                }
            }
        }
    }
    seen
}

fn hold_for(seeds: std::ops::Range<u64>, order: EndOrder) {
    let many = seeds.end - seeds.start;
    let seen = play_all(seeds, order);
    assert!(seen.complaints.is_empty(), "\n{}", seen.complaints);
    // Disjoint tasks do run side by side, they are not only allowed to.
    assert!(u64::from(seen.parallel) * 20 > many, "{} runs with attempts side by side", seen.parallel);
    for cause in [Cause::Done, Cause::Partial, Cause::PlanRejected] {
        assert!(seen.endings.contains_key(&format!("{cause:?}")), "{:?}", seen.endings);
    }
}

// Four tests instead of one, so that they run at the same time.

#[test]
fn the_properties_hold_1() {
    hold_for(0..500, EndOrder::Shuffled);
}

#[test]
fn the_properties_hold_2() {
    hold_for(500..1000, EndOrder::Shuffled);
}

#[test]
fn the_properties_hold_3() {
    hold_for(1000..1500, EndOrder::Shuffled);
}

#[test]
fn the_properties_hold_4() {
    hold_for(1500..2000, EndOrder::Shuffled);
}

/// Events that are written with one flush. Catches a decision that rests on what an earlier event of the same batch was
/// to start, and a command that is started although a later event of its batch gave it up.
#[test]
fn the_properties_hold_for_batches() {
    hold_for(2000..2500, EndOrder::Together { most: 3 });
}
