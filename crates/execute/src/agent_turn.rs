//! One turn of the agent in a slot: builds its command line, passes the prompt, reads its output as it comes.
//!
//! Owns which kind of agent it is and what of its output is shown and stored. Refuses to believe it: what it says it
//! did is only text. Invariant: a session that no longer exists costs no attempt; the agent starts a new one within it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fixpoint_agents::{
    Agent, OutputStream, Progress as AgentProgress, Session, Transcript, Turn, TurnOutcome,
    agent_for_program, agent_named,
};
use fixpoint_ports::{
    Cancel, ExitCause, FileAccess, Invocation, ProcessExit, ProcessLimits, Purpose, Slot, ToolOutcome,
};
use fixpoint_vocabulary::Text;
use fixpoint_vocabulary::prepared::PreparedAttempt;
use fixpoint_vocabulary::run_spec::RunSpec;
use fixpoint_vocabulary::settings::AgentKind;
use fixpoint_vocabulary::usage::MicroUsd;
use fixpoint_vocabulary::work::CommandId;

use crate::ExecutionContext;
use crate::context::directory_in;
use crate::error::ExecuteError;
use crate::logs::{redact, store_words};
use crate::progress::Progress;
use crate::prompt::prompt;

const KEPT_OUTPUT: u64 = 32 << 20;
/// Between asking an agent to end and killing it.
const GRACE: Duration = Duration::from_secs(10);

/// The kind of agent of a run: as the settings say, else by the name of its program.
pub fn agent_of(spec: &RunSpec) -> &'static dyn Agent {
    let configured = match spec.settings.agent.kind {
        AgentKind::Claude => agent_named("claude"),
        AgentKind::Codex => agent_named("codex"),
        AgentKind::Command => agent_named("command"),
        AgentKind::Auto | AgentKind::Opencode | AgentKind::Gemini => None,
    };
    let program = spec.agent.first().map(String::as_str).unwrap_or_default();
    configured.unwrap_or_else(|| agent_for_program(program))
}

/// A turn of an agent that ended.
pub(crate) struct AgentTurn {
    pub(crate) exit: ProcessExit,
    pub(crate) transcript: Transcript,
}

impl AgentTurn {
    /// Whether its provider refused it, so that what it left undone says nothing about the task.
    pub(crate) fn is_refused(&self) -> bool {
        matches!(self.transcript.outcome, Some(TurnOutcome::Account | TurnOutcome::RateLimited))
    }

    /// Its last message, or the error that kept it from one.
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

/// The prompt of an attempt, as text and as a file.
struct AgentPrompt {
    text: String,
    file: PathBuf,
}

impl ExecutionContext {
    /// Runs the agent once, in the session to continue if that still exists.
    pub(crate) fn run_agent(
        &self,
        id: CommandId,
        attempt: &PreparedAttempt,
        slot: &dyn Slot,
        log: &Path,
        cancel: &Cancel,
    ) -> Result<AgentTurn, ExecuteError> {
        let prompt = self.write_prompt(id, attempt)?;
        let session = attempt.command.session.as_deref().and_then(Session::decode);
        self.deps.progress.report(Progress::AgentStarts);
        let mut turn = self.run_turn(attempt, &prompt, session.as_ref(), slot, log, cancel)?;
        if session.is_some() && turn.transcript.outcome == Some(TurnOutcome::SessionGone) {
            // It asked no model and changed nothing. Its output stays beside that of the new session.
            let notice = Text::new(
                "the agent's session no longer exists; it starts a new one",
                "エージェントのセッションが存在しないため、新しいセッションを開始します",
            );
            self.deps.progress.report(Progress::Notice(&notice));
            let first_log = log.with_extension("gone.log");
            fs::rename(log, &first_log).map_err(ExecuteError::file(first_log))?;
            turn = self.run_turn(attempt, &prompt, None, slot, log, cancel)?;
        }
        store_words(&self.paths.outputs, id, &turn.transcript, &self.deps.redactor)?;
        Ok(turn)
    }

    fn write_prompt(&self, id: CommandId, attempt: &PreparedAttempt) -> Result<AgentPrompt, ExecuteError> {
        let mut prompt = prompt(&self.spec, self.goals.as_ref(), attempt);
        for (side, patch) in self.changes_of_sides(attempt)? {
            prompt = prompt.with_changes_of(side, &patch);
        }
        let text = prompt.text();
        fs::create_dir_all(&self.paths.prompts).map_err(ExecuteError::file(&self.paths.prompts))?;
        let file = self.paths.prompts.join(format!("{id}.md"));
        fs::write(&file, &text).map_err(ExecuteError::file(&file))?;
        Ok(AgentPrompt { text, file })
    }

