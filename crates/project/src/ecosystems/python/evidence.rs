//! Which test runner a Python project uses, judged by its configuration, its dependencies and its test files.

use toml::{Table, Value};

use super::manifests::{Manifests, has_section};
use super::packages::requirement_files;
use super::requirement::is_pytest;
use crate::findings::Findings;
use crate::project_directory::ProjectDirectory;
use crate::shell_quoting::shell_word;

/// Test files that are read, at most.
const MAX_TEST_FILES: usize = 60;

/// Directories that are searched for a directory with tests, at most.
const MAX_PACKAGES: usize = 40;

/// A test runner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Runner {
    Pytest,
    Unittest {
        /// The directory to start in, if tests are not found from the project's directory.
        start: Option<String>,
        /// The names of the test files, if they are not `test*.py`.
        pattern: Option<&'static str>,
    },
    /// `manage.py test`
    Django,
}

impl Runner {
    /// What follows `python`.
    pub(super) fn arguments(&self) -> String {
        match self {
            Self::Pytest => "-m pytest".to_string(),
            Self::Unittest { start, pattern } => {
                let start = start.as_ref().map(|start| format!(" -s {}", shell_word(start)));
                let pattern = pattern.map(|pattern| format!(" -p '{pattern}'"));
                format!("-m unittest discover{}{}", start.unwrap_or_default(), pattern.unwrap_or_default())
            }
            Self::Django => "manage.py test".to_string(),
        }
    }
}

/// The test runner of a project, and what shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Evidence {
    pub(super) runner: Runner,
    /// The file that shows it, relative to the project's directory.
    pub(super) because: String,
    /// The configuration of pytest, as text.
    pub(super) configuration: String,
    /// The modules that the tests import.
    pub(super) imports: Vec<String>,
    /// Whether a test is marked for pytest-asyncio.
    pub(super) marks_asyncio: bool,
}

/// A test file and the directory it is in.
pub(super) struct TestFile {
    directory: String,
    path: String,
}

/// The test files: in the project's directory, in `tests` and `test`, and in those of its packages.
pub(super) fn test_files(dir: &ProjectDirectory<'_>) -> Vec<TestFile> {
    let mut directories: Vec<String> = ["", "tests", "test"].map(str::to_string).to_vec();
    for above in ["", "src/", "tests/", "test/"] {
        let names = dir.names_in(above.trim_end_matches('/'));
        let packages = names.iter().filter_map(|name| name.strip_suffix('/'));
        let packages = packages.filter(|name| !name.starts_with('.') && !name.chars().any(char::is_control));
        for name in packages.take(MAX_PACKAGES) {
            match above {
                "tests/" | "test/" => directories.push(format!("{above}{name}")),
                _ => directories.extend(["tests", "test"].map(|tests| format!("{above}{name}/{tests}"))),
            }
        }
    }
    let in_directory = |directory: String| {
        let names = if directory.is_empty() { dir.names() } else { dir.names_in(&directory) };
        names.into_iter().filter(|name| is_test_file(name)).map(move |name| {
            let path = if directory.is_empty() { name } else { format!("{directory}/{name}") };
            TestFile { directory: directory.clone(), path }
        })
    };
    directories.into_iter().flat_map(in_directory).take(MAX_TEST_FILES).collect()
}

fn is_test_file(name: &str) -> bool {
    let is_module = |stem: &str| stem.starts_with("test_") || stem.ends_with("_test") || stem == "tests";
    name.strip_suffix(".py").is_some_and(is_module) && !name.chars().any(char::is_control)
}

