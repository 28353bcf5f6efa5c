//! A model that plays answers out of a script, for demonstrations and tests.
//!
//! Owns the counts of what was played. Refuses the network: a failure in the script is the error that is left when all
//! repetitions of a real one are used up, at once.
//!
//! Invariant: each play is counted once, whatever the number of threads, and is on the disk before the answer is given
//! where counts are kept there.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use fixpoint_ports::{
    AnswerForm, Cancel, Model, ModelError, ModelReply, ModelRequest, StopReason, ToolCall, Unanswered,
};
use fixpoint_vocabulary::Redactor;
use fixpoint_vocabulary::settings::Price;
use fixpoint_vocabulary::usage::{Counted, MicroUsd, Usage};
use serde_json::json;

use crate::error::SetupError;
use crate::estimate;
use crate::faults::{self, Fault};
use crate::script::{NamedFault, Reply, Script, ScriptedFault, words};
use crate::wire::{self, Head};

/// A script of answers as a model.
#[derive(Debug)]
pub struct Scripted {
    name: String,
    script: Script,
    played: Mutex<BTreeMap<String, u64>>,
    counts: Option<PathBuf>,
}

impl Scripted {
    /// Reads a script.
    pub fn read(path: &Path) -> Result<Self, SetupError> {
        let wrong = |why: String| SetupError::Script { path: path.to_path_buf(), why };
        let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        Self::parse(&stem, &text).map_err(wrong)
    }

    /// Takes a script as a text; the error says what is wrong with it.
    pub fn parse(name: &str, text: &str) -> Result<Self, String> {
        let script = Script::parse(text)?;
        Ok(Self { name: format!("scripted/{name}"), script, played: Mutex::default(), counts: None })
    }

    /// Keeps the counts in a file, so that another process goes on where this one stopped. A question that was counted
    /// and whose answer nobody recorded before the process died gets the next reply.
    pub fn with_counts_in(self, path: &Path) -> Result<Self, SetupError> {
        let wrong = |why: String| SetupError::Script { path: path.to_path_buf(), why };
        let played = match std::fs::read(path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(wrong(error.to_string())),
        };
        Ok(Self { played: Mutex::new(played), counts: Some(path.to_path_buf()), ..self })
    }

    /// The next reply to a question.
    fn next(&self, request: &ModelRequest) -> Result<&Reply, ModelError> {
        let mut played = self.played.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((rule, reply)) = self.script.reply(request, &played) else {
            return Err(ModelError::Refused { endpoint: self.name.clone(), message: unmatched(request) });
        };
        let count = played.entry(rule).or_default();
        *count = count.saturating_add(1);
        if let Some(path) = &self.counts {
            keep(path, &played).map_err(|error| ModelError::Unavailable {
                endpoint: self.name.clone(),
                message: format!("the counts cannot be kept in {}: {error}", path.display()),
            })?;
        }
        Ok(reply)
    }

    fn error(&self, fault: &ScriptedFault, request: &ModelRequest) -> ModelError {
        let endpoint = self.name.clone();
        let unavailable = |message: &str| ModelError::Unavailable {
            endpoint: endpoint.clone(),
            message: format!("as the script says: {message}"),
        };
        match fault {
            ScriptedFault::Named(NamedFault::Garbage) => unavailable("an answer that cannot be read"),
            ScriptedFault::Named(NamedFault::HalfStream) => {
                unavailable("the stream broke off before its end")
            }
            ScriptedFault::Named(NamedFault::Close) => unavailable("the connection was closed"),
            ScriptedFault::Named(NamedFault::Hang) => self.timed_out(request),
            ScriptedFault::Status { status, retry_after, body } => {
                let head = Head {
                    status: *status,
                    retry_after: retry_after.map(|seconds| seconds.to_string()),
                    ..Head::default()
                };
                match faults::of_status(&head, body, &Redactor::default(), 0) {
                    Fault::Again { said, .. } => unavailable(&said),
                    Fault::Unsupported { said, .. } | Fault::Refused(said) => {
                        ModelError::Refused { endpoint, message: said }
                    }
                    Fault::SignIn(said) => ModelError::SignIn { endpoint, message: said },
                    Fault::NoCredit(said) => ModelError::NoCredit { endpoint, message: said },
                    Fault::TooLong(said) => ModelError::TooLong { model: endpoint, message: said },
                    Fault::Cancelled => ModelError::Cancelled,
                    Fault::TimedOut => self.timed_out(request),
                }
            }
        }
    }

