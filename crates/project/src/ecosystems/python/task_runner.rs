//! tox and nox: used only where the tests cannot be run directly, since they build environments of their own.

use fixpoint_vocabulary::Text;

use super::evidence::Runner;
use super::manifests::{Manifests, has_section, ini_section};
use crate::ecosystems::Detected;
use crate::findings::Findings;
use crate::project_directory::ProjectDirectory;

const NOX: &str = "noxfile.py";
const TOX: &str = "tox.ini";

/// Proposes tox or nox for a project whose tests are not found in any other way.
pub(super) fn propose(
    dir: &ProjectDirectory<'_>,
    manifests: &Manifests,
    findings: &mut Findings,
) -> Detected {
    let tox = manifests.tox.as_deref().unwrap_or_default();
    let has_commands = ini_section(tox, "[testenv]").iter().any(|(key, _)| key == "commands");
    let nox = dir.optional_text(NOX, findings);
    let session = nox.as_deref().and_then(test_session);
    let (tool, arguments, file) = match session {
        _ if has_commands => ("tox", "-e py".to_string(), TOX),
        Some(session) => ("nox", format!("-s {session}"), NOX),
        None => return Detected::Nothing,
    };
    findings.setup(dir, &dir.filling("python3 -m venv .venv", ".venv"));
    findings.setup(dir, &format!(".venv/bin/pip install {tool}"));
    findings.test(dir, "python", &format!(".venv/bin/{tool} {arguments}"), None, &[file]);
    Detected::Project
}

/// The session of a noxfile that runs the tests.
fn test_session(code: &str) -> Option<&'static str> {
    let defines = |name: &&&str| code.lines().any(|line| line.starts_with(&format!("def {name}(")));
    ["tests", "test", "unit", "pytest"].iter().find(defines).copied()
}

/// Says that tox, nox and hatch are not used.
pub(super) fn skip(
    dir: &ProjectDirectory<'_>,
    runner: &Runner,
    manifests: &Manifests,
    findings: &mut Findings,
) {
    let tox = manifests
        .tox
        .as_deref()
        .is_some_and(|text| has_section(text, "[testenv]") || has_section(text, "[tox]"));
    let in_pyproject = |path: &[&str]| manifests.value(path).is_some();
    let skipped = [
        (tox, TOX),
        (dir.exists("tox.toml"), "tox.toml"),
        (dir.exists(NOX), NOX),
        (in_pyproject(&["tool", "hatch", "envs"]), "pyproject.toml [tool.hatch.envs]"),
        (in_pyproject(&["tool", "tox"]), "pyproject.toml [tool.tox]"),
    ];
    let name = match runner {
        Runner::Pytest => "pytest",
        Runner::Unittest { .. } => "unittest",
        Runner::Django => "manage.py test",
    };
    for (_, what) in skipped.into_iter().filter(|(is_there, _)| *is_there) {
        findings.skip(dir, what, directly(name));
    }
}

fn directly(runner: &str) -> Text {
    Text::new(format!("{runner} is run directly"), format!("{runner} を直接実行するため"))
}
