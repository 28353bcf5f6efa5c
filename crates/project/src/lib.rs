//! Detects from its files how a project is tested and set up, and which coding agents are installed.
//!
//! [`detect`] reads manifests and gives the commands that test the project, each with the files that led to it;
//! [`config_yaml`] writes them as a commented configuration; [`installed_agents`] lists coding agents.
//!
//! Runs nothing and changes nothing; reads at most a mebibyte of a few well-known files. The caller says what git ignores
//! and where programs are.
//!
//! Invariant: no file makes it fail. What cannot be read or understood becomes a note that names the file, and the same
//! files always give the same result.

mod agents;
mod detect;
mod detected;
mod ecosystems;
mod files;
mod findings;
mod private_files;
mod project_directory;
mod shell_quoting;
#[cfg(test)]
mod tests;
mod yaml;

pub use agents::{InstalledAgent, installed_agents, known_agent};
pub use detect::detect;
pub use detected::{DetectedCheck, DetectedProject, Skipped, UnusableCheck};
pub use files::{Directory, Files, MAX_FILE_BYTES};
pub use yaml::config_yaml;
