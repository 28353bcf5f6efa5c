//! Elixir: `mix.exs`.

use super::Detected;
use crate::findings::{Findings, Proposal, Purpose};
use crate::project_directory::ProjectDirectory;

pub(crate) fn detect(dir: &ProjectDirectory<'_>, findings: &mut Findings) -> Detected {
    if !dir.exists("mix.exs") {
        return Detected::Nothing;
    }
    findings.setup(dir, "mix deps.get");
    findings.check(
        dir,
        Proposal {
            purpose: Purpose::Test,
            ecosystem: "elixir",
            command: "mix test".to_string(),
            runner: None,
            because: vec!["mix.exs".to_string()],
        },
    );
    Detected::Project
}
