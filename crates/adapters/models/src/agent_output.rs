//! What agents print about one answer.
//!
//! Owns the documents of Claude Code and Codex. Refuses to guess: output without the expected document is an error that
//! shows its end. Both streams of a program come mixed, so lines that are no documents are skipped.

use fixpoint_vocabulary::usage::{Counted, MicroUsd, Usage};
use serde_json::Value;

use crate::draft::{count, text};

/// Characters of unexpected output that are shown.
const SHOWN: usize = 400;

/// What was printed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Printed {
    /// The answer, or what went wrong.
    pub(crate) answer: Result<String, String>,
    pub(crate) usage: Option<Usage>,
    pub(crate) model: Option<String>,
}

fn documents(output: &str) -> impl Iterator<Item = Value> {
    output.lines().filter_map(|line| {
        let line = line.trim();
        line.starts_with('{').then(|| serde_json::from_str(line).ok()).flatten()
    })
}

fn unexpected(output: &str) -> String {
    let output = output.trim();
    let skipped = output.chars().count().saturating_sub(SHOWN);
    let end: String = output.chars().skip(skipped).collect();
    if end.is_empty() { "it printed nothing".to_string() } else { end }
}

/// The result of `claude -p --output-format json`.
pub(crate) fn claude(output: &str) -> Printed {
    let whole = serde_json::from_str(output.trim()).ok();
    let results = documents(output).chain(whole);
    let result = results.filter(|document: &Value| text(document, "/type") == "result").last();
    let Some(result) = result else {
        return Printed { answer: Err(unexpected(output)), usage: None, model: None };
    };
    let words = text(&result, "/result").to_string();
    let is_error = result.get("is_error").and_then(Value::as_bool) == Some(true);
    let failed = is_error || !matches!(text(&result, "/subtype"), "" | "success");
    let of = |name: &str| count(&result, &format!("/usage/{name}"));
    let usage = of("output_tokens").map(|output_tokens| Usage {
        calls: count(&result, "/num_turns").unwrap_or(1).max(1),
        input_tokens: of("input_tokens").unwrap_or(0),
        cache_read_tokens: of("cache_read_input_tokens").unwrap_or(0),
        cache_write_tokens: of("cache_creation_input_tokens").unwrap_or(0),
        output_tokens,
        cost: result.get("total_cost_usd").and_then(Value::as_f64).map(MicroUsd::from_usd),
        counted: Counted::Told,
    });
    let model =
        result.get("modelUsage").and_then(Value::as_object).and_then(|map| map.keys().next().cloned());
    let complaint = || if words.is_empty() { text(&result, "/subtype").to_string() } else { words.clone() };
    let answer = if failed { Err(complaint()) } else { Ok(words.clone()) };
    Printed { answer, usage, model }
}

/// The events of `codex exec --json`.
pub(crate) fn codex(output: &str) -> Printed {
    let mut answer = None;
    let mut complaint = None;
    let mut usage: Option<Usage> = None;
    for event in documents(output) {
        match text(&event, "/type") {
            "item.completed" if text(&event, "/item/type") == "agent_message" => {
                answer = Some(text(&event, "/item/text").to_string());
            }
            "turn.completed" => {
                let of = |name: &str| count(&event, &format!("/usage/{name}"));
                let read = of("input_tokens").unwrap_or(0);
                let cached = of("cached_input_tokens").unwrap_or(0).min(read);
                let turn = Usage {
                    calls: 1,
                    input_tokens: read - cached,
                    cache_read_tokens: cached,
                    output_tokens: of("output_tokens").unwrap_or(0),
                    ..Usage::default()
                };
                usage = Some(usage.map_or(turn, |before| before + turn));
            }
            "turn.failed" => complaint = Some(text(&event, "/error/message").to_string()),
            "error" => complaint = Some(text(&event, "/message").to_string()),
            _ => {}
        }
    }
    // Faults that passed are told as well, so a complaint counts only where the turn did not end.
    let answer = match (answer, complaint, usage) {
        (Some(answer), _, Some(_)) => Ok(answer),
        (_, Some(complaint), _) => Err(complaint),
        (Some(answer), None, None) => Ok(answer),
        (None, None, _) => Err(unexpected(output)),
    };
    Printed { answer, usage, model: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_claude_prints_is_read() {
        let output = concat!(
            "a warning on the other stream\n",
            r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":2381,"num_turns":1,"result":"four","#,
            r#""session_id":"x","total_cost_usd":0.0123,"usage":{"input_tokens":3,"cache_creation_input_tokens":1200,"#,
            r#""cache_read_input_tokens":800,"output_tokens":5},"modelUsage":{"claude-sonnet-5":{}}}"#,
            "\n"
        );
        let usage = Usage {
            calls: 1,
            input_tokens: 3,
            cache_read_tokens: 800,
            cache_write_tokens: 1200,
            output_tokens: 5,
            cost: Some(MicroUsd(12_300)),
            counted: Counted::Told,
        };
        let expected =
            Printed { answer: Ok("four".into()), usage: Some(usage), model: Some("claude-sonnet-5".into()) };
        assert_eq!(claude(output), expected);
    }

    #[test]
    fn what_claude_complains_about_is_read() {
        let output = r#"{"type":"result","subtype":"success","is_error":true,"result":"Invalid API key · Please run /login"}"#;
        assert_eq!(claude(output).answer, Err("Invalid API key · Please run /login".to_string()));
        let output = r#"{"type":"result","subtype":"error_max_turns","is_error":false}"#;
        assert_eq!(claude(output).answer, Err("error_max_turns".to_string()));
        assert_eq!(claude("").answer, Err("it printed nothing".to_string()));
        assert_eq!(
            claude("error: unknown option '--tools'").answer,
            Err("error: unknown option '--tools'".to_string())
        );
    }

    #[test]
    fn what_codex_prints_is_read() {
        let output = concat!(
            r#"{"type":"thread.started","thread_id":"x"}"#,
            "\n",
            r#"{"type":"turn.started"}"#,
            "\n",
            r#"{"type":"error","message":"Reconnecting... 1/5"}"#,
            "\n",
            r#"{"type":"item.completed","item":{"id":"item_0","type":"reasoning","text":"hm"}}"#,
            "\n",
            r#"{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"four"}}"#,
            "\n",
            r#"{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":60,"output_tokens":7}}"#,
            "\n",
        );
        let usage =
            Usage { calls: 1, input_tokens: 40, cache_read_tokens: 60, output_tokens: 7, ..Usage::default() };
        assert_eq!(codex(output), Printed { answer: Ok("four".into()), usage: Some(usage), model: None });
        let failed = r#"{"type":"turn.failed","error":{"message":"usage limit reached"}}"#;
        assert_eq!(codex(failed).answer, Err("usage limit reached".to_string()));
    }
}
