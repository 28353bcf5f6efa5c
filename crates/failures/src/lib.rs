//! What a test runner or a compiler said, as failures with fingerprints.
//!
//! Bytes go in as they come, in bounded memory; a [`Report`] comes out: failures, each with a fingerprint that stays
//! the same in another run, directory or order and after an unrelated edit; the tests seen passing and skipped; and
//! whether the run was cut short. The crate decides by its input alone: it reads no file, starts no process and asks no
//! clock. Nothing in it panics on any input.
//!
//! A [`CommandLine`] is the other end: the line that is run, changed so that its output tells everything.
//!
//! Where to begin: [`Parser`] for a stream, [`decide`] for a text. A new runner is a file in `runners/`, a line in
//! `detect.rs`, and recorded output in `fixtures/`.

mod collector;
mod command;
mod detect;
mod environment;
mod fingerprint;
mod general;
mod itemised;
mod lines;
mod normalise;
mod parser;
mod prefix;
mod question;
mod report;
mod runners;
mod search;
mod seen;
mod tail;

pub use command::{CommandLine, Coverage};
pub use environment::{environment_problem, python_package};
pub use normalise::{Normaliser, Text, Values};
pub use parser::{Options, Parser};
pub use question::{Answer, Question, decide};
pub use report::{Failure, Kind, Omitted, Report, Runner, TestId};
