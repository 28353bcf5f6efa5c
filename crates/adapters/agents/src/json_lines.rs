//! Reading JSON events whose fields may be missing or of another type, and collecting the progress they report.

use fixpoint_vocabulary::usage::Usage;
use serde_json::Value;

use crate::agent_text::AgentText;
use crate::progress::{Progress, Session};
use crate::sanitize::{clean_text, one_line};
use crate::transcript::Transcript;

pub(crate) enum Line {
    Blank,
    /// A JSON object with a type.
    Event {
        kind: String,
        event: Value,
    },
    Other(String),
}

impl Line {
    /// Invalid UTF-8 is replaced: bytes in the output of one tool must not cost the whole event.
    pub(crate) fn parse(line: &[u8]) -> Self {
        let text = String::from_utf8_lossy(line);
        if text.trim().is_empty() {
            return Self::Blank;
        }
        // Most lines that are not events are recognised by their first character.
        let event: Option<Value> =
            if text.starts_with('{') { serde_json::from_str(&text).ok() } else { None };
        match event {
            Some(event) if !text_of(&event, "type").is_empty() => {
                Self::Event { kind: text_of(&event, "type").to_string(), event }
            }
            _ => Self::Other(clean_text(&text)),
        }
    }
}

/// The progress since it was last taken; all of it is added to the transcript.
#[derive(Debug, Default)]
pub(crate) struct ProgressLog {
    pub(crate) transcript: Transcript,
    new: Vec<Progress>,
}

impl ProgressLog {
    /// For an agent that prints events: its messages are collected separately.
    pub(crate) fn for_events() -> Self {
        let transcript = Transcript { agent_text: Some(AgentText::default()), ..Transcript::default() };
        Self { transcript, new: Vec::new() }
    }

    pub(crate) fn add(&mut self, progress: Progress) {
        self.transcript.add(&progress);
        self.new.push(progress);
    }

    /// Adds the session, once, if its id could be passed to the agent again.
    pub(crate) fn session(&mut self, id: &str) {
        let is_known = self.transcript.session.as_ref().is_some_and(|session| session.id == id);
        if Session::is_id(id) && !is_known {
            self.add(Progress::Session(id.to_string()));
        }
    }

    /// Adds the model if it changed.
    pub(crate) fn model(&mut self, model: &str) {
        let model = one_line(model);
        if !model.is_empty() && self.transcript.model.as_ref() != Some(&model) {
            self.add(Progress::Model(model));
        }
    }

    /// Adds the usage so far if it changed.
    pub(crate) fn usage(&mut self, usage: Usage) {
        if self.transcript.usage != Some(usage) {
            self.add(Progress::Usage(usage));
        }
    }

    /// Adds a text of some kind, unless it is empty.
    pub(crate) fn text(&mut self, kind: fn(String) -> Progress, text: &str) {
        let text = clean_text(text);
        if !text.is_empty() {
            self.add(kind(text));
        }
    }

    /// Adds an error, unless it repeats the last one: agents report the same error again when they give up.
    pub(crate) fn error(&mut self, text: &str) {
        let text = clean_text(text);
        if !text.is_empty() && self.transcript.errors.last() != Some(&text) {
            self.add(Progress::Error(text));
        }
    }

    pub(crate) fn take(&mut self) -> Vec<Progress> {
        core::mem::take(&mut self.new)
    }
}

/// The text of a field; empty where there is none.
pub(crate) fn text_of<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// The whole number of a field; 0 where there is none.
pub(crate) fn count_of(value: &Value, field: &str) -> u64 {
    value.get(field).and_then(Value::as_u64).unwrap_or_default()
}

/// The items of a field that is a list.
pub(crate) fn list_of<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value.get(field).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The larger of two usages in each number: usage never decreases.
pub(crate) fn max_of_each(one: Usage, two: Usage) -> Usage {
    Usage {
        calls: one.calls.max(two.calls),
        input_tokens: one.input_tokens.max(two.input_tokens),
        cache_read_tokens: one.cache_read_tokens.max(two.cache_read_tokens),
        cache_write_tokens: one.cache_write_tokens.max(two.cache_write_tokens),
        output_tokens: one.output_tokens.max(two.output_tokens),
        cost: one.cost.max(two.cost),
        counted: one.counted,
    }
}
