//! One request to an endpoint, and reading its response.
//!
//! Owns the limits of a single request: deadline, silence, sizes. Refuses to retry.
//!
//! Invariant: a request that was sent is counted. One that was rejected by its status used no tokens; for one whose answer
//! is incomplete, tokens that were not reported are estimated, since they may be on the bill.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use fixpoint_ports::{Cancel, ModelRequest};
use fixpoint_vocabulary::settings::Protocol;
use fixpoint_vocabulary::usage::Usage;
use reqwest::Method;
use reqwest::header::{HeaderName, HeaderValue};
use serde_json::Value;

use crate::endpoint::EndpointModel;
use crate::http::{HttpRequest, Interrupted, PendingResponse, ResponseHead, ResponsePart};
use crate::options::{Delivery, RequestOptions};
use crate::partial_reply::{Completeness, PartialReply};
use crate::request_error::{self, RequestError, shorten};
use crate::sse::{Event, EventReader};
use crate::{anthropic, openai};

/// How much of an error body is read.
const MAX_ERROR_BYTES: usize = 64 << 10;

pub(crate) struct RequestOutcome {
    pub(crate) usage: Usage,
    pub(crate) result: Result<PartialReply, RequestError>,
}

/// Reads one response within its limits.
struct ResponseReader<'a> {
    model: &'a EndpointModel,
    response: PendingResponse,
    deadline: Instant,
    cancel: &'a Cancel,
}

impl EndpointModel {
    pub(crate) fn send_request(
        &self,
        request: &ModelRequest,
        options: RequestOptions,
        deadline: Instant,
        cancel: &Cancel,
        on_text: &mut dyn FnMut(&str),
    ) -> RequestOutcome {
        let body = match self.config.protocol {
            Protocol::Openai => openai::body(request, &self.config.model, options, &self.thinking),
            Protocol::Anthropic => anthropic::body(request, &self.config.model, options, &self.thinking),
        };
        let http_request = HttpRequest {
            method: Method::POST,
            url: self.config.url.clone(),
            headers: self.headers(options),
            body: Bytes::from(body.to_string()),
            max_answer: self.network.limits.max_answer,
        };
        let response = match self.network.http.send(http_request) {
            Ok(response) => response,
            Err(why) => {
                return RequestOutcome { usage: Usage::default(), result: Err(RequestError::retry(why)) };
            }
        };
        let reader = ResponseReader { model: self, response, deadline, cancel };
        let mut partial = PartialReply::default();
        let read = reader.read(options, &mut partial, on_text);
        let usage = match (&read, reader.response.was_sent()) {
            (_, false) => Usage::default(),
            (Err(ReadError::Status(_)), true) => Usage { calls: 1, ..Usage::default() },
            (Ok(()) | Err(ReadError::Broken(_)), true) => partial.usage(request),
        };
        if read.is_ok() {
            reader.response.finish();
        }
        let result = read.map(|()| self.complete(request, options, partial)).map_err(|error| match error {
            ReadError::Status(error) | ReadError::Broken(error) => error,
        });
        RequestOutcome { usage, result }
    }

    fn headers(&self, options: RequestOptions) -> Vec<(HeaderName, HeaderValue)> {
        let accept = match options.delivery {
            Delivery::Stream => "text/event-stream",
            Delivery::Whole => "application/json",
        };
        let mut headers = vec![
            (HeaderName::from_static("content-type"), HeaderValue::from_static("application/json")),
            (HeaderName::from_static("accept"), HeaderValue::from_static(accept)),
        ];
        if self.config.protocol == Protocol::Anthropic {
            let version = HeaderValue::from_static("2023-06-01");
            headers.push((HeaderName::from_static("anthropic-version"), version));
        }
        headers.extend(self.config.key.as_ref().and_then(|key| key.header(self.config.protocol)));
        headers
    }

    /// A document that came as the input of a tool becomes the text; thinking next to tool calls is cached.
    fn complete(
        &self,
        request: &ModelRequest,
        options: RequestOptions,
        mut partial: PartialReply,
    ) -> PartialReply {
        if self.config.protocol == Protocol::Anthropic
            && let Some(tool) = anthropic::document_tool(request, options)
        {
            anthropic::document_to_text(&mut partial, &tool);
        }
        if let Some((call, thinking)) = partial.thinking() {
            self.thinking.insert(&call, thinking);
        }
        partial
    }
}

/// Why there is no complete answer.
enum ReadError {
    /// The status is an error.
    Status(RequestError),
    /// The answer started, or may have started, and did not end properly.
    Broken(RequestError),
}

