//! Delivers a result: as a branch, by fast-forwarding the user's branch, or as a patch.
//!
//! Doing it again changes nothing: a branch that is at the result already stays there, and so does an equal patch.
//! Refuses to replace a file that is not a patch of the same run.

use std::fs::Permissions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
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
                let commit = self.reworded(order)?;
                let branch = Some(self.run_branch(&commit, order)?);
                Delivered { commit: Some(commit), branch, ..Delivered::default() }
            }
            Delivery::Into(name) => {
                let commit = self.reworded(order)?;
                let branch = Some(self.run_branch(&commit, order)?);
                let update = self.deps.workspaces.fast_forward(name, &commit)?;
                let into = Some(DeliveredBranch { name: name.clone(), update });
                Delivered { commit: Some(commit), branch, into, patch: None }
            }
            Delivery::Patch(path) => {
                self.write_patch(Path::new(path), order)?;
                Delivered { patch: Some(path.clone()), ..Delivered::default() }
            }
        };
        Ok(CommandResult::Delivered(delivered))
    }

    /// The result with the message that people read in the history.
    fn reworded(&self, order: &DeliverCommand) -> Result<CommitId, ExecuteError> {
        let message = format!("{}\n\nFixpoint-Run: {}\n", order.message.as_str().trim_end(), self.run);
        Ok(self.deps.workspaces.reword(&order.result, &message, &self.reference(DELIVERED))?)
    }

    fn run_branch(&self, commit: &CommitId, order: &DeliverCommand) -> Result<DeliveredBranch, ExecuteError> {
        let name = format!("fixpoint/{}", self.run);
        let update = self.deps.workspaces.deliver_branch(&name, commit, order.replaces.as_ref())?;
        Ok(DeliveredBranch { name, update })
    }

    /// Writes the patch whole or not at all.
    fn write_patch(&self, path: &Path, order: &DeliverCommand) -> Result<(), ExecuteError> {
        let workspaces = &self.deps.workspaces;
        let patch = workspaces.diff(&order.base, &order.result, DiffStyle::CompletePatch)?;
        match std::fs::read(path) {
            Ok(existing) if existing == patch => return Ok(()),
            Ok(existing) => self.require_own_patch(path, &existing, order)?,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(ExecuteError::file(path)(error)),
        }
        // Stored first, so that a repetition knows the file as its own.
        workspaces.resolve(&order.result.0, &self.reference(PATCH))?;
        let directory = path.parent().unwrap_or(path);
        // With the permissions of any new file: the umask takes away what the user wants.
        let mut builder = tempfile::Builder::new();
        builder.permissions(Permissions::from_mode(0o666));
        let mut unfinished = builder.tempfile_in(directory).map_err(ExecuteError::file(path))?;
        unfinished.write_all(&patch).map_err(ExecuteError::file(path))?;
        unfinished.persist(path).map(drop).map_err(|error| ExecuteError::file(path)(error.error))
    }

    /// Fails if a file is not what an earlier delivery of this run has written.
    fn require_own_patch(
        &self,
        path: &Path,
        existing: &[u8],
        order: &DeliverCommand,
    ) -> Result<(), ExecuteError> {
        let reference = self.reference(PATCH);
        let workspaces = &self.deps.workspaces;
        let earlier = workspaces.resolve(&format!("refs/fixpoint/{reference}"), &reference);
        let patch = earlier
            .and_then(|earlier| workspaces.diff(&order.base, &earlier.commit, DiffStyle::CompletePatch));
        match patch {
            Ok(patch) if patch == existing => Ok(()),
            Ok(_) | Err(_) => Err(ExecuteError::Failed(format!(
                "{} exists and is not from this run; move it away, then `fixpoint resume {}` writes the patch",
                path.display(),
                self.run
            ))),
        }
    }
}

/// The reference of the result that was last written as a patch.
const PATCH: &str = "patch";
/// The reference of the commit that was last delivered as a branch.
const DELIVERED: &str = "delivered";
