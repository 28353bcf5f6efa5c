//! The events of `claude -p --output-format stream-json`, and the single one of `json`.
//!
//! Owns which of them say something a person would want to see. Invariant: an event nobody has heard of is passed on
//! as the line it was.

use fixpoint_ports::ToolOutcome;
use serde_json::Value;

use super::ledger::Ledger;
use crate::events::{Line, Told, count_of, list_of, text_of};
use crate::progress::{Outcome, Progress, Session};
use crate::shortening::{summary, words};
use crate::stream::Reader;
use crate::transcript::Transcript;

/// Events that say nothing beyond others: parts of messages before they are whole, signs of life, hints for screens.
const QUIET: [&str; 7] = [
    "stream_event",
    "rate_limit_event",
    "tool_progress",
    "tool_use_summary",
    "auth_status",
    "prompt_suggestion",
    "keep_alive",
];

/// The model named in messages the program makes up itself, such as errors.
const NO_MODEL: &str = "<synthetic>";

/// The most refused calls that are told.
const MOST_REFUSALS: usize = 20;

/// Where a tool's input says what it is about, the most telling first.
const TELLING: [&str; 9] =
    ["command", "file_path", "path", "notebook_path", "pattern", "query", "url", "description", "prompt"];

/// Reads its events.
#[derive(Debug)]
pub(super) struct Events {
    told: Told,
    ledger: Ledger,
    /// The session that is continued.
    before: Option<Session>,
    /// What the last failed request failed for, in the program's words.
    failure: Option<Outcome>,
}

impl Reader for Events {
    fn line(&mut self, line: &[u8]) -> Vec<Progress> {
        match Line::of(line) {
            Line::Blank => {}
            Line::Other(text) => self.told.tell(Progress::Line(text)),
            Line::Event { kind, event } => match kind.as_str() {
                "system" => self.system(&event),
                "assistant" => self.assistant(&event),
                "user" => self.user(&event),
                "result" => self.result(&event),
                quiet if QUIET.contains(&quiet) => {}
                _ => self.told.tell(Progress::Line(words(&String::from_utf8_lossy(line)))),
            },
        }
        self.told.take()
    }

    fn ended(self: Box<Self>) -> Transcript {
        let mut transcript = self.told.transcript;
        if let Some(session) = &mut transcript.session {
            // It tells what this run used, never what the session did.
            let before = self.before.filter(|before| before.id == session.id).map(|before| before.used);
            session.used = before.unwrap_or_default() + transcript.usage.unwrap_or_default();
        }
        transcript
    }
}

impl Events {
    /// For a session begun anew, or one that had used something before.
    pub(super) fn continuing(session: Option<&Session>) -> Self {
        let told = Told::of_events();
        Self { told, ledger: Ledger::default(), before: session.cloned(), failure: None }
    }

    fn system(&mut self, event: &Value) {
        match text_of(event, "subtype") {
            "init" => {
                self.told.session(text_of(event, "session_id"));
                self.told.model(text_of(event, "model"));
            }
            "api_retry" => {
                self.ledger.failed_call();
                let status = count_of(event, "error_status");
                let notice = format!(
                    "request {} failed ({status} {}), trying again",
                    count_of(event, "attempt"),
                    text_of(event, "error")
                );
                self.told.tell(Progress::Notice(summary(&notice)));
                self.told.usage(self.ledger.usage());
            }
            // Notes about its own state: hooks, compaction, counts of thoughts.
            _ => {}
        }
    }

    fn assistant(&mut self, event: &Value) {
        let message = event.get("message").unwrap_or(&Value::Null);
        let is_made_up = text_of(message, "model") == NO_MODEL;
        self.failure = failure(text_of(event, "error")).or(self.failure);
        for block in list_of(message, "content") {
            match text_of(block, "type") {
                "text" if is_made_up => self.told.error(text_of(block, "text")),
                "text" => self.say(Progress::Text, text_of(block, "text")),
                "thinking" => self.say(Progress::Thinking, text_of(block, "thinking")),
                "tool_use" | "server_tool_use" => {
                    let name = summary(text_of(block, "name"));
                    let about = about(block.get("input").unwrap_or(&Value::Null));
                    let id = summary(text_of(block, "id"));
                    self.told.tell(Progress::ToolCall { id, name, summary: about });
                }
                _ => {}
            }
        }
        if let Some(usage) = message.get("usage").filter(|_| !is_made_up) {
            self.ledger.message(text_of(message, "id"), usage);
            self.told.usage(self.ledger.usage());
        }
    }

    fn say(&mut self, how: fn(String) -> Progress, text: &str) {
        let text = words(text);
        if !text.is_empty() {
            self.told.tell(how(text));
        }
    }

    fn user(&mut self, event: &Value) {
        let message = event.get("message").unwrap_or(&Value::Null);
        for block in
            list_of(message, "content").iter().filter(|block| text_of(block, "type") == "tool_result")
        {
            let failed = block.get("is_error").and_then(Value::as_bool).unwrap_or(false);
            self.told.tell(Progress::ToolResult {
                id: summary(text_of(block, "tool_use_id")),
                outcome: if failed { ToolOutcome::Failure } else { ToolOutcome::Success },
                summary: content(block.get("content").unwrap_or(&Value::Null)),
            });
        }
    }

