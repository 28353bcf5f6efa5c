//! Many questions at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use fixpoint_ports::Cancel;
use fixpoint_vocabulary::settings::Protocol;

use crate::server::{Server, Step, ok, unfinished};
use crate::stage::{completion, completion_stream, model, question};

#[test]
fn fifty_questions_wait_together() {
    let mut steps = vec![Step::Wait(Duration::from_millis(200))];
    steps.extend(ok(&completion("Hello")));
    let server = Server::playing(vec![steps]);
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
fn a_connection_serves_another_question_though_its_end_came_after_the_answer() {
    // The answer is over with its last event; the end of the body comes later.
    let mut steps = unfinished(&completion_stream(&["Hello"]), 100);
    steps.extend([Step::Wait(Duration::from_millis(20)), Step::Bytes(b"0\r\n\r\n".to_vec())]);
    let server = Server::playing(vec![steps]);
    let model = model(&server, Protocol::Openai);
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        model.ask(&question("Hi"), &Cancel::default(), &mut |_| {}).unwrap();
        if server.connections() < server.requests().len() {
            break;
        }
        assert!(Instant::now() < until, "every question has a connection of its own");
    }
}
