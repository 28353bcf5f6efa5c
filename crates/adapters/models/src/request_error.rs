//! Why one request failed, by what to do next.
//!
//! Owns the classification: retry, retry without a part of the request, sign in, pay, shorten, give up. Refuses to decide
//! whether there is time for another request. Messages of endpoints are shortened, and credentials are removed first.

use std::time::Duration;

use fixpoint_ports::ModelError;
use fixpoint_vocabulary::Redactor;
use serde_json::Value;

use crate::http::ResponseHead;
use crate::options::Feature;

/// Characters of an endpoint's message that are kept.
const MAX_MESSAGE: usize = 500;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RequestError {
    /// It may work later; the endpoint may have said when.
    Retry {
        after: Option<Duration>,
        message: String,
    },
    /// It may work without this feature, if the request used it.
    Unsupported {
        feature: Feature,
        message: String,
        if_unused: IfUnused,
    },
    SignIn(String),
    NoCredit(String),
    TooLong(String),
    Refused(String),
    Cancelled,
    TimedOut,
}

/// What `Unsupported` means where the request did not use the feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IfUnused {
    Refused,
    Retry,
}

impl RequestError {
    /// A broken connection, or an answer that cannot be read.
    pub(crate) fn retry(message: impl Into<String>) -> Self {
        Self::Retry { after: None, message: message.into() }
    }

    /// The error for the caller, once no further request is sent. `failures` sums up the requests that failed before.
    pub(crate) fn into_model_error(
        self,
        endpoint: &str,
        model: &str,
        deadline: Duration,
        failures: &str,
    ) -> ModelError {
        let endpoint = endpoint.to_string();
        match self {
            Self::Retry { message, .. } => ModelError::Unavailable { endpoint, message },
            Self::Unsupported { message, .. } | Self::Refused(message) => {
                ModelError::Refused { endpoint, message }
            }
            Self::SignIn(message) => ModelError::SignIn { endpoint, message },
            Self::NoCredit(message) => ModelError::NoCredit { endpoint, message },
            Self::TooLong(message) => ModelError::TooLong { model: model.to_string(), message },
            Self::Cancelled => ModelError::Cancelled,
            Self::TimedOut => {
                ModelError::TimedOut { endpoint, seconds: deadline.as_secs(), message: failures.to_string() }
            }
        }
    }
}

/// An error document of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ErrorBody {
    pub(crate) message: String,
    /// Type, code, parameter and status, in lower case.
    pub(crate) codes: String,
    /// A numeric status inside the document, as gateways send it.
    pub(crate) status: Option<u16>,
}

/// The error in a document, however it is wrapped. `None` where the document is not an error.
pub(crate) fn error_body(document: &Value) -> Option<ErrorBody> {
    let document = document.get(0).unwrap_or(document);
    let error = document.get("error").filter(|error| !error.is_null())?;
    if let Some(message) = error.as_str() {
        return Some(ErrorBody { message: message.to_string(), ..ErrorBody::default() });
    }
    let code = |name: &str| match error.get(name) {
        Some(Value::String(text)) => Some(text.to_ascii_lowercase()),
        _ => None,
    };
    let codes: Vec<String> =
        ["type", "code", "param", "status"].iter().filter_map(|name| code(name)).collect();
    let status = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    // Gateways put the provider's message here; their own says only that there was an error.
    let inner = error.pointer("/metadata/raw").and_then(Value::as_str).unwrap_or_default();
    let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
    let separator = if inner.is_empty() || message.is_empty() { "" } else { ": " };
    Some(ErrorBody { message: format!("{message}{separator}{inner}"), codes: codes.join(" "), status })
}

/// The error in a whole response body, which need not be JSON.
fn error_body_of_text(body: &str) -> ErrorBody {
    let Ok(document) = serde_json::from_str::<Value>(body) else {
        return ErrorBody { message: body.to_string(), ..ErrorBody::default() };
    };
    error_body(&document).unwrap_or_else(|| {
        let message = ["message", "detail"].iter().find_map(|name| document.get(name));
        let message = message.map(|text| text.as_str().map_or_else(|| text.to_string(), str::to_string));
        ErrorBody { message: message.unwrap_or_else(|| body.to_string()), ..ErrorBody::default() }
    })
}

/// Classifies a response whose status is an error. `now_ms` is the time of day, for `Retry-After` dates.
pub(crate) fn classify_response(
    head: &ResponseHead,
    body: &str,
    redactor: &Redactor,
    now_ms: u64,
) -> RequestError {
    classify(head.status, &error_body_of_text(body), retry_after(head, now_ms), redactor)
}

