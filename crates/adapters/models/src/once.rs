//! One request to an endpoint and the reading of what comes back.
//!
//! Owns the limits inside a request: the deadline, silence, sizes. Refuses to ask again.
//!
//! Invariant: a request that was sent is counted. One that an endpoint refused by its status used no tokens; of one that
//! has no complete answer for another reason, what was not told is estimated, since it may well be on the bill.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use fixpoint_ports::{Cancel, ModelRequest};
use fixpoint_vocabulary::settings::Protocol;
use fixpoint_vocabulary::usage::Usage;
use reqwest::Method;
use reqwest::header::{HeaderName, HeaderValue};
use serde_json::Value;

use crate::draft::{Completeness, Draft};
use crate::endpoint::EndpointModel;
use crate::faults::{self, Fault, shorten};
use crate::shape::{Delivery, Shape};
use crate::sse::{Event, EventReader};
use crate::wire::{Arrival, Exchange, Head, Interrupted, Outgoing};
use crate::{anthropic, openai};

/// Bytes of an error that are read; no endpoint has more to say about one.
const MAX_ERROR: usize = 64 << 10;

/// What became of one request.
pub(crate) struct Once {
    pub(crate) usage: Usage,
    pub(crate) result: Result<Draft, Fault>,
}

/// A request that is under way, with its limits.
struct Reading<'a> {
    model: &'a EndpointModel,
    exchange: Exchange,
    deadline: Instant,
    cancel: &'a Cancel,
}

impl EndpointModel {
    pub(crate) fn once(
        &self,
        request: &ModelRequest,
        shape: Shape,
        deadline: Instant,
        cancel: &Cancel,
        heard: &mut dyn FnMut(&str),
    ) -> Once {
        let body = match self.terms.protocol {
            Protocol::Openai => openai::body(request, &self.terms.model, shape, &self.keepsakes),
            Protocol::Anthropic => anthropic::body(request, &self.terms.model, shape, &self.keepsakes),
        };
        let outgoing = Outgoing {
            method: Method::POST,
            url: self.terms.url.clone(),
            headers: self.headers(shape),
            body: Bytes::from(body.to_string()),
            max_answer: self.network.limits.max_answer,
        };
        let exchange = match self.network.wire.send(outgoing) {
            Ok(exchange) => exchange,
            Err(why) => return Once { usage: Usage::default(), result: Err(Fault::again(why)) },
        };
        let reading = Reading { model: self, exchange, deadline, cancel };
        let mut draft = Draft::default();
        let read = reading.read(shape, &mut draft, heard);
        let usage = match (&read, reading.exchange.was_sent()) {
            (_, false) => Usage::default(),
            (Err(Unread::Status(_)), true) => Usage { calls: 1, ..Usage::default() },
            (Ok(()) | Err(Unread::Broken(_)), true) => draft.usage(request),
        };
        if read.is_ok() {
            reading.exchange.let_go();
        }
        let result = read.map(|()| self.finished(request, shape, draft)).map_err(|unread| match unread {
            Unread::Status(fault) | Unread::Broken(fault) => fault,
        });
        Once { usage, result }
    }

    fn headers(&self, shape: Shape) -> Vec<(HeaderName, HeaderValue)> {
        let accept = match shape.delivery {
            Delivery::Stream => "text/event-stream",
            Delivery::Whole => "application/json",
        };
        let mut headers = vec![
            (HeaderName::from_static("content-type"), HeaderValue::from_static("application/json")),
            (HeaderName::from_static("accept"), HeaderValue::from_static(accept)),
        ];
        match self.terms.protocol {
            Protocol::Openai => {}
            Protocol::Anthropic => headers
                .push((HeaderName::from_static("anthropic-version"), HeaderValue::from_static("2023-06-01"))),
        }
        headers.extend(self.terms.key.as_ref().and_then(|key| key.header(self.terms.protocol)));
        headers
    }

    /// A document that came as the input of a tool becomes the words; thinking beside calls is kept.
    fn finished(&self, request: &ModelRequest, shape: Shape, mut draft: Draft) -> Draft {
        match self.terms.protocol {
            Protocol::Openai => {}
            Protocol::Anthropic => {
                if let Some(tool) = anthropic::document_tool(request, shape) {
                    anthropic::take_document(&mut draft, &tool);
                }
            }
        }
        if let Some((call, keepsake)) = draft.keepsake() {
            self.keepsakes.keep(&call, keepsake);
        }
        draft
    }
}

/// Why there is no complete answer.
enum Unread {
    /// The endpoint said no.
    Status(Fault),
    /// It began, or may have begun, and did not end well.
    Broken(Fault),
}

