//! One attempt: an agent works in a slot, and what it leaves is taken, whatever it did to its own repository.

use std::fs;

use fixpoint_agents::Session;
use fixpoint_ports::{Cancel, ExitCause, ProcessExit, SlotPurpose, SlotRequest};
use fixpoint_vocabulary::prepared::AttemptOrder;
use fixpoint_vocabulary::work::{AgentEnd, AttemptResult, CommandId, CommandResult};

use crate::Duty;
use crate::duty::Obstacle;
use crate::log::agent_log;
use crate::progress::Progress;

impl Duty {
    pub(crate) fn attempt(
        &self,
        id: CommandId,
        order: &AttemptOrder,
        cancel: &Cancel,
    ) -> Result<CommandResult, Obstacle> {
        if self.brief.agent.is_empty() {
            return self.working_tree_as_attempt(order);
        }
        fs::create_dir_all(&self.places.outputs).map_err(Obstacle::at(&self.places.outputs))?;
        let log = agent_log(&self.places.outputs, id);
        let unfinished = self.reference(&format!("interrupted-{}-{id}", order.number));
        let request =
            SlotRequest { purpose: SlotPurpose::Agent, at: &order.base, recover_as: Some(&unfinished) };
        let mut slot = self.tools.workspaces.acquire(&request, cancel)?;
        match self.prepare(&*slot, &log, cancel) {
            // An earlier attempt broke it, and this one may mend it.
            Err(obstacle @ Obstacle::SetUp { .. }) if order.base != order.origin => {
                self.tools.watcher.see(Progress::Notice(&obstacle.to_string()));
            }
            prepared => prepared?,
        }
        let guarded = self.guarded_files(&*slot)?;
        let worked = self.let_work(id, order, &*slot, &log, cancel)?;
        if worked.ended.cause == ExitCause::Cancelled {
            // Dropping the slot keeps what the agent wrote under the name for unfinished work.
            return Err(Obstacle::Cancelled);
        }
        let message = format!("{} attempt {} of {}", self.run, order.number, self.task);
        let taken = slot.commit(&self.reference(&format!("attempt-{}", order.number)), &message)?;
        let changed = self.tools.workspaces.changes(&order.origin, &taken.commit)?;
        let touched = self.touched(&guarded, &*slot)?;
        let findings = self.measure(order, &taken.commit, &changed, &touched)?;
        let is_idle = || -> Result<bool, Obstacle> {
            Ok(self.tools.workspaces.changes(&order.base, &taken.commit)?.is_empty())
        };
        let is_unavailable = worked.is_refused() && is_idle()?;
        let unresolved = self.unresolved(order, &taken.commit)?;
        Ok(CommandResult::Attempt(AttemptResult {
            end: if is_unavailable { AgentEnd::Unavailable } else { agent_end(&worked.ended) },
            commit: taken.commit,
            tree: taken.tree,
            violations: findings.violations,
            revertible: findings.revertible,
            edited_tests: findings.edited_tests,
            exit_code: match worked.ended.cause {
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
            session: worked.transcript.session.as_ref().map(Session::encode),
            usage: worked.transcript.usage,
            last_words: worked.last_words().map(|words| self.tools.redactor.redact(words)),
        }))
    }

    /// Where there is no agent, the attempt is what the user has in the working tree.
    fn working_tree_as_attempt(&self, order: &AttemptOrder) -> Result<CommandResult, Obstacle> {
        let taken = self.tools.workspaces.snapshot(&self.reference("working-tree"))?;
        let mut changed = self.tools.workspaces.changes(&order.origin, &taken.commit)?;
        // The rules are the user's to change.
        changed.retain(|change| !change.path.starts_with(b".fixpoint/"));
        let findings = self.measure(order, &taken.commit, &changed, &[])?;
        Ok(CommandResult::Attempt(AttemptResult {
            unresolved: self.unresolved(order, &taken.commit)?,
            violations: findings.violations,
            revertible: findings.revertible,
            edited_tests: findings.edited_tests,
            changed_files: changed.len() as u64,
            changed_lines: changed.iter().filter_map(|change| change.lines).sum(),
            ..AttemptResult::new(AgentEnd::Exited, taken.commit, taken.tree)
        }))
    }
}

fn agent_end(ended: &ProcessExit) -> AgentEnd {
    match ended.cause {
        ExitCause::Exited(_) | ExitCause::Signalled(_) | ExitCause::Cancelled => AgentEnd::Exited,
        ExitCause::TimedOut | ExitCause::Silent => AgentEnd::TimedOut,
        ExitCause::NotStarted(_) => AgentEnd::CouldNotStart,
    }
}
