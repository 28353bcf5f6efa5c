//! The server: a thread a connection, one script for all.
//!
//! Owns the routes and the order of things: a request is matched, counted and logged in one step, and answered after
//! it. Refuses to listen anywhere but on loopback.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::answer::{Answer, Document, answer, error_body};
use crate::asked::{Asked, Delivery, Demand, Protocol, asked};
use crate::http::{Connection, Next, Request};
use crate::play::choose;
use crate::record::{LogLine, Record};
use crate::script::{Script, ScriptError};

/// Whether requests may hold the answer to a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FormSupport {
    /// They may.
    #[default]
    Offered,
    /// Any that does is refused with status 400, as by servers that know no such thing.
    Refused,
}

/// What the server is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The script.
    pub script: PathBuf,
    /// The port; 0 for any that is free.
    pub port: u16,
    /// Where requests are logged.
    pub log: Option<PathBuf>,
    /// Where counts are kept for the next process.
    pub counts: Option<PathBuf>,
    /// Whether forms are supported.
    pub forms: FormSupport,
}

/// Why the server cannot run.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Mend the script.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// Choose another port.
    #[error("port {port} of 127.0.0.1 cannot be had: {source}")]
    Port {
        /// The port.
        port: u16,
        /// Why not.
        source: io::Error,
    },
    /// Look at the files of counts and log.
    #[error("the counts or the log cannot be kept: {0}")]
    Record(io::Error),
}

/// Serves until the process ends. `announce` is told the address as soon as clients can connect.
pub fn serve(settings: Settings, announce: impl FnOnce(SocketAddr)) -> Result<Infallible, ServeError> {
    let port = |source| ServeError::Port { port: settings.port, source };
    let script = Script::read(&settings.script)?;
    let record = Record::open(settings.counts, settings.log.as_deref()).map_err(ServeError::Record)?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, settings.port)).map_err(port)?;
    announce(listener.local_addr().map_err(port)?);
    let server = Arc::new(Server { script, forms: settings.forms, record: Mutex::new(record) });
    loop {
        // A client that is gone before it was accepted is no reason to end.
        let Ok((stream, _)) = listener.accept() else { continue };
        let server = Arc::clone(&server);
        thread::spawn(move || server.converse(stream));
    }
}

struct Server {
    script: Script,
    forms: FormSupport,
    record: Mutex<Record>,
}

/// What a path stands for.
enum Route {
    Model(Protocol),
    CountTokens,
    Models,
    Calls,
    Nothing,
}

impl Server {
    /// Answers requests until the client goes; one that goes in the middle is its own affair.
    fn converse(&self, stream: TcpStream) {
        let Ok(mut connection) = Connection::new(stream) else { return };
        loop {
            let request = match connection.read() {
                Ok(Some(request)) => request,
                Ok(None) => return,
                Err(error) => {
                    let body = json!({"error": {"message": format!("no request: {error}")}});
                    let _ = connection.send(&Answer::Whole(Document::json(400, &body)), "");
                    return;
                }
            };
            let (answer, pause) = self.respond(&request);
            thread::sleep(pause);
            match connection.send(&answer, &request.method) {
                Ok(Next::Open) => {}
                Ok(Next::Over) | Err(_) => return,
            }
        }
    }

    fn respond(&self, request: &Request) -> (Answer, Duration) {
        let at_once = |status, body: Value| (Answer::Whole(Document::json(status, &body)), Duration::ZERO);
        let route = route(request);
        let result = match &route {
            Route::Model(protocol) => self.model(*protocol, request),
            Route::CountTokens => self.besides(request, 200, json!({"input_tokens": 10})),
            Route::Models => self.besides(request, 200, models()),
            Route::Calls => Ok(at_once(200, self.calls())),
            Route::Nothing if request.method == "HEAD" => self.besides(request, 200, json!({})),
            Route::Nothing => {
                let message = format!("nothing is served at {} {}", request.method, request.path);
                self.besides(request, 404, json!({"error": {"message": message}}))
            }
        };
        result.unwrap_or_else(|error| {
            at_once(500, json!({"error": {"message": format!("the request cannot be recorded: {error}")}}))
        })
    }

    /// A question to a model.
    fn model(&self, protocol: Protocol, request: &Request) -> io::Result<(Answer, Duration)> {
        let body = body(request);
        let asked = asked(protocol, &body);
        let mut record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        let number = record.next_number();
        let mut counts = record.counts().clone();
        counts.requests = number;
        counts.calls = counts.calls.saturating_add(1);
        let refusal = |message: &str| Answer::Whole(Document::json(400, &error_body(protocol, 400, message)));
        let (answer, rule, pause) = if self.forms == FormSupport::Refused && asked.demand != Demand::Nothing {
            (refusal("response_format is not supported"), None, 0)
        } else if let Some((rule, reply)) = choose(&self.script, &counts.by_rule, &asked) {
            let pause = reply.delay_ms.or(self.script.delay_ms).unwrap_or(0);
            (answer(reply, &asked, number), Some(rule.name.clone()), pause)
        } else {
            counts.unmatched = counts.unmatched.saturating_add(1);
            (refusal(&unmatched(&asked)), None, 0)
        };
        if let Some(rule) = &rule {
            let played = counts.by_rule.entry(rule.clone()).or_default();
            *played = played.saturating_add(1);
        }
        let line = LogLine {
            protocol: Some(protocol),
            streaming: asked.delivery != Delivery::Whole,
            form: asked.form,
            turn: asked.tool_results,
            rule,
            status: answer.status(),
            ..plain_line(request, number, body)
        };
        record.add(&line, counts)?;
        Ok((answer, Duration::from_millis(pause)))
    }

    /// A request that is no question to a model.
    fn besides(&self, request: &Request, status: u16, answer: Value) -> io::Result<(Answer, Duration)> {
        let mut record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        let number = record.next_number();
        let mut counts = record.counts().clone();
        counts.requests = number;
        let line = LogLine { status: Some(status), ..plain_line(request, number, body(request)) };
        record.add(&line, counts)?;
        Ok((Answer::Whole(Document::json(status, &answer)), Duration::ZERO))
    }

    fn calls(&self) -> Value {
        let record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = record.counts();
        json!({"calls": counts.calls, "unmatched": counts.unmatched, "by_rule": counts.by_rule})
    }
}

/// The prefix `/v1` may be missing: some clients have it in their address, some add it themselves.
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
        _ => Route::Nothing,
    }
}

/// The list of models, for clients of either vendor.
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

fn unmatched(asked: &Asked) -> String {
    let length = asked.last.chars().count();
    let beginning: String = asked.last.chars().take(200).collect();
    // Agents put long reminders before what they were told.
    let end: String = asked.last.chars().skip(length.saturating_sub(100).max(200)).collect();
    let between = if end.is_empty() { "" } else { " … " };
    let form = asked.form.as_deref().unwrap_or("none");
    let turn = asked.tool_results;
    format!(
        "no rule of the script answers this request: form {form}, turn {turn}, last message: {beginning}{between}{end}"
    )
}
