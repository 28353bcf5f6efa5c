//! Which packages the tests of a Python project need beside the project itself, and where they are listed.
//!
//! Lists for tests come before lists for development, and what the project itself names before what is guessed. Only if
//! nothing is listed, the imports of the tests are used. Invariant: pytest is always among them where the tests use it.

use super::evidence::{Evidence, Runner};
use super::manifests::{Manifests, ini_section};
use super::requirement::{is_plain, is_pytest, name_of};
use crate::findings::Findings;
use crate::project_directory::ProjectDirectory;

/// Names of lists for tests, then of lists for development, in order of preference.
const FOR_TESTS: [&str; 6] = ["test", "tests", "testing", "pytest", "unittest", "unit"];
const FOR_DEVELOPMENT: [&str; 6] = ["dev", "develop", "development", "devel", "all", "default"];

/// Options of pytest, and the plugin that each needs.
const PLUGINS: [(&str, &str); 9] = [
    ("--cov", "pytest-cov"),
    ("--numprocesses", "pytest-xdist"),
    ("-n auto", "pytest-xdist"),
    ("asyncio_mode", "pytest-asyncio"),
    ("--timeout", "pytest-timeout"),
    ("--benchmark-", "pytest-benchmark"),
    ("--randomly", "pytest-randomly"),
    ("--reruns", "pytest-rerunfailures"),
    ("--doctest-plus", "pytest-doctestplus"),
];

/// Modules that tests import, and the package that each is in.
const MODULES: [(&str, &str); 15] = [
    ("hypothesis", "hypothesis"),
    ("freezegun", "freezegun"),
    ("mock", "mock"),
    ("pretend", "pretend"),
    ("parameterized", "parameterized"),
    ("responses", "responses"),
    ("requests_mock", "requests-mock"),
    ("pytest_mock", "pytest-mock"),
    ("testfixtures", "testfixtures"),
    ("hamcrest", "pyhamcrest"),
    ("trio", "trio"),
    ("ddt", "ddt"),
    ("time_machine", "time-machine"),
    ("syrupy", "syrupy"),
    ("six", "six"),
];

/// What to install.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Packages {
    /// An extra of the project.
    pub(super) extra: Option<String>,
    /// A group of `[dependency-groups]`.
    pub(super) group: Option<String>,
    pub(super) files: Vec<String>,
    pub(super) names: Vec<String>,
}

/// A list of requirements.
struct List {
    source: Source,
    /// Its name, such as `test`.
    name: String,
    /// What is known to be in it.
    requirements: Vec<String>,
}

enum Source {
    Extra,
    Group,
    File(String),
    Names,
}

pub(super) fn of(
    dir: &ProjectDirectory<'_>,
    manifests: &Manifests,
    evidence: &Evidence,
    findings: &mut Findings,
) -> Packages {
    let lists = lists(dir, manifests, findings);
    let uses_pytest = evidence.runner == Runner::Pytest;
    let has_pytest = |list: &&List| list.requirements.iter().any(|requirement| is_pytest(requirement));
    let is_for_tests = |list: &&List| FOR_TESTS.contains(&list.name.as_str());
    let with_pytest = lists.iter().find(|list| uses_pytest && has_pytest(list));
    let chosen = with_pytest.or_else(|| lists.iter().find(is_for_tests));
    let mut packages = Packages::default();
    let mut known: Vec<String> = Vec::new();
    if let Some(list) = chosen {
        known = list.requirements.iter().map(|requirement| name_of(requirement)).collect();
        match &list.source {
            Source::Extra => packages.extra = Some(list.name.clone()),
            Source::Group => packages.group = Some(list.name.clone()),
            Source::File(path) => packages.files.push(path.clone()),
            Source::Names => packages.names.clone_from(&list.requirements),
        }
    }
    // tox knows names; a file next to the tests may know more.
    let file = lists.iter().filter(is_for_tests).find_map(|list| match &list.source {
        Source::File(path) => Some(path.clone()),
        Source::Extra | Source::Group | Source::Names => None,
    });
    if chosen.is_some_and(|list| matches!(list.source, Source::Names)) {
        packages.files.extend(file);
    }
    packages.extra = packages.extra.or_else(|| extras_of_tox(manifests));
    if !manifests.is_installable() {
        let dependencies = manifests.dependencies();
        known.extend(dependencies.iter().map(|requirement| name_of(requirement)));
        packages.names.extend(dependencies.into_iter().filter(|name| is_plain(name)));
    }
    let plain = Some("requirements.txt").filter(|name| dir.exists(name));
    let is_described = manifests.value(&["project"]).is_some() && manifests.is_installable();
    packages.files.splice(0..0, plain.filter(|_| !is_described).map(str::to_string));
    let missing = guessed(evidence, chosen.is_none());
    packages.names.extend(missing.into_iter().filter(|name| !known.contains(name)));
    packages
}

/// Packages that no list has: pytest, plugins that its configuration needs, and, without any list, what tests import.
fn guessed(evidence: &Evidence, is_unlisted: bool) -> Vec<String> {
    let mut names = Vec::new();
    if evidence.runner == Runner::Pytest {
        names.push("pytest");
        let needed = PLUGINS.iter().filter(|(option, _)| evidence.configuration.contains(option));
        names.extend(needed.map(|(_, plugin)| *plugin));
        if evidence.marks_asyncio {
            names.push("pytest-asyncio");
        }
    }
    if is_unlisted {
        let imported =
            MODULES.iter().filter(|(module, _)| evidence.imports.iter().any(|known| known == module));
        names.extend(imported.map(|(_, package)| *package));
    }
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(str::to_string).collect()
}

