//! The protocol of OpenAI's chat completions, which most servers offer.
//!
//! Owns building requests and reading answers, streamed or not. Refuses sending and retrying. Reads leniently: a field
//! that is missing or null is absent, and token counts are found wherever a server puts them.

use fixpoint_ports::{AnswerFormat, Message, ModelRequest, StopReason, Tool, ToolCall, ToolOutcome};
use serde_json::{Value, json};

use crate::options::{Delivery, LimitField, RequestOptions, SchemaMode, StreamUsage};
use crate::partial_reply::{Completeness, PartialReply, TokenCounts, count, text};
use crate::schema;
use crate::thinking_cache::ThinkingCache;

pub(crate) fn body(
    request: &ModelRequest,
    model: &str,
    options: RequestOptions,
    thinking: &ThinkingCache,
) -> Value {
    let mut body = json!({"model": model, "messages": messages(request, options, thinking)});
    let limit = match options.limit {
        LimitField::MaxTokens => "max_tokens",
        LimitField::MaxCompletionTokens => "max_completion_tokens",
    };
    set(&mut body, limit, json!(request.max_output_tokens));
    if !request.tools.is_empty() {
        set(&mut body, "tools", request.tools.iter().map(tool).collect());
    }
    if let AnswerFormat::Json { name, schema } = &request.format {
        match options.schema {
            SchemaMode::Enforced => {
                let document = json!({"name": schema::safe_name(name), "schema": schema,
                    "strict": schema::is_strict(schema)});
                set(&mut body, "response_format", json!({"type": "json_schema", "json_schema": document}));
            }
            SchemaMode::Fallback => set(&mut body, "response_format", json!({"type": "json_object"})),
            SchemaMode::InPrompt => {}
        }
    }
    if options.delivery == Delivery::Stream {
        set(&mut body, "stream", json!(true));
        if options.usage == StreamUsage::Requested {
            set(&mut body, "stream_options", json!({"include_usage": true}));
        }
    }
    body
}

fn set(body: &mut Value, field: &str, value: Value) {
    if let Some(map) = body.as_object_mut() {
        map.insert(field.to_string(), value);
    }
}

fn messages(request: &ModelRequest, options: RequestOptions, thinking: &ThinkingCache) -> Vec<Value> {
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    let schema_text = match (&request.format, options.schema) {
        (AnswerFormat::Json { name, schema }, SchemaMode::Fallback | SchemaMode::InPrompt) => {
            Some(schema::as_instructions(name, schema))
        }
        (AnswerFormat::Json { .. }, SchemaMode::Enforced) | (AnswerFormat::Text, _) => None,
    };
    let system = [Some(request.system.clone()).filter(|system| !system.is_empty()), schema_text];
    let system: Vec<String> = system.into_iter().flatten().collect();
    if !system.is_empty() {
        messages.push(json!({"role": "system", "content": system.join("\n\n")}));
    }
    messages.extend(request.messages.iter().map(|one| message(one, thinking)));
    messages
}

fn message(message: &Message, thinking: &ThinkingCache) -> Value {
    match message {
        Message::User(text) => json!({"role": "user", "content": text}),
        Message::Assistant { text, calls } if calls.is_empty() => {
            json!({"role": "assistant", "content": text})
        }
        Message::Assistant { text, calls } => {
            let cached = calls.first().and_then(|call| thinking.get(&call.id)).unwrap_or_default();
            let content = if text.is_empty() { Value::Null } else { json!(text) };
            let calls = calls.iter().map(|one| call(one, cached.extras.get(&one.id)));
            let mut turn =
                json!({"role": "assistant", "content": content, "tool_calls": calls.collect::<Vec<_>>()});
            if !cached.reasoning.is_empty() {
                set(&mut turn, "reasoning_content", json!(cached.reasoning));
            }
            turn
        }
        Message::ToolResult { call, text, outcome } => {
            let content = match outcome {
                ToolOutcome::Success => text.clone(),
                // The protocol has no field for it, and the model must not take an error for a result.
                ToolOutcome::Failure => format!("The call failed: {text}"),
            };
            json!({"role": "tool", "tool_call_id": call, "content": content})
        }
    }
}

/// A tool call, with the `extra_content` that Gemini requires to get back.
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

