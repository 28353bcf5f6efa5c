//! The options of `go test`: to name all tests, or to select some; and of whatever compiles, to print all errors.
//!
//! With an option given twice, Go uses the last value, but it is hard to know where Go stops reading options: what is
//! added goes to the front, or right after the option it overrides.

use std::collections::BTreeSet;

use super::change::Change;
use super::shell::quoted;

/// The changes with which `go test` runs and names all tests; `None` if it runs none.
pub(super) fn name_tests(arguments: &[&str]) -> Option<Vec<Change>> {
    let own = own(arguments);
    if ["c", "n", "list", "h", "help"].iter().any(|name| given(own, name).is_some()) {
        return None;
    }
    let mut changes = all_errors(arguments);
    if given(own, "json").is_none() && given(own, "v").is_none() {
        changes.push(front(own, "-json".into()));
    }
    if let Some(at) = given(own, "failfast") {
        changes.push(Change::Behind(at, "-failfast=false".into()));
    }
    Some(changes)
}

/// The compiler stops after ten errors, so that nobody would see that some of forty were fixed. Flags for the compiler that
/// are given already stay as they are: a second value would replace them.
pub(super) fn all_errors(arguments: &[&str]) -> Vec<Change> {
    let own = own(arguments);
    if given(own, "gcflags").is_some() {
        return Vec::new();
    }
    vec![front(own, "-gcflags=-e".into())]
}

/// Before all other options, except for `-C`, which must be the first.
fn front(arguments: &[&str], text: String) -> Change {
    match arguments.first() {
        Some(&("-C" | "--C")) => Change::Behind(1, text),
        Some(word) if given(&[*word], "C").is_some() => Change::Behind(0, text),
        _ => Change::Begin(text),
    }
}

/// Tests of the same name in other packages run as well, and so do other sub-tests of a test that is also selected
/// as a whole.
pub(super) fn select_tests(arguments: &[&str], tests: &BTreeSet<String>) -> Option<Vec<Change>> {
    let own = own(arguments);
    let names = tests.iter().map(|identity| identity.rsplit(' ').next().unwrap_or(identity));
    let names: Vec<Vec<&str>> = names.map(|name| name.split('/').collect()).collect();
    let is_test = |name: &&str| ["Test", "Example", "Fuzz"].iter().any(|start| name.starts_with(start));
    if !names.iter().all(|levels| levels.first().is_some_and(is_test)) {
        return None;
    }
    // Every level is matched by itself. One that some test does not have would take its parts away.
    let depth = names.iter().map(Vec::len).min()?;
    let levels: Vec<String> = (0..depth)
        .map(|level| {
            let parts: BTreeSet<String> =
                names.iter().filter_map(|name| name.get(level)).map(|part| escaped(part)).collect();
            format!("^({})$", parts.into_iter().collect::<Vec<_>>().join("|"))
        })
        .collect();
    let run = format!("-run {}", quoted(&levels.join("/")));
    let Some(at) = given(own, "run") else { return Some(vec![front(own, run)]) };
    let has_value = own.get(at).is_some_and(|word| word.contains('='));
    Some(vec![Change::Behind(if has_value { at } else { at + 1 }, run)])
}

fn own<'a, 'b>(arguments: &'a [&'b str]) -> &'a [&'b str] {
    let at = arguments.iter().position(|word| matches!(*word, "-args" | "--args"));
    arguments.get(..at.unwrap_or(arguments.len())).unwrap_or_default()
}

/// The last position of an option, with one dash or two, with or without `=value`.
fn given(arguments: &[&str], name: &str) -> Option<usize> {
    arguments.iter().rposition(|word| {
        let option = word.strip_prefix("--").or_else(|| word.strip_prefix('-'));
        option.is_some_and(|option| option.split('=').next() == Some(name))
    })
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if "\\.+*?()|[]{}^$".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}
