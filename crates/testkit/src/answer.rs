//! A reply in the form of the request's protocol.
//!
//! Owns documents, events and errors of three protocols. Refuses sending. Invariant: the events of a stream add up to the
//! document that would be sent without streaming.

mod chat;
mod errors;
mod messages;
mod responses;

use serde_json::Value;

use crate::question::{Delivery, Protocol, Question, RequiredOutput};
use crate::script::{Fault, Reply, ReplyKind, ToolCall, Usage};
use crate::shell_tool;

pub(crate) use errors::error_body;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    Whole(Document),
    Stream(Vec<Event>),
    /// The first half of a document, with the length of the whole.
    HalfDocument(Document),
    /// The first half of the events, without an end.
    HalfStream(Vec<Event>),
    /// Nothing until the client closes the connection.
    Hang,
    /// The connection is closed without an answer.
    Close,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Document {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<u64>,
    pub(crate) content_type: &'static str,
    pub(crate) body: String,
}

impl Document {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self { status, retry_after: None, content_type: "application/json", body: body.to_string() }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    /// In protocols that have names.
    pub(crate) name: Option<String>,
    pub(crate) data: String,
}

impl Event {
    /// An event named by the `type` of its document.
    fn named(data: &Value) -> Self {
        let name = data.get("type").and_then(Value::as_str).map(str::to_string);
        Self { name, data: data.to_string() }
    }
}

impl Answer {
    pub(crate) fn status(&self) -> Option<u16> {
        match self {
            Self::Whole(document) | Self::HalfDocument(document) => Some(document.status),
            Self::Stream(_) | Self::HalfStream(_) => Some(200),
            Self::Hang | Self::Close => None,
        }
    }
}

/// The content of a reply, independent of the protocol.
#[derive(Debug, Clone, PartialEq)]
struct ReplyContent<'a> {
    /// Unique for each answer.
    number: u64,
    model: &'a str,
    text: Option<String>,
    calls: Vec<Call>,
    /// Whether the request forced the tool call.
    forced: bool,
    usage: Usage,
}

#[derive(Debug, Clone, PartialEq)]
struct Call {
    id: String,
    name: String,
    arguments: Value,
    kind: CallKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallKind {
    Function,
    /// The shell tool of the responses protocol, which has its own kind of item.
    LocalShell,
}

/// The answer for a reply. `number` is unique for each request.
pub(crate) fn answer(reply: &Reply, question: &Question, number: u64) -> Answer {
    let content = |text, calls| ReplyContent {
        number,
        model: if question.model.is_empty() { "scripted" } else { &question.model },
        text,
        calls,
        forced: matches!(question.required, RequiredOutput::Tool(_)),
        usage: reply.usage,
    };
    match &reply.kind {
        ReplyKind::Json(document) => match &question.required {
            RequiredOutput::Tool(tool) => {
                let call = ToolCall { id: None, name: tool.clone(), arguments: document.clone() };
                delivered(&content(None, calls(&[call], number)), question)
            }
            RequiredOutput::Document | RequiredOutput::Any | RequiredOutput::AnyTool => {
                delivered(&content(Some(document.to_string()), vec![]), question)
            }
        },
        ReplyKind::Text(text) => delivered(&content(Some(text.clone()), vec![]), question),
        ReplyKind::ToolCalls { calls: script, text } => {
            delivered(&content(text.clone(), calls(script, number)), question)
        }
        ReplyKind::Shell { command, text } => {
            let called = shell_tool::call_for(command, &question.tools);
            let calls =
                called.map(|(name, arguments)| shell_call(name, arguments, question.protocol, number));
            delivered(&content(text.clone(), calls.into_iter().collect()), question)
        }
        ReplyKind::Fault(fault) => fail(fault, question, &content(Some(HALF_SENT.to_string()), vec![])),
    }
}

/// The text of an answer of which only half is sent.
const HALF_SENT: &str = "This answer is cut off in the middle, so its last words never arrive at the client.";

fn calls(script: &[ToolCall], number: u64) -> Vec<Call> {
    let call = |(index, call): (usize, &ToolCall)| Call {
        id: call.id.clone().unwrap_or_else(|| format!("call_{number}_{index}")),
        name: call.name.clone(),
        arguments: call.arguments.clone(),
        kind: CallKind::Function,
    };
    script.iter().enumerate().map(call).collect()
}

fn shell_call(name: String, arguments: Value, protocol: Protocol, number: u64) -> Call {
    let built_in = name == shell_tool::LOCAL_SHELL && protocol == Protocol::Responses;
    let kind = if built_in { CallKind::LocalShell } else { CallKind::Function };
    Call { id: format!("call_{number}_0"), name, arguments, kind }
}

fn delivered(content: &ReplyContent<'_>, question: &Question) -> Answer {
    match question.delivery {
        Delivery::Whole => Answer::Whole(whole(content, question.protocol)),
        Delivery::Stream | Delivery::StreamWithUsage => Answer::Stream(events(content, question)),
    }
}

fn whole(content: &ReplyContent<'_>, protocol: Protocol) -> Document {
    let body = match protocol {
        Protocol::Chat => chat::document(content),
        Protocol::Messages => messages::document(content),
        Protocol::Responses => responses::document(content),
    };
    Document::json(200, &body)
}

fn events(content: &ReplyContent<'_>, question: &Question) -> Vec<Event> {
    match question.protocol {
        Protocol::Chat => chat::events(content, question.delivery),
        Protocol::Messages => messages::events(content),
        Protocol::Responses => responses::events(content),
    }
}

fn fail(fault: &Fault, question: &Question, half: &ReplyContent<'_>) -> Answer {
    match fault {
        Fault::Status { status, retry_after, body } => Answer::Whole(Document {
            retry_after: *retry_after,
            body: body
                .clone()
                .unwrap_or_else(|| error_body(question.protocol, *status, "scripted failure").to_string()),
            ..Document::json(*status, &Value::Null)
        }),
        Fault::Garbage => Answer::Whole(Document {
            status: 200,
            retry_after: None,
            content_type: "text/html",
            body: "<html><body>This is not an answer of a model.</body></html>".to_string(),
        }),
        Fault::HalfStream => match delivered(half, question) {
            Answer::Whole(document) => Answer::HalfDocument(document),
            Answer::Stream(mut events) => {
                events.truncate(events.len() / 2);
                Answer::HalfStream(events)
            }
            other @ (Answer::HalfDocument(_) | Answer::HalfStream(_) | Answer::Hang | Answer::Close) => other,
        },
        Fault::Hang => Answer::Hang,
        Fault::Close => Answer::Close,
    }
}

/// The pieces in which a text is streamed: several, so that the client must join them.
fn pieces(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let size = characters.len().div_ceil(4).max(1);
    characters.chunks(size).map(|piece| piece.iter().collect()).collect()
}
