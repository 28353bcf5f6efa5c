//! Endpoints that reject a part of a request: the next fallback is tried, and remembered.

use fixpoint_ports::{ModelError, ModelRequest, StopReason};
use fixpoint_vocabulary::settings::Protocol;
use serde_json::{Value, json};

use crate::server::{Server, Step, ok, stream, whole};
use crate::setup::{
    ask, completion, document_question, limits, message_stream, model, model_with, network, question, schema,
    settings, text_block, weather,
};

fn rejection(message: &str) -> Vec<Step> {
    whole(
        "400 Bad Request",
        "",
        &json!({"error": {"message": message, "type": "invalid_request_error"}}).to_string(),
    )
}

fn system_of(body: &Value) -> &str {
    body.pointer("/messages/0/content").and_then(Value::as_str).unwrap_or_default()
}

#[test]
fn a_document_is_requested_by_its_schema() {
    let server = Server::answering(vec![ok(&completion("{\"ok\":true}"))]);
    let model = model(&server, Protocol::Openai);
    ask(&*model, &document_question(schema())).0.unwrap();
    let expected = json!({"type": "json_schema",
        "json_schema": {"name": "verdict", "schema": schema(), "strict": true}});
    assert_eq!(server.bodies()[0]["response_format"], expected);
    // A schema that strict mode would reject is not sent as strict.
    ask(&*model, &document_question(json!({"type": "object"}))).0.unwrap();
    assert_eq!(server.bodies()[1]["response_format"]["json_schema"]["strict"], json!(false));
}

#[test]
fn a_rejected_schema_falls_back_to_an_object_then_to_the_prompt_for_good() {
    let server = Server::answering(vec![
        rejection("'response_format' of type 'json_schema' is not supported"),
        rejection("response_format: json_object is not supported"),
        ok(&completion("{\"ok\":true}")),
    ]);
    let shared = network(limits());
    let settings = settings(&server, Protocol::Openai);
    let reply = ask(&*model_with(&settings, shared.clone()), &document_question(schema())).0.unwrap();
    assert_eq!((reply.text.as_str(), reply.usage.calls), ("{\"ok\":true}", 3));
    // Another model of the same name already knows what is rejected.
    ask(&*model_with(&settings, shared), &document_question(schema())).0.unwrap();
    let bodies = server.bodies();
    let formats: Vec<&Value> = bodies.iter().map(|body| &body["response_format"]["type"]).collect();
    assert_eq!(formats, [&json!("json_schema"), &json!("json_object"), &Value::Null, &Value::Null]);
    assert_eq!(system_of(&bodies[0]), "Be spec.");
    for body in &bodies[1..] {
        assert!(
            system_of(body).starts_with("Be spec.\n\nAnswer with one JSON document named verdict"),
            "{body}"
        );
        assert!(system_of(body).contains(&schema().to_string()), "{body}");
    }
}

#[test]
fn a_rejection_of_the_last_fallback_is_final() {
    let server = Server::answering(vec![rejection("response_format is not supported")]);
    let failure = ask(&*model(&server, Protocol::Openai), &document_question(schema())).0.unwrap_err();
    assert!(matches!(failure.error, ModelError::Refused { .. }), "{:?}", failure.error);
    assert_eq!((server.requests().len(), failure.usage.calls), (3, 3));
}

#[test]
fn the_token_limit_has_two_names() {
    let error = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    let server = Server::answering(vec![rejection(error), ok(&completion("a"))]);
    let model = model(&server, Protocol::Openai);
    ask(&*model, &question("Hi")).0.unwrap();
    ask(&*model, &question("Hi")).0.unwrap();
    let bodies = server.bodies();
    let limits: Vec<(Option<&Value>, Option<&Value>)> =
        bodies.iter().map(|body| (body.get("max_tokens"), body.get("max_completion_tokens"))).collect();
    let hundred = json!(100);
    assert_eq!(limits, [(Some(&hundred), None), (None, Some(&hundred)), (None, Some(&hundred))]);
}

#[test]
fn stream_usage_and_streaming_may_be_rejected() {
    let server = Server::answering(vec![
        rejection("Unrecognized request argument supplied: stream_options"),
        rejection("Your organization must be verified to stream this model."),
        ok(&completion("a")),
    ]);
    let model = model(&server, Protocol::Openai);
    ask(&*model, &question("Hi")).0.unwrap();
    ask(&*model, &question("Hi")).0.unwrap();
    let bodies = server.bodies();
    let asked: Vec<(bool, bool)> = bodies
        .iter()
        .map(|body| (body.get("stream").is_some(), body.get("stream_options").is_some()))
        .collect();
    assert_eq!(asked, [(true, true), (true, false), (false, false), (false, false)]);
}

