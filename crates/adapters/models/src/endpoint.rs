//! A model behind an endpoint: the loop of requests until there is an answer or none will come.
//!
//! Owns the order of things: admission, a request, what its failure means, a pause, another. Refuses the network and
//! protocols, which have files of their own. Every request that was sent is in the usage, whatever became of it.
//!
//! Invariant: at most `max_requests` requests that fail for a reason that may pass, and one more for each part of a
//! request that an endpoint rejects; none after the deadline.

use std::sync::Arc;
use std::time::{Duration, Instant};

use fixpoint_ports::{AnswerForm, Cancel, Model, ModelError, ModelReply, ModelRequest, Unanswered};
use fixpoint_vocabulary::Redactor;
use fixpoint_vocabulary::settings::{Price, Protocol};
use fixpoint_vocabulary::usage::Usage;
use reqwest::Url;

use crate::breaker::{Admission, Seen};
use crate::draft::Draft;
use crate::faults::{Fault, Otherwise};
use crate::keepsakes::Keepsakes;
use crate::key::Key;
use crate::network::Network;
use crate::retry::{self, Backoff, Verdict};
use crate::shape::{Delivery, Feature, Shape};

/// A longer deadline is none.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);

/// Everything that is fixed about a model behind an endpoint.
#[derive(Debug, Clone)]
pub(crate) struct Terms {
    /// `provider/model`.
    pub(crate) name: String,
    /// The provider, for people.
    pub(crate) endpoint: String,
    /// The model, as the endpoint knows it.
    pub(crate) model: String,
    pub(crate) protocol: Protocol,
    /// The whole address.
    pub(crate) url: Url,
    pub(crate) key: Option<Key>,
    pub(crate) first_shape: Shape,
    pub(crate) price: Option<Price>,
    pub(crate) max_requests: u32,
}

/// A model behind an endpoint.
#[derive(Debug)]
pub struct EndpointModel {
    pub(crate) terms: Terms,
    pub(crate) network: Arc<Network>,
    pub(crate) redactor: Redactor,
    pub(crate) keepsakes: Keepsakes,
    /// The endpoint and the model, as what was learned about them is kept under.
    shape_key: String,
    breaker_key: String,
}

impl EndpointModel {
    pub(crate) fn new(terms: Terms, network: Arc<Network>) -> Self {
        let redactor = Key::redactor(terms.key.as_ref());
        let shape_key = format!("{} {}", terms.url, terms.model);
        let breaker_key = terms.url.origin().ascii_serialization();
        Self { terms, network, redactor, keepsakes: Keepsakes::default(), shape_key, breaker_key }
    }

    fn say(&self, error: Failure) -> ModelError {
        let endpoint = self.terms.endpoint.clone();
        match error {
            Failure::SignIn(message) => ModelError::SignIn { endpoint, message },
            Failure::NoCredit(message) => ModelError::NoCredit { endpoint, message },
            Failure::TooLong(message) => ModelError::TooLong { model: self.terms.name.clone(), message },
            Failure::Refused(message) => ModelError::Refused { endpoint, message },
            Failure::Unavailable(message) => ModelError::Unavailable { endpoint, message },
            Failure::TimedOut(within, message) => {
                ModelError::TimedOut { endpoint, seconds: within.as_secs(), message }
            }
            Failure::Cancelled => ModelError::Cancelled,
        }
    }

    fn reply(&self, draft: &Draft, mut usage: Usage) -> ModelReply {
        usage.cost = self.terms.price.as_ref().map(|price| price.of(&usage));
        let model = if draft.model.is_empty() { &self.terms.model } else { &draft.model };
        ModelReply {
            // A model that was shown a key, by whomever, must not hand it on.
            text: self.redactor.redact(&draft.text).to_string(),
            calls: draft.tool_calls(),
            stop: draft.stop_reason(),
            usage,
            model: model.clone(),
        }
    }
}

/// Why there is no answer.
enum Failure {
    SignIn(String),
    NoCredit(String),
    TooLong(String),
    Refused(String),
    Unavailable(String),
    TimedOut(Duration, String),
    Cancelled,
}

impl Failure {
    /// What the failure says about the endpoint. One that is too busy for as long as there was time is as good as down.
    fn seen(&self) -> Seen {
        match self {
            Self::SignIn(_) | Self::NoCredit(_) | Self::TooLong(_) | Self::Refused(_) => Seen::Alive,
            Self::Unavailable(_) | Self::TimedOut(..) => Seen::Dead,
            Self::Cancelled => Seen::Nothing,
        }
    }
}

/// A question while it is being asked.
struct Asking<'a> {
    model: &'a EndpointModel,
    request: &'a ModelRequest,
    deadline: Instant,
    backoff: Backoff,
    usage: Usage,
    /// Requests that failed for a reason that may pass.
    failed: u32,
    /// What the last of them said.
    last: String,
}

