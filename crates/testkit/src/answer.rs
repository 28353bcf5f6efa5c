//! A reply in the words of the protocol in which it was asked for.
//!
//! Owns documents, events and errors of three protocols. Refuses sending them. Invariant: what a stream adds up to is
//! what the whole document says.

mod chat;
mod errors;
mod messages;
mod responses;

use serde_json::Value;

use crate::asked::{Asked, Delivery, Demand, Protocol};
use crate::script::{Fault, Reply, Say, ToolCall, Usage};
use crate::shell_tool;

pub(crate) use errors::error_body;

/// What goes over the wire.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    /// One document.
    Whole(Document),
    /// Events, one after the other.
    Stream(Vec<Event>),
    /// The first half of a document that was announced whole.
    HalfWhole(Document),
    /// The first half of the events, and no end.
    HalfStream(Vec<Event>),
    /// Nothing until the client goes.
    Hang,
    /// Nothing, and the connection is closed.
    Close,
}

/// An answer of one piece.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Document {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<u64>,
    pub(crate) content_type: &'static str,
    pub(crate) body: String,
}

impl Document {
    /// A JSON document.
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self { status, retry_after: None, content_type: "application/json", body: body.to_string() }
    }
}

/// One server-sent event.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    /// Its name, in protocols that name them.
    pub(crate) name: Option<String>,
    pub(crate) data: String,
}

impl Event {
    /// An event that is called what its document says it is.
    fn named(data: &Value) -> Self {
        let name = data.get("type").and_then(Value::as_str).map(str::to_string);
        Self { name, data: data.to_string() }
    }
}

impl Answer {
    /// The status that the client sees, if it sees one.
    pub(crate) fn status(&self) -> Option<u16> {
        match self {
            Self::Whole(document) | Self::HalfWhole(document) => Some(document.status),
            Self::Stream(_) | Self::HalfStream(_) => Some(200),
            Self::Hang | Self::Close => None,
        }
    }
}

/// What is said, before it is put into a protocol's words.
#[derive(Debug, Clone, PartialEq)]
struct Spoken<'a> {
    /// Tells this answer from all others.
    number: u64,
    model: &'a str,
    text: Option<String>,
    calls: Vec<Call>,
    /// Whether calling a tool was not the model's own idea.
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
    /// The tool of the responses protocol that has a kind of item to itself.
    LocalShell,
}

/// The answer that plays a reply. `number` tells this request from all others.
pub(crate) fn answer(reply: &Reply, asked: &Asked, number: u64) -> Answer {
    let spoken = |text, calls| Spoken {
        number,
        model: if asked.model.is_empty() { "scripted" } else { &asked.model },
        text,
        calls,
        forced: matches!(asked.demand, Demand::Tool(_)),
        usage: reply.usage,
    };
    match &reply.say {
        Say::Json(document) => match &asked.demand {
            Demand::Tool(tool) => {
                let call = ToolCall { id: None, name: tool.clone(), arguments: document.clone() };
                told(&spoken(None, calls(&[call], number)), asked)
            }
            Demand::Document | Demand::Nothing | Demand::SomeTool => {
                told(&spoken(Some(document.to_string()), vec![]), asked)
            }
        },
        Say::Text(text) => told(&spoken(Some(text.clone()), vec![]), asked),
        Say::ToolCalls { calls: script, text } => told(&spoken(text.clone(), calls(script, number)), asked),
        Say::Shell { command, text } => {
            let called = shell_tool::call_for(command, &asked.tools);
            let calls = called.map(|(name, arguments)| shell_call(name, arguments, asked.protocol, number));
            told(&spoken(text.clone(), calls.into_iter().collect()), asked)
        }
        Say::Fault(fault) => fail(fault, asked, &spoken(Some(CUT_SHORT.to_string()), vec![])),
    }
}

/// What an answer says of which only a half arrives.
const CUT_SHORT: &str =
    "This answer is cut off before it comes to its point, which nobody will ever hear of.";

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

fn told(spoken: &Spoken<'_>, asked: &Asked) -> Answer {
    match asked.delivery {
        Delivery::Whole => Answer::Whole(whole(spoken, asked.protocol)),
        Delivery::Stream | Delivery::StreamWithUsage => Answer::Stream(events(spoken, asked)),
    }
}

fn whole(spoken: &Spoken<'_>, protocol: Protocol) -> Document {
    let body = match protocol {
        Protocol::Chat => chat::document(spoken),
        Protocol::Messages => messages::document(spoken),
        Protocol::Responses => responses::document(spoken),
    };
    Document::json(200, &body)
}

fn events(spoken: &Spoken<'_>, asked: &Asked) -> Vec<Event> {
    match asked.protocol {
        Protocol::Chat => chat::events(spoken, asked.delivery),
        Protocol::Messages => messages::events(spoken),
        Protocol::Responses => responses::events(spoken),
    }
}

fn fail(fault: &Fault, asked: &Asked, half: &Spoken<'_>) -> Answer {
    match fault {
        Fault::Status { status, retry_after, body } => Answer::Whole(Document {
            retry_after: *retry_after,
            body: body
                .clone()
                .unwrap_or_else(|| error_body(asked.protocol, *status, "the script says so").to_string()),
            ..Document::json(*status, &Value::Null)
        }),
        Fault::Garbage => Answer::Whole(Document {
            status: 200,
            retry_after: None,
            content_type: "text/html",
            body: "<html><body>This is no answer of a model.</body></html>".to_string(),
        }),
        Fault::HalfStream => match told(half, asked) {
            Answer::Whole(document) => Answer::HalfWhole(document),
            Answer::Stream(mut events) => {
                events.truncate(events.len() / 2);
                Answer::HalfStream(events)
            }
            other @ (Answer::HalfWhole(_) | Answer::HalfStream(_) | Answer::Hang | Answer::Close) => other,
        },
        Fault::Hang => Answer::Hang,
        Fault::Close => Answer::Close,
    }
}

/// A text in the pieces in which it is streamed: several, so that whoever reads must put them together.
fn pieces(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let size = characters.len().div_ceil(4).max(1);
    characters.chunks(size).map(|piece| piece.iter().collect()).collect()
}
