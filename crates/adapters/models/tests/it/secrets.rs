//! A key is seen by its endpoint and by nobody else.

use std::collections::BTreeMap;
use std::io::Read;
use std::net::TcpListener;
use std::sync::Arc;

use fixpoint_models::{Key, ProgramRunner, Resolver, Surroundings, Thoroughness, detect};
use fixpoint_vocabulary::ask::Role;
use fixpoint_vocabulary::settings::Protocol;
use serde_json::json;

use crate::server::{Server, Step, ok, stream, whole};
use crate::stage::{KEY, ask, completion, limits, model, network, question, settings, surroundings};

/// Endpoints that repeat the key in everything they say.
fn talkative() -> Vec<Vec<Step>> {
    let error = json!({"error": {"message": format!("your key {KEY} is wrong"), "type": KEY}}).to_string();
    vec![
        whole("401 Unauthorized", "", &error),
        whole("400 Bad Request", "", &error),
        whole("402 Payment Required", "", &error),
        whole("413 Too Large", "", &format!("{} {KEY}", "x".repeat(490))),
        whole("503 Busy", "", &format!("<html>{KEY}</html>")),
        whole("200 OK", "", &format!("hello {KEY}")),
        stream(&format!("data: {KEY}\n\n"), 10),
        stream(&format!("event: error\ndata: {error}\n\n"), 10),
    ]
}

#[test]
fn errors_do_not_show_the_key() {
    for protocol in [Protocol::Openai, Protocol::Anthropic] {
        for steps in talkative() {
            let server = Server::playing(vec![steps]);
            let unanswered = ask(&*model(&server, protocol), &question("Hi")).0.unwrap_err();
            let shown = format!("{unanswered} {unanswered:?}");
            // Not even the beginning of it, where what was said is cut.
            assert!(!shown.contains("correct-"), "{shown}");
            // The endpoint did get it.
            assert!(server.requests()[0].head.contains(KEY));
        }
    }
}

#[test]
fn an_answer_does_not_hold_the_key() {
    let server = Server::playing(vec![ok(&completion(&format!("I was given {KEY} by somebody")))]);
    let reply = ask(&*model(&server, Protocol::Openai), &question("Hi")).0.unwrap();
    assert_eq!(reply.text, "I was given [removed] by somebody");
}

#[test]
fn nothing_shows_the_key_by_debug() {
    let server = Server::playing(vec![ok(&completion("x"))]);
    let settings = settings(&server, Protocol::Openai);
    let network = network(limits());
    let mut surroundings: Surroundings = surroundings(Arc::clone(&network));
    surroundings.environment.insert("OPENAI_API_KEY".to_string(), KEY.to_string());
    surroundings.environment.insert("https_proxy".to_string(), format!("http://me:{KEY}@proxy:1"));
    let mut resolver = Resolver::new(&settings, &surroundings);
    let model = resolver.model("test/x", Role::Planner).unwrap();
    ask(&*model, &question("Hi")).0.unwrap();
    let detected = detect(&settings, &surroundings, Thoroughness::Everything);
    let with_proxy = fixpoint_models::Network::new(limits(), &surroundings.environment);
    struct Nobody;
    impl fixpoint_ports::Processes for Nobody {
        fn run(
            &self,
            _: &fixpoint_ports::Invocation,
            _: &fixpoint_ports::Cancel,
            _: &mut dyn FnMut(&[u8]),
        ) -> Result<fixpoint_ports::ProcessExit, fixpoint_ports::ProcessError> {
            Err(fixpoint_ports::ProcessError::Supervisor("nobody".to_string()))
        }
    }
    let runner =
        ProgramRunner { processes: Arc::new(Nobody), environment: vec![("A_KEY".into(), KEY.into())] };
    let shown = format!(
        "{surroundings:?} {resolver:?} {network:?} {detected:?} {with_proxy:?} {runner:?} {:?}",
        Key::new(KEY)
    );
    assert!(!shown.contains(KEY), "{shown}");
}

#[test]
fn a_key_is_not_carried_to_another_host() {
    let other = Server::playing(vec![ok(&completion("stolen"))]);
    let location = format!("Location: {}/chat/completions\r\n", other.url());
    for status in
        ["301 Moved", "302 Found", "303 See Other", "307 Temporary Redirect", "308 Permanent Redirect"]
    {
        let server = Server::playing(vec![whole(status, &location, "")]);
        assert!(ask(&*model(&server, Protocol::Openai), &question("Hi")).0.is_err(), "{status}");
    }
    assert!(other.requests().is_empty());
}

#[test]
fn proxies_are_those_of_the_environment_that_was_given() {
    // The proxy answers itself, which shows that it was asked.
    let proxy = Server::playing(vec![ok(&completion("by the proxy"))]);
    let server = Server::playing(vec![ok(&completion("directly"))]);
    let mut settings = settings(&server, Protocol::Openai);
    settings.endpoints.get_mut("test").unwrap().url = "http://models.invalid/v1".to_string();
    let environment = |except: &str| {
        BTreeMap::from([
            ("http_proxy".to_string(), format!("http://127.0.0.1:{}", proxy.port)),
            ("no_proxy".to_string(), except.to_string()),
        ])
    };
    let network = Arc::new(fixpoint_models::Network::new(limits(), &environment("127.0.0.1")));
    let model = crate::stage::model_with(&settings, Arc::clone(&network));
    assert_eq!(ask(&*model, &question("Hi")).0.unwrap().text, "by the proxy");
    let settings = crate::stage::settings(&server, Protocol::Openai);
    let model = crate::stage::model_with(&settings, network);
    assert_eq!(ask(&*model, &question("Hi")).0.unwrap().text, "directly");
}

#[test]
fn a_secure_address_sees_nothing_before_it_has_shown_a_certificate() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let greeted = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut greeting = vec![0; 1024];
        let read = stream.read(&mut greeting).unwrap();
        greeting.truncate(read);
        greeting
    });
    let server = Server::playing(vec![]);
    let mut settings = settings(&server, Protocol::Openai);
    settings.max_requests = 1;
    settings.endpoints.get_mut("test").unwrap().url = format!("https://127.0.0.1:{port}/v1");
    let unanswered =
        ask(&*crate::stage::model_with(&settings, network(limits())), &question("Hi")).0.unwrap_err();
    assert_eq!(unanswered.usage.calls, 0, "{unanswered}");
    let greeting = greeted.join().unwrap();
    // The first byte of a handshake.
    assert_eq!(greeting.first(), Some(&0x16));
    assert!(!String::from_utf8_lossy(&greeting).contains("correct-horse"));
}