/// Classifies an error document that came inside a successful response.
pub(crate) fn classify_document(body: &ErrorBody, redactor: &Redactor) -> RequestError {
    let by_code: [(&[&str], u16); 5] = [
        (&["authentication", "permission", "unauthorized"], 401),
        (&["billing", "quota"], 402),
        (&["rate_limit", "overloaded"], 429),
        (&["too_large"], 413),
        (&["invalid_request", "not_found", "bad_request"], 400),
    ];
    let is_meant = |(codes, _): &&(&[&str], u16)| codes.iter().any(|code| body.codes.contains(code));
    let told = body.status.filter(|status| *status >= 400);
    let status = told.unwrap_or_else(|| by_code.iter().find(is_meant).map_or(500, |(_, status)| *status));
    classify(status, body, None, redactor)
}

fn classify(status: u16, body: &ErrorBody, after: Option<Duration>, redactor: &Redactor) -> RequestError {
    let message = describe(status, body, redactor);
    let text = body.message.to_ascii_lowercase();
    let mentions = |list: &[&str]| list.iter().any(|word| text.contains(word) || body.codes.contains(word));
    if status == 402 || mentions(&NO_CREDIT) {
        return RequestError::NoCredit(message);
    }
    match status {
        401 | 403 => RequestError::SignIn(message),
        413 => RequestError::TooLong(message),
        400 | 404 | 415 | 422 | 500 | 501 => {
            if mentions(&TOO_LONG) && status < 500 {
                return RequestError::TooLong(message);
            }
            if let Some(feature) = rejected_feature(&text, &body.codes) {
                let if_unused = if status >= 500 { IfUnused::Retry } else { IfUnused::Refused };
                return RequestError::Unsupported { feature, message, if_unused };
            }
            if status >= 500 {
                RequestError::Retry { after, message }
            } else {
                RequestError::Refused(message)
            }
        }
        408 | 409 | 425 | 429 | 502..=599 => RequestError::Retry { after, message },
        _ => RequestError::Refused(message),
    }
}

const NO_CREDIT: [&str; 5] = [
    "insufficient_quota",
    "credit balance is too low",
    "insufficient balance",
    "billing_hard_limit",
    "insufficient credits",
];

const TOO_LONG: [&str; 10] = [
    "context_length_exceeded",
    "context length",
    "maximum context",
    "context window",
    "context size",
    "prompt is too long",
    "exceed context limit",
    "too many tokens",
    "input is too long",
    "exceed_context_size",
];

/// The feature that an error names. The order matters: an error about the name of the token limit mentions both names,
/// and one about `stream_options` mentions streams.
fn rejected_feature(text: &str, codes: &str) -> Option<Feature> {
    let mentions = |list: &[&str]| list.iter().any(|word| text.contains(word) || codes.contains(word));
    if mentions(&["stream_options", "include_usage"]) {
        Some(Feature::StreamUsage)
    } else if mentions(&["max_tokens", "max_completion_tokens"])
        && mentions(&["unsupported", "not supported", "unknown", "unrecognized", "extra inputs", "use 'max_"])
    {
        Some(Feature::Limit)
    } else if mentions(&[
        "response_format",
        "json_schema",
        "json_object",
        "tool_choice",
        "output_config",
        "structured output",
        "output format",
        "grammar",
        "guided_json",
        "invalid schema",
        "forced tool",
    ]) {
        Some(Feature::Schema)
    } else if mentions(&["to stream", "streaming"]) || codes.split(' ').any(|code| code == "stream") {
        Some(Feature::Stream)
    } else {
        None
    }
}

fn describe(status: u16, body: &ErrorBody, redactor: &Redactor) -> String {
    let message = shorten(&body.message, redactor);
    if message.is_empty() { format!("status {status}") } else { format!("status {status}: {message}") }
}

/// A message without credentials, on one line and of bounded length. Credentials are removed before the text is cut:
/// half of one would not be recognised.
pub(crate) fn shorten(text: &str, redactor: &Redactor) -> String {
    let clean = redactor.redact(text);
    let mut words = clean.as_str().split_whitespace();
    let mut line = words.next().unwrap_or_default().to_string();
    for word in words {
        if line.len() > MAX_MESSAGE {
            break;
        }
        line.push(' ');
        line.push_str(word);
    }
    if line.chars().count() > MAX_MESSAGE {
        line = line.chars().take(MAX_MESSAGE).chain(['…']).collect();
    }
    line
}

/// When an endpoint wants to be asked again: milliseconds, seconds or a date.
fn retry_after(head: &ResponseHead, now_ms: u64) -> Option<Duration> {
    let number = |text: &String| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let seconds = |number: f64| Duration::try_from_secs_f64(number.max(0.0)).ok();
    if let Some(milliseconds) = head.retry_after_ms.as_ref().and_then(number) {
        return seconds(milliseconds / 1e3);
    }
    let text = head.retry_after.as_ref()?;
    if let Some(number) = number(text) {
        return seconds(number);
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text.trim()).ok()?;
    let then = u64::try_from(date.as_millisecond()).unwrap_or(0);
    Some(Duration::from_millis(then.saturating_sub(now_ms)))
}

#[cfg(test)]
mod tests;
