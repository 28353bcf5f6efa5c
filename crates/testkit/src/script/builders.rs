//! Scripts written in Rust.
//!
//! ```
//! use fixpoint_testkit::{Reply, Rule, Script};
//! use serde_json::json;
//!
//! let script = Script::new()
//!     .rule(Rule::new("judge").form("judgement").reply(Reply::json(json!({"score": 0.9}))))
//!     .rule(Rule::new("busy").reply(Reply::status(429)).reply(Reply::text("done")));
//! assert!(script.check().is_ok());
//! ```

use serde_json::Value;

use super::{After, Fault, Reply, Rule, Say, Script, ToolCall, Usage};

impl Script {
    /// A script without rules.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with one more rule, tried after the others.
    #[must_use]
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// The same with a pause before every answer.
    #[must_use]
    pub fn delay_ms(mut self, delay: u64) -> Self {
        self.delay_ms = Some(delay);
        self
    }
}

impl Rule {
    /// A rule that matches every request and has no reply yet.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            form: None,
            contains: Vec::new(),
            last_contains: Vec::new(),
            turn: None,
            replies: Vec::new(),
            after: After::Repeat,
        }
    }

    /// Only for requests of a document of this form.
    #[must_use]
    pub fn form(mut self, name: impl Into<String>) -> Self {
        self.form = Some(name.into());
        self
    }

    /// Only for requests that hold this text, and the others named so.
    #[must_use]
    pub fn contains(mut self, text: impl Into<String>) -> Self {
        self.contains.push(text.into());
        self
    }

    /// Only for requests whose last message holds this text, and the others named so.
    #[must_use]
    pub fn last_contains(mut self, text: impl Into<String>) -> Self {
        self.last_contains.push(text.into());
        self
    }

    /// Only for conversations with so many tool results.
    #[must_use]
    pub fn turn(mut self, tool_results: usize) -> Self {
        self.turn = Some(tool_results);
        self
    }

    /// One more reply, after the others.
    #[must_use]
    pub fn reply(mut self, reply: Reply) -> Self {
        self.replies.push(reply);
        self
    }

    /// Leaves the request to later rules when all replies were played.
    #[must_use]
    pub fn then_fail(mut self) -> Self {
        self.after = After::Fail;
        self
    }
}

impl Reply {
    fn new(say: Say) -> Self {
        Self { say, usage: Usage::default(), delay_ms: None }
    }

    /// A document.
    pub fn json(document: Value) -> Self {
        Self::new(Say::Json(document))
    }

    /// Words.
    pub fn text(words: impl Into<String>) -> Self {
        Self::new(Say::Text(words.into()))
    }

    /// A call of a tool, under an id that no other call has.
    pub fn tool_call(name: impl Into<String>, arguments: Value) -> Self {
        Self::tool_calls(vec![ToolCall { id: None, name: name.into(), arguments }])
    }

    /// Calls of tools.
    pub fn tool_calls(calls: Vec<ToolCall>) -> Self {
        Self::new(Say::ToolCalls { calls, text: None })
    }

    /// A command line for the agent that asks.
    pub fn shell(command: impl Into<String>) -> Self {
        Self::new(Say::Shell { command: command.into(), text: None })
    }

    /// Something goes wrong.
    pub fn fault(fault: Fault) -> Self {
        Self::new(Say::Fault(fault))
    }

    /// An error of this status, in the form of the protocol.
    pub fn status(status: u16) -> Self {
        Self::fault(Fault::Status { status, retry_after: None, body: None })
    }

    /// The same, with words before the calls of tools; of other replies nothing changes.
    #[must_use]
    pub fn saying(mut self, words: impl Into<String>) -> Self {
        match &mut self.say {
            Say::ToolCalls { text, .. } | Say::Shell { text, .. } => *text = Some(words.into()),
            Say::Json(_) | Say::Text(_) | Say::Fault(_) => {}
        }
        self
    }

    /// The same, said to have used this.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// The same after a pause.
    #[must_use]
    pub fn delay_ms(mut self, delay: u64) -> Self {
        self.delay_ms = Some(delay);
        self
    }
}
