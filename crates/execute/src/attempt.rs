//! One attempt: an agent works in a slot, and what it leaves is taken, whatever it did to its own repository.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::Duration;

use fixpoint_ports::{
    Cancel, Ended, ExitCause, Invocation, Limits, Program, Purpose, Slot, SlotRequest, Stdin,
};
use fixpoint_vocabulary::work::{AgentEnd, AttemptOrder, AttemptResult, CommandId, CommandResult};

use crate::Duty;
use crate::duty::{Obstacle, directory_in};
use crate::log::{agent_log, redact};
use crate::progress::{Lines, Progress};
use crate::prompt::prompt;

const KEPT_OUTPUT: u64 = 32 << 20;
/// Between asking an agent to end and making it.
const GRACE: Duration = Duration::from_secs(10);

/// What stands for the prompt in an agent's arguments.
const PROMPT: &str = "{prompt}";
const PROMPT_FILE: &str = "{prompt_file}";

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
        let request = SlotRequest { purpose: Purpose::Agent, at: &order.base, unfinished: Some(&unfinished) };
        let mut slot = self.tools.workspaces.acquire(&request, cancel)?;
        match self.prepare(&*slot, &log, cancel) {
            // An earlier attempt broke it, and this one may mend it.
            Err(obstacle @ Obstacle::SetUp { .. }) if order.base != order.origin => {
                self.tools.watcher.see(Progress::Notice(&obstacle.to_string()));
            }
            prepared => prepared?,
        }
        let guarded = self.guarded_files(&*slot)?;
        let invocation = self.agent_invocation(id, order, &*slot, &log)?;
        self.tools.watcher.see(Progress::AgentStarts);
        let mut lines = Lines::new(&*self.tools.watcher);
        let ended = self.tools.processes.run(&invocation, cancel, &mut |bytes| lines.push(bytes))?;
        redact(&log, &self.tools.redactor).map_err(Obstacle::at(&log))?;
        if ended.cause == ExitCause::Cancelled {
            // Dropping the slot keeps what the agent wrote under the name for unfinished work.
            return Err(Obstacle::Cancelled);
        }
        if let ExitCause::NotStarted(why) = &ended.cause {
            let notice = format!("the agent could not be started: {why}");
            self.tools.watcher.see(Progress::Notice(&notice));
        }
        let message = format!("{} attempt {} of {}", self.run, order.number, self.task);
        let taken = slot.take(&self.reference(&format!("attempt-{}", order.number)), &message)?;
        let changed = self.tools.workspaces.changes(&order.origin, &taken.commit)?;
        let touched = self.touched(&guarded, &*slot)?;
        let findings = self.measure(order, &taken.commit, &changed, &touched)?;
        Ok(CommandResult::Attempt(AttemptResult {
            end: agent_end(&ended),
            commit: taken.commit,
            tree: taken.tree,
            violations: findings.violations,
            revertible: findings.revertible,
            edited_tests: findings.edited_tests,
            exit_code: match ended.cause {
                ExitCause::Exited(code) => Some(code),
                ExitCause::Signalled(_)
                | ExitCause::TimedOut
                | ExitCause::Silent
                | ExitCause::Cancelled
                | ExitCause::NotStarted(_) => None,
            },
            changed_files: changed.len() as u64,
            changed_lines: changed.iter().filter_map(|change| change.lines).sum(),
            unresolved: Vec::new(),
            session: None,
            usage: None,
            last_words: None,
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
            violations: findings.violations,
            revertible: findings.revertible,
            edited_tests: findings.edited_tests,
            changed_files: changed.len() as u64,
            changed_lines: changed.iter().filter_map(|change| change.lines).sum(),
            ..AttemptResult::new(AgentEnd::Exited, taken.commit, taken.tree)
        }))
    }

    fn agent_invocation(
        &self,
        id: CommandId,
        order: &AttemptOrder,
        slot: &dyn Slot,
        log: &Path,
    ) -> Result<Invocation, Obstacle> {
        let text = prompt(&self.brief, self.goals.as_ref(), order).text();
        fs::create_dir_all(&self.places.prompts).map_err(Obstacle::at(&self.places.prompts))?;
        let file = self.places.prompts.join(format!("{id}.md"));
        fs::write(&file, &text).map_err(Obstacle::at(&file))?;
        let is_named = |argument: &String| argument.contains(PROMPT) || argument.contains(PROMPT_FILE);
        let is_told_by_argument = self.brief.agent.iter().any(is_named);
        let filled = |argument: &String| filled(argument, &text, &file);
        let mut words = self.brief.agent.iter().map(filled);
        // What an attempt did to its own directory must not keep the next from mending it.
        let directory = match directory_in(slot, &self.brief.directory) {
            Err(Obstacle::LeadsOut(_)) => slot.directory().to_path_buf(),
            found => found?,
        };
        let mut environment = self.agent_environment.clone();
        let own = [
            ("FIXPOINT_RUN", self.run.clone()),
            ("FIXPOINT_ATTEMPT", order.number.to_string()),
            ("FIXPOINT_STAGE", order.stage.to_string()),
        ];
        environment.extend(own.map(|(name, value)| (OsString::from(name), OsString::from(value))));
        environment.push(("FIXPOINT_PROMPT_FILE".into(), file.clone().into_os_string()));
        let settings = &self.brief.settings.agent;
        Ok(Invocation {
            program: Program::Direct {
                program: words.next().unwrap_or_default(),
                arguments: words.collect(),
            },
            directory,
            environment,
            stdin: if is_told_by_argument { Stdin::Closed } else { Stdin::Bytes(text.clone().into_bytes()) },
            limits: Limits {
                wall: Duration::from_secs(u64::from(settings.timeout)),
                silence: Some(Duration::from_secs(u64::from(settings.silence_timeout))),
                grace: GRACE,
                kept_output: KEPT_OUTPUT,
            },
            output: log.to_path_buf(),
        })
    }
}

/// An argument with the prompt, or the name of its file, in the place named for it. What the prompt itself says is
/// never looked through again.
fn filled(argument: &str, prompt: &str, file: &Path) -> OsString {
    let mut whole = OsString::new();
    let mut rest = argument;
    while let Some((at, mark)) =
        [PROMPT, PROMPT_FILE].iter().filter_map(|mark| rest.find(mark).map(|at| (at, *mark))).min()
    {
        whole.push(rest.get(..at).unwrap_or_default());
        if mark == PROMPT {
            whole.push(prompt);
        } else {
            whole.push(file);
        }
        rest = rest.get(at + mark.len()..).unwrap_or_default();
    }
    whole.push(rest);
    whole
}

fn agent_end(ended: &Ended) -> AgentEnd {
    match ended.cause {
        ExitCause::Exited(_) | ExitCause::Signalled(_) | ExitCause::Cancelled => AgentEnd::Exited,
        ExitCause::TimedOut | ExitCause::Silent => AgentEnd::TimedOut,
        ExitCause::NotStarted(_) => AgentEnd::CouldNotStart,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompt_is_filled_in_once() {
        let file = Path::new("/p.md");
        for (argument, expected) in [
            ("{prompt}", "say {prompt} and {prompt_file}"),
            ("-m={prompt_file}!", "-m=/p.md!"),
            ("{prompt_file}{prompt}", "/p.mdsay {prompt} and {prompt_file}"),
            ("plain", "plain"),
            ("{prompt", "{prompt"),
        ] {
            assert_eq!(filled(argument, "say {prompt} and {prompt_file}", file), expected);
        }
    }
}
