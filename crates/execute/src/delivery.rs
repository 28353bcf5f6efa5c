//! Delivers a result: as a branch, by fast-forwarding the user's branch, or as a patch.
//!
//! Doing it again changes nothing: a branch that is at the result already stays there, and a patch is written anew.

use std::io::Write;
use std::path::Path;

use fixpoint_ports::DiffStyle;
use fixpoint_vocabulary::run_spec::Delivery;
use fixpoint_vocabulary::work::{CommandResult, CommitId, DeliverCommand, Delivered, DeliveredBranch};

use crate::ExecutionContext;
use crate::error::ExecuteError;

impl ExecutionContext {
    pub(crate) fn deliver(&self, order: &DeliverCommand) -> Result<CommandResult, ExecuteError> {
        let delivered = match &order.delivery {
            Delivery::Nothing => Delivered::default(),
            Delivery::Branch => {
                Delivered { branch: Some(self.run_branch(&order.result)?), ..Delivered::default() }
            }
            Delivery::Into(name) => {
                let branch = Some(self.run_branch(&order.result)?);
                let update = self.deps.workspaces.fast_forward(name, &order.result)?;
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

    fn run_branch(&self, result: &CommitId) -> Result<DeliveredBranch, ExecuteError> {
        let name = format!("fixpoint/{}", self.run);
        let update = self.deps.workspaces.deliver_branch(&name, result)?;
        Ok(DeliveredBranch { name, update })
    }

    /// Writes the patch whole or not at all.
    fn write_patch(&self, path: &Path, order: &DeliverCommand) -> Result<(), ExecuteError> {
        let patch = self.deps.workspaces.diff(&order.base, &order.result, DiffStyle::Patch)?;
        let directory = path.parent().unwrap_or(path);
        let mut unfinished = tempfile::NamedTempFile::new_in(directory).map_err(ExecuteError::file(path))?;
        unfinished.write_all(&patch).map_err(ExecuteError::file(path))?;
        unfinished.persist(path).map(drop).map_err(|error| ExecuteError::file(path)(error.error))
    }
}
