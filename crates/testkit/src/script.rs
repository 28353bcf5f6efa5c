//! The script: which request gets which reply.
//!
//! Owns the format and its validation. Rejects unknown fields, a rule without replies, a reply of two kinds, and two rules
//! with one name. Invariant: every rule of a script that was read has a reply.
//!
//! ```
//! let script: fixpoint_testkit::Script = serde_json::from_str(r#"{"rules": [
//!     {"name": "judge", "form": "plan_judgement", "contains": ["plan 3"], "after": "fail", "replies": [
//!         {"fault": {"status": 429, "retry_after": 1}},
//!         {"json": {"score": 0.8}, "usage": {"input_tokens": 900, "output_tokens": 20}}]},
//!     {"name": "work", "turn": 0, "replies": [{"shell": "make fix", "text": "I begin."}]},
//!     {"name": "denied", "last_contains": "denied", "replies": [{"text": "I give up."}]},
//!     {"name": "end", "replies": [{"text": "All is done.", "delay_ms": 5}]}]}"#)?;
//! assert!(script.check().is_ok());
//! # Ok::<(), serde_json::Error>(())
//! ```

mod builders;
mod read;

use std::path::Path;
use std::{fs, io};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Rules in the order in which they are tried.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The first that matches and has a reply left answers.
    pub rules: Vec<Rule>,
    /// The pause before every reply without its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
}

/// What requests a rule matches, and its replies in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The name under which it is counted and logged.
    pub name: String,
    /// The name of the requested JSON document; without it any request matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// Texts that must all occur in the system prompt or the messages.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "read::one_or_many")]
    pub contains: Vec<String>,
    /// Texts that must all occur in the last message of the user or a tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "read::one_or_many")]
    pub last_contains: Vec<String>,
    /// The number of tool results in the conversation: 0 is the first turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<usize>,
    pub replies: Vec<Reply>,
    #[serde(default)]
    pub after: AfterLast,
}

/// What a rule does after its last reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterLast {
    #[default]
    Repeat,
    /// No longer matches; later rules are tried.
    Fail,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "read::RawReply", into = "read::RawReply")]
pub struct Reply {
    pub kind: ReplyKind,
    pub usage: Usage,
    /// Overrides the script's pause.
    pub delay_ms: Option<u64>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ReplyKind {
    /// A JSON document: as text, or as the arguments of a forced tool.
    Json(Value),
    Text(String),
    /// Tool calls, with or without a text before them.
    ToolCalls {
        calls: Vec<ToolCall>,
        text: Option<String>,
    },
    /// A command line, as a call of the request's shell tool, with or without a text before it.
    Shell {
        command: String,
        text: Option<String>,
    },
    Fault(Fault),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// A unique id is made where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    pub name: String,
    pub arguments: Value,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    Status {
        status: u16,
        /// In seconds.
        retry_after: Option<u64>,
        /// Without it, an error document of the protocol.
        body: Option<String>,
    },
    /// Status 200 with a body that is not JSON.
    Garbage,
    /// The answer is cut off in the middle.
    HalfStream,
    /// No answer until the client closes the connection.
    Hang,
    /// The connection is closed without an answer.
    Close,
}

/// Token counts. The kinds do not overlap: `input_tokens` does not include cached tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_read_tokens: u64,
    /// The OpenAI protocols have no field for them; they are reported as input there.
    pub cache_write_tokens: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Self { input_tokens: 10, output_tokens: 5, cache_read_tokens: 0, cache_write_tokens: 0 }
    }
}

impl Usage {
    pub(crate) fn all_input(self) -> u64 {
        self.input_tokens.saturating_add(self.cache_read_tokens).saturating_add(self.cache_write_tokens)
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    #[error("the script cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    #[error("the script is malformed: {0}")]
    Malformed(#[from] serde_json::Error),
    #[error("rule {0} has no replies")]
    NoReplies(String),
    /// Their counts would be mixed.
    #[error("two rules have the name {0}")]
    DuplicateName(String),
}

impl Script {
    pub fn read(path: &Path) -> Result<Self, ScriptError> {
        let script: Self = serde_json::from_slice(&fs::read(path)?)?;
        script.check()?;
        Ok(script)
    }

    pub fn check(&self) -> Result<(), ScriptError> {
        for (index, rule) in self.rules.iter().enumerate() {
            if rule.replies.is_empty() {
                return Err(ScriptError::NoReplies(rule.name.clone()));
            }
            if self.rules.iter().take(index).any(|earlier| earlier.name == rule.name) {
                return Err(ScriptError::DuplicateName(rule.name.clone()));
            }
        }
        Ok(())
    }
}
