//! The part of HTTP/1.1 that clients of models use.
//!
//! Owns framing: lengths, chunks, keep-alive. Refuses to interpret bodies. Invariant: the client can tell a complete answer
//! from one that is cut off.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};

use crate::answer::{Answer, Document, Event};

/// Longer lines and bodies are rejected.
const MAX_LINE: u64 = 64 * 1024;
const MAX_BODY: u64 = 256 * 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Without the query.
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
}

/// Whether the connection stays open after a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterResponse {
    KeepOpen,
    Close,
}

pub(crate) struct Connection {
    from: BufReader<TcpStream>,
    to: TcpStream,
    after_response: AfterResponse,
}

/// What the header says about the body.
struct Header {
    length: u64,
    chunked: bool,
    expects_continue: bool,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self {
            from: BufReader::new(stream.try_clone()?),
            to: stream,
            after_response: AfterResponse::KeepOpen,
        })
    }

    /// `None` when the client closed the connection.
    pub(crate) fn read(&mut self) -> io::Result<Option<Request>> {
        let Some(first) = self.line()? else { return Ok(None) };
        let mut words = first.split(' ');
        let (Some(method), Some(target), Some(version)) = (words.next(), words.next(), words.next()) else {
            return Err(malformed("the first line is not a request line"));
        };
        self.after_response =
            if version == "HTTP/1.1" { AfterResponse::KeepOpen } else { AfterResponse::Close };
        let header = self.header()?;
        if header.expects_continue {
            self.to.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        let body = if header.chunked { self.chunks()? } else { self.exactly(header.length)? };
        let path = target.split('?').next().unwrap_or_default().to_string();
        Ok(Some(Request { method: method.to_string(), path, body }))
    }

    /// Sends an answer; a HEAD request gets no body.
    pub(crate) fn send(&mut self, answer: &Answer, method: &str) -> io::Result<AfterResponse> {
        match answer {
            Answer::Whole(document) => {
                let body = if method == "HEAD" { "" } else { &document.body };
                self.to.write_all(format!("{}{body}", self.head(document)).as_bytes())?;
                Ok(self.after_response)
            }
            Answer::Stream(events) => {
                self.events(events)?;
                self.to.write_all(b"0\r\n\r\n")?;
                Ok(self.after_response)
            }
            Answer::HalfDocument(document) => {
                let half: String = document.body.chars().take(document.body.chars().count() / 2).collect();
                self.to.write_all(format!("{}{half}", self.head(document)).as_bytes())?;
                self.close()
            }
            Answer::HalfStream(events) => {
                self.events(events)?;
                self.close()
            }
            Answer::Hang => {
                // Whatever the client still sends is ignored; this waits until it closes the connection.
                io::copy(&mut self.from, &mut io::sink())?;
                self.close()
            }
            Answer::Close => self.close(),
        }
    }

    fn close(&mut self) -> io::Result<AfterResponse> {
        self.to.shutdown(Shutdown::Both)?;
        Ok(AfterResponse::Close)
    }

    fn head(&self, document: &Document) -> String {
        let Document { status, retry_after, content_type, body } = document;
        let retry = retry_after.map(|seconds| format!("retry-after: {seconds}\r\n")).unwrap_or_default();
        let connection = match self.after_response {
            AfterResponse::KeepOpen => "",
            AfterResponse::Close => "connection: close\r\n",
        };
        format!(
            "HTTP/1.1 {status} {}\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\n{retry}{connection}\r\n",
            reason(*status),
            body.len()
        )
    }

    /// One chunk per event, so that the client receives them one by one.
    fn events(&mut self, events: &[Event]) -> io::Result<()> {
        let connection = match self.after_response {
            AfterResponse::KeepOpen => "",
            AfterResponse::Close => "connection: close\r\n",
        };
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n\
                    transfer-encoding: chunked\r\n";
        self.to.write_all(format!("{head}{connection}\r\n").as_bytes())?;
        for Event { name, data } in events {
            let name = name.as_ref().map(|name| format!("event: {name}\n")).unwrap_or_default();
            let text = format!("{name}data: {data}\n\n");
            self.to.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())?;
        }
        Ok(())
    }

    fn header(&mut self) -> io::Result<Header> {
        let mut header = Header { length: 0, chunked: false, expects_continue: false };
        loop {
            let line = self.line()?.ok_or_else(|| malformed("the header is incomplete"))?;
            if line.is_empty() {
                return Ok(header);
            }
            let (name, value) =
                line.split_once(':').ok_or_else(|| malformed("a header line without a colon"))?;
            let value = value.trim().to_ascii_lowercase();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => {
                    header.length = value.parse().map_err(|_| malformed("the length is not a number"))?;
                }
                "transfer-encoding" => header.chunked = value.contains("chunked"),
                "expect" => header.expects_continue = value.contains("100-continue"),
                "connection" if value.contains("close") => self.after_response = AfterResponse::Close,
                _ => {}
            }
        }
    }

    fn chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.line()?.ok_or_else(|| malformed("the chunks are incomplete"))?;
            let size = line.split(';').next().unwrap_or_default().trim();
            let size = u64::from_str_radix(size, 16).map_err(|_| malformed("a chunk without its size"))?;
            if size == 0 {
                // Trailers, if any, end with an empty line.
                while self.line()?.is_some_and(|line| !line.is_empty()) {}
                return Ok(body);
            }
            body.extend(self.exactly(size)?);
            self.line()?;
        }
    }

    fn exactly(&mut self, length: u64) -> io::Result<Vec<u8>> {
        if length > MAX_BODY {
            return Err(malformed("the body is too large"));
        }
        let mut body = Vec::new();
        let read = self.from.by_ref().take(length).read_to_end(&mut body)?;
        if read as u64 == length { Ok(body) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// A line without its line break; `None` at the end of the connection.
    fn line(&mut self) -> io::Result<Option<String>> {
        let mut line = String::new();
        if self.from.by_ref().take(MAX_LINE).read_line(&mut line)? == 0 {
            return Ok(None);
        }
        match line.strip_suffix('\n') {
            Some(line) => Ok(Some(line.trim_end_matches('\r').to_string())),
            None => Err(malformed("a line without a line break")),
        }
    }
}

fn malformed(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Scripted",
    }
}
