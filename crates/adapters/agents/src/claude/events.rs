//! The events of `claude -p --output-format stream-json`, and the single event of `json`.
//!
//! Owns which of them are worth showing. Invariant: an unknown event is passed on as the line it was.

use fixpoint_ports::ToolOutcome;
use serde_json::Value;

use super::usage::UsageTracker;
use crate::json_lines::{Line, ProgressLog, count_of, list_of, text_of};
use crate::progress::{Progress, Session, TurnOutcome};
use crate::sanitize::{clean_text, one_line};
use crate::stream::Reader;
use crate::transcript::Transcript;

/// Events that add nothing to others: parts of messages, keep-alives, hints for screens.
const IGNORED: [&str; 7] = [
    "stream_event",
    "rate_limit_event",
    "tool_progress",
    "tool_use_summary",
    "auth_status",
    "prompt_suggestion",
    "keep_alive",
];

/// The model name in messages that the program writes itself, such as errors.
const SYNTHETIC_MODEL: &str = "<synthetic>";

/// How many denied tool calls are reported.
const MAX_DENIALS: usize = 20;

/// Fields of a tool's input that summarise it, the best first.
const SUMMARY_FIELDS: [&str; 9] =
    ["command", "file_path", "path", "notebook_path", "pattern", "query", "url", "description", "prompt"];

#[derive(Debug)]
pub(super) struct EventReader {
    log: ProgressLog,
    tracker: UsageTracker,
    resumed: Option<Session>,
    /// Why the last request failed.
    failure: Option<TurnOutcome>,
}

impl Reader for EventReader {
    fn line(&mut self, line: &[u8]) -> Vec<Progress> {
        match Line::parse(line) {
            Line::Blank => {}
            Line::Other(text) => self.log.add(Progress::Line(text)),
            Line::Event { kind, event } => match kind.as_str() {
                "system" => self.system(&event),
                "assistant" => self.assistant(&event),
                "user" => self.user(&event),
                "result" => self.result(&event),
                ignored if IGNORED.contains(&ignored) => {}
                _ => self.log.add(Progress::Line(clean_text(&String::from_utf8_lossy(line)))),
            },
        }
        self.log.take()
    }

    fn finish(self: Box<Self>) -> Transcript {
        let mut transcript = self.log.transcript;
        if let Some(session) = &mut transcript.session {
            // The usage is that of this run, not of the whole session.
            let before = self.resumed.filter(|before| before.id == session.id).map(|before| before.used);
            session.used = before.unwrap_or_default() + transcript.usage.unwrap_or_default();
        }
        transcript
    }
}

impl EventReader {
    /// `session` is the session that is resumed.
    pub(super) fn new(session: Option<&Session>) -> Self {
        let log = ProgressLog::for_events();
        Self { log, tracker: UsageTracker::default(), resumed: session.cloned(), failure: None }
    }

    fn system(&mut self, event: &Value) {
        match text_of(event, "subtype") {
            "init" => {
                self.log.session(text_of(event, "session_id"));
                self.log.model(text_of(event, "model"));
            }
            "api_retry" => {
                self.tracker.failed_call();
                let status = count_of(event, "error_status");
                let notice = format!(
                    "request {} failed ({status} {}), retrying",
                    count_of(event, "attempt"),
                    text_of(event, "error")
                );
                self.log.add(Progress::Notice(one_line(&notice)));
                self.log.usage(self.tracker.usage());
            }
            // Internal states: hooks, compaction, thinking counts.
            _ => {}
        }
    }

    fn assistant(&mut self, event: &Value) {
        let message = event.get("message").unwrap_or(&Value::Null);
        let is_synthetic = text_of(message, "model") == SYNTHETIC_MODEL;
        self.failure = failure(text_of(event, "error")).or(self.failure);
        for block in list_of(message, "content") {
            match text_of(block, "type") {
                "text" if is_synthetic => self.log.error(text_of(block, "text")),
                "text" => self.log.text(Progress::Text, text_of(block, "text")),
                "thinking" => self.log.text(Progress::Thinking, text_of(block, "thinking")),
                "tool_use" | "server_tool_use" => {
                    let name = one_line(text_of(block, "name"));
                    let input = summary_of(block.get("input").unwrap_or(&Value::Null));
                    let id = one_line(text_of(block, "id"));
                    self.log.add(Progress::ToolCall { id, name, summary: input });
                }
                _ => {}
            }
        }
        if let Some(usage) = message.get("usage").filter(|_| !is_synthetic) {
            self.tracker.message(text_of(message, "id"), usage);
            self.log.usage(self.tracker.usage());
        }
    }

