//! Replies in each protocol, streamed and not.

use fixpoint_testkit::Protocol::{self, Chat, Messages, Responses};
use fixpoint_testkit::{Reply, Rule, Script, ToolCall, Usage};
use serde_json::{Value, json};

use crate::client::{
    Arrived, Client, PROTOCOLS, Received, ask, get, path, question, start, streamed, text_of,
};

fn always(reply: Reply) -> Script {
    Script::new().rule(Rule::new("always").reply(reply))
}

#[test]
fn a_text_is_the_same_streamed_and_not() {
    let said = "Grüße, 世界: \"quoted\"\nand a second line.";
    let server = start(&always(Reply::text(said)));
    for protocol in PROTOCOLS {
        let whole = ask(&server, protocol, &question(protocol, "?")).unwrap();
        let stream = ask(&server, protocol, &streamed(question(protocol, "?"))).unwrap();
        assert_eq!((whole.status, stream.status), (200, 200));
        assert!(whole.has_header("content-type: application/json"), "{whole:?}");
        assert!(stream.has_header("content-type: text/event-stream"), "{stream:?}");
        assert_eq!(text_of(protocol, &whole), said);
        assert_eq!(text_of(protocol, &stream), said);
        assert_eq!(stream.arrived, Arrived::Complete);
        assert!(stream.events().len() > 4, "the stream is a single piece: {stream:?}");
    }
}

/// Catches cached tokens inside Anthropic's input, or outside OpenAI's.
#[test]
fn usage_is_reported_as_in_each_protocol() {
    let usage = Usage { input_tokens: 100, output_tokens: 7, cache_read_tokens: 20, cache_write_tokens: 3 };
    let server = start(&always(Reply::text("a").usage(usage)));
    let expected = |protocol| match protocol {
        Chat => json!({"prompt_tokens": 123, "completion_tokens": 7, "total_tokens": 130,
            "prompt_tokens_details": {"cached_tokens": 20}}),
        Messages => json!({"input_tokens": 100, "output_tokens": 7, "cache_creation_input_tokens": 3,
            "cache_read_input_tokens": 20}),
        Responses => {
            json!({"input_tokens": 123, "input_tokens_details": {"cached_tokens": 20}, "output_tokens": 7,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 130})
        }
    };
    for protocol in PROTOCOLS {
        let whole = ask(&server, protocol, &question(protocol, "?")).unwrap();
        assert_eq!(whole.json()["usage"], expected(protocol));
        let mut asked = streamed(question(protocol, "?"));
        asked["stream_options"] = json!({"include_usage": true});
        let events = ask(&server, protocol, &asked).unwrap().events();
        let last = |from_end: usize| &events[events.len() - from_end];
        let reported = match protocol {
            Chat => &last(1)["usage"],
            Messages => &last(2)["usage"],
            Responses => &last(1)["response"]["usage"],
        };
        assert_eq!(*reported, expected(protocol));
    }
    let unasked = ask(&server, Chat, &streamed(question(Chat, "?"))).unwrap().events();
    assert!(unasked.iter().all(|event| event["usage"].is_null()), "{unasked:?}");
}

fn calls_whole(protocol: Protocol, got: &Received) -> Vec<(String, String, Value)> {
    let document = got.json();
    let parsed = |text: &Value| serde_json::from_str::<Value>(text.as_str().unwrap()).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_string();
    let list = |value: &Value| value.as_array().unwrap().clone();
    match protocol {
        Chat => list(&document["choices"][0]["message"]["tool_calls"])
            .iter()
            .map(|call| {
                let function = &call["function"];
                (text(&call["id"]), text(&function["name"]), parsed(&function["arguments"]))
            })
            .collect(),
        Messages => list(&document["content"])
            .iter()
            .filter(|block| block["type"] == "tool_use")
            .map(|block| (text(&block["id"]), text(&block["name"]), block["input"].clone()))
            .collect(),
        Responses => list(&document["output"])
            .iter()
            .filter(|item| item["type"] == "function_call")
            .map(|item| (text(&item["call_id"]), text(&item["name"]), parsed(&item["arguments"])))
            .collect(),
    }
}

