//! The events of `codex exec --json`.
//!
//! Owns which of them are worth showing. Invariant: an unknown event is passed on as the line it was; an unknown item is
//! shown as a tool call.

use std::collections::VecDeque;

use fixpoint_ports::ToolOutcome;
use fixpoint_vocabulary::usage::Usage;
use serde_json::Value;

use crate::json_lines::{Line, ProgressLog, count_of, list_of, max_of_each, text_of};
use crate::progress::{Progress, Session, TurnOutcome};
use crate::sanitize::{clean_text, one_line};
use crate::stream::Reader;
use crate::transcript::Transcript;

/// The most tool calls that run at the same time.
const MAX_OPEN_CALLS: usize = 256;

#[derive(Debug)]
pub(super) struct EventReader {
    log: ProgressLog,
    resumed: Option<Session>,
    total: Option<Usage>,
    calls: u64,
    open: VecDeque<String>,
}

impl EventReader {
    /// `session` is the session that is resumed.
    pub(super) fn new(session: Option<&Session>) -> Self {
        let log = ProgressLog::for_events();
        Self { log, resumed: session.cloned(), total: None, calls: 0, open: VecDeque::new() }
    }
}

impl Reader for EventReader {
    fn line(&mut self, line: &[u8]) -> Vec<Progress> {
        match Line::parse(line) {
            Line::Blank => {}
            Line::Other(text) => self.other(text),
            Line::Event { kind, event } => match kind.as_str() {
                "thread.started" => self.log.session(text_of(&event, "thread_id")),
                "turn.started" => {}
                "item.started" | "item.updated" | "item.completed" => self.item(&kind, &event),
                "turn.completed" => self.completed(&event),
                "turn.failed" => {
                    self.calls = self.calls.saturating_add(1);
                    self.failed(text_of(event.get("error").unwrap_or(&Value::Null), "message"));
                }
                "error" => self.error(text_of(&event, "message")),
                _ => self.log.add(Progress::Line(clean_text(&String::from_utf8_lossy(line)))),
            },
        }
        self.log.take()
    }

    fn finish(self: Box<Self>) -> Transcript {
        let mut transcript = self.log.transcript;
        if let Some(session) = &mut transcript.session {
            let before = self.resumed.filter(|before| before.id == session.id).map(|before| before.used);
            session.used = self.total.or(before).unwrap_or_default();
        }
        transcript
    }
}

impl EventReader {
    /// An error before the first event is printed as text.
    fn other(&mut self, text: String) {
        match text.strip_prefix("Error: ") {
            Some(error) => self.failed(error),
            None => self.log.add(Progress::Line(text)),
        }
    }

    fn failed(&mut self, error: &str) {
        self.log.error(error);
        self.log.add(Progress::Finished { outcome: failure(error), text: String::new() });
    }

    fn error(&mut self, message: &str) {
        if message.starts_with("Reconnecting") {
            self.calls = self.calls.saturating_add(1);
            self.log.add(Progress::Notice(one_line(message)));
        } else {
            self.log.error(message);
        }
    }

    fn item(&mut self, event: &str, whole: &Value) {
        let item = whole.get("item").unwrap_or(&Value::Null);
        let is_completed = event == "item.completed";
        match text_of(item, "type") {
            "agent_message" if is_completed => self.log.text(Progress::Text, text_of(item, "text")),
            "reasoning" if is_completed => self.log.text(Progress::Thinking, text_of(item, "text")),
            "agent_message" | "reasoning" => {}
            // It continues after these; an error that ends the turn is an event of its own.
            "error" => self.log.text(Progress::Notice, text_of(item, "message")),
            "todo_list" => {
                let steps = list_of(item, "items");
                let is_done = |step: &&Value| step.get("completed").and_then(Value::as_bool).unwrap_or(false);
                let done = steps.iter().filter(is_done).count();
                let next = steps.iter().find(|step| !is_done(step)).map(|step| text_of(step, "text"));
                let next = next.map(|next| format!(", next: {next}")).unwrap_or_default();
                let notice = format!("{done} of {} steps done{next}", steps.len());
                self.log.add(Progress::Notice(one_line(&notice)));
            }
            kind => self.tool(kind, item, is_completed.then(|| outcome(item))),
        }
    }

