//! Python: what names pytest, where packages come from, and when nothing is installed.

use super::{Case, Memory, checks, notes};
use crate::detect;

const PLAIN: &str = "def test_a():\n    pass\n";
const UNITTEST: &str = "import unittest\n\nclass A(unittest.TestCase):\n    pass\n";
const UNLISTED: &str = " shows pytest, but no file lists what the tests need";
const VENV: &str = "python3 -m venv .venv";
/// Paths and texts.
type Files<'a> = &'a [(&'a str, &'a str)];

const UPGRADE: &str = ".venv/bin/pip install --upgrade pip";

#[test]
fn without_a_manifest_the_tests_use_what_python_has() {
    let table = [
        ("pytest.ini", "[pytest]"),
        ("setup.cfg", "[tool:pytest]\n"),
        ("tox.ini", "[pytest]\n"),
        ("conftest.py", ""),
    ];
    for (name, text) in table {
        let check = format!("test: python3 -m pytest (pytest) {name}");
        let note = format!("{name}{UNLISTED}");
        Case { files: &[(name, text)], checks: &[&check], setup: &[], notes: &[&note] }.assert_detected();
    }
}

fn project(text: &str) -> String {
    format!("[project]\nname = 'a'\n{text}")
}

/// A table of projects, each with the commands before the last one and what the last one installs.
#[track_caller]
fn assert_installed(table: &[(&str, String, &[&str], &str)]) {
    for (row, text, before, install) in table {
        let files = [("pyproject.toml", text.as_str())];
        let found = detect(&Memory::new(&files), &|path| path == ".venv/", &|_| true);
        assert_eq!(checks(&found), ["test: .venv/bin/python -m pytest (pytest) pyproject.toml"], "{row}");
        let mut expected: Vec<String> = before.iter().map(ToString::to_string).collect();
        expected.push(format!(".venv/bin/pip install {install}"));
        assert_eq!(found.setup, expected, "{row}");
    }
}

#[test]
fn pip_installs_the_project_and_what_its_tests_need() {
    assert_installed(&[
        ("an extra", project("[project.optional-dependencies]\ntest = ['pytest']"), &[VENV], "-e '.[test]'"),
        (
            "tests before development",
            project("[project.optional-dependencies]\ndev = ['pytest']\ntests = ['pytest', 'mock']"),
            &[VENV],
            "-e '.[tests]'",
        ),
        (
            "another name",
            project("[project.optional-dependencies]\ndocs = ['sphinx']\ndev = ['pytest']"),
            &[VENV],
            "-e '.[dev]'",
        ),
        (
            "an extra of another",
            project("[project.optional-dependencies]\ncov = ['pytest']\ntest = ['a[cov]']"),
            &[VENV],
            "-e '.[test]'",
        ),
        (
            "a group",
            project("[dependency-groups]\ntests = ['pytest']"),
            &[VENV, UPGRADE],
            "-e . --group tests",
        ),
        (
            "a group in a group",
            project("[dependency-groups]\nqa = ['pytest']\ntest = [{include-group = 'qa'}]\ndev = ['ruff']"),
            &[VENV, UPGRADE],
            "-e . --group test",
        ),
    ]);
}

#[test]
fn pip_installs_what_only_a_tool_lists_or_nothing_lists() {
    assert_installed(&[
        (
            "an extra without pytest",
            project("[project.optional-dependencies]\ntest = ['mock']\n[tool.pytest.ini_options]\n"),
            &[VENV],
            "-e '.[test]' pytest",
        ),
        (
            "a configuration alone",
            project("[tool.pytest.ini_options]\naddopts = '--cov=a'"),
            &[VENV],
            "-e . pytest pytest-cov",
        ),
        (
            "Poetry",
            "[tool.poetry]\nname = 'a'\n[tool.poetry.group.dev.dependencies]\npytest = '^8'\nmock = '*'"
                .to_string(),
            &[VENV],
            "-e . mock pytest",
        ),
        ("uv", project("[tool.uv]\ndev-dependencies = ['pytest ~= 8.0']"), &[VENV], "-e . 'pytest ~= 8.0'"),
        (
            "hatch",
            project("[tool.hatch.envs.test]\ndependencies = ['pytest', '{root}/x']"),
            &[VENV],
            "-e . pytest",
        ),
        (
            "no package",
            "[project]\nname = 'a'\ndependencies = ['flask', 'pytest']\n[tool.uv]\npackage = false"
                .to_string(),
            &[VENV],
            "flask pytest",
        ),
    ]);
}