/// Reads an answer that was not streamed; `None` where it has another form.
pub(crate) fn read_whole(answer: &Value, on_text: &mut dyn FnMut(&str)) -> Option<PartialReply> {
    let choice = answer.pointer("/choices/0")?;
    let message = choice.get("message").filter(|message| message.is_object())?;
    let mut partial = PartialReply { model: text(answer, "/model").to_string(), ..PartialReply::default() };
    partial.push_text(&content(message), on_text);
    let calls = message.get("tool_calls").and_then(Value::as_array);
    for (index, call) in calls.into_iter().flatten().enumerate() {
        append_call(&mut partial, index, call)?;
    }
    partial.reasoning = text(message, "/reasoning_content").to_string();
    partial.tokens = token_counts(answer);
    partial.stop = Some(stop(text(choice, "/finish_reason"), message));
    read_refusal(&mut partial, message, on_text);
    partial.completeness = Completeness::Complete;
    Some(partial)
}

/// Reads one event of a stream; `None` where it has another form.
pub(crate) fn read_event(
    partial: &mut PartialReply,
    data: &str,
    on_text: &mut dyn FnMut(&str),
) -> Option<()> {
    if data.trim() == "[DONE]" {
        partial.completeness = Completeness::Complete;
        return Some(());
    }
    let event: Value = serde_json::from_str(data).ok().filter(Value::is_object)?;
    if partial.model.is_empty() {
        partial.model = text(&event, "/model").to_string();
    }
    let tokens = token_counts(&event);
    if tokens != TokenCounts::default() {
        partial.tokens = tokens;
    }
    let Some(choice) = event.pointer("/choices/0") else { return Some(()) };
    let delta = choice.get("delta").unwrap_or(&Value::Null);
    partial.push_text(&content(delta), on_text);
    let thinking = text(delta, "/reasoning_content").len().max(text(delta, "/reasoning").len());
    partial.thinking_bytes = partial.thinking_bytes.saturating_add(thinking as u64);
    partial.reasoning.push_str(text(delta, "/reasoning_content"));
    let calls = delta.get("tool_calls").and_then(Value::as_array);
    for (position, call) in calls.into_iter().flatten().enumerate() {
        let index = count(call, "/index").and_then(|index| usize::try_from(index).ok());
        append_call(partial, index.unwrap_or(position), call)?;
    }
    read_refusal(partial, delta, on_text);
    let reason = text(choice, "/finish_reason");
    if !reason.is_empty() {
        // A refusal arrives in earlier events; the last one only says that the text is complete.
        let declined = partial.stop.filter(|stop| *stop == StopReason::Declined);
        partial.stop = declined.or_else(|| Some(stop(reason, delta)));
        partial.completeness = partial.completeness.max(Completeness::MayEnd);
    }
    Some(())
}

/// The content is a text, or a list of parts of which some have text.
fn content(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().map(|part| text(part, "/text")).collect(),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => String::new(),
    }
}

fn append_call(partial: &mut PartialReply, index: usize, fragment: &Value) -> Option<()> {
    let call = partial.call_at(index)?;
    let id = text(fragment, "/id");
    if !id.is_empty() {
        call.id = id.to_string();
    }
    let name = text(fragment, "/function/name");
    // Some servers repeat the name in every fragment, others split it.
    if !name.is_empty() && call.name != name {
        call.name.push_str(name);
    }
    if let Some(extra) = fragment.get("extra_content").filter(|extra| !extra.is_null()) {
        call.extra = Some(extra.clone());
    }
    match fragment.pointer("/function/arguments") {
        Some(Value::String(piece)) => call.arguments.push_str(piece),
        // Some servers send the arguments as one object.
        Some(object @ Value::Object(_)) => call.arguments = object.to_string(),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_)) | None => {}
    }
    Some(())
}

fn read_refusal(partial: &mut PartialReply, message: &Value, on_text: &mut dyn FnMut(&str)) {
    let refusal = text(message, "/refusal").to_string();
    if !refusal.is_empty() {
        partial.push_text(&refusal, on_text);
        partial.stop = Some(StopReason::Declined);
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

/// `prompt_tokens` includes cached tokens, which are counted separately here. Gemini leaves thinking, which is paid for,
/// out of `completion_tokens` but not out of the total.
fn token_counts(answer: &Value) -> TokenCounts {
    let of = |name: &str| count(answer, &format!("/usage/{name}"));
    let Some(read) = of("prompt_tokens") else { return TokenCounts::default() };
    let cached =
        of("prompt_tokens_details/cached_tokens").or_else(|| of("prompt_cache_hit_tokens")).unwrap_or(0);
    let written_to_cache = of("prompt_tokens_details/cache_write_tokens").unwrap_or(0);
    let beyond = of("total_tokens").map(|total| total.saturating_sub(read));
    TokenCounts {
        input: Some(read.saturating_sub(cached).saturating_sub(written_to_cache)),
        cache_read: Some(cached.min(read)),
        cache_write: Some(written_to_cache.min(read.saturating_sub(cached))),
        output: of("completion_tokens").max(beyond),
    }
}
