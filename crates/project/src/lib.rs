//! What a repository is made of, found by looking at its files: its checks, its set-up, and the agents installed.
//!
//! [`look`] reads manifests and answers with the commands that test the project, each with the file it was concluded
//! from; [`config_yaml`] writes them as a commented configuration; [`agents`] lists coding agents that are installed.
//!
//! Refuses to run anything and to change anything: it reads at most a mebibyte of a few well-known files. What git
//! ignores and where programs lie, the caller says.
//!
//! Invariant: no file makes it fail. What cannot be read or understood becomes a note that names the file, and the
//! same files always give the same answer.

mod agents;
mod ecosystems;
mod files;
mod found;
mod gathering;
mod look;
mod place;
mod private_files;
mod quoting;
#[cfg(test)]
mod tests;
mod yaml;

pub use agents::{FoundAgent, PromptBy, agent, agents};
pub use files::{Directory, Files, MAX_FILE_BYTES};
pub use found::{Found, FoundCheck};
pub use look::look;
pub use yaml::config_yaml;
