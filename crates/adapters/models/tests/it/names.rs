//! Names in the configuration, and what `auto` finds.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use fixpoint_models::{
    Availability, Candidate, DetectMode, Detected, LocalPorts, ModelEnvironment, NetworkLimits, Resolver,
    SetupError, detect,
};
use fixpoint_ports::Model;
use fixpoint_vocabulary::settings::{Endpoint, ModelSettings, Price, Protocol};
use fixpoint_vocabulary::usage::MicroUsd;
use serde_json::json;

use crate::server::{Server, Step, ok, stream, whole};
use crate::setup::{ask, completion, limits, message_stream, network, question, text_block};

/// A port where nothing listens.
fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn no_local_servers() -> LocalPorts {
    LocalPorts { ollama: closed_port(), llamacpp: closed_port(), lmstudio: closed_port() }
}

fn environment(variables: &[(&str, &str)]) -> ModelEnvironment {
    let variables = variables.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    let mut environment = ModelEnvironment::new(variables.collect(), network(limits()));
    environment.ports = no_local_servers();
    environment
}

/// The model of this name, with no endpoints configured.
fn resolve(name: &str, environment: &ModelEnvironment) -> Result<Arc<dyn Model>, SetupError> {
    Resolver::new(&ModelSettings::default(), environment).model(name)
}

#[test]
fn keys_are_looked_for_in_order() {
    for (variables, expected) in [
        (vec![("OPENAI_API_KEY", "a"), ("ANTHROPIC_API_KEY", "b")], "anthropic/claude-sonnet-5"),
        (vec![("OPENAI_API_KEY", "a"), ("GEMINI_API_KEY", "b")], "openai/gpt-6.1-sol"),
        (vec![("ANTHROPIC_API_KEY", "  "), ("GROQ_API_KEY", "b")], "groq/openai/gpt-oss-120b"),
        (vec![("DEEPSEEK_API_KEY", "a")], "deepseek/deepseek-v4-pro"),
    ] {
        assert_eq!(resolve("auto", &environment(&variables)).unwrap().name(), expected, "{variables:?}");
    }
}

#[test]
fn the_same_name_gives_the_same_model() {
    let settings = ModelSettings::default();
    let environment = environment(&[("OPENAI_API_KEY", "a"), ("ANTHROPIC_API_KEY", "b")]);
    let mut resolver = Resolver::new(&settings, &environment);
    let [one, other, auto] =
        ["openai/gpt-5.4", " openai/gpt-5.4 ", "auto"].map(|name| resolver.model(name).unwrap());
    assert!(Arc::ptr_eq(&one, &other));
    assert_eq!((one.name(), auto.name()), ("openai/gpt-5.4", "anthropic/claude-sonnet-5"));
}

#[test]
fn addresses_in_the_environment_are_used() {
    let server = Server::answering(vec![ok(&completion("Hello"))]);
    let environment =
        environment(&[("OPENAI_API_KEY", "a-long-enough-key"), ("OPENAI_BASE_URL", &server.url())]);
    let model = resolve("auto", &environment).unwrap();
    let reply = ask(&*model, &question("Hi")).0.unwrap();
    // A local address with a model whose price is known: it is a proxy.
    assert!(reply.usage.cost.unwrap() > MicroUsd(0));
    assert!(server.requests()[0].head.starts_with("POST /v1/chat/completions"));

    let server = Server::answering(vec![stream(&message_stream(&[text_block(&["Hello"])], "end_turn"), 99)]);
    let address = format!("http://127.0.0.1:{}/", server.port);
    let environment =
        self::environment(&[("ANTHROPIC_API_KEY", "a-long-enough-key"), ("ANTHROPIC_BASE_URL", &address)]);
    ask(&*resolve("auto", &environment).unwrap(), &question("Hi")).0.unwrap();
    assert!(server.requests()[0].head.starts_with("POST /v1/messages"));
}

