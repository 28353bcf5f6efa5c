//! Errors of real endpoints, and how each is classified.

use super::*;

fn classified(status: u16, body: &str) -> RequestError {
    classify_response(&ResponseHead { status, ..ResponseHead::default() }, body, &Redactor::default(), 0)
}

fn class(error: &RequestError) -> &'static str {
    match error {
        RequestError::Retry { .. } => "retry",
        RequestError::Unsupported { feature: Feature::Schema, .. } => "schema",
        RequestError::Unsupported { feature: Feature::Limit, .. } => "limit",
        RequestError::Unsupported { feature: Feature::StreamUsage, .. } => "usage",
        RequestError::Unsupported { feature: Feature::Stream, .. } => "stream",
        RequestError::SignIn(_) => "sign in",
        RequestError::NoCredit(_) => "credit",
        RequestError::TooLong(_) => "too long",
        RequestError::Refused(_) => "refused",
        RequestError::Cancelled => "cancelled",
        RequestError::TimedOut => "timed out",
    }
}

/// Name, status, body, class.
const ERRORS: &[(&str, u16, &str, &str)] = &[
    (
        "OpenAI: wrong key",
        401,
        r#"{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key"}}"#,
        "sign in",
    ),
    (
        "Anthropic: no permission",
        403,
        r#"{"type":"error","error":{"type":"permission_error","message":"not allowed"}}"#,
        "sign in",
    ),
    ("OpenRouter: no credits", 402, r#"{"error":{"message":"Insufficient credits","code":402}}"#, "credit"),
    (
        "OpenAI: quota used up",
        429,
        r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#,
        "credit",
    ),
    (
        "Anthropic: credit balance",
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}"#,
        "credit",
    ),
    (
        "OpenAI: rate limit",
        429,
        r#"{"error":{"message":"Rate limit reached","type":"tokens","code":"rate_limit_exceeded"}}"#,
        "retry",
    ),
    (
        "OpenAI: context length",
        400,
        r#"{"error":{"message":"This model's maximum context length is 128000 tokens.","code":"context_length_exceeded"}}"#,
        "too long",
    ),
    (
        "Anthropic: prompt too long",
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
        "too long",
    ),
    (
        "llama.cpp: context size",
        400,
        r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}}"#,
        "too long",
    ),
    (
        "llama.cpp: context size with counts",
        400,
        r#"{"error":{"code":400,"message":"request (9120 tokens) exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9120,"n_ctx":8192}}"#,
        "too long",
    ),
    (
        "vLLM: context length",
        400,
        r#"{"object":"error","message":"This model's maximum context length is 2048 tokens. However, you requested 9000 tokens (808 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","code":400}"#,
        "too long",
    ),
    ("a proxy: body too large", 413, "<html>413 Request Entity Too Large</html>", "too long"),
    (
        "OpenAI: name of the token limit",
        400,
        r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens","code":"unsupported_parameter"}}"#,
        "limit",
    ),
    (
        "OpenAI: no JSON schema",
        400,
        r#"{"error":{"message":"Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.","param":"response_format"}}"#,
        "schema",
    ),
    (
        "FastAPI server: unknown field",
        422,
        r#"{"detail":[{"type":"extra_forbidden","loc":["body","response_format"],"msg":"Extra inputs are not permitted"}]}"#,
        "schema",
    ),
    (
        "Anthropic: no forced tool",
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"tool_choice: forced tool use is not supported on this model"}}"#,
        "schema",
    ),
    (
        "Anthropic: no output_config",
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"output_config: Extra inputs are not permitted"}}"#,
        "schema",
    ),
    (
        "llama.cpp: grammar",
        500,
        r#"{"error":{"code":500,"message":"failed to parse grammar","type":"server_error"}}"#,
        "schema",
    ),
    (
        "OpenAI: stream_options",
        400,
        r#"{"error":{"message":"Unrecognized request argument supplied: stream_options"}}"#,
        "usage",
    ),
    (
        "OpenAI: no streaming",
        400,
        r#"{"error":{"message":"Your organization must be verified to stream this model.","param":"stream"}}"#,
        "stream",
    ),
    (
        "a parameter out of range",
        400,
        r#"{"error":{"message":"temperature must be between 0 and 2"}}"#,
        "refused",
    ),
    (
        "a token limit that is too large",
        400,
        r#"{"error":{"message":"max_tokens is too large: 999999"}}"#,
        "refused",
    ),
    (
        "OpenAI: unknown model",
        404,
        r#"{"error":{"message":"The model `gpt-9` does not exist","code":"model_not_found"}}"#,
        "refused",
    ),
    (
        "Gemini: unknown model",
        404,
        r#"[{"error":{"code":404,"message":"models/x is not found","status":"NOT_FOUND"}}]"#,
        "refused",
    ),
    ("a redirect", 301, "", "refused"),
    ("request timeout", 408, "", "retry"),
    ("conflict", 409, "", "retry"),
    ("server error without JSON", 500, "oops", "retry"),
    ("service unavailable", 503, "", "retry"),
    (
        "Anthropic: overloaded",
        529,
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        "retry",
    ),
];

#[test]
fn each_error_has_its_class() {
    for (name, status, body, expected) in ERRORS {
        assert_eq!(class(&classified(*status, body)), *expected, "{name}");
    }
}

#[test]
fn errors_inside_a_successful_response_are_classified_by_their_codes() {
    for (body, expected) in [
        (r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, "retry"),
        (r#"{"type":"error","error":{"type":"api_error","message":"Internal server error"}}"#, "retry"),
        (
            r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
            "sign in",
        ),
        (
            r#"{"error":{"code":502,"message":"Provider returned error","metadata":{"raw":"upstream"}}}"#,
            "retry",
        ),
        (r#"{"error":{"code":400,"message":"bad"}}"#, "refused"),
        (r#"{"error":"slot unavailable"}"#, "retry"),
    ] {
        let document = error_body(&serde_json::from_str(body).unwrap()).unwrap();
        assert_eq!(class(&classify_document(&document, &Redactor::default())), expected, "{body}");
    }
    assert_eq!(error_body(&serde_json::json!({"error": null, "choices": []})), None);
}

#[test]
fn a_message_is_short_and_holds_no_key() {
    let redactor = Redactor::knowing(["hunter2-hunter2".to_string()]);
    let body =
        format!(r#"{{"error":{{"message":"Incorrect API key: hunter2-hunter2 {}"}}}}"#, "x ".repeat(9000));
    let RequestError::SignIn(message) =
        classify_response(&ResponseHead { status: 401, ..ResponseHead::default() }, &body, &redactor, 0)
    else {
        panic!("another class")
    };
    assert!(message.starts_with("status 401: Incorrect API key: [removed] x x"), "{message}");
    assert!(message.chars().count() < 540);
    assert!(shorten(&"y".repeat(9000), &redactor).chars().count() <= MAX_MESSAGE + 1);
}

#[test]
fn retry_after_is_read_in_every_form() {
    let head = |after: Option<&str>, ms: Option<&str>| ResponseHead {
        retry_after: after.map(str::to_string),
        retry_after_ms: ms.map(str::to_string),
        ..ResponseHead::default()
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
