//! The words Fixpoint is written in, used the same in code, command line, documents and JSON.
//!
//! Owns identifiers, quantities, states, causes, reasons and the typed settings that decisions take.
//! Refuses logic and input/output: nothing here decides anything. The crate is `no_std`, so that neither it
//! nor what is built on it can reach a file, a clock or the environment by accident.

#![no_std]

extern crate alloc;

pub mod ask;
mod cause;
mod check_report;
mod counted;
pub mod documents;
mod environment;
mod failure;
mod ids;
mod prelude;
pub mod prepared;
mod reason;
pub mod run_spec;
mod score;
pub mod secret;
pub mod settings;
mod task;
pub mod usage;
pub mod work;

pub use cause::Cause;
pub use counted::{counted, grouped};
pub use environment::{EnvironmentCause, EnvironmentProblem};
pub use reason::{Lang, Localize, Reason, Text};
pub use score::{Score, ScoreError};
pub use secret::{Redacted, RedactionStream, Redactor};
pub use task::{TaskId, TaskState};
