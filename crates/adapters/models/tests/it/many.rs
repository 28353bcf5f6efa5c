//! Many requests at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use fixpoint_ports::Cancel;
use fixpoint_vocabulary::settings::Protocol;

use crate::server::{Server, Step, ok, unfinished};
use crate::setup::{completion, completion_stream, model, question};

#[test]
fn fifty_requests_wait_together() {
    let mut steps = vec![Step::Wait(Duration::from_millis(200))];
    steps.extend(ok(&completion("Hello")));
    let server = Server::answering(vec![steps]);
    let model = model(&server, Protocol::Openai);
    let answered = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..50 {
            scope.spawn(|| {
                let reply = model.ask(&question("Hi"), &Cancel::default(), &mut |_| {}).unwrap();
                assert_eq!((reply.text.as_str(), reply.usage.calls), ("Hello", 1));
                answered.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    assert_eq!((answered.load(Ordering::Relaxed), server.requests().len()), (50, 50));
}

#[test]
fn a_connection_is_reused_although_the_body_ended_after_the_answer() {
    // The answer is complete with its last event; the end of the body comes later.
    let mut steps = unfinished(&completion_stream(&["Hello"]), 100);
    steps.extend([Step::Wait(Duration::from_millis(20)), Step::Bytes(b"0\r\n\r\n".to_vec())]);
    let server = Server::answering(vec![steps]);
    let model = model(&server, Protocol::Openai);
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        model.ask(&question("Hi"), &Cancel::default(), &mut |_| {}).unwrap();
        if server.connections() < server.requests().len() {
            break;
        }
        assert!(Instant::now() < until, "every request opened a new connection");
    }
}
