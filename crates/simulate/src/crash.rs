//! A loss of power at any byte of a run, and whether the run ends as if nothing had been.

use core::fmt;

use fixpoint_journal::{OpenError, Residue, StoredJournal};

use crate::history::{Disagreement, Finished};
use crate::machine::{Interrupted, Machine};
use crate::project::Project;
use crate::task::{rough, simulate_task};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crash {
    /// After so many bytes written.
    pub after_bytes: usize,
    /// What the torn write leaves.
    pub residue: Residue,
}

impl Crash {
    /// The command that does the same once more.
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

/// Runs a task in rough circumstances whose disk loses its power once, takes it up again, and goes on to the end.
pub(crate) fn crash_once(project: &Project, crash: Crash) -> Result<Finished, Interrupted> {
    let machine = Machine::default();
    machine.disk.lose_power_after(crash.after_bytes, crash.residue);
    match machine.run(project, &rough(project.seed), &mut |_, _| {}) {
        Ok(finished) => return Ok(finished),
        Err(Interrupted::Engine(_) | Interrupted::Journal(_)) => {}
        Err(
            defect @ (Interrupted::Record(_)
            | Interrupted::Unrecorded(_)
            | Interrupted::DecidedOtherwise { .. }),
        ) => return Err(defect),
    }
    machine.disk.restart();
    check_recorded(&machine)?;
    machine.run(project, &rough(project.seed), &mut |_, _| {})
}

/// Refuses a machine on which something was performed that is not on record.
pub(crate) fn check_recorded(machine: &Machine) -> Result<(), Interrupted> {
    let recorded = match StoredJournal::examine(machine.disk.clone()) {
        Ok(inspection) => inspection.records.len() as u64,
        Err(OpenError::Missing(_)) => 0,
        Err(error) => return Err(error.into()),
    };
    match machine.book.borrow().last.filter(|command| command.seq >= recorded) {
        Some(unrecorded) => Err(Interrupted::Unrecorded(unrecorded)),
        None => Ok(()),
    }
}

/// Runs a task in good circumstances, and in rough ones with a loss of power, and answers how it ended and in what the two differ.
pub fn crash_and_compare(
    project: &Project,
    crash: Crash,
) -> Result<(Finished, Option<Disagreement>), Interrupted> {
    let undisturbed = simulate_task(project)?;
    let crashed = crash_once(project, crash)?;
    let disagreement = undisturbed.disagreement(&crashed);
    Ok((crashed, disagreement))
}

#[cfg(test)]
mod damage;
#[cfg(test)]
mod tests;
