//! OpenAI's chat completions, as most servers speak them.
//!
//! Owns the form of a request and the reading of answers, whole and in pieces. Refuses sending and repeating. Reads
//! leniently: a field that is missing or null is absent, and counts are taken from wherever a server puts them.

use fixpoint_ports::{AnswerForm, Message, ModelRequest, StopReason, Tool, ToolCall, ToolOutcome};
use serde_json::{Value, json};

use crate::draft::{Completeness, Draft, Told, count, text};
use crate::keepsakes::Keepsakes;
use crate::schema;
use crate::shape::{Delivery, LimitField, SchemaForm, Shape, StreamUsage};

/// The request.
pub(crate) fn body(request: &ModelRequest, model: &str, shape: Shape, kept: &Keepsakes) -> Value {
    let mut body = json!({"model": model, "messages": messages(request, shape, kept)});
    let limit = match shape.limit {
        LimitField::MaxTokens => "max_tokens",
        LimitField::MaxCompletionTokens => "max_completion_tokens",
    };
    set(&mut body, limit, json!(request.max_output_tokens));
    if !request.tools.is_empty() {
        set(&mut body, "tools", request.tools.iter().map(tool).collect());
    }
    if let AnswerForm::Json { name, schema } = &request.form {
        match shape.schema {
            SchemaForm::Enforced => {
                let document = json!({"name": schema::safe_name(name), "schema": schema,
                    "strict": schema::is_strict(schema)});
                set(&mut body, "response_format", json!({"type": "json_schema", "json_schema": document}));
            }
            SchemaForm::Loose => set(&mut body, "response_format", json!({"type": "json_object"})),
            SchemaForm::Words => {}
        }
    }
    match (shape.delivery, shape.usage) {
        (Delivery::Stream, StreamUsage::AskedFor) => {
            set(&mut body, "stream", json!(true));
            set(&mut body, "stream_options", json!({"include_usage": true}));
        }
        (Delivery::Stream, StreamUsage::LeftOut) => set(&mut body, "stream", json!(true)),
        (Delivery::Whole, StreamUsage::AskedFor | StreamUsage::LeftOut) => {}
    }
    body
}

fn set(body: &mut Value, field: &str, value: Value) {
    if let Some(map) = body.as_object_mut() {
        map.insert(field.to_string(), value);
    }
}

fn messages(request: &ModelRequest, shape: Shape, kept: &Keepsakes) -> Vec<Value> {
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    let words = match (&request.form, shape.schema) {
        (AnswerForm::Json { name, schema }, SchemaForm::Loose | SchemaForm::Words) => {
            Some(schema::in_words(name, schema))
        }
        (AnswerForm::Json { .. }, SchemaForm::Enforced) | (AnswerForm::Text, _) => None,
    };
    let system = [Some(request.system.clone()).filter(|system| !system.is_empty()), words];
    let system: Vec<String> = system.into_iter().flatten().collect();
    if !system.is_empty() {
        messages.push(json!({"role": "system", "content": system.join("\n\n")}));
    }
    messages.extend(request.messages.iter().map(|said| message(said, kept)));
    messages
}

fn message(message: &Message, kept: &Keepsakes) -> Value {
    match message {
        Message::User(text) => json!({"role": "user", "content": text}),
        Message::Assistant { text, calls } if calls.is_empty() => {
            json!({"role": "assistant", "content": text})
        }
        Message::Assistant { text, calls } => {
            let kept = calls.first().and_then(|call| kept.of(&call.id)).unwrap_or_default();
            let content = if text.is_empty() { Value::Null } else { json!(text) };
            let calls = calls.iter().map(|said| call(said, kept.extras.get(&said.id)));
            let mut turn =
                json!({"role": "assistant", "content": content, "tool_calls": calls.collect::<Vec<_>>()});
            if !kept.reasoning.is_empty() {
                set(&mut turn, "reasoning_content", json!(kept.reasoning));
            }
            turn
        }
        Message::ToolResult { call, text, outcome } => {
            let content = match outcome {
                ToolOutcome::Success => text.clone(),
                // There is no field for it, and the model must not take an error for a result.
                ToolOutcome::Failure => format!("The call failed: {text}"),
            };
            json!({"role": "tool", "tool_call_id": call, "content": content})
        }
    }
}

/// A call, with what Gemini gave beside it: it refuses to go on without.
fn call(call: &ToolCall, extra: Option<&Value>) -> Value {
    let arguments = call.arguments.as_str().map_or_else(|| call.arguments.to_string(), str::to_string);
    let mut value =
        json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}});
    if let Some(extra) = extra {
        set(&mut value, "extra_content", extra.clone());
    }
    value
}

fn tool(tool: &Tool) -> Value {
    json!({"type": "function", "function": {
        "name": tool.name, "description": tool.description, "parameters": tool.parameters}})
}

