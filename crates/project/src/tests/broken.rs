//! Manifests that are broken, huge or strange become notes that name them; nothing fails.

use proptest::prelude::*;

use super::{Case, Memory, checks, found, notes};
use crate::{MAX_FILE_BYTES, config_yaml, detect};

#[test]
fn a_broken_manifest_is_ignored_and_named() {
    let table = [
        ("package.json", "{", "package.json was ignored, because it is not valid JSON: "),
        ("Cargo.toml", "[package", "Cargo.toml was ignored, because it is not valid TOML: "),
        ("deno.json", "{,}", "deno.json was ignored, because it is not valid JSON: "),
    ];
    for (name, text, note) in table {
        Case { files: &[(name, text)], checks: &[], setup: &[], notes: &[note, "No checks found."] }
            .assert_detected();
    }
    Case {
        files: &[("composer.json", "")],
        checks: &[],
        setup: &["composer install --no-interaction"],
        notes: &["composer.json was ignored, because it is not valid JSON", "No checks found."],
    }
    .assert_detected();
    Case {
        files: &[("pyproject.toml", "x ="), ("web/package.json", "]")],
        checks: &[],
        setup: &[],
        notes: &[
            "pyproject.toml: neither pytest",
            "pyproject.toml was ignored, because it is not valid TOML",
            "web/package.json was ignored, because it is not valid JSON",
            "No checks found.",
        ],
    }
    .assert_detected();
}

#[test]
fn a_broken_manifest_does_not_hide_the_others() {
    let found = found(&[("package.json", "{"), ("go.mod", ""), ("pyproject.toml", "="), ("pytest.ini", "")]);
    assert_eq!(
        checks(&found),
        ["test-python: python3 -m pytest (pytest) pytest.ini", "test-go: go test ./... (go_test) go.mod"]
    );
    assert_eq!(notes(&found).len(), 3, "{found:#?}");
}

#[test]
fn a_huge_file_is_not_read_and_is_named() {
    let huge = " ".repeat(usize::try_from(MAX_FILE_BYTES).unwrap() + 1);
    for name in ["package.json", "Cargo.toml", "Makefile", "CMakeLists.txt"] {
        Case {
            files: &[(name, &huge)],
            checks: &[],
            setup: &[],
            notes: &[&format!("{name} was not read: larger than 1048576 bytes"), "No checks found."],
        }
        .assert_detected();
    }
}

#[test]
fn deep_nesting_is_refused_and_a_byte_order_mark_is_not() {
    let deep = "[".repeat(100_000);
    Case {
        files: &[("package.json", &deep)],
        checks: &[],
        setup: &[],
        notes: &["package.json was ignored, because it is not valid JSON", "No checks found."],
    }
    .assert_detected();
    let deep = format!("a = {}", "[".repeat(100_000));
    Case {
        files: &[("Cargo.toml", &deep)],
        checks: &[],
        setup: &[],
        notes: &["Cargo.toml was ignored, because it is not valid TOML", "No checks found."],
    }
    .assert_detected();
    Case {
        files: &[("Cargo.toml", "\u{feff}[workspace]")],
        checks: &["test: cargo test --workspace (cargo_test) Cargo.toml"],
        setup: &[],
        notes: &[],
    }
    .assert_detected();
}

const NAMES: [&str; 19] = [
    "Cargo.toml",
    "package.json",
    "yarn.lock",
    "deno.json",
    "pyproject.toml",
    "requirements.txt",
    "tox.ini",
    "setup.cfg",
    "tests/test_a.py",
    "Gemfile",
    "Rakefile",
    "composer.json",
    "Makefile",
    "CMakeLists.txt",
    "A.sln",
    "go.mod",
    ".env",
    ".npmrc",
    "pom.xml",
];

proptest! {
    /// Catches reading a manifest with anything that panics, and an answer without checks that says nothing.
    #[test]
    fn any_contents_give_an_answer(
        files in proptest::collection::vec(
            ("(|[^/]{1,3}/)", 0..NAMES.len(), "(\\PC|[\\n\\t\\[\\]{}:\"=])*"), 0..8)
    ) {
        let files: Vec<(String, String)> = files
            .into_iter()
            .map(|(directory, index, text)| (format!("{directory}{}", NAMES[index]), text))
            .collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let found = detect(&Memory::new(&files), &|_| true, &|_| true);
        prop_assert!(!found.checks.is_empty() || !found.notes.is_empty());
        prop_assert_eq!(&found, &detect(&Memory::new(&files), &|_| true, &|_| true));
        super::configuration::assert_says_exactly(&found, &config_yaml(&found, "s.json", fixpoint_vocabulary::Lang::Ja));
    }
}
