//! Writing answers of Anthropic messages.

use serde_json::{Value, json};

use super::{Event, ReplyContent, pieces};
use crate::script::Usage;

pub(super) fn document(content: &ReplyContent<'_>) -> Value {
    let text = content.text.iter().map(|text| json!({"type": "text", "text": text}));
    let calls = content
        .calls
        .iter()
        .map(|call| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}));
    let blocks: Vec<Value> = text.chain(calls).collect();
    message(content, &json!(blocks), &json!(stop(content)), content.usage)
}

pub(super) fn events(content: &ReplyContent<'_>) -> Vec<Event> {
    // The output tokens are not known when the message starts.
    let started = Usage { output_tokens: 1, ..content.usage };
    let mut all = vec![
        json!({"type": "message_start", "message": message(content, &json!([]), &Value::Null, started)}),
        json!({"type": "ping"}),
    ];
    let text = content.text.iter().map(|text| {
        let deltas = pieces(text).into_iter().map(|piece| json!({"type": "text_delta", "text": piece}));
        (json!({"type": "text", "text": ""}), deltas.collect::<Vec<_>>())
    });
    let calls = content.calls.iter().map(|call| {
        let start = json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}});
        let deltas = pieces(&call.arguments.to_string());
        let delta = |piece| json!({"type": "input_json_delta", "partial_json": piece});
        (start, deltas.into_iter().map(delta).collect())
    });
    for (index, (start, deltas)) in text.chain(calls).enumerate() {
        all.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        let delta = |delta| json!({"type": "content_block_delta", "index": index, "delta": delta});
        all.extend(deltas.into_iter().map(delta));
        all.push(json!({"type": "content_block_stop", "index": index}));
    }
    all.push(json!({"type": "message_delta", "delta": {"stop_reason": stop(content), "stop_sequence": null},
        "usage": usage(content.usage)}));
    all.push(json!({"type": "message_stop"}));
    all.iter().map(Event::named).collect()
}

fn message(content: &ReplyContent<'_>, blocks: &Value, stop: &Value, used: Usage) -> Value {
    json!({
        "id": format!("msg_{}", content.number), "type": "message", "role": "assistant", "model": content.model,
        "content": blocks, "stop_reason": stop, "stop_sequence": null, "usage": usage(used),
    })
}

fn stop(content: &ReplyContent<'_>) -> &'static str {
    if content.calls.is_empty() { "end_turn" } else { "tool_use" }
}

fn usage(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
    })
}
