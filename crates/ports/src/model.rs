//! A language model that answers one request at a time.
//!
//! The caller blocks; whoever asks several questions at once uses several threads. The model retries by itself within
//! the deadline, and counts every request it sends in the usage, so that a bill can be explained.

use std::time::Duration;

use fixpoint_vocabulary::settings::Price;
use fixpoint_vocabulary::usage::Usage;
use serde_json::Value;

use crate::Cancel;

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    User(String),
    /// What the model said before, with the tools it called.
    Assistant {
        text: String,
        calls: Vec<ToolCall>,
    },
    ToolResult {
        /// The id of the call.
        call: String,
        /// The result, or the error message.
        text: String,
        outcome: ToolOutcome,
    },
}

/// Whether a tool call succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolOutcome {
    Success,
    Failure,
}

/// A tool the model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    pub name: String,
    /// What it does, written for the model.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub parameters: Value,
}

/// A tool call the model asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The result is sent back under this id.
    pub id: String,
    pub name: String,
    /// `Value::String` with the raw text where the model did not send JSON.
    pub arguments: Value,
}

/// The format of the answer.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerFormat {
    Text,
    /// A JSON document. An endpoint that cannot enforce a schema gets it as part of the instructions, so whoever reads
    /// the answer must expect code fences and prose around the document.
    Json {
        /// A short name for the document.
        name: String,
        schema: Value,
    },
}

/// One request to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// The system prompt. It is the same for many requests, so providers can cache it.
    pub system: String,
    pub messages: Vec<Message>,
    pub tools: Vec<Tool>,
    pub format: AnswerFormat,
    pub max_output_tokens: u32,
    /// The time for everything, retries and pauses included.
    pub deadline: Duration,
}

/// Why the model stopped writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    Finished,
    ToolCalls,
    /// `max_output_tokens` was reached: the answer is incomplete.
    Length,
    /// The model or a content filter declined to answer.
    Declined,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ModelReply {
    pub text: String,
    pub calls: Vec<ToolCall>,
    pub stop: StopReason,
    /// Includes requests that failed before this answer.
    pub usage: Usage,
    /// The model that answered, as the endpoint names it.
    pub model: String,
}

/// Why there is no answer, by what can be done about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The key is missing, wrong, or may not use the model: set another key, or name another model.
    #[error("{endpoint} rejected the key: {message}")]
    SignIn { endpoint: String, message: String },
    /// The endpoint will never accept this request: name another model, or change the request.
    #[error("{endpoint} rejected the request: {message}")]
    Refused { endpoint: String, message: String },
    /// The prompt and the answer together do not fit into the model's context window.
    #[error(
        "the prompt does not fit into the context window of {model}: {message}; configure a larger window on the server, \
         or lower `models.max_prompt_tokens` and `models.max_output_tokens` so that both together fit"
    )]
    TooLong { model: String, message: String },
    /// The endpoint cannot be reached, or every request failed: try again later.
    #[error("{endpoint} is not available: {message}")]
    Unavailable { endpoint: String, message: String },
    /// The account has no credit left: top it up, or use another one.
    #[error("{endpoint}: the account has no credit left: {message}")]
    NoCredit { endpoint: String, message: String },
    #[error(
        "{endpoint} did not answer within {seconds} s: {message}; raise `models.timeout`, or lower \
         `models.max_prompt_tokens` so that the model has less to read"
    )]
    TimedOut { endpoint: String, seconds: u64, message: String },
    #[error("cancelled")]
    Cancelled,
}

/// A request that got no answer, with what it used: failed requests may cost money too.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct ModelFailure {
    pub error: ModelError,
    pub usage: Usage,
}

pub trait Model: Send + Sync {
    /// `provider/model`. Shown to people; measurements of a judge's noise are stored under it.
    fn name(&self) -> &str;
    /// What it costs, where that is known.
    fn price(&self) -> Option<Price>;
    /// Sends a request and waits for the answer. `on_text` receives the text as it streams in; after a retry it starts
    /// again from the beginning.
    fn ask(
        &self,
        request: &ModelRequest,
        cancel: &Cancel,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<ModelReply, ModelFailure>;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small local model is often used with the settings for a large one: the message must say what to change.
    #[test]
    fn a_prompt_that_does_not_fit_names_the_settings_to_change() {
        let message =
            ModelError::TooLong { model: "small/m".into(), message: "status 400".into() }.to_string();
        for word in ["small/m", "status 400", "models.max_prompt_tokens", "models.max_output_tokens"] {
            assert!(message.contains(word), "{word} is not in: {message}");
        }
    }
}
