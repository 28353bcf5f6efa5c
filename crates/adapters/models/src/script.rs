//! The form of a script of answers.
//!
//! Owns the documents and what makes one valid. Refuses to play them. A test server may read the same files, so a field
//! is added here only together with its meaning over the network.

use std::collections::BTreeMap;

use fixpoint_ports::{AnswerForm, Message, ModelRequest};
use serde::Deserialize;
use serde_json::Value;

/// A script.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Script {
    pub(crate) rules: Vec<Rule>,
    /// Milliseconds before every answer.
    #[serde(default)]
    pub(crate) delay_ms: u64,
}

/// What is answered to which questions.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// The name of the document that is asked for; any question where absent.
    #[serde(default)]
    pub(crate) form: Option<String>,
    /// Texts that must all occur in the instructions or the conversation.
    #[serde(default)]
    pub(crate) contains: Vec<String>,
    pub(crate) replies: Vec<Reply>,
    #[serde(default)]
    pub(crate) after: After,
}

/// What comes after the last reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum After {
    /// The last one again.
    #[default]
    Repeat,
    /// The rule is used up, and later ones are looked at.
    Fail,
}

/// One reply.
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

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) arguments: Value,
}

/// Tokens, as they would be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Tokens {
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    pub(crate) cache_read_tokens: u64,
    pub(crate) cache_write_tokens: u64,
}

/// A failure.
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

/// A failure below the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NamedFault {
    Garbage,
    HalfStream,
    Hang,
    Close,
}

impl Script {
    /// Reads a script; the error says what is wrong with it.
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

    /// The reply to a question, by how often each rule was played, and the rule whose count goes up.
    pub(crate) fn reply(
        &self,
        request: &ModelRequest,
        played: &BTreeMap<String, u64>,
    ) -> Option<(String, &Reply)> {
        self.rules.iter().enumerate().filter(|(_, rule)| rule.fits(request)).find_map(|(index, rule)| {
            let key = rule_key(index, rule);
            let count = played.get(&key).copied().unwrap_or(0);
            let place = usize::try_from(count).unwrap_or(usize::MAX);
            let reply = match rule.after {
                After::Repeat => rule.replies.get(place).or(rule.replies.last()),
                After::Fail => rule.replies.get(place),
            };
            reply.map(|reply| (key, reply))
        })
    }
}

/// What a rule is counted by.
fn rule_key(index: usize, rule: &Rule) -> String {
    rule.name.clone().unwrap_or_else(|| format!("#{index}"))
}

impl Rule {
    fn fits(&self, request: &ModelRequest) -> bool {
        let form = match &request.form {
            AnswerForm::Text => None,
            AnswerForm::Json { name, .. } => Some(name),
        };
        let occurs = |wanted: &String| {
            request.system.contains(wanted.as_str())
                || request.messages.iter().any(|message| words(message).contains(wanted.as_str()))
        };
        (self.form.is_none() || self.form.as_ref() == form) && self.contains.iter().all(occurs)
    }
}

/// The words of a message.
pub(crate) fn words(message: &Message) -> &str {
    match message {
        Message::User(text) | Message::Assistant { text, .. } | Message::ToolResult { text, .. } => text,
    }
}
