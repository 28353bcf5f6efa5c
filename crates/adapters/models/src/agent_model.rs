//! An installed coding agent as a model, where no key is set.
//!
//! Owns the command lines and the way a question is put on their input. Refuses tools: the agent gets none of its own
//! and none of ours, works in an empty directory and cannot see the repository. What it prints is read elsewhere.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use fixpoint_ports::{
    AnswerForm, Cancel, ExitCause, Message, Model, ModelError, ModelReply, ModelRequest, Program, Stdin,
    StopReason, Unanswered,
};
use fixpoint_vocabulary::Redactor;
use fixpoint_vocabulary::settings::Price;
use fixpoint_vocabulary::usage::{Counted, Usage};

use crate::agent_output::{self, Printed};
use crate::estimate;
use crate::faults::shorten;
use crate::name::AgentProgram;
use crate::schema;
use crate::surroundings::{Errand, ProgramRunner, Ran};

/// Longer instructions do not fit into one argument, and stand on the input.
const MAX_ARGUMENT: usize = 96 << 10;
/// Bytes of output, at most.
const MAX_OUTPUT: usize = 16 << 20;

/// An agent's command line as a model.
#[derive(Debug)]
pub struct AgentModel {
    agent: AgentProgram,
    program: PathBuf,
    runner: ProgramRunner,
    price: Option<Price>,
    name: String,
    redactor: Redactor,
}

impl AgentModel {
    /// Makes a model of a program.
    pub fn new(agent: AgentProgram, program: PathBuf, runner: ProgramRunner, price: Option<Price>) -> Self {
        let secrets =
            runner.environment.iter().filter(|(name, _)| Redactor::is_secret_name(&name.to_string_lossy()));
        let redactor = Redactor::knowing(secrets.map(|(_, value)| value.to_string_lossy().into_owned()));
        Self { agent, program, runner, price, name: format!("agent:{}", agent.program()), redactor }
    }

    /// The program, its arguments and its input.
    fn errand(&self, request: &ModelRequest, beside: &Path) -> std::io::Result<Errand> {
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
        let mut words = None;
        if let AnswerForm::Json { name, schema } = &request.form {
            match self.agent {
                AgentProgram::Codex if schema::is_strict(schema) => {
                    let file = beside.join("schema.json");
                    fs::write(&file, schema.to_string())?;
                    arguments.extend([OsString::from("--output-schema"), file.into()]);
                }
                AgentProgram::Codex | AgentProgram::Claude => words = Some(schema::in_words(name, schema)),
            }
        }
        if self.agent == AgentProgram::Codex {
            arguments.push("-".into());
        }
        let prompt = prompt(&preamble, &request.messages, words.as_deref());
        Ok(Errand {
            program: Program::Direct { program: self.program.clone().into(), arguments },
            stdin: Stdin::Bytes(prompt.into_bytes()),
            wall: request.deadline,
            most: MAX_OUTPUT,
        })
    }

    fn reply(&self, request: &ModelRequest, ran: &Ran) -> Result<ModelReply, Unanswered> {
        let output = String::from_utf8_lossy(&ran.output);
        let printed = match self.agent {
            AgentProgram::Claude => agent_output::claude(&output),
            AgentProgram::Codex => agent_output::codex(&output),
        };
        let usage = self.usage(request, &printed);
        let failed = |error| Err(Unanswered { error, usage });
        let endpoint = self.name.clone();
        match &ran.cause {
            ExitCause::Cancelled => return failed(ModelError::Cancelled),
            ExitCause::TimedOut | ExitCause::Silent => {
                let message = "the program was ended".to_string();
                return failed(ModelError::TimedOut {
                    endpoint,
                    seconds: request.deadline.as_secs(),
                    message,
                });
            }
            ExitCause::NotStarted(why) => {
                let message = format!("it cannot be started: {why}");
                let error = ModelError::Unavailable { endpoint, message };
                return Err(Unanswered { error, usage: Usage::default() });
            }
            ExitCause::Exited(_) | ExitCause::Signalled(_) => {}
        }
        match (printed.answer, &ran.cause) {
            (Ok(text), ExitCause::Exited(0)) => {
                let model = printed.model.unwrap_or_else(|| self.name.clone());
                Ok(ModelReply { text, calls: Vec::new(), stop: StopReason::Finished, usage, model })
            }
            (Err(said), _) => failed(self.failure(&said)),
            (Ok(_), cause) => failed(self.failure(&format!("it ended badly ({cause:?})"))),
        }
    }

    /// What an agent's complaint means. There is no code, only words.
    fn failure(&self, said: &str) -> ModelError {
        let endpoint = self.name.clone();
        let message = shorten(said, &self.redactor);
        let lower = said.to_ascii_lowercase();
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
                message: format!("this version does not know our options: {message}"),
            }
        } else {
            ModelError::Unavailable { endpoint, message }
        }
    }

    fn usage(&self, request: &ModelRequest, printed: &Printed) -> Usage {
        let mut usage = printed.usage.unwrap_or_else(|| Usage {
            calls: 1,
            input_tokens: estimate::tokens_of_request(request),
            output_tokens: printed.answer.as_ref().map_or(0, |text| estimate::tokens_of(text)),
            counted: Counted::Estimated,
            ..Usage::default()
        });
        usage.cost = self.price.as_ref().map(|price| price.of(&usage)).or(usage.cost);
        usage
    }
}

/// The conversation as one text. The agent has no turns of ours.
fn prompt(preamble: &str, messages: &[Message], words: Option<&str>) -> String {
    let mut parts: Vec<String> = Vec::new();
    if !preamble.trim().is_empty() {
        parts.push(preamble.to_string());
    }
    match messages {
        [Message::User(text)] => parts.push(text.clone()),
        _ => parts.extend(messages.iter().map(|message| match message {
            Message::User(text) => format!("[user]\n{text}"),
            Message::Assistant { text, .. } => format!("[you, earlier]\n{text}"),
            Message::ToolResult { text, .. } => format!("[result of a tool]\n{text}"),
        })),
    }
    parts.extend(words.map(str::to_string));
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
        heard: &mut dyn FnMut(&str),
    ) -> Result<ModelReply, Unanswered> {
        let nothing = |error: ModelError| Unanswered { error, usage: Usage::default() };
        let endpoint = self.name.clone();
        if cancel.is_asked() {
            return Err(nothing(ModelError::Cancelled));
        }
        if !request.tools.is_empty() {
            let message = "an agent that serves as a model cannot call our tools".to_string();
            return Err(nothing(ModelError::Refused { endpoint, message }));
        }
        let ran = self.runner.run(cancel, |beside| self.errand(request, beside));
        let ran = ran.map_err(|message| nothing(ModelError::Unavailable { endpoint, message }))?;
        let reply = self.reply(request, &ran)?;
        heard(&reply.text);
        Ok(reply)
    }
}
