//! Whether a check failed because of its environment, with regard to the files of the project.
//!
//! Owns what the output alone does not tell: a module that is missing is a matter of the environment only if a manifest asks
//! for it and the project has none of that name. Otherwise somebody wrote an import that cannot work.

use std::fs;
use std::path::{Path, PathBuf};

use fixpoint_failures::{Report, python_package};
use fixpoint_ports::ExitCause;
use fixpoint_vocabulary::settings::CheckKind;
use fixpoint_vocabulary::{EnvironmentCause, EnvironmentProblem};

use crate::check_output::read_file;

/// A larger manifest is not read.
const LARGEST: u64 = 1 << 20;
/// Entries of a directory that are looked at.
const MOST_ENTRIES: usize = 2000;
const MANIFESTS: [&str; 17] = [
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "tox.ini",
    "Pipfile",
    "environment.yml",
    "package.json",
    "deno.json",
    "Gemfile",
    "composer.json",
    "go.mod",
    "Cargo.toml",
    "mix.exs",
    "pom.xml",
    "build.gradle",
    "cpanfile",
    "CMakeLists.txt",
];
/// The problem that a check failed of, if it is not one of the code. `places` are its directory and the root of the slot.
pub(crate) fn problem(
    report: &Report,
    cause: &ExitCause,
    kind: CheckKind,
    places: [&Path; 2],
) -> Option<EnvironmentProblem> {
    let ExitCause::Exited(code) = cause else { return None };
    let found = report.environment.clone().filter(|_| *code != 0)?;
    match (found.cause, found.subject.as_deref()) {
        (EnvironmentCause::ModuleMissing, Some(name)) if !name.contains(' ') => {
            let is_own = places.iter().any(|place| has_module(place, name));
            let is_asked_for = places.iter().any(|place| asks_for(place, name));
            (!is_own && is_asked_for).then_some(found)
        }
        // To make the directory, or a program of the project, may be the work.
        (EnvironmentCause::WrongDirectory, _) if kind == CheckKind::Goal => None,
        (EnvironmentCause::ProgramMissing, Some(name)) if name.contains('/') => None,
        _ => Some(found),
    }
}

/// Whether a project has a module of its own of this name.
fn has_module(root: &Path, name: &str) -> bool {
    let name = name.trim_end_matches(".pm").replace("::", "/");
    let above = ["", "src", "lib", "packages", "app"];
    let endings = ["", ".py", ".js", ".ts", ".rb", ".pm", ".ex"];
    above
        .iter()
        .any(|above| endings.iter().any(|ending| root.join(above).join(format!("{name}{ending}")).exists()))
}

/// Whether a manifest names a package.
fn asks_for(root: &Path, name: &str) -> bool {
    let plain = |text: &str| text.to_lowercase().replace(['-', '_', '.'], "");
    // A manifest may name a package of the same family, such as `psycopg2` for `psycopg2-binary`.
    let wanted = [plain(name), plain(python_package(name))];
    let is_named = |path: PathBuf| {
        let text = read_file(&path, LARGEST).map(|bytes| plain(&String::from_utf8_lossy(&bytes)));
        text.is_some_and(|text| wanted.iter().any(|wanted| text.contains(wanted.as_str())))
    };
    MANIFESTS.iter().map(|manifest| root.join(manifest)).any(is_named)
        || requirements(root).into_iter().chain(requirements(&root.join("requirements"))).any(is_named)
}

/// `requirements.txt`, `requirements-dev.txt`, `requirements/test.txt`
fn requirements(directory: &Path) -> Vec<PathBuf> {
    let is_all = directory.ends_with("requirements");
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().take(MOST_ENTRIES);
    let is_it = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.ends_with(".txt") && (is_all || name.contains("requirements"))
    };
    entries.map(|entry| entry.path()).filter(is_it).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_module_that_is_asked_for_can_be_missing() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path();
        fs::write(path.join("pyproject.toml"), "dependencies = [\"PyYAML>=6\", \"pillow\"]\n").unwrap();
        fs::create_dir_all(path.join("requirements")).unwrap();
        fs::write(path.join("requirements/test.txt"), "python-dateutil\n").unwrap();
        fs::create_dir_all(path.join("src/shop")).unwrap();
        let rows = [("yaml", true), ("PIL", true), ("dateutil", true), ("numpy", false), ("shop", false)];
        for (name, expected) in rows {
            let output = format!("ModuleNotFoundError: No module named '{name}'\n");
            let report = fixpoint_failures::decide(&fixpoint_failures::Question {
                output,
                command: None,
                runner: None,
                workdir: None,
                exit_code: Some(1),
                values: fixpoint_failures::Values::Drop,
            });
            let found = problem(&report, &ExitCause::Exited(1), CheckKind::Goal, [path, path]);
            assert_eq!(found.is_some(), expected, "{name}");
        }
    }

    #[test]
    fn what_the_work_may_make_is_not_missing() {
        let root = tempfile::tempdir().unwrap();
        let found = |output: &str, kind: CheckKind| {
            let report = fixpoint_failures::decide(&fixpoint_failures::Question {
                output: output.to_string(),
                command: None,
                runner: None,
                workdir: None,
                exit_code: Some(1),
                values: fixpoint_failures::Values::Drop,
            });
            problem(&report, &ExitCause::Exited(1), kind, [root.path(), root.path()]).is_some()
        };
        let no_manifest = "error: could not find `Cargo.toml` in `/w` or any parent directory\n";
        assert_eq!(
            (found(no_manifest, CheckKind::Goal), found(no_manifest, CheckKind::Guard)),
            (false, true)
        );
        assert!(!found("t.sh: line 2: ./build/app: command not found\n", CheckKind::Guard));
        assert!(found("t.sh: line 2: protoc: command not found\n", CheckKind::Goal));
    }
}
