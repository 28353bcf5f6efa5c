//! A request, independent of its protocol.
//!
//! Owns the common form of three protocols that rules are matched against. Refuses to validate a request: unknown parts are
//! ignored, and missing ones are empty. Invariant: the same question in any protocol gives the same value.

mod chat;
mod messages;
mod responses;

use serde::{Deserialize, Serialize};
use serde_json::Value;

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

/// How the answer is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    Whole,
    Stream,
    /// Streamed, with an event for the usage, which only chat completions must request.
    StreamWithUsage,
}

/// What the request requires of the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RequiredOutput {
    Any,
    /// A JSON document, as text.
    Document,
    Tool(String),
    AnyTool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OfferedTool {
    /// The type, for a tool that is built into the protocol.
    pub(crate) name: String,
    /// The schema of its arguments; null for a built-in tool.
    pub(crate) parameters: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Question {
    pub(crate) protocol: Protocol,
    pub(crate) delivery: Delivery,
    pub(crate) model: String,
    /// The name of the requested document.
    pub(crate) form: Option<String>,
    pub(crate) required: RequiredOutput,
    /// The system prompt and all messages.
    pub(crate) texts: Vec<String>,
    /// The last message of the user or a tool.
    pub(crate) last: String,
    /// The number of tool results in the conversation.
    pub(crate) tool_results: usize,
    pub(crate) tools: Vec<OfferedTool>,
}

pub(crate) fn parse(protocol: Protocol, body: &Value) -> Question {
    match protocol {
        Protocol::Chat => chat::parse(body),
        Protocol::Messages => messages::parse(body),
        Protocol::Responses => responses::parse(body),
    }
}

fn text_at(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer).and_then(Value::as_str).map(str::to_string)
}

fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The text of a content: a string, or blocks that contain text or another content.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<String> = blocks.iter().map(text_of).filter(|text| !text.is_empty()).collect();
            texts.join("\n")
        }
        Value::Object(block) => {
            block.get("text").or_else(|| block.get("content")).map(text_of).unwrap_or_default()
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

    /// The same question in three protocols: one tool result, one tool, a required document.
    fn same_question() -> [(Protocol, Value); 3] {
        let schema = json!({"type": "object", "title": "judgement"});
        let parameters = json!({"type": "object", "properties": {"path": {"type": "string"}}});
        [
            (
                Protocol::Chat,
                json!({"model": "m", "stream": true, "stream_options": {"include_usage": true}, "messages": [
                    {"role": "system", "content": "be spec"},
                    {"role": "user", "content": [{"type": "text", "text": "look"}]},
                    {"role": "assistant", "content": null, "tool_calls": []},
                    {"role": "tool", "tool_call_id": "1", "content": "found"}],
                    "tools": [{"type": "function", "function": {"name": "read", "parameters": parameters}}],
                    "response_format": {"type": "json_schema", "json_schema": {"name": "judgement", "schema": schema}}}),
            ),
            (
                Protocol::Messages,
                json!({"model": "m", "stream": true, "system": [{"type": "text", "text": "be spec"}], "messages": [
                    {"role": "user", "content": "look"},
                    {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "read", "input": {}}]},
                    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content":
                        [{"type": "text", "text": "found"}]}]}],
                    "tools": [{"name": "read", "input_schema": parameters}],
                    "output_config": {"format": {"type": "json_schema", "schema": schema}}}),
            ),
            (
                Protocol::Responses,
                json!({"model": "m", "stream": true, "instructions": "be spec", "input": [
                    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "look"}]},
                    {"type": "function_call", "call_id": "1", "name": "read", "arguments": "{}"},
                    {"type": "function_call_output", "call_id": "1", "output": "found"}],
                    "tools": [{"type": "function", "name": "read", "parameters": parameters}],
                    "text": {"format": {"type": "json_schema", "name": "judgement", "schema": schema}}}),
            ),
        ]
    }

    #[test]
    fn a_question_is_the_same_in_every_protocol() {
        for (protocol, body) in same_question() {
            let expected = Question {
                protocol,
                delivery: if protocol == Protocol::Chat {
                    Delivery::StreamWithUsage
                } else {
                    Delivery::Stream
                },
                model: "m".to_string(),
                form: Some("judgement".to_string()),
                required: RequiredOutput::Document,
                texts: vec!["be spec".to_string(), "look".to_string(), "found".to_string()],
                last: "found".to_string(),
                tool_results: 1,
                tools: vec![OfferedTool {
                    name: "read".to_string(),
                    parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
                }],
            };
            assert_eq!(parse(protocol, &body), expected, "{protocol:?}");
        }
    }

    #[test]
    fn a_tool_can_be_forced_in_every_protocol() {
        let table = [
            (
                Protocol::Chat,
                json!({"type": "function", "function": {"name": "f"}}),
                RequiredOutput::Tool("f".into()),
            ),
            (Protocol::Chat, json!("required"), RequiredOutput::AnyTool),
            (Protocol::Chat, json!("auto"), RequiredOutput::Any),
            (Protocol::Messages, json!({"type": "tool", "name": "f"}), RequiredOutput::Tool("f".into())),
            (Protocol::Messages, json!({"type": "any"}), RequiredOutput::AnyTool),
            (Protocol::Messages, json!({"type": "auto"}), RequiredOutput::Any),
            (Protocol::Responses, json!({"type": "function", "name": "f"}), RequiredOutput::Tool("f".into())),
            (Protocol::Responses, json!("required"), RequiredOutput::AnyTool),
            (Protocol::Responses, json!("auto"), RequiredOutput::Any),
        ];
        for (protocol, choice, required) in table {
            let question = parse(protocol, &json!({"tool_choice": choice}));
            let form = (required == RequiredOutput::Tool("f".into())).then(|| "f".to_string());
            assert_eq!((question.required, question.form), (required, form), "{protocol:?} {choice}");
        }
    }

    #[test]
    fn an_invalid_request_is_empty() {
        for protocol in [Protocol::Chat, Protocol::Messages, Protocol::Responses] {
            for body in [json!(null), json!([]), json!({"messages": 3, "input": 3, "tools": {}, "system": 1})]
            {
                let question = parse(protocol, &body);
                let sizes = (question.texts.len(), question.tool_results, question.tools.len());
                assert_eq!(sizes, (0, 0, 0), "{protocol:?} {body}");
            }
        }
    }
}