#[test]
fn older_files_list_what_the_tests_need_too() {
    let table: [(&str, Files<'_>, &str); 9] = [
        ("setup.py", &[("setup.py", "setup(extras_require={'test': ['pytest', 'mock']})")], "-e '.[test]'"),
        ("tests_require", &[("setup.py", "setup(tests_require=['pytest', 'mock'])")], "-e . pytest mock"),
        (
            "setup.cfg",
            &[("setup.cfg", "[metadata]\nname = a\n[options.extras_require]\ntesting =\n    pytest\n")],
            "-e '.[testing]'",
        ),
        (
            "a file",
            &[("setup.py", ""), ("requirements-dev.txt", "pytest==8")],
            "-e . -r requirements-dev.txt",
        ),
        (
            "a directory",
            &[("setup.py", ""), ("requirements/docs.txt", "pytest"), ("requirements/tests.txt", "pytest")],
            "-e . -r requirements/tests.txt",
        ),
        (
            "tox",
            &[
                ("setup.py", ""),
                ("tox.ini", "[testenv]\ndeps =\n  pytest\n  py27: mock\n  x\ncommands = pytest"),
            ],
            "-e . pytest x",
        ),
        (
            "factors and extras of tox",
            &[
                ("setup.py", "setup(extras_require={'test': ['mock']})"),
                ("tox.ini", "[testenv]\ndeps =\n  unit: pytest\n  docs: sphinx\nextras = unit: test"),
                ("tests/requirements.txt", "x"),
            ],
            "-e '.[test]' -r tests/requirements.txt pytest",
        ),
        (
            "a file of tox",
            &[("setup.py", ""), ("tox.ini", "[testenv]\ndeps = -r{toxinidir}/reqs.txt\n[pytest]")],
            "-e . -r reqs.txt",
        ),
        (
            "imports",
            &[("setup.py", ""), ("a/tests/test_a.py", "import pytest, hypothesis.strategies\nimport flask")],
            "-e . hypothesis pytest",
        ),
    ];
    for (row, files, install) in table {
        let found = detect(&Memory::new(files), &|path| path == ".venv/", &|_| true);
        assert_eq!(found.setup, [VENV.to_string(), format!(".venv/bin/pip install {install}")], "{row}");
        assert!(
            checks(&found)[0].starts_with("test: .venv/bin/python -m pytest (pytest) "),
            "{row}: {found:?}"
        );
    }
}

#[test]
fn a_source_archive_says_the_version_that_tags_would() {
    let manifest =
        "[build-system]\nrequires = ['setuptools_scm>=8']\n[project]\nname = 'a'\n[tool.pytest.ini_options]";
    let archive = "Metadata-Version: 2.4\nName: a\nVersion: 2.1.0\n\nVersion: 3\n";
    for (row, text, expected) in [
        ("from tags", manifest, "SETUPTOOLS_SCM_PRETEND_VERSION=2.1.0 .venv/bin/pip install -e . pytest"),
        (
            "written down",
            &manifest.replace("setuptools_scm", "setuptools"),
            ".venv/bin/pip install -e . pytest",
        ),
    ] {
        let files = [("pyproject.toml", text), ("PKG-INFO", archive)];
        let found = detect(&Memory::new(&files), &|path| path == ".venv/", &|_| true);
        assert_eq!(found.setup, [VENV, expected], "{row}");
    }
}

#[test]
fn a_lock_file_shows_the_tool() {
    let dev = "[project]\nname = 'a'\n[dependency-groups]\ndev = ['pytest']";
    let extras = "[project]\nname = 'a'\n[project.optional-dependencies]\ntest = ['pytest']";
    let group = "[project]\nname = 'a'\n[dependency-groups]\ntest = ['pytest']\ndev = ['ruff']";
    let table = [
        ("uv.lock", dev, "uv run pytest", "uv sync --frozen"),
        ("uv.lock", extras, "uv run pytest", "uv sync --frozen --extra test"),
        ("uv.lock", group, "uv run pytest", "uv sync --frozen --group test"),
        ("poetry.lock", dev, "poetry run pytest", "poetry install"),
        ("poetry.lock", group, "poetry run pytest", "poetry install --with test"),
        ("pdm.lock", extras, "pdm run pytest", "pdm sync -G test"),
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
fn pip_does_the_work_of_a_tool_that_is_not_installed() {
    let files = [
        ("pyproject.toml", "[tool.poetry]\nname = 'a'\n[tool.poetry.group.test.dependencies]\npytest = '^8'"),
        ("poetry.lock", ""),
    ];
    let found = detect(&Memory::new(&files), &|_| false, &|program| program != "poetry");
    assert_eq!(checks(&found), ["test: .venv/bin/python -m pytest (pytest) pyproject.toml"]);
    let venv = "python3 -m venv .venv && echo '*' > .venv/.gitignore";
    assert_eq!(found.setup, [venv, ".venv/bin/pip install -e . pytest"], "git does not ignore .venv here");
    assert!(notes(&found)[0].starts_with("poetry.lock: `poetry` is not installed, so pip"), "{found:?}");
}

#[test]
fn requirements_go_into_a_virtual_environment() {
    let files = [("requirements.txt", "flask"), ("requirements-dev.txt", "-r requirements.txt\npytest==8")];
    Case {
        files: &files,
        checks: &["test: .venv/bin/python -m pytest (pytest) requirements-dev.txt"],
        setup: &[VENV, ".venv/bin/pip install -r requirements.txt -r requirements-dev.txt"],
        notes: &[],
    }
    .assert_detected();
    Case {
        files: &[("requirements.txt", "flask"), ("pytest.ini", "")],
        checks: &["test: .venv/bin/python -m pytest (pytest) pytest.ini"],
        setup: &[VENV, ".venv/bin/pip install -r requirements.txt pytest"],
        notes: &[],
    }
    .assert_detected();
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
        (vec![("a_test.py", UNITTEST)], "python3 -m unittest discover -p '*_test.py' (unittest) a_test.py"),
        (vec![("manage.py", ""), ("app/tests.py", UNITTEST)], "python3 manage.py test (unittest) manage.py"),
        (vec![("a_test.py", "import pytest\n")], "python3 -m pytest (pytest) a_test.py"),
        (vec![("tests/test_a.py", PLAIN)], "python3 -m pytest (pytest) tests/test_a.py"),
    ];
    for (files, expected) in table {
        let check = format!("test: {expected}");
        let path = expected.rsplit(' ').next().unwrap_or_default();
        let note = format!("{path}{UNLISTED}");
        let notes: &[&str] = if expected.contains("(pytest)") { &[&note] } else { &[] };
        Case { files: &files, checks: &[&check], setup: &[], notes }.assert_detected();
    }
    Case {
        files: &[("tests/test_a.py", UNITTEST), ("uv.lock", ""), ("pyproject.toml", "[project]\nname = 'a'")],
        checks: &["test: uv run python -m unittest discover -s tests (unittest) tests/test_a.py, uv.lock"],
        setup: &["uv sync --frozen"],
        notes: &[],
    }
    .assert_detected();
}

#[test]
fn tox_and_nox_are_used_only_where_nothing_simpler_is_found() {
    let tox = "[testenv]\ncommands = python run_tests.py\n";
    Case {
        files: &[("tox.ini", tox), ("setup.py", "")],
        checks: &["test: .venv/bin/tox -e py (auto) tox.ini"],
        setup: &[VENV, ".venv/bin/pip install tox"],
        notes: &[],
    }
    .assert_detected();
    Case {
        files: &[("noxfile.py", "@nox.session\ndef tests(session):\n    session.run('x')\n")],
        checks: &["test: .venv/bin/nox -s tests (auto) noxfile.py"],
        setup: &[VENV, ".venv/bin/pip install nox"],
        notes: &[],
    }
    .assert_detected();
    Case {
        files: &[("tox.ini", tox), ("noxfile.py", ""), ("setup.py", ""), ("tests/test_a.py", UNITTEST)],
        checks: &["test: .venv/bin/python -m unittest discover -s tests (unittest) tests/test_a.py"],
        setup: &[VENV, ".venv/bin/pip install -e ."],
        notes: &["tox.ini: unittest is run directly", "noxfile.py: unittest is run directly"],
    }
    .assert_detected();
}

#[test]
fn a_project_without_tests_is_noted() {
    Case {
        files: &[("pyproject.toml", "[project]\nname = 'a'")],
        checks: &[],
        setup: &[],
        notes: &["pyproject.toml: neither pytest nor unittest tests", "No checks found."],
    }
    .assert_detected();
    // A configuration of tools alone, as many JavaScript projects have one.
    Case { files: &[("setup.cfg", "[flake8]")], checks: &[], setup: &[], notes: &["No checks found."] }
        .assert_detected();
}
