//! Time, size, stops, and the circuit breaker.

use std::sync::Arc;
use std::time::{Duration, Instant};

use fixpoint_models::NetworkLimits;
use fixpoint_ports::{Cancel, Model, ModelError, ModelFailure, ModelRequest};
use fixpoint_vocabulary::settings::Protocol;
use fixpoint_vocabulary::usage::Usage;

use crate::server::{Server, Step, ok, stream, unfinished, whole};
use crate::setup::{
    ask, breaker, completion, completion_stream, limits, model, model_with, network, question, settings,
};

/// Longer than any test: a limit that does not work shows as a hanging test.
const FOREVER: Duration = Duration::from_secs(3600);

fn hanging() -> Vec<(&'static str, Vec<Step>)> {
    let start = completion_stream(&["Hel"]);
    let start = start.split("\"finish_reason\":\"stop\"").next().unwrap();
    vec![
        ("before the head", vec![Step::Hang]),
        ("in the head", vec![Step::Bytes(b"HTTP/1.1 200 OK\r\nConte".to_vec()), Step::Hang]),
        (
            "in a body",
            vec![
                Step::Bytes(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
                        .to_vec(),
                ),
                Step::Hang,
            ],
        ),
        ("in a stream", [unfinished(start, 30), vec![Step::Hang]].concat()),
        (
            "in an error",
            vec![Step::Bytes(b"HTTP/1.1 500 Oops\r\nContent-Length: 99\r\n\r\n{".to_vec()), Step::Hang],
        ),
    ]
}

fn cancelled_after(server: &Server, model: &Arc<dyn Model>, hang: usize) -> (ModelFailure, Duration) {
    let cancel = Cancel::default();
    let asked = {
        let (cancel, model) = (cancel.clone(), Arc::clone(model));
        std::thread::spawn(move || {
            let request = ModelRequest { deadline: FOREVER, ..question("Hi") };
            let failure = model.ask(&request, &cancel, &mut |_| {}).unwrap_err();
            (failure, Instant::now())
        })
    };
    server.wait_until_hanging(hang);
    let started = Instant::now();
    cancel.ask();
    let (failure, ended) = asked.join().unwrap();
    (failure, ended.saturating_duration_since(started))
}

#[test]
fn a_stop_ends_a_hanging_request_and_closes_its_connection() {
    for (place, steps) in hanging() {
        let server = Server::answering(vec![steps]);
        // It must outlive the request: dropping it would close the connection too.
        let model = model(&server, Protocol::Openai);
        let (failure, _) = cancelled_after(&server, &model, 1);
        assert_eq!(failure.error, ModelError::Cancelled, "{place}");
        assert_eq!(failure.usage.calls, 1, "{place}");
        server.wait_until_gone();
        drop(model);
    }
}

#[test]
fn a_stop_is_noticed_soon() {
    // The fastest of a few, since the machine may be busy.
    let fastest = (0..5).map(|_| {
        let server = Server::answering(vec![vec![Step::Hang]]);
        cancelled_after(&server, &model(&server, Protocol::Openai), 1).1
    });
    let fastest = fastest.min().unwrap();
    assert!(fastest <= Duration::from_millis(50), "{fastest:?}");
}

#[test]
fn a_stop_ends_a_pause() {
    let server = Server::answering(vec![whole("503 Busy", "Retry-After: 1800\r\n", "")]);
    let model = model(&server, Protocol::Openai);
    let cancel = Cancel::default();
    let asked = {
        let cancel = cancel.clone();
        std::thread::spawn(move || {
            let request = ModelRequest { deadline: FOREVER, ..question("Hi") };
            model.ask(&request, &cancel, &mut |_| {}).unwrap_err()
        })
    };
    while server.requests().is_empty() {
        std::thread::yield_now();
    }
    cancel.ask();
    assert_eq!(asked.join().unwrap().error, ModelError::Cancelled);
}

#[test]
fn a_stop_before_the_request_sends_nothing() {
    let server = Server::answering(vec![ok(&completion("x"))]);
    let cancel = Cancel::default();
    cancel.ask();
    let failure = model(&server, Protocol::Openai).ask(&question("Hi"), &cancel, &mut |_| {}).unwrap_err();
    assert_eq!((failure.error, failure.usage.calls), (ModelError::Cancelled, 0));
    assert!(server.requests().is_empty());
}

