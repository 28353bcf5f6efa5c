//! The output of an agent that is used as a model.
//!
//! Owns the output formats of Claude Code and Codex. Refuses to guess: output without the expected document is an error
//! that shows its last lines. Standard output and error come mixed, so lines that are not JSON are skipped.

use fixpoint_vocabulary::usage::{CountSource, MicroUsd, Usage};
use serde_json::Value;

use crate::partial_reply::{count, text};

const SHOWN: usize = 400;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AgentAnswer {
    /// The answer, or the error message.
    pub(crate) text: Result<String, String>,
    pub(crate) usage: Option<Usage>,
    pub(crate) model: Option<String>,
}

fn documents(output: &str) -> impl Iterator<Item = Value> {
    output.lines().filter_map(|line| {
        let line = line.trim();
        line.starts_with('{').then(|| serde_json::from_str(line).ok()).flatten()
    })
}

fn last_output(output: &str) -> String {
    let output = output.trim();
    let skipped = output.chars().count().saturating_sub(SHOWN);
    let end: String = output.chars().skip(skipped).collect();
    if end.is_empty() { "it printed nothing".to_string() } else { end }
}

/// The result of `claude -p --output-format json`.
pub(crate) fn parse_claude(output: &str) -> AgentAnswer {
    let whole = serde_json::from_str(output.trim()).ok();
    let results = documents(output).chain(whole);
    let result = results.filter(|document: &Value| text(document, "/type") == "result").last();
    let Some(result) = result else {
        return AgentAnswer { text: Err(last_output(output)), usage: None, model: None };
    };
    let message = text(&result, "/result").to_string();
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
        counted: CountSource::Told,
    });
    let model =
        result.get("modelUsage").and_then(Value::as_object).and_then(|map| map.keys().next().cloned());
    let error = || if message.is_empty() { text(&result, "/subtype").to_string() } else { message.clone() };
    let answer = if failed { Err(error()) } else { Ok(message.clone()) };
    AgentAnswer { text: answer, usage, model }
}

/// The events of `codex exec --json`.
pub(crate) fn parse_codex(output: &str) -> AgentAnswer {
    let mut answer = None;
    let mut error = None;
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
            "turn.failed" => error = Some(text(&event, "/error/message").to_string()),
            "error" => error = Some(text(&event, "/message").to_string()),
            _ => {}
        }
    }
    // Codex also reports errors it recovered from, so an error counts only where the turn did not complete.
    let answer = match (answer, error, usage) {
        (Some(answer), _, Some(_)) => Ok(answer),
        (_, Some(error), _) => Err(error),
        (Some(answer), None, None) => Ok(answer),
        (None, None, _) => Err(last_output(output)),
    };
    AgentAnswer { text: answer, usage, model: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claude_output_is_parsed() {
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
            counted: CountSource::Told,
        };
        let expected = AgentAnswer {
            text: Ok("four".into()),
            usage: Some(usage),
            model: Some("claude-sonnet-5".into()),
        };
        assert_eq!(parse_claude(output), expected);
    }

    #[test]
    fn claude_errors_are_parsed() {
        let output = r#"{"type":"result","subtype":"success","is_error":true,"result":"Invalid API key · Please run /login"}"#;
        assert_eq!(parse_claude(output).text, Err("Invalid API key · Please run /login".to_string()));
        let output = r#"{"type":"result","subtype":"error_max_turns","is_error":false}"#;
        assert_eq!(parse_claude(output).text, Err("error_max_turns".to_string()));
        assert_eq!(parse_claude("").text, Err("it printed nothing".to_string()));
        assert_eq!(
            parse_claude("error: unknown option '--tools'").text,
            Err("error: unknown option '--tools'".to_string())
        );
    }

    #[test]
    fn codex_output_is_parsed() {
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
        assert_eq!(
            parse_codex(output),
            AgentAnswer { text: Ok("four".into()), usage: Some(usage), model: None }
        );
        let failed = r#"{"type":"turn.failed","error":{"message":"usage limit reached"}}"#;
        assert_eq!(parse_codex(failed).text, Err("usage limit reached".to_string()));
    }
}
