//! Language models behind HTTP endpoints, installed agents and scripts.
//!
//! Owns OpenAI's chat completions and Anthropic's Messages API, retries, usage and prices, and the way from a name in the
//! configuration to a model. Refuses to know what is asked and what answers mean, to read the environment of the process,
//! and to write logs: a key appears in no error, no `Debug` output and no file.
//!
//! The caller blocks on its own thread; a stop is noticed within a few hundredths of a second. All requests wait for the
//! network on one background thread.

mod agent_model;
mod agent_output;
mod anthropic;
mod breaker;
mod detect;
mod endpoint;
mod environment;
mod estimate;
mod http;
mod key;
mod name;
mod network;
mod openai;
mod options;
mod partial_reply;
mod prices;
mod providers;
mod request;
mod request_error;
mod resolver;
mod retry;
mod schema;
mod script;
mod scripted;
mod service;
mod setup_error;
mod sse;
mod thinking_cache;

pub use breaker::BreakerLimits;
pub use detect::{Availability, Candidate, DetectMode, Detected, detect};
pub use environment::{LocalPorts, ModelEnvironment, ProgramRunner};
pub use key::Key;
pub use network::{Network, NetworkLimits};
pub use resolver::Resolver;
pub use retry::Backoff;
pub use scripted::ScriptedModel;
pub use service::ServiceError;
pub use setup_error::SetupError;