/// Nothing if no file shows any tests.
pub(super) fn collect(
    dir: &ProjectDirectory<'_>,
    manifests: &Manifests,
    test_files: &[TestFile],
    findings: &mut Findings,
) -> Option<Evidence> {
    let seen = SeenInTests::of(dir, test_files, findings);
    let named_by = named_by(dir, manifests, findings);
    let (runner, because) = match named_by {
        Some(because) => (Runner::Pytest, because),
        None if dir.exists("manage.py") && !seen.imports.iter().any(|module| module == "pytest") => {
            (Runner::Django, "manage.py".to_string())
        }
        None => seen.runner(dir)?,
    };
    let configuration = configuration(dir, manifests, findings);
    let SeenInTests { imports, marks_asyncio, .. } = seen;
    Some(Evidence { runner, because, configuration, imports, marks_asyncio })
}

/// The file that names pytest.
fn named_by(dir: &ProjectDirectory<'_>, manifests: &Manifests, findings: &mut Findings) -> Option<String> {
    let has =
        |text: &Option<String>, section: &str| text.as_deref().is_some_and(|text| has_section(text, section));
    if has(&manifests.setup_cfg, "[tool:pytest]") {
        return Some("setup.cfg".to_string());
    }
    if has(&manifests.tox, "[pytest]") {
        return Some("tox.ini".to_string());
    }
    if let Some(name) =
        dir.first(&["pytest.ini", ".pytest.ini", "pytest.toml", "conftest.py", "tests/conftest.py"])
    {
        return Some(name.to_string());
    }
    if manifests.pyproject.as_ref().is_some_and(speaks_of_pytest) {
        return Some("pyproject.toml".to_string());
    }
    let plain = dir.exists("requirements.txt").then(|| "requirements.txt".to_string());
    let files = requirement_files(dir).into_iter().map(|(path, _)| path).chain(plain);
    let lists_it = |path: &String| dir.text(path, findings).is_some_and(|text| text.lines().any(is_pytest));
    let required = files.into_iter().find(lists_it);
    let extras = manifests.extras().into_iter().chain(manifests.lists_of_tools());
    let in_code = extras.into_iter().any(|(_, names)| names.iter().any(|name| is_pytest(name)));
    let setup = || dir.first(&["setup.cfg", "setup.py", "Pipfile"]).filter(|_| in_code).map(str::to_string);
    let runs_it = manifests.tox.as_deref().is_some_and(runs_pytest).then(|| "tox.ini".to_string());
    required.or_else(setup).or(runs_it)
}

/// Whether a command of tox starts pytest.
fn runs_pytest(text: &str) -> bool {
    text.split_whitespace().any(|word| matches!(word, "pytest" | "py.test") || word.ends_with("/pytest"))
}

/// What configures pytest, as text.
fn configuration(dir: &ProjectDirectory<'_>, manifests: &Manifests, findings: &mut Findings) -> String {
    let pyproject = manifests.value(&["tool", "pytest"]).map(|value| format!("{value:?}"));
    let section = |text: &Option<String>, name: &str| {
        let after = text.as_deref()?.split_once(name)?.1;
        Some(after.split_once("\n[").map_or(after, |(section, _)| section).to_string())
    };
    let files = ["pytest.ini", ".pytest.ini"].map(|name| dir.optional_text(name, findings));
    let sections = [section(&manifests.setup_cfg, "[tool:pytest]"), section(&manifests.tox, "[pytest]")];
    files.into_iter().chain(sections).chain([pyproject]).flatten().collect::<Vec<_>>().join("\n")
}

/// Whether `pyproject.toml` configures pytest or depends on it, in whichever of the many ways.
fn speaks_of_pytest(table: &Table) -> bool {
    table.iter().any(|(key, value)| is_pytest(key) || lists_pytest(value))
}

fn lists_pytest(value: &Value) -> bool {
    match value {
        Value::Table(table) => speaks_of_pytest(table),
        Value::Array(items) => {
            items.iter().any(|item| item.as_str().is_some_and(is_pytest) || lists_pytest(item))
        }
        Value::String(_) | Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => {
            false
        }
    }
}

