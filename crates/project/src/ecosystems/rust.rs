//! Rust: `Cargo.toml`, and nextest where the project configures it.

use super::Detected;
use crate::findings::Findings;
use crate::project_directory::ProjectDirectory;

const MANIFEST: &str = "Cargo.toml";
const NEXTEST: &str = ".config/nextest.toml";

pub(crate) fn detect(dir: &ProjectDirectory<'_>, findings: &mut Findings) -> Detected {
    if !dir.exists(MANIFEST) {
        return Detected::Nothing;
    }
    let Some(manifest) = dir.toml(MANIFEST, findings) else { return Detected::Project };
    // Without it, cargo tests only the root package of a workspace that has one.
    let members = if manifest.contains_key("workspace") { " --workspace" } else { "" };
    let (command, runner, because): (_, _, &[&str]) = if dir.exists(NEXTEST) {
        ("cargo nextest run", "nextest", &[MANIFEST, NEXTEST])
    } else {
        ("cargo test", "cargo_test", &[MANIFEST])
    };
    findings.test(dir, "rust", &format!("{command}{members}"), Some(runner), because);
    Detected::Project
}
