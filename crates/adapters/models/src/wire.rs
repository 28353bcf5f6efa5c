//! One request on the network, as messages to a thread that waits.
//!
//! Owns the background thread on which all requests of a process wait for the network together, and the connections.
//! Refuses to understand what comes back, to repeat anything, and to follow redirections, which could carry a key to
//! another host. Reading, repeating and limits happen on the thread of whoever asked, which polls for a stop.
//!
//! Why an asynchronous client under a blocking face: a read that hangs can be given up at once by dropping its task,
//! which a blocking socket does not offer, and fifty requests need one thread more, not fifty sockets with timers.
//!
//! Invariant: an exchange that is dropped leaves no request behind.

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

/// So often a waiting thread looks whether a stop was asked for.
const POLL: Duration = Duration::from_millis(20);
/// A host that does not take a connection within this time is down.
const CONNECT: Duration = Duration::from_secs(10);
/// So long a connection is read up after the end of an answer.
const READ_UP: Duration = Duration::from_millis(500);
/// Servers close connections that are idle for about a minute; a request on one of those would be lost.
const IDLE_CONNECTION: Duration = Duration::from_secs(30);

/// What comes back, in order.
#[derive(Debug)]
pub(crate) enum Arrival {
    /// The status and the headers.
    Head(Head),
    /// A part of the body.
    Chunk(Bytes),
    /// The body is complete.
    End,
    /// There is no connection.
    Unreachable(String),
    /// The connection failed, or more came than is taken.
    Fault(String),
}

/// The beginning of an answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) content_type: String,
    pub(crate) retry_after: Option<String>,
    pub(crate) retry_after_ms: Option<String>,
}

/// Why nothing more arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interrupted {
    Cancelled,
    TimedOut,
}

/// A request to send.
pub(crate) struct Outgoing {
    pub(crate) method: Method,
    pub(crate) url: Url,
    /// Their values may be keys, so this type does not show itself.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) body: Bytes,
    /// Bytes of the answer, at most.
    pub(crate) max_answer: u64,
}

/// The network: one thread, started by the first request, and the connections.
pub(crate) struct Wire {
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

impl fmt::Debug for Wire {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Wire").finish_non_exhaustive()
    }
}

/// Proxies as the usual variables name them. Their addresses may hold passwords.
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
            // The capital form of this one is left out as elsewhere: a web server would set it for its scripts.
            http: named(&["http_proxy"]).or_else(|| all.clone()),
            https: named(&["https_proxy", "HTTPS_PROXY"]).or(all),
            except: named(&["no_proxy", "NO_PROXY"]),
        }
    }
}

/// An exchange that is under way.
pub(crate) struct Exchange {
    arrivals: Receiver<Arrival>,
    /// Gone once the answer is complete.
    task: Option<AbortHandle>,
    sent: Arc<AtomicBool>,
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

impl Exchange {
    /// Waits for what comes next.
    pub(crate) fn next(&self, until: Instant, cancel: &Cancel) -> Result<Arrival, Interrupted> {
        loop {
            if cancel.is_asked() {
                return Err(Interrupted::Cancelled);
            }
            let left = until.saturating_duration_since(Instant::now());
            match self.arrivals.recv_timeout(left.min(POLL)) {
                Ok(arrival) => return Ok(arrival),
                Err(RecvTimeoutError::Timeout) if left <= POLL => return Err(Interrupted::TimedOut),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Ok(Arrival::Fault("the connection was given up".to_string()));
                }
            }
        }
    }

    /// The answer is complete. What may still come is read in the background for a moment, so that the connection can
    /// serve the next request.
    pub(crate) fn let_go(mut self) {
        self.task = None;
    }

    /// Whether a connection was there and the request, one with a body, was being written to it.
    pub(crate) fn was_sent(&self) -> bool {
        self.sent.load(Ordering::Acquire)
    }
}

