//! Reading requests of chat completions.

use serde_json::Value;

use super::{Delivery, OfferedTool, Protocol, Question, RequiredOutput, delivery, list, text_at, text_of};

pub(super) fn parse(body: &Value) -> Question {
    let messages = list(body, "messages");
    let role = |message: &Value| text_at(message, "/role").unwrap_or_default();
    let content = |message: &Value| message.get("content").map(text_of).unwrap_or_default();
    let answered = messages.iter().rev().find(|message| ["user", "tool"].contains(&role(message).as_str()));
    let required = required(body);
    let usage = body.pointer("/stream_options/include_usage").and_then(Value::as_bool) == Some(true);
    Question {
        protocol: Protocol::Chat,
        delivery: match delivery(body) {
            Delivery::Stream if usage => Delivery::StreamWithUsage,
            Delivery::Stream | Delivery::Whole | Delivery::StreamWithUsage => delivery(body),
        },
        model: text_at(body, "/model").unwrap_or_default(),
        form: text_at(body, "/response_format/json_schema/name").or_else(|| forced(body)),
        required,
        texts: messages.iter().map(content).filter(|text| !text.is_empty()).collect(),
        last: answered.map(content).unwrap_or_default(),
        tool_results: messages.iter().filter(|message| role(message) == "tool").count(),
        tools: list(body, "tools").iter().filter_map(offered).collect(),
    }
}

fn required(body: &Value) -> RequiredOutput {
    let format = text_at(body, "/response_format/type");
    match forced(body) {
        _ if format.is_some_and(|format| format != "text") => RequiredOutput::Document,
        Some(tool) => RequiredOutput::Tool(tool),
        None if text_at(body, "/tool_choice").as_deref() == Some("required") => RequiredOutput::AnyTool,
        None => RequiredOutput::Any,
    }
}

fn forced(body: &Value) -> Option<String> {
    text_at(body, "/tool_choice/function/name")
}

fn offered(tool: &Value) -> Option<OfferedTool> {
    let function = tool.get("function")?;
    let parameters = function.get("parameters").cloned().unwrap_or_default();
    Some(OfferedTool { name: text_at(function, "/name")?, parameters })
}
