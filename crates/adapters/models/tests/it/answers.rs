//! Answers of both protocols, complete and in pieces of any size.

use fixpoint_ports::{Message, ModelReply, ModelRequest, StopReason, ToolCall, ToolOutcome};
use fixpoint_vocabulary::settings::{ModelSettings, Price, Protocol};
use fixpoint_vocabulary::usage::{CountSource, MicroUsd, Usage};
use serde_json::{Value, json};

use crate::server::{Server, ok, stream};
use crate::setup::{
    ask, completion, completion_stream, limits, message_stream, model, model_with, network, question,
    settings, text_block, weather,
};

fn openai_usage() -> Usage {
    Usage {
        calls: 1,
        input_tokens: 176,
        cache_read_tokens: 1024,
        cache_write_tokens: 0,
        output_tokens: 30,
        cost: Some(MicroUsd(0)),
        counted: CountSource::Told,
    }
}

fn anthropic_usage() -> Usage {
    Usage {
        calls: 1,
        input_tokens: 25,
        cache_read_tokens: 4000,
        cache_write_tokens: 300,
        output_tokens: 42,
        cost: Some(MicroUsd(0)),
        counted: CountSource::Told,
    }
}

fn reply_of(text: &str, usage: Usage, model: &str) -> ModelReply {
    ModelReply { text: text.into(), calls: vec![], stop: StopReason::Finished, usage, model: model.into() }
}

#[test]
fn a_completion_is_read_in_pieces_of_any_size() {
    let words = ["Grüß", " dich, ", "世界", " 🦀"];
    for piece in [1, 2, 3, 7, 100, 100_000] {
        let server = Server::answering(vec![stream(&completion_stream(&words), piece)]);
        let (reply, streamed) = ask(&*model(&server, Protocol::Openai), &question("Hello"));
        assert_eq!(
            reply.unwrap(),
            reply_of("Grüß dich, 世界 🦀", openai_usage(), "some-model-2026"),
            "{piece}"
        );
        assert_eq!(streamed, "Grüß dich, 世界 🦀");
    }
}

#[test]
fn a_message_is_read_in_pieces_of_any_size() {
    let text = message_stream(&[text_block(&["Grüß", " dich"])], "end_turn");
    for piece in [1, 5, 100_000] {
        let server = Server::answering(vec![stream(&text, piece)]);
        let (reply, streamed) = ask(&*model(&server, Protocol::Anthropic), &question("Hello"));
        assert_eq!(reply.unwrap(), reply_of("Grüß dich", anthropic_usage(), "claude-test-1"), "{piece}");
        assert_eq!(streamed, "Grüß dich");
    }
}

#[test]
fn chat_completion_requests_have_the_documented_form() {
    let server = Server::answering(vec![stream(&completion_stream(&["ok"]), 100)]);
    let request = ModelRequest { tools: vec![weather()], messages: conversation(), ..question("") };
    ask(&*model(&server, Protocol::Openai), &request).0.unwrap();
    let request = &server.requests()[0];
    assert!(request.head.starts_with("POST /v1/chat/completions HTTP/1.1"), "{}", request.head);
    assert_eq!(request.header("authorization").as_deref(), Some("Bearer correct-horse-battery-staple"));
    assert_eq!(
        request.body,
        json!({"model": "some-model", "max_tokens": 100, "stream": true, "stream_options": {"include_usage": true},
            "messages": [
                {"role": "system", "content": "Be spec."},
                {"role": "user", "content": "Where is it warm?"},
                {"role": "assistant", "content": null, "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "weather", "arguments": "{\"place\":\"Oslo\"}"}},
                    {"id": "b", "type": "function", "function": {"name": "weather", "arguments": "{oops"}}]},
                {"role": "tool", "tool_call_id": "a", "content": "cold"},
                {"role": "tool", "tool_call_id": "b", "content": "The call failed: no such place"},
                {"role": "user", "content": "And?"}],
            "tools": [{"type": "function", "function": {"name": "weather", "description": "The weather of a place.",
                "parameters": {"type": "object", "properties": {"place": {"type": "string"}}}}}]})
    );
}

fn conversation() -> Vec<Message> {
    let call = |id: &str, arguments: Value| ToolCall { id: id.into(), name: "weather".into(), arguments };
    let result = |call: &str, text: &str, outcome| Message::ToolResult {
        call: call.into(),
        text: text.into(),
        outcome,
    };
    vec![
        Message::User("Where is it warm?".into()),
        Message::Assistant {
            text: String::new(),
            calls: vec![call("a", json!({"place": "Oslo"})), call("b", json!("{oops"))],
        },
        result("a", "cold", ToolOutcome::Success),
        result("b", "no such place", ToolOutcome::Failure),
        Message::User("And?".into()),
    ]
}