    fn result(&mut self, event: &Value) {
        let errors = list_of(event, "errors");
        let outcome = self.outcome(event);
        if outcome != Outcome::SessionGone {
            self.told.session(text_of(event, "session_id"));
        }
        // The request that made it give up is told nowhere else.
        if event.get("api_error_status").is_some_and(Value::is_u64) {
            self.ledger.failed_call();
        }
        self.ledger.result(event);
        self.told.usage(self.ledger.usage());
        for refusal in list_of(event, "permission_denials").iter().take(MOST_REFUSALS) {
            let about = about(refusal.get("tool_input").unwrap_or(&Value::Null));
            let notice = format!("was not permitted to use {}: {about}", text_of(refusal, "tool_name"));
            self.told.tell(Progress::Notice(summary(&notice)));
        }
        for error in errors.iter().filter_map(Value::as_str) {
            self.told.error(error);
        }
        let mut text = words(text_of(event, "result"));
        if outcome != Outcome::Completed {
            // It is why it gave up, not what the agent said.
            self.told.error(&core::mem::take(&mut text));
        }
        self.told.tell(Progress::Finished { outcome, text });
    }

    fn outcome(&self, event: &Value) -> Outcome {
        let says = |text: &str| {
            list_of(event, "errors").iter().filter_map(Value::as_str).any(|error| error.starts_with(text))
        };
        let failed = event.get("is_error").and_then(Value::as_bool).unwrap_or(false);
        match text_of(event, "subtype") {
            "success" if !failed => Outcome::Completed,
            "error_max_turns" => Outcome::OutOfTurns,
            "error_max_budget_usd" => Outcome::OutOfBudget,
            _ if says("No conversation found") => Outcome::SessionGone,
            _ => self.failure.unwrap_or_else(|| Outcome::of_status(count_of(event, "api_error_status"))),
        }
    }
}

/// What a failed request failed for, by the program's name for it.
fn failure(name: &str) -> Option<Outcome> {
    match name {
        "" => None,
        "rate_limit" | "overloaded" => Some(Outcome::RateLimited),
        "authentication_failed" | "oauth_org_not_allowed" | "billing_error" => Some(Outcome::Account),
        _ => Some(Outcome::Failed),
    }
}

/// What a tool's input is about.
fn about(input: &Value) -> String {
    let telling = TELLING.iter().find_map(|name| input.get(name).and_then(Value::as_str));
    match (telling, input) {
        (Some(text), _) => summary(text),
        (None, Value::Null) => String::new(),
        (None, input) => summary(&input.to_string()),
    }
}

/// What a tool gave back: a text, or a list of texts and pictures.
fn content(content: &Value) -> String {
    match content {
        Value::String(text) => summary(text),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().map(|part| text_of(part, "text")).collect();
            summary(&texts.join(" "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Vec<Progress> {
        let mut events = Events::continuing(None);
        lines.iter().flat_map(|line| events.line(line.as_bytes())).collect()
    }

    #[test]
    fn what_is_not_understood_is_passed_on_and_what_is_quiet_is_not() {
        let unknown = r#"{"type":"news","of":"tomorrow"}"#;
        let cut = r#"{"type":"assistant","mess"#;
        let quiet = r#"{"type":"stream_event","event":{}}"#;
        let lines = ["", unknown, cut, quiet, "warning: x", "[1]", r#"{"type":7}"#, r#"{"type":"system"}"#];
        let expected =
            [unknown, cut, "warning: x", "[1]", r#"{"type":7}"#].map(|line| Progress::Line(line.to_string()));
        assert_eq!(read(&lines), expected);
    }

    #[test]
    fn events_of_another_shape_say_what_they_can() {
        let lines = [
            r#"{"type":"assistant","message":{"content":"words"}}"#,
            r#"{"type":"assistant","message":[]}"#,
            r#"{"type":"assistant","message":{"content":[{"type":"tool_use","name":"T","input":{"z":1}},7]}}"#,
            r#"{"type":"user","message":{"content":[{"type":"tool_result","content":[{"text":"a"},{"text":"b"}]}]}}"#,
        ];
        let call = Progress::ToolCall { id: String::new(), name: "T".into(), summary: r#"{"z":1}"#.into() };
        let outcome = ToolOutcome::Success;
        let result = Progress::ToolResult { id: String::new(), outcome, summary: "a b".into() };
        assert_eq!(read(&lines), [call, result]);
    }

    #[test]
    fn how_a_turn_ended_is_told_by_what_can_be_done() {
        for (event, expected) in [
            (
                r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":529}"#,
                "rate_limited",
            ),
            (r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":403}"#, "account"),
            (r#"{"type":"result","subtype":"success","is_error":true}"#, "failed"),
            (r#"{"type":"result","subtype":"error_during_execution"}"#, "failed"),
            (r#"{"type":"result","subtype":"error_of_tomorrow"}"#, "failed"),
            (r#"{"type":"result","subtype":"success"}"#, "completed"),
        ] {
            let outcome = read(&[event]).into_iter().find_map(|progress| {
                if let Progress::Finished { outcome, .. } = progress { Some(outcome.name()) } else { None }
            });
            assert_eq!(outcome, Some(expected), "{event}");
        }
    }
}
