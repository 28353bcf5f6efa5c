//! Language models behind endpoints, installed agents and scripts, asked one question at a time.
//!
//! Owns OpenAI's chat completions and Anthropic's messages, repetition after failures, usage and prices, and the way from
//! a name in the configuration to a model. Refuses to know what is asked and what answers mean, to read the environment
//! of the process, and to write anything down: a key appears in no error, no `Debug` and no file.
//!
//! The caller blocks on its own thread and is seen to within a few hundredths of a second when it asks to stop. All
//! requests wait for the network on one background thread.

mod agent_model;
mod agent_output;
mod anthropic;
mod breaker;
mod detect;
mod draft;
mod endpoint;
mod error;
mod estimate;
mod faults;
mod keepsakes;
mod key;
mod name;
mod network;
mod once;
mod openai;
mod prices;
mod providers;
mod retry;
mod roles;
mod schema;
mod script;
mod scripted;
mod service;
mod shape;
mod sse;
mod surroundings;
mod wire;

pub use agent_model::AgentModel;
pub use breaker::BreakerLimits;
pub use detect::{Choice, Detected, Finding, Sight, Thoroughness, detect};
pub use endpoint::EndpointModel;
pub use error::SetupError;
pub use estimate::{tokens_of, tokens_of_request, worst_case};
pub use key::Key;
pub use name::{AgentProgram, ModelName};
pub use network::{Network, NetworkLimits};
pub use retry::Backoff;
pub use roles::{Resolver, Roles};
pub use scripted::Scripted;
pub use service::ServiceError;
pub use surroundings::{Ports, ProgramRunner, Surroundings};