#[test]
fn configured_endpoints_take_precedence_and_need_no_key() {
    let server = Server::answering(vec![ok(&completion("Hello"))]);
    for address in [
        format!("http://localhost:{}", server.port),
        format!("{}/", server.url()),
        server.url(),
        format!("{}/chat/completions", server.url()),
    ] {
        let endpoint = Endpoint { url: address, ..Endpoint::default() };
        let endpoints = BTreeMap::from([("openai".to_string(), endpoint)]);
        let settings = ModelSettings { endpoints, ..ModelSettings::default() };
        let model = Resolver::new(&settings, &environment(&[])).model("openai/qwen3").unwrap();
        let reply = ask(&*model, &question("Hi")).0.unwrap();
        assert_eq!(reply.usage.cost, Some(MicroUsd(0)));
    }
    for request in server.requests() {
        assert!(request.head.starts_with("POST /v1/chat/completions HTTP"), "{}", request.head);
        assert_eq!(request.header("authorization"), None);
    }
}

#[test]
fn the_error_of_a_name_says_what_to_change() {
    let mut settings = ModelSettings::default();
    let own =
        |url: &str| Endpoint { url: url.into(), api_key_env: Some("MY_KEY".into()), ..Endpoint::default() };
    settings.endpoints.insert("mine".into(), own("https://models.example.org/v1"));
    settings.endpoints.insert("broken".into(), own("models.example.org"));
    settings.endpoints.insert("file".into(), own("file:///etc/passwd"));
    settings.endpoints.insert("open".into(), own("https://me:s3cret-word@models.example.org/v1"));
    let environment = environment(&[("GROQ_API_KEY", "bad\u{1}key")]);
    let mut resolver = Resolver::new(&settings, &environment);
    for (name, expected) in [
        (
            "openai/gpt-5",
            "the endpoint `openai` cannot be used: it needs a key; set the environment variable OPENAI_API_KEY",
        ),
        (
            "mine/gpt-5",
            "the endpoint `mine` cannot be used: it needs a key; set the environment variable MY_KEY",
        ),
        ("gpt-5", "`gpt-5` cannot be used as a model: write `provider/model`"),
        (
            "opnai/gpt-5",
            "`opnai/gpt-5` cannot be used as a model: there is no endpoint `opnai`; known endpoints: anthropic, \
             openai, openrouter, gemini, deepseek, mistral, groq, ollama, llamacpp, lmstudio, broken, file, mine, open;",
        ),
        ("broken/x", "the endpoint `broken` cannot be used: its `url` is not valid: "),
        (
            "file/x",
            "the endpoint `file` cannot be used: its `url` is not valid: it must start with http:// or https://",
        ),
        (
            "open/x",
            "the endpoint `open` cannot be used: its `url` is not valid: it contains a user name or a password",
        ),
        ("groq/x", "the endpoint `groq` cannot be used: GROQ_API_KEY contains characters that no key has"),
        (
            "agent:claude",
            "`agent:claude` cannot be used as a model: `claude` is not on PATH; install it, or name another model",
        ),
        (
            "agent:x",
            "`agent:x` cannot be used as a model: only `agent:claude` and `agent:codex` are supported",
        ),
        ("scripted:/nowhere.json", "the scripted answers in /nowhere.json cannot be used: "),
    ] {
        let error = resolver.model(name).err().unwrap().to_string();
        assert!(error.starts_with(expected), "{name}: {error}");
        assert!(!error.contains("s3cret"), "{name}: {error}");
    }
}

fn models(ids: &[&str]) -> Vec<Step> {
    let data: Vec<_> = ids.iter().map(|id| json!({"id": id, "object": "model"})).collect();
    ok(&json!({"object": "list", "data": data}))
}

#[test]
fn a_local_server_is_found_where_there_is_no_key() {
    let server = Server::answering(vec![models(&["nomic-embed-text", "qwen3:8b"]), ok(&completion("Hello"))]);
    let mut environment = environment(&[]);
    environment.ports.lmstudio = server.port;
    let settings = ModelSettings::default();
    let mut resolver = Resolver::new(&settings, &environment);
    let [model, _again] = ["auto", "auto"].map(|name| resolver.model(name).unwrap());
    assert_eq!(model.name(), "lmstudio/qwen3:8b");
    let reply = ask(&*model, &question("Hi")).0.unwrap();
    assert_eq!(reply.usage.cost, Some(MicroUsd(0)));
    let lines: Vec<String> =
        server.requests().iter().map(|request| request.head.lines().next().unwrap().to_string()).collect();
    // Two names, and the server was probed once.
    assert_eq!(lines, ["GET /v1/models HTTP/1.1", "POST /v1/chat/completions HTTP/1.1"]);
}

