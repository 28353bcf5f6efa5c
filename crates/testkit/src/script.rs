//! The script: which request is answered with what.
//!
//! Owns the format and its checking. Refuses what cannot be meant: unknown fields, a rule without replies, a reply of
//! two kinds, two rules of one name. Invariant: a script that was read has a reply for every rule.
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
    /// The first that matches and is not used up answers.
    pub rules: Vec<Rule>,
    /// The pause before every answer that does not name its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
}

/// One rule: what it matches, and the replies it plays one after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The name under which it is counted and logged.
    pub name: String,
    /// The name of the JSON schema asked for; absent for any request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// Texts that must all occur, each somewhere in the system or message texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "read::one_or_many")]
    pub contains: Vec<String>,
    /// Texts that must all occur in the last message of the user or of a tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "read::one_or_many")]
    pub last_contains: Vec<String>,
    /// How many tool results the conversation must hold: 0 is the first turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<usize>,
    /// What is said, the first time, the second time, and so on.
    pub replies: Vec<Reply>,
    /// What happens when all were played.
    #[serde(default)]
    pub after: After,
}

/// What a rule does when all its replies were played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum After {
    /// The last reply again.
    #[default]
    Repeat,
    /// It matches no more; later rules may.
    Fail,
}

/// One reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "read::RawReply", into = "read::RawReply")]
pub struct Reply {
    /// What is said.
    pub say: Say,
    /// What it is said to have used.
    pub usage: Usage,
    /// The pause before it, instead of the script's.
    pub delay_ms: Option<u64>,
}

/// The kinds of replies.
#[derive(Debug, Clone, PartialEq)]
pub enum Say {
    /// A JSON document: as text, or as the arguments of the tool that the request forces.
    Json(Value),
    /// Words.
    Text(String),
    /// Calls of tools, with words before them or without.
    ToolCalls {
        /// The calls.
        calls: Vec<ToolCall>,
        /// The words.
        text: Option<String>,
    },
    /// A command line, as a call of whichever tool the request offers for that.
    Shell {
        /// The command line.
        command: String,
        /// Words before the call.
        text: Option<String>,
    },
    /// Something goes wrong.
    Fault(Fault),
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// Its id; absent for one that no other call has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub arguments: Value,
}

/// What goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// An answer of this status.
    Status {
        /// The status.
        status: u16,
        /// Seconds for the header of that name.
        retry_after: Option<u64>,
        /// The body; absent for an error in the form of the protocol.
        body: Option<String>,
    },
    /// An answer of status 200 that holds no JSON.
    Garbage,
    /// An answer that is cut off in the middle.
    HalfStream,
    /// No answer until the client goes.
    Hang,
    /// The connection is closed without an answer.
    Close,
}

/// Tokens, as the answer tells them. The kinds do not overlap: what came out of a cache is not input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Usage {
    /// Tokens read that were in no cache.
    pub input_tokens: u64,
    /// Tokens written by the model.
    pub output_tokens: u64,
    /// Tokens read out of a cache.
    pub cache_read_tokens: u64,
    /// Tokens put into a cache. Of the OpenAI protocols none has a place for them: they are told as input there.
    pub cache_write_tokens: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Self { input_tokens: 10, output_tokens: 5, cache_read_tokens: 0, cache_write_tokens: 0 }
    }
}

impl Usage {
    /// Everything read, cached or not.
    pub(crate) fn all_input(self) -> u64 {
        self.input_tokens.saturating_add(self.cache_read_tokens).saturating_add(self.cache_write_tokens)
    }
}

/// Why a script cannot be played: mend it.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("the script cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// It is no script.
    #[error("the script is not in order: {0}")]
    Malformed(#[from] serde_json::Error),
    /// A rule has nothing to say.
    #[error("rule {0} has no replies")]
    Silent(String),
    /// Two rules have one name, so that their counts would be mixed.
    #[error("two rules are called {0}")]
    SameName(String),
}

impl Script {
    /// Reads and checks a script.
    pub fn read(path: &Path) -> Result<Self, ScriptError> {
        let script: Self = serde_json::from_slice(&fs::read(path)?)?;
        script.check()?;
        Ok(script)
    }

    /// Says what is wrong with a script, however it was made.
    pub fn check(&self) -> Result<(), ScriptError> {
        for (index, rule) in self.rules.iter().enumerate() {
            if rule.replies.is_empty() {
                return Err(ScriptError::Silent(rule.name.clone()));
            }
            if self.rules.iter().take(index).any(|earlier| earlier.name == rule.name) {
                return Err(ScriptError::SameName(rule.name.clone()));
            }
        }
        Ok(())
    }
}
