//! One attempt: an agent works in a slot, and the tree it leaves is committed, whatever it did to its repository.

use std::fs;

use fixpoint_agents::Session;
use fixpoint_ports::{
    Cancel, ExitCause, ProcessExit, Slot, SlotLeftovers, SlotPurpose, SlotRequest, WorkspaceError,
};
use fixpoint_vocabulary::Text;
use fixpoint_vocabulary::prepared::PreparedAttempt;
use fixpoint_vocabulary::work::{AgentEnd, AttemptResult, CommandId, CommandResult};

use crate::ExecutionContext;
use crate::error::ExecuteError;
use crate::logs::agent_log;
use crate::progress::Progress;

impl ExecutionContext {
    pub(crate) fn run_attempt(
        &self,
        id: CommandId,
        attempt: &PreparedAttempt,
        cancel: &Cancel,
    ) -> Result<CommandResult, ExecuteError> {
        if self.spec.agent.is_empty() {
            return self.working_tree_as_attempt(attempt);
        }
        fs::create_dir_all(&self.paths.outputs).map_err(ExecuteError::file(&self.paths.outputs))?;
        let log = agent_log(&self.paths.outputs, id);
        let unfinished = self.reference(&format!("interrupted-{}-{id}", attempt.command.number));
        let request = SlotRequest {
            purpose: SlotPurpose::Agent,
            at: &attempt.command.base,
            recover_as: Some(&unfinished),
            leftovers: SlotLeftovers::Kept,
        };
        let mut slot = self.deps.workspaces.acquire(&request, cancel)?;
        match self.prepare(&*slot, &log, cancel) {
            // An earlier attempt broke it, and this one may repair it.
            Err(error @ ExecuteError::SetUp { .. }) if attempt.command.base != attempt.command.origin => {
                let notice = Text::new(error.to_string(), format!("セットアップに失敗しました: {error}"));
                self.deps.progress.report(Progress::Notice(&notice));
            }
            prepared => prepared?,
        }
        let guarded = self.guarded_files(&*slot)?;
        let turn = self.run_agent(id, attempt, &*slot, &log, cancel)?;
        if turn.exit.cause == ExitCause::Cancelled {
            // Dropping the slot commits what the agent wrote, under the name for unfinished work.
            return Err(ExecuteError::Cancelled);
        }
        let message = format!("{} attempt {} of {}", self.run, attempt.command.number, self.task);
        let reference = self.reference(&format!("attempt-{}", attempt.command.number));
        let taken = slot.commit(&reference, &message).map_err(|error| self.not_stored(&*slot, &error))?;
        let changed = self.deps.workspaces.changes(&attempt.command.origin, &taken.commit)?;
        let touched = self.touched(&guarded, &*slot)?;
        let mut findings = self.measure(attempt, &taken.commit, &changed, &touched)?;
        findings.add_submodules(&changed);
        findings.protected.extend(self.left_out(&*slot, &taken.commit, &changed)?);
        let is_idle = || -> Result<bool, ExecuteError> {
            Ok(self.deps.workspaces.changes(&attempt.command.base, &taken.commit)?.is_empty())
        };
        let is_unavailable = turn.is_refused() && is_idle()?;
        let unresolved = self.unresolved(attempt, &taken.commit)?;
        Ok(CommandResult::Attempt(AttemptResult {
            end: if is_unavailable { AgentEnd::Unavailable } else { agent_end(&turn.exit) },
            commit: taken.commit,
            tree: taken.tree,
            violations: findings.violations,
            revertible: findings.revertible,
            protected: findings.protected,
            protected_from: findings.protected_from,
            exit_code: match turn.exit.cause {
                ExitCause::Exited(code) => Some(code),
                ExitCause::Signalled(_)
                | ExitCause::TimedOut
                | ExitCause::Silent
                | ExitCause::Cancelled
                | ExitCause::NotStarted(_) => None,
            },
            changed_files: changed.len() as u64,
            changed_lines: changed.iter().filter_map(|change| change.lines).sum(),
            unresolved,
            session: turn.transcript.session.as_ref().map(Session::encode),
            usage: turn.transcript.usage,
            last_words: turn.last_words().map(|words| self.deps.redactor.redact(words)),
        }))
    }

    /// The work of the agent stays in its workspace, and a resumed run stores it.
    fn not_stored(&self, slot: &dyn Slot, error: &WorkspaceError) -> ExecuteError {
        let (directory, run) = (slot.directory().display(), &self.run);
        ExecuteError::Failed(format!(
            "the changes of the agent could not be stored in the repository: {error}; they are in {directory}, and \
             `fixpoint resume {run}` stores them"
        ))
    }

    /// Where there is no agent, the attempt is what the user has in the working tree.
    fn working_tree_as_attempt(&self, attempt: &PreparedAttempt) -> Result<CommandResult, ExecuteError> {
        let taken = self.deps.workspaces.snapshot(&self.reference("working-tree"))?;
        let mut changed = self.deps.workspaces.changes(&attempt.command.origin, &taken.commit)?;
        // The user may change the configuration.
        changed.retain(|change| !change.path.starts_with(b".fixpoint/"));
        let findings = self.measure(attempt, &taken.commit, &changed, &[])?;
        Ok(CommandResult::Attempt(AttemptResult {
            unresolved: self.unresolved(attempt, &taken.commit)?,
            violations: findings.violations,
            revertible: findings.revertible,
            protected: findings.protected,
            protected_from: findings.protected_from,
            changed_files: changed.len() as u64,
            changed_lines: changed.iter().filter_map(|change| change.lines).sum(),
            ..AttemptResult::new(AgentEnd::Exited, taken.commit, taken.tree)
        }))
    }
}

fn agent_end(exit: &ProcessExit) -> AgentEnd {
    match exit.cause {
        ExitCause::Exited(_) | ExitCause::Signalled(_) | ExitCause::Cancelled => AgentEnd::Exited,
        ExitCause::TimedOut | ExitCause::Silent => AgentEnd::TimedOut,
        ExitCause::NotStarted(_) => AgentEnd::CouldNotStart,
    }
}
