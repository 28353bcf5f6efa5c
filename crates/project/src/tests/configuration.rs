//! The configuration that is written: read back by the product's own loader, it says exactly what was found.

use std::fs;

use fixpoint_config::{Sources, load};
use fixpoint_failures::Runner;
use fixpoint_vocabulary::settings::{Check, CheckKind, CheckVerdict, RUNNERS, Settings};
use fixpoint_vocabulary::{Lang, Text};
use proptest::prelude::*;

use super::{found, found_with};
use crate::{DetectedCheck, DetectedProject, UnusableCheck, config_yaml};

/// What the loader makes of a text in `.fixpoint/config.yaml`.
fn loaded(text: &str) -> Settings {
    let root = tempfile::tempdir().expect("a directory");
    fs::create_dir(root.path().join(".fixpoint")).expect("made");
    fs::write(root.path().join(".fixpoint/config.yaml"), text).expect("written");
    let sources = Sources {
        user_dir: None,
        working_dir: root.path().to_path_buf(),
        project_files: fixpoint_config::ProjectFiles::Read,
        environment: vec![],
        user_config_api: None,
        sets: vec![],
    };
    match load(&sources) {
        Ok(loaded) => {
            assert_eq!(loaded.warnings, Vec::<String>::new(), "\n{text}");
            assert!(loaded.project_root.is_some(), "the file was not looked at");
            loaded.settings
        }
        Err(errors) => panic!("{errors}\n{text}"),
    }
}

/// The settings are the defaults, but for what was found.
pub(super) fn assert_says_exactly(found: &DetectedProject, text: &str) {
    let mut expected = Settings {
        checks: found.checks.iter().map(|found| found.check.clone()).collect(),
        ..Settings::default()
    };
    expected.workspace.setup = found.setup.clone();
    expected.workspace.copy = found.copy.clone();
    assert_eq!(loaded(text), expected, "\n{text}");
}