/// What the test files themselves use.
#[derive(Default)]
struct SeenInTests {
    imports: Vec<String>,
    marks_asyncio: bool,
    /// The first file with unittest tests, and its directory.
    unittest: Option<(String, String)>,
    /// The first file that only pytest can run.
    pytest: Option<String>,
}

impl SeenInTests {
    fn of(dir: &ProjectDirectory<'_>, files: &[TestFile], findings: &mut Findings) -> Self {
        let mut seen = Self::default();
        for file in files {
            let Some(text) = dir.text(&file.path, findings) else { continue };
            let modules = imported(&text);
            let has = |name: &str| modules.iter().any(|module| module == name);
            let has_functions = text.lines().any(|line| line.starts_with("def test_"));
            if has("unittest") && text.contains("TestCase") {
                seen.unittest = seen.unittest.or_else(|| Some((file.directory.clone(), file.path.clone())));
            } else if has_functions && seen.pytest.is_none() {
                // Bare functions are collected by pytest alone.
                seen.pytest = Some(file.path.clone());
            }
            if has("pytest") {
                seen.pytest = Some(file.path.clone());
            }
            seen.marks_asyncio |= text.contains("pytest.mark.asyncio");
            seen.imports.extend(modules);
        }
        seen.imports.sort_unstable();
        seen.imports.dedup();
        seen
    }

    fn runner(&self, dir: &ProjectDirectory<'_>) -> Option<(Runner, String)> {
        let imports_pytest = self.imports.iter().any(|module| module == "pytest");
        match (&self.unittest, &self.pytest) {
            (Some((directory, path)), pytest) if !imports_pytest || pytest.is_none() => {
                let pattern = path.ends_with("_test.py").then_some("*_test.py");
                Some((Runner::Unittest { start: start(dir, directory), pattern }, path.clone()))
            }
            (_, Some(path)) => Some((Runner::Pytest, path.clone())),
            (_, None) => None,
        }
    }
}

/// Discovery enters only packages, and finds modules only in the directory it begins at.
fn start(dir: &ProjectDirectory<'_>, directory: &str) -> Option<String> {
    if directory.is_empty() {
        return None;
    }
    let ends = directory.match_indices('/').map(|(at, _)| at).chain([directory.len()]);
    let is_package = |end: usize| {
        let above = directory.get(..end).unwrap_or_default();
        dir.exists(&format!("{above}/__init__.py"))
    };
    let is_found = ends.into_iter().all(is_package);
    (!is_found).then(|| directory.to_string())
}

/// The modules that a file imports, without what is below them.
fn imported(text: &str) -> Vec<String> {
    let top = |words: &str| {
        let name = words.split_whitespace().next().unwrap_or_default();
        name.split('.').next().unwrap_or_default().to_string()
    };
    let statements = text.lines().filter_map(|line| line.split('#').next()).flat_map(|code| code.split(';'));
    let mut modules = Vec::new();
    for (word, names) in statements.filter_map(|statement| statement.trim_start().split_once([' ', '\t'])) {
        match word {
            "import" => modules.extend(names.split(',').map(top)),
            "from" => modules.push(top(names)),
            _ => {}
        }
    }
    modules.retain(|module| !module.is_empty());
    modules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_found_in_every_form() {
        let imports = |text: &str| imported(text).iter().any(|module| module == "unittest");
        for text in [
            "import unittest",
            "import sys, unittest",
            "import sys,unittest # why",
            "import os, unittest.mock as mock, sys",
            "import unittest as ut",
            "from unittest import TestCase",
            "from unittest.mock import patch",
            "import sys; import unittest",
            "try:\n    import\tunittest",
        ] {
            assert!(imports(text), "{text}");
        }
        for text in [
            "import sys # , unittest",
            "import my.unittest",
            "import unittest2, sys",
            "from sys import unittest",
            "from . import unittest",
            "# import unittest",
            "import",
            "important, unittest",
        ] {
            assert!(!imports(text), "{text}");
        }
    }
}
