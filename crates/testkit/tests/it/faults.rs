//! Each thing that goes wrong, in each protocol, whole and streamed.

use fixpoint_testkit::{Fault, Reply, Rule, Script, ScriptedServer};
use serde_json::Value;

use crate::client::{Arrived, Client, Got, PROTOCOLS, ask, path, question, start, streamed, until, words};

fn failing(fault: Fault) -> ScriptedServer {
    let rule = Rule::new("fails").reply(Reply::fault(fault)).then_fail();
    start(&Script::new().rule(rule).rule(Rule::new("recovers").reply(Reply::text("well again"))))
}

/// The fault on a server of its own for each way of asking, and that the server is well again after it.
fn each_way(fault: &Fault, check: impl Fn(Option<Got>)) {
    for protocol in PROTOCOLS {
        for asked in [question(protocol, "?"), streamed(question(protocol, "?"))] {
            let server = failing(fault.clone());
            check(ask(&server, protocol, &asked));
            assert_eq!(words(protocol, &ask(&server, protocol, &asked).unwrap()), "well again");
        }
    }
}

#[test]
fn a_status_comes_with_its_pause_and_its_body() {
    let fault = Fault::Status { status: 429, retry_after: Some(3), body: Some("slow down".to_string()) };
    each_way(&fault, |got| {
        let got = got.unwrap();
        assert_eq!((got.status, got.body.as_str()), (429, "slow down"));
        assert!(got.has_header("retry-after: 3"), "{got:?}");
    });
    each_way(&Fault::Status { status: 529, retry_after: None, body: None }, |got| {
        let got = got.unwrap();
        assert_eq!(got.status, 529);
        assert!(got.json()["error"]["message"].is_string(), "{got:?}");
        assert!(!got.headers.iter().any(|line| line.starts_with("retry-after")), "{got:?}");
    });
}

#[test]
fn garbage_is_no_json() {
    each_way(&Fault::Garbage, |got| {
        let got = got.unwrap();
        assert_eq!((got.status, got.arrived), (200, Arrived::Whole));
        assert!(serde_json::from_str::<Value>(&got.body).is_err(), "{got:?}");
    });
}

/// Catches a half that ends as a whole does, and one in which nothing came.
#[test]
fn half_a_stream_has_a_beginning_and_no_end() {
    each_way(&Fault::HalfStream, |got| {
        let got = got.unwrap();
        assert_eq!((got.status, got.arrived), (200, Arrived::CutOff));
        assert!(!got.body.is_empty());
    });
    for protocol in PROTOCOLS {
        let got = ask(&failing(Fault::HalfStream), protocol, &streamed(question(protocol, "?"))).unwrap();
        let begun = words(protocol, &got);
        assert!(begun.starts_with("This answer") && !begun.ends_with('.'), "{begun}");
    }
}

#[test]
fn a_closed_connection_answers_nothing() {
    each_way(&Fault::Close, |got| assert_eq!(got, None));
}

#[test]
fn a_server_that_hangs_waits_for_the_client_to_go() {
    for protocol in PROTOCOLS {
        let server = failing(Fault::Hang);
        let mut client = Client::new(server.address());
        client.send("POST", path(protocol), &question(protocol, "?").to_string());
        // The request was taken in, and others are answered meanwhile.
        until(|| server.calls().unwrap().calls == 1);
        assert_eq!(words(protocol, &ask(&server, protocol, &question(protocol, "?")).unwrap()), "well again");
        assert!(client.is_silent());
        client.stop_sending();
        assert_eq!(client.receive(), None, "and nothing was ever answered");
        assert_eq!(server.log().unwrap()[0].status, None);
    }
}