/// Waits unless a stop is asked for.
pub(crate) fn pause(time: Duration, cancel: &Cancel) -> Result<(), Interrupted> {
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

impl Wire {
    pub(crate) fn new(proxies: Proxies) -> Self {
        Self { proxies, thread: OnceLock::new(), plain: OnceLock::new(), secure: OnceLock::new() }
    }

    /// Sends a request; what comes back is waited for through the exchange.
    pub(crate) fn send(&self, outgoing: Outgoing) -> Result<Exchange, String> {
        let thread = self.thread.get_or_init(start).as_ref().map_err(String::clone)?;
        let client = self.client(&outgoing.url)?.clone();
        let (sender, arrivals) = mpsc::channel();
        let sent = Arc::new(AtomicBool::new(false));
        let mark = Arc::clone(&sent);
        let task = thread.handle.spawn(async move {
            exchange(&client, outgoing, mark, &sender).await;
        });
        Ok(Exchange { arrivals, task: Some(task.abort_handle()), sent })
    }

    fn client(&self, url: &Url) -> Result<&Client, String> {
        // Reading the certificates of the system takes longer than all else at the start, and a server on this machine
        // needs none.
        let built = match url.scheme() {
            "http" => self.plain.get_or_init(|| self.build(Security::None)),
            _ => self.secure.get_or_init(|| self.build(Security::SystemRoots)),
        };
        built.as_ref().map_err(String::clone)
    }

    fn build(&self, security: Security) -> Result<Client, String> {
        let mut builder = Client::builder()
            .user_agent(concat!("fixpoint/", env!("CARGO_PKG_VERSION")))
            .redirect(redirect::Policy::none())
            .referer(false)
            .http1_only()
            .connect_timeout(CONNECT)
            .pool_idle_timeout(IDLE_CONNECTION)
            .no_proxy();
        let except = self.proxies.except.as_deref().and_then(NoProxy::from_string);
        // The error of an address is not shown: it may hold a password.
        let unreadable = |_| "the address of the proxy cannot be read".to_string();
        if let Some(address) = &self.proxies.http {
            builder = builder.proxy(Proxy::http(address).map_err(unreadable)?.no_proxy(except.clone()));
        }
        if let Some(address) = &self.proxies.https {
            builder = builder.proxy(Proxy::https(address).map_err(unreadable)?.no_proxy(except));
        }
        let provider = rustls::crypto::ring::default_provider();
        let builder = match security {
            Security::None => {
                let config = rustls::ClientConfig::builder_with_provider(Arc::new(provider))
                    .with_safe_default_protocol_versions()
                    .map_err(|error| error.to_string())?
                    .with_root_certificates(rustls::RootCertStore::empty())
                    .with_no_client_auth();
                builder.tls_backend_preconfigured(config)
            }
            Security::SystemRoots => {
                // An error means that a provider is installed already, which is what is needed.
                let _ = provider.install_default();
                builder
            }
        };
        builder.build().map_err(|error| chain(&error))
    }
}

/// Whom a connection trusts.
enum Security {
    /// Nobody: it is not encrypted.
    None,
    /// Whom the system trusts.
    SystemRoots,
}

fn start() -> Result<Thread, String> {
    let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    let handle = runtime.handle().clone();
    let (stop, stopped) = oneshot::channel::<()>();
    let body = move || {
        let _ = runtime.block_on(stopped);
        // A look-up of a name may hang for long, and nobody waits for it any more.
        runtime.shutdown_background();
    };
    std::thread::Builder::new().name("models".to_string()).spawn(body).map_err(|error| error.to_string())?;
    Ok(Thread { handle, _stop: stop })
}

async fn exchange(client: &Client, outgoing: Outgoing, sent: Arc<AtomicBool>, sender: &Sender<Arrival>) {
    let mut headers = HeaderMap::with_capacity(outgoing.headers.len());
    headers.extend(outgoing.headers.into_iter().map(|(name, value)| (Some(name), value)));
    let body = reqwest::Body::wrap(Marked { body: Some(outgoing.body), sent });
    let request = client.request(outgoing.method, outgoing.url).headers(headers).body(body);
    let mut response = match request.send().await {
        Ok(response) => response,
        Err(error) => {
            let unreachable = error.is_connect();
            let why = chain(&error.without_url());
            return tell(sender, if unreachable { Arrival::Unreachable(why) } else { Arrival::Fault(why) });
        }
    };
    let text =
        |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_string);
    let head = Head {
        status: response.status().as_u16(),
        content_type: text("content-type").unwrap_or_default(),
        retry_after: text("retry-after"),
        retry_after_ms: text("retry-after-ms"),
    };
    tell(sender, Arrival::Head(head));
    let mut taken: u64 = 0;
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => {
                taken = taken.saturating_add(chunk.len() as u64);
                if taken > outgoing.max_answer {
                    let most = outgoing.max_answer;
                    return tell(sender, Arrival::Fault(format!("the answer has more than {most} bytes")));
                }
                if sender.send(Arrival::Chunk(chunk)).is_err() {
                    // The answer was complete before this, and the connection is of use again once it is read up.
                    let _ = tokio::time::timeout(READ_UP, async {
                        while let Ok(Some(_)) = response.chunk().await {}
                    })
                    .await;
                    return;
                }
            }
            Ok(None) => return tell(sender, Arrival::End),
            Err(error) => return tell(sender, Arrival::Fault(chain(&error.without_url()))),
        }
    }
}

/// Nobody may listen any more, and that is no fault.
fn tell(sender: &Sender<Arrival>, arrival: Arrival) {
    let _ = sender.send(arrival);
}

/// An error with what caused it, which is where the useful half is.
fn chain(error: &dyn std::error::Error) -> String {
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

/// A body that notes when it is asked for, which is when a connection is there and the headers are being written. An
/// empty one is never asked for.
struct Marked {
    body: Option<Bytes>,
    sent: Arc<AtomicBool>,
}

impl Body for Marked {
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
