//! The one other thing that is asked over this network: a service that answers with one person's settings.

use std::time::{Duration, Instant};

use bytes::Bytes;
use fixpoint_ports::Cancel;
use fixpoint_vocabulary::settings::Protocol;
use reqwest::{Method, Url};

use crate::key::Key;
use crate::network::Network;
use crate::wire::{Arrival, Outgoing};

/// No answer is longer than this.
const MAX_ANSWER: u64 = 1 << 20;

/// Why a service gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServiceError {
    /// The address is none: correct it.
    #[error("`{0}` is no address of a service")]
    BadAddress(String),
    /// It cannot be reached, or did not answer in time: try later.
    #[error("{address} cannot be reached: {message}")]
    Unreachable {
        /// Who.
        address: String,
        /// Why not.
        message: String,
    },
    /// It answered with an error: look at the service, or at the key.
    #[error("{address} answered with status {status}")]
    Status {
        /// Who.
        address: String,
        /// The status.
        status: u16,
    },
}

impl Network {
    /// Asks a service for a document, once.
    pub fn fetch(&self, address: &str, key: Option<&Key>, within: Duration) -> Result<Vec<u8>, ServiceError> {
        let url = Url::parse(address).map_err(|_| ServiceError::BadAddress(address.to_string()))?;
        // Whatever stands before an `@` may be a password.
        let shown = format!("{}://{}", url.scheme(), url.host_str().unwrap_or_default());
        let unreachable = |message: String| ServiceError::Unreachable { address: shown.clone(), message };
        let headers = key.and_then(|key| key.header(Protocol::Openai)).into_iter().collect();
        let outgoing =
            Outgoing { method: Method::GET, url, headers, body: Bytes::new(), max_answer: MAX_ANSWER };
        let exchange = self.wire.send(outgoing).map_err(&unreachable)?;
        let until = Instant::now() + within;
        let mut body = Vec::new();
        loop {
            match exchange.next(until, &Cancel::default()) {
                Ok(Arrival::Head(head)) if head.status == 200 => {}
                Ok(Arrival::Head(head)) => {
                    return Err(ServiceError::Status { address: shown, status: head.status });
                }
                Ok(Arrival::Chunk(chunk)) => body.extend_from_slice(&chunk),
                Ok(Arrival::End) => return Ok(body),
                Ok(Arrival::Unreachable(why) | Arrival::Fault(why)) => return Err(unreachable(why)),
                Err(_) => return Err(unreachable(format!("no answer within {} s", within.as_secs()))),
            }
        }
    }
}
