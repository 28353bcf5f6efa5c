//! Python: what names pytest, where packages come from, and when nothing is installed.

use super::Case;

const PLAIN: &str = "def test_a():\n    pass\n";
const UNITTEST: &str = "import unittest\n\nclass A(unittest.TestCase):\n    pass\n";
const NO_LOCK: &str = "No lock file of uv, Poetry, PDM or Pipenv found";

#[test]
fn pytest_is_named_in_many_ways() {
    let table = [
        ("pytest.ini", "[pytest]"),
        ("setup.cfg", "[metadata]\n[tool:pytest]\n"),
        ("tox.ini", "[pytest]\n"),
        ("conftest.py", ""),
    ];
    for (name, text) in table {
        let check = format!("test: python3 -m pytest (pytest) {name}");
        Case { files: &[(name, text)], checks: &[&check], setup: &[], notes: &[] }.assert_detected();
    }
    let projects = [
        "[tool.pytest.ini_options]\naddopts = '-q'",
        "[project]\ndependencies = ['pytest>=8']",
        "[project.optional-dependencies]\ntest = ['requests', 'pytest']",
        "[dependency-groups]\ndev = ['pytest-cov']",
        "[tool.poetry.group.dev.dependencies]\npytest = '^8'",
        "[tool.uv]\ndev-dependencies = ['PyTest ~= 8.0']",
    ];
    for text in projects {
        Case {
            files: &[("pyproject.toml", text)],
            checks: &["test: python3 -m pytest (pytest) pyproject.toml"],
            setup: &[],
            notes: &[NO_LOCK],
        }
        .assert_detected();
    }
}

#[test]
fn a_lock_file_shows_the_tool() {
    let dev = "[dependency-groups]\ndev = ['pytest']";
    let extras = "[project.optional-dependencies]\ntest = ['pytest']";
    let group = "[dependency-groups]\nqa = ['pytest']\ndev = ['ruff']";
    let table = [
        ("uv.lock", dev, "uv run pytest", "uv sync --frozen"),
        ("uv.lock", extras, "uv run pytest", "uv sync --frozen --all-extras"),
        ("uv.lock", group, "uv run pytest", "uv sync --frozen --all-groups"),
        ("poetry.lock", dev, "poetry run pytest", "poetry install"),
        ("pdm.lock", dev, "pdm run pytest", "pdm sync -G :all"),
        ("Pipfile.lock", dev, "pipenv run pytest", "pipenv sync --dev"),
    ];
    for (lock, project, command, setup) in table {
        let check = format!("test: {command} (pytest) pyproject.toml, {lock}");
        Case {
            files: &[("pyproject.toml", project), (lock, ""), ("requirements.txt", "flask")],
            checks: &[&check],
            setup: &[setup],
            notes: &[],
        }
        .assert_detected();
    }
}

#[test]
fn requirements_go_into_a_virtual_environment_that_git_ignores() {
    let files = [("requirements.txt", "flask"), ("requirements-dev.txt", "-r requirements.txt\npytest==8")];
    Case {
        files: &files,
        checks: &["test: .venv/bin/python -m pytest (pytest) requirements-dev.txt"],
        setup: &[
            "python3 -m venv .venv && .venv/bin/pip install -r requirements-dev.txt -r requirements.txt",
        ],
        notes: &[],
    }
    .assert_detected_ignoring(&[".venv/"]);
    Case {
        files: &files,
        checks: &["test: python3 -m pytest (pytest) requirements-dev.txt"],
        setup: &[],
        notes: &["requirements-dev.txt, requirements.txt will not be installed, because git does not ignore"],
    }
    .assert_detected();
}

#[test]
fn pytest_is_installed_where_no_requirement_lists_it() {
    Case {
        files: &[("requirements.txt", "flask"), ("pytest.ini", "")],
        checks: &["test: .venv/bin/python -m pytest (pytest) pytest.ini"],
        setup: &["python3 -m venv .venv && .venv/bin/pip install -r requirements.txt pytest"],
        notes: &[],
    }
    .assert_detected_ignoring(&[".venv/"]);
}

#[test]
fn the_tests_themselves_show_the_runner_if_nothing_else_does() {
    let table = [
        (vec![("test_a.py", UNITTEST)], "python3 -m unittest discover (unittest) test_a.py"),
        (
            vec![("tests/test_a.py", UNITTEST)],
            "python3 -m unittest discover -s tests (unittest) tests/test_a.py",
        ),
        (
            vec![("tests/test_a.py", UNITTEST), ("tests/__init__.py", "")],
            "python3 -m unittest discover (unittest) tests/test_a.py",
        ),
        (
            vec![("test_a.py", "import sys, unittest\n\nclass A(unittest.TestCase):\n    pass\n")],
            "python3 -m unittest discover (unittest) test_a.py",
        ),
        (vec![("a_test.py", "import pytest\n")], "python3 -m pytest (pytest) a_test.py"),
    ];
    for (files, expected) in table {
        let check = format!("test: {expected}");
        let notes: &[&str] =
            if expected.contains("(pytest)") { &["a_test.py looks like a pytest test"] } else { &[] };
        Case { files: &files, checks: &[&check], setup: &[], notes }.assert_detected();
    }
    Case {
        files: &[("tests/test_a.py", PLAIN)],
        checks: &["test: python3 -m pytest (pytest) tests/test_a.py"],
        setup: &[],
        notes: &["tests/test_a.py looks like a pytest test, but no file lists pytest"],
    }
    .assert_detected();
    Case {
        files: &[("tests/test_a.py", UNITTEST), ("uv.lock", ""), ("pyproject.toml", "[project]\nname = 'a'")],
        checks: &["test: uv run python -m unittest discover -s tests (unittest) tests/test_a.py, uv.lock"],
        setup: &["uv sync --frozen"],
        notes: &[],
    }
    .assert_detected();
}

#[test]
fn a_project_without_tests_is_noted() {
    Case {
        files: &[("pyproject.toml", "[project]\nname = 'a'")],
        checks: &[],
        setup: &[],
        notes: &["No check for pyproject.toml: neither pytest nor unittest tests", "No checks found."],
    }
    .assert_detected();
    // A configuration of tools alone, as many JavaScript projects have one.
    Case { files: &[("setup.cfg", "[flake8]")], checks: &[], setup: &[], notes: &["No checks found."] }
        .assert_detected();
}
