//! Building scripts in Rust.
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

use super::{AfterLast, Fault, Reply, ReplyKind, Rule, Script, ToolCall, Usage};

impl Script {
    pub fn new() -> Self {
        Self::default()
    }

    #[must_use]
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    #[must_use]
    pub fn delay_ms(mut self, delay: u64) -> Self {
        self.delay_ms = Some(delay);
        self
    }
}

impl Rule {
    /// A rule that matches every request, without replies.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            form: None,
            contains: Vec::new(),
            last_contains: Vec::new(),
            turn: None,
            replies: Vec::new(),
            after: AfterLast::Repeat,
        }
    }

    #[must_use]
    pub fn form(mut self, name: impl Into<String>) -> Self {
        self.form = Some(name.into());
        self
    }

    /// Matches only requests with this text; may be repeated.
    #[must_use]
    pub fn contains(mut self, text: impl Into<String>) -> Self {
        self.contains.push(text.into());
        self
    }

    /// Matches only requests whose last message has this text; may be repeated.
    #[must_use]
    pub fn last_contains(mut self, text: impl Into<String>) -> Self {
        self.last_contains.push(text.into());
        self
    }

    #[must_use]
    pub fn turn(mut self, tool_results: usize) -> Self {
        self.turn = Some(tool_results);
        self
    }

    #[must_use]
    pub fn reply(mut self, reply: Reply) -> Self {
        self.replies.push(reply);
        self
    }

    /// Leaves requests to later rules after the last reply.
    #[must_use]
    pub fn then_fail(mut self) -> Self {
        self.after = AfterLast::Fail;
        self
    }
}

impl Reply {
    fn new(kind: ReplyKind) -> Self {
        Self { kind, usage: Usage::default(), delay_ms: None }
    }

    pub fn json(document: Value) -> Self {
        Self::new(ReplyKind::Json(document))
    }

    pub fn text(text: impl Into<String>) -> Self {
        Self::new(ReplyKind::Text(text.into()))
    }

    /// A tool call with a unique id.
    pub fn tool_call(name: impl Into<String>, arguments: Value) -> Self {
        Self::tool_calls(vec![ToolCall { id: None, name: name.into(), arguments }])
    }

    pub fn tool_calls(calls: Vec<ToolCall>) -> Self {
        Self::new(ReplyKind::ToolCalls { calls, text: None })
    }

    /// A command line for the agent that sends the request.
    pub fn shell(command: impl Into<String>) -> Self {
        Self::new(ReplyKind::Shell { command: command.into(), text: None })
    }

    pub fn fault(fault: Fault) -> Self {
        Self::new(ReplyKind::Fault(fault))
    }

    /// An error with this status, in the form of the protocol.
    pub fn status(status: u16) -> Self {
        Self::fault(Fault::Status { status, retry_after: None, body: None })
    }

    /// Adds a text before tool calls; other replies do not change.
    #[must_use]
    pub fn with_text(mut self, before: impl Into<String>) -> Self {
        match &mut self.kind {
            ReplyKind::ToolCalls { text, .. } | ReplyKind::Shell { text, .. } => *text = Some(before.into()),
            ReplyKind::Json(_) | ReplyKind::Text(_) | ReplyKind::Fault(_) => {}
        }
        self
    }

    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    #[must_use]
    pub fn delay_ms(mut self, delay: u64) -> Self {
        self.delay_ms = Some(delay);
        self
    }
}
