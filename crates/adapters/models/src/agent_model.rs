//! An installed coding agent, used as a model.
//!
//! Owns the command lines and the prompt on standard input. Refuses tools: the agent may use neither its own nor ours,
//! works in an empty directory and cannot see the repository. `agent_output.rs` reads what it prints.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use fixpoint_ports::{
    AnswerFormat, Cancel, ExitCause, Message, Model, ModelError, ModelFailure, ModelReply, ModelRequest,
    Program, Stdin, StopReason,
};
use fixpoint_vocabulary::Redactor;
use fixpoint_vocabulary::settings::Price;
use fixpoint_vocabulary::usage::{CountSource, Usage};

use crate::agent_output::{self, AgentAnswer};
use crate::environment::{ProgramCall, ProgramOutput, ProgramRunner};
use crate::estimate;
use crate::name::AgentProgram;
use crate::request_error::shorten;
use crate::schema;

/// A longer system prompt does not fit into one argument and goes to standard input.
const MAX_ARGUMENT: usize = 96 << 10;
/// Bytes of output that are read.
const MAX_OUTPUT: usize = 16 << 20;

#[derive(Debug)]
pub(crate) struct AgentModel {
    agent: AgentProgram,
    program: PathBuf,
    runner: ProgramRunner,
    price: Option<Price>,
    name: String,
    redactor: Redactor,
}

impl AgentModel {
    pub(crate) fn new(
        agent: AgentProgram,
        program: PathBuf,
        runner: ProgramRunner,
        price: Option<Price>,
    ) -> Self {
        let secrets =
            runner.environment.iter().filter(|(name, _)| Redactor::is_secret_name(&name.to_string_lossy()));
        let redactor = Redactor::knowing(secrets.map(|(_, value)| value.to_string_lossy().into_owned()));
        Self { agent, program, runner, price, name: format!("agent:{}", agent.program()), redactor }
    }

    /// `scratch` is a directory for files the program reads.
    fn program_call(&self, request: &ModelRequest, scratch: &Path) -> std::io::Result<ProgramCall> {
        let mut arguments: Vec<OsString> = Vec::new();
        let mut preamble = String::new();
        match self.agent {
            AgentProgram::Claude => {
                arguments.extend(["-p", "--output-format", "json", "--tools", ""].map(OsString::from));
                arguments.extend(["--strict-mcp-config", "--no-session-persistence"].map(OsString::from));
                if request.system.trim().is_empty() || request.system.len() > MAX_ARGUMENT {
                    preamble.clone_from(&request.system);
                } else {
                    arguments.extend([OsString::from("--system-prompt"), request.system.clone().into()]);
                }
            }
            AgentProgram::Codex => {
                arguments.extend(["exec", "--json", "--skip-git-repo-check"].map(OsString::from));
                arguments.extend(["--sandbox", "read-only"].map(OsString::from));
                preamble.clone_from(&request.system);
            }
        }
        let mut schema_text = None;
        if let AnswerFormat::Json { name, schema } = &request.format {
            match self.agent {
                AgentProgram::Codex if schema::is_strict(schema) => {
                    let file = scratch.join("schema.json");
                    fs::write(&file, schema.to_string())?;
                    arguments.extend([OsString::from("--output-schema"), file.into()]);
                }
                AgentProgram::Codex | AgentProgram::Claude => {
                    schema_text = Some(schema::as_instructions(name, schema))
                }
            }
        }
        if self.agent == AgentProgram::Codex {
            arguments.push("-".into());
        }
        let prompt = prompt(&preamble, &request.messages, schema_text.as_deref());
        Ok(ProgramCall {
            program: Program::Direct { program: self.program.clone().into(), arguments },
            stdin: Stdin::Bytes(prompt.into_bytes()),
            timeout: request.deadline,
            max_output: MAX_OUTPUT,
        })
    }

