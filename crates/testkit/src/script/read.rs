//! Reading and writing replies: in a script, the field that is present gives the kind.
//!
//! Rejects a reply of no kind or of two kinds.

use serde::de::Deserializer;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Fault, Reply, ReplyKind, ToolCall, Usage};

/// A reply as it is in a script.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawReply {
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    json: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool_calls: Option<Vec<ToolCall>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shell: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fault: Option<RawFault>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    delay_ms: Option<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum RawFault {
    Named(NamedFault),
    Status(StatusFault),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum NamedFault {
    Garbage,
    HalfStream,
    Hang,
    Close,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StatusFault {
    status: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_after: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<String>,
}

impl TryFrom<RawReply> for Reply {
    type Error = &'static str;

    fn try_from(raw: RawReply) -> Result<Self, Self::Error> {
        let kind = match raw {
            RawReply { json: Some(json), text: None, tool_calls: None, shell: None, fault: None, .. } => {
                ReplyKind::Json(json)
            }
            RawReply { json: None, text: Some(text), tool_calls: None, shell: None, fault: None, .. } => {
                ReplyKind::Text(text)
            }
            RawReply { json: None, text, tool_calls: Some(calls), shell: None, fault: None, .. } => {
                ReplyKind::ToolCalls { calls, text }
            }
            RawReply { json: None, text, tool_calls: None, shell: Some(command), fault: None, .. } => {
                ReplyKind::Shell { command, text }
            }
            RawReply {
                json: None, text: None, tool_calls: None, shell: None, fault: Some(fault), ..
            } => ReplyKind::Fault(fault.into()),
            RawReply { .. } => {
                return Err(
                    "a reply has one of json, text, tool_calls, shell and fault (tool_calls and shell may also \
                            have text)",
                );
            }
        };
        Ok(Self { kind, usage: raw.usage.unwrap_or_default(), delay_ms: raw.delay_ms })
    }
}

impl From<Reply> for RawReply {
    fn from(reply: Reply) -> Self {
        let raw = Self { usage: Some(reply.usage), delay_ms: reply.delay_ms, ..Self::default() };
        match reply.kind {
            ReplyKind::Json(json) => Self { json: Some(json), ..raw },
            ReplyKind::Text(text) => Self { text: Some(text), ..raw },
            ReplyKind::ToolCalls { calls, text } => Self { tool_calls: Some(calls), text, ..raw },
            ReplyKind::Shell { command, text } => Self { shell: Some(command), text, ..raw },
            ReplyKind::Fault(fault) => Self { fault: Some(fault.into()), usage: None, ..raw },
        }
    }
}

impl From<RawFault> for Fault {
    fn from(raw: RawFault) -> Self {
        match raw {
            RawFault::Named(NamedFault::Garbage) => Self::Garbage,
            RawFault::Named(NamedFault::HalfStream) => Self::HalfStream,
            RawFault::Named(NamedFault::Hang) => Self::Hang,
            RawFault::Named(NamedFault::Close) => Self::Close,
            RawFault::Status(StatusFault { status, retry_after, body }) => {
                Self::Status { status, retry_after, body }
            }
        }
    }
}

impl From<Fault> for RawFault {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Garbage => Self::Named(NamedFault::Garbage),
            Fault::HalfStream => Self::Named(NamedFault::HalfStream),
            Fault::Hang => Self::Named(NamedFault::Hang),
            Fault::Close => Self::Named(NamedFault::Close),
            Fault::Status { status, retry_after, body } => {
                Self::Status(StatusFault { status, retry_after, body })
            }
        }
    }
}

/// `"json": null` is a document; it is not absent.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

/// A text may stand for a list with one item.
pub(super) fn one_or_many<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Texts {
        One(String),
        Many(Vec<String>),
    }
    Ok(match Texts::deserialize(from)? {
        Texts::One(text) => vec![text],
        Texts::Many(texts) => texts,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_kind_round_trips() {
        let usage =
            json!({"input_tokens": 1, "output_tokens": 2, "cache_read_tokens": 3, "cache_write_tokens": 4});
        let table = [
            json!({"json": {"a": 1}, "usage": usage}),
            json!({"json": null, "usage": usage}),
            json!({"text": "words", "usage": usage, "delay_ms": 3}),
            json!({"tool_calls": [{"id": "1", "name": "read", "arguments": {}}], "text": "first", "usage": usage}),
            json!({"shell": "true", "usage": usage}),
            json!({"fault": {"status": 429, "retry_after": 1, "body": "slow"}}),
            json!({"fault": "garbage"}),
            json!({"fault": "half_stream"}),
            json!({"fault": "hang"}),
            json!({"fault": "close"}),
        ];
        for written in table {
            let reply: Reply = serde_json::from_value(written.clone()).unwrap();
            assert_eq!(serde_json::to_value(reply).unwrap(), written);
        }
    }

    #[test]
    fn invalid_replies_are_rejected() {
        let table = [
            json!({}),
            json!({"text": "a", "json": {}}),
            json!({"shell": "a", "fault": "hang"}),
            json!({"texts": "a"}),
            json!({"fault": "hung"}),
            json!({"fault": {"status": 429, "retryAfter": 1}}),
            json!({"text": "a", "usage": {"tokens": 1}}),
        ];
        for written in table {
            assert!(serde_json::from_value::<Reply>(written.clone()).is_err(), "{written}");
        }
    }
}
