//! Python: which test runner the project uses, and in which environment it runs.
//!
//! Packages are installed only from a lock file, or from requirement files into a virtual environment that git ignores.
//! Otherwise the tests use the packages that `python3` has, and a note says so.

mod environment;
mod evidence;

use fixpoint_vocabulary::Text;

use self::environment::Environment;
use self::evidence::{Evidence, Runner};
use super::Detected;
use crate::findings::Findings;
use crate::project_directory::ProjectDirectory;

/// Any of these files makes a directory a Python project.
const MANIFESTS: [&str; 10] = [
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "pytest.ini",
    "tox.ini",
    "conftest.py",
    "uv.lock",
    "poetry.lock",
    "Pipfile",
    "requirements.txt",
];

pub(crate) fn detect(dir: &ProjectDirectory<'_>, findings: &mut Findings) -> Detected {
    let requirements = requirement_files(dir);
    let manifest = dir.first(&MANIFESTS).map(str::to_string).or_else(|| requirements.first().cloned());
    let test_files = evidence::test_files(dir);
    if manifest.is_none() && test_files.is_empty() {
        return Detected::Nothing;
    }
    let Some(evidence) = evidence::collect(dir, &requirements, &test_files, findings) else {
        // These two files configure tools and do not make a project.
        if let Some(manifest) = manifest.filter(|manifest| manifest != "tox.ini" && manifest != "setup.cfg") {
            findings.note(no_tests(&dir.path(&manifest)));
            return Detected::Project;
        }
        return Detected::Nothing;
    };
    let environment = environment::of(dir, &requirements);
    if let Some(setup) = environment.setup(&requirements, &evidence) {
        findings.setup(dir, &setup);
    }
    note_environment(dir, &environment, &requirements, findings);
    if evidence.runner == Runner::Pytest && evidence.named.is_empty() {
        findings.note(unnamed(&dir.path(&evidence.because)));
    }
    propose(dir, &environment, &evidence, findings);
    Detected::Project
}

fn propose(
    dir: &ProjectDirectory<'_>,
    environment: &Environment,
    evidence: &Evidence,
    findings: &mut Findings,
) {
    let runner = match evidence.runner {
        Runner::Pytest => "pytest",
        Runner::Unittest { .. } => "unittest",
    };
    let command = environment.test(&evidence.runner);
    let lock = environment.lock_file().filter(|lock| *lock != evidence.because);
    let because: Vec<&str> = [evidence.because.as_str()].into_iter().chain(lock).collect();
    findings.test(dir, "python", &command, Some(runner), &because);
}

/// `requirements.txt`, `requirements-dev.txt` and the like.
fn requirement_files(dir: &ProjectDirectory<'_>) -> Vec<String> {
    let is_requirements = |name: &String| {
        name.starts_with("requirements") && name.ends_with(".txt") && !name.chars().any(char::is_control)
    };
    dir.names().into_iter().filter(is_requirements).collect()
}

fn note_environment(
    dir: &ProjectDirectory<'_>,
    environment: &Environment,
    requirements: &[String],
    findings: &mut Findings,
) {
    match environment {
        Environment::Machine if !requirements.is_empty() => {
            findings.note(venv_not_ignored(&dir.path(".venv"), &dir.path(&requirements.join(", "))));
        }
        Environment::Machine if dir.exists("pyproject.toml") || dir.exists("setup.py") => {
            findings.note(no_lock(dir.directory()));
        }
        Environment::Machine | Environment::Locked(_) | Environment::Venv => {}
    }
}

fn no_tests(path: &str) -> Text {
    Text::new(
        format!("No check for {path}: neither pytest nor unittest tests were found."),
        format!("{path} がありますが、pytest も unittest のテストも見つからないため、チェックはありません。"),
    )
}

fn venv_not_ignored(venv: &str, requirements: &str) -> Text {
    Text::new(
        format!(
            "{requirements} will not be installed, because git does not ignore {venv}: it would show up as a change. \
             Add `.venv/` to .gitignore and run `fixpoint init --force`. Until then the tests use the packages that \
             `python3` has."
        ),
        format!(
            "{venv} が .gitignore になく変更とみなされるため、{requirements} はインストールしません。.gitignore に \
             `.venv/` を追加して `fixpoint init --force` を実行してください。それまでは `python3` の環境でテストします。"
        ),
    )
}

fn no_lock(directory: &str) -> Text {
    let (en, ja) = if directory.is_empty() {
        (String::new(), String::new())
    } else {
        (format!(" in {directory}"), format!("{directory} に"))
    };
    Text::new(
        format!(
            "No lock file of uv, Poetry, PDM or Pipenv found{en}, so the tests use the packages that `python3` has. If \
             packages must be installed first, add the command to `workspace.setup`."
        ),
        format!(
            "{ja}uv、Poetry、PDM、Pipenv のロックファイルがないため、`python3` の環境でテストします。\
             先にパッケージのインストールが必要な場合は、コマンドを `workspace.setup` に追加してください。"
        ),
    )
}

fn unnamed(path: &str) -> Text {
    Text::new(
        format!("{path} looks like a pytest test, but no file lists pytest: make sure that it is installed."),
        format!(
            "{path} は pytest のテストのようですが、依存関係に pytest がありません。インストールされているか確認してください。"
        ),
    )
}
