//! Python: which test runner the files speak of, and which environment it runs in.
//!
//! Refuses to guess an environment: packages are installed only from a lock file, or from requirement files into a
//! virtual environment that git ignores. Anything else is a note, since `python3` of the machine is used as it is.

mod environment;
mod evidence;

use fixpoint_vocabulary::Text;

use self::environment::Environment;
use self::evidence::{Evidence, Runner};
use super::Seen;
use crate::gathering::{Gathering, Proposal, Purpose};
use crate::place::Place;

/// Files of which each makes a place a Python project.
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

pub(crate) fn look(place: &Place<'_>, gathering: &mut Gathering) -> Seen {
    let requirements = requirement_files(place);
    let manifest = place.first(&MANIFESTS).map(str::to_string).or_else(|| requirements.first().cloned());
    let test_files = evidence::test_files(place);
    if manifest.is_none() && test_files.is_empty() {
        return Seen::Nothing;
    }
    let Some(evidence) = evidence::collect(place, &requirements, &test_files, gathering) else {
        // A directory with tests of another language, or a tool's configuration, is nobody's project.
        if let Some(manifest) = manifest.filter(|manifest| manifest != "tox.ini" && manifest != "setup.cfg") {
            gathering.note(no_tests(&place.path(&manifest)));
            return Seen::Project;
        }
        return Seen::Nothing;
    };
    let environment = environment::of(place, &requirements);
    if let Some(setup) = environment.setup(&requirements, &evidence) {
        gathering.setup(place, &setup);
    }
    note_environment(place, &environment, &requirements, gathering);
    if evidence.runner == Runner::Pytest && evidence.named.is_empty() {
        gathering.note(unnamed(&place.path(&evidence.because)));
    }
    propose(place, &environment, evidence, gathering);
    Seen::Project
}

fn propose(place: &Place<'_>, environment: &Environment, evidence: Evidence, gathering: &mut Gathering) {
    let runner = match evidence.runner {
        Runner::Pytest => "pytest",
        Runner::Unittest { .. } => "unittest",
    };
    let command = environment.test(&evidence.runner);
    let lock = environment.lock_file().map(str::to_string).filter(|lock| *lock != evidence.because);
    let because = [evidence.because].into_iter().chain(lock).collect();
    gathering.check(
        place,
        Proposal { purpose: Purpose::Test, ecosystem: "python", command, runner: Some(runner), because },
    );
}

/// `requirements.txt`, `requirements-dev.txt` and the like.
fn requirement_files(place: &Place<'_>) -> Vec<String> {
    let is_requirements = |name: &String| {
        name.starts_with("requirements") && name.ends_with(".txt") && !name.chars().any(char::is_control)
    };
    place.names().into_iter().filter(is_requirements).collect()
}

fn note_environment(
    place: &Place<'_>,
    environment: &Environment,
    requirements: &[String],
    gathering: &mut Gathering,
) {
    match environment {
        Environment::Machine if !requirements.is_empty() => {
            gathering.note(venv_not_ignored(&place.path(".venv"), &place.path(&requirements.join(", "))));
        }
        Environment::Machine if place.exists("pyproject.toml") || place.exists("setup.py") => {
            gathering.note(no_lock(place.directory()));
        }
        Environment::Machine | Environment::Locked(_) | Environment::Venv => {}
    }
}

fn no_tests(path: &str) -> Text {
    Text::new(
        format!(
            "{path} is there, but neither pytest nor tests for unittest were found: no check was concluded."
        ),
        format!("{path} がありますが、pytest も unittest のテストも見つからないため、チェックはありません。"),
    )
}

fn venv_not_ignored(venv: &str, requirements: &str) -> Text {
    Text::new(
        format!(
            "{requirements} is not installed for workspaces, since git does not ignore {venv}: an environment there \
             would look like a change. Add `.venv/` to .gitignore and look again; until then the tests use what \
             `python3` has."
        ),
        format!(
            "{venv} が git の管理外になっておらず、環境が変更とみなされるため、{requirements} はインストールしません。\
             .gitignore に `.venv/` を追加してからやり直してください。それまでは `python3` の環境でテストします。"
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
            "No lock file of uv, Poetry, PDM or Pipenv was found{en}, so the tests use what `python3` has. If packages \
             must be installed first, write that under `workspace.setup`."
        ),
        format!(
            "{ja}uv、Poetry、PDM、Pipenv のロックファイルがないため、`python3` の環境でテストします。\
             先にパッケージのインストールが必要な場合は `workspace.setup` に書いてください。"
        ),
    )
}

fn unnamed(path: &str) -> Text {
    Text::new(
        format!("{path} looks like a test for pytest, but no file lists pytest: it must be installed."),
        format!(
            "{path} は pytest のテストのようですが、pytest を指定するファイルがありません。インストールが必要です。"
        ),
    )
}
