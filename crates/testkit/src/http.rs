//! Requests and answers on a connection: the part of HTTP/1.1 that clients of models use.
//!
//! Owns framing: lengths, chunks, connections that stay open. Refuses meaning. Invariant: an answer that is whole is
//! framed so that the client knows it, and one that is cut off is framed so that the client knows that, too.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};

use crate::answer::{Answer, Document, Event};

/// A line of a header is shorter; a body of a client of ours as well.
const MAX_LINE: u64 = 64 * 1024;
const MAX_BODY: u64 = 256 * 1024 * 1024;

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Without what follows a question mark.
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
}

/// Whether the client may ask again on the same connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// It may.
    Open,
    /// The connection is over.
    Over,
}

/// A client's connection.
pub(crate) struct Connection {
    from: BufReader<TcpStream>,
    to: TcpStream,
    /// Whether the client said that this request is its last.
    next: Next,
}

/// What the header of a request says about the rest.
struct Header {
    length: u64,
    chunked: bool,
    waits: bool,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self { from: BufReader::new(stream.try_clone()?), to: stream, next: Next::Open })
    }

    /// The next request, or nothing when the client has gone.
    pub(crate) fn read(&mut self) -> io::Result<Option<Request>> {
        let Some(first) = self.line()? else { return Ok(None) };
        let mut words = first.split(' ');
        let (Some(method), Some(target), Some(version)) = (words.next(), words.next(), words.next()) else {
            return Err(malformed("the first line is no request"));
        };
        self.next = if version == "HTTP/1.1" { Next::Open } else { Next::Over };
        let header = self.header()?;
        if header.waits {
            self.to.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        let body = if header.chunked { self.chunks()? } else { self.exactly(header.length)? };
        let path = target.split('?').next().unwrap_or_default().to_string();
        Ok(Some(Request { method: method.to_string(), path, body }))
    }

    /// Sends an answer. A request of the header alone gets no body.
    pub(crate) fn send(&mut self, answer: &Answer, method: &str) -> io::Result<Next> {
        match answer {
            Answer::Whole(document) => {
                let body = if method == "HEAD" { "" } else { &document.body };
                self.to.write_all(format!("{}{body}", self.head(document)).as_bytes())?;
                Ok(self.next)
            }
            Answer::Stream(events) => {
                self.events(events)?;
                self.to.write_all(b"0\r\n\r\n")?;
                Ok(self.next)
            }
            Answer::HalfWhole(document) => {
                let half: String = document.body.chars().take(document.body.chars().count() / 2).collect();
                self.to.write_all(format!("{}{half}", self.head(document)).as_bytes())?;
                self.close()
            }
            Answer::HalfStream(events) => {
                self.events(events)?;
                self.close()
            }
            Answer::Hang => {
                // The client may send more; what matters is when it goes.
                io::copy(&mut self.from, &mut io::sink())?;
                self.close()
            }
            Answer::Close => self.close(),
        }
    }

    fn close(&mut self) -> io::Result<Next> {
        self.to.shutdown(Shutdown::Both)?;
        Ok(Next::Over)
    }

    fn head(&self, document: &Document) -> String {
        let Document { status, retry_after, content_type, body } = document;
        let retry = retry_after.map(|seconds| format!("retry-after: {seconds}\r\n")).unwrap_or_default();
        let connection = match self.next {
            Next::Open => "",
            Next::Over => "connection: close\r\n",
        };
        format!(
            "HTTP/1.1 {status} {}\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\n{retry}{connection}\r\n",
            meaning(*status),
            body.len()
        )
    }

    /// One chunk an event, so that a client sees them come.
    fn events(&mut self, events: &[Event]) -> io::Result<()> {
        let connection = match self.next {
            Next::Open => "",
            Next::Over => "connection: close\r\n",
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
        let mut header = Header { length: 0, chunked: false, waits: false };
        loop {
            let line = self.line()?.ok_or_else(|| malformed("the header has no end"))?;
            if line.is_empty() {
                return Ok(header);
            }
            let (name, value) =
                line.split_once(':').ok_or_else(|| malformed("a header line without a colon"))?;
            let value = value.trim().to_ascii_lowercase();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => {
                    header.length = value.parse().map_err(|_| malformed("a length that is no number"))?;
                }
                "transfer-encoding" => header.chunked = value.contains("chunked"),
                "expect" => header.waits = value.contains("100-continue"),
                "connection" if value.contains("close") => self.next = Next::Over,
                _ => {}
            }
        }
    }

    fn chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.line()?.ok_or_else(|| malformed("the chunks have no end"))?;
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
            return Err(malformed("a body of that length is not for a model"));
        }
        let mut body = Vec::new();
        let read = self.from.by_ref().take(length).read_to_end(&mut body)?;
        if read as u64 == length { Ok(body) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// A line without its end, or nothing at the end of the connection.
    fn line(&mut self) -> io::Result<Option<String>> {
        let mut line = String::new();
        if self.from.by_ref().take(MAX_LINE).read_line(&mut line)? == 0 {
            return Ok(None);
        }
        match line.strip_suffix('\n') {
            Some(line) => Ok(Some(line.trim_end_matches('\r').to_string())),
            None => Err(malformed("a line without an end")),
        }
    }
}

fn malformed(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn meaning(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "As Scripted",
    }
}
