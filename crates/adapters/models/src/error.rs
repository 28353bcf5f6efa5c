//! Why a role has no model, by what to change.

use std::path::PathBuf;

/// Why a role has no model. Each says what to set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// The name has no form of a name: write another.
    #[error(
        "`{name}` names no model: write `provider/model`, such as `openai/gpt-5.4` or `ollama/qwen3`, or `auto`"
    )]
    UnreadableName {
        /// As it was written.
        name: String,
    },
    /// Nobody knows the endpoint: name it in the configuration, or write another.
    #[error(
        "no endpoint is called `{name}`: known are {known}; others are set under `models.endpoints.{name}`"
    )]
    UnknownEndpoint {
        /// As it was written.
        name: String,
        /// Those that are known.
        known: String,
    },
    /// This agent cannot serve as a model.
    #[error("the agent `{name}` cannot serve as a model: `agent:claude` and `agent:codex` can")]
    UnknownAgent {
        /// As it was written.
        name: String,
    },
    /// A key is missing: set the variable.
    #[error("{endpoint} needs a key: set the environment variable {variable}")]
    KeyMissing {
        /// Whose.
        endpoint: String,
        /// The variable.
        variable: String,
    },
    /// What the variable or the command gave is no key.
    #[error("what {source_of_key} gives for {endpoint} is no key: {why}")]
    KeyUnusable {
        /// Whose.
        endpoint: String,
        /// The variable or the command.
        source_of_key: String,
        /// Why not; the value is not shown.
        why: String,
    },
    /// The address cannot be used: correct it.
    #[error("the address of {endpoint} cannot be used: {why}")]
    Address {
        /// Whose.
        endpoint: String,
        /// Why not.
        why: String,
    },
    /// The program is not on the path: install it, or name another model.
    #[error("`{program}` is not on the PATH: install it, or name another model")]
    AgentMissing {
        /// The program.
        program: String,
    },
    /// A script of answers cannot be used.
    #[error("the scripted answers in {} cannot be used: {why}", .path.display())]
    Script {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// Nothing was found: what to do is said.
    #[error("no model was found. {advice}")]
    NothingFound {
        /// What to do.
        advice: String,
    },
}
