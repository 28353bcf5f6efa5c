//! Several projects in one repository, and the names of their checks.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::{Case, Memory, checks, found};
use crate::detect;
use crate::findings::MAX_CHECKS;

const NODE: &str = r#"{"scripts": {"test": "jest", "lint": "eslint ."}}"#;

#[test]
fn checks_of_several_ecosystems_have_different_names() {
    Case {
        files: &[("Cargo.toml", "[package]"), ("package.json", NODE), ("go.mod", "")],
        checks: &[
            "test-rust: cargo test (cargo_test) Cargo.toml",
            "test-node: npm test (jest) package.json",
            "lint: npm run lint (eslint) package.json",
            "test-go: go test ./... (go_test) go.mod",
        ],
        setup: &[],
        notes: &[],
    }
    .assert_detected();
}

#[test]
fn without_a_manifest_at_the_root_the_directories_below_are_read() {
    Case {
        files: &[
            ("README.md", ""),
            ("api/go.mod", ""),
            ("web app/package.json", NODE),
            ("web app/package-lock.json", "{}"),
            ("web app/Cargo.toml", "[package]"),
            ("deep/er/go.mod", ""),
            (".hidden/go.mod", ""),
            ("node_modules/package.json", NODE),
            ("built/go.mod", ""),
        ],
        checks: &[
            "test-api: cd api && go test ./... (go_test) api/go.mod",
            "test-web app-rust: cd 'web app' && cargo test (cargo_test) web app/Cargo.toml",
            "test-web app-node: cd 'web app' && npm test (jest) web app/package.json, web app/package-lock.json",
            "lint-web app: cd 'web app' && npm run lint (eslint) web app/package.json, web app/package-lock.json",
        ],
        setup: &["cd 'web app' && npm ci"],
        notes: &[],
    }
    .assert_detected_ignoring(&["built/", "web app/node_modules/"]);
}

#[test]
fn a_root_with_tests_hides_projects_of_its_own_kind_below() {
    Case {
        files: &[
            ("Cargo.toml", "[workspace]"),
            ("crates/a/Cargo.toml", "[package]"),
            ("web/package.json", NODE),
        ],
        checks: &[
            "test: cargo test --workspace (cargo_test) Cargo.toml",
            "test-web: cd web && npm test (jest) web/package.json",
            "lint-web: cd web && npm run lint (eslint) web/package.json",
        ],
        setup: &[],
        notes: &["crates/a/: the checks of the root directory usually include it"],
    }
    .assert_detected();
    // A module of Go never includes the modules below it.
    Case {
        files: &[("go.mod", ""), ("services/api/go.mod", "")],
        checks: &[
            "test: go test ./... (go_test) go.mod",
            "test-services/api: cd services/api && go test ./... (go_test) services/api/go.mod",
        ],
        setup: &[],
        notes: &[],
    }
    .assert_detected();
}

#[test]
fn members_below_the_usual_directories_are_found() {
    Case {
        files: &[
            ("crates/a/Cargo.toml", "[package]"),
            ("apps/web/package.json", NODE),
            ("apps/docs/package.json", NODE),
            ("packages/py/pyproject.toml", "[project]\nname = 'py'\n[dependency-groups]\ntest = ['pytest']"),
        ],
        checks: &[
            "test-apps/web: cd apps/web && npm test (jest) apps/web/package.json",
            "lint-apps/web: cd apps/web && npm run lint (eslint) apps/web/package.json",
            "test-crates/a: cd crates/a && cargo test (cargo_test) crates/a/Cargo.toml",
            "test-packages/py: cd packages/py && .venv/bin/python -m pytest (pytest) packages/py/pyproject.toml",
        ],
        setup: &[
            "cd packages/py && python3 -m venv .venv",
            "cd packages/py && .venv/bin/pip install --upgrade pip",
            "cd packages/py && .venv/bin/pip install -e . --group test",
        ],
        notes: &[],
    }
    .assert_detected_ignoring(&["packages/py/.venv/"]);
}

