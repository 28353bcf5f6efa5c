//! The events of `codex exec --json`.
//!
//! Owns which of them say something a person would want to see. Invariant: an event nobody has heard of is passed on
//! as the line it was; an item nobody has heard of is shown as a tool.

use std::collections::VecDeque;

use fixpoint_ports::ToolOutcome;
use fixpoint_vocabulary::usage::{Counted, Usage};
use serde_json::Value;

use crate::events::{Line, Told, at_least, count_of, list_of, text_of};
use crate::progress::{Outcome, Progress, Session};
use crate::shortening::{summary, words};
use crate::stream::Reader;
use crate::transcript::Transcript;

/// Calls under way at the same time, at most.
const OPEN_CALLS: usize = 256;

/// Reads its events.
#[derive(Debug)]
pub(super) struct Events {
    told: Told,
    /// What the session had used before, by all that was told of it.
    before: Option<Session>,
    /// All the session used.
    total: Option<Usage>,
    calls: u64,
    open: VecDeque<String>,
}

impl Events {
    /// For a session begun anew, or one that had used something before.
    pub(super) fn continuing(session: Option<&Session>) -> Self {
        let told = Told::of_events();
        Self { told, before: session.cloned(), total: None, calls: 0, open: VecDeque::new() }
    }
}

impl Reader for Events {
    fn line(&mut self, line: &[u8]) -> Vec<Progress> {
        match Line::of(line) {
            Line::Blank => {}
            Line::Other(text) => self.other(text),
            Line::Event { kind, event } => match kind.as_str() {
                "thread.started" => self.told.session(text_of(&event, "thread_id")),
                "turn.started" => {}
                "item.started" | "item.updated" | "item.completed" => self.item(&kind, &event),
                "turn.completed" => self.completed(&event),
                "turn.failed" => {
                    self.calls = self.calls.saturating_add(1);
                    let error = event.get("error").unwrap_or(&Value::Null);
                    self.told.error(text_of(error, "message"));
                    let outcome = failure(text_of(error, "message"));
                    self.told.tell(Progress::Finished { outcome, text: String::new() });
                }
                "error" => self.error(text_of(&event, "message")),
                _ => self.told.tell(Progress::Line(words(&String::from_utf8_lossy(line)))),
            },
        }
        self.told.take()
    }

    fn ended(self: Box<Self>) -> Transcript {
        let mut transcript = self.told.transcript;
        if let Some(session) = &mut transcript.session {
            let before = self.before.filter(|before| before.id == session.id).map(|before| before.used);
            session.used = self.total.or(before).unwrap_or_default();
        }
        transcript
    }
}

impl Events {
    /// Before it can tell events, it prints why it cannot.
    fn other(&mut self, text: String) {
        let Some(error) = text.strip_prefix("Error: ") else {
            self.told.tell(Progress::Line(text));
            return;
        };
        self.told.error(error);
        let outcome = failure(error);
        self.told.tell(Progress::Finished { outcome, text: String::new() });
    }

    fn error(&mut self, message: &str) {
        if message.starts_with("Reconnecting") {
            self.calls = self.calls.saturating_add(1);
            self.told.tell(Progress::Notice(summary(message)));
        } else {
            self.told.error(message);
        }
    }

    fn item(&mut self, event: &str, whole: &Value) {
        let item = whole.get("item").unwrap_or(&Value::Null);
        let is_completed = event == "item.completed";
        match text_of(item, "type") {
            "agent_message" if is_completed => self.say(Progress::Text, text_of(item, "text")),
            "reasoning" if is_completed => self.say(Progress::Thinking, text_of(item, "text")),
            "agent_message" | "reasoning" => {}
            // It goes on after these; what ends a turn is an event of its own.
            "error" => self.say(Progress::Notice, text_of(item, "message")),
            "todo_list" => {
                let steps = list_of(item, "items");
                let is_done = |step: &&Value| step.get("completed").and_then(Value::as_bool).unwrap_or(false);
                let done = steps.iter().filter(is_done).count();
                let next = steps.iter().find(|step| !is_done(step)).map(|step| text_of(step, "text"));
                let next = next.map(|next| format!(", next: {next}")).unwrap_or_default();
                let notice = format!("{done} of {} steps done{next}", steps.len());
                self.told.tell(Progress::Notice(summary(&notice)));
            }
            kind => self.tool(kind, item, is_completed.then(|| outcome(item))),
        }
    }

    fn say(&mut self, how: fn(String) -> Progress, text: &str) {
        let text = words(text);
        if !text.is_empty() {
            self.told.tell(how(text));
        }
    }

    /// A call is told when it is first heard of, and its result when it has one.
    fn tool(&mut self, kind: &str, item: &Value, result: Option<ToolOutcome>) {
        let id = summary(text_of(item, "id"));
        if !self.open.contains(&id) {
            let (name, about) = about(kind, item);
            self.told.tell(Progress::ToolCall { id: id.clone(), name, summary: about });
            self.open.push_back(id.clone());
            if self.open.len() > OPEN_CALLS {
                self.open.pop_front();
            }
        }
        if let Some(outcome) = result {
            self.open.retain(|open| *open != id);
            self.told.tell(Progress::ToolResult { id, outcome, summary: came_out(item) });
        }
    }

    fn completed(&mut self, event: &Value) {
        self.calls = self.calls.saturating_add(1);
        if let Some(told) = event.get("usage") {
            // Each number is the sum over the whole session, of which this run is the end.
            let total = at_least(session_total(told), self.total.unwrap_or_default());
            self.total = Some(total);
            let id = self.told.transcript.session.as_ref().map(|session| session.id.as_str());
            let before = self.before.as_ref().filter(|before| Some(before.id.as_str()) == id);
            let before = before.map(|before| before.used).unwrap_or_default();
            self.told.usage(Usage { calls: self.calls, ..part_of(total, before) });
        }
        let text = self.told.transcript.last_words.clone().unwrap_or_default();
        self.told.tell(Progress::Finished { outcome: Outcome::Completed, text });
    }
}

