//! Which models are available: keys, local servers, agents.
//!
//! Owns the order in which `auto` looks, and the list that `doctor` shows. Refuses to show a key, and to probe local ports
//! when a key was found, unless everything is asked for. Local servers are probed all at once and have little time to
//! answer: users without one must not wait.

use std::time::Instant;

use bytes::Bytes;
use fixpoint_ports::Cancel;
use fixpoint_vocabulary::settings::ModelSettings;
use reqwest::{Method, Url};
use serde_json::Value;

use crate::environment::ModelEnvironment;
use crate::http::{HttpRequest, PendingResponse, ResponsePart};
use crate::name::AgentProgram;
use crate::partial_reply::text;
use crate::providers::{Access, PROVIDERS, Provider};

/// The largest list of models that is accepted, in bytes.
const MAX_LIST: u64 = 4 << 20;

/// How much is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DetectMode {
    /// Stop as soon as there is a model.
    FirstFound,
    All,
}

/// Whether a candidate can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    /// `model` is the model of it that would be used.
    Found {
        model: String,
    },
    Missing,
    /// It is there, but cannot be used.
    Unusable {
        reason: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub name: String,
    /// The variable, the address or the program by which it is found.
    pub source: String,
    pub availability: Availability,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detected {
    /// Everything that was looked for, in order.
    pub candidates: Vec<Candidate>,
    /// The model that `auto` stands for, if any was found.
    pub auto_model: Option<String>,
    /// What to do to get a model, or to choose another.
    pub advice: String,
}

pub fn detect(settings: &ModelSettings, environment: &ModelEnvironment, mode: DetectMode) -> Detected {
    let mut candidates: Vec<Candidate> =
        PROVIDERS.iter().filter_map(|one| with_key(one, environment)).collect();
    let is_done = |found: &[Candidate]| mode == DetectMode::FirstFound && first_model(found).is_some();
    if !is_done(&candidates) {
        candidates.extend(local_servers(environment));
    }
    if !is_done(&candidates) {
        candidates.extend(agents(environment));
    }
    let auto_model = first_model(&candidates).map(str::to_string);
    let advice = advice(auto_model.as_deref(), settings);
    Detected { candidates, auto_model, advice }
}

fn first_model(candidates: &[Candidate]) -> Option<&str> {
    candidates.iter().find_map(|candidate| match &candidate.availability {
        Availability::Found { model } => Some(model.as_str()),
        Availability::Missing | Availability::Unusable { .. } => None,
    })
}

fn advice(auto_model: Option<&str>, settings: &ModelSettings) -> String {
    let Some(model) = auto_model else {
        let own = match settings.endpoints.keys().next() {
            Some(name) => format!(" Configured endpoints are used by name, as in `{name}/model`."),
            None => String::new(),
        };
        return format!(
            "Set ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENROUTER_API_KEY, GEMINI_API_KEY, DEEPSEEK_API_KEY, \
             MISTRAL_API_KEY or GROQ_API_KEY; or start Ollama, llama.cpp or LM Studio; or install and sign in to \
             `claude` or `codex`.{own}"
        );
    };
    format!(
        "`auto` is {model}. To use another model, set `models.planner`, `models.judge` and `models.reflector`."
    )
}

fn with_key(provider: &Provider, environment: &ModelEnvironment) -> Option<Candidate> {
    let Access::ApiKey { variable, model, .. } = provider.access else { return None };
    let availability = match environment.variable(variable) {
        Some(_) => Availability::Found { model: format!("{}/{model}", provider.name) },
        None => Availability::Missing,
    };
    Some(Candidate { name: provider.name.to_string(), source: variable.to_string(), availability })
}

fn agents(environment: &ModelEnvironment) -> impl Iterator<Item = Candidate> {
    AgentProgram::ALL.into_iter().map(|agent| {
        let name = format!("agent:{}", agent.program());
        let availability = match environment.program(agent.program()) {
            Some(_) => Availability::Found { model: name.clone() },
            None => Availability::Missing,
        };
        Candidate { name, source: agent.program().to_string(), availability }
    })
}

fn local_servers(environment: &ModelEnvironment) -> Vec<Candidate> {
    let until = Instant::now() + environment.network.limits.local_server;
    let ports = PROVIDERS.iter().filter_map(|provider| match provider.access {
        Access::LocalServer { port } => Some((provider, environment.port(provider.name, port))),
        Access::ApiKey { .. } => None,
    });
    // All are asked before any is waited for.
    let asked: Vec<(&Provider, u16, Result<PendingResponse, String>)> =
        ports.map(|(provider, port)| (provider, port, request_models(environment, port))).collect();
    let found = asked.into_iter().map(|(provider, port, response)| Candidate {
        name: provider.name.to_string(),
        source: format!("http://127.0.0.1:{port}"),
        availability: response.map_or_else(
            |reason| Availability::Unusable { reason },
            |response| read_models(provider, &response, until),
        ),
    });
    found.collect()
}

fn request_models(environment: &ModelEnvironment, port: u16) -> Result<PendingResponse, String> {
    let url = Url::parse(&format!("http://127.0.0.1:{port}/v1/models")).map_err(|error| error.to_string())?;
    environment.network.http.send(HttpRequest {
        method: Method::GET,
        url,
        headers: Vec::new(),
        body: Bytes::new(),
        max_answer: MAX_LIST,
    })
}

fn read_models(provider: &Provider, response: &PendingResponse, until: Instant) -> Availability {
    let unusable = |reason: &str| Availability::Unusable { reason: reason.to_string() };
    let mut body = Vec::new();
    loop {
        match response.next(until, &Cancel::default()) {
            Ok(ResponsePart::Head(head)) if head.status == 200 => {}
            Ok(ResponsePart::Head(head)) => {
                return unusable(&format!("it answers with status {}", head.status));
            }
            Ok(ResponsePart::Chunk(chunk)) => body.extend_from_slice(&chunk),
            Ok(ResponsePart::End) => break,
            Ok(ResponsePart::Unreachable(_)) => return Availability::Missing,
            Ok(ResponsePart::Broken(_)) => return unusable("it did not list its models"),
            Err(_) => return unusable("it did not list its models in time"),
        }
    }
    let Ok(list) = serde_json::from_slice::<Value>(&body) else {
        return unusable("another kind of server uses this port");
    };
    let listed = list.get("data").and_then(Value::as_array);
    let mut ids = listed.into_iter().flatten().map(|model| text(model, "/id")).filter(|id| !id.is_empty());
    match ids.find(|id| is_chat_model(id)) {
        Some(id) => Availability::Found { model: format!("{}/{id}", provider.name) },
        None => unusable("it has no chat model"),
    }
}

/// Judged by the name: embedding, reranking and speech models say so in theirs.
fn is_chat_model(id: &str) -> bool {
    let id = id.to_ascii_lowercase();
    !["embed", "rerank", "bge-", "minilm", "whisper"].iter().any(|kind| id.contains(kind))
}