#[test]
fn the_packages_of_a_workspace_are_installed_once() {
    Case {
        files: &[
            ("package.json", r#"{"packageManager": "pnpm@9.0.0"}"#),
            ("pnpm-workspace.yaml", "packages: ['packages/*']"),
            ("pnpm-lock.yaml", ""),
            ("packages/a/package.json", r#"{"scripts": {"test": "vitest run"}, "dependencies": {"x": "1"}}"#),
            ("packages/b/package.json", "{}"),
        ],
        checks: &["test-packages/a: cd packages/a && pnpm test (vitest) packages/a/package.json"],
        setup: &["pnpm install --frozen-lockfile"],
        notes: &["package.json: it has no `test` script", "packages/b/package.json: it has no `test` script"],
    }
    .assert_detected();
}

#[test]
fn a_root_manifest_without_checks_does_not_hide_what_is_below() {
    Case {
        files: &[("package.json", "{}"), ("api/go.mod", "")],
        checks: &["test-api: cd api && go test ./... (go_test) api/go.mod"],
        setup: &[],
        notes: &["package.json: it has no `test` script"],
    }
    .assert_detected();
}

#[test]
fn a_root_that_only_lints_does_not_hide_the_tests_below() {
    Case {
        files: &[("package.json", r#"{"scripts": {"lint": "eslint ."}}"#), ("api/go.mod", "")],
        checks: &[
            "lint: npm run lint (eslint) package.json",
            "test-api: cd api && go test ./... (go_test) api/go.mod",
        ],
        setup: &[],
        notes: &["package.json: it has no `test` script"],
    }
    .assert_detected();
}

#[test]
fn there_are_no_more_checks_than_a_configuration_may_have() {
    let paths: Vec<String> = (0..MAX_CHECKS + 7).map(|number| format!("p{number:03}/go.mod")).collect();
    let files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "")).collect();
    let found = found(&files);
    assert_eq!(found.checks.len(), MAX_CHECKS);
    assert_eq!(super::notes(&found), ["7 more checks were not added: a configuration may have at most 100."]);
}

#[test]
fn a_directory_named_like_an_ecosystem_takes_no_name() {
    let found = found(&[
        ("a/go.mod", ""),
        ("a/Cargo.toml", "[package]"),
        ("a-go/go.mod", ""),
        ("a-rust/Cargo.toml", "[package]"),
    ]);
    let names: Vec<String> =
        checks(&found).iter().map(|line| line.split(':').next().unwrap().to_string()).collect();
    assert_eq!(names, ["test-a-go", "test-a-rust", "test-a-rust-2", "test-a-go-2"]);
}

/// Few directories whose names end as those of ecosystems do, so that names meet often.
const DIRECTORIES: [&str; 4] = ["a", "a-go", "a-rust", "a-go-2"];
const MANIFESTS: [(&str, &str); 3] = [("Cargo.toml", "[workspace]"), ("package.json", NODE), ("go.mod", "")];

proptest! {
    /// Catches taking the name that tells ecosystems apart without asking whether a directory has it already.
    #[test]
    fn names_always_differ(
        chosen in proptest::collection::vec((0..DIRECTORIES.len(), 0..MANIFESTS.len()), 0..10)
    ) {
        let paths: Vec<(String, &str)> = chosen
            .iter()
            .map(|(directory, manifest)| {
                let (name, text) = MANIFESTS[*manifest];
                (format!("{}/{name}", DIRECTORIES[*directory]), text)
            })
            .collect();
        let files: Vec<(&str, &str)> = paths.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let found = detect(&Memory::new(&files), &|_| false, &|_| true);
        let names: BTreeSet<&str> = found.checks.iter().map(|found| found.check.name.as_str()).collect();
        prop_assert_eq!(names.len(), found.checks.len());
        prop_assert_eq!(found.checks.is_empty(), files.is_empty());
    }
}
