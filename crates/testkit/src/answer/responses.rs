//! Writing answers of OpenAI responses.

use serde_json::{Value, json};

use super::{Call, CallKind, Event, ReplyContent, pieces};
use crate::script::Usage;

pub(super) fn document(content: &ReplyContent<'_>) -> Value {
    let items: Vec<Value> = message_item(content).into_iter().chain(call_items(content)).collect();
    response(content, "completed", &json!(items), &usage(content.usage))
}

pub(super) fn events(content: &ReplyContent<'_>) -> Vec<Event> {
    let started = response(content, "in_progress", &json!([]), &Value::Null);
    let mut all = vec![
        json!({"type": "response.created", "response": started}),
        json!({"type": "response.in_progress", "response": started}),
    ];
    let mut index = 0;
    if let (Some(text), Some(item)) = (&content.text, message_item(content)) {
        all.extend(message_events(text, &item, &message_id(content)));
        index += 1;
    }
    for (call, item) in content.calls.iter().zip(call_items(content)) {
        all.extend(call_events(call, &item, index));
        index += 1;
    }
    all.push(json!({"type": "response.completed", "response": document(content)}));
    let numbered = all
        .into_iter()
        .enumerate()
        .map(|(number, event)| Event::named(&with(event, "sequence_number", json!(number))));
    numbered.collect()
}

fn message_events(text: &str, item: &Value, id: &str) -> Vec<Value> {
    let place = |event: Value| {
        let event = with(with(event, "output_index", json!(0)), "item_id", json!(id));
        with(event, "content_index", json!(0))
    };
    let started = with(with(item.clone(), "content", json!([])), "status", json!("in_progress"));
    let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
    let mut all = vec![
        json!({"type": "response.output_item.added", "output_index": 0, "item": started}),
        place(json!({"type": "response.content_part.added", "part": part("")})),
    ];
    all.extend(
        pieces(text)
            .into_iter()
            .map(|piece| place(json!({"type": "response.output_text.delta", "delta": piece}))),
    );
    all.push(place(json!({"type": "response.output_text.done", "text": text})));
    all.push(place(json!({"type": "response.content_part.done", "part": part(text)})));
    all.push(json!({"type": "response.output_item.done", "output_index": 0, "item": item}));
    all
}

fn call_events(call: &Call, item: &Value, index: usize) -> Vec<Value> {
    let place =
        |event: Value| with(with(event, "output_index", json!(index)), "item_id", json!(item_id(call)));
    let started = with(item.clone(), "status", json!("in_progress"));
    let (started, deltas) = match call.kind {
        CallKind::LocalShell => (started, vec![]),
        CallKind::Function => (with(started, "arguments", json!("")), pieces(&call.arguments.to_string())),
    };
    let mut all = vec![json!({"type": "response.output_item.added", "output_index": index, "item": started})];
    if !deltas.is_empty() {
        let delta = |piece| place(json!({"type": "response.function_call_arguments.delta", "delta": piece}));
        all.extend(deltas.into_iter().map(delta));
        let done =
            json!({"type": "response.function_call_arguments.done", "arguments": call.arguments.to_string()});
        all.push(place(done));
    }
    all.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    all
}

fn response(content: &ReplyContent<'_>, status: &str, output: &Value, usage: &Value) -> Value {
    json!({
        "id": format!("resp_{}", content.number), "object": "response", "created_at": 0, "status": status,
        "model": content.model, "output": output, "usage": usage, "error": null, "incomplete_details": null,
    })
}

fn message_id(content: &ReplyContent<'_>) -> String {
    format!("msg_{}", content.number)
}

fn message_item(content: &ReplyContent<'_>) -> Option<Value> {
    let text = content.text.as_ref()?;
    Some(json!({"type": "message", "id": message_id(content), "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}]}))
}

fn item_id(call: &Call) -> String {
    format!("fc_{}", call.id)
}

fn call_items(content: &ReplyContent<'_>) -> impl Iterator<Item = Value> {
    content.calls.iter().map(|call| match call.kind {
        CallKind::Function => json!({"type": "function_call", "id": item_id(call), "call_id": call.id,
            "name": call.name, "arguments": call.arguments.to_string(), "status": "completed"}),
        CallKind::LocalShell => json!({"type": "local_shell_call", "id": item_id(call), "call_id": call.id,
            "status": "completed",
            "action": {"type": "exec", "command": call.arguments.get("command"), "env": {}}}),
    })
}

/// The document with one field set.
fn with(mut document: Value, field: &str, value: Value) -> Value {
    if let Some(fields) = document.as_object_mut() {
        fields.insert(field.to_string(), value);
    }
    document
}

fn usage(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.all_input(),
        "input_tokens_details": {"cached_tokens": usage.cache_read_tokens},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.all_input().saturating_add(usage.output_tokens),
    })
}
