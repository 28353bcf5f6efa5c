//! Names of models, as people write them in the configuration.
//!
//! Owns the syntax: `auto`, `provider/model`, `agent:claude`, `scripted:PATH`. Refuses to check whether the model exists.

use std::path::PathBuf;

use crate::setup_error::SetupError;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AgentProgram {
    Claude,
    Codex,
}

impl AgentProgram {
    /// In the order in which `auto` looks for them.
    pub(crate) const ALL: [Self; 2] = [Self::Claude, Self::Codex];

    pub(crate) const fn program(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ModelName {
    /// The first that is available.
    Auto,
    Endpoint {
        /// A configured endpoint or a known provider.
        endpoint: String,
        model: String,
    },
    Agent(AgentProgram),
    /// A file of scripted answers.
    Scripted(PathBuf),
}

impl ModelName {
    pub(crate) fn parse(name: &str) -> Result<Self, SetupError> {
        let trimmed = name.trim();
        if trimmed == "auto" {
            return Ok(Self::Auto);
        }
        if let Some(program) = trimmed.strip_prefix("agent:") {
            let known = AgentProgram::ALL.into_iter().find(|agent| agent.program() == program);
            return known.map(Self::Agent).ok_or_else(|| SetupError::Name {
                name: name.to_string(),
                problem: "only `agent:claude` and `agent:codex` are supported".to_string(),
            });
        }
        if let Some(path) = trimmed.strip_prefix("scripted:") {
            return if path.is_empty() { Err(not_a_model(name)) } else { Ok(Self::Scripted(path.into())) };
        }
        match trimmed.split_once('/') {
            Some((endpoint, model)) if !endpoint.is_empty() && !model.is_empty() => {
                Ok(Self::Endpoint { endpoint: endpoint.to_string(), model: model.to_string() })
            }
            _ => Err(not_a_model(name)),
        }
    }
}

pub(crate) fn not_a_model(name: &str) -> SetupError {
    let problem = "write `provider/model`, such as `openai/gpt-5.4` or `ollama/qwen3`, or `auto`";
    SetupError::Name { name: name.to_string(), problem: problem.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed() {
        let at = |endpoint: &str, model: &str| ModelName::Endpoint {
            endpoint: endpoint.into(),
            model: model.into(),
        };
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
