//! The kinds of coding agents: the command line that makes each work through one task without asking anybody, and
//! what its output says while it does.
//!
//! Owns, for each kind, its flags, how its sessions are continued, its events, and the variables its sign-in needs.
//! Refuses to start anything: it builds command lines and reads lines, and is handed everything it knows.
//!
//! Invariant: nothing an agent prints is lost, makes us panic, or takes more than a bounded amount of memory; and
//! nothing it says about its own success is more than words.

mod agent;
mod arguments;
mod claude;
mod codex;
mod command;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod events;
mod progress;
mod said;
mod shortening;
mod stream;
mod transcript;

pub use agent::{
    Agent, CommandLine, Continuation, Permissions, SessionReach, StdinUse, Turn, TurnLimits, User, Variables,
    agents, named, of_program,
};
pub use claude::Claude;
pub use codex::Codex;
pub use command::Command;
pub use progress::{Outcome, Progress, Session};
pub use said::{MOST_SAID, Said};
pub use shortening::{LONGEST_SUMMARY, LONGEST_TEXT};
pub use stream::{LONGEST_LINE, Reader, Stream};
pub use transcript::{MOST_ERRORS, Transcript};