    /// A call is reported when it first appears, its result when there is one.
    fn tool(&mut self, kind: &str, item: &Value, result: Option<ToolOutcome>) {
        let id = one_line(text_of(item, "id"));
        if !self.open.contains(&id) {
            let (name, input) = name_and_input(kind, item);
            self.log.add(Progress::ToolCall { id: id.clone(), name, summary: input });
            self.open.push_back(id.clone());
            if self.open.len() > MAX_OPEN_CALLS {
                self.open.pop_front();
            }
        }
        if let Some(outcome) = result {
            self.open.retain(|open| *open != id);
            self.log.add(Progress::ToolResult { id, outcome, summary: output_of(item) });
        }
    }

    fn completed(&mut self, event: &Value) {
        self.calls = self.calls.saturating_add(1);
        if let Some(reported) = event.get("usage") {
            // The numbers are totals of the whole session, of which this run is the last part.
            let total = max_of_each(session_total(reported), self.total.unwrap_or_default());
            self.total = Some(total);
            let id = self.log.transcript.session.as_ref().map(|session| session.id.as_str());
            let before = self.resumed.as_ref().filter(|before| Some(before.id.as_str()) == id);
            let before = before.map(|before| before.used).unwrap_or_default();
            self.log.usage(Usage { calls: self.calls, ..difference(total, before) });
        }
        let text = self.log.transcript.last_message.clone().unwrap_or_default();
        self.log.add(Progress::Finished { outcome: TurnOutcome::Completed, text });
    }
}

/// The reported total of a session. `input_tokens` includes cache reads and writes.
fn session_total(reported: &Value) -> Usage {
    let input = count_of(reported, "input_tokens");
    let cached = count_of(reported, "cached_input_tokens").min(input);
    let written = count_of(reported, "cache_write_input_tokens").min(input.saturating_sub(cached));
    Usage {
        input_tokens: input.saturating_sub(cached).saturating_sub(written),
        cache_read_tokens: cached,
        cache_write_tokens: written,
        output_tokens: count_of(reported, "output_tokens"),
        ..Usage::default()
    }
}

fn difference(total: Usage, before: Usage) -> Usage {
    Usage {
        input_tokens: total.input_tokens.saturating_sub(before.input_tokens),
        cache_read_tokens: total.cache_read_tokens.saturating_sub(before.cache_read_tokens),
        cache_write_tokens: total.cache_write_tokens.saturating_sub(before.cache_write_tokens),
        output_tokens: total.output_tokens.saturating_sub(before.output_tokens),
        ..Usage::default()
    }
}

/// Why a turn failed, by the words of its message.
fn failure(message: &str) -> TurnOutcome {
    let mentions = |words: &[&str]| words.iter().any(|word| message.contains(word));
    if mentions(&["no rollout found", "no session found", "thread not found"]) {
        TurnOutcome::SessionGone
    } else if mentions(&["429 Too Many", "ate limit", "503 Service", "overloaded", "at capacity"]) {
        TurnOutcome::RateLimited
    } else if mentions(&[
        "401 Unauth",
        "402 Payment",
        "403 Forbidden",
        "ot logged in",
        "usage limit",
        "quota",
    ]) {
        TurnOutcome::Account
    } else {
        TurnOutcome::Failed
    }
}

fn outcome(item: &Value) -> ToolOutcome {
    let exit_code = item.get("exit_code").and_then(Value::as_i64).unwrap_or(0);
    let has_error = item.get("error").is_some_and(|error| !error.is_null());
    let is_bad = matches!(text_of(item, "status"), "failed" | "declined" | "errored" | "interrupted");
    if exit_code != 0 || has_error || is_bad { ToolOutcome::Failure } else { ToolOutcome::Success }
}

/// The tool's name, and a summary of its input.
fn name_and_input(kind: &str, item: &Value) -> (String, String) {
    match kind {
        "command_execution" => ("shell".to_string(), one_line(text_of(item, "command"))),
        "file_change" => ("edit".to_string(), changes(item)),
        "mcp_tool_call" => {
            let name = format!("{}/{}", text_of(item, "server"), text_of(item, "tool"));
            let arguments = item.get("arguments").filter(|arguments| !arguments.is_null());
            (one_line(&name), arguments.map(|arguments| one_line(&arguments.to_string())).unwrap_or_default())
        }
        "web_search" => ("web_search".to_string(), one_line(text_of(item, "query"))),
        kind => (one_line(kind), String::new()),
    }
}

fn changes(item: &Value) -> String {
    let change = |change: &Value| format!("{} {}", text_of(change, "kind"), text_of(change, "path"));
    one_line(&list_of(item, "changes").iter().take(10).map(change).collect::<Vec<_>>().join(", "))
}