/// What it tells of a session. Tokens read from and written to the cache are part of the input it tells.
fn session_total(told: &Value) -> Usage {
    let input = count_of(told, "input_tokens");
    let cached = count_of(told, "cached_input_tokens").min(input);
    let written = count_of(told, "cache_write_input_tokens").min(input.saturating_sub(cached));
    Usage {
        calls: 0,
        input_tokens: input.saturating_sub(cached).saturating_sub(written),
        cache_read_tokens: cached,
        cache_write_tokens: written,
        output_tokens: count_of(told, "output_tokens"),
        cost: None,
        counted: Counted::Told,
    }
}

fn part_of(total: Usage, before: Usage) -> Usage {
    Usage {
        calls: 0,
        input_tokens: total.input_tokens.saturating_sub(before.input_tokens),
        cache_read_tokens: total.cache_read_tokens.saturating_sub(before.cache_read_tokens),
        cache_write_tokens: total.cache_write_tokens.saturating_sub(before.cache_write_tokens),
        output_tokens: total.output_tokens.saturating_sub(before.output_tokens),
        cost: None,
        counted: Counted::Told,
    }
}

/// What a failed turn failed for. It tells that in words only.
fn failure(message: &str) -> Outcome {
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    if says(&["no rollout found", "no session found", "thread not found"]) {
        Outcome::SessionGone
    } else if says(&["429 Too Many", "ate limit", "503 Service", "overloaded", "at capacity"]) {
        Outcome::RateLimited
    } else if says(&["401 Unauth", "402 Payment", "403 Forbidden", "ot logged in", "usage limit", "quota"]) {
        Outcome::Account
    } else {
        Outcome::Failed
    }
}

fn outcome(item: &Value) -> ToolOutcome {
    let exit_code = item.get("exit_code").and_then(Value::as_i64).unwrap_or(0);
    let has_error = item.get("error").is_some_and(|error| !error.is_null());
    let is_bad = matches!(text_of(item, "status"), "failed" | "declined" | "errored" | "interrupted");
    if exit_code != 0 || has_error || is_bad { ToolOutcome::Failure } else { ToolOutcome::Success }
}

/// The tool's name, and what it is about.
fn about(kind: &str, item: &Value) -> (String, String) {
    match kind {
        "command_execution" => ("shell".to_string(), summary(text_of(item, "command"))),
        "file_change" => ("edit".to_string(), changes(item)),
        "mcp_tool_call" => {
            let name = format!("{}/{}", text_of(item, "server"), text_of(item, "tool"));
            let arguments = item.get("arguments").filter(|arguments| !arguments.is_null());
            (summary(&name), arguments.map(|arguments| summary(&arguments.to_string())).unwrap_or_default())
        }
        "web_search" => ("web_search".to_string(), summary(text_of(item, "query"))),
        kind => (summary(kind), String::new()),
    }
}

fn changes(item: &Value) -> String {
    let change = |change: &Value| format!("{} {}", text_of(change, "kind"), text_of(change, "path"));
    summary(&list_of(item, "changes").iter().take(10).map(change).collect::<Vec<_>>().join(", "))
}

/// What came out: the error, or how the command ended and what it printed.
fn came_out(item: &Value) -> String {
    let error = item.get("error").unwrap_or(&Value::Null);
    let message = error.as_str().unwrap_or_else(|| text_of(error, "message"));
    let output = text_of(item, "aggregated_output");
    match item.get("exit_code").and_then(Value::as_i64) {
        _ if !message.is_empty() => summary(message),
        Some(code) if code != 0 => summary(&format!("exit code {code} {output}")),
        _ => summary(output),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(session: Option<&Session>, lines: &[&str]) -> (Vec<Progress>, Transcript) {
        let mut events = Box::new(Events::continuing(session));
        let progress = lines.iter().flat_map(|line| events.line(line.as_bytes())).collect();
        (progress, events.ended())
    }

    const STARTED: &str = r#"{"type":"thread.started","thread_id":"t"}"#;

    /// Catches counting what a session used before once more for each time it is continued.
    #[test]
    fn a_continued_session_tells_only_its_own_part() {
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
        // Another session than the one that was to be continued has used nothing before.
        let other = r#"{"type":"thread.started","thread_id":"u"}"#;
        let anew = read(Some(&session), &[other, &of(110, 100, 5)]).1;
        assert_eq!(anew.usage.map(|usage| usage.tokens()), Some(115));
    }

    #[test]
    fn a_session_that_was_interrupted_is_still_known_with_what_it_had_used() {
        let used = Usage { input_tokens: 5, ..Usage::default() };
        let session = Session { id: "t".to_string(), used };
        let transcript = read(Some(&session), &[STARTED, r#"{"type":"turn.started"}"#]).1;
        assert_eq!((transcript.session, transcript.usage), (Some(session), None));
    }

    #[test]
    fn calls_are_told_once_and_results_of_unknown_calls_with_them() {
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
    fn what_is_not_understood_is_passed_on() {
        let unknown = r#"{"type":"thread.renamed"}"#;
        let (progress, transcript) = read(None, &[unknown, "WARNING: x", ""]);
        assert_eq!(progress, [Progress::Line(unknown.into()), Progress::Line("WARNING: x".into())]);
        assert_eq!(transcript.lines, 2);
    }
}
