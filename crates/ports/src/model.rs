//! A language model that answers one question at a time.
//!
//! The caller blocks; whoever asks several questions at once uses several threads. Retrying what can be retried
//! within the deadline is the model's own affair, and every request it makes is counted in the usage, so that a
//! bill can be explained.

use std::time::Duration;

use fixpoint_vocabulary::settings::Price;
use fixpoint_vocabulary::usage::Usage;
use serde_json::Value;

use crate::Cancel;

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// What we say.
    User(String),
    /// What the model said before, with the tools it called.
    Assistant {
        /// Its words.
        text: String,
        /// Its calls.
        calls: Vec<ToolCall>,
    },
    /// What a tool it called came to.
    ToolResult {
        /// The id of the call.
        call: String,
        /// The result, or the error.
        text: String,
        /// Whether the call succeeded.
        outcome: ToolOutcome,
    },
}

/// Whether a tool did what it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolOutcome {
    /// It did.
    Success,
    /// It did not; the text says why.
    Failure,
}

/// A tool the model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub parameters: Value,
}

/// A call of a tool that the model asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The id by which the result is given back.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments; `Value::String` with the raw text where it was no JSON.
    pub arguments: Value,
}

/// The form the answer shall have.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerForm {
    /// Words.
    Text,
    /// A JSON document. Endpoints that cannot be held to a schema are asked for it in words, so whoever reads the
    /// answer must be ready for fences and prose around it.
    Json {
        /// A short name for the document.
        name: String,
        /// Its JSON Schema.
        schema: Value,
    },
}

/// One question.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// Instructions, the same for many questions: worth caching.
    pub system: String,
    /// The conversation.
    pub messages: Vec<Message>,
    /// The tools that may be called.
    pub tools: Vec<Tool>,
    /// The form of the answer.
    pub form: AnswerForm,
    /// Tokens of the answer, at most.
    pub max_output_tokens: u32,
    /// The time for everything, repetitions and pauses included.
    pub deadline: Duration,
}

/// Why the model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// It was finished.
    Finished,
    /// It wants tools to be called.
    ToolCalls,
    /// The limit of tokens cut it short.
    Length,
    /// It, or a filter, declined.
    Declined,
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelReply {
    /// Its words.
    pub text: String,
    /// The tools it wants to be called.
    pub calls: Vec<ToolCall>,
    /// Why it stopped.
    pub stop: StopReason,
    /// What was used, failed requests included.
    pub usage: Usage,
    /// The model that answered, as the endpoint names it.
    pub model: String,
}

/// Why there is no answer, by what can be done about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The key is missing, wrong or may not use the model: sign in, or name another.
    #[error("{endpoint} refuses the key: {message}")]
    SignIn {
        /// Who refused.
        endpoint: String,
        /// What it said, without the key.
        message: String,
    },
    /// The request is not acceptable: another model, or another prompt.
    #[error("{endpoint} refuses the request: {message}")]
    Refused {
        /// Who refused.
        endpoint: String,
        /// What it said.
        message: String,
    },
    /// The prompt, or the prompt with the answer it leaves room for, does not fit into the model.
    #[error(
        "the prompt is too long for {model}: {message}; give the model a larger window where it is served, or set \
         `models.max_prompt_tokens` and `models.max_output_tokens` so that both together fit into it"
    )]
    TooLong {
        /// The model.
        model: String,
        /// What was said.
        message: String,
    },
    /// It cannot be reached, or fails again and again: try later.
    #[error("{endpoint} is not available: {message}")]
    Unavailable {
        /// Who.
        endpoint: String,
        /// The last failure, and how many came before it.
        message: String,
    },
    /// The account has no credit left: top it up, or use another.
    #[error("{endpoint}: no credit left: {message}")]
    NoCredit {
        /// Who.
        endpoint: String,
        /// What it said.
        message: String,
    },
    /// The deadline passed.
    #[error(
        "{endpoint} did not answer within {seconds} s: {message}; `models.timeout` gives it longer, and a smaller \
         `models.max_prompt_tokens` less to read"
    )]
    TimedOut {
        /// Who.
        endpoint: String,
        /// The deadline.
        seconds: u64,
        /// What had happened until then.
        message: String,
    },
    /// A stop was asked for.
    #[error("a stop was asked for")]
    Cancelled,
}

/// A question that was not answered, and what it used all the same.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct Unanswered {
    /// Why.
    pub error: ModelError,
    /// What was used.
    pub usage: Usage,
}

/// A language model.
pub trait Model: Send + Sync {
    /// Which model this is, for people and as the name its scatter is remembered by: `provider/model`.
    fn name(&self) -> &str;
    /// What it costs, where that is known.
    fn price(&self) -> Option<Price>;
    /// Asks and waits for the answer. `heard` sees the words as they come, where the endpoint streams.
    fn ask(
        &self,
        request: &ModelRequest,
        cancel: &Cancel,
        heard: &mut dyn FnMut(&str),
    ) -> Result<ModelReply, Unanswered>;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small local model is met with the settings of a large one: whoever reads it must know what to change.
    #[test]
    fn what_does_not_fit_says_what_to_set() {
        let said = ModelError::TooLong { model: "small/m".into(), message: "status 400".into() }.to_string();
        for word in ["small/m", "status 400", "models.max_prompt_tokens", "models.max_output_tokens"] {
            assert!(said.contains(word), "{word} is not in: {said}");
        }
    }
}
