//! Thousands of runs, everything about them random by seed, and the invariants of each.

mod crashes;
mod invariants;
mod scenarios;
mod trace;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fixpoint_engine::EngineExit;
use fixpoint_vocabulary::Cause;

use self::invariants::InvariantChecker;
use super::fake_executor::{EndOrder, ExecutorFaults};
use super::scenario::RunScenario;
use super::simulator::{RunSimulator, SimulatedRun};
use crate::executor::EndReports;

/// Simulates a run and checks its invariants.
pub(super) fn run_checked(scenario: &RunScenario) -> (Result<SimulatedRun, String>, InvariantChecker) {
    run_checked_with(scenario, EndReports::Once)
}

fn run_checked_with(
    scenario: &RunScenario,
    faults: impl Into<ExecutorFaults>,
) -> (Result<SimulatedRun, String>, InvariantChecker) {
    let mut checker = InvariantChecker::default();
    let mut seq = 0;
    let simulated = RunSimulator::default().run(scenario, faults, &mut |records, run| {
        for record in records {
            seq += 1;
            checker.note_begun(seq, record, run);
        }
        checker.check_records(scenario, records, run);
        assert!(seq < 4000, "{:?}", checker.violations);
    });
    if let Ok(simulated) = &simulated {
        checker.check_end(scenario, simulated);
    }
    (simulated.map_err(|error| error.to_string()), checker)
}

#[derive(Debug, Default)]
struct Totals {
    endings: BTreeMap<String, u32>,
    pauses: BTreeMap<String, u32>,
    parallel: u32,
    violations: String,
}

fn run_all(seeds: impl Iterator<Item = u64>, order: EndOrder) -> Totals {
    let mut totals = Totals::default();
    for seed in seeds {
        let scenario = RunScenario::random(seed);
        let faults = ExecutorFaults { end_reports: EndReports::Once, order, dies_after: None };
        let (simulated, checker) = run_checked_with(&scenario, faults);
        for violation in &checker.violations {
            let _ = writeln!(totals.violations, "seed {seed}: {violation}");
        }
        totals.parallel += u32::from(checker.most_attempts > 1);
        match simulated {
            Err(error) => drop(writeln!(totals.violations, "seed {seed}: {error}")),
            Ok(simulated) => {
                let ending = match simulated.ending {
                    EngineExit::Ended(cause) => format!("{cause:?}"),
                    EngineExit::Paused(cause) => format!("paused {cause:?}"),
                };
                *totals.endings.entry(ending).or_default() += 1;
                for pause in simulated.pauses {
                    *totals.pauses.entry(format!("{pause:?}")).or_default() += 1;
                }
            }
        }
    }
    totals
}

fn check_invariants(seeds: std::ops::Range<u64>, order: EndOrder) {
    let many = seeds.end - seeds.start;
    let totals = run_all(seeds, order);
    assert!(totals.violations.is_empty(), "\n{}", totals.violations);
    // Disjoint tasks do run side by side, they are not only allowed to.
    assert!(u64::from(totals.parallel) * 20 > many, "{} runs with attempts side by side", totals.parallel);
    for cause in [Cause::Done, Cause::Partial, Cause::PlanRejected] {
        assert!(totals.endings.contains_key(&format!("{cause:?}")), "{:?}", totals.endings);
    }
}

// Four tests instead of one, so that they run at the same time.

#[test]
fn the_properties_hold_1() {
    check_invariants(0..500, EndOrder::Shuffled);
}

#[test]
fn the_properties_hold_2() {
    check_invariants(500..1000, EndOrder::Shuffled);
}

#[test]
fn the_properties_hold_3() {
    check_invariants(1000..1500, EndOrder::Shuffled);
}

#[test]
fn the_properties_hold_4() {
    check_invariants(1500..2000, EndOrder::Shuffled);
}

/// Events that are written with one flush. Catches a decision that rests on what an earlier event of the same batch was
/// to start, and a command that is started although a later event of its batch gave it up.
#[test]
fn the_properties_hold_for_batches() {
    check_invariants(2000..2500, EndOrder::Together { most: 3 });
}
