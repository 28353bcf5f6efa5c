//! The HTTP client: requests wait on one background thread, callers receive the response in parts.
//!
//! Owns that thread and the connections. Refuses to interpret responses, to retry, and to follow redirects, which could
//! carry a key to another host. Reading, retrying and time limits happen on the caller's thread, which polls for a stop.
//!
//! Why an asynchronous client behind a blocking interface: a read that hangs is given up at once by dropping its task,
//! which a blocking socket does not offer, and fifty requests need one more thread, not fifty sockets with timers.
//!
//! Invariant: a response that is dropped leaves no request behind.

use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use fixpoint_ports::Cancel;
use http_body::{Body, Frame, SizeHint};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, NoProxy, Proxy, Url, redirect};
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

/// How often a waiting thread checks for a stop.
const POLL: Duration = Duration::from_millis(20);
/// A host that does not accept a connection within this time is down.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the rest of a body is read after the answer is complete, so that the connection can be used again.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);
/// Servers close idle connections after about a minute; a request sent on one of those would be lost.
const IDLE_CONNECTION: Duration = Duration::from_secs(30);

/// The parts of a response, in order.
#[derive(Debug)]
pub(crate) enum ResponsePart {
    Head(ResponseHead),
    Chunk(Bytes),
    End,
    /// No connection could be made.
    Unreachable(String),
    /// The connection failed, or the body is larger than `max_answer`.
    Broken(String),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct ResponseHead {
    pub(crate) status: u16,
    pub(crate) content_type: String,
    pub(crate) retry_after: Option<String>,
    pub(crate) retry_after_ms: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interrupted {
    Cancelled,
    TimedOut,
}

pub(crate) struct HttpRequest {
    pub(crate) method: Method,
    pub(crate) url: Url,
    /// The values may be keys, so this type has no `Debug`.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) body: Bytes,
    /// The largest body that is accepted, in bytes.
    pub(crate) max_answer: u64,
}

/// One thread, started by the first request, and the connections.
pub(crate) struct HttpClient {
    proxies: Proxies,
    thread: OnceLock<Result<Thread, String>>,
    plain: OnceLock<Result<Client, String>>,
    secure: OnceLock<Result<Client, String>>,
}

struct Thread {
    handle: Handle,
    /// Dropping it ends the thread.
    _stop: oneshot::Sender<()>,
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("HttpClient").finish_non_exhaustive()
    }
}

/// Proxies from the usual variables. Their addresses may contain passwords, so there is no `Debug`.
#[derive(Clone, Default)]
pub(crate) struct Proxies {
    http: Option<String>,
    https: Option<String>,
    except: Option<String>,
}

impl Proxies {
    pub(crate) fn of(environment: &BTreeMap<String, String>) -> Self {
        let named = |names: &[&str]| {
            let set = names.iter().filter_map(|name| environment.get(*name));
            set.map(|value| value.trim().to_string()).find(|value| !value.is_empty())
        };
        let all = named(&["all_proxy", "ALL_PROXY"]);
        Self {
            // HTTP_PROXY is not read, as in curl: a web server would set it for its CGI scripts.
            http: named(&["http_proxy"]).or_else(|| all.clone()),
            https: named(&["https_proxy", "HTTPS_PROXY"]).or(all),
            except: named(&["no_proxy", "NO_PROXY"]),
        }
    }
}

/// A response that is on its way.
pub(crate) struct PendingResponse {
    parts: Receiver<ResponsePart>,
    /// `None` once the answer is complete.
    task: Option<AbortHandle>,
    sent: Arc<AtomicBool>,
}

impl Drop for PendingResponse {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

impl PendingResponse {
    pub(crate) fn next(&self, until: Instant, cancel: &Cancel) -> Result<ResponsePart, Interrupted> {
        loop {
            if cancel.is_asked() {
                return Err(Interrupted::Cancelled);
            }
            let left = until.saturating_duration_since(Instant::now());
            match self.parts.recv_timeout(left.min(POLL)) {
                Ok(part) => return Ok(part),
                Err(RecvTimeoutError::Timeout) if left <= POLL => return Err(Interrupted::TimedOut),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Ok(ResponsePart::Broken("the connection was closed".to_string()));
                }
            }
        }
    }

    /// The answer is complete. The rest of the body is read in the background for a moment, so that the connection can
    /// serve the next request.
    pub(crate) fn finish(mut self) {
        self.task = None;
    }

    /// Whether a connection was made and the request was written to it. Only for requests with a body.
    pub(crate) fn was_sent(&self) -> bool {
        self.sent.load(Ordering::Acquire)
    }
}

/// Sleeps until the time is over or the call is cancelled.
pub(crate) fn sleep(time: Duration, cancel: &Cancel) -> Result<(), Interrupted> {
    let until = Instant::now() + time;
    loop {
        if cancel.is_asked() {
            return Err(Interrupted::Cancelled);
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(POLL));
    }
}

impl HttpClient {
    pub(crate) fn new(proxies: Proxies) -> Self {
        Self { proxies, thread: OnceLock::new(), plain: OnceLock::new(), secure: OnceLock::new() }
    }

    /// Starts a request; the caller waits on what is returned.
    pub(crate) fn send(&self, request: HttpRequest) -> Result<PendingResponse, String> {
        let thread = self.thread.get_or_init(start).as_ref().map_err(String::clone)?;
        let client = self.client(&request.url)?.clone();
        let (sender, parts) = mpsc::channel();
        let sent = Arc::new(AtomicBool::new(false));
        let mark = Arc::clone(&sent);
        let task = thread.handle.spawn(async move {
            perform(&client, request, mark, &sender).await;
        });
        Ok(PendingResponse { parts, task: Some(task.abort_handle()), sent })
    }

