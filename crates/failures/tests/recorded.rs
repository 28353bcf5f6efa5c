//! Every recorded output is read as its `expected.json` says, and the same failures are found in the second recording.
//!
//! `UPDATE_EXPECTED=1` writes the expectations anew, to be read through before they are kept.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    reason = "tests read recorded files"
)]

mod fixtures;

use std::collections::BTreeSet;
use std::{env, fs};

use fixpoint_failures::{Kind, Report, Runner};

#[test]
fn every_output_is_read_as_expected() {
    let update = env::var_os("UPDATE_EXPECTED").is_some();
    let mut wrong = Vec::new();
    for case in fixtures::cases() {
        let report = case.read(&case.output, fixtures::HERE);
        let path = case.folder.join("expected.json");
        if update {
            let text = serde_json::to_string_pretty(&report).expect("JSON") + "\n";
            fs::write(&path, text).expect("written");
        }
        let expected: Report = fs::read_to_string(&path)
            .ok()
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_else(|| panic!("no expectation in {path:?}"));
        if report != expected {
            wrong.push(format!("{}/{}: {report:#?}", case.runner, case.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Expectations are written by the program, so this holds them against what the exit code alone says.
#[test]
fn a_command_that_failed_has_failures_and_no_other_has() {
    for case in fixtures::cases() {
        let report = case.read(&case.output, fixtures::HERE);
        assert_eq!(case.exit_code != 0, !report.failures.is_empty(), "{}/{}", case.runner, case.name);
    }
}

/// Cases that another reader reads, or that print nothing that only their tool prints.
const OTHERS: [(&str, &[&str], &str); 18] = [
    ("ava", &["tap"], "tap"),
    ("bun", &["junit"], "junit"),
    ("deno", &["junit"], "junit"),
    ("deno", &["tap"], "tap"),
    ("deno", &["lint"], "rustc"),
    ("deno", &["check", "compile_error"], "tsc"),
    ("deno", &["collection", "no_such_file"], "generic"),
    ("doctest", &["pytest", "pytest_quiet", "pytest_report", "pytest_text"], "pytest"),
    ("doctest", &["all_pass"], "generic"),
    ("jasmine", &["collection", "no_such_file"], "generic"),
    ("tape", &["collection", "nothing_ran"], "generic"),
    ("playwright", &["collection", "nothing_ran"], "generic"),
    ("robot", &["no_such_file", "nothing_ran"], "generic"),
    ("django", &["check", "settings_missing"], "generic"),
    ("ruff", &["concise", "github", "grouped", "pylint_format"], "linter"),
    ("ruff", &["all_pass", "statistics"], "generic"),
    ("shellcheck", &["gcc"], "linter"),
    ("biome", &["github"], "linter"),
];

#[test]
fn the_runner_is_recognised() {
    for case in fixtures::cases() {
        let report = case.read(&case.output, fixtures::HERE);
        let expected = match (case.runner.as_str(), case.name.as_str()) {
            ("go_json", _) => "go_test",
            ("googletest", "compile_error") => "gcc",
            ("googletest", _) => "google_test",
            ("catch2", "junit") => "junit",
            // The tests it ran say more than it does.
            ("ctest", "output_on_failure") => "google_test",
            ("exunit", "module_missing") => "generic",
            ("exunit", _) => "ex_unit",
            ("maven" | "gradle", "compile_error" | "compile_error_in_tests") => "javac",
            ("javac", "all_pass" | "no_such_file" | "warnings") => "generic",
            ("javac", "werror") => "linter",
            ("clang", "all_pass") => "generic",
            ("clang", _) => "gcc",
            ("go_build" | "go_vet" | "golangci_lint", "all_pass") => "generic",
            ("go_build", "no_such_package") | ("golangci_lint", "no_such_linter") => "generic",
            ("go_build" | "go_vet", "modules_missing" | "whole_module") | ("golangci_lint", _) => "linter",
            ("go_build" | "go_vet", _) => "go_test",
            ("cargo_test" | "nextest", "compile_error") => "rustc",
            ("node_test", "tap") => "tap",
            // It prints nothing that only this tool prints.
            ("cargo_test", "nothing") | ("jest", "nothing_ran") => "generic",
            ("unittest", "collection") => "generic",
            ("unittest", "crash") | ("gcc" | "tsc" | "eslint", "all_pass") => "generic",
            ("flake8" | "pylint" | "mypy" | "pyright" | "shellcheck", "all_pass") => "generic",
            ("mypy" | "pyright" | "shellcheck" | "tsc" | "eslint", "no_such_file") => "generic",
            ("rustc", "warnings") => "rustc",
            (tool, name)
                if OTHERS.iter().any(|(other, names, _)| *other == tool && names.contains(&name)) =>
            {
                let found = OTHERS.iter().find(|(other, names, _)| *other == tool && names.contains(&name));
                found.expect("a row").2
            }
            ("tape", _) => "tap",
            ("django", _) => "unittest",
            ("flake8" | "pylint" | "mypy" | "yamllint", _) => "linter",
            (runner, _) => runner,
        };
        assert_eq!(report.runner.name(), expected, "{}/{}", case.runner, case.name);
    }
}

#[test]
fn the_second_recording_has_the_same_failures() {
    let mut wrong = Vec::new();
    for case in fixtures::cases() {
        let ids = |report: &Report| -> BTreeSet<String> {
            report.failures.iter().map(|failure| failure.fingerprint.clone()).collect()
        };
        let plain = case.read(&case.output, fixtures::HERE);
        let shifted = case.read(&case.shifted, fixtures::SHIFTED);
        let (one, other) = (ids(&plain), ids(&shifted));
        // It shows one finding for each line, and not always the same.
        let is_random = case.runner == "golangci_lint";
        if one != other && !is_random {
            let only = |report: &Report, than: &BTreeSet<String>| {
                let different = report.failures.iter().filter(|failure| !than.contains(&failure.fingerprint));
                different.map(|failure| format!("    {failure:?}\n")).collect::<String>()
            };
            wrong.push(format!(
                "{}/{}:\n  first:\n{}  second:\n{}",
                case.runner,
                case.name,
                only(&plain, &other),
                only(&shifted, &one)
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_run_that_stopped_early_says_so() {
    for case in fixtures::cases() {
        let report = case.read(&case.output, fixtures::HERE);
        let stops = matches!(case.name.as_str(), "compile_error" | "crash" | "collection")
            || (case.name == "fail_fast"
                && ["cargo_test", "nextest", "pytest", "jest", "vitest"].contains(&case.runner.as_str()));
        if stops && report.runner != Runner::Generic {
            assert!(report.masked, "{}/{}", case.runner, case.name);
        }
        if case.name == "all_pass" {
            assert!(!report.masked, "{}/{}", case.runner, case.name);
        }
    }
}

#[test]
fn kinds_are_told_apart() {
    let kinds = |runner: &str, name: &str| -> Vec<Kind> {
        let case = fixtures::cases()
            .into_iter()
            .find(|case| case.runner == runner && case.name == name)
            .expect("a case");
        case.read(&case.output, fixtures::HERE).failures.into_iter().map(|failure| failure.kind).collect()
    };
    for runner in ["cargo_test", "nextest", "pytest", "unittest", "go_test", "jest", "vitest", "mocha"] {
        assert_eq!(kinds(runner, "assertion").first(), Some(&Kind::Assertion), "{runner}");
    }
    for runner in ["nextest", "go_test", "jest", "vitest", "mocha", "node_test", "go_json"] {
        assert!(kinds(runner, "timeout").contains(&Kind::Timeout), "{runner}");
    }
    for runner in ["cargo_test", "nextest", "pytest"] {
        assert!(kinds(runner, "crash").contains(&Kind::Crash), "{runner}");
    }
    for (runner, name) in [
        ("cargo_test", "compile_error"),
        ("go_test", "compile_error"),
        ("pytest", "collection"),
        ("jest", "collection"),
        ("vitest", "collection"),
        ("tsc", "errors"),
        ("gcc", "errors"),
    ] {
        assert!(kinds(runner, name).contains(&Kind::Compile), "{runner}");
    }
    assert_eq!(kinds("generic", "silent"), [Kind::Exit(9)]);
    assert_eq!(kinds("generic", "script"), [Kind::Exception("ZeroDivisionError".into())]);
}
