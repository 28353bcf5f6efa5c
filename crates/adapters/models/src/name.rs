//! Names of models, as people write them in the configuration.
//!
//! Owns the grammar: `auto`, `provider/model`, `agent:claude`, `scripted:PATH`. Refuses to know whether what is named is
//! there.

use std::path::PathBuf;

use crate::error::SetupError;

/// An agent whose command line can serve as a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AgentProgram {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
}

impl AgentProgram {
    /// In the order in which they are looked for.
    pub const ALL: [Self; 2] = [Self::Claude, Self::Codex];

    /// The program.
    pub const fn program(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }
}

/// A name, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelName {
    /// Whatever there is.
    Auto,
    /// A model of an endpoint.
    At {
        /// The endpoint, of the configuration or a known one.
        endpoint: String,
        /// The model, as the endpoint knows it.
        model: String,
    },
    /// An installed agent.
    Agent(AgentProgram),
    /// Answers out of a file.
    Scripted(PathBuf),
}

impl ModelName {
    /// Reads a name.
    pub fn parse(name: &str) -> Result<Self, SetupError> {
        let unreadable = || SetupError::UnreadableName { name: name.to_string() };
        let trimmed = name.trim();
        if trimmed == "auto" {
            return Ok(Self::Auto);
        }
        if let Some(program) = trimmed.strip_prefix("agent:") {
            let known = AgentProgram::ALL.into_iter().find(|agent| agent.program() == program);
            return known
                .map(Self::Agent)
                .ok_or_else(|| SetupError::UnknownAgent { name: program.to_string() });
        }
        if let Some(path) = trimmed.strip_prefix("scripted:") {
            return if path.is_empty() { Err(unreadable()) } else { Ok(Self::Scripted(path.into())) };
        }
        match trimmed.split_once('/') {
            Some((endpoint, model)) if !endpoint.is_empty() && !model.is_empty() => {
                Ok(Self::At { endpoint: endpoint.to_string(), model: model.to_string() })
            }
            _ => Err(unreadable()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart() {
        let at =
            |endpoint: &str, model: &str| ModelName::At { endpoint: endpoint.into(), model: model.into() };
        for (name, expected) in [
            ("auto", Some(ModelName::Auto)),
            ("openai/gpt-5", Some(at("openai", "gpt-5"))),
            ("openrouter/anthropic/claude-sonnet-5", Some(at("openrouter", "anthropic/claude-sonnet-5"))),
            ("ollama/qwen3:8b", Some(at("ollama", "qwen3:8b"))),
            ("agent:claude", Some(ModelName::Agent(AgentProgram::Claude))),
            ("agent:codex", Some(ModelName::Agent(AgentProgram::Codex))),
            ("agent:cursor", None),
            ("scripted:a/b.json", Some(ModelName::Scripted("a/b.json".into()))),
            ("scripted:", None),
            ("gpt-5", None),
            ("openai/", None),
            ("/x", None),
            ("", None),
        ] {
            assert_eq!(ModelName::parse(name).ok(), expected, "{name}");
        }
    }
}
