//! One turn of the agent in a slot: the command line completed, the prompt given, its output read as it comes.
//!
//! Owns which kind of agent it is and what of its output is shown and kept. Refuses its word: what it says it did is
//! passed on as words. Invariant: a session that is gone costs no attempt; the agent begins anew within the same one.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fixpoint_agents::{
    Agent, OutputStream, Progress as Seen, Session, Transcript, Turn, TurnOutcome, agent_for_program,
    agent_named,
};
use fixpoint_ports::{Cancel, ExitCause, Invocation, ProcessExit, ProcessLimits, Slot, ToolOutcome};
use fixpoint_vocabulary::brief::Brief;
use fixpoint_vocabulary::prepared::AttemptOrder;
use fixpoint_vocabulary::settings::AgentKind;
use fixpoint_vocabulary::usage::MicroUsd;
use fixpoint_vocabulary::work::CommandId;

use crate::Duty;
use crate::duty::{Obstacle, directory_in};
use crate::log::{keep_words, redact};
use crate::progress::Progress;
use crate::prompt::prompt;

const KEPT_OUTPUT: u64 = 32 << 20;
/// Between asking an agent to end and making it.
const GRACE: Duration = Duration::from_secs(10);

/// Which kind of agent a run has: as its settings say, else by the name of its program.
pub fn agent_of(brief: &Brief) -> &'static dyn Agent {
    let said = match brief.settings.agent.kind {
        AgentKind::Claude => agent_named("claude"),
        AgentKind::Codex => agent_named("codex"),
        AgentKind::Command => agent_named("command"),
        AgentKind::Auto | AgentKind::Opencode | AgentKind::Gemini => None,
    };
    let program = brief.agent.first().map(String::as_str).unwrap_or_default();
    said.unwrap_or_else(|| agent_for_program(program))
}

/// How an agent's turn ended.
pub(crate) struct Worked {
    pub(crate) ended: ProcessExit,
    pub(crate) transcript: Transcript,
}

impl Worked {
    /// Whether its provider would not have it, so that whatever it left undone says nothing about the task.
    pub(crate) fn is_refused(&self) -> bool {
        matches!(self.transcript.outcome, Some(TurnOutcome::Account | TurnOutcome::RateLimited))
    }

    /// The last it said, or what kept it from saying anything.
    pub(crate) fn last_words(&self) -> Option<&str> {
        let Transcript { last_message, errors, last_unknown_line, outcome, .. } = &self.transcript;
        let (words, error) = (last_message.as_deref(), errors.last().map(String::as_str));
        let said = match outcome {
            Some(TurnOutcome::Completed) | None => words.or(error),
            Some(
                TurnOutcome::OutOfTurns
                | TurnOutcome::OutOfBudget
                | TurnOutcome::SessionGone
                | TurnOutcome::RateLimited
                | TurnOutcome::Account
                | TurnOutcome::Failed,
            ) => error.or(words),
        };
        said.or(last_unknown_line.as_deref())
    }
}

/// What an agent is told.
struct Told {
    text: String,
    file: PathBuf,
}

impl Duty {
    /// Lets the agent work once, in the session that goes on if it is still there.
    pub(crate) fn let_work(
        &self,
        id: CommandId,
        order: &AttemptOrder,
        slot: &dyn Slot,
        log: &Path,
        cancel: &Cancel,
    ) -> Result<Worked, Obstacle> {
        let told = self.told(id, order)?;
        let session = order.session.as_deref().and_then(Session::decode);
        self.tools.watcher.see(Progress::AgentStarts);
        let mut worked = self.turn(order, &told, session.as_ref(), slot, log, cancel)?;
        if session.is_some() && worked.transcript.outcome == Some(TurnOutcome::SessionGone) {
            // It asked nobody and changed nothing. What it said stays beside what it says now.
            self.tools.watcher.see(Progress::Notice("the agent's session is gone; starting a new one"));
            let kept = log.with_extension("gone.log");
            fs::rename(log, &kept).map_err(Obstacle::at(kept))?;
            worked = self.turn(order, &told, None, slot, log, cancel)?;
        }
        keep_words(&self.places.outputs, id, &worked.transcript, &self.tools.redactor)?;
        Ok(worked)
    }

