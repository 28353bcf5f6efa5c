//! A model behind an HTTP endpoint: requests are repeated until there is an answer or none will come.
//!
//! Owns the loop: ask the circuit breaker, send a request, classify its failure, pause, send another. Refuses the network
//! and the protocols, which have files of their own. Every request that was sent is in the usage, however it ended.
//!
//! Invariant: at most `max_requests` requests fail with an error that may pass, plus one for each part of a request that
//! the endpoint rejects; none is sent after the deadline.

use std::sync::Arc;
use std::time::{Duration, Instant};

use fixpoint_ports::{AnswerFormat, Cancel, Model, ModelError, ModelFailure, ModelReply, ModelRequest};
use fixpoint_vocabulary::Redactor;
use fixpoint_vocabulary::settings::{Price, Protocol};
use fixpoint_vocabulary::usage::Usage;
use reqwest::Url;

use crate::breaker::{Admission, EndpointHealth};
use crate::http;
use crate::key::Key;
use crate::network::Network;
use crate::options::{Delivery, Feature, RequestOptions};
use crate::partial_reply::PartialReply;
use crate::request_error::{IfUnused, RequestError};
use crate::retry::{self, Backoff, RetryDecision};
use crate::thinking_cache::ThinkingCache;

/// A longer deadline is shortened to this.
const MAX_DEADLINE: Duration = Duration::from_secs(7 * 24 * 3600);

#[derive(Debug, Clone)]
pub(crate) struct EndpointConfig {
    /// `provider/model`.
    pub(crate) name: String,
    /// The provider, for messages.
    pub(crate) endpoint: String,
    /// The model, as the endpoint calls it.
    pub(crate) model: String,
    pub(crate) protocol: Protocol,
    /// The complete address, path included.
    pub(crate) url: Url,
    pub(crate) key: Option<Key>,
    pub(crate) initial_options: RequestOptions,
    pub(crate) price: Option<Price>,
    pub(crate) max_requests: u32,
}

#[derive(Debug)]
pub(crate) struct EndpointModel {
    pub(crate) config: EndpointConfig,
    pub(crate) network: Arc<Network>,
    pub(crate) redactor: Redactor,
    pub(crate) thinking: ThinkingCache,
    /// The endpoint and the model: what they accept is remembered under this key.
    options_key: String,
    breaker_key: String,
}

impl EndpointModel {
    pub(crate) fn new(config: EndpointConfig, network: Arc<Network>) -> Self {
        let redactor = Key::redactor(config.key.as_ref());
        let options_key = format!("{} {}", config.url, config.model);
        let breaker_key = config.url.origin().ascii_serialization();
        Self { config, network, redactor, thinking: ThinkingCache::default(), options_key, breaker_key }
    }

    fn reply(&self, partial: &PartialReply, mut usage: Usage) -> ModelReply {
        usage.cost = self.config.price.as_ref().map(|price| price.of(&usage));
        let model = if partial.model.is_empty() { &self.config.model } else { &partial.model };
        ModelReply {
            // A model that saw a key, wherever it came from, must not pass it on.
            text: self.redactor.redact(&partial.text).to_string(),
            calls: partial.tool_calls(),
            stop: partial.stop_reason(),
            usage,
            model: model.clone(),
        }
    }
}

/// What an error says about the endpoint. One that stays too busy until the deadline counts as down.
fn health_after(error: &ModelError) -> EndpointHealth {
    match error {
        ModelError::SignIn { .. }
        | ModelError::NoCredit { .. }
        | ModelError::TooLong { .. }
        | ModelError::Refused { .. } => EndpointHealth::Alive,
        ModelError::Unavailable { .. } | ModelError::TimedOut { .. } => EndpointHealth::Down,
        ModelError::Cancelled => EndpointHealth::Unknown,
    }
}

/// One call of the model, over all its requests.
struct ModelCall<'a> {
    model: &'a EndpointModel,
    request: &'a ModelRequest,
    deadline: Instant,
    backoff: Backoff,
    usage: Usage,
    /// Requests that failed with an error that may pass.
    failed: u32,
    last_failure: String,
}

