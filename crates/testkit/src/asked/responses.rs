//! OpenAI responses, read. Owns where that protocol keeps what a rule looks at.

use serde_json::Value;

use super::{Asked, Demand, Offered, Protocol, delivery, list, text_at, words};

pub(super) fn asked(body: &Value) -> Asked {
    let items = list(body, "input");
    let instructions = text_at(body, "/instructions").unwrap_or_default();
    // The input may be one text instead of a list of items.
    let only = text_at(body, "/input").unwrap_or_default();
    let said = |item: &Value| {
        item.get("content").or_else(|| item.get("output")).map(result_words).unwrap_or_default()
    };
    let answered =
        items.iter().rev().find(|item| is_result(item) || text_at(item, "/role").as_deref() == Some("user"));
    let texts = [instructions, only.clone()].into_iter().chain(items.iter().map(said));
    let format = text_at(body, "/text/format/type").filter(|kind| kind != "text");
    let forced = text_at(body, "/tool_choice/name");
    Asked {
        protocol: Protocol::Responses,
        delivery: delivery(body),
        model: text_at(body, "/model").unwrap_or_default(),
        form: text_at(body, "/text/format/name").or_else(|| forced.clone()),
        demand: match (format, forced) {
            (Some(_), _) => Demand::Document,
            (None, Some(tool)) => Demand::Tool(tool),
            (None, None) if text_at(body, "/tool_choice").as_deref() == Some("required") => Demand::SomeTool,
            (None, None) => Demand::Nothing,
        },
        texts: texts.filter(|text| !text.is_empty()).collect(),
        last: answered.map_or(only, said),
        tool_results: items.iter().filter(|item| is_result(item)).count(),
        tools: list(body, "tools").iter().filter_map(offered).collect(),
    }
}

/// Results are `function_call_output`, `custom_tool_call_output`, `local_shell_call_output` and more of that kind.
fn is_result(item: &Value) -> bool {
    text_at(item, "/type").is_some_and(|kind| kind.ends_with("_output"))
}

/// A result may be a document that holds its text as `content` or as `output`.
fn result_words(content: &Value) -> String {
    match content.get("output") {
        Some(output) => words(output),
        None => words(content),
    }
}

/// Tools that are built in have no name but a type.
fn offered(tool: &Value) -> Option<Offered> {
    let parameters = tool.get("parameters").cloned().unwrap_or_default();
    Some(Offered { name: text_at(tool, "/name").or_else(|| text_at(tool, "/type"))?, parameters })
}
