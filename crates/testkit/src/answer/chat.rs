//! Chat completions, written. Owns that protocol's documents and chunks.

use serde_json::{Value, json};

use super::{Call, Event, Spoken, pieces};
use crate::asked::Delivery;
use crate::script::Usage;

pub(super) fn document(spoken: &Spoken<'_>) -> Value {
    let mut message = json!({"role": "assistant", "content": spoken.text, "refusal": null});
    if let (Some(fields), false) = (message.as_object_mut(), spoken.calls.is_empty()) {
        fields.insert("tool_calls".to_string(), spoken.calls.iter().map(call).collect());
    }
    json!({
        "id": id(spoken), "object": "chat.completion", "created": 0, "model": spoken.model,
        "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": finish(spoken)}],
        "usage": usage(spoken.usage),
    })
}

pub(super) fn events(spoken: &Spoken<'_>, delivery: Delivery) -> Vec<Event> {
    let mut deltas = vec![(json!({"role": "assistant", "content": ""}), Value::Null)];
    let texts = spoken.text.iter().flat_map(|text| pieces(text));
    deltas.extend(texts.map(|piece| (json!({"content": piece}), Value::Null)));
    for (index, called) in spoken.calls.iter().enumerate() {
        let begin = json!({"index": index, "id": called.id, "type": "function",
            "function": {"name": called.name, "arguments": ""}});
        deltas.push((json!({"tool_calls": [begin]}), Value::Null));
        for piece in pieces(&called.arguments.to_string()) {
            let more = json!({"index": index, "function": {"arguments": piece}});
            deltas.push((json!({"tool_calls": [more]}), Value::Null));
        }
    }
    deltas.push((json!({}), json!(finish(spoken))));
    let mut choices: Vec<(Value, Value)> = deltas
        .into_iter()
        .map(|(delta, finish)| (json!([{"index": 0, "delta": delta, "finish_reason": finish}]), Value::Null))
        .collect();
    if delivery == Delivery::StreamWithUsage {
        choices.push((json!([]), usage(spoken.usage)));
    }
    let chunk = |(choices, usage): (Value, Value)| {
        let chunk = json!({"id": id(spoken), "object": "chat.completion.chunk", "created": 0, "model": spoken.model,
            "choices": choices, "usage": usage});
        Event { name: None, data: chunk.to_string() }
    };
    let done = Event { name: None, data: "[DONE]".to_string() };
    choices.into_iter().map(chunk).chain([done]).collect()
}

fn id(spoken: &Spoken<'_>) -> String {
    format!("chatcmpl-{}", spoken.number)
}

/// A forced call is no decision of the model to call, and this protocol says so.
fn finish(spoken: &Spoken<'_>) -> &'static str {
    if spoken.calls.is_empty() || spoken.forced { "stop" } else { "tool_calls" }
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
