//! A key is sent to its endpoint and shown nowhere else.

use std::collections::BTreeMap;
use std::io::Read;
use std::net::TcpListener;
use std::sync::Arc;

use fixpoint_models::{DetectMode, Key, ModelEnvironment, ProgramRunner, Resolver, detect};
use fixpoint_vocabulary::settings::Protocol;
use serde_json::json;

use crate::server::{Server, Step, ok, stream, whole};
use crate::setup::{KEY, ask, completion, environment, limits, model, network, question, settings};

/// Endpoints that repeat the key in everything they send.
fn leaking() -> Vec<Vec<Step>> {
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
        for steps in leaking() {
            let server = Server::answering(vec![steps]);
            let failure = ask(&*model(&server, protocol), &question("Hi")).0.unwrap_err();
            let shown = format!("{failure} {failure:?}");
            // Not even its start, where the message is cut.
            assert!(!shown.contains("correct-"), "{shown}");
            // The endpoint did receive it.
            assert!(server.requests()[0].head.contains(KEY));
        }
    }
}

#[test]
fn an_answer_does_not_contain_the_key() {
    let server = Server::answering(vec![ok(&completion(&format!("I was given {KEY} by somebody")))]);
    let reply = ask(&*model(&server, Protocol::Openai), &question("Hi")).0.unwrap();
    assert_eq!(reply.text, "I was given [removed] by somebody");
}

#[test]
fn no_debug_output_shows_the_key() {
    let server = Server::answering(vec![ok(&completion("x"))]);
    let settings = settings(&server, Protocol::Openai);
    let network = network(limits());
    let mut environment: ModelEnvironment = environment(Arc::clone(&network));
    environment.variables.insert("OPENAI_API_KEY".to_string(), KEY.to_string());
    environment.variables.insert("https_proxy".to_string(), format!("http://me:{KEY}@proxy:1"));
    let mut resolver = Resolver::new(&settings, &environment);
    let model = resolver.model("test/x").unwrap();
    ask(&*model, &question("Hi")).0.unwrap();
    let detected = detect(&settings, &environment, DetectMode::All);
    let with_proxy = fixpoint_models::Network::new(limits(), &environment.variables);
    struct NoProcesses;
    impl fixpoint_ports::Processes for NoProcesses {
        fn run(
            &self,
            _: &fixpoint_ports::Invocation,
            _: &fixpoint_ports::Cancel,
            _: &mut dyn FnMut(&[u8]),
        ) -> Result<fixpoint_ports::ProcessExit, fixpoint_ports::ProcessError> {
            Err(fixpoint_ports::ProcessError::Supervisor("not available".to_string()))
        }
    }
    let runner =
        ProgramRunner { processes: Arc::new(NoProcesses), environment: vec![("A_KEY".into(), KEY.into())] };
    let shown = format!(
        "{environment:?} {resolver:?} {network:?} {detected:?} {with_proxy:?} {runner:?} {:?}",
        Key::new(KEY)
    );
    assert!(!shown.contains(KEY), "{shown}");
}

#[test]
fn a_key_is_not_sent_to_another_host() {
    let other = Server::answering(vec![ok(&completion("stolen"))]);
    let location = format!("Location: {}/chat/completions\r\n", other.url());
    for status in
        ["301 Moved", "302 Found", "303 See Other", "307 Temporary Redirect", "308 Permanent Redirect"]
    {
        let server = Server::answering(vec![whole(status, &location, "")]);
        assert!(ask(&*model(&server, Protocol::Openai), &question("Hi")).0.is_err(), "{status}");
    }
    assert!(other.requests().is_empty());
}

#[test]
fn proxies_come_from_the_environment_that_is_passed_in() {
    // The proxy answers itself, which shows that it was used.
    let proxy = Server::answering(vec![ok(&completion("by the proxy"))]);
    let server = Server::answering(vec![ok(&completion("directly"))]);
    let mut settings = settings(&server, Protocol::Openai);
    settings.endpoints.get_mut("test").unwrap().url = "http://models.invalid/v1".to_string();
    let variables = |except: &str| {
        BTreeMap::from([
            ("http_proxy".to_string(), format!("http://127.0.0.1:{}", proxy.port)),
            ("no_proxy".to_string(), except.to_string()),
        ])
    };
    let network = Arc::new(fixpoint_models::Network::new(limits(), &variables("127.0.0.1")));
    let model = crate::setup::model_with(&settings, Arc::clone(&network));
    assert_eq!(ask(&*model, &question("Hi")).0.unwrap().text, "by the proxy");
    let settings = crate::setup::settings(&server, Protocol::Openai);
    let model = crate::setup::model_with(&settings, network);
    assert_eq!(ask(&*model, &question("Hi")).0.unwrap().text, "directly");
}

#[test]
fn an_https_server_receives_nothing_before_the_handshake() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let greeted = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut greeting = vec![0; 1024];
        let read = stream.read(&mut greeting).unwrap();
        greeting.truncate(read);
        greeting
    });
    let server = Server::answering(vec![]);
    let mut settings = settings(&server, Protocol::Openai);
    settings.max_requests = 1;
    settings.endpoints.get_mut("test").unwrap().url = format!("https://127.0.0.1:{port}/v1");
    let failure =
        ask(&*crate::setup::model_with(&settings, network(limits())), &question("Hi")).0.unwrap_err();
    assert_eq!(failure.usage.calls, 0, "{failure}");
    let greeting = greeted.join().unwrap();
    // The first byte of a TLS handshake.
    assert_eq!(greeting.first(), Some(&0x16));
    assert!(!String::from_utf8_lossy(&greeting).contains("correct-horse"));
}