    fn told(&self, id: CommandId, order: &AttemptOrder) -> Result<Told, Obstacle> {
        let mut prompt = prompt(&self.brief, self.goals.as_ref(), order);
        for (side, patch) in self.changes_of_sides(order)? {
            prompt = prompt.with_changes_of(side, &patch);
        }
        let text = prompt.text();
        fs::create_dir_all(&self.places.prompts).map_err(Obstacle::at(&self.places.prompts))?;
        let file = self.places.prompts.join(format!("{id}.md"));
        fs::write(&file, &text).map_err(Obstacle::at(&file))?;
        Ok(Told { text, file })
    }

    fn turn(
        &self,
        order: &AttemptOrder,
        told: &Told,
        session: Option<&Session>,
        slot: &dyn Slot,
        log: &Path,
        cancel: &Cancel,
    ) -> Result<Worked, Obstacle> {
        let (program, extra) = match self.brief.agent.split_first() {
            Some((program, extra)) => (program.as_str(), extra),
            None => ("", [].as_slice()),
        };
        let checks: Vec<String> =
            self.brief.checks.iter().map(|placed| placed.check.command.clone()).collect();
        let turn = Turn {
            program,
            arguments: extra,
            prompt: &told.text,
            prompt_file: &told.file,
            session,
            model: self.brief.settings.agent.model.as_deref(),
            max_cost: order.money.filter(|money| *money > MicroUsd(0)),
            allowed_commands: &checks,
        };
        let agent = agent_of(&self.brief);
        let line = agent.command(&turn);
        let mut stream = OutputStream::new(agent.reader(&turn));
        let settings = &self.brief.settings.agent;
        let environment = self.environment_of_turn(order, told);
        let invocation = Invocation {
            program: line.program(),
            // What an attempt did to its own directory must not keep the next from mending it.
            directory: match directory_in(slot, &self.brief.directory) {
                Err(Obstacle::LeadsOut(_)) => slot.directory().to_path_buf(),
                found => found?,
            },
            environment,
            stdin: line.stdin(&told.text),
            limits: ProcessLimits {
                wall: Duration::from_secs(u64::from(settings.timeout)),
                silence: Some(Duration::from_secs(u64::from(settings.silence_timeout))),
                grace: GRACE,
                kept_output: KEPT_OUTPUT,
            },
            output: log.to_path_buf(),
        };
        let mut show = |bytes: &[u8]| stream.push(bytes).iter().for_each(|seen| self.show(seen));
        let ended = self.tools.processes.run(&invocation, cancel, &mut show)?;
        let (last, transcript) = stream.finish();
        last.iter().for_each(|seen| self.show(seen));
        redact(log, &self.tools.redactor).map_err(Obstacle::at(log))?;
        if let ExitCause::NotStarted(why) = &ended.cause {
            let notice = format!("the agent could not be started: {why}");
            self.tools.watcher.see(Progress::Notice(&notice));
        }
        Ok(Worked { ended, transcript })
    }

    fn environment_of_turn(&self, order: &AttemptOrder, told: &Told) -> Vec<(OsString, OsString)> {
        let mut environment = self.agent_environment.clone();
        let own = [
            ("FIXPOINT_RUN", self.run.clone()),
            ("FIXPOINT_ATTEMPT", order.number.to_string()),
            ("FIXPOINT_STAGE", order.stage.to_string()),
        ];
        environment.extend(own.map(|(name, value)| (OsString::from(name), OsString::from(value))));
        environment.push(("FIXPOINT_PROMPT_FILE".into(), told.file.clone().into_os_string()));
        environment
    }

    /// Shows what an agent lets us see, without what nobody may see.
    fn show(&self, seen: &Seen) {
        let watcher = &self.tools.watcher;
        let line = |text: &str| {
            let text = self.tools.redactor.redact(text);
            if let Some(last) = text.as_str().lines().rfind(|line| !line.trim().is_empty()) {
                watcher.see(Progress::Line(last));
            }
        };
        match seen {
            Seen::Text(text) | Seen::Thinking(text) | Seen::Line(text) => line(text),
            Seen::ToolCall { name, summary, .. } => line(&format!("{name}: {summary}")),
            Seen::ToolResult { outcome: ToolOutcome::Failure, summary, .. } => {
                line(&format!("failed: {summary}"));
            }
            Seen::Notice(text) | Seen::Error(text) => {
                watcher.see(Progress::Notice(self.tools.redactor.redact(text).as_str()));
            }
            Seen::Usage(usage) => watcher.see(Progress::Used(*usage)),
            Seen::ToolResult { outcome: ToolOutcome::Success, .. }
            | Seen::Session(_)
            | Seen::Model(_)
            | Seen::Finished { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests;