impl Asking<'_> {
    fn run(&mut self, cancel: &Cancel, heard: &mut dyn FnMut(&str)) -> Result<Draft, Failure> {
        let network = &self.model.network;
        loop {
            if cancel.is_asked() {
                return Err(Failure::Cancelled);
            }
            let shape = network.shapes.of(&self.model.shape_key, self.model.terms.first_shape);
            let once = self.model.once(self.request, shape, self.deadline, cancel, heard);
            self.usage += once.usage;
            let fault = match once.result {
                Ok(draft) => return Ok(draft),
                Err(fault) => fault,
            };
            match fault {
                Fault::Again { after, said } => self.wait(after, said, cancel)?,
                Fault::Unsupported { feature, said, otherwise } => {
                    match (self.less(shape, feature), otherwise) {
                        (Some(less), _) => network.shapes.remember(&self.model.shape_key, less),
                        (None, Otherwise::Again) => self.wait(None, said, cancel)?,
                        (None, Otherwise::Refused) => return Err(Failure::Refused(said)),
                    }
                }
                Fault::SignIn(said) => return Err(Failure::SignIn(said)),
                Fault::NoCredit(said) => return Err(Failure::NoCredit(said)),
                Fault::TooLong(said) => return Err(Failure::TooLong(said)),
                Fault::Refused(said) => return Err(Failure::Refused(said)),
                Fault::Cancelled => return Err(Failure::Cancelled),
                Fault::TimedOut => return Err(Failure::TimedOut(self.request.deadline, self.story())),
            }
        }
    }

    /// The shape without a feature, if the request has it.
    fn less(&self, shape: Shape, feature: Feature) -> Option<Shape> {
        let in_use = match feature {
            Feature::Schema => match self.request.form {
                AnswerForm::Text => false,
                AnswerForm::Json { .. } => true,
            },
            Feature::Limit => self.model.terms.protocol == Protocol::Openai,
            Feature::StreamUsage | Feature::Stream => shape.delivery == Delivery::Stream,
        };
        if in_use { shape.without(feature) } else { None }
    }

    /// Waits for the next request, or says why there is none.
    fn wait(&mut self, after: Option<Duration>, said: String, cancel: &Cancel) -> Result<(), Failure> {
        self.failed = self.failed.saturating_add(1);
        self.last = said;
        let pause = self.pause(after)?;
        crate::wire::pause(pause, cancel).map_err(|_| Failure::Cancelled)
    }

    /// The pause until the next request, or why there is none.
    fn pause(&self, after: Option<Duration>) -> Result<Duration, Failure> {
        let most = self.model.terms.max_requests.max(1);
        let left = self.deadline.saturating_duration_since(Instant::now());
        match retry::decide(self.backoff, self.failed, most, after, left) {
            Verdict::After(pause) => Ok(pause),
            Verdict::UsedUp | Verdict::NoTime => Err(Failure::Unavailable(self.story())),
            Verdict::LaterThanDeadline(asked) => {
                let seconds = asked.as_secs_f64().ceil();
                let story = self.story();
                Err(Failure::Unavailable(format!(
                    "it asks to come back in {seconds} s, which is after the deadline; {story}"
                )))
            }
        }
    }

    fn story(&self) -> String {
        match self.failed {
            0 => "no request failed before".to_string(),
            1 => format!("1 request failed: {}", self.last),
            many => format!("{many} requests failed, the last: {}", self.last),
        }
    }
}

impl Model for EndpointModel {
    fn name(&self) -> &str {
        &self.terms.name
    }

    fn price(&self) -> Option<Price> {
        self.terms.price.clone()
    }

    fn ask(
        &self,
        request: &ModelRequest,
        cancel: &Cancel,
        heard: &mut dyn FnMut(&str),
    ) -> Result<ModelReply, Unanswered> {
        let now = Instant::now();
        let deadline = now + request.deadline.min(LONGEST);
        match self.network.breakers.admit(&self.breaker_key, now, deadline) {
            Admission::Go => {}
            Admission::TurnedAway { failures, again_in } => {
                let seconds = again_in.as_secs_f64().ceil();
                let message = format!(
                    "not asked, since {failures} questions in a row came to nothing; it is tried again in {seconds} s"
                );
                let error = self.say(Failure::Unavailable(message));
                return Err(Unanswered { error, usage: Usage::default() });
            }
        }
        let mut asking = Asking {
            model: self,
            request,
            deadline,
            backoff: self.network.backoff(),
            usage: Usage::default(),
            failed: 0,
            last: String::new(),
        };
        let result = asking.run(cancel, heard);
        let seen = result.as_ref().map_or_else(Failure::seen, |_| Seen::Alive);
        self.network.breakers.report(&self.breaker_key, seen, Instant::now());
        let mut usage = asking.usage;
        match result {
            Ok(draft) => Ok(self.reply(&draft, usage)),
            Err(failure) => {
                usage.cost = self.terms.price.as_ref().map(|price| price.of(&usage));
                Err(Unanswered { error: self.say(failure), usage })
            }
        }
    }
}
