//! Reading requests of Anthropic messages.

use serde_json::Value;

use super::{OfferedTool, Protocol, Question, RequiredOutput, delivery, list, text_at, text_of};

pub(super) fn parse(body: &Value) -> Question {
    let messages = list(body, "messages");
    let content = |message: &Value| message.get("content").map(text_of).unwrap_or_default();
    let is_user = |message: &&Value| text_at(message, "/role").as_deref() == Some("user");
    let results = |message: &Value| {
        let is_result = |block: &&Value| text_at(block, "/type").as_deref() == Some("tool_result");
        list(message, "content").iter().filter(is_result).count()
    };
    let system = body.get("system").map(text_of).unwrap_or_default();
    let format = format(body);
    let forced = text_at(body, "/tool_choice/name");
    let named =
        format.and_then(|format| text_at(format, "/name").or_else(|| text_at(format, "/schema/title")));
    Question {
        protocol: Protocol::Messages,
        delivery: delivery(body),
        model: text_at(body, "/model").unwrap_or_default(),
        form: named.or_else(|| forced.clone()),
        required: match (format, forced) {
            (Some(_), _) => RequiredOutput::Document,
            (None, Some(tool)) => RequiredOutput::Tool(tool),
            (None, None) if text_at(body, "/tool_choice/type").as_deref() == Some("any") => {
                RequiredOutput::AnyTool
            }
            (None, None) => RequiredOutput::Any,
        },
        texts: [system]
            .into_iter()
            .chain(messages.iter().map(content))
            .filter(|text| !text.is_empty())
            .collect(),
        last: messages.iter().rev().find(is_user).map(content).unwrap_or_default(),
        tool_results: messages.iter().map(results).sum(),
        tools: list(body, "tools").iter().filter_map(offered).collect(),
    }
}

/// The requested document. `output_format` is the older name of the field.
fn format(body: &Value) -> Option<&Value> {
    body.pointer("/output_config/format").or_else(|| body.get("output_format"))
}

fn offered(tool: &Value) -> Option<OfferedTool> {
    let parameters = tool.get("input_schema").cloned().unwrap_or_default();
    Some(OfferedTool { name: text_at(tool, "/name")?, parameters })
}
