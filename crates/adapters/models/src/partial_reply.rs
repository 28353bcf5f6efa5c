//! An answer while it is being read, the same for every protocol.
//!
//! Owns the pieces: text, tool calls whose arguments arrive in fragments, reported token counts. Refuses to know any
//! protocol. Tool arguments that are not JSON are kept as the text they are.

use fixpoint_ports::{ModelRequest, StopReason, ToolCall};
use fixpoint_vocabulary::usage::{CountSource, Usage};
use serde_json::{Map, Value};

use crate::estimate;
use crate::thinking_cache::CachedThinking;

/// A larger index of a tool call is an error of the endpoint.
const MAX_CALLS: usize = 256;

/// The token counts an endpoint reported; `None` where it did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TokenCounts {
    pub(crate) input: Option<u64>,
    pub(crate) cache_read: Option<u64>,
    pub(crate) cache_write: Option<u64>,
    pub(crate) output: Option<u64>,
}

/// A tool call whose arguments may be incomplete.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct PartialCall {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: String,
    /// `extra_content`, which the model must get back with the call.
    pub(crate) extra: Option<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Completeness {
    #[default]
    Incomplete,
    /// The stop reason arrived; if the stream ends now, nothing is missing.
    MayEnd,
    Complete,
}

/// An answer while it is being read.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct PartialReply {
    pub(crate) text: String,
    pub(crate) calls: Vec<PartialCall>,
    pub(crate) stop: Option<StopReason>,
    pub(crate) tokens: TokenCounts,
    pub(crate) model: String,
    pub(crate) completeness: Completeness,
    /// Thinking is paid for, but is not part of the answer.
    pub(crate) thinking_bytes: u64,
    /// Anthropic's thinking blocks, as they came.
    pub(crate) thinking_blocks: Vec<Value>,
    /// Thinking that came as text.
    pub(crate) reasoning: String,
}

impl PartialReply {
    /// The tool call at an index, added if it is new.
    pub(crate) fn call_at(&mut self, index: usize) -> Option<&mut PartialCall> {
        if index >= MAX_CALLS {
            return None;
        }
        if self.calls.len() <= index {
            self.calls.resize_with(index + 1, PartialCall::default);
        }
        self.calls.get_mut(index)
    }

    pub(crate) fn push_text(&mut self, text: &str, on_text: &mut dyn FnMut(&str)) {
        if !text.is_empty() {
            self.text.push_str(text);
            on_text(text);
        }
    }

    pub(crate) fn tool_calls(&self) -> Vec<ToolCall> {
        let named = self.calls.iter().enumerate().filter(|(_, call)| !call.name.is_empty());
        let call = |(index, call): (usize, &PartialCall)| ToolCall {
            // Some local servers leave the id out; without one the result could not be sent back.
            id: if call.id.is_empty() { format!("call_{index}") } else { call.id.clone() },
            name: call.name.clone(),
            arguments: arguments(&call.arguments),
        };
        named.map(call).collect()
    }

    /// What must be sent back with the tool calls, and the first call, under which it is cached.
    pub(crate) fn thinking(&self) -> Option<(String, CachedThinking)> {
        let calls = self.tool_calls();
        let first = calls.first()?.id.clone();
        let named = self.calls.iter().filter(|call| !call.name.is_empty());
        let extras = calls
            .iter()
            .zip(named)
            .filter_map(|(call, partial)| Some((call.id.clone(), partial.extra.clone()?)));
        let thinking = CachedThinking {
            blocks: self.thinking_blocks.clone(),
            reasoning: self.reasoning.clone(),
            extras: extras.collect(),
        };
        Some((first, thinking))
    }

    /// Some servers report `stop` although they want a tool to be called.
    pub(crate) fn stop_reason(&self) -> StopReason {
        match self.stop {
            Some(StopReason::Finished) | None if self.calls.iter().any(|call| !call.name.is_empty()) => {
                StopReason::ToolCalls
            }
            Some(stop) => stop,
            None => StopReason::Finished,
        }
    }

    /// What one request used: as reported, and estimated from what was sent and received where nothing was reported.
    pub(crate) fn usage(&self, request: &ModelRequest) -> Usage {
        let tokens = self.tokens;
        let counted = match (tokens.input, tokens.output, self.completeness) {
            (Some(_), Some(_), Completeness::MayEnd | Completeness::Complete) => CountSource::Told,
            (_, _, Completeness::Incomplete) | (None, _, _) | (_, None, _) => CountSource::Estimated,
        };
        let estimated = || {
            let calls = self
                .calls
                .iter()
                .map(|call| estimate::tokens_of(&call.name) + estimate::tokens_of(&call.arguments));
            estimate::tokens_of(&self.text) + calls.sum::<u64>() + self.thinking_bytes.div_ceil(3)
        };
        let output = match self.completeness {
            Completeness::MayEnd | Completeness::Complete => tokens.output.unwrap_or_else(estimated),
            // A count in the middle of a stream is that of its beginning.
            Completeness::Incomplete => tokens.output.unwrap_or(0).max(estimated()),
        };
        Usage {
            calls: 1,
            input_tokens: tokens.input.unwrap_or_else(|| estimate::tokens_of_request(request)),
            cache_read_tokens: tokens.cache_read.unwrap_or(0),
            cache_write_tokens: tokens.cache_write.unwrap_or(0),
            output_tokens: output,
            cost: None,
            counted,
        }
    }
}

/// Tool arguments as a value: no text is an empty object, and text that is not JSON stays text.
pub(crate) fn arguments(text: &str) -> Value {
    if text.trim().is_empty() {
        return Value::Object(Map::new());
    }
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_string()))
}

/// A whole number of a document; a negative or fractional one counts as absent.
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
