//! The server: one thread per connection, one script for all.
//!
//! Owns the routes and the order: a request is matched, counted and logged in one step, and answered after that. Refuses
//! to listen anywhere but on loopback.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::answer::{Answer, Document, answer, error_body};
use crate::http::{AfterResponse, Connection, Request};
use crate::matching::choose;
use crate::question::{Delivery, Protocol, Question, RequiredOutput, parse};
use crate::record::{LogLine, Recorder};
use crate::script::{Script, ScriptError};

/// Whether requests may require a format of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResponseFormat {
    #[default]
    Supported,
    /// Such requests are rejected with status 400, as by servers without this feature.
    Rejected,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub script: PathBuf,
    /// 0 for any free port.
    pub port: u16,
    pub log: Option<PathBuf>,
    /// Where counts are stored for the next process.
    pub counts: Option<PathBuf>,
    pub response_format: ResponseFormat,
}

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    Script(#[from] ScriptError),
    #[error("port {port} of 127.0.0.1 is not available: {source}")]
    Port { port: u16, source: io::Error },
    #[error("the counts or the log cannot be written: {0}")]
    Record(io::Error),
}

/// Serves until the process ends. `announce` is called as soon as clients can connect.
pub fn serve(settings: Settings, announce: impl FnOnce(SocketAddr)) -> Result<Infallible, ServeError> {
    let port = |source| ServeError::Port { port: settings.port, source };
    let script = Script::read(&settings.script)?;
    let recorder = Recorder::open(settings.counts, settings.log.as_deref()).map_err(ServeError::Record)?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, settings.port)).map_err(port)?;
    announce(listener.local_addr().map_err(port)?);
    let server = Arc::new(Server {
        script,
        response_format: settings.response_format,
        recorder: Mutex::new(recorder),
    });
    loop {
        // A client may be gone before it is accepted.
        let Ok((stream, _)) = listener.accept() else { continue };
        let server = Arc::clone(&server);
        thread::spawn(move || server.serve_connection(stream));
    }
}

struct Server {
    script: Script,
    response_format: ResponseFormat,
    recorder: Mutex<Recorder>,
}

enum Route {
    Model(Protocol),
    CountTokens,
    Models,
    Calls,
    Unknown,
}

impl Server {
    /// Answers requests until the client closes the connection.
    fn serve_connection(&self, stream: TcpStream) {
        let Ok(mut connection) = Connection::new(stream) else { return };
        loop {
            let request = match connection.read() {
                Ok(Some(request)) => request,
                Ok(None) => return,
                Err(error) => {
                    let body = json!({"error": {"message": format!("invalid request: {error}")}});
                    let _ = connection.send(&Answer::Whole(Document::json(400, &body)), "");
                    return;
                }
            };
            let (answer, pause) = self.respond(&request);
            thread::sleep(pause);
            match connection.send(&answer, &request.method) {
                Ok(AfterResponse::KeepOpen) => {}
                Ok(AfterResponse::Close) | Err(_) => return,
            }
        }
    }

    fn respond(&self, request: &Request) -> (Answer, Duration) {
        let at_once = |status, body: Value| (Answer::Whole(Document::json(status, &body)), Duration::ZERO);
        let route = route(request);
        let result = match &route {
            Route::Model(protocol) => self.model(*protocol, request),
            Route::CountTokens => self.other_request(request, 200, json!({"input_tokens": 10})),
            Route::Models => self.other_request(request, 200, models()),
            Route::Calls => Ok(at_once(200, self.calls())),
            Route::Unknown if request.method == "HEAD" => self.other_request(request, 200, json!({})),
            Route::Unknown => {
                let message = format!("there is no route {} {}", request.method, request.path);
                self.other_request(request, 404, json!({"error": {"message": message}}))
            }
        };
        result.unwrap_or_else(|error| {
            at_once(500, json!({"error": {"message": format!("the request cannot be recorded: {error}")}}))
        })
    }

