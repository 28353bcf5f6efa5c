//! Takes the commit that all attempts are compared with: the working tree, or a revision.

use fixpoint_ports::{LeftOut, SnapshotOrigin};
use fixpoint_vocabulary::run_spec::BaseSource;
use fixpoint_vocabulary::work::{Base, CommandResult};

use crate::ExecutionContext;
use crate::error::ExecuteError;
use crate::path_text::path_text;
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
        let LeftOut { submodules, nested_repositories } = &taken.left_out;
        if !submodules.is_empty() {
            self.deps.progress.report(Progress::SubmodulesLeftOut(&listed(submodules)));
        }
        if !nested_repositories.is_empty() {
            self.deps.progress.report(Progress::NestedRepositoriesLeftOut(&listed(nested_repositories)));
        }
        Ok(CommandResult::Base(Base { commit: taken.commit, tree: taken.tree }))
    }
}

fn listed(paths: &[Vec<u8>]) -> String {
    paths.iter().map(|path| path_text(path)).collect::<Vec<_>>().join(", ")
}
