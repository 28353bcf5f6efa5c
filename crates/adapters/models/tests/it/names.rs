//! Names in the configuration, and what `auto` finds.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::time::Duration;

use fixpoint_models::{
    Choice, Detected, Finding, NetworkLimits, Ports, Resolver, Roles, SetupError, Sight, Surroundings,
    Thoroughness, detect,
};
use fixpoint_vocabulary::ask::Role;
use fixpoint_vocabulary::settings::{Endpoint, ModelSettings, Price, Protocol};
use fixpoint_vocabulary::usage::MicroUsd;
use serde_json::json;

use crate::server::{Server, Step, ok, stream, whole};
use crate::stage::{ask, completion, limits, message_stream, network, question, text_block};

/// A port where nobody listens.
fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn nothing_local() -> Ports {
    Ports { ollama: closed_port(), llamacpp: closed_port(), lmstudio: closed_port() }
}

fn surroundings(environment: &[(&str, &str)]) -> Surroundings {
    let environment = environment.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    let mut surroundings = Surroundings::new(environment.collect(), network(limits()));
    surroundings.ports = nothing_local();
    surroundings
}

fn all(name: &str) -> ModelSettings {
    let name = name.to_string();
    ModelSettings { planner: name.clone(), judge: name.clone(), reflector: name, ..ModelSettings::default() }
}

#[test]
fn keys_are_looked_for_in_order() {
    for (environment, answering, working) in [
        (
            vec![("OPENAI_API_KEY", "a"), ("ANTHROPIC_API_KEY", "b")],
            "anthropic/claude-sonnet-5",
            "anthropic/claude-sonnet-5",
        ),
        (vec![("OPENAI_API_KEY", "a"), ("GEMINI_API_KEY", "b")], "openai/gpt-6.1-sol", "openai/gpt-5.4"),
        (
            vec![("ANTHROPIC_API_KEY", "  "), ("GROQ_API_KEY", "b")],
            "groq/openai/gpt-oss-120b",
            "groq/openai/gpt-oss-120b",
        ),
        (vec![("DEEPSEEK_API_KEY", "a")], "deepseek/deepseek-v4-pro", "deepseek/deepseek-v4-pro"),
    ] {
        let roles = Roles::resolve(&ModelSettings::default(), &surroundings(&environment)).unwrap();
        let names = [roles.planner.name(), roles.judge.name(), roles.reflector.name(), roles.worker.name()];
        assert_eq!(names, [answering, answering, answering, working]);
    }
}

#[test]
fn roles_may_have_different_models_and_share_the_same() {
    let settings = ModelSettings {
        planner: "anthropic/claude-opus-5-5".into(),
        judge: "openai/gpt-5.4".into(),
        reflector: "openai/gpt-5.4".into(),
        ..ModelSettings::default()
    };
    let environment = [("OPENAI_API_KEY", "a"), ("ANTHROPIC_API_KEY", "b")];
    let roles = Roles::resolve(&settings, &surroundings(&environment)).unwrap();
    assert_eq!(
        format!("{roles:?}"),
        "Roles { planner: \"anthropic/claude-opus-5-5\", judge: \"openai/gpt-5.4\", \
        worker: \"anthropic/claude-opus-5-5\", reflector: \"openai/gpt-5.4\" }"
    );
    assert!(std::sync::Arc::ptr_eq(&roles.judge, &roles.reflector));
}

#[test]
fn addresses_of_the_environment_are_honoured() {
    let server = Server::playing(vec![ok(&completion("Hello"))]);
    let surroundings =
        surroundings(&[("OPENAI_API_KEY", "a-long-enough-key"), ("OPENAI_BASE_URL", &server.url())]);
    let roles = Roles::resolve(&all("auto"), &surroundings).unwrap();
    let reply = ask(&*roles.planner, &question("Hi")).0.unwrap();
    // On this machine, but a model of which the price is known: somebody passes the question on.
    assert!(reply.usage.cost.unwrap() > MicroUsd(0));
    assert!(server.requests()[0].head.starts_with("POST /v1/chat/completions"));

    let server = Server::playing(vec![stream(&message_stream(&[text_block(&["Hello"])], "end_turn"), 99)]);
    let address = format!("http://127.0.0.1:{}/", server.port);
    let surroundings =
        self::surroundings(&[("ANTHROPIC_API_KEY", "a-long-enough-key"), ("ANTHROPIC_BASE_URL", &address)]);
    let roles = Roles::resolve(&all("auto"), &surroundings).unwrap();
    ask(&*roles.planner, &question("Hi")).0.unwrap();
    assert!(server.requests()[0].head.starts_with("POST /v1/messages"));
}