#[test]
fn with_a_key_no_port_is_probed() {
    let server = Server::answering(vec![models(&["qwen3"])]);
    let mut environment = environment(&[("OPENAI_API_KEY", "a")]);
    environment.ports.ollama = server.port;
    resolve("auto", &environment).unwrap();
    assert!(server.requests().is_empty());
    let detected = detect(&ModelSettings::default(), &environment, DetectMode::All);
    assert_eq!(server.requests().len(), 1);
    assert_eq!(detected.auto_model.as_deref(), Some("openai/gpt-6.1-sol"));
}

#[test]
fn every_candidate_has_its_availability() {
    let ollama = Server::answering(vec![models(&["mxbai-embed-large"])]);
    let llamacpp = Server::answering(vec![vec![Step::Hang]]);
    let lmstudio = Server::answering(vec![whole("404 Not Found", "", "<html>")]);
    let mut environment = environment(&[("MISTRAL_API_KEY", "a")]);
    // One of them never answers; the others need enough time on a busy machine.
    let patient = NetworkLimits { local_server: Duration::from_secs(2), ..limits() };
    environment.network = network(patient);
    environment.ports = LocalPorts { ollama: ollama.port, llamacpp: llamacpp.port, lmstudio: lmstudio.port };
    let Detected { candidates, auto_model, advice } =
        detect(&ModelSettings::default(), &environment, DetectMode::All);
    let unusable = |reason: &str| Availability::Unusable { reason: reason.into() };
    let found: BTreeMap<&str, &Availability> =
        candidates.iter().map(|candidate| (candidate.name.as_str(), &candidate.availability)).collect();
    let expected = [
        ("agent:claude", Availability::Missing),
        ("agent:codex", Availability::Missing),
        ("anthropic", Availability::Missing),
        ("deepseek", Availability::Missing),
        ("gemini", Availability::Missing),
        ("groq", Availability::Missing),
        ("llamacpp", unusable("it did not list its models in time")),
        ("lmstudio", unusable("it answers with status 404")),
        ("mistral", Availability::Found { model: "mistral/mistral-large-latest".into() }),
        ("ollama", unusable("it has no chat model")),
        ("openai", Availability::Missing),
        ("openrouter", Availability::Missing),
    ];
    assert_eq!(found, expected.iter().map(|(name, availability)| (*name, availability)).collect());
    let first = Candidate {
        name: "anthropic".into(),
        source: "ANTHROPIC_API_KEY".into(),
        availability: Availability::Missing,
    };
    assert_eq!(candidates[0], first);
    assert_eq!(auto_model.as_deref(), Some("mistral/mistral-large-latest"));
    assert!(advice.starts_with("`auto` is mistral/mistral-large-latest."), "{advice}");
}

#[test]
fn nothing_found_says_what_to_do() {
    let mut settings = ModelSettings::default();
    settings.endpoints.insert("mine".into(), Endpoint::default());
    let error = Resolver::new(&settings, &environment(&[])).model("auto").err().unwrap();
    let SetupError::NothingFound { advice } = error else { panic!("{error}") };
    for word in ["ANTHROPIC_API_KEY", "Ollama", "`claude`", "`mine/model`"] {
        assert!(advice.contains(word), "{word}: {advice}");
    }
}

#[test]
fn a_price_may_be_configured_by_the_model_alone() {
    let server = Server::answering(vec![ok(&completion("x"))]);
    let mut settings = ModelSettings::default();
    let endpoint = Endpoint {
        url: server.url().replace("127.0.0.1", "localhost"),
        protocol: Protocol::Openai,
        ..Endpoint::default()
    };
    settings.endpoints.insert("mine".into(), endpoint);
    let price = Price { input_per_million: 1.0, ..Price::default() };
    settings.prices.insert("unheard-of".into(), price);
    let model = Resolver::new(&settings, &environment(&[])).model("mine/unheard-of").unwrap();
    assert_eq!(ask(&*model, &question("Hi")).0.unwrap().usage.cost, Some(MicroUsd(176 + 1024)));
}
