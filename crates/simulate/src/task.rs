//! One task through the real engine, in good circumstances or in rough ones.

use std::collections::BTreeSet;

use fixpoint_decide::task_run::TaskOptions;

use crate::history::Finished;
use crate::machine::{Circumstances, Hands, Interrupted, Machine};
use crate::performer::Manners;
use crate::project::Project;
use crate::world::{GOAL, GUARD};

/// Crashes in a row that a simulated task survives; a real one gives up earlier and asks a person.
const PATIENCE: u32 = 1000;

/// A task with the default settings in good circumstances.
pub(crate) fn usual() -> Circumstances {
    let (goals, guards) = (BTreeSet::from([GOAL]), BTreeSet::from([GUARD]));
    let order =
        TaskOptions { max_interruptions: PATIENCE, ..TaskOptions::new("simulated".into(), goals, guards) };
    Circumstances { order, manners: Manners::Good, hands: Hands::Still }
}

/// The same task with an executor whose ends come late and twice, and a clock that says anything.
pub(crate) fn rough(seed: u64) -> Circumstances {
    Circumstances { manners: Manners::Bad, hands: Hands::Jumping { seed }, ..usual() }
}

/// Runs a task with the default settings and without any trouble.
pub fn simulate_task(project: &Project) -> Result<Finished, Interrupted> {
    Machine::default().run(project, &usual(), &mut |_, _| {})
}

#[cfg(test)]
mod tests;
