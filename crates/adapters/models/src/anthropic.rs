//! The protocol of Anthropic's Messages API.
//!
//! Owns building requests and reading answers, streamed or not. Refuses sending and retrying.
//!
//! A JSON document is first requested by `output_config.format`, since the newest models reject forced tool calls. Models
//! without it are forced to call a tool named after the document, and the tool's input is the answer.

use fixpoint_ports::{AnswerFormat, Message, ModelRequest, StopReason, ToolOutcome};
use serde_json::{Map, Value, json};

use crate::options::{Delivery, RequestOptions, SchemaMode};
use crate::partial_reply::{Completeness, PartialCall, PartialReply, count, text};
use crate::schema;
use crate::thinking_cache::ThinkingCache;

/// The name of the tool whose input is the document, where it is requested that way. Not if the caller has tools: a
/// forced tool would keep the model from calling them.
pub(crate) fn document_tool(request: &ModelRequest, options: RequestOptions) -> Option<String> {
    match (&request.format, options.schema) {
        (AnswerFormat::Json { name, .. }, SchemaMode::Fallback) if request.tools.is_empty() => {
            Some(schema::safe_name(name))
        }
        (AnswerFormat::Json { .. }, SchemaMode::Enforced | SchemaMode::Fallback | SchemaMode::InPrompt)
        | (AnswerFormat::Text, _) => None,
    }
}

pub(crate) fn body(
    request: &ModelRequest,
    model: &str,
    options: RequestOptions,
    thinking: &ThinkingCache,
) -> Value {
    let mut body = Map::new();
    body.insert("model".to_string(), json!(model));
    body.insert("max_tokens".to_string(), json!(request.max_output_tokens));
    let mut tools: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| json!({"name": tool.name, "description": tool.description, "input_schema": tool.parameters}))
        .collect();
    let mut schema_text = None;
    if let AnswerFormat::Json { name, schema } = &request.format {
        match (options.schema, document_tool(request, options)) {
            (SchemaMode::Enforced, _) => {
                let format = json!({"type": "json_schema", "schema": schema::closed(schema)});
                body.insert("output_config".to_string(), json!({"format": format}));
            }
            (SchemaMode::Fallback | SchemaMode::InPrompt, Some(tool)) => {
                tools.push(json!({"name": tool, "description": "Gives the answer.", "input_schema": schema}));
                body.insert("tool_choice".to_string(), json!({"type": "tool", "name": tool}));
            }
            (SchemaMode::Fallback | SchemaMode::InPrompt, None) => {
                schema_text = Some(schema::as_instructions(name, schema))
            }
        }
    }
    let system = system(&request.system, schema_text);
    if !system.is_empty() {
        body.insert("system".to_string(), Value::Array(system));
    }
    body.insert("messages".to_string(), Value::Array(messages(&request.messages, thinking)));
    if !tools.is_empty() {
        body.insert("tools".to_string(), Value::Array(tools));
    }
    if options.delivery == Delivery::Stream {
        body.insert("stream".to_string(), json!(true));
    }
    Value::Object(body)
}

/// The system prompt is the same for many requests, so it is marked for caching. Blank blocks are an error.
fn system(instructions: &str, schema_text: Option<String>) -> Vec<Value> {
    let mut blocks = Vec::new();
    if !instructions.trim().is_empty() {
        blocks.push(json!({"type": "text", "text": instructions, "cache_control": {"type": "ephemeral"}}));
    }
    blocks.extend(schema_text.map(|text| json!({"type": "text", "text": text})));
    blocks
}

/// Consecutive messages of one side are joined, since all tool results must be in the next turn. Once the model has
/// answered, further turns will repeat these, so they are marked for caching; a single question is not, since writing to
/// the cache costs more than reading.
fn messages(messages: &[Message], thinking: &ThinkingCache) -> Vec<Value> {
    let mut turns: Vec<(&'static str, Vec<Value>)> = Vec::new();
    for message in messages {
        let (role, blocks) = blocks(message, thinking);
        match turns.last_mut() {
            Some((last, known)) if *last == role => known.extend(blocks),
            _ if blocks.is_empty() => {}
            _ => turns.push((role, blocks)),
        }
    }
    let has_answered = turns.iter().any(|(role, _)| *role == "assistant");
    if let Some(block) = turns.last_mut().and_then(|(_, blocks)| blocks.last_mut()).filter(|_| has_answered)
        && let Some(map) = block.as_object_mut()
    {
        map.insert("cache_control".to_string(), json!({"type": "ephemeral"}));
    }
    turns.into_iter().map(|(role, blocks)| json!({"role": role, "content": blocks})).collect()
}

/// The blocks of a turn. Thinking goes before the tool calls it led to, unchanged.
fn blocks(message: &Message, thinking: &ThinkingCache) -> (&'static str, Vec<Value>) {
    let text_block = |text: &str| (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}));
    match message {
        Message::User(text) => ("user", text_block(text).into_iter().collect()),
        Message::Assistant { text, calls } => {
            let cached = calls.first().and_then(|call| thinking.get(&call.id)).unwrap_or_default();
            let thinking = cached.blocks.clone().into_iter();
            let calls = calls.iter().map(|call| {
                let arguments = &call.arguments;
                let input =
                    if arguments.is_object() { arguments.clone() } else { json!({"arguments": arguments}) };
                json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
            });
            ("assistant", thinking.chain(text_block(text.trim_end())).chain(calls).collect())
        }
        Message::ToolResult { call, text, outcome } => {
            let failed = matches!(outcome, ToolOutcome::Failure);
            let block =
                json!({"type": "tool_result", "tool_use_id": call, "content": text, "is_error": failed});
            ("user", vec![block])
        }
    }
}