#[test]
fn message_requests_have_the_documented_form_and_mark_what_to_cache() {
    let server = Server::answering(vec![stream(&message_stream(&[text_block(&["ok"])], "end_turn"), 100)]);
    let model = model(&server, Protocol::Anthropic);
    let request = ModelRequest { tools: vec![weather()], messages: conversation(), ..question("") };
    ask(&*model, &request).0.unwrap();
    ask(&*model, &question("Alone")).0.unwrap();
    let request = &server.requests()[0];
    assert!(request.head.starts_with("POST /v1/messages HTTP/1.1"), "{}", request.head);
    assert_eq!(request.header("x-api-key").as_deref(), Some("correct-horse-battery-staple"));
    assert_eq!(request.header("anthropic-version").as_deref(), Some("2023-06-01"));
    let cached = json!({"type": "ephemeral"});
    let system = json!([{"type": "text", "text": "Be spec.", "cache_control": cached}]);
    assert_eq!(
        request.body,
        json!({"model": "some-model", "max_tokens": 100, "stream": true, "system": system,
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "Where is it warm?"}]},
                {"role": "assistant", "content": [
                    {"type": "tool_use", "id": "a", "name": "weather", "input": {"place": "Oslo"}},
                    {"type": "tool_use", "id": "b", "name": "weather", "input": {"arguments": "{oops"}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "a", "content": "cold", "is_error": false},
                    {"type": "tool_result", "tool_use_id": "b", "content": "no such place", "is_error": true},
                    {"type": "text", "text": "And?", "cache_control": cached}]}],
            "tools": [{"name": "weather", "description": "The weather of a place.",
                "input_schema": {"type": "object", "properties": {"place": {"type": "string"}}}}]})
    );
    // A single question is not worth caching.
    let alone = json!([{"role": "user", "content": [{"type": "text", "text": "Alone"}]}]);
    assert_eq!(server.bodies()[1]["messages"], alone);
    assert_eq!(server.bodies()[1]["system"], system);
}

#[test]
fn tool_calls_come_in_fragments() {
    let delta = |calls: Value, finish: Value| {
        let event = json!({"model": "m", "choices": [{"index": 0, "delta": {"tool_calls": calls}, "finish_reason": finish}]});
        format!("data: {event}\n\n")
    };
    let text = [
        delta(
            json!([{"index": 0, "id": "a", "type": "function", "function": {"name": "weather", "arguments": ""}}]),
            Value::Null,
        ),
        delta(json!([{"index": 0, "function": {"arguments": "{\"pla"}}]), Value::Null),
        delta(json!([{"index": 0, "function": {"arguments": "ce\":\"Oslo\"}"}}]), Value::Null),
        delta(
            json!([{"index": 1, "id": "b", "function": {"name": "weather", "arguments": "{oops"}}]),
            Value::Null,
        ),
        delta(json!([{"index": 2, "id": "c", "function": {"name": "now"}}]), json!("tool_calls")),
        "data: [DONE]\n\n".to_string(),
    ];
    let server = Server::answering(vec![stream(&text.concat(), 11)]);
    let reply = ask(&*model(&server, Protocol::Openai), &question("Hello")).0.unwrap();
    let call =
        |id: &str, name: &str, arguments: Value| ToolCall { id: id.into(), name: name.into(), arguments };
    let expected = vec![
        call("a", "weather", json!({"place": "Oslo"})),
        call("b", "weather", json!("{oops")),
        call("c", "now", json!({})),
    ];
    assert_eq!((reply.calls, reply.stop, reply.text.as_str()), (expected, StopReason::ToolCalls, ""));
    // This endpoint reported no tokens.
    assert_eq!(reply.usage.counted, CountSource::Estimated);
    assert!(reply.usage.input_tokens > 5 && reply.usage.output_tokens > 5, "{:?}", reply.usage);
}

