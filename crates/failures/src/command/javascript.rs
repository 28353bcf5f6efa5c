//! The options of Jest, Vitest and Mocha: to name all tests, or to select some by a pattern of names.
//!
//! The name of a test joins its groups with ` > `, while the runners join them with a blank. A name may contain either,
//! so the pattern allows both.

use std::collections::BTreeSet;

use super::change::Change;
use super::shell::quoted;

/// Options with which a runner does not run its tests once.
const OTHER: [&str; 9] =
    ["--watch", "--watchAll", "--help", "-h", "--version", "--listTests", "--showConfig", "--ui", "-w"];

pub(super) fn jest_names(arguments: &[&str]) -> Option<Vec<Change>> {
    if given(arguments, &OTHER).is_some() {
        return None;
    }
    let mut changes = Vec::new();
    if given(arguments, &["--verbose"]).is_none() {
        changes.push(Change::Option("--verbose".into()));
    }
    // Given twice, the last number counts.
    changes.push(Change::Option("--bail=0".into()));
    Some(changes)
}

pub(super) fn vitest_names(arguments: &[&str]) -> Option<Vec<Change>> {
    let others = ["watch", "dev", "related", "bench", "list", "init", "typecheck"];
    let is_other = arguments.first().is_some_and(|first| others.contains(first));
    if is_other || given(arguments, &OTHER).is_some() {
        return None;
    }
    let mut changes = Vec::new();
    // Reporters add up, so the user's own stays the only one.
    if given(arguments, &["--reporter"]).is_none() {
        changes.push(Change::Option("--reporter=verbose".into()));
    }
    changes.extend(not_bailing(arguments));
    Some(changes)
}

/// Mocha names all tests by default.
pub(super) fn mocha_names(arguments: &[&str]) -> Option<Vec<Change>> {
    if given(arguments, &OTHER).is_some() {
        return None;
    }
    Some(vec![Change::Option("--no-bail".into())])
}

/// Vitest accepts `--bail` only once, so an existing one is replaced.
fn not_bailing(arguments: &[&str]) -> Vec<Change> {
    let Some(at) = given(arguments, &["--bail"]) else { return vec![Change::Option("--bail=0".into())] };
    let mut changes = vec![Change::Replace(at, "--bail=0".into())];
    let is_number = |word: &&&str| word.bytes().all(|byte| byte.is_ascii_digit());
    let has_value = arguments.get(at).is_some_and(|word| word.contains('='));
    if !has_value && arguments.get(at + 1).filter(is_number).is_some() {
        changes.push(Change::Remove(at + 1));
    }
    changes
}

pub(super) fn select_tests(arguments: &[&str], tests: &BTreeSet<String>) -> Option<Vec<Change>> {
    if given(arguments, &["-t", "--testNamePattern", "--test-name-pattern"]).is_some() {
        return None;
    }
    // The file before the name is no part of what is matched.
    let names: Option<Vec<&str>> = tests
        .iter()
        .map(|identity| Some(identity.split_once(" > ").filter(|(file, _)| is_file(file))?.1))
        .collect();
    Some(vec![Change::Option(format!("-t {}", quoted(&pattern(&names?))))])
}

pub(super) fn mocha_selects(arguments: &[&str], tests: &BTreeSet<String>) -> Option<Vec<Change>> {
    if given(arguments, &["-g", "--grep", "-f", "--fgrep", "-i", "--invert"]).is_some() {
        return None;
    }
    // What runs before or after tests fails under a name of its own, which selects nothing.
    let is_hook = |name: &String| {
        name.contains("\" hook for \"") || name.contains("\" hook in \"") || name.ends_with("\" hook")
    };
    if tests.iter().any(is_hook) {
        return None;
    }
    let names: Vec<&str> = tests.iter().map(String::as_str).collect();
    Some(vec![Change::Option(format!("-g {}", quoted(&pattern(&names))))])
}

fn is_file(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(before, extension)| {
        !before.is_empty()
            && !extension.is_empty()
            && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// A regular expression that matches exactly these names. Blanks around a title are not part of a name.
fn pattern(names: &[&str]) -> String {
    let names: BTreeSet<String> = names
        .iter()
        .map(|name| name.split(" > ").map(escaped).collect::<Vec<_>>().join(" +(?:[>›] +)?"))
        .collect();
    format!("^ *(?:{}) *$", names.into_iter().collect::<Vec<_>>().join("|"))
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if "\\.+*?()|[]{}^$/".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// The position of one of these options before `--`, with or without `=value`.
fn given(arguments: &[&str], options: &[&str]) -> Option<usize> {
    let own = arguments.iter().take_while(|word| **word != "--");
    own.into_iter().position(|word| options.contains(&word.split('=').next().unwrap_or(word)))
}
