//! Requests, answers and models for the tests.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use fixpoint_models::{Backoff, BreakerLimits, ModelEnvironment, Network, NetworkLimits, Resolver};
use fixpoint_ports::{AnswerFormat, Cancel, Message, Model, ModelFailure, ModelReply, ModelRequest, Tool};
use fixpoint_vocabulary::settings::{Endpoint, ModelSettings, Protocol};
use serde_json::{Value, json};

use crate::server::Server;

/// Looks like no provider's key, so that only a redactor that knows it removes it.
pub(crate) const KEY: &str = "correct-horse-battery-staple";

pub(crate) fn limits() -> NetworkLimits {
    NetworkLimits {
        backoff: Backoff { first: Duration::from_millis(2), longest: Duration::from_millis(8), seed: 7 },
        local_server: Duration::from_secs(10),
        ..NetworkLimits::default()
    }
}

pub(crate) fn network(limits: NetworkLimits) -> Arc<Network> {
    Arc::new(Network::new(limits, &BTreeMap::new()))
}

pub(crate) fn endpoint(server: &Server, protocol: Protocol) -> Endpoint {
    Endpoint {
        url: server.url(),
        protocol,
        api_key_env: Some("TEST_KEY".to_string()),
        api_key_command: None,
        stream: None,
    }
}

pub(crate) fn settings(server: &Server, protocol: Protocol) -> ModelSettings {
    ModelSettings {
        endpoints: BTreeMap::from([("test".to_string(), endpoint(server, protocol))]),
        max_requests: 3,
        ..ModelSettings::default()
    }
}

pub(crate) fn environment(network: Arc<Network>) -> ModelEnvironment {
    let variables = BTreeMap::from([("TEST_KEY".to_string(), KEY.to_string())]);
    ModelEnvironment::new(variables, network)
}

pub(crate) fn model_with(settings: &ModelSettings, network: Arc<Network>) -> Arc<dyn Model> {
    Resolver::new(settings, &environment(network)).model("test/some-model").unwrap()
}

pub(crate) fn model(server: &Server, protocol: Protocol) -> Arc<dyn Model> {
    model_with(&settings(server, protocol), network(limits()))
}

pub(crate) fn breaker(failures: u32, pause: Duration) -> NetworkLimits {
    NetworkLimits { breaker: BreakerLimits { failures, pause }, ..limits() }
}

pub(crate) fn question(text: &str) -> ModelRequest {
    ModelRequest {
        system: "Be spec.".to_string(),
        messages: vec![Message::User(text.to_string())],
        tools: Vec::new(),
        format: AnswerFormat::Text,
        max_output_tokens: 100,
        deadline: Duration::from_secs(20),
    }
}

pub(crate) fn document_question(schema: Value) -> ModelRequest {
    ModelRequest { format: AnswerFormat::Json { name: "verdict".to_string(), schema }, ..question("Well?") }
}

pub(crate) fn schema() -> Value {
    json!({"type": "object", "additionalProperties": false, "required": ["ok"],
        "properties": {"ok": {"type": "boolean"}}})
}

pub(crate) fn weather() -> Tool {
    Tool {
        name: "weather".to_string(),
        description: "The weather of a place.".to_string(),
        parameters: json!({"type": "object", "properties": {"place": {"type": "string"}}}),
    }
}

/// The answer, and the text that was streamed.
pub(crate) fn ask(model: &dyn Model, request: &ModelRequest) -> (Result<ModelReply, ModelFailure>, String) {
    let mut streamed = String::new();
    let reply = model.ask(request, &Cancel::default(), &mut |text| streamed.push_str(text));
    (reply, streamed)
}

/// A chat completion that is not streamed.
pub(crate) fn completion(text: &str) -> Value {
    json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1_790_000_000, "model": "some-model-2026",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text, "refusal": null},
            "logprobs": null, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1200, "completion_tokens": 30, "total_tokens": 1230,
            "prompt_tokens_details": {"cached_tokens": 1024, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 10}}})
}

/// The same, streamed.
pub(crate) fn completion_stream(words: &[&str]) -> String {
    let event = |delta: Value, finish: Value| {
        let event = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "some-model-2026",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], "usage": null});
        format!("data: {event}\n\n")
    };
    let mut text = event(json!({"role": "assistant", "content": ""}), Value::Null);
    text.extend(words.iter().map(|word| event(json!({"content": word}), Value::Null)));
    text.push_str(&event(json!({}), json!("stop")));
    let usage = json!({"prompt_tokens": 1200, "completion_tokens": 30, "total_tokens": 1230,
        "prompt_tokens_details": {"cached_tokens": 1024}});
    let last = json!({"id": "chatcmpl-1", "model": "some-model-2026", "choices": [], "usage": usage});
    text.push_str(&format!("data: {last}\n\ndata: [DONE]\n\n"));
    text
}

/// A streamed Anthropic message.
pub(crate) fn message_stream(blocks: &[(Value, Vec<Value>)], stop: &str) -> String {
    let event = |kind: &str, document: Value| format!("event: {kind}\r\ndata: {document}\r\n\r\n");
    let start = json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant",
        "model": "claude-test-1", "content": [], "stop_reason": null,
        "usage": {"input_tokens": 25, "cache_creation_input_tokens": 300, "cache_read_input_tokens": 4000,
            "output_tokens": 1}}});
    let mut text = event("message_start", start);
    text.push_str(&event("ping", json!({"type": "ping"})));
    for (index, (block, deltas)) in blocks.iter().enumerate() {
        text.push_str(&event(
            "content_block_start",
            json!({"type": "content_block_start", "index": index, "content_block": block}),
        ));
        for delta in deltas {
            text.push_str(&event(
                "content_block_delta",
                json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ));
        }
        text.push_str(&event("content_block_stop", json!({"type": "content_block_stop", "index": index})));
    }
    let delta = json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null},
        "usage": {"output_tokens": 42}});
    text.push_str(&event("message_delta", delta));
    text.push_str(&event("message_stop", json!({"type": "message_stop"})));
    text
}

pub(crate) fn text_block(words: &[&str]) -> (Value, Vec<Value>) {
    let deltas = words.iter().map(|word| json!({"type": "text_delta", "text": word})).collect();
    (json!({"type": "text", "text": ""}), deltas)
}
