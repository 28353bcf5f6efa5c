//! Anthropic messages, written. Owns that protocol's documents and events.

use serde_json::{Value, json};

use super::{Event, Spoken, pieces};
use crate::script::Usage;

pub(super) fn document(spoken: &Spoken<'_>) -> Value {
    let text = spoken.text.iter().map(|text| json!({"type": "text", "text": text}));
    let calls = spoken
        .calls
        .iter()
        .map(|call| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}));
    let content: Vec<Value> = text.chain(calls).collect();
    message(spoken, &json!(content), &json!(stop(spoken)), spoken.usage)
}

pub(super) fn events(spoken: &Spoken<'_>) -> Vec<Event> {
    // What is written is not known when the message begins.
    let begun = Usage { output_tokens: 1, ..spoken.usage };
    let mut all = vec![
        json!({"type": "message_start", "message": message(spoken, &json!([]), &Value::Null, begun)}),
        json!({"type": "ping"}),
    ];
    let text = spoken.text.iter().map(|text| {
        let deltas = pieces(text).into_iter().map(|piece| json!({"type": "text_delta", "text": piece}));
        (json!({"type": "text", "text": ""}), deltas.collect::<Vec<_>>())
    });
    let calls = spoken.calls.iter().map(|call| {
        let begin = json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}});
        let deltas = pieces(&call.arguments.to_string());
        let delta = |piece| json!({"type": "input_json_delta", "partial_json": piece});
        (begin, deltas.into_iter().map(delta).collect())
    });
    for (index, (begin, deltas)) in text.chain(calls).enumerate() {
        all.push(json!({"type": "content_block_start", "index": index, "content_block": begin}));
        let delta = |delta| json!({"type": "content_block_delta", "index": index, "delta": delta});
        all.extend(deltas.into_iter().map(delta));
        all.push(json!({"type": "content_block_stop", "index": index}));
    }
    all.push(json!({"type": "message_delta", "delta": {"stop_reason": stop(spoken), "stop_sequence": null},
        "usage": usage(spoken.usage)}));
    all.push(json!({"type": "message_stop"}));
    all.iter().map(Event::named).collect()
}

fn message(spoken: &Spoken<'_>, content: &Value, stop: &Value, used: Usage) -> Value {
    json!({
        "id": format!("msg_{}", spoken.number), "type": "message", "role": "assistant", "model": spoken.model,
        "content": content, "stop_reason": stop, "stop_sequence": null, "usage": usage(used),
    })
}

fn stop(spoken: &Spoken<'_>) -> &'static str {
    if spoken.calls.is_empty() { "end_turn" } else { "tool_use" }
}

fn usage(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
    })
}