#[test]
fn tool_calls_come_in_blocks() {
    let fragment = |text: &str| json!({"type": "input_json_delta", "partial_json": text});
    let tool = |id: &str| json!({"type": "tool_use", "id": id, "name": "weather", "input": {}});
    let thought = json!({"type": "thinking_delta", "thinking": "Let me see."});
    let blocks = [
        (json!({"type": "thinking", "thinking": ""}), vec![thought]),
        text_block(&["I look."]),
        (tool("a"), vec![fragment(""), fragment("{\"place\": \"Os"), fragment("lo\"}")]),
        (tool("b"), vec![]),
    ];
    let server = Server::answering(vec![stream(&message_stream(&blocks, "tool_use"), 13)]);
    let (reply, streamed) = ask(&*model(&server, Protocol::Anthropic), &question("Hello"));
    let reply = reply.unwrap();
    let call = |id: &str, arguments: Value| ToolCall { id: id.into(), name: "weather".into(), arguments };
    assert_eq!(reply.calls, vec![call("a", json!({"place": "Oslo"})), call("b", json!({}))]);
    assert_eq!(
        (reply.stop, reply.text.as_str(), streamed.as_str()),
        (StopReason::ToolCalls, "I look.", "I look.")
    );
}

fn unstreamed(server: &Server, protocol: Protocol) -> ModelSettings {
    let mut settings = settings(server, protocol);
    settings.endpoints.get_mut("test").unwrap().stream = Some(false);
    settings
}

#[test]
fn answers_that_are_not_streamed_are_read() {
    let server = Server::answering(vec![ok(&completion("Hello"))]);
    let (reply, streamed) =
        ask(&*model_with(&unstreamed(&server, Protocol::Openai), network(limits())), &question("Hi"));
    assert_eq!(reply.unwrap(), reply_of("Hello", openai_usage(), "some-model-2026"));
    assert_eq!(streamed, "Hello");
    assert_eq!((server.bodies()[0].get("stream"), server.bodies()[0].get("stream_options")), (None, None));

    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-test-1",
        "content": [{"type": "text", "text": "Hello"},
            {"type": "tool_use", "id": "a", "name": "weather", "input": {"place": "Oslo"}}],
        "stop_reason": "tool_use", "usage": {"input_tokens": 25, "cache_creation_input_tokens": 300,
            "cache_read_input_tokens": 4000, "output_tokens": 42}});
    let server = Server::answering(vec![ok(&message)]);
    let reply =
        ask(&*model_with(&unstreamed(&server, Protocol::Anthropic), network(limits())), &question("Hi")).0;
    let expected = ModelReply {
        calls: vec![ToolCall { id: "a".into(), name: "weather".into(), arguments: json!({"place": "Oslo"}) }],
        stop: StopReason::ToolCalls,
        ..reply_of("Hello", anthropic_usage(), "claude-test-1")
    };
    assert_eq!(reply.unwrap(), expected);
}

#[test]
fn an_answer_may_be_streamed_or_not_whatever_was_requested() {
    let mislabelled = String::from_utf8(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n".to_vec(),
    );
    let unlabelled = format!("{}{}", mislabelled.unwrap(), completion_stream(&["Hello"]));
    for steps in [
        ok(&completion("Hello")),
        vec![crate::server::Step::Bytes(unlabelled.into_bytes()), crate::server::Step::Close],
    ] {
        let server = Server::answering(vec![steps]);
        let reply = ask(&*model(&server, Protocol::Openai), &question("Hi")).0;
        assert_eq!(reply.unwrap(), reply_of("Hello", openai_usage(), "some-model-2026"));
    }
}

#[test]
fn a_stream_may_end_without_done() {
    let text = completion_stream(&["Hello"]).replace("data: [DONE]\n\n", "");
    let server = Server::answering(vec![stream(&text, 50)]);
    let reply = ask(&*model(&server, Protocol::Openai), &question("Hi")).0;
    assert_eq!(reply.unwrap(), reply_of("Hello", openai_usage(), "some-model-2026"));
}

#[test]
fn stop_reasons_are_recognised() {
    for (reason, message, stop) in [
        ("stop", json!({"content": "x"}), StopReason::Finished),
        ("length", json!({"content": "x"}), StopReason::Length),
        ("content_filter", json!({"content": "x"}), StopReason::Declined),
        ("stop", json!({"content": null, "refusal": "No."}), StopReason::Declined),
        // Some servers report `stop` although they want a tool to be called.
        (
            "stop",
            json!({"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": {"a": 1}}}]}),
            StopReason::ToolCalls,
        ),
    ] {
        let answer = json!({"choices": [{"message": message, "finish_reason": reason}]});
        let server = Server::answering(vec![ok(&answer)]);
        let reply = ask(&*model(&server, Protocol::Openai), &question("Hi")).0.unwrap();
        assert_eq!(reply.stop, stop, "{answer}");
        assert_eq!(reply.model, "some-model");
    }
    for (reason, stop) in [
        ("end_turn", StopReason::Finished),
        ("max_tokens", StopReason::Length),
        ("refusal", StopReason::Declined),
        ("stop_sequence", StopReason::Finished),
    ] {
        let server = Server::answering(vec![stream(&message_stream(&[text_block(&["x"])], reason), 99)]);
        let reply = ask(&*model(&server, Protocol::Anthropic), &question("Hi")).0.unwrap();
        assert_eq!(reply.stop, stop, "{reason}");
    }
}