    fn reply(&self, request: &ModelRequest, ran: &ProgramOutput) -> Result<ModelReply, ModelFailure> {
        let output = String::from_utf8_lossy(&ran.output);
        let answer = match self.agent {
            AgentProgram::Claude => agent_output::parse_claude(&output),
            AgentProgram::Codex => agent_output::parse_codex(&output),
        };
        let usage = self.usage(request, &answer);
        let failed = |error| Err(ModelFailure { error, usage });
        let endpoint = self.name.clone();
        match &ran.cause {
            ExitCause::Cancelled => return failed(ModelError::Cancelled),
            ExitCause::TimedOut | ExitCause::Silent => {
                let message = "the program was killed".to_string();
                return failed(ModelError::TimedOut {
                    endpoint,
                    seconds: request.deadline.as_secs(),
                    message,
                });
            }
            ExitCause::NotStarted(why) => {
                let message = format!("it could not be started: {why}");
                let error = ModelError::Unavailable { endpoint, message };
                return Err(ModelFailure { error, usage: Usage::default() });
            }
            ExitCause::Exited(_) | ExitCause::Signalled(_) => {}
        }
        match (answer.text, &ran.cause) {
            (Ok(text), ExitCause::Exited(0)) => {
                let model = answer.model.unwrap_or_else(|| self.name.clone());
                Ok(ModelReply { text, calls: Vec::new(), stop: StopReason::Finished, usage, model })
            }
            (Err(message), _) => failed(self.classify(&message)),
            (Ok(_), cause) => failed(self.classify(&format!("it failed ({cause:?})"))),
        }
    }

    /// Classifies an error by its words, since agents report no codes.
    fn classify(&self, error: &str) -> ModelError {
        let endpoint = self.name.clone();
        let message = shorten(error, &self.redactor);
        let lower = error.to_ascii_lowercase();
        let mentions = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        if mentions(&["/login", "log in", "not logged in", "api key", "authenticat", "401", "unauthorized"]) {
            ModelError::SignIn { endpoint, message }
        } else if mentions(&["credit balance", "usage limit", "quota", "billing"]) {
            ModelError::NoCredit { endpoint, message }
        } else if mentions(&["too long", "context window", "context length"]) {
            ModelError::TooLong { model: endpoint, message }
        } else if mentions(&["unknown option", "unexpected argument", "unrecognized"]) {
            ModelError::Refused {
                endpoint,
                message: format!("this version does not support the options Fixpoint uses: {message}"),
            }
        } else {
            ModelError::Unavailable { endpoint, message }
        }
    }

    fn usage(&self, request: &ModelRequest, answer: &AgentAnswer) -> Usage {
        let mut usage = answer.usage.unwrap_or_else(|| Usage {
            calls: 1,
            input_tokens: estimate::tokens_of_request(request),
            output_tokens: answer.text.as_ref().map_or(0, |text| estimate::tokens_of(text)),
            counted: CountSource::Estimated,
            ..Usage::default()
        });
        usage.cost = self.price.as_ref().map(|price| price.of(&usage)).or(usage.cost);
        usage
    }
}

/// The conversation as one text, since an agent takes a single prompt.
fn prompt(preamble: &str, messages: &[Message], schema_text: Option<&str>) -> String {
    let mut parts: Vec<String> = Vec::new();
    if !preamble.trim().is_empty() {
        parts.push(preamble.to_string());
    }
    match messages {
        [Message::User(text)] => parts.push(text.clone()),
        _ => parts.extend(messages.iter().map(|message| match message {
            Message::User(text) => format!("[user]\n{text}"),
            Message::Assistant { text, .. } => format!("[you, earlier]\n{text}"),
            Message::ToolResult { text, .. } => format!("[tool result]\n{text}"),
        })),
    }
    parts.extend(schema_text.map(str::to_string));
    parts.join("\n\n")
}

impl Model for AgentModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn price(&self) -> Option<Price> {
        self.price.clone()
    }

    fn ask(
        &self,
        request: &ModelRequest,
        cancel: &Cancel,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<ModelReply, ModelFailure> {
        let unused = |error: ModelError| ModelFailure { error, usage: Usage::default() };
        let endpoint = self.name.clone();
        if cancel.is_asked() {
            return Err(unused(ModelError::Cancelled));
        }
        if !request.tools.is_empty() {
            let message = "an agent used as a model cannot call tools".to_string();
            return Err(unused(ModelError::Refused { endpoint, message }));
        }
        let ran = self.runner.run(cancel, |scratch| self.program_call(request, scratch));
        let ran = ran.map_err(|message| unused(ModelError::Unavailable { endpoint, message }))?;
        let reply = self.reply(request, &ran)?;
        on_text(&reply.text);
        Ok(reply)
    }
}
