//! A client on a plain socket, so that the tests check the bytes that are sent; requests and answers in the three
//! protocols.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use fixpoint_testkit::Protocol::{self, Chat, Messages, Responses};
use fixpoint_testkit::{Options, Script, ScriptedServer};
use serde_json::{Value, json};

/// The longest anything may take before a test fails.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(20);

pub(crate) const PROTOCOLS: [Protocol; 3] = [Chat, Messages, Responses];

pub(crate) fn start(script: &Script) -> ScriptedServer {
    ScriptedServer::start(script, Options::default()).unwrap()
}

/// Polls until the condition holds.
pub(crate) fn until(mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < TIMEOUT, "the condition never held");
    }
}

/// Whether an answer is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrived {
    Complete,
    CutOff,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Received {
    pub(crate) status: u16,
    pub(crate) headers: Vec<String>,
    pub(crate) body: String,
    pub(crate) arrived: Arrived,
}

impl Received {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    pub(crate) fn has_header(&self, line: &str) -> bool {
        self.headers.iter().any(|header| header.eq_ignore_ascii_case(line))
    }

    /// The documents of a stream, without the end marker.
    pub(crate) fn events(&self) -> Vec<Value> {
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
    }
}

pub(crate) struct Client(BufReader<TcpStream>);

impl Client {
    pub(crate) fn new(address: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        Self(BufReader::new(stream))
    }

    pub(crate) fn send(&mut self, method: &str, path: &str, body: &str) {
        let length = body.len();
        let request =
            format!("{method} {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n{body}");
        self.write(&request);
    }

    pub(crate) fn write(&mut self, request: &str) {
        self.0.get_mut().write_all(request.as_bytes()).unwrap();
    }

    /// The header of the next answer; the body is not read.
    pub(crate) fn receive_header(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.line().filter(|line| !line.is_empty())).collect()
    }

    /// The next answer; `None` if the connection was closed.
    pub(crate) fn receive(&mut self) -> Option<Received> {
        let first = self.line()?;
        let status = first.strip_prefix("HTTP/1.1 ").unwrap_or_else(|| panic!("{first}"));
        let status = status.split(' ').next().unwrap().parse().unwrap();
        let headers = self.receive_header();
        let length = headers.iter().find_map(|line| line.strip_prefix("content-length: "));
        let (body, arrived) = match length {
            Some(length) => self.exactly(length.parse().unwrap()),
            None => self.chunks(),
        };
        Some(Received { status, headers, body, arrived })
    }

    /// Closes the sending side; answers can still be read.
    pub(crate) fn stop_sending(&self) {
        self.0.get_ref().shutdown(Shutdown::Write).unwrap();
    }

    /// Whether nothing has arrived so far.
    pub(crate) fn is_silent(&self) -> bool {
        self.0.get_ref().set_nonblocking(true).unwrap();
        let peeked = self.0.get_ref().peek(&mut [0]);
        self.0.get_ref().set_nonblocking(false).unwrap();
        peeked.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        (self.0.read_line(&mut line).unwrap() > 0).then(|| line.trim_end().to_string())
    }

    fn exactly(&mut self, length: usize) -> (String, Arrived) {
        let mut body = Vec::new();
        self.0.by_ref().take(length as u64).read_to_end(&mut body).unwrap();
        let arrived = if body.len() == length { Arrived::Complete } else { Arrived::CutOff };
        (String::from_utf8(body).unwrap(), arrived)
    }

    fn chunks(&mut self) -> (String, Arrived) {
        let mut body = String::new();
        while let Some(size) = self.line() {
            let size = usize::from_str_radix(&size, 16).unwrap();
            body += &self.exactly(size).0;
            self.line();
            if size == 0 {
                return (body, Arrived::Complete);
            }
        }
        (body, Arrived::CutOff)
    }
}

pub(crate) fn get(server: &ScriptedServer, path: &str) -> Received {
    let mut client = Client::new(server.address());
    client.send("GET", path, "");
    client.receive().unwrap()
}

pub(crate) fn ask(server: &ScriptedServer, protocol: Protocol, body: &Value) -> Option<Received> {
    let mut client = Client::new(server.address());
    client.send("POST", path(protocol), &body.to_string());
    client.receive()
}

pub(crate) fn path(protocol: Protocol) -> &'static str {
    match protocol {
        Chat => "/v1/chat/completions",
        Messages => "/v1/messages",
        Responses => "/v1/responses",
    }
}

/// A request with one message.
pub(crate) fn question(protocol: Protocol, text: &str) -> Value {
    match protocol {
        Chat | Messages => json!({"model": "m", "messages": [{"role": "user", "content": text}]}),
        Responses => json!({"model": "m", "input": text}),
    }
}

/// The same, streamed.
pub(crate) fn streamed(mut question: Value) -> Value {
    question["stream"] = json!(true);
    question
}

/// The text of an answer, streamed or not.
pub(crate) fn text_of(protocol: Protocol, got: &Received) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    if !got.has_header("content-type: text/event-stream") {
        let pointer = match protocol {
            Chat => "/choices/0/message/content",
            Messages => "/content/0/text",
            Responses => "/output/0/content/0/text",
        };
        return text(got.json().pointer(pointer).unwrap_or_else(|| panic!("{got:?}")));
    }
    let piece = |event: Value| match protocol {
        Chat => text(&event["choices"][0]["delta"]["content"]),
        Messages => text(&event["delta"]["text"]),
        Responses if event["type"] == "response.output_text.delta" => text(&event["delta"]),
        Responses => String::new(),
    };
    got.events().into_iter().map(piece).collect()
}