impl Reading<'_> {
    fn read(&self, shape: Shape, draft: &mut Draft, heard: &mut dyn FnMut(&str)) -> Result<(), Unread> {
        let head = self.head(shape).map_err(Unread::Broken)?;
        if !(200..300).contains(&head.status) {
            return Err(Unread::Status(self.refusal(&head).unwrap_or_else(|fault| fault)));
        }
        if head.content_type.contains("event-stream") {
            return self.stream(draft, heard).map_err(Unread::Broken);
        }
        let body = self.body(usize::MAX).map_err(Unread::Broken)?;
        self.whole(&body, draft, heard).map_err(Unread::Broken)
    }

    /// Waits for what comes next, not beyond `until`.
    fn next(&self, until: Instant, silent: &str) -> Result<Arrival, Fault> {
        match self.exchange.next(until.min(self.deadline), self.cancel) {
            Ok(Arrival::Unreachable(why) | Arrival::Fault(why)) => {
                Err(Fault::again(shorten(&why, &self.model.redactor)))
            }
            Ok(arrival) => Ok(arrival),
            Err(Interrupted::Cancelled) => Err(Fault::Cancelled),
            Err(Interrupted::TimedOut) if Instant::now() >= self.deadline => Err(Fault::TimedOut),
            Err(Interrupted::TimedOut) => Err(Fault::again(silent)),
        }
    }

    fn head(&self, shape: Shape) -> Result<Head, Fault> {
        // An answer that comes as a whole begins when it is finished, so only the deadline limits it.
        let until = match shape.delivery {
            Delivery::Stream => Instant::now() + self.model.network.limits.first_byte,
            Delivery::Whole => self.deadline,
        };
        match self.next(until, "the stream did not begin in time")? {
            Arrival::Head(head) => Ok(head),
            Arrival::Chunk(_) | Arrival::End | Arrival::Unreachable(_) | Arrival::Fault(_) => {
                Err(Fault::again("an answer without a head"))
            }
        }
    }

    fn body(&self, most: usize) -> Result<Vec<u8>, Fault> {
        let mut body = Vec::new();
        loop {
            match self.next(self.silent_until(), "no byte came for too long")? {
                Arrival::Chunk(chunk) => body.extend_from_slice(&chunk),
                Arrival::End => return Ok(body),
                Arrival::Head(_) | Arrival::Unreachable(_) | Arrival::Fault(_) => {
                    return Err(Fault::again("two answers to one request"));
                }
            }
            if body.len() >= most {
                return Ok(body);
            }
        }
    }

    fn silent_until(&self) -> Instant {
        Instant::now() + self.model.network.limits.silence
    }

    /// What a status that is no success means. An error whose body breaks off is classed by its status.
    fn refusal(&self, head: &Head) -> Result<Fault, Fault> {
        let body = match self.body(MAX_ERROR) {
            Ok(body) => body,
            Err(fault @ (Fault::Cancelled | Fault::TimedOut)) => return Err(fault),
            Err(_) => Vec::new(),
        };
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        Ok(faults::of_status(head, &String::from_utf8_lossy(&body), &self.model.redactor, now_ms))
    }

    /// Reads an answer that came as a whole, asked for as a stream or not.
    fn whole(&self, body: &[u8], draft: &mut Draft, heard: &mut dyn FnMut(&str)) -> Result<(), Fault> {
        let text = String::from_utf8_lossy(body);
        let Ok(answer) = serde_json::from_str::<Value>(&text) else {
            // A stream that does not call itself one.
            if ["data:", "event:", ":"].iter().any(|start| text.trim_start().starts_with(start)) {
                let mut reader = EventReader::default();
                let events = reader.feed(body).map_err(|error| Fault::again(error.to_string()))?;
                return self.end_of_stream(&mut reader, events, draft, heard);
            }
            return Err(self.garbage(&text));
        };
        self.complaint(&answer)?;
        let read = match self.model.terms.protocol {
            Protocol::Openai => openai::read_whole(&answer, heard),
            Protocol::Anthropic => anthropic::read_whole(&answer, heard),
        };
        *draft = read.ok_or_else(|| self.garbage(&text))?;
        Ok(())
    }

    fn garbage(&self, text: &str) -> Fault {
        Fault::again(format!("an answer that cannot be read: {}", shorten(text, &self.model.redactor)))
    }

    fn complaint(&self, document: &Value) -> Result<(), Fault> {
        match faults::complaint(document) {
            Some(complaint) => Err(faults::of_complaint(&complaint, &self.model.redactor)),
            None => Ok(()),
        }
    }

    fn stream(&self, draft: &mut Draft, heard: &mut dyn FnMut(&str)) -> Result<(), Fault> {
        let mut reader = EventReader::default();
        loop {
            match self.next(self.silent_until(), "the stream fell silent")? {
                Arrival::Chunk(chunk) => {
                    let events = reader.feed(&chunk).map_err(|error| Fault::again(error.to_string()))?;
                    self.events(&events, draft, heard)?;
                    // What follows the end would only be waited for.
                    if draft.completeness == Completeness::Ended {
                        return Ok(());
                    }
                }
                Arrival::End => return self.end_of_stream(&mut reader, Vec::new(), draft, heard),
                Arrival::Head(_) | Arrival::Unreachable(_) | Arrival::Fault(_) => {
                    return Err(Fault::again("two answers to one request"));
                }
            }
        }
    }

    fn end_of_stream(
        &self,
        reader: &mut EventReader,
        mut events: Vec<Event>,
        draft: &mut Draft,
        heard: &mut dyn FnMut(&str),
    ) -> Result<(), Fault> {
        events.extend(reader.finish().map_err(|error| Fault::again(error.to_string()))?);
        self.events(&events, draft, heard)?;
        match draft.completeness {
            Completeness::MayEnd | Completeness::Ended => Ok(()),
            Completeness::Open => Err(Fault::again("the stream broke off before its end")),
        }
    }

    fn events(&self, events: &[Event], draft: &mut Draft, heard: &mut dyn FnMut(&str)) -> Result<(), Fault> {
        for event in events {
            // Only a document that mentions an error is looked through for one.
            if event.kind == "error" || event.data.contains("\"error\"") {
                let document = serde_json::from_str(&event.data).unwrap_or(Value::Null);
                self.complaint(&document)?;
                if event.kind == "error" {
                    return Err(self.garbage(&event.data));
                }
            }
            let read = match self.model.terms.protocol {
                Protocol::Openai => openai::read_event(draft, &event.data, heard),
                Protocol::Anthropic => anthropic::read_event(draft, &event.data, heard),
            };
            read.ok_or_else(|| self.garbage(&event.data))?;
        }
        Ok(())
    }
}
