//! JavaScript: package managers, scripts, runners, and what is no check.

use super::{Case, Memory, checks, notes};
use crate::detect;

const JEST: &str = r#"{"scripts": {"test": "jest"}, "devDependencies": {"jest": "^29"}}"#;

fn case<'a>(files: &'a [(&'a str, &'a str)], checks: &'a [&'a str], setup: &'a [&'a str]) -> Case<'a> {
    Case { files, checks, setup, notes: &[] }
}

#[test]
fn the_lock_file_shows_the_package_manager() {
    let because = |lock: &str| format!("(jest) package.json, {lock}");
    let table = [
        ("package-lock.json", "", "npm test", "npm ci"),
        ("npm-shrinkwrap.json", "", "npm test", "npm ci"),
        ("pnpm-lock.yaml", "", "pnpm test", "pnpm install --frozen-lockfile"),
        ("yarn.lock", "# yarn lockfile v1", "yarn test", "yarn install --frozen-lockfile"),
        ("yarn.lock", "__metadata:\n  version: 8", "yarn test", "yarn install --immutable"),
        ("bun.lock", "", "bun run test", "bun install --frozen-lockfile"),
        ("bun.lockb", "", "bun run test", "bun install --frozen-lockfile"),
    ];
    for (lock, text, command, setup) in table {
        let check = format!("test: {command} {}", because(lock));
        case(&[("package.json", JEST), (lock, text)], &[&check], &[setup]).assert_detected();
    }
    case(
        &[("package.json", JEST)],
        &["test: npm test (jest) package.json"],
        &["npm install --no-package-lock"],
    )
    .assert_detected();
    case(
        &[("package.json", JEST), ("yarn.lock", ""), (".yarnrc.yml", "")],
        &["test: yarn test (jest) package.json, yarn.lock"],
        &["yarn install --immutable"],
    )
    .assert_detected();
}

#[test]
fn the_field_package_manager_wins() {
    let table = [
        ("pnpm@9.1.0", "pnpm test", "pnpm install --no-lockfile"),
        ("yarn@1.22.22", "yarn test", "yarn install --no-lockfile"),
        ("yarn@4.1.0+sha224.abc", "yarn test", "yarn install"),
        ("bun@1.2.0", "bun run test", "bun install --no-save"),
        ("npm@10.0.0", "npm test", "npm ci"),
        ("somethingelse@1", "npm test", "npm ci"),
    ];
    for (named, command, setup) in table {
        let manifest = format!(
            r#"{{"packageManager": "{named}", "scripts": {{"test": "vitest run"}}, "dependencies": {{"a": "1"}}}}"#
        );
        let lock = if command.starts_with("npm") { ", package-lock.json" } else { "" };
        let check = format!("test: {command} (vitest) package.json{lock}");
        case(&[("package.json", &manifest), ("package-lock.json", "{}")], &[&check], &[setup])
            .assert_detected();
    }
}

#[test]
fn nothing_is_installed_without_dependencies() {
    case(
        &[("package.json", r#"{"scripts": {"test": "node --test"}, "dependencies": {}}"#)],
        &["test: npm test (node_test) package.json"],
        &[],
    )
    .assert_detected();
}

#[test]
fn lint_and_types_become_checks_and_heavy_scripts_are_noted() {
    let manifest = r#"{"scripts": {
        "test": "turbo run test", "lint": "eslint .", "typecheck": "tsc --noEmit", "tsc": "tsc",
        "test:e2e": "playwright test", "cypress:run": "cypress run", "build": "vite build"
    }, "devDependencies": {"vitest": "1"}}"#;
    Case {
        files: &[("package.json", manifest), ("pnpm-lock.yaml", "")],
        checks: &[
            "test: pnpm test (vitest) package.json, pnpm-lock.yaml",
            "lint: pnpm run lint (eslint) package.json, pnpm-lock.yaml",
            "typecheck: pnpm run typecheck (tsc) package.json, pnpm-lock.yaml",
        ],
        setup: &["pnpm install --frozen-lockfile"],
        notes: &["package.json `cypress:run`, `test:e2e`: the name says that it is slow"],
    }
    .assert_detected();
}

#[test]
fn two_runners_among_the_dependencies_decide_nothing() {
    case(
        &[(
            "package.json",
            r#"{"scripts": {"test": "turbo test"}, "devDependencies": {"jest": "1", "mocha": "1"}}"#,
        )],
        &["test: npm test (auto) package.json"],
        &["npm install --no-package-lock"],
    )
    .assert_detected();
}

#[test]
fn the_default_test_script_of_npm_init_is_not_a_check() {
    let manifest = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
    Case {
        files: &[("package.json", manifest)],
        checks: &[],
        setup: &[],
        notes: &["package.json: it has no `test` script", "No checks found."],
    }
    .assert_detected();
}

#[test]
fn scripts_that_never_end_or_rewrite_are_noted() {
    let manifest = r#"{"scripts": {"test": "jest --watch", "lint": "eslint --fix .", "type-check": "tsc"}}"#;
    Case {
        files: &[("package.json", manifest)],
        checks: &["typecheck: npm run type-check (tsc) package.json"],
        setup: &[],
        notes: &["package.json `test`: it watches for changes", "package.json `lint`: it rewrites files"],
    }
    .assert_detected();
}

#[test]
fn another_script_may_run_the_tests() {
    case(
        &[("package.json", r#"{"scripts": {"test": "vitest watch", "test:ci": "vitest run"}}"#)],
        &["test: npm run test:ci (vitest) package.json"],
        &[],
    )
    .assert_detected();
    let manifest = r#"{"scripts": {"tests-only": "tape test/*.js", "test": "npm run tests-only", "posttest": "npx aud"}}"#;
    Case {
        files: &[("package.json", manifest)],
        checks: &["test: npm run tests-only (auto) package.json"],
        setup: &[],
        notes: &["package.json `test`: `tests-only` runs the same tests without `pretest` and `posttest`"],
    }
    .assert_detected();
}

#[test]
fn npm_brings_a_package_manager_that_is_not_installed() {
    let files = [("package.json", JEST), ("pnpm-lock.yaml", "")];
    let found = detect(&Memory::new(&files), &|_| false, &|program| program == "npm");
    assert_eq!(checks(&found), ["test: npx --yes pnpm test (jest) package.json, pnpm-lock.yaml"]);
    let install = "npx --yes pnpm install --frozen-lockfile && echo '*' > node_modules/.gitignore";
    assert_eq!(found.setup, [install], "git does not ignore node_modules here");
    assert!(notes(&found)[0].starts_with("`pnpm` is not installed, so `npx` downloads it."), "{found:?}");
}

#[test]
fn react_scripts_runs_with_ci_true() {
    case(
        &[("package.json", r#"{"scripts": {"test": "react-scripts test"}}"#)],
        &["test: CI=true npm test (jest) package.json"],
        &[],
    )
    .assert_detected();
}

#[test]
fn invalid_fields_of_package_json_are_ignored() {
    for manifest in ["[]", "null", r#"{"scripts": []}"#, r#"{"scripts": {"test": 1}, "packageManager": 2}"#] {
        Case {
            files: &[("package.json", manifest)],
            checks: &[],
            setup: &[],
            notes: &["package.json: it has no `test` script", "No checks found."],
        }
        .assert_detected();
    }
}