    fn timed_out(&self, request: &ModelRequest) -> ModelError {
        ModelError::TimedOut {
            endpoint: self.name.clone(),
            seconds: request.deadline.as_secs(),
            message: "as the script says".to_string(),
        }
    }

    /// Waits as the script says, within the deadline.
    fn wait(&self, reply: &Reply, request: &ModelRequest, cancel: &Cancel) -> Result<(), ModelError> {
        let delay = Duration::from_millis(self.script.delay_ms.saturating_add(reply.delay_ms));
        let began = Instant::now();
        wire::pause(delay.min(request.deadline), cancel).map_err(|_| ModelError::Cancelled)?;
        if delay > request.deadline && began.elapsed() >= request.deadline {
            return Err(self.timed_out(request));
        }
        Ok(())
    }
}

/// Writes the counts whole or not at all.
fn keep(path: &Path, played: &BTreeMap<String, u64>) -> std::io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(&serde_json::to_vec(played)?)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Which question has no answer.
fn unmatched(request: &ModelRequest) -> String {
    let form = match &request.form {
        AnswerForm::Text => "a text",
        AnswerForm::Json { name, .. } => name,
    };
    let last = request.messages.last().map(words).unwrap_or_default();
    let last = faults::shorten(last, &Redactor::default());
    let beginning: String = last.chars().take(200).collect();
    format!("no rule of the script answers this: asked for {form}, the last message begins: {beginning}")
}

fn usage(reply: &Reply, request: &ModelRequest, text: &str) -> Usage {
    let base = Usage { calls: 1, cost: Some(MicroUsd(0)), ..Usage::default() };
    match reply.usage {
        Some(told) => Usage {
            input_tokens: told.input_tokens,
            output_tokens: told.output_tokens,
            cache_read_tokens: told.cache_read_tokens,
            cache_write_tokens: told.cache_write_tokens,
            ..base
        },
        None => {
            let calls = reply.tool_calls.iter().map(|call| estimate::tokens_of(&call.arguments.to_string()));
            Usage {
                input_tokens: estimate::tokens_of_request(request),
                output_tokens: estimate::tokens_of(text) + calls.sum::<u64>(),
                counted: Counted::Estimated,
                ..base
            }
        }
    }
}

impl Model for Scripted {
    fn name(&self) -> &str {
        &self.name
    }

    fn price(&self) -> Option<Price> {
        // It costs nothing, and that is known.
        Some(Price::default())
    }

    fn ask(
        &self,
        request: &ModelRequest,
        cancel: &Cancel,
        heard: &mut dyn FnMut(&str),
    ) -> Result<ModelReply, Unanswered> {
        let nothing = |error: ModelError| Unanswered { error, usage: Usage::default() };
        if cancel.is_asked() {
            return Err(nothing(ModelError::Cancelled));
        }
        let reply = self.next(request).map_err(nothing)?;
        let asked = Usage { calls: 1, cost: Some(MicroUsd(0)), ..Usage::default() };
        self.wait(reply, request, cancel).map_err(|error| Unanswered { error, usage: asked })?;
        if let Some(fault) = &reply.fault {
            return Err(Unanswered { error: self.error(fault, request), usage: asked });
        }
        let text = match (&reply.json, &reply.text) {
            (Some(document), _) => document.to_string(),
            (None, Some(text)) => text.clone(),
            (None, None) => String::new(),
        };
        if !text.is_empty() {
            heard(&text);
        }
        let calls = reply.tool_calls.iter().map(|call| ToolCall {
            id: call.id.clone(),
            name: call.name.clone(),
            arguments: if call.arguments.is_null() { json!({}) } else { call.arguments.clone() },
        });
        let calls: Vec<ToolCall> = calls.collect();
        let stop = if calls.is_empty() { StopReason::Finished } else { StopReason::ToolCalls };
        let usage = usage(reply, request, &text);
        Ok(ModelReply { text, calls, stop, usage, model: self.name.clone() })
    }
}
