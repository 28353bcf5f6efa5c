//! Handing a result over: as a branch, by moving the user's branch forward, or as a patch.
//!
//! Doing it again changes nothing: a branch that is at the result already stays there, and a patch is written anew.

use std::io::Write;
use std::path::Path;

use fixpoint_ports::DiffStyle;
use fixpoint_vocabulary::brief::Delivery;
use fixpoint_vocabulary::work::{CommandResult, CommitId, Delivered, DeliveredBranch, DeliveryOrder};

use crate::Duty;
use crate::duty::Obstacle;

impl Duty {
    pub(crate) fn deliver(&self, order: &DeliveryOrder) -> Result<CommandResult, Obstacle> {
        let delivered = match &order.delivery {
            Delivery::Nothing => Delivered::default(),
            Delivery::Branch => {
                Delivered { branch: Some(self.run_branch(&order.result)?), ..Delivered::default() }
            }
            Delivery::Into(name) => {
                let branch = Some(self.run_branch(&order.result)?);
                let update = self.tools.workspaces.fast_forward(name, &order.result)?;
                let into = Some(DeliveredBranch { name: name.clone(), update });
                Delivered { branch, into, patch: None }
            }
            Delivery::Patch(path) => {
                self.write_patch(Path::new(path), order)?;
                Delivered { patch: Some(path.clone()), ..Delivered::default() }
            }
        };
        Ok(CommandResult::Delivered(delivered))
    }

    fn run_branch(&self, result: &CommitId) -> Result<DeliveredBranch, Obstacle> {
        let name = format!("fixpoint/{}", self.run);
        let update = self.tools.workspaces.deliver_branch(&name, result)?;
        Ok(DeliveredBranch { name, update })
    }

    /// Writes the patch whole or not at all.
    fn write_patch(&self, path: &Path, order: &DeliveryOrder) -> Result<(), Obstacle> {
        let patch = self.tools.workspaces.diff(&order.base, &order.result, DiffStyle::Patch)?;
        let directory = path.parent().unwrap_or(path);
        let mut unfinished = tempfile::NamedTempFile::new_in(directory).map_err(Obstacle::at(path))?;
        unfinished.write_all(&patch).map_err(Obstacle::at(path))?;
        unfinished.persist(path).map(drop).map_err(|error| Obstacle::at(path)(error.error))
    }
}