#[test]
fn endpoints_of_the_configuration_come_first_and_need_no_key() {
    let server = Server::playing(vec![ok(&completion("Hello"))]);
    for address in [
        format!("http://localhost:{}", server.port),
        format!("{}/", server.url()),
        server.url(),
        format!("{}/chat/completions", server.url()),
    ] {
        let endpoint = Endpoint { url: address, ..Endpoint::default() };
        let mut settings = all("openai/qwen3");
        settings.endpoints = BTreeMap::from([("openai".to_string(), endpoint)]);
        let roles = Roles::resolve(&settings, &surroundings(&[])).unwrap();
        let reply = ask(&*roles.judge, &question("Hi")).0.unwrap();
        assert_eq!(reply.usage.cost, Some(MicroUsd(0)));
    }
    for request in server.requests() {
        assert!(request.head.starts_with("POST /v1/chat/completions HTTP"), "{}", request.head);
        assert_eq!(request.header("authorization"), None);
    }
}

#[test]
fn what_is_wrong_with_a_name_is_said() {
    let mut settings = ModelSettings::default();
    let own =
        |url: &str| Endpoint { url: url.into(), api_key_env: Some("MY_KEY".into()), ..Endpoint::default() };
    settings.endpoints.insert("mine".into(), own("https://models.example.org/v1"));
    settings.endpoints.insert("broken".into(), own("models.example.org"));
    settings.endpoints.insert("file".into(), own("file:///etc/passwd"));
    settings.endpoints.insert("open".into(), own("https://me:s3cret-word@models.example.org/v1"));
    let surroundings = surroundings(&[("GROQ_API_KEY", "bad\u{1}key")]);
    let mut resolver = Resolver::new(&settings, &surroundings);
    let mut error = |name: &str| resolver.model(name, Role::Planner).err().unwrap().to_string();
    assert_eq!(error("openai/gpt-5"), "openai needs a key: set the environment variable OPENAI_API_KEY");
    assert_eq!(error("mine/gpt-5"), "mine needs a key: set the environment variable MY_KEY");
    assert!(error("gpt-5").starts_with("`gpt-5` names no model: write `provider/model`"));
    assert!(error("opnai/gpt-5").starts_with("no endpoint is called `opnai`: known are anthropic, openai, "));
    assert!(error("opnai/gpt-5").contains("mine"));
    assert!(error("broken/x").starts_with("the address of broken cannot be used: "));
    assert!(error("file/x").starts_with("the address of file cannot be used: "));
    assert!(!error("open/x").contains("s3cret"), "{}", error("open/x"));
    assert_eq!(
        error("groq/x"),
        "what GROQ_API_KEY gives for groq is no key: it holds characters that no key has"
    );
    assert_eq!(error("agent:claude"), "`claude` is not on the PATH: install it, or name another model");
    assert_eq!(
        error("agent:x"),
        "the agent `x` cannot serve as a model: `agent:claude` and `agent:codex` can"
    );
    assert!(
        error("scripted:/nowhere.json").starts_with("the scripted answers in /nowhere.json cannot be used: ")
    );
}

fn models(ids: &[&str]) -> Vec<Step> {
    let data: Vec<_> = ids.iter().map(|id| json!({"id": id, "object": "model"})).collect();
    ok(&json!({"object": "list", "data": data}))
}

#[test]
fn a_local_server_is_found_where_there_is_no_key() {
    let server = Server::playing(vec![models(&["nomic-embed-text", "qwen3:8b"]), ok(&completion("Hello"))]);
    let mut surroundings = surroundings(&[]);
    surroundings.ports.lmstudio = server.port;
    let roles = Roles::resolve(&all("auto"), &surroundings).unwrap();
    assert_eq!(roles.worker.name(), "lmstudio/qwen3:8b");
    let reply = ask(&*roles.worker, &question("Hi")).0.unwrap();
    assert_eq!(reply.usage.cost, Some(MicroUsd(0)));
    let lines: Vec<String> =
        server.requests().iter().map(|request| request.head.lines().next().unwrap().to_string()).collect();
    // Four roles, and the server was asked once.
    assert_eq!(lines, ["GET /v1/models HTTP/1.1", "POST /v1/chat/completions HTTP/1.1"]);
}