/// All lists whose name says that they are for tests or development, the best first.
fn lists(dir: &ProjectDirectory<'_>, manifests: &Manifests, findings: &mut Findings) -> Vec<List> {
    let named = |source: fn() -> Source, listed: Vec<(String, Vec<String>)>| {
        listed.into_iter().map(move |(name, requirements)| List { source: source(), name, requirements })
    };
    let mut lists: Vec<List> = Vec::new();
    if manifests.is_installable() {
        lists.extend(named(|| Source::Extra, manifests.extras()));
    } else {
        lists.extend(named(|| Source::Names, manifests.extras()));
    }
    lists.extend(named(|| Source::Group, manifests.groups()));
    lists.extend(named(|| Source::Names, manifests.lists_of_tools()));
    for (path, name) in requirement_files(dir) {
        let text = dir.text(&path, findings).unwrap_or_default();
        let requirements = text.lines().map(ToString::to_string).collect();
        lists.push(List { source: Source::File(path), name, requirements });
    }
    lists.extend(of_tox(manifests));
    for list in &mut lists {
        if matches!(list.source, Source::Names) {
            list.requirements.retain(|requirement| is_plain(requirement));
        }
    }
    let rank = |list: &List| {
        let names = FOR_TESTS.iter().chain(&FOR_DEVELOPMENT);
        names.into_iter().position(|known| *known == list.name)
    };
    lists.retain(|list| rank(list).is_some());
    // The sort is stable: of two lists of the same kind, the earlier source stays first.
    lists.sort_by_key(|list| (rank(list) >= Some(FOR_TESTS.len()), rank(list)));
    lists
}

/// Requirement files for tests or development, each with the name of its purpose.
pub(super) fn requirement_files(dir: &ProjectDirectory<'_>) -> Vec<(String, String)> {
    let in_directory = |directory: &str| -> Vec<String> {
        let names = if directory.is_empty() { dir.names() } else { dir.names_in(directory) };
        let path = |name: String| if directory.is_empty() { name } else { format!("{directory}/{name}") };
        names.into_iter().filter(|name| !name.chars().any(char::is_control)).map(path).collect()
    };
    let of_path = |path: String| {
        let stem = path.strip_suffix(".txt")?.to_ascii_lowercase();
        let words: Vec<&str> = stem.split(['/', '-', '_', '.']).collect();
        let is_requirements =
            words.iter().any(|word| matches!(*word, "requirements" | "reqs" | "requirement"));
        let purpose = |known: &&str| words.contains(known);
        let purpose = FOR_TESTS.iter().chain(&FOR_DEVELOPMENT).copied().find(purpose)?;
        is_requirements.then(|| (path.clone(), purpose.to_string()))
    };
    let directories = ["", "requirements", "tests", "test"];
    directories.iter().flat_map(|directory| in_directory(directory)).filter_map(of_path).collect()
}

/// The dependencies of `[testenv]`, without those for other factors than tests.
fn of_tox(manifests: &Manifests) -> Option<List> {
    let lines = lines_of_tox(manifests, "deps");
    let file =
        |line: &String| Some(line.strip_prefix("-r")?.trim().trim_start_matches("{toxinidir}/").to_string());
    if let [only] = lines.as_slice()
        && let Some(file) = file(only).filter(|file| is_plain(file))
    {
        let requirements = vec!["pytest".to_string()];
        return Some(List { source: Source::File(file), name: "unit".to_string(), requirements });
    }
    let requirements: Vec<String> = lines.into_iter().filter(|line| is_plain(line)).collect();
    (!requirements.is_empty()).then(|| List { source: Source::Names, name: "unit".to_string(), requirements })
}

/// The extras that `[testenv]` installs, as far as the project has them.
fn extras_of_tox(manifests: &Manifests) -> Option<String> {
    let known: Vec<String> = manifests.extras().into_iter().map(|(name, _)| name).collect();
    let lines = lines_of_tox(manifests, "extras");
    let named = lines.iter().flat_map(|line| line.split(',')).map(|name| name.trim().to_string());
    let extras: Vec<String> = named.filter(|name| known.contains(name)).collect();
    (!extras.is_empty() && manifests.is_installable()).then(|| extras.join(","))
}

/// The lines of a key of `[testenv]`: those for all factors, and those for factors that run tests, such as `unit: x`.
fn lines_of_tox(manifests: &Manifests, key: &str) -> Vec<String> {
    let section = ini_section(manifests.tox.as_deref().unwrap_or_default(), "[testenv]");
    let lines =
        section.into_iter().find(|(known, _)| known == key).map(|(_, lines)| lines).unwrap_or_default();
    let without_factor = |line: String| match line.split_once(':') {
        Some((factor, rest)) if !factor.contains([' ', ';']) => {
            FOR_TESTS.contains(&factor).then(|| rest.trim().to_string())
        }
        Some(_) | None => Some(line),
    };
    lines.into_iter().filter_map(without_factor).collect()
}
