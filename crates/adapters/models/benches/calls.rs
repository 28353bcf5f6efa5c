//! Fifty requests at once compared with plain sockets, and the time to the first request: `cargo bench -p fixpoint-models`.
//!
//! Owns a loopback server that answers after 200 ms. The floor is the same requests on plain sockets, one thread each, in
//! the same run and alternating, so that the load of the machine cancels out; medians are compared.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fixpoint_models::{ModelEnvironment, Network, NetworkLimits, Resolver};
use fixpoint_ports::{AnswerFormat, Cancel, Message, Model, ModelRequest};
use fixpoint_vocabulary::settings::{Endpoint, ModelSettings};

type BenchResult<T> = Result<T, Box<dyn Error + Send + Sync>>;

const AT_ONCE: usize = 50;
const ROUNDS: usize = 15;
const ANSWER_AFTER: Duration = Duration::from_millis(200);
const BODY: &str = r#"{"model":"m","choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":2}}"#;

/// Answers each request after a pause.
fn serve(mut stream: TcpStream, after: Duration) -> BenchResult<()> {
    stream.set_nodelay(true)?;
    let mut bytes = Vec::new();
    let mut piece = [0; 8192];
    loop {
        let read = stream.read(&mut piece)?;
        if read == 0 {
            return Ok(());
        }
        bytes.extend(piece.iter().take(read));
        if is_complete(&bytes) {
            bytes.clear();
            std::thread::sleep(after);
            let length = BODY.len();
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{BODY}"
            );
            stream.write_all(answer.as_bytes())?;
        }
    }
}

fn is_complete(bytes: &[u8]) -> bool {
    let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { return false };
    let head = String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()).to_ascii_lowercase();
    let length =
        head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
    bytes.len() >= end + 4 + length.unwrap_or(0)
}

fn server(after: Duration) -> BenchResult<u16> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(stream, after));
        }
    });
    Ok(port)
}

fn question() -> ModelRequest {
    ModelRequest {
        system: "Be spec.".to_string(),
        messages: vec![Message::User("Hello".to_string())],
        tools: Vec::new(),
        format: AnswerFormat::Text,
        max_output_tokens: 100,
        deadline: Duration::from_secs(60),
    }
}

fn settings(scheme: &str, port: u16) -> ModelSettings {
    let endpoint = Endpoint { url: format!("{scheme}://127.0.0.1:{port}/v1"), ..Endpoint::default() };
    ModelSettings { endpoints: BTreeMap::from([("bench".to_string(), endpoint)]), ..ModelSettings::default() }
}

fn model(scheme: &str, port: u16) -> BenchResult<Arc<dyn Model>> {
    let network = Arc::new(Network::new(NetworkLimits::default(), &BTreeMap::new()));
    let environment = ModelEnvironment::new(BTreeMap::new(), network);
    Ok(Resolver::new(&settings(scheme, port), &environment).model("bench/m")?)
}

/// All at once, through the model, on new connections.
fn by_model(port: u16) -> BenchResult<Duration> {
    let model = model("http", port)?;
    at_once(|| {
        model.ask(&question(), &Cancel::default(), &mut |_| {})?;
        Ok(())
    })
}

/// All at once, on plain sockets.
fn by_sockets(port: u16) -> BenchResult<Duration> {
    let body = r#"{"model":"m","messages":[{"role":"system","content":"Be spec."},{"role":"user","content":"Hello"}]}"#;
    let request = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    at_once(|| {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.write_all(request.as_bytes())?;
        let mut answer = [0; 8192];
        let read = stream.read(&mut answer)?;
        if read == 0 { Err("no answer".into()) } else { Ok(()) }
    })
}

fn at_once(call: impl Fn() -> BenchResult<()> + Sync) -> BenchResult<Duration> {
    let started = Instant::now();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(&call)).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|_| Err("a thread failed".into())))
    })?;
    Ok(started.elapsed())
}

/// From settings to the first byte at a server: of the request, or with TLS of the handshake.
fn to_first_byte(scheme: &'static str) -> BenchResult<Duration> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    let cancel = Cancel::default();
    let (started, asking) = {
        let cancel = cancel.clone();
        let (sender, receiver) = std::sync::mpsc::channel();
        let asking = std::thread::spawn(move || -> BenchResult<()> {
            sender.send(Instant::now())?;
            let model = model(scheme, port)?;
            let _ = model.ask(&question(), &cancel, &mut |_| {});
            Ok(())
        });
        (receiver.recv()?, asking)
    };
    let (mut stream, _) = listener.accept()?;
    let mut byte = [0; 1];
    stream.read_exact(&mut byte)?;
    let elapsed = started.elapsed();
    cancel.ask();
    asking.join().map_err(|_| "a thread failed")??;
    Ok(elapsed)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Peak resident memory, on Linux.
fn peak_memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:")).map(|size| size.trim().to_string())
}

#[expect(clippy::print_stdout, reason = "a benchmark shows its figures")]
fn main() -> BenchResult<()> {
    for scheme in ["http", "https"] {
        let first = to_first_byte(scheme)?;
        let memory = peak_memory().unwrap_or_else(|| "unknown".to_string());
        let later = median((0..ROUNDS).map(|_| to_first_byte(scheme)).collect::<BenchResult<Vec<_>>>()?);
        println!(
            "settings to first byte over {scheme}: {first:.2?}, later {later:.2?}; peak memory: {memory}"
        );
    }
    let port = server(ANSWER_AFTER)?;
    let (mut model, mut sockets) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        sockets.push(by_sockets(port)?);
        model.push(by_model(port)?);
    }
    let (model, sockets) = (median(model), median(sockets));
    let ratio = model.as_secs_f64() / sockets.as_secs_f64();
    println!(
        "{AT_ONCE} calls of 200 ms at once: {model:.1?}, plain sockets {sockets:.1?}: ratio {ratio:.3} (goal: 1.05)"
    );
    Ok(())
}