    fn model(&self, protocol: Protocol, request: &Request) -> io::Result<(Answer, Duration)> {
        let body = body(request);
        let question = parse(protocol, &body);
        let mut recorder = self.recorder.lock().unwrap_or_else(PoisonError::into_inner);
        let number = recorder.next_number();
        let mut counts = recorder.counts().clone();
        counts.requests = number;
        counts.calls = counts.calls.saturating_add(1);
        let rejected =
            |message: &str| Answer::Whole(Document::json(400, &error_body(protocol, 400, message)));
        let (answer, rule, pause) =
            if self.response_format == ResponseFormat::Rejected && question.required != RequiredOutput::Any {
                (rejected("response_format is not supported"), None, 0)
            } else if let Some((rule, reply)) = choose(&self.script, &counts.by_rule, &question) {
                let pause = reply.delay_ms.or(self.script.delay_ms).unwrap_or(0);
                (answer(reply, &question, number), Some(rule.name.clone()), pause)
            } else {
                counts.unmatched = counts.unmatched.saturating_add(1);
                (rejected(&no_rule(&question)), None, 0)
            };
        if let Some(rule) = &rule {
            let count = counts.by_rule.entry(rule.clone()).or_default();
            *count = count.saturating_add(1);
        }
        let line = LogLine {
            protocol: Some(protocol),
            streaming: question.delivery != Delivery::Whole,
            form: question.form,
            turn: question.tool_results,
            rule,
            status: answer.status(),
            ..plain_line(request, number, body)
        };
        recorder.add(&line, counts)?;
        Ok((answer, Duration::from_millis(pause)))
    }

    fn other_request(&self, request: &Request, status: u16, answer: Value) -> io::Result<(Answer, Duration)> {
        let mut recorder = self.recorder.lock().unwrap_or_else(PoisonError::into_inner);
        let number = recorder.next_number();
        let mut counts = recorder.counts().clone();
        counts.requests = number;
        let line = LogLine { status: Some(status), ..plain_line(request, number, body(request)) };
        recorder.add(&line, counts)?;
        Ok((Answer::Whole(Document::json(status, &answer)), Duration::ZERO))
    }

    fn calls(&self) -> Value {
        let recorder = self.recorder.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = recorder.counts();
        json!({"calls": counts.calls, "unmatched": counts.unmatched, "by_rule": counts.by_rule})
    }
}

/// The prefix `/v1` may be missing: some clients add it, some do not.
fn route(request: &Request) -> Route {
    let path = request.path.trim_end_matches('/');
    let path = path.strip_prefix("/v1").unwrap_or(path);
    match (request.method.as_str(), path) {
        ("POST", "/chat/completions") => Route::Model(Protocol::Chat),
        ("POST", "/messages") => Route::Model(Protocol::Messages),
        ("POST", "/responses") => Route::Model(Protocol::Responses),
        ("POST", "/messages/count_tokens") => Route::CountTokens,
        ("GET" | "HEAD", "/models") => Route::Models,
        ("GET", "/__calls") => Route::Calls,
        _ => Route::Unknown,
    }
}

/// The list of models, for clients of both vendors.
fn models() -> Value {
    let model = json!({"id": "scripted", "object": "model", "type": "model", "display_name": "scripted",
        "created": 0, "created_at": "1970-01-01T00:00:00Z", "owned_by": "scripted"});
    json!({"object": "list", "data": [model], "has_more": false, "first_id": "scripted", "last_id": "scripted"})
}

fn body(request: &Request) -> Value {
    if request.body.is_empty() {
        return Value::Null;
    }
    serde_json::from_slice(&request.body)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&request.body).into_owned()))
}

fn plain_line(request: &Request, seq: u64, body: Value) -> LogLine {
    LogLine {
        seq,
        method: request.method.clone(),
        path: request.path.clone(),
        protocol: None,
        streaming: false,
        form: None,
        turn: 0,
        rule: None,
        status: None,
        body,
    }
}

fn no_rule(question: &Question) -> String {
    let length = question.last.chars().count();
    let beginning: String = question.last.chars().take(200).collect();
    // Agents put long reminders before the prompt.
    let end: String = question.last.chars().skip(length.saturating_sub(100).max(200)).collect();
    let between = if end.is_empty() { "" } else { " … " };
    let form = question.form.as_deref().unwrap_or("none");
    let turn = question.tool_results;
    format!(
        "no rule of the script matches this request: form {form}, turn {turn}, last message: {beginning}{between}{end}"
    )
}
