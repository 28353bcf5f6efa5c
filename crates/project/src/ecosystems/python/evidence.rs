//! Which test runner a Python project uses, judged by its configuration, its dependencies and its test files.

use toml::{Table, Value};

use crate::findings::Findings;
use crate::project_directory::ProjectDirectory;

/// Test files that are read, at most.
const MAX_TEST_FILES: usize = 20;

/// Where tests usually are; the empty name is the project's directory itself.
const TEST_DIRECTORIES: [&str; 3] = ["", "tests", "test"];

/// A test runner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Runner {
    Pytest,
    Unittest {
        /// The directory to start in, if tests are not found from the project's directory.
        start: Option<&'static str>,
    },
}

/// The test runner of a project, and what shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Evidence {
    pub(super) runner: Runner,
    /// The file that shows it, relative to the project's directory.
    pub(super) because: String,
    /// Where pytest is named; empty if only the tests look like it, or if they are unittest tests.
    pub(super) named: Vec<Named>,
}

/// Where pytest is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    /// A configuration of pytest, or a dependency that is always installed.
    Plainly,
    /// A requirement file.
    InRequirements,
    /// Dependencies that are installed only on request.
    InExtras,
    /// A group of dependencies other than `dev`.
    InGroup,
}

/// The test files, each with the name of its directory.
pub(super) fn test_files(dir: &ProjectDirectory<'_>) -> Vec<(&'static str, String)> {
    let in_directory = |directory: &'static str| {
        let names = if directory.is_empty() { dir.names() } else { dir.names_in(directory) };
        names.into_iter().filter(|name| is_test_file(name)).map(move |name| {
            (directory, if directory.is_empty() { name } else { format!("{directory}/{name}") })
        })
    };
    TEST_DIRECTORIES.into_iter().flat_map(in_directory).take(MAX_TEST_FILES).collect()
}

fn is_test_file(name: &str) -> bool {
    let is_module =
        name.strip_suffix(".py").is_some_and(|stem| stem.starts_with("test_") || stem.ends_with("_test"));
    is_module && !name.chars().any(char::is_control)
}

/// Nothing if no file shows any tests.
pub(super) fn collect(
    dir: &ProjectDirectory<'_>,
    requirements: &[String],
    test_files: &[(&'static str, String)],
    findings: &mut Findings,
) -> Option<Evidence> {
    let project = dir.exists("pyproject.toml").then(|| dir.toml("pyproject.toml", findings)).flatten();
    let required = requirements
        .iter()
        .find(|name| dir.text(name, findings).is_some_and(|text| text.lines().any(is_pytest)));
    let by_project =
        project.as_ref().filter(|project| speaks_of_pytest(project)).map(|_| "pyproject.toml".to_string());
    let named_by = configured(dir, findings).or(by_project).or_else(|| required.cloned());
    let Some(because) = named_by else {
        let (runner, because) = from_tests(dir, test_files, findings)?;
        return Some(Evidence { runner, because, named: vec![] });
    };
    let mut named: Vec<Named> = project.iter().flat_map(named_in).collect();
    named.extend(required.map(|_| Named::InRequirements));
    if named.is_empty() {
        named.push(Named::Plainly);
    }
    Some(Evidence { runner: Runner::Pytest, because, named })
}

/// Where `pyproject.toml` lists pytest so that it is not installed unless asked for.
fn named_in(project: &Table) -> Vec<Named> {
    let extras = project.get("project").and_then(|project| project.get("optional-dependencies"));
    let groups = project.get("dependency-groups").and_then(Value::as_table);
    let in_group = groups.is_some_and(|groups| {
        let is_in = |name: &str| groups.get(name).is_some_and(lists_pytest);
        !is_in("dev") && groups.keys().any(|name| is_in(name))
    });
    let in_extras = extras.is_some_and(lists_pytest).then_some(Named::InExtras);
    in_extras.into_iter().chain(in_group.then_some(Named::InGroup)).collect()
}

/// The file that configures pytest. These are INI files, whose sections can be told by their lines.
fn configured(dir: &ProjectDirectory<'_>, findings: &mut Findings) -> Option<String> {
    let mut has_section = |name: &str, section: &str| {
        dir.exists(name)
            && dir.text(name, findings).is_some_and(|text| text.lines().any(|line| line.trim() == section))
    };
    if has_section("setup.cfg", "[tool:pytest]") {
        return Some("setup.cfg".to_string());
    }
    if has_section("tox.ini", "[pytest]") {
        return Some("tox.ini".to_string());
    }
    dir.first(&["pytest.ini", ".pytest.ini", "conftest.py", "tests/conftest.py"]).map(str::to_string)
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

/// Whether a requirement such as `pytest>=8` is pytest or one of its plugins.
fn is_pytest(requirement: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name = requirement.trim().split(|c| !is_name(c)).next().unwrap_or_default().to_ascii_lowercase();
    name == "pytest" || name.starts_with("pytest-") || name.starts_with("pytest_")
}

/// What the test files themselves use.
fn from_tests(
    dir: &ProjectDirectory<'_>,
    test_files: &[(&'static str, String)],
    findings: &mut Findings,
) -> Option<(Runner, String)> {
    let mut functions = None;
    for (directory, name) in test_files {
        let Some(text) = dir.text(name, findings) else { continue };
        if imports(&text, "pytest") {
            return Some((Runner::Pytest, name.clone()));
        }
        if imports(&text, "unittest") && text.contains("TestCase") {
            return Some((Runner::Unittest { start: start(dir, directory) }, name.clone()));
        }
        if functions.is_none() && text.lines().any(|line| line.starts_with("def test_")) {
            functions = Some(name);
        }
    }
    // Bare functions are collected by pytest alone.
    functions.map(|name| (Runner::Pytest, name.clone()))
}

/// Discovery enters only packages, and finds modules only in the directory it begins at.
fn start(dir: &ProjectDirectory<'_>, directory: &'static str) -> Option<&'static str> {
    let is_found = directory.is_empty() || dir.exists(&format!("{directory}/__init__.py"));
    (!is_found).then_some(directory)
}

fn imports(text: &str, module: &str) -> bool {
    let is_module = |name: &str| name.split('.').next() == Some(module);
    let first = |words: &str| words.split_whitespace().next().is_some_and(is_module);
    let statements = text.lines().filter_map(|line| line.split('#').next()).flat_map(|code| code.split(';'));
    statements.filter_map(|statement| statement.trim_start().split_once([' ', '\t'])).any(|(word, names)| {
        match word {
            "import" => names.split(',').any(first),
            "from" => first(names),
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_found_in_every_form() {
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
            assert!(imports(text, "unittest"), "{text}");
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
            assert!(!imports(text, "unittest"), "{text}");
        }
    }

    #[test]
    fn requirements_are_told_by_their_name() {
        for requirement in
            ["pytest", " PyTest>=8 # why", "pytest-cov==1", "pytest[toml]; python_version > '3'"]
        {
            assert!(is_pytest(requirement), "{requirement}");
        }
        for requirement in ["# pytest", "nopytest", "pytestify", "", "-r pytest.txt"] {
            assert!(!is_pytest(requirement), "{requirement}");
        }
    }
}
