//! Takes the commit that all attempts are compared with: the working tree, or a revision.

use fixpoint_ports::SnapshotOrigin;
use fixpoint_vocabulary::run_spec::BaseSource;
use fixpoint_vocabulary::work::{Base, CommandResult};

use crate::ExecutionContext;
use crate::error::ExecuteError;
use crate::progress::Progress;

impl ExecutionContext {
    pub(crate) fn take_base(&self) -> Result<CommandResult, ExecuteError> {
        let reference = self.reference("base");
        let taken = match &self.spec.base {
            BaseSource::WorkingTree => self.deps.workspaces.snapshot(&reference)?,
            BaseSource::Revision(revision) => self.deps.workspaces.resolve(revision, &reference)?,
        };
        if taken.origin == SnapshotOrigin::WorkingTree {
            self.deps.progress.report(Progress::UncommittedWork);
        }
        Ok(CommandResult::Base(Base { commit: taken.commit, tree: taken.tree }))
    }
}
