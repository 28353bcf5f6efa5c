//! A model that answers from a script, for demonstrations and tests.
//!
//! Owns the count of replies. Refuses the network: a scripted failure is the error that is left after all retries.
//!
//! Invariant: each reply is counted once, whatever the number of threads, and where the counts are stored in a file, it
//! is written before the answer is given.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use fixpoint_ports::{
    AnswerFormat, Cancel, Model, ModelError, ModelFailure, ModelReply, ModelRequest, StopReason, ToolCall,
};
use fixpoint_vocabulary::Redactor;
use fixpoint_vocabulary::settings::Price;
use fixpoint_vocabulary::usage::{CountSource, MicroUsd, Usage};
use serde_json::json;

use crate::estimate;
use crate::http::{self, ResponseHead};
use crate::request_error;
use crate::script::{NamedFault, Reply, Script, ScriptedFault, text_of};
use crate::setup_error::SetupError;

#[derive(Debug)]
pub struct ScriptedModel {
    name: String,
    script: Script,
    used: Mutex<BTreeMap<String, u64>>,
    /// The file in which `used` is stored.
    counts: Option<PathBuf>,
}

impl ScriptedModel {
    pub fn read(path: &Path) -> Result<Self, SetupError> {
        let invalid = |problem: String| SetupError::Script { path: path.to_path_buf(), problem };
        let text = std::fs::read_to_string(path).map_err(|error| invalid(error.to_string()))?;
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        Self::parse(&stem, &text).map_err(invalid)
    }

    /// Parses a script; the error says what is wrong with it.
    pub fn parse(name: &str, text: &str) -> Result<Self, String> {
        let script = Script::parse(text)?;
        Ok(Self { name: format!("scripted/{name}"), script, used: Mutex::default(), counts: None })
    }

    /// Stores the counts in a file, so that another process continues where this one stopped. A request that was counted,
    /// but whose answer was not recorded before the process died, gets the next reply.
    pub fn with_counts_in(self, path: &Path) -> Result<Self, SetupError> {
        let invalid = |problem: String| SetupError::Script { path: path.to_path_buf(), problem };
        let used = match std::fs::read(path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| invalid(error.to_string()))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(invalid(error.to_string())),
        };
        Ok(Self { used: Mutex::new(used), counts: Some(path.to_path_buf()), ..self })
    }

    fn next_reply(&self, request: &ModelRequest) -> Result<&Reply, ModelError> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((rule, reply)) = self.script.reply(request, &used) else {
            return Err(ModelError::Refused { endpoint: self.name.clone(), message: no_rule(request) });
        };
        let count = used.entry(rule).or_default();
        *count = count.saturating_add(1);
        if let Some(path) = &self.counts {
            store(path, &used).map_err(|error| ModelError::Unavailable {
                endpoint: self.name.clone(),
                message: format!("cannot write {}: {error}", path.display()),
            })?;
        }
        Ok(reply)
    }

    fn error(&self, fault: &ScriptedFault, request: &ModelRequest) -> ModelError {
        let endpoint = self.name.clone();
        let unavailable = |message: &str| ModelError::Unavailable {
            endpoint: endpoint.clone(),
            message: format!("scripted failure: {message}"),
        };
        match fault {
            ScriptedFault::Named(NamedFault::Garbage) => unavailable("the answer cannot be read"),
            ScriptedFault::Named(NamedFault::HalfStream) => {
                unavailable("the stream broke off before its end")
            }
            ScriptedFault::Named(NamedFault::Close) => unavailable("the connection was closed"),
            ScriptedFault::Named(NamedFault::Hang) => self.timed_out(request),
            ScriptedFault::Status { status, retry_after, body } => {
                let head = ResponseHead {
                    status: *status,
                    retry_after: retry_after.map(|seconds| seconds.to_string()),
                    ..ResponseHead::default()
                };
                let error = request_error::classify_response(&head, body, &Redactor::default(), 0);
                error.into_model_error(&endpoint, &endpoint, request.deadline, "scripted failure")
            }
        }
    }

    fn timed_out(&self, request: &ModelRequest) -> ModelError {
        ModelError::TimedOut {
            endpoint: self.name.clone(),
            seconds: request.deadline.as_secs(),
            message: "scripted failure".to_string(),
        }
    }

    /// The scripted pause, cut off at the deadline.
    fn wait(&self, reply: &Reply, request: &ModelRequest, cancel: &Cancel) -> Result<(), ModelError> {
        let delay = Duration::from_millis(self.script.delay_ms.saturating_add(reply.delay_ms));
        let started = Instant::now();
        http::sleep(delay.min(request.deadline), cancel).map_err(|_| ModelError::Cancelled)?;
        if delay > request.deadline && started.elapsed() >= request.deadline {
            return Err(self.timed_out(request));
        }
        Ok(())
    }
}

/// Writes the counts completely or not at all.
fn store(path: &Path, used: &BTreeMap<String, u64>) -> std::io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(&serde_json::to_vec(used)?)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

fn no_rule(request: &ModelRequest) -> String {
    let format = match &request.format {
        AnswerFormat::Text => "text",
        AnswerFormat::Json { name, .. } => name,
    };
    let last = request.messages.last().map(text_of).unwrap_or_default();
    let last = request_error::shorten(last, &Redactor::default());
    let beginning: String = last.chars().take(200).collect();
    format!("no rule of the script matches: format {format}, last message: {beginning}")
}

fn usage(reply: &Reply, request: &ModelRequest, text: &str) -> Usage {
    let base = Usage { calls: 1, cost: Some(MicroUsd(0)), ..Usage::default() };
    match reply.usage {
        Some(tokens) => Usage {
            input_tokens: tokens.input_tokens,
            output_tokens: tokens.output_tokens,
            cache_read_tokens: tokens.cache_read_tokens,
            cache_write_tokens: tokens.cache_write_tokens,
            ..base
        },
        None => {
            let calls = reply.tool_calls.iter().map(|call| estimate::tokens_of(&call.arguments.to_string()));
            Usage {
                input_tokens: estimate::tokens_of_request(request),
                output_tokens: estimate::tokens_of(text) + calls.sum::<u64>(),
                counted: CountSource::Estimated,
                ..base
            }
        }
    }
}

impl Model for ScriptedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn price(&self) -> Option<Price> {
        Some(Price::default())
    }

    fn ask(
        &self,
        request: &ModelRequest,
        cancel: &Cancel,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<ModelReply, ModelFailure> {
        let unused = |error: ModelError| ModelFailure { error, usage: Usage::default() };
        if cancel.is_asked() {
            return Err(unused(ModelError::Cancelled));
        }
        let reply = self.next_reply(request).map_err(unused)?;
        let one_call = Usage { calls: 1, cost: Some(MicroUsd(0)), ..Usage::default() };
        self.wait(reply, request, cancel).map_err(|error| ModelFailure { error, usage: one_call })?;
        if let Some(fault) = &reply.fault {
            return Err(ModelFailure { error: self.error(fault, request), usage: one_call });
        }
        let text = match (&reply.json, &reply.text) {
            (Some(document), _) => document.to_string(),
            (None, Some(text)) => text.clone(),
            (None, None) => String::new(),
        };
        if !text.is_empty() {
            on_text(&text);
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