#[test]
fn the_file_as_it_is_written() {
    let found = found_with(
        &[
            ("package.json", r#"{"scripts": {"test": "vitest run", "test:e2e": "playwright test"}}"#),
            ("package-lock.json", "{}"),
            ("my app.sln", ""),
            (".env", ""),
        ],
        &[".env"],
    );
    let text = config_yaml(&found, "./config.schema.json", Lang::En);
    let expected = "\
# yaml-language-server: $schema=./config.schema.json

# Commands that test the project, run by `sh -c`. A `guard` must show no failure that was not there
# before; a `goal` must pass.
checks:
  # from package.json, package-lock.json
  - name: test-node
    command: npm test
    kind: guard
    runner: vitest
  # from my app.sln
  - name: test-dotnet
    command: \"dotnet test 'my app.sln'\"
    kind: guard

# How the private copies of the repository are prepared.
workspace:
  # Run once in a new workspace.
  setup:
    - npm ci
    - \"dotnet restore 'my app.sln'\"
  # Files to copy although git ignores them; agents can read them.
  copy:
    - .env

# Not used: package.json `test:e2e`: the name says that it is slow or needs a browser or a server.
";
    assert_eq!(text, expected);
    assert_says_exactly(&found, &text);
}

/// Catches a line of a check that is left out which is not a comment.
#[test]
fn checks_that_cannot_be_used_are_comments() {
    let mut found = found(&[("Cargo.toml", "[package]"), ("go.mod", "")]);
    let detected = found.checks.remove(0);
    found.unusable.push(UnusableCheck { detected, why: Text::verbatim("`cargo` is not installed") });
    let text = config_yaml(&found, "s.json", Lang::En);
    assert_says_exactly(&found, &text);
    let expected = "\
# Not usable: `cargo` is not installed
#  # from Cargo.toml
#  - name: test-rust
#    command: cargo test
#    kind: guard
#    runner: cargo_test
";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn without_checks_it_shows_how_to_write_one() {
    let found = found(&[]);
    let text = config_yaml(&found, "./config.schema.json", Lang::Ja);
    assert!(text.contains("\nchecks: []\n# - name: test\n"), "{text}");
    assert!(text.contains("# チェックが見つかりませんでした"), "{text}");
    assert_says_exactly(&found, &text);
}

#[test]
fn the_setting_accepts_exactly_the_runners_whose_output_can_be_read() {
    let readable: Vec<&str> = core::iter::once("auto").chain(Runner::ALL.map(Runner::name)).collect();
    assert_eq!(readable, RUNNERS);
}

#[test]
fn every_runner_that_can_be_detected_is_one_that_can_be_read() {
    let known: Vec<&str> = [
        Runner::CargoTest,
        Runner::Nextest,
        Runner::GoTest,
        Runner::Pytest,
        Runner::Unittest,
        Runner::Jest,
        Runner::Vitest,
        Runner::Mocha,
        Runner::NodeTest,
        Runner::Eslint,
        Runner::Tsc,
    ]
    .map(Runner::name)
    .to_vec();
    let told = |files: &[(&str, &str)]| -> Vec<String> {
        found(files).checks.into_iter().map(|found| found.check.runner).collect()
    };
    let script =
        |line: &str| format!(r#"{{"scripts": {{"test": "{line}", "lint": "eslint .", "tsc": "tsc"}}}}"#);
    let manifests = ["jest", "vitest run", "mocha", "node --test"].map(script);
    let mut runners = told(&[("Cargo.toml", ""), ("go.mod", ""), ("pytest.ini", "")]);
    runners.extend(told(&[("Cargo.toml", ""), (".config/nextest.toml", "")]));
    runners.extend(told(&[("test_a.py", "import unittest\nclass A(unittest.TestCase): pass")]));
    runners.extend(manifests.iter().flat_map(|manifest| told(&[("package.json", manifest)])));
    for runner in &runners {
        assert!(known.contains(&runner.as_str()), "{runner}");
    }
    for runner in known {
        assert!(runners.iter().any(|told| told == runner), "{runner} is never detected");
    }
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[ -~]{0,12}",
        "[.0-9eE+-]{0,5}",
        "(true|No|null|~|- a|a: b|a #b|'|\"|\\.inf|0x1|2001-01-01| a|a |%a|@a|`|---|\\.\\.\\.)",
        "[a\u{85}\u{2028}\u{feff}\u{0}\u{7f}\r\n\t ]{0,6}",
    ]
}

fn any_check() -> impl Strategy<Value = DetectedCheck> {
    let name = any_text().prop_filter("a name", |name| !name.is_empty());
    let command = any_text().prop_filter("a command", |command| !command.is_empty());
    let kind = prop_oneof![Just(CheckKind::Goal), Just(CheckKind::Guard)];
    let verdict = prop_oneof![Just(CheckVerdict::Auto), Just(CheckVerdict::File), Just(CheckVerdict::Text)];
    let lock = proptest::option::of(any_text());
    (name, command, kind, verdict, lock, 1u32..=86400, any_text()).prop_map(
        |(name, command, kind, verdict, lock, timeout, because)| DetectedCheck {
            check: Check { name, command, kind, verdict, lock, timeout, runner: "auto".to_string() },
            because,
        },
    )
}

proptest! {
    /// Catches writing a text without quotes where YAML reads it as a number, a word or the end of a comment.
    #[test]
    fn the_loader_reads_back_exactly_what_was_detected(
        checks in proptest::collection::vec(any_check(), 0..4),
        setup in proptest::collection::vec(any_text(), 0..3),
        copy in proptest::collection::vec(any_text().prop_filter("a glob", |text| !text.contains(['[', '\\'])), 0..3),
        notes in proptest::collection::vec(any_text(), 0..3),
        schema in any_text(),
    ) {
        // No two checks may have the same name.
        let mut checks = checks;
        for (number, found) in checks.iter_mut().enumerate() {
            found.check.name.push_str(&number.to_string());
        }
        let notes = notes.into_iter().map(Text::verbatim).collect();
        let found = DetectedProject { checks, setup, copy, notes, ..DetectedProject::default() };
        let text = config_yaml(&found, &schema, Lang::En);
        prop_assert!(text.starts_with("# yaml-language-server: $schema="));
        assert_says_exactly(&found, &text);
    }
}
