//! The promises of a kind of agent, as a test that any kind can be held to with streams recorded from the real thing.
//!
//! Owns what every kind promises about reading and about command lines. Refuses to know any kind: what its events
//! say is compared with what was expected of each recording, elsewhere.

mod commands;
mod reading;

use core::fmt;

use crate::agent::Agent;
use crate::progress::Session;

pub use commands::Abilities;

/// A recorded stream.
#[derive(Debug, Clone)]
pub struct Sample {
    /// What it is called in a report.
    pub name: String,
    /// The session it continues.
    pub session: Option<Session>,
    /// What the agent printed.
    pub bytes: Vec<u8>,
}

/// A promise that was not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// What was promised.
    pub promise: &'static str,
    /// With what.
    pub sample: String,
    /// What happened instead.
    pub found: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({}): {}", self.promise, self.sample, self.found)
    }
}

impl core::error::Error for Violation {}

/// Holds a kind of agent to every promise.
pub fn uphold(agent: &dyn Agent, abilities: Abilities, samples: &[Sample]) -> Result<(), Violation> {
    for sample in samples {
        reading::uphold(agent, sample)?;
    }
    if let Some(sample) = samples.first() {
        reading::uphold_once(agent, sample)?;
    }
    commands::uphold(agent, abilities)
}

/// Says that a promise was not kept where it was not.
fn ensure(
    kept: Option<()>,
    promise: &'static str,
    sample: &str,
    found: impl FnOnce() -> String,
) -> Result<(), Violation> {
    kept.ok_or_else(|| Violation { promise, sample: sample.to_string(), found: found() })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use serde_json::Value;

    use super::*;
    use crate::{Claude, Codex, Command};

    /// Every recording of an agent. Where one continues a session, what is expected of it says which.
    fn samples(agent: &str) -> Vec<Sample> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(agent);
        let mut samples = Vec::new();
        for version in fs::read_dir(root).unwrap() {
            for file in fs::read_dir(version.unwrap().path()).unwrap() {
                let path = file.unwrap().path();
                if path.extension().is_some_and(|extension| extension == "jsonl") {
                    let expected = fs::read_to_string(path.with_extension("expected.json")).unwrap();
                    let expected: Value = serde_json::from_str(&expected).unwrap();
                    let session = expected.get("continues").and_then(|session| {
                        let used = serde_json::from_value(session.get("used")?.clone()).ok()?;
                        Some(Session { id: session.get("id")?.as_str()?.to_string(), used })
                    });
                    let name = path.display().to_string();
                    samples.push(Sample { name, session, bytes: fs::read(&path).unwrap() });
                }
            }
        }
        assert!(samples.len() > 5, "recordings of {agent} are missing");
        samples
    }

    #[test]
    fn claude_keeps_every_promise() {
        uphold(&Claude, Abilities::SessionsAndModels, &samples("claude")).unwrap();
    }

    #[test]
    fn codex_keeps_every_promise() {
        uphold(&Codex, Abilities::SessionsAndModels, &samples("codex")).unwrap();
    }

    #[test]
    fn any_command_keeps_every_promise() {
        let samples = [samples("claude"), samples("codex")].concat();
        uphold(&Command, Abilities::None, &samples).unwrap();
    }
}
