//! A loss of power at any byte of a task, and whether the task ends as if it had not happened.

use core::fmt;

use fixpoint_journal::{OpenError, Residue, StoredJournal};

use crate::project::Project;
use crate::simulated_task::{Difference, SimulatedTask};
use crate::storage::SimulationError;
use crate::task::{simulate_task, with_faults};
use crate::task_simulator::TaskSimulator;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crash {
    pub after_bytes: usize,
    /// What is left of the torn write.
    pub residue: Residue,
}

impl Crash {
    /// The command that repeats it.
    pub fn command(&self, project: &Project) -> impl fmt::Display {
        let Project { seed, agent, world } = project;
        let residue = match self.residue {
            Residue::Short => "short",
            Residue::Zeros => "zeros",
        };
        format!(
            "fixpoint simulate crash --seed {seed} --agent {} --world {} --after-bytes {} --residue {residue}",
            agent.name(),
            world.name(),
            self.after_bytes
        )
    }
}

/// Runs a task whose disk loses power once and whose executor and clock are faulty, and resumes it to its end.
pub(crate) fn crash_once(project: &Project, crash: Crash) -> Result<SimulatedTask, SimulationError> {
    let simulator = TaskSimulator::default();
    simulator.storage.disk.lose_power_after(crash.after_bytes, crash.residue);
    match simulator.run(project, &with_faults(project.seed), &mut |_, _| {}) {
        Ok(finished) => return Ok(finished),
        Err(SimulationError::Engine(_) | SimulationError::Journal(_)) => {}
        Err(
            defect @ (SimulationError::Record(_)
            | SimulationError::Unrecorded(_)
            | SimulationError::DecidedOtherwise { .. }),
        ) => return Err(defect),
    }
    simulator.storage.disk.restart();
    check_recorded(&simulator)?;
    simulator.run(project, &with_faults(project.seed), &mut |_, _| {})
}

/// Fails if a command was executed that is not on record.
pub(crate) fn check_recorded(simulator: &TaskSimulator) -> Result<(), SimulationError> {
    let recorded = match StoredJournal::examine(simulator.storage.disk.clone()) {
        Ok(inspection) => inspection.records.len() as u64,
        Err(OpenError::Missing(_)) => 0,
        Err(error) => return Err(error.into()),
    };
    match simulator.log.borrow().last.filter(|command| command.seq >= recorded) {
        Some(unrecorded) => Err(SimulationError::Unrecorded(unrecorded)),
        None => Ok(()),
    }
}

/// Runs a task without faults, and with a loss of power, and compares the two.
pub fn crash_and_compare(
    project: &Project,
    crash: Crash,
) -> Result<(SimulatedTask, Option<Difference>), SimulationError> {
    let expected = simulate_task(project)?;
    let crashed = crash_once(project, crash)?;
    let difference = expected.difference(&crashed);
    Ok((crashed, difference))
}

#[cfg(test)]
mod tests;