    fn run_turn(
        &self,
        attempt: &PreparedAttempt,
        prompt: &AgentPrompt,
        session: Option<&Session>,
        slot: &dyn Slot,
        log: &Path,
        cancel: &Cancel,
    ) -> Result<AgentTurn, ExecuteError> {
        let (program, extra) = match self.spec.agent.split_first() {
            Some((program, extra)) => (program.as_str(), extra),
            None => ("", [].as_slice()),
        };
        let checks: Vec<String> =
            self.spec.checks.iter().map(|placed| placed.check.command.clone()).collect();
        let turn = Turn {
            program,
            arguments: extra,
            prompt: &prompt.text,
            prompt_file: &prompt.file,
            session,
            model: self.spec.settings.agent.model.as_deref(),
            max_cost: attempt.money.filter(|money| *money > MicroUsd(0)),
            allowed_commands: &checks,
        };
        let agent = agent_of(&self.spec);
        let line = agent.command(&turn);
        let mut stream = OutputStream::new(agent.reader(&turn));
        let settings = &self.spec.settings.agent;
        let environment = self.environment_of_turn(attempt, prompt);
        let invocation = Invocation {
            program: line.program(),
            access: FileAccess {
                purpose: Purpose::Agent,
                writable: vec![slot.directory().to_path_buf()],
                readable: vec![prompt.file.clone()],
                // The sessions of a task are continued; those of other tasks are not its business.
                home: Some(self.paths.homes.join(self.task.as_str())),
                home_before: None,
            },
            // What an attempt did to its directory must not keep the next one from repairing it.
            directory: match directory_in(slot, &self.spec.directory) {
                Err(ExecuteError::NotADirectory(_)) => slot.directory().to_path_buf(),
                found => found?,
            },
            environment,
            stdin: line.stdin(&prompt.text),
            limits: ProcessLimits {
                wall: Duration::from_secs(u64::from(settings.timeout)),
                silence: Some(Duration::from_secs(u64::from(settings.silence_timeout))),
                grace: GRACE,
                kept_output: KEPT_OUTPUT,
            },
            output: log.to_path_buf(),
        };
        let mut show = |bytes: &[u8]| stream.push(bytes).iter().for_each(|progress| self.show(progress));
        let exit = self.deps.processes.run(&invocation, cancel, &mut show)?;
        self.tell_refused(&exit.refused);
        let (last, transcript) = stream.finish();
        last.iter().for_each(|progress| self.show(progress));
        redact(log, &self.deps.redactor).map_err(ExecuteError::file(log))?;
        if let ExitCause::NotStarted(why) = &exit.cause {
            let notice = Text::new(
                format!("the agent could not be started: {why}"),
                format!("エージェントを起動できません: {why}"),
            );
            self.deps.progress.report(Progress::Notice(&notice));
        }
        Ok(AgentTurn { exit, transcript })
    }

    fn environment_of_turn(
        &self,
        attempt: &PreparedAttempt,
        prompt: &AgentPrompt,
    ) -> Vec<(OsString, OsString)> {
        let mut environment = self.agent_environment.clone();
        let own = [
            ("FIXPOINT_RUN", self.run.clone()),
            ("FIXPOINT_ATTEMPT", attempt.command.number.to_string()),
            ("FIXPOINT_STAGE", attempt.command.stage.to_string()),
        ];
        environment.extend(own.map(|(name, value)| (OsString::from(name), OsString::from(value))));
        environment.push(("FIXPOINT_PROMPT_FILE".into(), prompt.file.clone().into_os_string()));
        environment
    }

    /// Shows what an agent does, without credentials.
    fn show(&self, progress: &AgentProgress) {
        let listener = &self.deps.progress;
        let line = |text: &str| {
            let text = self.deps.redactor.redact(text);
            if let Some(last) = text.as_str().lines().rfind(|line| !line.trim().is_empty()) {
                listener.report(Progress::Line(last));
            }
        };
        match progress {
            AgentProgress::Text(text) | AgentProgress::Thinking(text) | AgentProgress::Line(text) => {
                line(text)
            }
            AgentProgress::ToolCall { name, summary, .. } => line(&format!("{name}: {summary}")),
            AgentProgress::ToolResult { outcome: ToolOutcome::Failure, summary, .. } => {
                line(&format!("failed: {summary}"));
            }
            AgentProgress::Notice(text) | AgentProgress::Error(text) => {
                listener.report(Progress::AgentNotice(self.deps.redactor.redact(text).as_str()));
            }
            AgentProgress::Usage(usage) => listener.report(Progress::Usage(*usage)),
            AgentProgress::ToolResult { outcome: ToolOutcome::Success, .. }
            | AgentProgress::Session(_)
            | AgentProgress::Model(_)
            | AgentProgress::Finished { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests;