#[test]
fn a_rejection_by_one_model_does_not_affect_another() {
    let server = Server::answering(vec![rejection("json_schema is not supported"), ok(&completion("{}"))]);
    let shared = network(limits());
    let settings = settings(&server, Protocol::Openai);
    let environment = crate::setup::environment(shared);
    let mut resolver = fixpoint_models::Resolver::new(&settings, &environment);
    for name in ["test/one", "test/other"] {
        let model = resolver.model(name).unwrap();
        ask(&*model, &document_question(schema())).0.unwrap();
    }
    let bodies = server.bodies();
    let formats: Vec<&Value> = bodies.iter().map(|body| &body["response_format"]["type"]).collect();
    assert_eq!(formats, [&json!("json_schema"), &json!("json_object"), &json!("json_schema")]);
}

#[test]
fn anthropic_falls_back_to_a_tool_then_to_the_prompt() {
    let tool = json!({"type": "tool_use", "id": "a", "name": "verdict", "input": {}});
    let fragments =
        ["{\"ok\":", "true}"].map(|text| json!({"type": "input_json_delta", "partial_json": text}));
    let as_tool = message_stream(&[(tool, fragments.to_vec())], "tool_use");
    let server = Server::answering(vec![
        rejection("output_config: Extra inputs are not permitted"),
        stream(&as_tool, 17),
        rejection("tool_choice: forced tool use is not supported on this model"),
        stream(&message_stream(&[text_block(&["{\"ok\":false}"])], "end_turn"), 17),
    ]);
    let model = model(&server, Protocol::Anthropic);
    let reply = ask(&*model, &document_question(schema())).0.unwrap();
    assert_eq!(
        (reply.text.as_str(), reply.stop, reply.calls),
        ("{\"ok\":true}", StopReason::Finished, vec![])
    );
    let reply = ask(&*model, &document_question(schema())).0.unwrap();
    assert_eq!(reply.text, "{\"ok\":false}");
    let bodies = server.bodies();
    assert_eq!(bodies[0]["output_config"], json!({"format": {"type": "json_schema", "schema": schema()}}));
    for body in &bodies[1..3] {
        assert_eq!(body["tool_choice"], json!({"type": "tool", "name": "verdict"}));
        assert_eq!(body["tools"][0]["input_schema"], schema());
        assert_eq!(body.get("output_config"), None);
    }
    assert_eq!((bodies[3].get("tool_choice"), bodies[3].get("tools")), (None, None));
    assert!(bodies[3]["system"][1]["text"].as_str().unwrap().contains("JSON Schema"), "{}", bodies[3]);
}

#[test]
fn a_document_next_to_tools_does_not_force_a_tool() {
    let server = Server::answering(vec![
        rejection("output_config: Extra inputs are not permitted"),
        stream(&message_stream(&[text_block(&["{\"ok\":false}"])], "end_turn"), 50),
    ]);
    let request = ModelRequest { tools: vec![weather()], ..document_question(schema()) };
    ask(&*model(&server, Protocol::Anthropic), &request).0.unwrap();
    let body = &server.bodies()[1];
    assert_eq!((body.get("tool_choice"), body["tools"].as_array().map(Vec::len)), (None, Some(1)));
    assert!(body["system"][1]["text"].as_str().unwrap().contains("JSON Schema"));
}

#[test]
fn a_rejection_of_an_unused_feature_is_final() {
    for message in ["response_format is not supported", "tool_choice must not be used"] {
        let server = Server::answering(vec![rejection(message), ok(&completion("never"))]);
        let failure = ask(&*model(&server, Protocol::Openai), &question("Hi")).0.unwrap_err();
        assert!(matches!(failure.error, ModelError::Refused { .. }), "{:?}", failure.error);
        assert_eq!(server.requests().len(), 1);
    }
    let failure =
        whole("500 Internal Server Error", "", r#"{"error":{"message":"failed to parse grammar"}}"#);
    let server = Server::answering(vec![failure, ok(&completion("Hello"))]);
    assert_eq!(ask(&*model(&server, Protocol::Openai), &question("Hi")).0.unwrap().text, "Hello");
}
