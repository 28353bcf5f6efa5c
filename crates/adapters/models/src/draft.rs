//! An answer while it is being read, the same for every protocol.
//!
//! Owns the pieces: words, calls of tools with arguments that come in fragments, what was told about usage. Refuses to
//! know protocols. What is no JSON among arguments is kept as the text it is.

use fixpoint_ports::{ModelRequest, StopReason, ToolCall};
use fixpoint_vocabulary::usage::{Counted, Usage};
use serde_json::{Map, Value};

use crate::estimate;
use crate::keepsakes::Keepsake;

/// Calls of tools in one answer, at most: an index beyond it is no honest one.
const MAX_CALLS: usize = 256;

/// What the endpoint said about tokens; a count that was never told is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Told {
    pub(crate) input: Option<u64>,
    pub(crate) cache_read: Option<u64>,
    pub(crate) cache_write: Option<u64>,
    pub(crate) output: Option<u64>,
}

/// A call whose arguments may be incomplete.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct DraftCall {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: String,
    /// What came beside it and is wanted back.
    pub(crate) extra: Option<Value>,
}

/// Whether an answer is at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Completeness {
    /// More must come.
    #[default]
    Open,
    /// The reason why it stopped was told; if the stream ends now, nothing is missing.
    MayEnd,
    /// The end was told.
    Ended,
}

/// An answer while it is being read.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Draft {
    pub(crate) text: String,
    pub(crate) calls: Vec<DraftCall>,
    pub(crate) stop: Option<StopReason>,
    pub(crate) told: Told,
    pub(crate) model: String,
    pub(crate) completeness: Completeness,
    /// Bytes of thinking, which is paid for and not part of the answer.
    pub(crate) thought: u64,
    /// Blocks of thinking, as they came.
    pub(crate) blocks: Vec<Value>,
    /// Thinking as a text.
    pub(crate) reasoning: String,
}

impl Draft {
    /// The call at an index, made if it is new.
    pub(crate) fn call_at(&mut self, index: usize) -> Option<&mut DraftCall> {
        if index >= MAX_CALLS {
            return None;
        }
        if self.calls.len() <= index {
            self.calls.resize_with(index + 1, DraftCall::default);
        }
        self.calls.get_mut(index)
    }

    /// Words, which are heard as they come.
    pub(crate) fn say(&mut self, words: &str, heard: &mut dyn FnMut(&str)) {
        if !words.is_empty() {
            self.text.push_str(words);
            heard(words);
        }
    }

    /// The calls as the caller sees them.
    pub(crate) fn tool_calls(&self) -> Vec<ToolCall> {
        let named = self.calls.iter().enumerate().filter(|(_, call)| !call.name.is_empty());
        let call = |(index, call): (usize, &DraftCall)| ToolCall {
            // Some local servers leave the id out, and the result could not be given back without one.
            id: if call.id.is_empty() { format!("call_{index}") } else { call.id.clone() },
            name: call.name.clone(),
            arguments: arguments(&call.arguments),
        };
        named.map(call).collect()
    }

    /// What is wanted back with the calls, and the call it is kept by.
    pub(crate) fn keepsake(&self) -> Option<(String, Keepsake)> {
        let calls = self.tool_calls();
        let first = calls.first()?.id.clone();
        let named = self.calls.iter().filter(|call| !call.name.is_empty());
        let extras =
            calls.iter().zip(named).filter_map(|(call, draft)| Some((call.id.clone(), draft.extra.clone()?)));
        let keepsake = Keepsake {
            blocks: self.blocks.clone(),
            reasoning: self.reasoning.clone(),
            extras: extras.collect(),
        };
        Some((first, keepsake))
    }

    /// Why it stopped.
    pub(crate) fn stop_reason(&self) -> StopReason {
        match self.stop {
            Some(StopReason::Finished) | None if self.calls.iter().any(|call| !call.name.is_empty()) => {
                StopReason::ToolCalls
            }
            Some(stop) => stop,
            None => StopReason::Finished,
        }
    }

    /// What one request used: as told, and what was not told as estimated from what was sent and received.
    pub(crate) fn usage(&self, request: &ModelRequest) -> Usage {
        let told = self.told;
        let counted = match (told.input, told.output, self.completeness) {
            (Some(_), Some(_), Completeness::MayEnd | Completeness::Ended) => Counted::Told,
            (_, _, Completeness::Open) | (None, _, _) | (_, None, _) => Counted::Estimated,
        };
        let written = || {
            let calls = self
                .calls
                .iter()
                .map(|call| estimate::tokens_of(&call.name) + estimate::tokens_of(&call.arguments));
            estimate::tokens_of(&self.text) + calls.sum::<u64>() + self.thought.div_ceil(3)
        };
        let output = match self.completeness {
            Completeness::MayEnd | Completeness::Ended => told.output.unwrap_or_else(written),
            // Counts in the middle of a stream are those of its beginning.
            Completeness::Open => told.output.unwrap_or(0).max(written()),
        };
        Usage {
            calls: 1,
            input_tokens: told.input.unwrap_or_else(|| estimate::tokens_of_request(request)),
            cache_read_tokens: told.cache_read.unwrap_or(0),
            cache_write_tokens: told.cache_write.unwrap_or(0),
            output_tokens: output,
            cost: None,
            counted,
        }
    }
}

/// Arguments as a value; no arguments are an empty object, and what is no JSON is kept as a text.
pub(crate) fn arguments(text: &str) -> Value {
    if text.trim().is_empty() {
        return Value::Object(Map::new());
    }
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_string()))
}

/// A whole number of a document; a negative or broken one counts as absent.
pub(crate) fn count(document: &Value, pointer: &str) -> Option<u64> {
    let value = document.pointer(pointer)?;
    value.as_u64().or_else(|| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and not negative")]
        value.as_f64().filter(|number| *number >= 0.0 && number.fract() == 0.0).map(|number| number as u64)
    })
}

/// A text of a document, empty where there is none.
pub(crate) fn text<'a>(document: &'a Value, pointer: &str) -> &'a str {
    document.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
