//! The state all attempts are compared with.

use fixpoint_ports::SnapshotOrigin;
use fixpoint_vocabulary::brief::BaseOrder;
use fixpoint_vocabulary::work::{Base, CommandResult};

use crate::Duty;
use crate::duty::Obstacle;
use crate::progress::Progress;

impl Duty {
    pub(crate) fn take_base(&self) -> Result<CommandResult, Obstacle> {
        let reference = self.reference("base");
        let taken = match &self.brief.base {
            BaseOrder::WorkingTree => self.tools.workspaces.snapshot(&reference)?,
            BaseOrder::Revision(revision) => self.tools.workspaces.resolve(revision, &reference)?,
        };
        if taken.origin == SnapshotOrigin::WorkingTree {
            self.tools.watcher.see(Progress::UncommittedWork);
        }
        Ok(CommandResult::Base(Base { commit: taken.commit, tree: taken.tree }))
    }
}