#[test]
fn with_a_key_nobody_knocks_at_ports() {
    let server = Server::playing(vec![models(&["qwen3"])]);
    let mut surroundings = surroundings(&[("OPENAI_API_KEY", "a")]);
    surroundings.ports.ollama = server.port;
    Roles::resolve(&all("auto"), &surroundings).unwrap();
    assert!(server.requests().is_empty());
    let detected = detect(&ModelSettings::default(), &surroundings, Thoroughness::Everything);
    assert_eq!(server.requests().len(), 1);
    assert_eq!(detected.choice.unwrap().answering, "openai/gpt-6.1-sol");
}

#[test]
fn findings_say_what_was_seen() {
    let ollama = Server::playing(vec![models(&["mxbai-embed-large"])]);
    let llamacpp = Server::playing(vec![vec![Step::Hang]]);
    let lmstudio = Server::playing(vec![whole("404 Not Found", "", "<html>")]);
    let mut surroundings = surroundings(&[("MISTRAL_API_KEY", "a")]);
    // One of them never answers, and the others shall have time enough on a busy machine.
    let patient = NetworkLimits { local_server: Duration::from_secs(2), ..limits() };
    surroundings.network = network(patient);
    surroundings.ports = Ports { ollama: ollama.port, llamacpp: llamacpp.port, lmstudio: lmstudio.port };
    let Detected { findings, choice, advice } =
        detect(&ModelSettings::default(), &surroundings, Thoroughness::Everything);
    let unusable = |why: &str| Sight::Unusable { why: why.into() };
    let sights: BTreeMap<&str, &Sight> =
        findings.iter().map(|finding| (finding.what.as_str(), &finding.sight)).collect();
    let expected = [
        ("agent:claude", Sight::Missing),
        ("agent:codex", Sight::Missing),
        ("anthropic", Sight::Missing),
        ("deepseek", Sight::Missing),
        ("gemini", Sight::Missing),
        ("groq", Sight::Missing),
        ("llamacpp", unusable("it gave no list of models in time")),
        ("lmstudio", unusable("it answers with status 404")),
        ("mistral", Sight::Found { model: "mistral/mistral-large-latest".into() }),
        ("ollama", unusable("it has no model that answers questions")),
        ("openai", Sight::Missing),
        ("openrouter", Sight::Missing),
    ];
    assert_eq!(sights, expected.iter().map(|(what, sight)| (*what, sight)).collect());
    let first = Finding { what: "anthropic".into(), by: "ANTHROPIC_API_KEY".into(), sight: Sight::Missing };
    assert_eq!(findings[0], first);
    let name = "mistral/mistral-large-latest".to_string();
    assert_eq!(choice, Some(Choice { answering: name.clone(), working: name }));
    assert!(advice.starts_with("`auto` means mistral/mistral-large-latest."), "{advice}");
}

#[test]
fn nothing_found_says_what_to_do() {
    let mut settings = all("auto");
    settings.endpoints.insert("mine".into(), Endpoint::default());
    let error = Roles::resolve(&settings, &surroundings(&[])).unwrap_err();
    let SetupError::NothingFound { advice } = error else { panic!("{error}") };
    for word in ["ANTHROPIC_API_KEY", "Ollama", "`claude`", "`mine/model`"] {
        assert!(advice.contains(word), "{word}: {advice}");
    }
}

#[test]
fn an_unknown_model_of_somebody_else_has_no_price() {
    let server = Server::playing(vec![ok(&completion("x"))]);
    let mut settings = all("mine/unheard-of");
    let endpoint = Endpoint {
        url: server.url().replace("127.0.0.1", "localhost"),
        protocol: Protocol::Openai,
        ..Endpoint::default()
    };
    settings.endpoints.insert("mine".into(), endpoint);
    let price = Price { input_per_million: 1.0, ..Price::default() };
    settings.prices.insert("unheard-of".into(), price);
    let roles = Roles::resolve(&settings, &surroundings(&[])).unwrap();
    assert_eq!(ask(&*roles.planner, &question("Hi")).0.unwrap().usage.cost, Some(MicroUsd(176 + 1024)));
}