impl ResponseReader<'_> {
    fn read(
        &self,
        options: RequestOptions,
        partial: &mut PartialReply,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<(), ReadError> {
        let head = self.head(options).map_err(ReadError::Broken)?;
        if !(200..300).contains(&head.status) {
            return Err(ReadError::Status(self.status_error(&head).unwrap_or_else(|error| error)));
        }
        if head.content_type.contains("event-stream") {
            return self.stream(partial, on_text).map_err(ReadError::Broken);
        }
        let body = self.body(usize::MAX).map_err(ReadError::Broken)?;
        self.whole(&body, partial, on_text).map_err(ReadError::Broken)
    }

    /// Waits for the next part until `until`, and no longer than the deadline.
    fn next(&self, until: Instant, timeout_message: &str) -> Result<ResponsePart, RequestError> {
        match self.response.next(until.min(self.deadline), self.cancel) {
            Ok(ResponsePart::Unreachable(why) | ResponsePart::Broken(why)) => {
                Err(RequestError::retry(shorten(&why, &self.model.redactor)))
            }
            Ok(part) => Ok(part),
            Err(Interrupted::Cancelled) => Err(RequestError::Cancelled),
            Err(Interrupted::TimedOut) if Instant::now() >= self.deadline => Err(RequestError::TimedOut),
            Err(Interrupted::TimedOut) => Err(RequestError::retry(timeout_message)),
        }
    }

    fn head(&self, options: RequestOptions) -> Result<ResponseHead, RequestError> {
        // An answer that is not streamed starts when it is finished, so only the deadline limits it.
        let until = match options.delivery {
            Delivery::Stream => Instant::now() + self.model.network.limits.first_byte,
            Delivery::Whole => self.deadline,
        };
        match self.next(until, "the stream did not start in time")? {
            ResponsePart::Head(head) => Ok(head),
            ResponsePart::Chunk(_)
            | ResponsePart::End
            | ResponsePart::Unreachable(_)
            | ResponsePart::Broken(_) => Err(RequestError::retry("the response has no head")),
        }
    }

    fn body(&self, max: usize) -> Result<Vec<u8>, RequestError> {
        let mut body = Vec::new();
        loop {
            match self.next(self.silence_limit(), "no data arrived for too long")? {
                ResponsePart::Chunk(chunk) => body.extend_from_slice(&chunk),
                ResponsePart::End => return Ok(body),
                ResponsePart::Head(_) | ResponsePart::Unreachable(_) | ResponsePart::Broken(_) => {
                    return Err(RequestError::retry("the response has two heads"));
                }
            }
            if body.len() >= max {
                return Ok(body);
            }
        }
    }

    fn silence_limit(&self) -> Instant {
        Instant::now() + self.model.network.limits.silence
    }

    /// What an error status means. An error whose body breaks off is classified by its status alone.
    fn status_error(&self, head: &ResponseHead) -> Result<RequestError, RequestError> {
        let body = match self.body(MAX_ERROR_BYTES) {
            Ok(body) => body,
            Err(error @ (RequestError::Cancelled | RequestError::TimedOut)) => return Err(error),
            Err(_) => Vec::new(),
        };
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        Ok(request_error::classify_response(
            head,
            &String::from_utf8_lossy(&body),
            &self.model.redactor,
            now_ms,
        ))
    }

    /// Reads an answer that was not streamed, whether a stream was asked for or not.
    fn whole(
        &self,
        body: &[u8],
        partial: &mut PartialReply,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<(), RequestError> {
        let text = String::from_utf8_lossy(body);
        let Ok(answer) = serde_json::from_str::<Value>(&text) else {
            // A stream with another content type.
            if ["data:", "event:", ":"].iter().any(|start| text.trim_start().starts_with(start)) {
                let mut reader = EventReader::default();
                let events = reader.feed(body).map_err(|error| RequestError::retry(error.to_string()))?;
                return self.end_of_stream(&mut reader, events, partial, on_text);
            }
            return Err(self.unreadable(&text));
        };
        self.check_for_error(&answer)?;
        let read = match self.model.config.protocol {
            Protocol::Openai => openai::read_whole(&answer, on_text),
            Protocol::Anthropic => anthropic::read_whole(&answer, on_text),
        };
        *partial = read.ok_or_else(|| self.unreadable(&text))?;
        Ok(())
    }

    fn unreadable(&self, text: &str) -> RequestError {
        RequestError::retry(format!("the answer cannot be read: {}", shorten(text, &self.model.redactor)))
    }

    fn check_for_error(&self, document: &Value) -> Result<(), RequestError> {
        match request_error::error_body(document) {
            Some(body) => Err(request_error::classify_document(&body, &self.model.redactor)),
            None => Ok(()),
        }
    }

    fn stream(&self, partial: &mut PartialReply, on_text: &mut dyn FnMut(&str)) -> Result<(), RequestError> {
        let mut reader = EventReader::default();
        loop {
            match self.next(self.silence_limit(), "the stream stopped sending")? {
                ResponsePart::Chunk(chunk) => {
                    let events =
                        reader.feed(&chunk).map_err(|error| RequestError::retry(error.to_string()))?;
                    self.events(&events, partial, on_text)?;
                    // Nothing that matters follows.
                    if partial.completeness == Completeness::Complete {
                        return Ok(());
                    }
                }
                ResponsePart::End => return self.end_of_stream(&mut reader, Vec::new(), partial, on_text),
                ResponsePart::Head(_) | ResponsePart::Unreachable(_) | ResponsePart::Broken(_) => {
                    return Err(RequestError::retry("the response has two heads"));
                }
            }
        }
    }

    fn end_of_stream(
        &self,
        reader: &mut EventReader,
        mut events: Vec<Event>,
        partial: &mut PartialReply,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<(), RequestError> {
        events.extend(reader.finish().map_err(|error| RequestError::retry(error.to_string()))?);
        self.events(&events, partial, on_text)?;
        match partial.completeness {
            Completeness::MayEnd | Completeness::Complete => Ok(()),
            Completeness::Incomplete => Err(RequestError::retry("the stream broke off before its end")),
        }
    }

    fn events(
        &self,
        events: &[Event],
        partial: &mut PartialReply,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<(), RequestError> {
        for event in events {
            // Parsing every event twice would be slow, so only those that mention an error are checked.
            if event.kind == "error" || event.data.contains("\"error\"") {
                let document = serde_json::from_str(&event.data).unwrap_or(Value::Null);
                self.check_for_error(&document)?;
                if event.kind == "error" {
                    return Err(self.unreadable(&event.data));
                }
            }
            let read = match self.model.config.protocol {
                Protocol::Openai => openai::read_event(partial, &event.data, on_text),
                Protocol::Anthropic => anthropic::read_event(partial, &event.data, on_text),
            };
            read.ok_or_else(|| self.unreadable(&event.data))?;
        }
        Ok(())
    }
}