/// Reads an answer that was not streamed; `None` where it has another form.
pub(crate) fn read_whole(answer: &Value, on_text: &mut dyn FnMut(&str)) -> Option<PartialReply> {
    let blocks = answer.get("content").and_then(Value::as_array)?;
    let mut partial = PartialReply { model: text(answer, "/model").to_string(), ..PartialReply::default() };
    for block in blocks {
        match text(block, "/type") {
            "text" => partial.push_text(text(block, "/text"), on_text),
            "tool_use" => {
                let call = add_call(&mut partial, block)?;
                call.arguments = block.get("input").map(Value::to_string).unwrap_or_default();
            }
            "thinking" | "redacted_thinking" => {
                partial.thinking_bytes =
                    partial.thinking_bytes.saturating_add(text(block, "/thinking").len() as u64);
                partial.thinking_blocks.push(block.clone());
            }
            _ => {}
        }
    }
    read_usage(&mut partial, answer);
    partial.stop = Some(stop(text(answer, "/stop_reason")));
    partial.completeness = Completeness::Complete;
    Some(partial)
}

/// Reads one event of a stream; `None` where it has another form. Unknown kinds are skipped, as the protocol demands.
pub(crate) fn read_event(
    partial: &mut PartialReply,
    data: &str,
    on_text: &mut dyn FnMut(&str),
) -> Option<()> {
    let event: Value = serde_json::from_str(data).ok().filter(Value::is_object)?;
    match text(&event, "/type") {
        "message_start" => {
            partial.model = text(&event, "/message/model").to_string();
            read_usage(partial, event.get("message")?);
        }
        "content_block_start" => start_block(partial, event.get("content_block")?, on_text)?,
        "content_block_delta" => continue_block(partial, event.get("delta")?, on_text)?,
        "message_delta" => {
            read_usage(partial, &event);
            let reason = text(&event, "/delta/stop_reason");
            if !reason.is_empty() {
                partial.stop = Some(stop(reason));
                partial.completeness = Completeness::MayEnd;
            }
        }
        "message_stop" => partial.completeness = Completeness::Complete,
        _ => {}
    }
    Some(())
}

fn add_call<'a>(partial: &'a mut PartialReply, block: &Value) -> Option<&'a mut PartialCall> {
    let call = partial.call_at(partial.calls.len())?;
    call.id = text(block, "/id").to_string();
    call.name = text(block, "/name").to_string();
    Some(call)
}

fn start_block(partial: &mut PartialReply, block: &Value, on_text: &mut dyn FnMut(&str)) -> Option<()> {
    match text(block, "/type") {
        "text" => partial.push_text(text(block, "/text"), on_text),
        "tool_use" => {
            let call = add_call(partial, block)?;
            // The input is empty here and follows in fragments, except from servers that send it at once.
            let whole =
                block.get("input").filter(|input| input.as_object().is_some_and(|map| !map.is_empty()));
            call.arguments = whole.map(Value::to_string).unwrap_or_default();
        }
        "thinking" | "redacted_thinking" => partial.thinking_blocks.push(block.clone()),
        _ => {}
    }
    Some(())
}

/// Blocks come one after the other, so a fragment belongs to the last block of its kind.
fn continue_block(partial: &mut PartialReply, delta: &Value, on_text: &mut dyn FnMut(&str)) -> Option<()> {
    match text(delta, "/type") {
        "text_delta" => partial.push_text(text(delta, "/text"), on_text),
        "input_json_delta" => partial.calls.last_mut()?.arguments.push_str(text(delta, "/partial_json")),
        "thinking_delta" => {
            partial.thinking_bytes =
                partial.thinking_bytes.saturating_add(text(delta, "/thinking").len() as u64);
            append_thinking(partial, "thinking", text(delta, "/thinking"));
        }
        "signature_delta" => append_thinking(partial, "signature", text(delta, "/signature")),
        _ => {}
    }
    Some(())
}

fn append_thinking(partial: &mut PartialReply, field: &str, piece: &str) {
    let Some(block) = partial.thinking_blocks.last_mut().and_then(Value::as_object_mut) else { return };
    if let Value::String(text) = block.entry(field).or_insert_with(|| json!("")) {
        text.push_str(piece);
    }
}

/// Counts are totals: a later one replaces an earlier one.
fn read_usage(partial: &mut PartialReply, holder: &Value) {
    let of = |name: &str| count(holder, &format!("/usage/{name}"));
    let tokens = &mut partial.tokens;
    tokens.input = of("input_tokens").or(tokens.input);
    tokens.cache_read = of("cache_read_input_tokens").or(tokens.cache_read);
    tokens.cache_write = of("cache_creation_input_tokens").or(tokens.cache_write);
    tokens.output = of("output_tokens").or(tokens.output);
}

fn stop(reason: &str) -> StopReason {
    match reason {
        "tool_use" => StopReason::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        "refusal" => StopReason::Declined,
        _ => StopReason::Finished,
    }
}

/// Moves the input of the document tool into the text of the answer.
pub(crate) fn document_to_text(partial: &mut PartialReply, tool: &str) {
    let Some(index) = partial.calls.iter().position(|call| call.name == tool) else { return };
    let call = partial.calls.remove(index);
    partial.text = call.arguments;
    if partial.stop == Some(StopReason::ToolCalls) && partial.calls.is_empty() {
        partial.stop = Some(StopReason::Finished);
    }
}
