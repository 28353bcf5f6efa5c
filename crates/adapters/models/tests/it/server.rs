//! A loopback server that sends prepared bytes: it records each request and answers it in the pieces the test chose. It
//! knows only as much of HTTP as it takes to find the end of a request.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::Value;

/// One step of an answer.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Sends these bytes in one write.
    Bytes(Vec<u8>),
    Wait(Duration),
    /// Sends nothing more and keeps the connection open until the client closes it.
    Hang,
    Close,
}

#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) head: String,
    pub(crate) body: Value,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        self.head.lines().find_map(|line| {
            let (field, value) = line.split_once(':')?;
            field.eq_ignore_ascii_case(name).then(|| value.trim().to_string())
        })
    }
}

struct Shared {
    /// One answer per request; the last one is repeated.
    answers: Vec<Vec<Step>>,
    requests: Mutex<Vec<Request>>,
    connections: AtomicUsize,
    /// Signals that a client closed a hanging connection.
    gone: Sender<()>,
    hanging: (Mutex<usize>, Condvar),
}

pub(crate) struct Server {
    pub(crate) port: u16,
    shared: Arc<Shared>,
    gone: Mutex<Receiver<()>>,
}

impl Server {
    /// Sends one answer per request; the last one is repeated.
    pub(crate) fn answering(answers: Vec<Vec<Step>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, receiver) = channel();
        let shared = Arc::new(Shared {
            answers,
            requests: Mutex::default(),
            connections: AtomicUsize::new(0),
            gone: sender,
            hanging: (Mutex::new(0), Condvar::new()),
        });
        let serving = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&serving);
                shared.connections.fetch_add(1, Ordering::Relaxed);
                std::thread::spawn(move || serve(&shared, stream));
            }
        });
        Self { port, shared, gone: Mutex::new(receiver) }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.shared.requests.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }

    pub(crate) fn bodies(&self) -> Vec<Value> {
        self.requests().into_iter().map(|request| request.body).collect()
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    pub(crate) fn wait_until_hanging(&self, many: usize) {
        let (count, changed) = &self.shared.hanging;
        let guard = count.lock().unwrap();
        let limit = Duration::from_secs(20);
        let (_guard, waited) = changed.wait_timeout_while(guard, limit, |count| *count < many).unwrap();
        assert!(!waited.timed_out(), "no connection hangs");
    }

    /// Waits until a client has closed a hanging connection.
    pub(crate) fn wait_until_gone(&self) {
        self.gone.lock().unwrap().recv_timeout(Duration::from_secs(20)).expect("the client goes away");
    }
}

fn serve(shared: &Shared, mut stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    while let Some(request) = read_request(&mut stream) {
        let number = {
            let mut requests = shared.requests.lock().unwrap();
            requests.push(request);
            requests.len() - 1
        };
        let Some(steps) = shared.answers.get(number).or(shared.answers.last()) else { return };
        for step in steps {
            match step {
                Step::Bytes(bytes) => {
                    if stream.write_all(bytes).and_then(|()| stream.flush()).is_err() {
                        return;
                    }
                }
                Step::Wait(time) => std::thread::sleep(*time),
                Step::Hang => {
                    *shared.hanging.0.lock().unwrap() += 1;
                    shared.hanging.1.notify_all();
                    let mut rest = Vec::new();
                    let _ = stream.read_to_end(&mut rest);
                    let _ = shared.gone.send(());
                    return;
                }
                Step::Close => {
                    let _ = stream.shutdown(Shutdown::Both);
                    return;
                }
            }
        }
    }
}

fn read_request(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let request = Request { head, body: Value::Null };
            let length: usize =
                request.header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
            while bytes.len() < end + 4 + length {
                let read = stream.read(&mut piece).ok().filter(|read| *read > 0)?;
                bytes.extend_from_slice(&piece[..read]);
            }
            let body = serde_json::from_slice(&bytes[end + 4..]).unwrap_or(Value::Null);
            return Some(Request { body, ..request });
        }
        let read = stream.read(&mut piece).ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&piece[..read]);
    }
}

/// A complete response with a status and additional headers.
pub(crate) fn whole(status: &str, headers: &str, body: &str) -> Vec<Step> {
    let length = body.len();
    let text = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
    );
    vec![Step::Bytes(text.into_bytes())]
}

pub(crate) fn ok(body: &Value) -> Vec<Step> {
    whole("200 OK", "", &body.to_string())
}

fn stream_head() -> Step {
    Step::Bytes(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec(),
    )
}

fn chunk(bytes: &[u8]) -> Vec<u8> {
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend_from_slice(bytes);
    chunk.extend_from_slice(b"\r\n");
    chunk
}

/// A chunked stream in pieces of `piece` bytes, properly terminated.
pub(crate) fn stream(text: &str, piece: usize) -> Vec<Step> {
    let mut steps = unfinished(text, piece);
    steps.push(Step::Bytes(b"0\r\n\r\n".to_vec()));
    steps
}

/// The same without its end.
pub(crate) fn unfinished(text: &str, piece: usize) -> Vec<Step> {
    let mut steps = vec![stream_head()];
    steps.extend(text.as_bytes().chunks(piece).map(|bytes| Step::Bytes(chunk(bytes))));
    steps
}
