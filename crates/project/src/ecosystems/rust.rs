//! Rust: `Cargo.toml`, and nextest where the project configures it.

use super::Seen;
use crate::gathering::{Gathering, Proposal, Purpose};
use crate::place::Place;

const MANIFEST: &str = "Cargo.toml";
const NEXTEST: &str = ".config/nextest.toml";

pub(crate) fn look(place: &Place<'_>, gathering: &mut Gathering) -> Seen {
    if !place.exists(MANIFEST) {
        return Seen::Nothing;
    }
    let Some(manifest) = place.toml(MANIFEST, gathering) else { return Seen::Project };
    // Without it, cargo tests only the root package of a workspace that has one.
    let members = if manifest.contains_key("workspace") { " --workspace" } else { "" };
    let (command, runner, because) = if place.exists(NEXTEST) {
        ("cargo nextest run", "nextest", vec![MANIFEST.to_string(), NEXTEST.to_string()])
    } else {
        ("cargo test", "cargo_test", vec![MANIFEST.to_string()])
    };
    gathering.check(
        place,
        Proposal {
            purpose: Purpose::Test,
            ecosystem: "rust",
            command: format!("{command}{members}"),
            runner: Some(runner),
            because,
        },
    );
    Seen::Project
}
