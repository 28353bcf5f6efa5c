//! Failures of real endpoints, and what each means.

use super::*;

fn fault(status: u16, body: &str) -> Fault {
    of_status(&Head { status, ..Head::default() }, body, &Redactor::default(), 0)
}

/// The class alone.
fn name(fault: &Fault) -> &'static str {
    match fault {
        Fault::Again { .. } => "again",
        Fault::Unsupported { feature: Feature::Schema, .. } => "schema",
        Fault::Unsupported { feature: Feature::Limit, .. } => "limit",
        Fault::Unsupported { feature: Feature::StreamUsage, .. } => "usage",
        Fault::Unsupported { feature: Feature::Stream, .. } => "stream",
        Fault::SignIn(_) => "sign in",
        Fault::NoCredit(_) => "credit",
        Fault::TooLong(_) => "too long",
        Fault::Refused(_) => "refused",
        Fault::Cancelled => "cancelled",
        Fault::TimedOut => "timed out",
    }
}

/// Status, body, class.
const FAILURES: &[(u16, &str, &str)] = &[
    (
        401,
        r#"{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key"}}"#,
        "sign in",
    ),
    (403, r#"{"type":"error","error":{"type":"permission_error","message":"not allowed"}}"#, "sign in"),
    (402, r#"{"error":{"message":"Insufficient credits","code":402}}"#, "credit"),
    (
        429,
        r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#,
        "credit",
    ),
    (
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}"#,
        "credit",
    ),
    (
        429,
        r#"{"error":{"message":"Rate limit reached","type":"tokens","code":"rate_limit_exceeded"}}"#,
        "again",
    ),
    (
        400,
        r#"{"error":{"message":"This model's maximum context length is 128000 tokens.","code":"context_length_exceeded"}}"#,
        "too long",
    ),
    (
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
        "too long",
    ),
    (
        400,
        r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}}"#,
        "too long",
    ),
    (
        400,
        r#"{"error":{"code":400,"message":"request (9120 tokens) exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9120,"n_ctx":8192}}"#,
        "too long",
    ),
    (
        400,
        r#"{"object":"error","message":"This model's maximum context length is 2048 tokens. However, you requested 9000 tokens (808 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","code":400}"#,
        "too long",
    ),
    (413, "<html>413 Request Entity Too Large</html>", "too long"),
    (
        400,
        r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens","code":"unsupported_parameter"}}"#,
        "limit",
    ),
    (
        400,
        r#"{"error":{"message":"Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.","param":"response_format"}}"#,
        "schema",
    ),
    (
        422,
        r#"{"detail":[{"type":"extra_forbidden","loc":["body","response_format"],"msg":"Extra inputs are not permitted"}]}"#,
        "schema",
    ),
    (
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"tool_choice: forced tool use is not supported on this model"}}"#,
        "schema",
    ),
    (
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"output_config: Extra inputs are not permitted"}}"#,
        "schema",
    ),
    (500, r#"{"error":{"code":500,"message":"failed to parse grammar","type":"server_error"}}"#, "schema"),
    (400, r#"{"error":{"message":"Unrecognized request argument supplied: stream_options"}}"#, "usage"),
    (
        400,
        r#"{"error":{"message":"Your organization must be verified to stream this model.","param":"stream"}}"#,
        "stream",
    ),
    (400, r#"{"error":{"message":"temperature must be between 0 and 2"}}"#, "refused"),
    (400, r#"{"error":{"message":"max_tokens is too large: 999999"}}"#, "refused"),
    (404, r#"{"error":{"message":"The model `gpt-9` does not exist","code":"model_not_found"}}"#, "refused"),
    (404, r#"[{"error":{"code":404,"message":"models/x is not found","status":"NOT_FOUND"}}]"#, "refused"),
    (301, "", "refused"),
    (408, "", "again"),
    (409, "", "again"),
    (500, "oops", "again"),
    (503, "", "again"),
    (529, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, "again"),
];

#[test]
fn each_failure_has_its_class() {
    for (status, body, class) in FAILURES {
        assert_eq!(name(&fault(*status, body)), *class, "{status} {body}");
    }
}

#[test]
fn errors_inside_a_successful_answer_are_classed_by_what_they_call_themselves() {
    for (body, class) in [
        (r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, "again"),
        (r#"{"type":"error","error":{"type":"api_error","message":"Internal server error"}}"#, "again"),
        (
            r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
            "sign in",
        ),
        (
            r#"{"error":{"code":502,"message":"Provider returned error","metadata":{"raw":"upstream"}}}"#,
            "again",
        ),
        (r#"{"error":{"code":400,"message":"bad"}}"#, "refused"),
        (r#"{"error":"slot unavailable"}"#, "again"),
    ] {
        let complaint = complaint(&serde_json::from_str(body).unwrap()).unwrap();
        assert_eq!(name(&of_complaint(&complaint, &Redactor::default())), class, "{body}");
    }
    assert_eq!(complaint(&serde_json::json!({"error": null, "choices": []})), None);
}

#[test]
fn what_was_said_is_short_and_holds_no_key() {
    let redactor = Redactor::knowing(["hunter2-hunter2".to_string()]);
    let body =
        format!(r#"{{"error":{{"message":"Incorrect API key: hunter2-hunter2 {}"}}}}"#, "x ".repeat(9000));
    let Fault::SignIn(said) = of_status(&Head { status: 401, ..Head::default() }, &body, &redactor, 0) else {
        panic!("another class")
    };
    assert!(said.starts_with("status 401: Incorrect API key: [removed] x x"), "{said}");
    assert!(said.chars().count() < 540);
    assert!(shorten(&"y".repeat(9000), &redactor).chars().count() <= MAX_SAID + 1);
}

#[test]
fn when_to_come_back_is_read_in_every_form() {
    let head = |after: Option<&str>, ms: Option<&str>| Head {
        retry_after: after.map(str::to_string),
        retry_after_ms: ms.map(str::to_string),
        ..Head::default()
    };
    let now = 1_445_412_480_000; // Wed, 21 Oct 2015 07:28:00 GMT
    for (head, expected) in [
        (head(Some("7"), None), Some(7000)),
        (head(Some(" 1.5 "), None), Some(1500)),
        (head(Some("7"), Some("250")), Some(250)),
        (head(Some("-3"), None), Some(0)),
        (head(Some("Wed, 21 Oct 2015 07:28:30 GMT"), None), Some(30_000)),
        (head(Some("Wed, 21 Oct 2015 07:27:00 GMT"), None), Some(0)),
        (head(Some("soon"), None), None),
        (head(Some("1e400"), None), None),
        (head(None, None), None),
    ] {
        assert_eq!(retry_after(&head, now), expected.map(Duration::from_millis), "{head:?}");
    }
}
