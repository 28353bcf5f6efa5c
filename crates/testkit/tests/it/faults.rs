//! Every failure in each protocol, streamed and not.

use fixpoint_testkit::{Fault, Reply, Rule, Script, ScriptedServer};
use serde_json::Value;

use crate::client::{
    Arrived, Client, PROTOCOLS, Received, ask, path, question, start, streamed, text_of, until,
};

fn failing(fault: Fault) -> ScriptedServer {
    let rule = Rule::new("fails").reply(Reply::fault(fault)).then_fail();
    start(&Script::new().rule(rule).rule(Rule::new("recovers").reply(Reply::text("recovered"))))
}

/// Tries the failure for each kind of request, and that the server answers again after it.
fn for_each_request(fault: &Fault, check: impl Fn(Option<Received>)) {
    for protocol in PROTOCOLS {
        for asked in [question(protocol, "?"), streamed(question(protocol, "?"))] {
            let server = failing(fault.clone());
            check(ask(&server, protocol, &asked));
            assert_eq!(text_of(protocol, &ask(&server, protocol, &asked).unwrap()), "recovered");
        }
    }
}

#[test]
fn a_status_has_its_retry_after_and_its_body() {
    let fault = Fault::Status { status: 429, retry_after: Some(3), body: Some("slow down".to_string()) };
    for_each_request(&fault, |got| {
        let got = got.unwrap();
        assert_eq!((got.status, got.body.as_str()), (429, "slow down"));
        assert!(got.has_header("retry-after: 3"), "{got:?}");
    });
    for_each_request(&Fault::Status { status: 529, retry_after: None, body: None }, |got| {
        let got = got.unwrap();
        assert_eq!(got.status, 529);
        assert!(got.json()["error"]["message"].is_string(), "{got:?}");
        assert!(!got.headers.iter().any(|line| line.starts_with("retry-after")), "{got:?}");
    });
}

#[test]
fn garbage_is_not_json() {
    for_each_request(&Fault::Garbage, |got| {
        let got = got.unwrap();
        assert_eq!((got.status, got.arrived), (200, Arrived::Complete));
        assert!(serde_json::from_str::<Value>(&got.body).is_err(), "{got:?}");
    });
}

/// Catches a half that ends like a complete answer, and one that is empty.
#[test]
fn half_a_stream_has_a_start_and_no_end() {
    for_each_request(&Fault::HalfStream, |got| {
        let got = got.unwrap();
        assert_eq!((got.status, got.arrived), (200, Arrived::CutOff));
        assert!(!got.body.is_empty());
    });
    for protocol in PROTOCOLS {
        let got = ask(&failing(Fault::HalfStream), protocol, &streamed(question(protocol, "?"))).unwrap();
        let start = text_of(protocol, &got);
        assert!(start.starts_with("This answer") && !start.ends_with('.'), "{start}");
    }
}

#[test]
fn a_closed_connection_has_no_answer() {
    for_each_request(&Fault::Close, |got| assert_eq!(got, None));
}

#[test]
fn a_hanging_server_waits_until_the_client_closes() {
    for protocol in PROTOCOLS {
        let server = failing(Fault::Hang);
        let mut client = Client::new(server.address());
        client.send("POST", path(protocol), &question(protocol, "?").to_string());
        // The request was recorded, and others are answered meanwhile.
        until(|| server.calls().unwrap().calls == 1);
        assert_eq!(
            text_of(protocol, &ask(&server, protocol, &question(protocol, "?")).unwrap()),
            "recovered"
        );
        assert!(client.is_silent());
        client.stop_sending();
        assert_eq!(client.receive(), None, "nothing was answered");
        assert_eq!(server.log().unwrap()[0].status, None);
    }
}