/// The joined arguments of the streamed calls, by the index of the call or block.
fn calls_streamed(protocol: Protocol, got: &Received) -> Vec<Value> {
    let mut texts: std::collections::BTreeMap<u64, String> = std::collections::BTreeMap::new();
    for event in got.events() {
        let (index, piece) = match protocol {
            Chat => {
                let call = &event["choices"][0]["delta"]["tool_calls"][0];
                (call["index"].as_u64(), call["function"]["arguments"].as_str())
            }
            Messages => (event["index"].as_u64(), event["delta"]["partial_json"].as_str()),
            Responses if event["type"] == "response.function_call_arguments.delta" => {
                (event["output_index"].as_u64(), event["delta"].as_str())
            }
            Responses => (None, None),
        };
        if let (Some(index), Some(piece)) = (index, piece) {
            texts.entry(index).or_default().push_str(piece);
        }
    }
    texts.values().map(|text| serde_json::from_str(text).unwrap()).collect()
}

#[test]
fn tools_are_called_streamed_and_not() {
    let call = |id: &str, path: &str| ToolCall {
        id: Some(id.to_string()),
        name: "read".to_string(),
        arguments: json!({"path": path, "lines": [1, 2]}),
    };
    let reply = Reply::tool_calls(vec![call("a", "one"), call("b", "two")]).with_text("I look.");
    let server = start(&always(reply));
    let arguments = |path: &str| json!({"path": path, "lines": [1, 2]});
    for protocol in PROTOCOLS {
        let whole = ask(&server, protocol, &question(protocol, "?")).unwrap();
        let expected = [("a", "one"), ("b", "two")]
            .map(|(id, path)| (id.to_string(), "read".to_string(), arguments(path)));
        assert_eq!(calls_whole(protocol, &whole), expected);
        assert_eq!(text_of(protocol, &whole), "I look.");
        let stream = ask(&server, protocol, &streamed(question(protocol, "?"))).unwrap();
        assert_eq!(calls_streamed(protocol, &stream), [arguments("one"), arguments("two")]);
        assert_eq!(text_of(protocol, &stream), "I look.");
    }
    let whole = |protocol| ask(&server, protocol, &question(protocol, "?")).unwrap().json();
    assert_eq!(whole(Chat)["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!(whole(Messages)["stop_reason"], "tool_use");
}

/// Catches ids made of the rule or the turn alone, which two calls of one conversation would share.
#[test]
fn a_call_without_an_id_gets_a_unique_one() {
    let server = start(&always(Reply::tool_call("read", json!({}))));
    let id = || calls_whole(Chat, &ask(&server, Chat, &question(Chat, "?")).unwrap())[0].0.clone();
    assert_ne!(id(), id());
}

#[test]
fn a_document_is_a_text_or_the_arguments_of_a_forced_tool() {
    let document = json!({"score": 0.5, "why": "so"});
    let script =
        Script::new().rule(Rule::new("judge").form("judgement").reply(Reply::json(document.clone())));
    let server = start(&script);
    let schema = json!({"type": "object", "title": "judgement"});
    let with = |protocol, field: &str, value: Value| {
        let mut asked = question(protocol, "?");
        asked[field] = value;
        ask(&server, protocol, &asked).unwrap()
    };
    let named = json!({"name": "judgement", "schema": schema});
    let typed = json!({"type": "json_schema", "name": "judgement", "schema": schema});
    let as_text = [
        (Chat, "response_format", json!({"type": "json_schema", "json_schema": named})),
        (Messages, "output_config", json!({"format": {"type": "json_schema", "schema": schema}})),
        (Responses, "text", json!({"format": typed})),
    ];
    for (protocol, field, value) in as_text {
        let text = text_of(protocol, &with(protocol, field, value));
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), document);
    }
    let as_call = [
        (Chat, json!({"type": "function", "function": {"name": "judgement"}})),
        (Messages, json!({"type": "tool", "name": "judgement"})),
        (Responses, json!({"type": "function", "name": "judgement"})),
    ];
    for (protocol, choice) in as_call {
        let got = with(protocol, "tool_choice", choice);
        let calls = calls_whole(protocol, &got);
        assert_eq!(calls.len(), 1);
        if protocol == Chat {
            assert_eq!(got.json()["choices"][0]["finish_reason"], "stop", "the call was forced");
        }
        assert_eq!((calls[0].1.as_str(), &calls[0].2), ("judgement", &document));
    }
    assert_eq!(ask(&server, Chat, &question(Chat, "?")).unwrap().status, 400, "the rule does not match");
}

