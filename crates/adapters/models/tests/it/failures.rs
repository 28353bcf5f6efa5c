//! Failures: which are retried, how often, and the final message.

use std::net::TcpListener;
use std::time::Duration;

use fixpoint_ports::{ModelError, ModelRequest};
use fixpoint_vocabulary::settings::Protocol;
use fixpoint_vocabulary::usage::{CountSource, MicroUsd, Usage};
use serde_json::json;

use crate::server::{Server, Step, ok, stream, unfinished, whole};
use crate::setup::{
    ask, completion, completion_stream, limits, message_stream, model, model_with, network, question,
    settings, text_block,
};

/// Failures that may pass.
fn temporary() -> Vec<(&'static str, Vec<Step>)> {
    let half = completion_stream(&["Hel", "lo"]);
    let half = half.split("\"finish_reason\":\"stop\"").next().unwrap();
    let error_event = "data: {\"error\":{\"message\":\"overloaded\",\"type\":\"server_error\"}}\n\n";
    vec![
        ("408", whole("408 Request Timeout", "", "")),
        ("409", whole("409 Conflict", "", "{}")),
        (
            "429",
            whole("429 Too Many Requests", "retry-after-ms: 1\r\n", r#"{"error":{"message":"slow down"}}"#),
        ),
        ("500", whole("500 Internal Server Error", "", "oops")),
        ("502", whole("502 Bad Gateway", "", "<html>bad</html>")),
        ("503", whole("503 Service Unavailable", "Retry-After: 0\r\n", "")),
        ("529", whole("529 Overloaded", "", r#"{"type":"error","error":{"type":"overloaded_error"}}"#)),
        ("closed", vec![Step::Close]),
        ("closed in the head", vec![Step::Bytes(b"HTTP/1.1 200 OK\r\nContent-".to_vec()), Step::Close]),
        ("no HTTP", vec![Step::Bytes(b"SSH-2.0-OpenSSH\r\n".to_vec()), Step::Close]),
        ("garbage", whole("200 OK", "", "<html>please sign in to the hotel</html>")),
        ("no answer in it", whole("200 OK", "", r#"{"choices":[]}"#)),
        ("an error in it", whole("200 OK", "", r#"{"error":{"code":502,"message":"upstream"}}"#)),
        (
            "body cut short",
            vec![
                Step::Bytes(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{\"cho"
                        .to_vec(),
                ),
                Step::Close,
            ],
        ),
        ("half a stream, connection lost", [unfinished(half, 40), vec![Step::Close]].concat()),
        ("half a stream, ended properly", stream(half, 40)),
        ("garbage in the stream", stream("data: {\"choices\": [{\n\n", 40)),
        ("an error in the stream", stream(error_event, 40)),
    ]
}

#[test]
fn temporary_failures_are_retried() {
    for (name, steps) in temporary() {
        let server = Server::answering(vec![steps, ok(&completion("Hello"))]);
        let reply = ask(&*model(&server, Protocol::Openai), &question("Hi")).0;
        let reply = reply.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((reply.text.as_str(), server.requests().len()), ("Hello", 2), "{name}");
        assert_eq!(reply.usage.calls, 2, "{name}");
    }
}

#[test]
fn retries_are_limited_and_every_request_is_counted() {
    for (name, steps) in temporary() {
        let server = Server::answering(vec![steps]);
        let failure = ask(&*model(&server, Protocol::Openai), &question("Hi")).0.unwrap_err();
        let ModelError::Unavailable { endpoint, message } = &failure.error else {
            panic!("{name}: {:?}", failure.error)
        };
        assert_eq!(endpoint, "test");
        assert!(message.starts_with("3 requests failed, the last one: "), "{name}: {message}");
        assert_eq!((server.requests().len(), failure.usage.calls), (3, 3), "{name}");
    }
}

#[test]
fn permanent_failures_are_not_retried() {
    for (status, body, expected) in [
        ("401 Unauthorized", r#"{"error":{"message":"bad key","code":"invalid_api_key"}}"#, "sign in"),
        ("403 Forbidden", r#"{"error":{"message":"not yours"}}"#, "sign in"),
        ("402 Payment Required", r#"{"error":{"message":"pay"}}"#, "credit"),
        ("429 Too Many Requests", r#"{"error":{"message":"quota","code":"insufficient_quota"}}"#, "credit"),
        (
            "400 Bad Request",
            r#"{"error":{"message":"too many","code":"context_length_exceeded"}}"#,
            "too long",
        ),
        ("400 Bad Request", r#"{"error":{"message":"temperature out of range"}}"#, "refused"),
        ("404 Not Found", r#"{"error":{"message":"no such model"}}"#, "refused"),
        ("307 Temporary Redirect", "", "refused"),
    ] {
        let server = Server::answering(vec![whole(status, "Location: http://127.0.0.1:1/\r\n", body)]);
        let failure = ask(&*model(&server, Protocol::Openai), &question("Hi")).0.unwrap_err();
        let class = match failure.error {
            ModelError::SignIn { .. } => "sign in",
            ModelError::NoCredit { .. } => "credit",
            ModelError::TooLong { .. } => "too long",
            ModelError::Refused { .. } => "refused",
            ModelError::Unavailable { .. } => "unavailable",
            ModelError::TimedOut { .. } => "timed out",
            ModelError::Cancelled => "cancelled",
        };
        assert_eq!((class, server.requests().len()), (expected, 1), "{status} {body}");
        // A rejected request costs nothing.
        let usage = Usage { calls: 1, cost: Some(MicroUsd(0)), ..Usage::default() };
        assert_eq!(failure.usage, usage, "{status} {body}");
    }
}

#[test]
fn a_refused_connection_is_not_counted() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = Server::answering(vec![]);
    let mut settings = settings(&server, Protocol::Openai);
    settings.endpoints.get_mut("test").unwrap().url = format!("http://127.0.0.1:{port}/v1");
    let failure = ask(&*model_with(&settings, network(limits())), &question("Hi")).0.unwrap_err();
    assert!(matches!(&failure.error, ModelError::Unavailable { message, .. } if message.contains("refused")));
    assert_eq!(failure.usage, Usage { cost: Some(MicroUsd(0)), ..Usage::default() });
}

#[test]
fn the_tokens_of_a_broken_stream_are_counted() {
    let text = message_stream(&[text_block(&["Hello, this is cut"])], "end_turn");
    let half = text.split("event: content_block_stop").next().unwrap();
    let good = message_stream(&[text_block(&["Hello"])], "end_turn");
    let server =
        Server::answering(vec![[unfinished(half, 60), vec![Step::Close]].concat(), stream(&good, 60)]);
    let usage = ask(&*model(&server, Protocol::Anthropic), &question("Hi")).0.unwrap().usage;
    assert_eq!(
        (usage.calls, usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens),
        (2, 50, 8000, 600)
    );
    assert!(usage.output_tokens > 42 + 3, "{usage:?}");
    assert_eq!(usage.counted, CountSource::Estimated);
}

#[test]
fn errors_inside_an_anthropic_stream_have_their_class() {
    let start = message_stream(&[text_block(&["Hel"])], "end_turn");
    let start = start.split("event: content_block_stop").next().unwrap();
    let with = |kind: &str| {
        let event = json!({"type": "error", "error": {"type": kind, "message": "because"}});
        stream(&format!("{start}event: error\ndata: {event}\n\n"), 50)
    };
    let server = Server::answering(vec![with("overloaded_error"), with("authentication_error")]);
    let failure = ask(&*model(&server, Protocol::Anthropic), &question("Hi")).0.unwrap_err();
    assert!(matches!(failure.error, ModelError::SignIn { .. }), "{:?}", failure.error);
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_retry_after_beyond_the_deadline_fails_at_once() {
    let busy = whole("429 Too Many Requests", "Retry-After: 3600\r\n", "{}");
    let server = Server::answering(vec![busy, ok(&completion("never"))]);
    let failure = ask(&*model(&server, Protocol::Openai), &question("Hi")).0.unwrap_err();
    let ModelError::Unavailable { message, .. } = failure.error else { panic!("{:?}", failure.error) };
    assert!(
        message.starts_with("it asks to retry in 3600 s, which is after the deadline; 1 request failed"),
        "{message}"
    );
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn retry_after_is_respected() {
    let busy = whole("429 Too Many Requests", "Retry-After-Ms: 120\r\n", "{}");
    let server = Server::answering(vec![busy, ok(&completion("Hello"))]);
    let started = std::time::Instant::now();
    ask(&*model(&server, Protocol::Openai), &question("Hi")).0.unwrap();
    assert!(started.elapsed() >= Duration::from_millis(120));
}

#[test]
fn a_pause_beyond_the_deadline_fails_at_once() {
    let busy = whole("503 Service Unavailable", "", "");
    let server = Server::answering(vec![busy]);
    let mut limits = limits();
    limits.backoff.first = Duration::from_secs(3600);
    limits.backoff.longest = Duration::from_secs(3600);
    let model = model_with(&settings(&server, Protocol::Openai), network(limits));
    let request = ModelRequest { deadline: Duration::from_secs(600), ..question("Hi") };
    let failure = ask(&*model, &request).0.unwrap_err();
    assert!(matches!(failure.error, ModelError::Unavailable { .. }));
    assert_eq!(server.requests().len(), 1);
}
