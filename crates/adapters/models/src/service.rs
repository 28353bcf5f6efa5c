//! The one other use of the HTTP client: fetching a JSON document, such as a person's settings, from a service.

use std::time::{Duration, Instant};

use bytes::Bytes;
use fixpoint_ports::Cancel;
use fixpoint_vocabulary::settings::Protocol;
use reqwest::{Method, Url};

use crate::http::{HttpRequest, ResponsePart};
use crate::key::Key;
use crate::network::Network;

/// The largest document that is accepted, in bytes.
const MAX_ANSWER: u64 = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{address}: {problem}")]
pub struct ServiceError {
    /// The address without anything that could be a password.
    pub address: String,
    pub problem: String,
}

impl Network {
    /// Fetches a document, without retrying.
    pub fn fetch(
        &self,
        address: &str,
        key: Option<&Key>,
        timeout: Duration,
    ) -> Result<Vec<u8>, ServiceError> {
        let invalid = |_| ServiceError {
            address: address.rsplit('@').next().unwrap_or_default().to_string(),
            problem: "this is not a valid URL".to_string(),
        };
        let url = Url::parse(address).map_err(invalid)?;
        // The part before an `@` may be a password.
        let shown = format!("{}://{}", url.scheme(), url.host_str().unwrap_or_default());
        let failed = |problem: String| ServiceError { address: shown.clone(), problem };
        let headers = key.and_then(|key| key.header(Protocol::Openai)).into_iter().collect();
        let request =
            HttpRequest { method: Method::GET, url, headers, body: Bytes::new(), max_answer: MAX_ANSWER };
        let response = self.http.send(request).map_err(&failed)?;
        let until = Instant::now() + timeout;
        let mut body = Vec::new();
        loop {
            match response.next(until, &Cancel::default()) {
                Ok(ResponsePart::Head(head)) if head.status == 200 => {}
                Ok(ResponsePart::Head(head)) => {
                    return Err(failed(format!("it answered with status {}", head.status)));
                }
                Ok(ResponsePart::Chunk(chunk)) => body.extend_from_slice(&chunk),
                Ok(ResponsePart::End) => return Ok(body),
                Ok(ResponsePart::Unreachable(why) | ResponsePart::Broken(why)) => return Err(failed(why)),
                Err(_) => return Err(failed(format!("no answer within {} s", timeout.as_secs()))),
            }
        }
    }
}