impl ModelCall<'_> {
    fn run(&mut self, cancel: &Cancel, on_text: &mut dyn FnMut(&str)) -> Result<PartialReply, ModelError> {
        let EndpointModel { network, config, options_key, .. } = self.model;
        loop {
            if cancel.is_asked() {
                return Err(ModelError::Cancelled);
            }
            let options = network.known_options.get(options_key, config.initial_options);
            let sent = self.model.send_request(self.request, options, self.deadline, cancel, on_text);
            self.usage += sent.usage;
            match sent.result {
                Ok(partial) => return Ok(partial),
                Err(RequestError::Retry { after, message }) => self.wait(after, message, cancel)?,
                Err(RequestError::Unsupported { feature, message, if_unused }) => {
                    match (self.options_without(options, feature), if_unused) {
                        (Some(reduced), _) => network.known_options.remember(options_key, reduced),
                        (None, IfUnused::Retry) => self.wait(None, message, cancel)?,
                        (None, IfUnused::Refused) => return Err(self.error(RequestError::Refused(message))),
                    }
                }
                Err(error) => return Err(self.error(error)),
            }
        }
    }

    fn error(&self, error: RequestError) -> ModelError {
        let config = &self.model.config;
        error.into_model_error(&config.endpoint, &config.name, self.request.deadline, &self.failures())
    }

    /// The options without a feature, if this request uses it.
    fn options_without(&self, options: RequestOptions, feature: Feature) -> Option<RequestOptions> {
        let is_used = match feature {
            Feature::Schema => matches!(self.request.format, AnswerFormat::Json { .. }),
            Feature::Limit => self.model.config.protocol == Protocol::Openai,
            Feature::StreamUsage | Feature::Stream => options.delivery == Delivery::Stream,
        };
        if is_used { options.without(feature) } else { None }
    }

    /// Waits before the next request, or says why there is none.
    fn wait(&mut self, after: Option<Duration>, message: String, cancel: &Cancel) -> Result<(), ModelError> {
        self.failed = self.failed.saturating_add(1);
        self.last_failure = message;
        let pause = self.pause(after)?;
        http::sleep(pause, cancel).map_err(|_| ModelError::Cancelled)
    }

    fn pause(&self, after: Option<Duration>) -> Result<Duration, ModelError> {
        let unavailable =
            |message| Err(ModelError::Unavailable { endpoint: self.model.config.endpoint.clone(), message });
        let max_requests = self.model.config.max_requests.max(1);
        let left = self.deadline.saturating_duration_since(Instant::now());
        match retry::decide(self.backoff, self.failed, max_requests, after, left) {
            RetryDecision::After(pause) => Ok(pause),
            RetryDecision::OutOfRequests | RetryDecision::OutOfTime => unavailable(self.failures()),
            RetryDecision::LaterThanDeadline(asked) => {
                let seconds = asked.as_secs_f64().ceil();
                unavailable(format!(
                    "it asks to retry in {seconds} s, which is after the deadline; {}",
                    self.failures()
                ))
            }
        }
    }

    fn failures(&self) -> String {
        match self.failed {
            0 => "no request failed before that".to_string(),
            1 => format!("1 request failed: {}", self.last_failure),
            many => format!("{many} requests failed, the last one: {}", self.last_failure),
        }
    }
}

impl Model for EndpointModel {
    fn name(&self) -> &str {
        &self.config.name
    }

    fn price(&self) -> Option<Price> {
        self.config.price.clone()
    }

    fn ask(
        &self,
        request: &ModelRequest,
        cancel: &Cancel,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<ModelReply, ModelFailure> {
        let now = Instant::now();
        let deadline = now + request.deadline.min(MAX_DEADLINE);
        match self.network.breakers.admit(&self.breaker_key, now, deadline) {
            Admission::Allowed => {}
            Admission::Blocked { failures, retry_in } => {
                let seconds = retry_in.as_secs_f64().ceil();
                let message = format!(
                    "no request was sent after {failures} failed calls in a row; next try in {seconds} s"
                );
                let error = ModelError::Unavailable { endpoint: self.config.endpoint.clone(), message };
                return Err(ModelFailure { error, usage: Usage::default() });
            }
        }
        let mut call = ModelCall {
            model: self,
            request,
            deadline,
            backoff: self.network.next_backoff(),
            usage: Usage::default(),
            failed: 0,
            last_failure: String::new(),
        };
        let result = call.run(cancel, on_text);
        let health = result.as_ref().map_or_else(health_after, |_| EndpointHealth::Alive);
        self.network.breakers.report(&self.breaker_key, health, Instant::now());
        let mut usage = call.usage;
        match result {
            Ok(partial) => Ok(self.reply(&partial, usage)),
            Err(error) => {
                usage.cost = self.config.price.as_ref().map(|price| price.of(&usage));
                Err(ModelFailure { error, usage })
            }
        }
    }
}
