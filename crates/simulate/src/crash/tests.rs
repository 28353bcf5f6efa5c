//! Power lost at every event and inside records, in every world and with every agent.
//!
//! Each run is resumed to the same end, results, verdicts and decisions, and its journal replays. That catches a step performed before it is on the disk, a count that lives outside the journal, and a
//! record read back as something else. A failure prints the command that repeats it.

mod damage;

use std::collections::BTreeSet;

use super::*;
use crate::agent::Agent;
use crate::world::World;

/// Crash points, at least, in all worlds together.
const CRASHES: usize = 10_000;
const SEED: u64 = 1;

/// Bytes written by the end of each record, where no power is lost.
fn boundaries(project: &Project) -> Vec<usize> {
    let simulator = TaskSimulator::default();
    let disk = simulator.storage.disk.clone();
    let mut ends = Vec::new();
    simulator.run(project, &with_faults(SEED), &mut |_, _| ends.push(disk.written() as usize)).unwrap();
    ends
}

/// At the end of every record, and evenly between, so many that all of them come to the number wanted.
fn points(ends: &[usize]) -> Vec<Crash> {
    let share = CRASHES / (Agent::ALL.len() * World::ALL.len()) + 1;
    let written = ends.last().copied().unwrap_or_default();
    // A write that is whole leaves no residue: one kind of crash is enough there.
    let mut crashes: Vec<Crash> =
        ends.iter().map(|end| Crash { after_bytes: *end, residue: Residue::Short }).collect();
    let between = share.saturating_sub(crashes.len()).div_ceil(2).max(8);
    let inside: BTreeSet<usize> = (0..between).map(|n| 1 + n * written.saturating_sub(2) / between).collect();
    for after_bytes in inside {
        let kinds = [Residue::Short, Residue::Zeros];
        crashes.extend(kinds.map(|residue| Crash { after_bytes, residue }));
    }
    crashes
}

fn crash_everywhere_in(worlds: &[World]) {
    let mut done = 0;
    for (world, agent) in worlds.iter().flat_map(|world| Agent::ALL.map(|agent| (*world, agent))) {
        let project = Project::new(SEED, agent, world);
        let expected = simulate_task(&project).unwrap();
        for crash in points(&boundaries(&project)) {
            let difference = match crash_once(&project, crash) {
                Ok(crashed) => expected.difference(&crashed).map(|found| found.to_string()),
                Err(error) => Some(error.to_string()),
            };
            if let Some(found) = difference {
                panic!("{found}; repeat it with\n  {}", crash.command(&project));
            }
            done += 1;
        }
    }
    assert!(done * World::ALL.len() >= CRASHES * worlds.len(), "{done} crash points are too few");
}

// Five tests instead of one, so that they run at the same time.

#[test]
fn crashes_in_plain_worlds() {
    crash_everywhere_in(&[World::Plain, World::KnownFailure]);
}

#[test]
fn crashes_among_flaky_tests() {
    crash_everywhere_in(&[World::FlakyAtBase, World::NewlyFlaky]);
}

#[test]
fn crashes_where_checks_do_not_end_well() {
    crash_everywhere_in(&[World::Masked, World::Hanging]);
}

#[test]
fn crashes_where_checks_and_commands_fail() {
    crash_everywhere_in(&[World::Unreliable, World::Outages]);
}

#[test]
fn crashes_where_checks_are_hard_to_read() {
    crash_everywhere_in(&[World::Environment, World::NoReader, World::FirstProblems]);
}

/// Catches a command line that does not name the crash it is printed for.
#[test]
fn the_command_repeats_the_crash() {
    for (residue, word) in [(Residue::Short, "short"), (Residue::Zeros, "zeros")] {
        let crash = Crash { after_bytes: 77, residue };
        let command = crash.command(&Project::new(9, Agent::SlowFixes, World::FlakyAtBase)).to_string();
        let expected =
            "fixpoint simulate crash --seed 9 --agent slow-fixes --world flaky-at-base --after-bytes 77";
        assert_eq!(command, format!("{expected} --residue {word}"));
    }
}
