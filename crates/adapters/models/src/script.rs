//! The file format of scripted answers.
//!
//! Owns the format, its validation, and which rule answers a request. Refuses to count or to answer. A test server reads
//! the same files, so every field must also make sense over the network.

use std::collections::BTreeMap;

use fixpoint_ports::{AnswerFormat, Message, ModelRequest};
use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Script {
    pub(crate) rules: Vec<Rule>,
    /// The pause before every answer.
    #[serde(default)]
    pub(crate) delay_ms: u64,
}

/// Which requests get which replies.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// The name of the requested JSON document; without it the rule matches any request.
    #[serde(default)]
    pub(crate) form: Option<String>,
    /// Texts that must all occur in the system prompt or the messages.
    #[serde(default)]
    pub(crate) contains: Vec<String>,
    pub(crate) replies: Vec<Reply>,
    #[serde(default)]
    pub(crate) after: AfterLast,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AfterLast {
    #[default]
    Repeat,
    /// The rule no longer matches; later rules are tried.
    Fail,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Reply {
    pub(crate) json: Option<Value>,
    pub(crate) text: Option<String>,
    pub(crate) tool_calls: Vec<Call>,
    pub(crate) usage: Option<Tokens>,
    pub(crate) delay_ms: u64,
    pub(crate) fault: Option<ScriptedFault>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) arguments: Value,
}

/// Token counts, as an endpoint would report them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Tokens {
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    pub(crate) cache_read_tokens: u64,
    pub(crate) cache_write_tokens: u64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub(crate) enum ScriptedFault {
    Named(NamedFault),
    Status {
        status: u16,
        #[serde(default)]
        retry_after: Option<f64>,
        #[serde(default)]
        body: String,
    },
}

/// A failure below the level of HTTP statuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NamedFault {
    Garbage,
    HalfStream,
    Hang,
    Close,
}

impl Script {
    /// Parses and validates; the error says what is wrong.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let script: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let mut seen = BTreeMap::new();
        for (index, rule) in script.rules.iter().enumerate() {
            let key = rule_key(index, rule);
            if rule.replies.is_empty() {
                return Err(format!("rule {key} has no replies"));
            }
            for reply in &rule.replies {
                let kinds = [
                    reply.json.is_some(),
                    reply.text.is_some() || !reply.tool_calls.is_empty(),
                    reply.fault.is_some(),
                ];
                if kinds.iter().filter(|kind| **kind).count() != 1 {
                    return Err(format!(
                        "a reply of rule {key} must be one of `json`, `text`, `tool_calls` (with a `text` or not), `fault`"
                    ));
                }
            }
            if let Some(other) = seen.insert(key.clone(), index) {
                return Err(format!("rules {other} and {index} are both called {key}"));
            }
        }
        Ok(script)
    }

    /// The reply to a request, and the name of the rule it came from. `used` says how often each rule has replied.
    pub(crate) fn reply(
        &self,
        request: &ModelRequest,
        used: &BTreeMap<String, u64>,
    ) -> Option<(String, &Reply)> {
        self.rules.iter().enumerate().filter(|(_, rule)| rule.matches(request)).find_map(|(index, rule)| {
            let key = rule_key(index, rule);
            let count = used.get(&key).copied().unwrap_or(0);
            let index = usize::try_from(count).unwrap_or(usize::MAX);
            let reply = match rule.after {
                AfterLast::Repeat => rule.replies.get(index).or(rule.replies.last()),
                AfterLast::Fail => rule.replies.get(index),
            };
            reply.map(|reply| (key, reply))
        })
    }
}

/// The name under which a rule is counted.
fn rule_key(index: usize, rule: &Rule) -> String {
    rule.name.clone().unwrap_or_else(|| format!("#{index}"))
}

impl Rule {
    fn matches(&self, request: &ModelRequest) -> bool {
        let name = match &request.format {
            AnswerFormat::Text => None,
            AnswerFormat::Json { name, .. } => Some(name),
        };
        let occurs = |wanted: &String| {
            request.system.contains(wanted.as_str())
                || request.messages.iter().any(|message| text_of(message).contains(wanted.as_str()))
        };
        (self.form.is_none() || self.form.as_ref() == name) && self.contains.iter().all(occurs)
    }
}

pub(crate) fn text_of(message: &Message) -> &str {
    match message {
        Message::User(text) | Message::Assistant { text, .. } | Message::ToolResult { text, .. } => text,
    }
}
