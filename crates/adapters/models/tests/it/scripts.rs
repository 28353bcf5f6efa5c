//! Scripted answers.

use std::collections::BTreeSet;
use std::time::Duration;

use fixpoint_models::ScriptedModel;
use fixpoint_ports::{Cancel, Message, Model, ModelError, ModelFailure, ModelRequest, StopReason, ToolCall};
use fixpoint_vocabulary::usage::{CountSource, MicroUsd, Usage};
use serde_json::{Value, json};

use crate::setup::{ask, document_question, question, schema};

fn script(document: &Value) -> ScriptedModel {
    ScriptedModel::parse("demo", &document.to_string()).unwrap()
}

fn text_of(model: &ScriptedModel, request: &ModelRequest) -> Result<String, ModelError> {
    ask(model, request).0.map(|reply| reply.text).map_err(|failure| failure.error)
}

#[test]
fn the_first_rule_that_matches_answers() {
    let model = script(&json!({"rules": [
        {"name": "only documents", "form": "verdict", "contains": ["Well", "spec"], "replies": [{"json": {"ok": true}}]},
        {"name": "used up", "contains": ["Hi"], "after": "fail", "replies": [{"text": "one"}, {"text": "two"}]},
        {"name": "rest", "contains": ["Hi"], "replies": [{"text": "three"}, {"text": "again"}]},
    ]}));
    assert_eq!(text_of(&model, &document_question(schema())), Ok("{\"ok\":true}".to_string()));
    for expected in ["one", "two", "three", "again", "again"] {
        assert_eq!(text_of(&model, &question("Hi there")), Ok(expected.to_string()));
    }
    let Err(ModelError::Refused { message, .. }) = text_of(&model, &question("Something else")) else {
        panic!()
    };
    assert_eq!(message, "no rule of the script matches: format text, last message: Something else");
    let mut other = document_question(schema());
    other.messages = vec![Message::User("x".into())];
    let Err(ModelError::Refused { message, .. }) = text_of(&model, &other) else { panic!() };
    assert!(message.contains("format verdict"), "{message}");
}

#[test]
fn tool_calls_and_usage_are_as_scripted() {
    let model = script(&json!({"rules": [{"replies": [
        {"text": "I look.", "tool_calls": [{"id": "a", "name": "weather", "arguments": {"place": "Oslo"}}],
            "usage": {"input_tokens": 10, "output_tokens": 2, "cache_read_tokens": 3, "cache_write_tokens": 4}},
        {"text": "Estimated."}]}]}));
    let reply = ask(&model, &question("Hi")).0.unwrap();
    let call = ToolCall { id: "a".into(), name: "weather".into(), arguments: json!({"place": "Oslo"}) };
    let usage = Usage {
        calls: 1,
        input_tokens: 10,
        cache_read_tokens: 3,
        cache_write_tokens: 4,
        output_tokens: 2,
        cost: Some(MicroUsd(0)),
        counted: CountSource::Told,
    };
    assert_eq!(
        (reply.text.as_str(), reply.calls, reply.stop, reply.usage),
        ("I look.", vec![call], StopReason::ToolCalls, usage)
    );
    let usage = ask(&model, &question("Hi")).0.unwrap().usage;
    assert_eq!(usage.counted, CountSource::Estimated);
    assert!(usage.input_tokens > 0 && usage.output_tokens > 0);
}

#[test]
fn failures_are_what_is_left_after_all_retries() {
    let fault = |fault: Value| {
        let model = script(&json!({"rules": [{"replies": [{"fault": fault}]}]}));
        let Err(ModelFailure { error, usage }) = ask(&model, &question("Hi")).0 else { panic!() };
        assert_eq!(usage.calls, 1);
        error
    };
    for named in ["garbage", "half_stream", "close"] {
        assert!(matches!(fault(json!(named)), ModelError::Unavailable { .. }), "{named}");
    }
    assert!(matches!(fault(json!("hang")), ModelError::TimedOut { seconds: 20, .. }));
    assert!(matches!(fault(json!({"status": 429, "retry_after": 1})), ModelError::Unavailable { .. }));
    assert!(matches!(fault(json!({"status": 529, "body": "x"})), ModelError::Unavailable { .. }));
    assert!(matches!(fault(json!({"status": 401})), ModelError::SignIn { .. }));
    assert!(matches!(fault(json!({"status": 402})), ModelError::NoCredit { .. }));
    assert!(matches!(
        fault(json!({"status": 400, "body": "prompt is too long"})),
        ModelError::TooLong { .. }
    ));
    assert!(matches!(fault(json!({"status": 404})), ModelError::Refused { .. }));
}

