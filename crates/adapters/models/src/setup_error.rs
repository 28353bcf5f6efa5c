//! Why a role has no model, by what to change.

use std::path::PathBuf;

/// Why a role has no model. Each message says what to change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// Write another name under `models`, or install the agent it names.
    #[error("`{name}` cannot be used as a model: {problem}")]
    Name { name: String, problem: String },
    /// Correct the endpoint's address or its key.
    #[error("the endpoint `{endpoint}` cannot be used: {problem}")]
    Endpoint { endpoint: String, problem: String },
    /// Correct the file of scripted answers.
    #[error("the scripted answers in {} cannot be used: {problem}", .path.display())]
    Script { path: PathBuf, problem: String },
    /// `auto` found no key, no local server and no agent.
    #[error("no model found. {advice}")]
    NothingFound { advice: String },
}
