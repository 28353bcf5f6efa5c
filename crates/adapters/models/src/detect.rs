//! What there is to ask: keys, local servers, agents.
//!
//! Owns the order in which `auto` looks and the findings that `doctor` shows. Refuses to show a key, and to knock at
//! local ports when a key was found and nobody wants to know everything. Local servers are asked all at once and have
//! little time: whoever has none must not wait.

use std::time::Instant;

use bytes::Bytes;
use fixpoint_ports::Cancel;
use fixpoint_vocabulary::ask::Role;
use fixpoint_vocabulary::settings::ModelSettings;
use reqwest::{Method, Url};
use serde_json::Value;

use crate::draft::text;
use crate::name::AgentProgram;
use crate::providers::{Kind, PROVIDERS, Provider};
use crate::surroundings::Surroundings;
use crate::wire::{Arrival, Exchange, Outgoing};

/// A list of models is not longer than this.
const MAX_LIST: u64 = 4 << 20;

/// How much is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thoroughness {
    /// Until there is a model.
    UntilFound,
    /// Everything, for people who want to know.
    Everything,
}

/// What was seen of one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sight {
    /// It is there; this model of it would be taken.
    Found {
        /// The model's name.
        model: String,
    },
    /// It is not there.
    Missing,
    /// It is there and cannot be used.
    Unusable {
        /// Why not.
        why: String,
    },
}

/// One thing that was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The provider or the agent.
    pub what: String,
    /// The variable, the address or the program.
    pub by: String,
    /// What was seen.
    pub sight: Sight,
}

/// What `auto` means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The model that answers.
    pub answering: String,
    /// The model that works with tools; the same for most.
    pub working: String,
}

