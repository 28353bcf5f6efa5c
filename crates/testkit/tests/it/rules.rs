//! Which rule answers, tested through the server.

use fixpoint_testkit::Protocol::{Chat, Messages, Responses};
use fixpoint_testkit::{Options, Reply, ResponseFormat, Rule, Script, ScriptedServer};
use serde_json::{Value, json};

use crate::client::{PROTOCOLS, ask, question, start, text_of};

#[test]
fn rules_are_tried_in_order_until_they_have_no_reply_left() {
    let script = Script::new()
        .rule(
            Rule::new("plan").contains("plan").reply(Reply::text("p1")).reply(Reply::text("p2")).then_fail(),
        )
        .rule(Rule::new("rest").reply(Reply::text("r1")).reply(Reply::text("r2")));
    for protocol in PROTOCOLS {
        let server = start(&script);
        let said =
            |text: &str| text_of(protocol, &ask(&server, protocol, &question(protocol, text)).unwrap());
        let all = ["the plan", "else", "plan", "plan", "else"].map(said);
        assert_eq!(all, ["p1", "r1", "p2", "r2", "r2"]);
        let calls = server.calls().unwrap();
        assert_eq!((calls.calls, calls.unmatched), (5, 0));
        assert_eq!(calls.by_rule.into_iter().collect::<Vec<_>>(), [("plan".into(), 2), ("rest".into(), 3)]);
    }
}

#[test]
fn turns_are_matched_by_tool_results_and_by_the_last_message() {
    let script = Script::new()
        .rule(Rule::new("refused").last_contains("denied").reply(Reply::text("I give up")))
        .rule(Rule::new("first").turn(0).reply(Reply::text("begin")))
        .rule(Rule::new("second").turn(1).reply(Reply::text("go on")));
    let server = start(&script);
    let result = |protocol, text: &str| match protocol {
        Chat => {
            json!({"messages": [{"role": "user", "content": "denied before"}, {"role": "tool", "content": text}]})
        }
        Messages => {
            json!({"messages": [{"role": "user", "content": "denied before"}, {"role": "user", "content":
            [{"type": "tool_result", "content": text}, {"type": "text", "text": "reminder"}]}]})
        }
        Responses => json!({"input": [{"role": "user", "content": "denied before"},
            {"type": "function_call_output", "output": text}]}),
    };
    for protocol in PROTOCOLS {
        let said = |body: &Value| text_of(protocol, &ask(&server, protocol, body).unwrap());
        assert_eq!(said(&question(protocol, "?")), "begin");
        assert_eq!(said(&result(protocol, "fine")), "go on");
        assert_eq!(said(&result(protocol, "denied")), "I give up");
    }
}

#[test]
fn a_request_that_no_rule_matches_is_rejected_with_its_content() {
    let server = start(&Script::new().rule(Rule::new("never").form("other").reply(Reply::text("a"))));
    let long = format!("do something unheard of {} at last", "and so on ".repeat(100));
    let mut asked = question(Chat, &long);
    asked["response_format"] = json!({"type": "json_schema", "json_schema": {"name": "judgement"}});
    let got = ask(&server, Chat, &asked).unwrap();
    assert_eq!(got.status, 400);
    let message = got.json()["error"]["message"].as_str().unwrap().to_string();
    assert!(message.contains("judgement") && message.contains("unheard of"), "{message}");
    assert!(message.ends_with("at last") && message.len() < 500, "{message}");
    assert_eq!(server.calls().unwrap().unmatched, 1);
    let log = server.log().unwrap();
    assert_eq!((log[0].rule.as_deref(), log[0].status, &log[0].body), (None, Some(400), &asked));
}

#[test]
fn response_formats_can_be_rejected() {
    let script = Script::new().rule(Rule::new("any").reply(Reply::json(json!({"a": 1}))));
    let options = Options { response_format: ResponseFormat::Rejected, ..Options::default() };
    let server = ScriptedServer::start(&script, options).unwrap();
    let format = json!({"type": "json_schema", "name": "f", "json_schema": {"name": "f"}});
    let rejected = [
        (Chat, "response_format", format.clone()),
        (Chat, "response_format", json!({"type": "json_object"})),
        (Chat, "tool_choice", json!("required")),
        (Messages, "output_config", json!({"format": format})),
        (Messages, "tool_choice", json!({"type": "tool", "name": "f"})),
        (Responses, "text", json!({"format": format})),
        (Responses, "tool_choice", json!({"type": "function", "name": "f"})),
    ];
    for (protocol, field, value) in rejected {
        let mut asked = question(protocol, "?");
        asked[field] = value;
        let got = ask(&server, protocol, &asked).unwrap();
        assert_eq!(got.status, 400, "{asked}");
        assert!(got.body.contains("not supported"), "{got:?}");
    }
    let accepted = [
        (Chat, "response_format", json!({"type": "text"})),
        (Chat, "tool_choice", json!("auto")),
        (Messages, "tool_choice", json!({"type": "auto"})),
        (Messages, "output_config", json!({"effort": "high"})),
        (Responses, "text", json!({"format": {"type": "text"}, "verbosity": "low"})),
    ];
    for (protocol, field, value) in accepted {
        let mut asked = question(protocol, "?");
        asked[field] = value;
        assert_eq!(text_of(protocol, &ask(&server, protocol, &asked).unwrap()), r#"{"a":1}"#);
    }
    let calls = server.calls().unwrap();
    assert_eq!((calls.calls, calls.unmatched, calls.by_rule["any"]), (12, 0, 5));
}
