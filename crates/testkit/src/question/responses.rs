//! Reading requests of OpenAI responses.

use serde_json::Value;

use super::{OfferedTool, Protocol, Question, RequiredOutput, delivery, list, text_at, text_of};

pub(super) fn parse(body: &Value) -> Question {
    let items = list(body, "input");
    let instructions = text_at(body, "/instructions").unwrap_or_default();
    // The input may be a text instead of a list of items.
    let only = text_at(body, "/input").unwrap_or_default();
    let text = |item: &Value| {
        item.get("content").or_else(|| item.get("output")).map(result_text).unwrap_or_default()
    };
    let answered =
        items.iter().rev().find(|item| is_result(item) || text_at(item, "/role").as_deref() == Some("user"));
    let texts = [instructions, only.clone()].into_iter().chain(items.iter().map(text));
    let format = text_at(body, "/text/format/type").filter(|kind| kind != "text");
    let forced = text_at(body, "/tool_choice/name");
    Question {
        protocol: Protocol::Responses,
        delivery: delivery(body),
        model: text_at(body, "/model").unwrap_or_default(),
        form: text_at(body, "/text/format/name").or_else(|| forced.clone()),
        required: match (format, forced) {
            (Some(_), _) => RequiredOutput::Document,
            (None, Some(tool)) => RequiredOutput::Tool(tool),
            (None, None) if text_at(body, "/tool_choice").as_deref() == Some("required") => {
                RequiredOutput::AnyTool
            }
            (None, None) => RequiredOutput::Any,
        },
        texts: texts.filter(|text| !text.is_empty()).collect(),
        last: answered.map_or(only, text),
        tool_results: items.iter().filter(|item| is_result(item)).count(),
        tools: list(body, "tools").iter().filter_map(offered).collect(),
    }
}

/// Results are `function_call_output`, `custom_tool_call_output`, `local_shell_call_output` and the like.
fn is_result(item: &Value) -> bool {
    text_at(item, "/type").is_some_and(|kind| kind.ends_with("_output"))
}

/// A result may be an object with its text in `content` or `output`.
fn result_text(content: &Value) -> String {
    match content.get("output") {
        Some(output) => text_of(output),
        None => text_of(content),
    }
}

/// Built-in tools have a type instead of a name.
fn offered(tool: &Value) -> Option<OfferedTool> {
    let parameters = tool.get("parameters").cloned().unwrap_or_default();
    Some(OfferedTool { name: text_at(tool, "/name").or_else(|| text_at(tool, "/type"))?, parameters })
}