#[test]
fn a_command_is_a_call_of_the_agents_shell_tool() {
    let server = start(&always(Reply::shell("make test")));
    let schema =
        |name: &str| json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]});
    let mut asked = question(Messages, "?");
    asked["tools"] = json!([{"name": "Bash", "input_schema": schema("command")}]);
    let calls = calls_whole(Messages, &ask(&server, Messages, &asked).unwrap());
    assert_eq!((calls[0].1.as_str(), &calls[0].2), ("Bash", &json!({"command": "make test"})));
    let mut asked = question(Responses, "?");
    asked["tools"] = json!([{"type": "function", "name": "exec_command", "parameters": schema("cmd")}]);
    let calls = calls_whole(Responses, &ask(&server, Responses, &asked).unwrap());
    assert_eq!((calls[0].1.as_str(), &calls[0].2), ("exec_command", &json!({"cmd": "make test"})));
    asked["tools"] = json!([{"type": "local_shell"}]);
    let item = ask(&server, Responses, &asked).unwrap().json()["output"][0].clone();
    assert_eq!(item["type"], "local_shell_call");
    assert_eq!(item["action"]["command"], json!(["bash", "-lc", "make test"]));
}

#[test]
fn models_are_listed_and_tokens_counted() {
    let server = start(&always(Reply::text("a")));
    assert_eq!(get(&server, "/v1/models").json()["data"][0]["id"], "scripted");
    assert_eq!(get(&server, "/models?limit=5").json()["data"][0]["id"], "scripted");
    assert_eq!(get(&server, "/v1/nothing").status, 404);
    let mut client = Client::new(server.address());
    client.send("POST", "/v1/messages/count_tokens?beta=true", "{}");
    assert!(client.receive().unwrap().json()["input_tokens"].is_u64());
    assert_eq!(server.calls().unwrap().calls, 0, "none of these is a request to a model");
}

/// Catches a body that is not read, a stream without its end, and a HEAD answer with a body.
#[test]
fn a_connection_serves_many_requests() {
    let server = start(&always(Reply::text("a")));
    let mut client = Client::new(server.address());
    for protocol in PROTOCOLS {
        for asked in [question(protocol, "?"), streamed(question(protocol, "?"))] {
            // Some clients add the prefix, some do not.
            for path in [path(protocol), path(protocol).trim_start_matches("/v1")] {
                client.send("POST", path, &asked.to_string());
                assert_eq!(text_of(protocol, &client.receive().unwrap()), "a");
            }
        }
    }
    let body = question(Chat, "in chunks").to_string();
    let (first, second) = body.split_at(body.len() / 2);
    client.write(&format!(
        "POST /v1/chat/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{first}\r\n{:x};x=y\r\n{second}\r\n0\r\n\r\n",
        first.len(),
        second.len()
    ));
    assert_eq!(text_of(Chat, &client.receive().unwrap()), "a");
    client.write("POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 2\r\nexpect: 100-continue\r\n\r\n{}");
    assert_eq!(client.receive_header(), ["HTTP/1.1 100 Continue"]);
    assert_eq!(text_of(Chat, &client.receive().unwrap()), "a");
    client.send("HEAD", "/", "");
    assert_eq!(client.receive_header()[0], "HTTP/1.1 200 OK");
    client.write("GET /v1/models HTTP/1.1\r\nconnection: close\r\n\r\n");
    assert!(client.receive().unwrap().has_header("connection: close"));
    assert_eq!(client.receive(), None);
}
