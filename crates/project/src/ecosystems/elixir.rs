//! Elixir: `mix.exs`.

use super::Detected;
use crate::findings::Findings;
use crate::project_directory::ProjectDirectory;

pub(crate) fn detect(dir: &ProjectDirectory<'_>, findings: &mut Findings) -> Detected {
    if !dir.exists("mix.exs") {
        return Detected::Nothing;
    }
    // Without Hex, `mix deps.get` asks whether to install it.
    findings.setup(dir, "mix local.hex --force --if-missing");
    let filling = dir.filling("mix deps.get", "deps");
    // Without dependencies, there is no such directory.
    findings.setup(dir, &filling.replacen(" && ", " && mkdir -p deps && ", 1));
    findings.test(dir, "elixir", "mix test", None, &["mix.exs"]);
    Detected::Project
}