#[test]
fn the_deadline_ends_a_hanging_request() {
    for (place, steps) in hanging() {
        let server = Server::answering(vec![steps]);
        let request = ModelRequest { deadline: Duration::from_millis(500), ..question("Hi") };
        let model = model(&server, Protocol::Openai);
        let failure = ask(&*model, &request).0.unwrap_err();
        assert!(matches!(failure.error, ModelError::TimedOut { .. }), "{place}: {:?}", failure.error);
        assert_eq!(server.requests().len(), 1, "{place}");
        server.wait_until_gone();
        drop(model);
    }
}

#[test]
fn silence_in_a_stream_is_retried() {
    let short = NetworkLimits {
        silence: Duration::from_millis(300),
        first_byte: Duration::from_millis(300),
        ..limits()
    };
    for (place, steps) in hanging() {
        let server = Server::answering(vec![steps, ok(&completion("Hello"))]);
        let model = model_with(&settings(&server, Protocol::Openai), network(short));
        let reply = ask(&*model, &ModelRequest { deadline: FOREVER, ..question("Hi") }).0;
        assert_eq!(reply.unwrap_or_else(|error| panic!("{place}: {error}")).text, "Hello", "{place}");
    }
}

#[test]
fn an_answer_that_is_too_large_is_rejected() {
    let small = NetworkLimits { max_answer: 100_000, ..limits() };
    let word = "x".repeat(1000);
    let server = Server::answering(vec![stream(&completion_stream(&vec![word.as_str(); 200]), 8192)]);
    let model = model_with(&settings(&server, Protocol::Openai), network(small));
    let failure = ask(&*model, &question("Hi")).0.unwrap_err();
    let ModelError::Unavailable { message, .. } = failure.error else { panic!("{:?}", failure.error) };
    assert!(message.ends_with("the answer is larger than 100000 bytes"), "{message}");
}

#[test]
fn only_the_start_of_a_huge_error_is_read() {
    let body = format!("{{\"error\":{{\"message\":\"{}\"}}}}", "no ".repeat(1 << 20));
    let server = Server::answering(vec![whole("400 Bad Request", "", &body)]);
    let failure = ask(&*model(&server, Protocol::Openai), &question("Hi")).0.unwrap_err();
    let ModelError::Refused { message, .. } = failure.error else { panic!("{:?}", failure.error) };
    assert!(message.len() < 600, "{}", message.len());
}

#[test]
fn an_endpoint_that_keeps_failing_is_left_alone_and_then_probed() {
    let bad = whole("503 Busy", "", "");
    let script = [vec![bad; 6], vec![ok(&completion("Hello"))]].concat();
    let server = Server::answering(script);
    let model =
        model_with(&settings(&server, Protocol::Openai), network(breaker(2, Duration::from_millis(300))));
    for _ in 0..2 {
        assert!(ask(&*model, &question("Hi")).0.is_err());
    }
    assert_eq!(server.requests().len(), 6);
    let blocked = ask(&*model, &question("Hi")).0.unwrap_err();
    let ModelError::Unavailable { message, .. } = blocked.error else { panic!("{:?}", blocked.error) };
    assert!(message.contains("2 failed calls in a row") && message.ends_with("next try in 1 s"), "{message}");
    assert_eq!((server.requests().len(), blocked.usage), (6, Usage::default()));
    // It is asked again after the pause; only waiting brings that about.
    let until = Instant::now() + Duration::from_secs(20);
    while ask(&*model, &question("Hi")).0.is_err() {
        assert!(Instant::now() < until);
        std::thread::yield_now();
    }
    assert!(ask(&*model, &question("Hi")).0.is_ok());
    assert_eq!(server.requests().len(), 8);
}

#[test]
fn a_rejection_shows_that_an_endpoint_is_alive() {
    let server = Server::answering(vec![whole("400 Bad Request", "", "{}")]);
    let model = model_with(&settings(&server, Protocol::Openai), network(breaker(1, FOREVER)));
    for _ in 0..3 {
        let failure = ask(&*model, &question("Hi")).0.unwrap_err();
        assert!(matches!(failure.error, ModelError::Refused { .. }), "{:?}", failure.error);
    }
    assert_eq!(server.requests().len(), 3);
}
