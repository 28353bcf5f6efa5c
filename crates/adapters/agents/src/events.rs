//! Reading JSON events: fields that may be missing or of another kind than expected, and what is told of them.

use fixpoint_vocabulary::usage::Usage;
use serde_json::Value;

use crate::progress::{Progress, Session};
use crate::said::Said;
use crate::shortening::{summary, words};
use crate::transcript::Transcript;

/// What a line of output is.
pub(crate) enum Line {
    /// Nothing.
    Blank,
    /// An event: an object with a type.
    Event {
        /// Its type.
        kind: String,
        /// All of it.
        event: Value,
    },
    /// Anything else.
    Other(String),
}

impl Line {
    /// Invalid UTF-8 is replaced, since a part of one tool's output must not cost the whole event.
    pub(crate) fn of(line: &[u8]) -> Self {
        let text = String::from_utf8_lossy(line);
        if text.trim().is_empty() {
            return Self::Blank;
        }
        // Most lines that are no events are told by their first letter.
        let event: Option<Value> =
            if text.starts_with('{') { serde_json::from_str(&text).ok() } else { None };
        match event {
            Some(event) if !text_of(&event, "type").is_empty() => {
                Self::Event { kind: text_of(&event, "type").to_string(), event }
            }
            _ => Self::Other(words(&text)),
        }
    }
}

/// The progress of one line, kept in the transcript as it is told.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) transcript: Transcript,
    line: Vec<Progress>,
}

impl Told {
    /// For an agent that prints events, which are not its words.
    pub(crate) fn of_events() -> Self {
        let transcript = Transcript { said: Some(Said::default()), ..Transcript::default() };
        Self { transcript, line: Vec::new() }
    }

    /// Tells it.
    pub(crate) fn tell(&mut self, progress: Progress) {
        self.transcript.see(&progress);
        self.line.push(progress);
    }

    /// Tells the session, once, if it is one that could be continued.
    pub(crate) fn session(&mut self, id: &str) {
        let is_known = self.transcript.session.as_ref().is_some_and(|session| session.id == id);
        if Session::is_id(id) && !is_known {
            self.tell(Progress::Session(id.to_string()));
        }
    }

    /// Tells the model when it is another.
    pub(crate) fn model(&mut self, model: &str) {
        let model = summary(model);
        if !model.is_empty() && self.transcript.model.as_ref() != Some(&model) {
            self.tell(Progress::Model(model));
        }
    }

    /// Tells what was used so far when that changed.
    pub(crate) fn usage(&mut self, usage: Usage) {
        if self.transcript.usage != Some(usage) {
            self.tell(Progress::Usage(usage));
        }
    }

    /// Tells an error, unless it was the last one told: agents say the same again when they give up.
    pub(crate) fn error(&mut self, text: &str) {
        let text = words(text);
        if !text.is_empty() && self.transcript.errors.last() != Some(&text) {
            self.tell(Progress::Error(text));
        }
    }

    /// What was told since this was last asked.
    pub(crate) fn take(&mut self) -> Vec<Progress> {
        core::mem::take(&mut self.line)
    }
}

/// A field's text; empty where there is none.
pub(crate) fn text_of<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// A field's whole number; 0 where there is none.
pub(crate) fn count_of(value: &Value, field: &str) -> u64 {
    value.get(field).and_then(Value::as_u64).unwrap_or_default()
}

/// The members of a field that is a list.
pub(crate) fn list_of<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value.get(field).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The larger of two usages in each number: what was once used is never taken back.
pub(crate) fn at_least(one: Usage, two: Usage) -> Usage {
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
