//! A model server that answers from a script, as a separate process, for the tests of other crates.
//!
//! ```text
//! ScriptedServer ── starts ──► scripted-server ── http.rs      requests and answers on loopback
//!   process.rs                   server.rs     ├─ question/    the request, independent of its protocol
//!                                              ├─ matching.rs  which rule answers it
//!                                              ├─ answer/      the reply in the form of the protocol
//!                                              └─ record.rs    counts and log
//! ```
//!
//! Owns the script's format and the three protocols as seen from the server: OpenAI chat completions, OpenAI
//! responses, Anthropic messages. Refuses to invent anything: every answer is in the script, and a request that no rule
//! matches is rejected with what was asked. It is never shipped and depends on no other crate of ours, so it cannot share
//! a misunderstanding with what it tests.
//!
//! Invariant: an answer depends only on the script and on the requests so far.

mod answer;
mod fingerprint;
mod http;
mod matching;
mod process;
mod question;
mod record;
mod script;
mod server;
mod shell_tool;

pub use process::{Calls, Options, ScriptedServer, StartError};
pub use question::Protocol;
pub use record::LogLine;
pub use script::{AfterLast, Fault, Reply, ReplyKind, Rule, Script, ScriptError, ToolCall, Usage};
pub use server::{ResponseFormat, ServeError, Settings, serve};

pub use fingerprint::FINGERPRINT;