#[test]
fn usage_is_found_wherever_servers_put_it() {
    for (name, reported, expected) in [
        (
            "DeepSeek reports cache hits at the top level",
            json!({"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 105, "prompt_cache_hit_tokens": 64}),
            (36, 64, 0, 5),
        ),
        (
            "Gemini counts thinking only in the total",
            json!({"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 150}),
            (100, 0, 0, 50),
        ),
        (
            "OpenRouter reports cache writes",
            json!({"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 20, "cache_write_tokens": 30}}),
            (50, 20, 30, 5),
        ),
        (
            "more cached tokens than input tokens",
            json!({"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 99}}),
            (0, 10, 0, 5),
        ),
    ] {
        let mut answer = completion("x");
        answer["usage"] = reported;
        let server = Server::answering(vec![ok(&answer)]);
        let usage = ask(&*model(&server, Protocol::Openai), &question("Hi")).0.unwrap().usage;
        let counts =
            (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens, usage.output_tokens);
        assert_eq!((counts, usage.counted), (expected, CountSource::Told), "{name}");
    }
}

#[test]
fn a_configured_price_determines_the_cost() {
    let server = Server::answering(vec![ok(&completion("x"))]);
    let mut settings = settings(&server, Protocol::Openai);
    let price = Price {
        input_per_million: 10.0,
        cache_read_per_million: Some(1.0),
        output_per_million: 100.0,
        ..Price::default()
    };
    settings.prices.insert("test/some-model".to_string(), price);
    let usage = ask(&*model_with(&settings, network(limits())), &question("Hi")).0.unwrap().usage;
    // 176 at 10, 1024 at 1, 30 at 100.
    assert_eq!(usage.cost, Some(MicroUsd(1760 + 1024 + 3000)));
}

#[test]
fn thinking_next_to_tool_calls_is_sent_back() {
    let call = |id: &str| Message::Assistant {
        text: "I look.".into(),
        calls: vec![ToolCall { id: id.into(), name: "weather".into(), arguments: json!({}) }],
    };
    let result = Message::ToolResult { call: "a".into(), text: "cold".into(), outcome: ToolOutcome::Success };
    let next = |id: &str| ModelRequest {
        messages: vec![Message::User("Hi".into()), call(id), result.clone()],
        ..question("")
    };
    let thinking = ["Let me ", "see."].map(|text| json!({"type": "thinking_delta", "thinking": text}));
    let signature = json!({"type": "signature_delta", "signature": "signed"});
    let blocks = [
        (
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            [thinking.to_vec(), vec![signature]].concat(),
        ),
        text_block(&["I look."]),
        (json!({"type": "tool_use", "id": "a", "name": "weather", "input": {}}), vec![]),
    ];
    let server = Server::answering(vec![stream(&message_stream(&blocks, "tool_use"), 13)]);
    let model = model(&server, Protocol::Anthropic);
    ask(&*model, &question("Hi")).0.unwrap();
    ask(&*model, &next("a")).0.unwrap();
    ask(&*model, &next("unknown")).0.unwrap();
    let first = |body: &Value| body["messages"][1]["content"][0].clone();
    let expected = json!({"type": "thinking", "thinking": "Let me see.", "signature": "signed"});
    assert_eq!(first(&server.bodies()[1]), expected);
    assert_eq!(first(&server.bodies()[2])["type"], json!("text"));

    let mut answer = completion("I look.");
    answer["choices"][0]["message"]["reasoning_content"] = json!("Let me see.");
    let signed = json!({"google": {"thought_signature": "signed"}});
    answer["choices"][0]["message"]["tool_calls"] =
        json!([{"id": "a", "function": {"name": "weather", "arguments": "{}"}, "extra_content": signed}]);
    let server = Server::answering(vec![ok(&answer)]);
    let model = crate::setup::model(&server, Protocol::Openai);
    ask(&*model, &question("Hi")).0.unwrap();
    ask(&*model, &next("a")).0.unwrap();
    let turn = &server.bodies()[1]["messages"][2];
    assert_eq!(
        (&turn["reasoning_content"], &turn["tool_calls"][0]["extra_content"]),
        (&json!("Let me see."), &signed)
    );
}
