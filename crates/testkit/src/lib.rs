//! What tests of several crates need: a model server that plays a script, as a process of its own.
//!
//! ```text
//! ScriptedServer ── starts ──► scripted-server ── http.rs      requests and answers on loopback
//!   process.rs                   server.rs     ├─ asked/       what a request asks, whatever its protocol
//!                                              ├─ play.rs      which rule answers it
//!                                              ├─ answer/      the reply in the words of the protocol
//!                                              └─ record.rs    counts and log
//! ```
//!
//! Owns the script's format and the three protocols as seen from the server: OpenAI chat completions, OpenAI
//! responses, Anthropic messages. Refuses judgement: every word it says is in the script, and a request that no rule
//! is made for is refused with what was asked. It is never shipped and knows no other crate of ours, so it cannot
//! share a misunderstanding with what it tests.
//!
//! Invariant: what is answered depends on the script and on the requests so far, on nothing else.

mod answer;
mod asked;
mod fingerprint;
mod http;
mod play;
mod process;
mod record;
mod script;
mod server;
mod shell_tool;

pub use asked::Protocol;
pub use process::{Calls, Options, ScriptedServer, StartError};
pub use record::LogLine;
pub use script::{After, Fault, Reply, Rule, Say, Script, ScriptError, ToolCall, Usage};
pub use server::{FormSupport, ServeError, Settings, serve};

pub use fingerprint::FINGERPRINT;
