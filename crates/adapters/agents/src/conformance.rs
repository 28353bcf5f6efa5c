//! The rules that every kind of agent must follow, checked with recorded output of the real programs.
//!
//! Owns the rules about reading and about command lines. Refuses to know any kind: what is read from each recording is
//! compared with its expectation in `tests/it/recordings.rs`.

mod commands;
mod reading;

use core::fmt;

use crate::agent::Agent;
use crate::progress::Session;

pub(super) use commands::Abilities;

/// A recorded output.
#[derive(Debug, Clone)]
struct Sample {
    name: String,
    /// The session it resumes.
    session: Option<Session>,
    bytes: Vec<u8>,
}

/// A rule that was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Violation {
    rule: &'static str,
    sample: String,
    /// What happened instead.
    found: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({}): {}", self.rule, self.sample, self.found)
    }
}

impl core::error::Error for Violation {}

fn check(agent: &dyn Agent, abilities: Abilities, samples: &[Sample]) -> Result<(), Violation> {
    for sample in samples {
        reading::check(agent, sample)?;
    }
    if let Some(sample) = samples.first() {
        reading::check_once(agent, sample)?;
    }
    commands::check(agent, abilities)
}

fn ensure(
    holds: Option<()>,
    rule: &'static str,
    sample: &str,
    found: impl FnOnce() -> String,
) -> Result<(), Violation> {
    holds.ok_or_else(|| Violation { rule, sample: sample.to_string(), found: found() })
}

mod tests {
    use std::fs;
    use std::path::Path;

    use serde_json::Value;

    use super::*;
    use crate::{Claude, Codex, GenericAgent};

    /// Every recording of an agent. The expectation of a recording names the session it resumes.
    fn samples(agent: &str) -> Vec<Sample> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(agent);
        let mut samples = Vec::new();
        for version in fs::read_dir(root).unwrap() {
            for file in fs::read_dir(version.unwrap().path()).unwrap() {
                let path = file.unwrap().path();
                if path.extension().is_some_and(|extension| extension == "jsonl") {
                    let expected = fs::read_to_string(path.with_extension("expected.json")).unwrap();
                    let expected: Value = serde_json::from_str(&expected).unwrap();
                    let session = expected.get("resumes").and_then(|session| {
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
    fn claude_follows_every_rule() {
        check(&Claude, Abilities::SessionsAndModels, &samples("claude")).unwrap();
    }

    #[test]
    fn codex_follows_every_rule() {
        check(&Codex, Abilities::SessionsAndModels, &samples("codex")).unwrap();
    }

    #[test]
    fn any_command_follows_every_rule() {
        let samples = [samples("claude"), samples("codex")].concat();
        check(&GenericAgent, Abilities::None, &samples).unwrap();
    }
}