impl Choice {
    /// The model of a role.
    pub fn for_role(&self, role: Role) -> String {
        match role {
            Role::Planner | Role::Judge | Role::Reflector => self.answering.clone(),
            Role::Worker => self.working.clone(),
        }
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detected {
    /// Everything that was looked for, in order.
    pub findings: Vec<Finding>,
    /// What `auto` means, if anything.
    pub choice: Option<Choice>,
    /// What to do where there is nothing, or to choose otherwise.
    pub advice: String,
}

/// Looks for models.
pub fn detect(settings: &ModelSettings, surroundings: &Surroundings, thoroughness: Thoroughness) -> Detected {
    let mut findings = Vec::new();
    let mut choice: Option<Choice> = None;
    let done = |choice: &Option<Choice>| choice.is_some() && thoroughness == Thoroughness::UntilFound;
    for provider in PROVIDERS {
        let Kind::Keyed { key, model, working, .. } = provider.kind else { continue };
        let named = |model: &str| format!("{}/{model}", provider.name);
        let sight = match surroundings.variable(key) {
            Some(_) => {
                choice.get_or_insert(Choice { answering: named(model), working: named(working) });
                Sight::Found { model: named(model) }
            }
            None => Sight::Missing,
        };
        findings.push(Finding { what: provider.name.to_string(), by: key.to_string(), sight });
    }
    if !done(&choice) {
        for finding in local_servers(surroundings) {
            note(&finding, &mut choice);
            findings.push(finding);
        }
    }
    if !done(&choice) {
        for finding in agents(surroundings) {
            note(&finding, &mut choice);
            findings.push(finding);
        }
    }
    let advice = advice(choice.as_ref(), settings);
    Detected { findings, choice, advice }
}

fn note(finding: &Finding, choice: &mut Option<Choice>) {
    match &finding.sight {
        Sight::Found { model } => {
            choice.get_or_insert(Choice { answering: model.clone(), working: model.clone() });
        }
        Sight::Missing | Sight::Unusable { .. } => {}
    }
}

fn advice(choice: Option<&Choice>, settings: &ModelSettings) -> String {
    match choice {
        Some(choice) => format!(
            "`auto` means {}. To use another model, set `models.planner`, `models.judge` and \
             `models.reflector`.",
            choice.answering
        ),
        None => {
            let own = match settings.endpoints.keys().next() {
                Some(name) => {
                    format!(" The endpoints of the configuration are used by name, as in `{name}/model`.")
                }
                None => String::new(),
            };
            format!(
                "Set ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENROUTER_API_KEY, GEMINI_API_KEY, DEEPSEEK_API_KEY, \
                 MISTRAL_API_KEY or GROQ_API_KEY; or start Ollama, llama.cpp or LM Studio; or install and sign in to \
                 `claude` or `codex`.{own}"
            )
        }
    }
}

fn agents(surroundings: &Surroundings) -> impl Iterator<Item = Finding> {
    AgentProgram::ALL.into_iter().map(|agent| {
        let sight = match surroundings.program(agent.program()) {
            Some(_) => Sight::Found { model: format!("agent:{}", agent.program()) },
            None => Sight::Missing,
        };
        Finding { what: format!("agent:{}", agent.program()), by: agent.program().to_string(), sight }
    })
}

fn local_servers(surroundings: &Surroundings) -> Vec<Finding> {
    let until = Instant::now() + surroundings.network.limits.local_server;
    let asked = PROVIDERS.iter().filter_map(|provider| match provider.kind {
        Kind::Local { port } => Some((provider, surroundings.port(provider.name, port))),
        Kind::Keyed { .. } => None,
    });
    // All are asked before any is waited for.
    let asked: Vec<(&Provider, u16, Result<Exchange, String>)> =
        asked.map(|(provider, port)| (provider, port, ask_for_models(surroundings, port))).collect();
    let found = asked.into_iter().map(|(provider, port, exchange)| Finding {
        what: provider.name.to_string(),
        by: format!("http://127.0.0.1:{port}"),
        sight: exchange
            .map_or_else(|why| Sight::Unusable { why }, |exchange| models(provider, &exchange, until)),
    });
    found.collect()
}

fn ask_for_models(surroundings: &Surroundings, port: u16) -> Result<Exchange, String> {
    let url = Url::parse(&format!("http://127.0.0.1:{port}/v1/models")).map_err(|error| error.to_string())?;
    surroundings.network.wire.send(Outgoing {
        method: Method::GET,
        url,
        headers: Vec::new(),
        body: Bytes::new(),
        max_answer: MAX_LIST,
    })
}

fn models(provider: &Provider, exchange: &Exchange, until: Instant) -> Sight {
    let unusable = |why: &str| Sight::Unusable { why: why.to_string() };
    let mut body = Vec::new();
    loop {
        match exchange.next(until, &Cancel::default()) {
            Ok(Arrival::Head(head)) if head.status == 200 => {}
            Ok(Arrival::Head(head)) => return unusable(&format!("it answers with status {}", head.status)),
            Ok(Arrival::Chunk(chunk)) => body.extend_from_slice(&chunk),
            Ok(Arrival::End) => break,
            Ok(Arrival::Unreachable(_)) => return Sight::Missing,
            Ok(Arrival::Fault(_)) => return unusable("it gave no list of models"),
            Err(_) => return unusable("it gave no list of models in time"),
        }
    }
    let Ok(list) = serde_json::from_slice::<Value>(&body) else {
        return unusable("something else than a server of models answers there");
    };
    let listed = list.get("data").and_then(Value::as_array);
    let mut ids = listed.into_iter().flatten().map(|model| text(model, "/id")).filter(|id| !id.is_empty());
    match ids.find(|id| answers(id)) {
        Some(id) => Sight::Found { model: format!("{}/{id}", provider.name) },
        None => unusable("it has no model that answers questions"),
    }
}

/// Whether a model answers questions, by its name: those that only measure texts say so in theirs.
fn answers(id: &str) -> bool {
    let id = id.to_ascii_lowercase();
    !["embed", "rerank", "bge-", "minilm", "whisper"].iter().any(|kind| id.contains(kind))
}
