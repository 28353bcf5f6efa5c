//! Anthropic's messages.
//!
//! Owns the form of a request and the reading of answers, whole and in pieces. Refuses sending and repeating.
//!
//! A document is asked for by `output_config.format` first: the newest models refuse to be made to call a tool. Models
//! that do not know it are made to call a tool named after the document, and its input is the answer.

use fixpoint_ports::{AnswerForm, Message, ModelRequest, StopReason, ToolOutcome};
use serde_json::{Map, Value, json};

use crate::draft::{Completeness, Draft, count, text};
use crate::keepsakes::Keepsakes;
use crate::schema;
use crate::shape::{Delivery, SchemaForm, Shape};

/// The tool that stands for the document, where one is asked for that way. With tools of the caller's it cannot be:
/// they could not be called any more.
pub(crate) fn document_tool(request: &ModelRequest, shape: Shape) -> Option<String> {
    match (&request.form, shape.schema) {
        (AnswerForm::Json { name, .. }, SchemaForm::Loose) if request.tools.is_empty() => {
            Some(schema::safe_name(name))
        }
        (AnswerForm::Json { .. }, SchemaForm::Enforced | SchemaForm::Loose | SchemaForm::Words)
        | (AnswerForm::Text, _) => None,
    }
}

/// The request.
pub(crate) fn body(request: &ModelRequest, model: &str, shape: Shape, kept: &Keepsakes) -> Value {
    let mut body = Map::new();
    body.insert("model".to_string(), json!(model));
    body.insert("max_tokens".to_string(), json!(request.max_output_tokens));
    let mut tools: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| json!({"name": tool.name, "description": tool.description, "input_schema": tool.parameters}))
        .collect();
    let mut words = None;
    if let AnswerForm::Json { name, schema } = &request.form {
        match (shape.schema, document_tool(request, shape)) {
            (SchemaForm::Enforced, _) => {
                let format = json!({"type": "json_schema", "schema": schema::closed(schema)});
                body.insert("output_config".to_string(), json!({"format": format}));
            }
            (SchemaForm::Loose | SchemaForm::Words, Some(tool)) => {
                tools.push(json!({"name": tool, "description": "Gives the answer.", "input_schema": schema}));
                body.insert("tool_choice".to_string(), json!({"type": "tool", "name": tool}));
            }
            (SchemaForm::Loose | SchemaForm::Words, None) => words = Some(schema::in_words(name, schema)),
        }
    }
    let system = system(&request.system, words);
    if !system.is_empty() {
        body.insert("system".to_string(), Value::Array(system));
    }
    body.insert("messages".to_string(), Value::Array(messages(&request.messages, kept)));
    if !tools.is_empty() {
        body.insert("tools".to_string(), Value::Array(tools));
    }
    match shape.delivery {
        Delivery::Stream => {
            body.insert("stream".to_string(), json!(true));
        }
        Delivery::Whole => {}
    }
    Value::Object(body)
}

/// The instructions are the same for many questions, so they are cached. Blank blocks are an error.
fn system(instructions: &str, words: Option<String>) -> Vec<Value> {
    let mut blocks = Vec::new();
    if !instructions.trim().is_empty() {
        blocks.push(json!({"type": "text", "text": instructions, "cache_control": {"type": "ephemeral"}}));
    }
    blocks.extend(words.map(|words| json!({"type": "text", "text": words})));
    blocks
}

/// The conversation with turns of the same side joined, since results of tools must all stand in the next turn. Where
/// the model has spoken, more turns will follow that begin with these, and what there is so far is worth caching; a
/// single question is not, and writing to the cache costs more than reading.
fn messages(messages: &[Message], kept: &Keepsakes) -> Vec<Value> {
    let mut turns: Vec<(&'static str, Vec<Value>)> = Vec::new();
    for message in messages {
        let (role, blocks) = blocks(message, kept);
        match turns.last_mut() {
            Some((last, known)) if *last == role => known.extend(blocks),
            _ if blocks.is_empty() => {}
            _ => turns.push((role, blocks)),
        }
    }
    let spoken = turns.iter().any(|(role, _)| *role == "assistant");
    if let Some(block) = turns.last_mut().and_then(|(_, blocks)| blocks.last_mut()).filter(|_| spoken)
        && let Some(map) = block.as_object_mut()
    {
        map.insert("cache_control".to_string(), json!({"type": "ephemeral"}));
    }
    turns.into_iter().map(|(role, blocks)| json!({"role": role, "content": blocks})).collect()
}

/// The blocks of a turn. Thinking that led to calls goes before them, as the model gave it.
fn blocks(message: &Message, kept: &Keepsakes) -> (&'static str, Vec<Value>) {
    let words = |text: &str| (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}));
    match message {
        Message::User(text) => ("user", words(text).into_iter().collect()),
        Message::Assistant { text, calls } => {
            let kept = calls.first().and_then(|call| kept.of(&call.id)).unwrap_or_default();
            let thinking = kept.blocks.clone().into_iter();
            let calls = calls.iter().map(|call| {
                let arguments = &call.arguments;
                let input =
                    if arguments.is_object() { arguments.clone() } else { json!({"arguments": arguments}) };
                json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
            });
            ("assistant", thinking.chain(words(text.trim_end())).chain(calls).collect())
        }
        Message::ToolResult { call, text, outcome } => {
            let failed = matches!(outcome, ToolOutcome::Failure);
            let block =
                json!({"type": "tool_result", "tool_use_id": call, "content": text, "is_error": failed});
            ("user", vec![block])
        }
    }
}