    fn client(&self, url: &Url) -> Result<&Client, String> {
        // Reading the system's certificates is the slowest part of starting, and plain HTTP does not need them.
        let built = match url.scheme() {
            "http" => self.plain.get_or_init(|| self.build(Tls::Off)),
            _ => self.secure.get_or_init(|| self.build(Tls::SystemRoots)),
        };
        built.as_ref().map_err(String::clone)
    }

    fn build(&self, tls: Tls) -> Result<Client, String> {
        let mut builder = Client::builder()
            .user_agent(concat!("fixpoint/", env!("CARGO_PKG_VERSION")))
            .redirect(redirect::Policy::none())
            .referer(false)
            .http1_only()
            .connect_timeout(CONNECT_TIMEOUT)
            .pool_idle_timeout(IDLE_CONNECTION)
            .no_proxy();
        let except = self.proxies.except.as_deref().and_then(NoProxy::from_string);
        // The parser's error is not shown: the address may contain a password.
        let unreadable = |_| "the proxy address is not valid".to_string();
        if let Some(address) = &self.proxies.http {
            builder = builder.proxy(Proxy::http(address).map_err(unreadable)?.no_proxy(except.clone()));
        }
        if let Some(address) = &self.proxies.https {
            builder = builder.proxy(Proxy::https(address).map_err(unreadable)?.no_proxy(except));
        }
        let provider = rustls::crypto::ring::default_provider();
        let builder = match tls {
            Tls::Off => {
                let config = rustls::ClientConfig::builder_with_provider(Arc::new(provider))
                    .with_safe_default_protocol_versions()
                    .map_err(|error| error.to_string())?
                    .with_root_certificates(rustls::RootCertStore::empty())
                    .with_no_client_auth();
                builder.tls_backend_preconfigured(config)
            }
            Tls::SystemRoots => {
                // An error means that a provider is already installed, which is what is needed.
                let _ = provider.install_default();
                builder
            }
        };
        builder.build().map_err(|error| error_chain(&error))
    }
}

enum Tls {
    Off,
    /// Trusts the certificates the system trusts.
    SystemRoots,
}

fn start() -> Result<Thread, String> {
    let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    let handle = runtime.handle().clone();
    let (stop, stopped) = oneshot::channel::<()>();
    let body = move || {
        let _ = runtime.block_on(stopped);
        // A DNS lookup may hang for long, and no caller waits for it any more.
        runtime.shutdown_background();
    };
    std::thread::Builder::new().name("models".to_string()).spawn(body).map_err(|error| error.to_string())?;
    Ok(Thread { handle, _stop: stop })
}

async fn perform(
    client: &Client,
    outgoing: HttpRequest,
    sent: Arc<AtomicBool>,
    sender: &Sender<ResponsePart>,
) {
    let mut headers = HeaderMap::with_capacity(outgoing.headers.len());
    headers.extend(outgoing.headers.into_iter().map(|(name, value)| (Some(name), value)));
    let body = reqwest::Body::wrap(TrackedBody { body: Some(outgoing.body), sent });
    let request = client.request(outgoing.method, outgoing.url).headers(headers).body(body);
    let mut response = match request.send().await {
        Ok(response) => response,
        Err(error) => {
            let unreachable = error.is_connect();
            let why = error_chain(&error.without_url());
            return deliver(
                sender,
                if unreachable { ResponsePart::Unreachable(why) } else { ResponsePart::Broken(why) },
            );
        }
    };
    let text =
        |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_string);
    let head = ResponseHead {
        status: response.status().as_u16(),
        content_type: text("content-type").unwrap_or_default(),
        retry_after: text("retry-after"),
        retry_after_ms: text("retry-after-ms"),
    };
    deliver(sender, ResponsePart::Head(head));
    let mut taken: u64 = 0;
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => {
                taken = taken.saturating_add(chunk.len() as u64);
                if taken > outgoing.max_answer {
                    let max = outgoing.max_answer;
                    return deliver(
                        sender,
                        ResponsePart::Broken(format!("the answer is larger than {max} bytes")),
                    );
                }
                if sender.send(ResponsePart::Chunk(chunk)).is_err() {
                    // The caller has its answer; reading the rest makes the connection usable again.
                    let _ = tokio::time::timeout(DRAIN_TIMEOUT, async {
                        while let Ok(Some(_)) = response.chunk().await {}
                    })
                    .await;
                    return;
                }
            }
            Ok(None) => return deliver(sender, ResponsePart::End),
            Err(error) => return deliver(sender, ResponsePart::Broken(error_chain(&error.without_url()))),
        }
    }
}

/// The caller may have gone, which is not an error.
fn deliver(sender: &Sender<ResponsePart>, part: ResponsePart) {
    let _ = sender.send(part);
}

/// An error with its causes, which is where the useful half is.
fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.contains(&next) {
            text.push_str(": ");
            text.push_str(&next);
        }
        cause = error.source();
    }
    text
}

/// A request body that records when it is first read, which is when a connection exists and the headers are written.
/// An empty body is never read.
struct TrackedBody {
    body: Option<Bytes>,
    sent: Arc<AtomicBool>,
}

impl Body for TrackedBody {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.sent.store(true, Ordering::Release);
        Poll::Ready(self.body.take().map(|body| Ok(Frame::data(body))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.body.as_ref().map_or(0, |body| body.len() as u64))
    }
}
