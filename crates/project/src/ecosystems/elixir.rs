//! Elixir: `mix.exs`.

use super::Detected;
use crate::findings::Findings;
use crate::project_directory::ProjectDirectory;

pub(crate) fn detect(dir: &ProjectDirectory<'_>, findings: &mut Findings) -> Detected {
    if !dir.exists("mix.exs") {
        return Detected::Nothing;
    }
    findings.setup(dir, "mix deps.get");
    findings.test(dir, "elixir", "mix test", None, &["mix.exs"]);
    Detected::Project
}
