//! Counts that survive the server, and the log.

use fixpoint_testkit::Protocol::{Chat, Messages};
use fixpoint_testkit::{LogLine, Options, Reply, Rule, Script, ScriptedServer};
use serde_json::Value;

use crate::client::{Client, ask, get, question, start, streamed, text_of};
use crate::ends::Program;

fn counting() -> Script {
    let rule = ["one", "two", "three", "four"]
        .into_iter()
        .fold(Rule::new("counts"), |rule, word| rule.reply(Reply::text(word)));
    Script::new().rule(rule.then_fail())
}

/// Catches counts that are written only when the server ends: it is killed.
#[test]
fn a_server_continues_where_the_last_was_killed() {
    let directory = tempfile::tempdir().unwrap();
    let counts = directory.path().join("counts.json");
    let options = || Options { counts: Some(counts.clone()), ..Options::default() };
    let mut said = Vec::new();
    for _ in 0..2 {
        let server = ScriptedServer::start(&counting(), options()).unwrap();
        for _ in 0..2 {
            said.push(text_of(Chat, &ask(&server, Chat, &question(Chat, "?")).unwrap()));
        }
    }
    assert_eq!(said, ["one", "two", "three", "four"]);
    let server = ScriptedServer::start(&counting(), options()).unwrap();
    assert_eq!(ask(&server, Chat, &question(Chat, "?")).unwrap().status, 400, "no reply is left");
    let calls = server.calls().unwrap();
    assert_eq!((calls.calls, calls.unmatched, calls.by_rule["counts"]), (5, 1, 4));
    let files = std::fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(files, 1, "only the counts file remains");
}

#[test]
fn without_counts_a_server_starts_from_the_beginning() {
    for _ in 0..2 {
        let server = start(&counting());
        assert_eq!(text_of(Chat, &ask(&server, Chat, &question(Chat, "?")).unwrap()), "one");
    }
}

#[test]
fn every_request_is_logged() {
    let server = start(&counting());
    assert_eq!(server.log().unwrap(), []);
    ask(&server, Messages, &streamed(question(Messages, "?"))).unwrap();
    get(&server, "/v1/models?after=x");
    get(&server, "/__calls");
    let expected = [
        LogLine {
            seq: 1,
            method: "POST".to_string(),
            path: "/v1/messages".to_string(),
            protocol: Some(Messages),
            streaming: true,
            form: None,
            turn: 0,
            rule: Some("counts".to_string()),
            status: Some(200),
            body: streamed(question(Messages, "?")),
        },
        LogLine {
            seq: 2,
            method: "GET".to_string(),
            path: "/v1/models".to_string(),
            protocol: None,
            streaming: false,
            form: None,
            turn: 0,
            rule: None,
            status: Some(200),
            body: Value::Null,
        },
    ];
    assert_eq!(server.log().unwrap(), expected);
}

/// Catches a reply that is given to two concurrent requests.
#[test]
fn concurrent_requests_get_different_replies() {
    let server = start(&counting());
    let mut said: Vec<String> = std::thread::scope(|scope| {
        let ask = || text_of(Chat, &ask(&server, Chat, &question(Chat, "?")).unwrap());
        let asking: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        asking.into_iter().map(|one| one.join().unwrap()).collect()
    });
    said.sort();
    assert_eq!(said, ["four", "one", "three", "two"]);
    let numbers: Vec<u64> = server.log().unwrap().iter().map(|line| line.seq).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
}

#[test]
fn a_reply_is_delayed() {
    let rule = Rule::new("slow").reply(Reply::text("own").delay_ms(200)).reply(Reply::text("the script's"));
    let server = start(&Script::new().rule(rule).delay_ms(20));
    for least in [200, 20] {
        let started = std::time::Instant::now();
        ask(&server, Chat, &question(Chat, "?")).unwrap();
        assert!(started.elapsed().as_millis() >= least, "{:?}", started.elapsed());
    }
}

/// Catches a log that is truncated, or whose numbers start again.
#[test]
fn a_log_continues_with_the_counts() {
    let directory = tempfile::tempdir().unwrap();
    let (log, counts) = (directory.path().join("log"), directory.path().join("counts"));
    for _ in 0..2 {
        let options = ["--log".as_ref(), log.as_os_str(), "--counts".as_ref(), counts.as_os_str()];
        let program = Program::start(&counting(), &options);
        let mut client = Client::new(&program.address);
        client.send("POST", "/v1/chat/completions", &question(Chat, "?").to_string());
        client.receive().unwrap();
    }
    let text = std::fs::read_to_string(log).unwrap();
    let numbers: Vec<u64> =
        text.lines().map(|line| serde_json::from_str::<LogLine>(line).unwrap().seq).collect();
    assert_eq!(numbers, [1, 2]);
}
