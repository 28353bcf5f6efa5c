//! Writing answers of chat completions.

use serde_json::{Value, json};

use super::{Call, Event, ReplyContent, pieces};
use crate::question::Delivery;
use crate::script::Usage;

pub(super) fn document(content: &ReplyContent<'_>) -> Value {
    let mut message = json!({"role": "assistant", "content": content.text, "refusal": null});
    if let (Some(fields), false) = (message.as_object_mut(), content.calls.is_empty()) {
        fields.insert("tool_calls".to_string(), content.calls.iter().map(call).collect());
    }
    json!({
        "id": id(content), "object": "chat.completion", "created": 0, "model": content.model,
        "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": finish(content)}],
        "usage": usage(content.usage),
    })
}

pub(super) fn events(content: &ReplyContent<'_>, delivery: Delivery) -> Vec<Event> {
    let mut deltas = vec![(json!({"role": "assistant", "content": ""}), Value::Null)];
    let texts = content.text.iter().flat_map(|text| pieces(text));
    deltas.extend(texts.map(|piece| (json!({"content": piece}), Value::Null)));
    for (index, called) in content.calls.iter().enumerate() {
        let start = json!({"index": index, "id": called.id, "type": "function",
            "function": {"name": called.name, "arguments": ""}});
        deltas.push((json!({"tool_calls": [start]}), Value::Null));
        for piece in pieces(&called.arguments.to_string()) {
            let more = json!({"index": index, "function": {"arguments": piece}});
            deltas.push((json!({"tool_calls": [more]}), Value::Null));
        }
    }
    deltas.push((json!({}), json!(finish(content))));
    let mut choices: Vec<(Value, Value)> = deltas
        .into_iter()
        .map(|(delta, finish)| (json!([{"index": 0, "delta": delta, "finish_reason": finish}]), Value::Null))
        .collect();
    if delivery == Delivery::StreamWithUsage {
        choices.push((json!([]), usage(content.usage)));
    }
    let chunk = |(choices, usage): (Value, Value)| {
        let chunk = json!({"id": id(content), "object": "chat.completion.chunk", "created": 0, "model": content.model,
            "choices": choices, "usage": usage});
        Event { name: None, data: chunk.to_string() }
    };
    let done = Event { name: None, data: "[DONE]".to_string() };
    choices.into_iter().map(chunk).chain([done]).collect()
}

fn id(content: &ReplyContent<'_>) -> String {
    format!("chatcmpl-{}", content.number)
}

/// A forced call is not reported as `tool_calls` in this protocol.
fn finish(content: &ReplyContent<'_>) -> &'static str {
    if content.calls.is_empty() || content.forced { "stop" } else { "tool_calls" }
}

fn call(call: &Call) -> Value {
    json!({"id": call.id, "type": "function",
        "function": {"name": call.name, "arguments": call.arguments.to_string()}})
}

fn usage(usage: Usage) -> Value {
    json!({
        "prompt_tokens": usage.all_input(),
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.all_input().saturating_add(usage.output_tokens),
        "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens},
    })
}
