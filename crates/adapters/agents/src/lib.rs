//! The kinds of coding agents: the command line that makes each work through one task without a person, and reading its
//! output.
//!
//! Owns, for each kind, its flags, how its sessions are resumed, its events, and the variables its sign-in needs. Refuses
//! to start anything: it builds command lines and reads lines.
//!
//! Invariant: no output of an agent is lost, causes a panic, or takes more than a bounded amount of memory; and what an
//! agent says about its own success is never more than text.

mod agent;
mod agent_text;
mod arguments;
mod claude;
mod codex;
#[cfg(test)]
mod conformance;
mod generic;
mod json_lines;
mod progress;
mod sanitize;
mod stream;
mod transcript;

pub use agent::{
    Agent, CommandLine, EnvironmentNames, SessionUse, StdinUse, Turn, agent_for_program, agent_named,
};
pub use agent_text::{AgentText, MAX_AGENT_TEXT};
pub use claude::Claude;
pub use codex::Codex;
pub use generic::GenericAgent;
pub use progress::{Progress, Session, TurnOutcome};
pub use sanitize::{MAX_SUMMARY, MAX_TEXT};
pub use stream::{MAX_LINE, OutputStream, Reader};
pub use transcript::{MAX_ERRORS, Transcript};
