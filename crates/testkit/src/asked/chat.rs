//! Chat completions, read. Owns where that protocol keeps what a rule looks at.

use serde_json::Value;

use super::{Asked, Delivery, Demand, Offered, Protocol, delivery, list, text_at, words};

pub(super) fn asked(body: &Value) -> Asked {
    let messages = list(body, "messages");
    let role = |message: &Value| text_at(message, "/role").unwrap_or_default();
    let content = |message: &Value| message.get("content").map(words).unwrap_or_default();
    let answered = messages.iter().rev().find(|message| ["user", "tool"].contains(&role(message).as_str()));
    let demand = demand(body);
    let usage = body.pointer("/stream_options/include_usage").and_then(Value::as_bool) == Some(true);
    Asked {
        protocol: Protocol::Chat,
        delivery: match delivery(body) {
            Delivery::Stream if usage => Delivery::StreamWithUsage,
            Delivery::Stream | Delivery::Whole | Delivery::StreamWithUsage => delivery(body),
        },
        model: text_at(body, "/model").unwrap_or_default(),
        form: text_at(body, "/response_format/json_schema/name").or_else(|| forced(body)),
        demand,
        texts: messages.iter().map(content).filter(|text| !text.is_empty()).collect(),
        last: answered.map(content).unwrap_or_default(),
        tool_results: messages.iter().filter(|message| role(message) == "tool").count(),
        tools: list(body, "tools").iter().filter_map(offered).collect(),
    }
}

fn demand(body: &Value) -> Demand {
    let format = text_at(body, "/response_format/type");
    match forced(body) {
        _ if format.is_some_and(|format| format != "text") => Demand::Document,
        Some(tool) => Demand::Tool(tool),
        None if text_at(body, "/tool_choice").as_deref() == Some("required") => Demand::SomeTool,
        None => Demand::Nothing,
    }
}

fn forced(body: &Value) -> Option<String> {
    text_at(body, "/tool_choice/function/name")
}

fn offered(tool: &Value) -> Option<Offered> {
    let function = tool.get("function")?;
    let parameters = function.get("parameters").cloned().unwrap_or_default();
    Some(Offered { name: text_at(function, "/name")?, parameters })
}
