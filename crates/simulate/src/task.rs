//! One task through the real engine, with and without faults of executor and clock.

use std::collections::BTreeSet;

use fixpoint_decide::task_run::TaskOptions;

use crate::executor::EndReports;
use crate::project::Project;
use crate::simulated_task::SimulatedTask;
use crate::storage::SimulationError;
use crate::task_simulator::{TaskScenario, TaskSimulator, WallTime};
use crate::world::{GOAL, GUARD};

/// Crashes in a row that a simulation survives; a real run gives up earlier and asks a person.
pub(crate) const MAX_INTERRUPTIONS: u32 = 1000;

/// A task with the default settings.
pub(crate) fn without_faults() -> TaskScenario {
    let (goals, guards) = (BTreeSet::from([GOAL]), BTreeSet::from([GUARD]));
    let options = TaskOptions::new("simulated".into(), goals, guards);
    let options = TaskOptions { max_interruptions: MAX_INTERRUPTIONS, ..options };
    TaskScenario { options, end_reports: EndReports::Once, wall_time: WallTime::Fixed }
}

/// The same task with an executor that reports ends late and twice, and a clock that jumps.
pub(crate) fn with_faults(seed: u64) -> TaskScenario {
    let (end_reports, wall_time) = (EndReports::LateAndRepeated, WallTime::Jumping { seed });
    TaskScenario { end_reports, wall_time, ..without_faults() }
}

/// Runs a task with the default settings and without faults.
pub fn simulate_task(project: &Project) -> Result<SimulatedTask, SimulationError> {
    TaskSimulator::default().run(project, &without_faults(), &mut |_, _| {})
}

#[cfg(test)]
mod tests;
