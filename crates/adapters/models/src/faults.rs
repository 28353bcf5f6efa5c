//! What a failure of an endpoint means, by what can be done about it.
//!
//! Owns the classes: again later, again without a part of the request, sign in, pay, shorten, give up. Refuses to decide
//! whether there is time for another request. What an endpoint said is shortened, and has lost credentials before
//! anybody sees it.

use std::time::Duration;

use fixpoint_vocabulary::Redactor;
use serde_json::Value;

use crate::shape::Feature;
use crate::wire::Head;

/// Characters of what an endpoint said that are kept.
const MAX_SAID: usize = 500;

/// Why a request has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It may work another time; the endpoint may have said when.
    Again { after: Option<Duration>, said: String },
    /// It may work without a part of the request, if that part was in it.
    Unsupported { feature: Feature, said: String, otherwise: Otherwise },
    /// The key is not accepted.
    SignIn(String),
    /// There is no credit left.
    NoCredit(String),
    /// The prompt does not fit.
    TooLong(String),
    /// The request is not acceptable.
    Refused(String),
    /// A stop was asked for.
    Cancelled,
    /// The time for everything is over.
    TimedOut,
}

/// What a rejection means where the part it names was not in the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Otherwise {
    /// The request is not acceptable.
    Refused,
    /// The endpoint failed.
    Again,
}

impl Fault {
    /// A fault of the connection or of what came over it.
    pub(crate) fn again(said: impl Into<String>) -> Self {
        Self::Again { after: None, said: said.into() }
    }
}

/// What an error says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Complaint {
    pub(crate) message: String,
    /// Type, code and parameter, in small letters.
    pub(crate) marks: String,
    /// A status within the document, as gateways give one.
    pub(crate) status: Option<u16>,
}

/// The error in a document, however it is wrapped. `None` where the document is no error.
pub(crate) fn complaint(document: &Value) -> Option<Complaint> {
    let document = document.get(0).unwrap_or(document);
    let error = document.get("error").filter(|error| !error.is_null())?;
    if let Some(message) = error.as_str() {
        return Some(Complaint { message: message.to_string(), ..Complaint::default() });
    }
    let mark = |name: &str| match error.get(name) {
        Some(Value::String(text)) => Some(text.to_ascii_lowercase()),
        _ => None,
    };
    let marks: Vec<String> =
        ["type", "code", "param", "status"].iter().filter_map(|name| mark(name)).collect();
    let status = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    // Gateways hide what the provider said in here, and their own message says only that there was an error.
    let inner = error.pointer("/metadata/raw").and_then(Value::as_str).unwrap_or_default();
    let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
    let separator = if inner.is_empty() || message.is_empty() { "" } else { ": " };
    Some(Complaint { message: format!("{message}{separator}{inner}"), marks: marks.join(" "), status })
}

/// The complaint of a whole body, which need not be JSON.
fn complaint_of_body(body: &str) -> Complaint {
    let Ok(document) = serde_json::from_str::<Value>(body) else {
        return Complaint { message: body.to_string(), ..Complaint::default() };
    };
    complaint(&document).unwrap_or_else(|| {
        let message = ["message", "detail"].iter().find_map(|name| document.get(name));
        let message = message.map(|said| said.as_str().map_or_else(|| said.to_string(), str::to_string));
        Complaint { message: message.unwrap_or_else(|| body.to_string()), ..Complaint::default() }
    })
}

/// The class of an answer whose status is no success. `now_ms` is the time of day, for dates to come back at.
pub(crate) fn of_status(head: &Head, body: &str, redactor: &Redactor, now_ms: u64) -> Fault {
    let complaint = complaint_of_body(body);
    let after = retry_after(head, now_ms);
    class(head.status, &complaint, after, redactor)
}

/// The class of an error that came inside a successful answer.
pub(crate) fn of_complaint(complaint: &Complaint, redactor: &Redactor) -> Fault {
    let status = complaint.status.filter(|status| *status >= 400).unwrap_or_else(|| {
        let named = |words: &[&str]| words.iter().any(|word| complaint.marks.contains(word));
        if named(&["authentication", "permission", "unauthorized"]) {
            401
        } else if named(&["billing", "quota"]) {
            402
        } else if named(&["rate_limit", "overloaded"]) {
            429
        } else if named(&["too_large"]) {
            413
        } else if named(&["invalid_request", "not_found", "bad_request"]) {
            400
        } else {
            500
        }
    });
    class(status, complaint, None, redactor)
}

fn class(status: u16, complaint: &Complaint, after: Option<Duration>, redactor: &Redactor) -> Fault {
    let said = said(status, complaint, redactor);
    let words = complaint.message.to_ascii_lowercase();
    let mentions =
        |list: &[&str]| list.iter().any(|word| words.contains(word) || complaint.marks.contains(word));
    if status == 402 || mentions(&NO_CREDIT) {
        return Fault::NoCredit(said);
    }
    match status {
        401 | 403 => Fault::SignIn(said),
        413 => Fault::TooLong(said),
        400 | 404 | 415 | 422 | 500 | 501 => {
            if mentions(&TOO_LONG) && status < 500 {
                return Fault::TooLong(said);
            }
            if let Some(feature) = rejected(&words, &complaint.marks) {
                let otherwise = if status >= 500 { Otherwise::Again } else { Otherwise::Refused };
                return Fault::Unsupported { feature, said, otherwise };
            }
            if status >= 500 { Fault::Again { after, said } } else { Fault::Refused(said) }
        }
        408 | 409 | 425 | 429 | 502..=599 => Fault::Again { after, said },
        _ => Fault::Refused(said),
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

/// The part of a request that a rejection names. The order matters: the complaint about the name of the limit mentions
/// both names, and one about `stream_options` mentions streams.
fn rejected(words: &str, marks: &str) -> Option<Feature> {
    let mentions = |list: &[&str]| list.iter().any(|word| words.contains(word) || marks.contains(word));
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
    } else if mentions(&["to stream", "streaming"]) || marks.split(' ').any(|mark| mark == "stream") {
        Some(Feature::Stream)
    } else {
        None
    }
}

fn said(status: u16, complaint: &Complaint, redactor: &Redactor) -> String {
    let message = shorten(&complaint.message, redactor);
    if message.is_empty() { format!("status {status}") } else { format!("status {status}: {message}") }
}

/// What somebody said, without credentials, on one line and of bounded length. Credentials are taken out before the
/// text is cut: half of one would not be recognised.
pub(crate) fn shorten(text: &str, redactor: &Redactor) -> String {
    let clean = redactor.redact(text);
    let mut words = clean.as_str().split_whitespace();
    let mut line = words.next().unwrap_or_default().to_string();
    for word in words {
        if line.len() > MAX_SAID {
            break;
        }
        line.push(' ');
        line.push_str(word);
    }
    if line.chars().count() > MAX_SAID {
        line = line.chars().take(MAX_SAID).chain(['…']).collect();
    }
    line
}

/// When an endpoint wants to be asked again: milliseconds, seconds or a date.
fn retry_after(head: &Head, now_ms: u64) -> Option<Duration> {
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