/// Reads a whole answer; `None` where it is none.
pub(crate) fn read_whole(answer: &Value, heard: &mut dyn FnMut(&str)) -> Option<Draft> {
    let choice = answer.pointer("/choices/0")?;
    let message = choice.get("message").filter(|message| message.is_object())?;
    let mut draft = Draft { model: text(answer, "/model").to_string(), ..Draft::default() };
    draft.say(&content(message), heard);
    let calls = message.get("tool_calls").and_then(Value::as_array);
    for (index, call) in calls.into_iter().flatten().enumerate() {
        add_to_call(&mut draft, index, call)?;
    }
    draft.reasoning = text(message, "/reasoning_content").to_string();
    draft.told = told(answer);
    draft.stop = Some(stop(text(choice, "/finish_reason"), message));
    read_refusal(&mut draft, message, heard);
    draft.completeness = Completeness::Ended;
    Some(draft)
}

/// Reads one event of a stream; `None` where it is none.
pub(crate) fn read_event(draft: &mut Draft, data: &str, heard: &mut dyn FnMut(&str)) -> Option<()> {
    if data.trim() == "[DONE]" {
        draft.completeness = Completeness::Ended;
        return Some(());
    }
    let event: Value = serde_json::from_str(data).ok().filter(Value::is_object)?;
    if draft.model.is_empty() {
        draft.model = text(&event, "/model").to_string();
    }
    let told = told(&event);
    if told != Told::default() {
        draft.told = told;
    }
    let Some(choice) = event.pointer("/choices/0") else { return Some(()) };
    let delta = choice.get("delta").unwrap_or(&Value::Null);
    draft.say(&content(delta), heard);
    let thought = text(delta, "/reasoning_content").len().max(text(delta, "/reasoning").len());
    draft.thought = draft.thought.saturating_add(thought as u64);
    draft.reasoning.push_str(text(delta, "/reasoning_content"));
    let calls = delta.get("tool_calls").and_then(Value::as_array);
    for (place, call) in calls.into_iter().flatten().enumerate() {
        let index = count(call, "/index").and_then(|index| usize::try_from(index).ok());
        add_to_call(draft, index.unwrap_or(place), call)?;
    }
    read_refusal(draft, delta, heard);
    let reason = text(choice, "/finish_reason");
    if !reason.is_empty() {
        // A refusal came in earlier pieces, and the last one says only that the words are over.
        let declined = draft.stop.filter(|stop| *stop == StopReason::Declined);
        draft.stop = declined.or_else(|| Some(stop(reason, delta)));
        draft.completeness = draft.completeness.max(Completeness::MayEnd);
    }
    Some(())
}

/// Words are a text, or a list of parts of which some are texts.
fn content(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(words)) => words.clone(),
        Some(Value::Array(parts)) => parts.iter().map(|part| text(part, "/text")).collect(),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => String::new(),
    }
}

fn add_to_call(draft: &mut Draft, index: usize, fragment: &Value) -> Option<()> {
    let call = draft.call_at(index)?;
    let id = text(fragment, "/id");
    if !id.is_empty() {
        call.id = id.to_string();
    }
    let name = text(fragment, "/function/name");
    // Some servers repeat the whole name in every fragment; others never cut it.
    if !name.is_empty() && call.name != name {
        call.name.push_str(name);
    }
    if let Some(extra) = fragment.get("extra_content").filter(|extra| !extra.is_null()) {
        call.extra = Some(extra.clone());
    }
    match fragment.pointer("/function/arguments") {
        Some(Value::String(piece)) => call.arguments.push_str(piece),
        // Servers that are no OpenAI give an object at once.
        Some(object @ Value::Object(_)) => call.arguments = object.to_string(),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_)) | None => {}
    }
    Some(())
}

fn read_refusal(draft: &mut Draft, message: &Value, heard: &mut dyn FnMut(&str)) {
    let refusal = text(message, "/refusal").to_string();
    if !refusal.is_empty() {
        draft.say(&refusal, heard);
        draft.stop = Some(StopReason::Declined);
    }
}

fn stop(reason: &str, message: &Value) -> StopReason {
    match reason {
        "length" | "max_tokens" => StopReason::Length,
        "tool_calls" | "function_call" => StopReason::ToolCalls,
        "content_filter" | "refusal" => StopReason::Declined,
        _ if !text(message, "/refusal").is_empty() => StopReason::Declined,
        _ => StopReason::Finished,
    }
}

/// Tokens read include those out of the cache, and are told apart here. Gemini leaves thinking out of the tokens
/// written, though not out of the total, and it is paid for.
fn told(answer: &Value) -> Told {
    let of = |name: &str| count(answer, &format!("/usage/{name}"));
    let Some(read) = of("prompt_tokens") else { return Told::default() };
    let cached =
        of("prompt_tokens_details/cached_tokens").or_else(|| of("prompt_cache_hit_tokens")).unwrap_or(0);
    let written_to_cache = of("prompt_tokens_details/cache_write_tokens").unwrap_or(0);
    let beyond = of("total_tokens").map(|total| total.saturating_sub(read));
    Told {
        input: Some(read.saturating_sub(cached).saturating_sub(written_to_cache)),
        cache_read: Some(cached.min(read)),
        cache_write: Some(written_to_cache.min(read.saturating_sub(cached))),
        output: of("completion_tokens").max(beyond),
    }
}