#[test]
fn a_delay_ends_at_the_deadline_and_on_a_stop() {
    let model = script(&json!({"rules": [{"replies": [{"text": "x", "delay_ms": 3_600_000}]}]}));
    let request = ModelRequest { deadline: Duration::from_millis(30), ..question("Hi") };
    assert!(matches!(text_of(&model, &request), Err(ModelError::TimedOut { .. })));
    let model = script(&json!({"delay_ms": 3_600_000, "rules": [{"replies": [{"text": "x"}]}]}));
    assert!(matches!(text_of(&model, &request), Err(ModelError::TimedOut { .. })));
    let cancel = Cancel::default();
    let stopped = std::thread::scope(|scope| {
        let asked = scope.spawn(|| {
            let request = ModelRequest { deadline: Duration::from_secs(3600), ..question("Hi") };
            model.ask(&request, &cancel, &mut |_| {}).unwrap_err().error
        });
        cancel.ask();
        asked.join().unwrap()
    });
    assert_eq!(stopped, ModelError::Cancelled);
}

#[test]
fn each_reply_counts_once_on_any_number_of_threads() {
    let replies: Vec<Value> = (0..40).map(|number| json!({"text": number.to_string()})).collect();
    let model = script(&json!({"rules": [{"replies": replies, "after": "fail"}]}));
    let texts: BTreeSet<String> = std::thread::scope(|scope| {
        let asked: Vec<_> =
            (0..40).map(|_| scope.spawn(|| text_of(&model, &question("Hi")).unwrap())).collect();
        asked.into_iter().map(|asked| asked.join().unwrap()).collect()
    });
    assert_eq!(texts.len(), 40);
    assert!(text_of(&model, &question("Hi")).is_err());
}

#[test]
fn counts_survive_the_process() {
    let place = tempfile::tempdir().unwrap();
    let counts = place.path().join("counts.json");
    let document = json!({"rules": [
        {"name": "a", "contains": ["Hi"], "replies": [{"text": "1"}, {"text": "2"}, {"text": "3"}]},
        {"contains": ["Ho"], "replies": [{"text": "x"}, {"text": "y"}]}]});
    for (first, second) in [("1", "x"), ("2", "y"), ("3", "y"), ("3", "y")] {
        let model = script(&document).with_counts_in(&counts).unwrap();
        assert_eq!(text_of(&model, &question("Hi")), Ok(first.to_string()));
        assert_eq!(text_of(&model, &question("Ho")), Ok(second.to_string()));
    }
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
    std::fs::write(&counts, "half a fi").unwrap();
    assert!(script(&document).with_counts_in(&counts).is_err());
}

#[test]
fn errors_of_a_script_are_reported() {
    for (document, expected) in [
        (json!({"rules": [{"replies": []}]}), "rule #0 has no replies"),
        (json!({"rules": [{"name": "a", "replies": [{}]}]}), "a reply of rule a must be one of"),
        (json!({"rules": [{"replies": [{"text": "a", "json": {}}]}]}), "must be one of"),
        (json!({"rules": [{"replies": [{"txet": "a"}]}]}), "unknown field `txet`"),
        (
            json!({"rules": [{"name": "a", "replies": [{"text": "x"}]}, {"name": "a", "replies": [{"text": "x"}]}]}),
            "rules 0 and 1 are both called a",
        ),
    ] {
        let error = ScriptedModel::parse("demo", &document.to_string()).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}