    fn user(&mut self, event: &Value) {
        let message = event.get("message").unwrap_or(&Value::Null);
        for block in
            list_of(message, "content").iter().filter(|block| text_of(block, "type") == "tool_result")
        {
            let failed = block.get("is_error").and_then(Value::as_bool).unwrap_or(false);
            self.log.add(Progress::ToolResult {
                id: one_line(text_of(block, "tool_use_id")),
                outcome: if failed { ToolOutcome::Failure } else { ToolOutcome::Success },
                summary: tool_output(block.get("content").unwrap_or(&Value::Null)),
            });
        }
    }

    fn result(&mut self, event: &Value) {
        let errors = list_of(event, "errors");
        let outcome = self.outcome(event);
        if outcome != TurnOutcome::SessionGone {
            self.log.session(text_of(event, "session_id"));
        }
        // The request that made it give up is reported only here.
        if event.get("api_error_status").is_some_and(Value::is_u64) {
            self.tracker.failed_call();
        }
        self.tracker.result(event);
        self.log.usage(self.tracker.usage());
        for denial in list_of(event, "permission_denials").iter().take(MAX_DENIALS) {
            let input = summary_of(denial.get("tool_input").unwrap_or(&Value::Null));
            let notice = format!("permission denied for {}: {input}", text_of(denial, "tool_name"));
            self.log.add(Progress::Notice(one_line(&notice)));
        }
        for error in errors.iter().filter_map(Value::as_str) {
            self.log.error(error);
        }
        let mut text = clean_text(text_of(event, "result"));
        if outcome != TurnOutcome::Completed {
            // This is the reason why it gave up, not a message of the agent.
            self.log.error(&core::mem::take(&mut text));
        }
        self.log.add(Progress::Finished { outcome, text });
    }

    fn outcome(&self, event: &Value) -> TurnOutcome {
        let has_error = |text: &str| {
            list_of(event, "errors").iter().filter_map(Value::as_str).any(|error| error.starts_with(text))
        };
        let failed = event.get("is_error").and_then(Value::as_bool).unwrap_or(false);
        match text_of(event, "subtype") {
            "success" if !failed => TurnOutcome::Completed,
            "error_max_turns" => TurnOutcome::OutOfTurns,
            "error_max_budget_usd" => TurnOutcome::OutOfBudget,
            _ if has_error("No conversation found") => TurnOutcome::SessionGone,
            _ => self.failure.unwrap_or_else(|| TurnOutcome::of_status(count_of(event, "api_error_status"))),
        }
    }
}

fn failure(name: &str) -> Option<TurnOutcome> {
    match name {
        "" => None,
        "rate_limit" | "overloaded" => Some(TurnOutcome::RateLimited),
        "authentication_failed" | "oauth_org_not_allowed" | "billing_error" => Some(TurnOutcome::Account),
        _ => Some(TurnOutcome::Failed),
    }
}

fn summary_of(input: &Value) -> String {
    let field = SUMMARY_FIELDS.iter().find_map(|name| input.get(name).and_then(Value::as_str));
    match (field, input) {
        (Some(text), _) => one_line(text),
        (None, Value::Null) => String::new(),
        (None, input) => one_line(&input.to_string()),
    }
}

/// The output of a tool: a text, or a list of texts and images.
fn tool_output(content: &Value) -> String {
    match content {
        Value::String(text) => one_line(text),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().map(|part| text_of(part, "text")).collect();
            one_line(&texts.join(" "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Vec<Progress> {
        let mut events = EventReader::new(None);
        lines.iter().flat_map(|line| events.line(line.as_bytes())).collect()
    }

    #[test]
    fn unknown_lines_are_passed_on_and_ignored_events_are_not() {
        let unknown = r#"{"type":"news","of":"tomorrow"}"#;
        let cut = r#"{"type":"assistant","mess"#;
        let ignored = r#"{"type":"stream_event","event":{}}"#;
        let lines = ["", unknown, cut, ignored, "warning: x", "[1]", r#"{"type":7}"#, r#"{"type":"system"}"#];
        let expected =
            [unknown, cut, "warning: x", "[1]", r#"{"type":7}"#].map(|line| Progress::Line(line.to_string()));
        assert_eq!(read(&lines), expected);
    }

    #[test]
    fn events_of_another_form_are_read_as_far_as_possible() {
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
    fn turn_outcomes_are_recognised() {
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
