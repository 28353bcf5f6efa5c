//! The options of `cargo test`, of libtest after `--`, and of `cargo nextest run`: to name all tests, or to select some.
//!
//! Refuses options that cannot be given twice.

use std::collections::BTreeSet;

use super::change::Change;
use super::shell::quoted;

/// The changes with which `cargo test` runs and names all tests; `None` if it runs none.
pub(super) fn name_tests(arguments: &[&str]) -> Option<Vec<Change>> {
    let (own, beyond) = split(arguments);
    if has(own, &["--no-run", "--help", "-h"]) || has(beyond, &["--list", "--help", "-h"]) {
        return None;
    }
    let mut changes = Vec::new();
    if !has(own, &["--no-fail-fast"]) {
        changes.push(Change::Option("--no-fail-fast".into()));
    }
    let is_quiet = has(own, &["-q", "--quiet"]) || has(beyond, &["-q", "--quiet"]);
    // libtest takes a format only once. A given one outweighs quiet, so that there names are printed again.
    let has_format = beyond.iter().any(|word| *word == "--format" || word.starts_with("--format="));
    if is_quiet && !has_format {
        changes.push(Change::Beyond("--format=pretty".into()));
    }
    Some(changes)
}

/// Tests of the same name in other binaries run as well.
pub(super) fn select_tests(arguments: &[&str], tests: &BTreeSet<String>) -> Option<Vec<Change>> {
    let (_, beyond) = split(arguments);
    let mut filters = BTreeSet::new();
    let mut is_exact = true;
    for identity in tests {
        match documented(identity) {
            Some(filter) => {
                is_exact = false;
                filters.insert(filter);
            }
            None => {
                // Binaries and tests have no blanks in their names.
                let test = identity.rsplit(' ').next().filter(|test| !test.is_empty())?;
                filters.insert(test.to_string());
            }
        }
    }
    let mut changes = Vec::new();
    if is_exact && !has(beyond, &["--exact"]) {
        changes.push(Change::Beyond("--exact".into()));
    } else if !is_exact && has(beyond, &["--exact"]) {
        return None;
    }
    changes.extend(filters.iter().map(|filter| Change::Beyond(quoted(filter))));
    Some(changes)
}

/// The filter for a documentation test, as in `calc src/lib.rs - add`. Its name has the line behind it, which moves
/// and is no part of the identity: whatever the line is, the filter ends where its number begins.
fn documented(identity: &str) -> Option<String> {
    let (before, item) = match identity.split_once(" - ") {
        Some((before, item)) => (before, Some(item)),
        None => (identity.strip_suffix(" -")?, None),
    };
    let file = before.rsplit(' ').next().filter(|file| file.contains('.'))?;
    Some(match item {
        Some(item) => format!("{file} - {item} (line "),
        None => format!("{file} - (line "),
    })
}

pub(super) fn nextest_names(arguments: &[&str]) -> Option<Vec<Change>> {
    let (own, _) = split(arguments);
    if has(own, &["--no-run", "--help", "-h"]) {
        return None;
    }
    let mut changes = Vec::new();
    // A number of failures to stop at cannot be given together with it.
    if !has(own, &["--no-fail-fast", "--nff", "--max-fail"]) {
        changes.push(Change::Option("--no-fail-fast".into()));
    }
    if !has(own, &["--status-level"]) {
        changes.push(Change::Option("--status-level=pass".into()));
    }
    Some(changes)
}

pub(super) fn nextest_selects(arguments: &[&str], tests: &BTreeSet<String>) -> Option<Vec<Change>> {
    let (own, _) = split(arguments);
    // Several expressions are joined by "or", so that one more would not narrow them.
    if has(own, &["-E", "--filterset", "--filter-expr"]) || own.iter().any(|word| word.starts_with("-E")) {
        return None;
    }
    let mut expressions = Vec::new();
    for identity in tests {
        let is_plain = |name: &str| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_:-/".contains(&b))
        };
        let (binary, test) = identity.split_once(' ').filter(|(a, b)| is_plain(a) && is_plain(b))?;
        expressions.push(format!("(binary_id(={binary}) & test(={test}))"));
    }
    Some(vec![Change::Option(format!("-E {}", quoted(&expressions.join(" | "))))])
}

/// The arguments before and after `--`.
fn split<'a, 'b>(arguments: &'a [&'b str]) -> (&'a [&'b str], &'a [&'b str]) {
    let at = arguments.iter().position(|word| *word == "--").unwrap_or(arguments.len());
    (arguments.get(..at).unwrap_or_default(), arguments.get(at..).unwrap_or_default())
}

/// Whether one of the options is given, with or without `=value`.
fn has(arguments: &[&str], options: &[&str]) -> bool {
    arguments.iter().any(|word| options.contains(&word.split('=').next().unwrap_or(word)))
}