/// The error, or the exit code and the output of the command.
fn output_of(item: &Value) -> String {
    let error = item.get("error").unwrap_or(&Value::Null);
    let message = error.as_str().unwrap_or_else(|| text_of(error, "message"));
    let output = text_of(item, "aggregated_output");
    match item.get("exit_code").and_then(Value::as_i64) {
        _ if !message.is_empty() => one_line(message),
        Some(code) if code != 0 => one_line(&format!("exit code {code} {output}")),
        _ => one_line(output),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(session: Option<&Session>, lines: &[&str]) -> (Vec<Progress>, Transcript) {
        let mut events = Box::new(EventReader::new(session));
        let progress = lines.iter().flat_map(|line| events.line(line.as_bytes())).collect();
        (progress, events.finish())
    }

    const STARTED: &str = r#"{"type":"thread.started","thread_id":"t"}"#;

    /// Catches counting earlier usage again each time a session is resumed.
    #[test]
    fn a_resumed_session_counts_only_its_own_usage() {
        let of = |input: u64, cached: u64, output: u64| {
            let usage = format!(
                r#"{{"input_tokens":{input},"cached_input_tokens":{cached},"output_tokens":{output}}}"#
            );
            format!(r#"{{"type":"turn.completed","usage":{usage}}}"#)
        };
        let first = read(None, &[STARTED, &of(220, 200, 10)]).1;
        let session = first.session.unwrap();
        let second = read(Some(&session), &[STARTED, &of(330, 290, 15), &of(400, 350, 20)]).1;
        let expected = Usage {
            calls: 2,
            input_tokens: 30,
            cache_read_tokens: 150,
            output_tokens: 10,
            ..Usage::default()
        };
        assert_eq!(second.usage, Some(expected));
        let both = first.usage.unwrap() + expected;
        assert_eq!(second.session.unwrap().used.tokens(), both.tokens());
        // A session other than the one to resume has no earlier usage.
        let other = r#"{"type":"thread.started","thread_id":"u"}"#;
        let new = read(Some(&session), &[other, &of(110, 100, 5)]).1;
        assert_eq!(new.usage.map(|usage| usage.tokens()), Some(115));
    }

    #[test]
    fn an_interrupted_session_keeps_its_earlier_usage() {
        let used = Usage { input_tokens: 5, ..Usage::default() };
        let session = Session { id: "t".to_string(), used };
        let transcript = read(Some(&session), &[STARTED, r#"{"type":"turn.started"}"#]).1;
        assert_eq!((transcript.session, transcript.usage), (Some(session), None));
    }

    #[test]
    fn each_call_is_reported_once_before_its_result() {
        let lines = [
            r#"{"type":"item.started","item":{"id":"1","type":"mcp_tool_call","server":"s","tool":"t","arguments":{"a":1}}}"#,
            r#"{"type":"item.updated","item":{"id":"1","type":"mcp_tool_call","server":"s","tool":"t"}}"#,
            r#"{"type":"item.completed","item":{"id":"1","type":"mcp_tool_call","status":"failed","error":{"message":"no"}}}"#,
            r#"{"type":"item.completed","item":{"id":"2","type":"web_search","query":"q"}}"#,
            r#"{"type":"item.completed","item":{"id":"3","type":"of_tomorrow"}}"#,
            r#"{"type":"item.started","item":{"id":"2","type":"web_search","query":"again"}}"#,
            r#"{"type":"item.updated","item":{"id":"4","type":"todo_list","items":[{"text":"a","completed":true},{"text":"b"}]}}"#,
        ];
        let call = |id: &str, name: &str, about: &str| Progress::ToolCall {
            id: id.into(),
            name: name.into(),
            summary: about.into(),
        };
        let result = |id: &str, outcome, text: &str| Progress::ToolResult {
            id: id.into(),
            outcome,
            summary: text.into(),
        };
        let expected = [
            call("1", "s/t", r#"{"a":1}"#),
            result("1", ToolOutcome::Failure, "no"),
            call("2", "web_search", "q"),
            result("2", ToolOutcome::Success, ""),
            call("3", "of_tomorrow", ""),
            result("3", ToolOutcome::Success, ""),
            call("2", "web_search", "again"),
            Progress::Notice("1 of 2 steps done, next: b".into()),
        ];
        assert_eq!(read(None, &lines).0, expected);
    }

    #[test]
    fn unknown_lines_are_passed_on() {
        let unknown = r#"{"type":"thread.renamed"}"#;
        let (progress, transcript) = read(None, &[unknown, "WARNING: x", ""]);
        assert_eq!(progress, [Progress::Line(unknown.into()), Progress::Line("WARNING: x".into())]);
        assert_eq!(transcript.unknown_lines, 2);
    }
}