/// Reads a whole answer; `None` where it is none.
pub(crate) fn read_whole(answer: &Value, heard: &mut dyn FnMut(&str)) -> Option<Draft> {
    let blocks = answer.get("content").and_then(Value::as_array)?;
    let mut draft = Draft { model: text(answer, "/model").to_string(), ..Draft::default() };
    for block in blocks {
        match text(block, "/type") {
            "text" => draft.say(text(block, "/text"), heard),
            "tool_use" => {
                let index = draft.calls.len();
                let call = draft.call_at(index)?;
                call.id = text(block, "/id").to_string();
                call.name = text(block, "/name").to_string();
                call.arguments = block.get("input").map(Value::to_string).unwrap_or_default();
            }
            "thinking" | "redacted_thinking" => {
                draft.thought = draft.thought.saturating_add(text(block, "/thinking").len() as u64);
                draft.blocks.push(block.clone());
            }
            _ => {}
        }
    }
    read_usage(&mut draft, answer);
    draft.stop = Some(stop(text(answer, "/stop_reason")));
    draft.completeness = Completeness::Ended;
    Some(draft)
}

/// Reads one event of a stream; `None` where it is none. Kinds nobody knows yet are skipped, as the protocol asks for.
pub(crate) fn read_event(draft: &mut Draft, data: &str, heard: &mut dyn FnMut(&str)) -> Option<()> {
    let event: Value = serde_json::from_str(data).ok().filter(Value::is_object)?;
    match text(&event, "/type") {
        "message_start" => {
            draft.model = text(&event, "/message/model").to_string();
            read_usage(draft, event.get("message")?);
        }
        "content_block_start" => begin_block(draft, event.get("content_block")?, heard)?,
        "content_block_delta" => continue_block(draft, event.get("delta")?, heard)?,
        "message_delta" => {
            read_usage(draft, &event);
            let reason = text(&event, "/delta/stop_reason");
            if !reason.is_empty() {
                draft.stop = Some(stop(reason));
                draft.completeness = Completeness::MayEnd;
            }
        }
        "message_stop" => draft.completeness = Completeness::Ended,
        _ => {}
    }
    Some(())
}

fn begin_block(draft: &mut Draft, block: &Value, heard: &mut dyn FnMut(&str)) -> Option<()> {
    match text(block, "/type") {
        "text" => draft.say(text(block, "/text"), heard),
        "tool_use" => {
            let index = draft.calls.len();
            let call = draft.call_at(index)?;
            call.id = text(block, "/id").to_string();
            call.name = text(block, "/name").to_string();
            // The input is empty here and comes in fragments, except from servers that give it at once.
            let whole =
                block.get("input").filter(|input| input.as_object().is_some_and(|map| !map.is_empty()));
            call.arguments = whole.map(Value::to_string).unwrap_or_default();
        }
        "thinking" | "redacted_thinking" => draft.blocks.push(block.clone()),
        _ => {}
    }
    Some(())
}

/// Blocks come one after the other, so a fragment belongs to the last of its kind.
fn continue_block(draft: &mut Draft, delta: &Value, heard: &mut dyn FnMut(&str)) -> Option<()> {
    match text(delta, "/type") {
        "text_delta" => draft.say(text(delta, "/text"), heard),
        "input_json_delta" => draft.calls.last_mut()?.arguments.push_str(text(delta, "/partial_json")),
        "thinking_delta" => {
            draft.thought = draft.thought.saturating_add(text(delta, "/thinking").len() as u64);
            add_to_thinking(draft, "thinking", text(delta, "/thinking"));
        }
        "signature_delta" => add_to_thinking(draft, "signature", text(delta, "/signature")),
        _ => {}
    }
    Some(())
}

fn add_to_thinking(draft: &mut Draft, field: &str, piece: &str) {
    let Some(block) = draft.blocks.last_mut().and_then(Value::as_object_mut) else { return };
    if let Value::String(known) = block.entry(field).or_insert_with(|| json!("")) {
        known.push_str(piece);
    }
}

/// Counts are totals: a later one replaces an earlier.
fn read_usage(draft: &mut Draft, holder: &Value) {
    let of = |name: &str| count(holder, &format!("/usage/{name}"));
    let told = &mut draft.told;
    told.input = of("input_tokens").or(told.input);
    told.cache_read = of("cache_read_input_tokens").or(told.cache_read);
    told.cache_write = of("cache_creation_input_tokens").or(told.cache_write);
    told.output = of("output_tokens").or(told.output);
}

fn stop(reason: &str) -> StopReason {
    match reason {
        "tool_use" => StopReason::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        "refusal" => StopReason::Declined,
        _ => StopReason::Finished,
    }
}

/// Makes the input of the tool that stands for the document the words of the answer.
pub(crate) fn take_document(draft: &mut Draft, tool: &str) {
    let Some(place) = draft.calls.iter().position(|call| call.name == tool) else { return };
    let call = draft.calls.remove(place);
    draft.text = call.arguments;
    if draft.stop == Some(StopReason::ToolCalls) && draft.calls.is_empty() {
        draft.stop = Some(StopReason::Finished);
    }
}
