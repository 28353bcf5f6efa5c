//! Python: which test runner the project uses, and in which environment it runs.
//!
//! A lock file decides which tool installs the packages. Without one, or without its tool, pip installs the project and
//! what its tests need into `.venv`. Only tests without any manifest use the packages that `python3` has.

mod environment;
mod evidence;
mod manifests;
mod packages;
mod requirement;
mod task_runner;

use fixpoint_vocabulary::Text;

use self::environment::{Environment, ProjectItself, Tool};
use self::evidence::{Evidence, Runner};
use self::manifests::Manifests;
use super::Detected;
use crate::findings::Findings;
use crate::project_directory::ProjectDirectory;

/// Any of these files makes a directory a Python project.
const MANIFESTS: [&str; 12] = [
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
    "manage.py",
    "noxfile.py",
];

pub(crate) fn detect(dir: &ProjectDirectory<'_>, findings: &mut Findings) -> Detected {
    let requirements = packages::requirement_files(dir).into_iter().next().map(|(path, _)| path);
    let manifest = dir.first(&MANIFESTS).map(str::to_string).or(requirements);
    let test_files = evidence::test_files(dir);
    if manifest.is_none() && test_files.is_empty() {
        return Detected::Nothing;
    }
    let manifests = Manifests::read(dir, findings);
    let Some(evidence) = evidence::collect(dir, &manifests, &test_files, findings) else {
        if task_runner::propose(dir, &manifests, findings) == Detected::Project {
            return Detected::Project;
        }
        // These two files configure tools and do not make a project.
        if let Some(manifest) = manifest.filter(|manifest| manifest != "tox.ini" && manifest != "setup.cfg") {
            findings.skip(dir, &manifest, no_tests());
            return Detected::Project;
        }
        return Detected::Nothing;
    };
    let packages = packages::of(dir, &manifests, &evidence, findings);
    let environment = environment_of(dir, &manifests, &packages, findings);
    let project = match manifests.version_without_tags() {
        _ if !manifests.is_installable() => ProjectItself::NotInstalled,
        Some(version) => ProjectItself::InstalledAs(version.to_string()),
        None => ProjectItself::Installed,
    };
    for command in environment.setup(dir, &packages, &project) {
        findings.setup(dir, &command);
    }
    if environment == Environment::Machine && evidence.runner == Runner::Pytest {
        findings.note(unlisted(&dir.path(&evidence.because)));
    }
    propose(dir, environment, &evidence, findings);
    task_runner::skip(dir, &evidence.runner, &manifests, findings);
    Detected::Project
}

/// A lock file decides, if its tool is installed; then pip, if there is anything to install.
fn environment_of(
    dir: &ProjectDirectory<'_>,
    manifests: &Manifests,
    packages: &packages::Packages,
    findings: &mut Findings,
) -> Environment {
    let locked = environment::locked(dir);
    if let Some(tool) = locked {
        if dir.has_program(tool.program()) {
            return Environment::Locked(tool);
        }
        findings.skip(dir, tool.lock_file(), without_tool(tool));
    }
    let is_listed =
        manifests.is_installable() || !packages.files.is_empty() || !manifests.dependencies().is_empty();
    if is_listed || locked.is_some() { Environment::Venv } else { Environment::Machine }
}

fn propose(
    dir: &ProjectDirectory<'_>,
    environment: Environment,
    evidence: &Evidence,
    findings: &mut Findings,
) {
    let runner = match evidence.runner {
        Runner::Pytest => "pytest",
        Runner::Unittest { .. } | Runner::Django => "unittest",
    };
    let command = environment.test(&evidence.runner);
    let lock = environment.lock_file().filter(|lock| *lock != evidence.because);
    let because: Vec<&str> = [evidence.because.as_str()].into_iter().chain(lock).collect();
    findings.test(dir, "python", &command, Some(runner), &because);
}

fn no_tests() -> Text {
    Text::new("neither pytest nor unittest tests were found", "pytest も unittest のテストも見つからないため")
}

fn without_tool(tool: Tool) -> Text {
    let program = tool.program();
    Text::new(
        format!(
            "`{program}` is not installed, so pip installs the packages, maybe in other versions; to use the lock file, \
             install {program} and run `fixpoint init --force`"
        ),
        format!(
            "`{program}` がインストールされていないため、pip を使います（バージョンが異なる場合があります）。\
             ロックファイルを使うには {program} をインストールして `fixpoint init --force` を実行してください"
        ),
    )
}

fn unlisted(path: &str) -> Text {
    Text::new(
        format!(
            "{path} shows pytest, but no file lists what the tests need, so they use the packages that `python3` has: make \
             sure that pytest is among them."
        ),
        format!(
            "{path} から pytest を使うと判断しましたが、必要なパッケージを示すファイルがないため `python3` の環境で\
             テストします。pytest がインストールされているか確認してください。"
        ),
    )
}
