//! What a request asks, whatever its protocol.
//!
//! Owns the one reading of three protocols that rules are matched against. Refuses to check a request: what is not
//! understood is left out, and what is missing is empty. Invariant: the same question asked in any protocol reads
//! the same.

mod chat;
mod messages;
mod responses;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The protocols spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// OpenAI chat completions.
    Chat,
    /// Anthropic messages.
    Messages,
    /// OpenAI responses.
    Responses,
}

/// How the answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// As one document.
    Whole,
    /// As events.
    Stream,
    /// As events, of which one tells what was used; of the protocols only chat completions need to be told so.
    StreamWithUsage,
}

/// What the answer is held to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Demand {
    /// Nothing.
    Nothing,
    /// A JSON document, as text.
    Document,
    /// A call of this tool.
    Tool(String),
    /// A call of any tool.
    SomeTool,
}

/// A tool that may be called.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Offered {
    /// Its name; of a tool built into the protocol, its type.
    pub(crate) name: String,
    /// The schema of its arguments; null of a tool that is built in.
    pub(crate) parameters: Value,
}

/// What a request asks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    pub(crate) protocol: Protocol,
    pub(crate) delivery: Delivery,
    pub(crate) model: String,
    /// The name of the document asked for.
    pub(crate) form: Option<String>,
    pub(crate) demand: Demand,
    /// Instructions and messages, of whomever they are.
    pub(crate) texts: Vec<String>,
    /// The last message of the user or of a tool.
    pub(crate) last: String,
    /// The results of tools in the conversation.
    pub(crate) tool_results: usize,
    pub(crate) tools: Vec<Offered>,
}

/// Reads a request.
pub(crate) fn asked(protocol: Protocol, body: &Value) -> Asked {
    match protocol {
        Protocol::Chat => chat::asked(body),
        Protocol::Messages => messages::asked(body),
        Protocol::Responses => responses::asked(body),
    }
}

/// A field that may not be there.
fn text_at(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer).and_then(Value::as_str).map(str::to_string)
}

/// The elements of a list that may not be there.
fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The words of a content: a text, or blocks of which some hold text, or hold a content themselves.
fn words(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<String> = blocks.iter().map(words).filter(|text| !text.is_empty()).collect();
            texts.join("\n")
        }
        Value::Object(block) => {
            block.get("text").or_else(|| block.get("content")).map(words).unwrap_or_default()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

fn delivery(body: &Value) -> Delivery {
    if body.get("stream").and_then(Value::as_bool) == Some(true) { Delivery::Stream } else { Delivery::Whole }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The same question in three protocols: one tool result, one tool, a document forced by the protocol's means.
    fn same_question() -> [(Protocol, Value); 3] {
        let schema = json!({"type": "object", "title": "judgement"});
        let parameters = json!({"type": "object", "properties": {"path": {"type": "string"}}});
        [
            (
                Protocol::Chat,
                json!({"model": "m", "stream": true, "stream_options": {"include_usage": true}, "messages": [
                    {"role": "system", "content": "be brief"},
                    {"role": "user", "content": [{"type": "text", "text": "look"}]},
                    {"role": "assistant", "content": null, "tool_calls": []},
                    {"role": "tool", "tool_call_id": "1", "content": "found"}],
                    "tools": [{"type": "function", "function": {"name": "read", "parameters": parameters}}],
                    "response_format": {"type": "json_schema", "json_schema": {"name": "judgement", "schema": schema}}}),
            ),
            (
                Protocol::Messages,
                json!({"model": "m", "stream": true, "system": [{"type": "text", "text": "be brief"}], "messages": [
                    {"role": "user", "content": "look"},
                    {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "read", "input": {}}]},
                    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content":
                        [{"type": "text", "text": "found"}]}]}],
                    "tools": [{"name": "read", "input_schema": parameters}],
                    "output_config": {"format": {"type": "json_schema", "schema": schema}}}),
            ),
            (
                Protocol::Responses,
                json!({"model": "m", "stream": true, "instructions": "be brief", "input": [
                    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "look"}]},
                    {"type": "function_call", "call_id": "1", "name": "read", "arguments": "{}"},
                    {"type": "function_call_output", "call_id": "1", "output": "found"}],
                    "tools": [{"type": "function", "name": "read", "parameters": parameters}],
                    "text": {"format": {"type": "json_schema", "name": "judgement", "schema": schema}}}),
            ),
        ]
    }

    #[test]
    fn a_question_reads_the_same_in_every_protocol() {
        for (protocol, body) in same_question() {
            let expected = Asked {
                protocol,
                delivery: if protocol == Protocol::Chat {
                    Delivery::StreamWithUsage
                } else {
                    Delivery::Stream
                },
                model: "m".to_string(),
                form: Some("judgement".to_string()),
                demand: Demand::Document,
                texts: vec!["be brief".to_string(), "look".to_string(), "found".to_string()],
                last: "found".to_string(),
                tool_results: 1,
                tools: vec![Offered {
                    name: "read".to_string(),
                    parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
                }],
            };
            assert_eq!(asked(protocol, &body), expected);
        }
    }

    #[test]
    fn a_tool_can_be_forced_in_every_protocol() {
        let table = [
            (
                Protocol::Chat,
                json!({"type": "function", "function": {"name": "f"}}),
                Demand::Tool("f".into()),
            ),
            (Protocol::Chat, json!("required"), Demand::SomeTool),
            (Protocol::Chat, json!("auto"), Demand::Nothing),
            (Protocol::Messages, json!({"type": "tool", "name": "f"}), Demand::Tool("f".into())),
            (Protocol::Messages, json!({"type": "any"}), Demand::SomeTool),
            (Protocol::Messages, json!({"type": "auto"}), Demand::Nothing),
            (Protocol::Responses, json!({"type": "function", "name": "f"}), Demand::Tool("f".into())),
            (Protocol::Responses, json!("required"), Demand::SomeTool),
            (Protocol::Responses, json!("auto"), Demand::Nothing),
        ];
        for (protocol, choice, demand) in table {
            let asked = asked(protocol, &json!({"tool_choice": choice}));
            let form = (demand == Demand::Tool("f".into())).then(|| "f".to_string());
            assert_eq!((asked.demand, asked.form), (demand, form), "{choice}");
        }
    }

    #[test]
    fn nonsense_reads_as_nothing() {
        for protocol in [Protocol::Chat, Protocol::Messages, Protocol::Responses] {
            for body in [json!(null), json!([]), json!({"messages": 3, "input": 3, "tools": {}, "system": 1})]
            {
                let asked = asked(protocol, &body);
                assert_eq!((asked.texts.len(), asked.tool_results, asked.tools.len()), (0, 0, 0));
            }
        }
    }
}
