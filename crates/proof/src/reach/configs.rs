//! Settings of test runners at the base: which directories hold tests, which modules are loaded, where modules are found.
//!
//! Owns the keys by which the runners say so. Refuses to evaluate settings that are code: what stands in quotes behind a key
//! counts.

use super::Reach;
use super::walk::{Place, define_if_there, module};
use crate::CheckCommand;
use crate::paths::{directory, join, name, part_matches};
use crate::tree::{Tree, is_directory, text};

/// Files that set up test runners.
const SETTINGS: [&str; 22] = [
    "pytest.ini",
    ".pytest.ini",
    "pytest.toml",
    "pyproject.toml",
    "setup.cfg",
    "tox.ini",
    "conftest.py",
    "package.json",
    "jest.config.*",
    "vitest.config.*",
    "vitest.workspace.*",
    "vite.config.*",
    ".mocharc*",
    "playwright.config.*",
    "cypress.config.*",
    "bunfig.toml",
    "phpunit.xml*",
    ".rspec",
    "jest-*.json",
    "ava.config.*",
    ".taprc",
    "Cargo.toml",
];
/// Keys whose values are loaded by the runner.
const LOADED: [&str; 25] = [
    "setupFilesAfterEnv",
    "setupFilesAfterEach",
    "setupFiles",
    "globalSetup",
    "globalTeardown",
    "testRunner",
    "testEnvironment",
    "reporters",
    "reporter",
    "runner",
    "resolver",
    "transform",
    "snapshotSerializers",
    "testSequencer",
    "pytest_plugins",
    "bootstrap",
    "preload",
    "require",
    "supportFile",
    "environment",
    "testResultsProcessor",
    "--require",
    "dependencyExtractor",
    "snapshotResolver",
    "build",
];
/// Keys whose values are directories or globs of tests.
const TESTS: [&str; 5] = ["testpaths", "python_files", "testMatch", "testDir", "spec"];

pub(super) fn read_settings(reach: &mut Reach, base: &dyn Tree, checks: &[CheckCommand]) {
    let is_settings = |path: &&String| SETTINGS.iter().any(|glob| part_matches(glob, name(path)));
    let files: Vec<String> = base
        .files()
        .iter()
        .filter(is_settings)
        .filter(|path| !path.contains("node_modules/") && path.matches('/').count() < 4)
        .take(200)
        .cloned()
        .collect();
    for path in files {
        let Some(content) = text(base, &path) else { continue };
        let place = Place {
            directory: directory(&path).to_string(),
            script: checks.first().map(|check| check.directory.clone()).unwrap_or_default(),
            depth: 1,
            by: path.clone(),
            variables: std::collections::BTreeMap::new(),
        };
        read_file(reach, base, &content, &place);
    }
}

pub(super) fn read_file(reach: &mut Reach, base: &dyn Tree, content: &str, place: &Place) {
    let by = place.by.clone();
    let of_cargo = name(&by) == "Cargo.toml";
    if content.contains("--doctest") || content.contains("doctest_") {
        reach.note_text("doctest");
    }
    // In a package's manifest these say where its own code is.
    let is_other = |key: &&&str| **key == "require" && !name(&by).starts_with('.');
    for key in LOADED.iter().filter(|key| (**key == "build") == of_cargo).filter(|key| !is_other(key)) {
        for value in values(content, key) {
            let value = value.replace("<rootDir>/", "").replace("$ROOT/", "");
            define_if_there(reach, base, place, &value, &by);
            if *key == "pytest_plugins" {
                module(reach, base, place, &value, &by);
            }
        }
    }
    if of_cargo || name(&by) == "conftest.py" {
        return;
    }
    for key in TESTS {
        for value in values(content, key) {
            let Some(path) = join(&place.directory, value.trim_start_matches("./")) else { continue };
            if is_directory(base, &path) {
                reach.test_directories.insert(path);
            } else if base.is_file(&path) {
                reach.tests.insert(path);
            } else if value.contains('*') {
                let glob = value.trim_start_matches("<rootDir>/").trim_start_matches("**/");
                let without = glob.replace("/**/", "/");
                let fits = |file: &&String| {
                    crate::paths::matches(glob, file) || crate::paths::matches(&without, file)
                };
                let found = base.files().iter().filter(fits);
                reach.tests.extend(found.filter(|file| !name(file).starts_with('_')).cloned());
            }
        }
    }
    for value in values(content, "pythonpath") {
        reach.import_roots.extend(join(&place.directory, &value));
    }
    let mut words =
        content.split([' ', '\n', '"', '\'', '=', ',']).filter(|word| !word.is_empty()).peekable();
    while let Some(word) = words.next() {
        if word == "-p" || word == "--import" || word == "--require" {
            let value = words.peek().copied().unwrap_or_default();
            module(reach, base, place, value, &by);
            define_if_there(reach, base, place, value, &by);
        }
    }
}

/// The words behind a key, up to the end of its list or line.
pub(super) fn values(content: &str, key: &str) -> Vec<String> {
    let mut values = Vec::new();
    for (at, _) in content.match_indices(key) {
        let before = content.get(..at).and_then(|text| text.chars().next_back());
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        let rest = content.get(at + key.len()..).unwrap_or_default();
        if before.is_some_and(is_part) || rest.starts_with(is_part) {
            continue;
        }
        let rest = rest.trim_start_matches(['"', '\'', ' ']);
        let Some(rest) = rest.strip_prefix(['=', ':']).or(Some(rest).filter(|_| key.starts_with("--")))
        else {
            continue;
        };
        let rest = rest.trim_start_matches([' ', '\t']);
        let end = match rest.chars().next() {
            Some('[') => rest.find(']'),
            Some('{') => rest.find('}'),
            Some('\n' | '\r') => Some(indented_length(rest)),
            Some(_) | None => rest.find('\n'),
        };
        let list = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        let is_between = |letter: char| {
            letter.is_whitespace() || matches!(letter, '"' | '\'' | ',' | '[' | ']' | '{' | '}' | ';' | '`')
        };
        values.extend(list.split(is_between).filter(|word| word.len() > 1).map(str::to_string));
    }
    values
}

/// How far the indented lines of an INI list go.
fn indented_length(text: &str) -> usize {
    let lines = text.split_inclusive('\n').enumerate();
    lines.take_while(|(at, line)| *at == 0 || line.starts_with([' ', '\t'])).map(|(_, line)| line.len()).sum()
}
