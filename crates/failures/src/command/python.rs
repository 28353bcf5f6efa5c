//! The options of pytest, unittest and doctest: to name all tests, or to select some.
//!
//! Owns which words of a command are options, values and tests. If that is not certain, no tests are selected.

use std::collections::BTreeSet;

use super::change::Change;
use super::shell::quoted;

/// Options of pytest with which it runs no tests.
const NOT_RUNNING: [&str; 8] =
    ["--collect-only", "--co", "--fixtures", "--markers", "--version", "--help", "-h", "--setup-plan"];
/// Options of pytest that select tests by earlier results, or by other means than paths.
const CHOOSING: [&str; 10] = [
    "--lf",
    "--last-failed",
    "--sw",
    "--stepwise",
    "--stepwise-skip",
    "--sw-skip",
    "--pyargs",
    "--looponfail",
    "--pdb",
    "--trace",
];
/// Short options of pytest without a value.
const LETTERS: &str = "xvqsl";
/// Short options with a value.
const LETTERS_WITH_VALUE: &str = "kmcpoWnr";
/// Long options of pytest and its most used plugins without a value.
const ALONE: [&str; 22] = [
    "--exitfirst",
    "--verbose",
    "--quiet",
    "--showlocals",
    "--no-showlocals",
    "--strict",
    "--strict-markers",
    "--strict-config",
    "--no-header",
    "--no-summary",
    "--disable-warnings",
    "--disable-pytest-warnings",
    "--doctest-modules",
    "--runxfail",
    "--cache-clear",
    "--full-trace",
    "--ff",
    "--failed-first",
    "--nf",
    "--new-first",
    "--no-cov",
    "--reuse-db",
];
/// Long options with a value.
const WITH_VALUE: [&str; 27] = [
    "--maxfail",
    "--tb",
    "--color",
    "--rootdir",
    "--confcutdir",
    "--ignore",
    "--ignore-glob",
    "--deselect",
    "--junitxml",
    "--junit-xml",
    "--durations",
    "--durations-min",
    "--capture",
    "--import-mode",
    "--basetemp",
    "--override-ini",
    "--config-file",
    "--log-level",
    "--log-cli-level",
    "--timeout",
    "--numprocesses",
    "--dist",
    "--cov-report",
    "--cov-config",
    "--cov-fail-under",
    "--verbosity",
    "--asyncio-mode",
];

pub(super) fn pytest_names(arguments: &[&str]) -> Option<Vec<Change>> {
    if arguments.iter().any(|word| NOT_RUNNING.contains(word)) {
        return None;
    }
    // Both override what precedes them, here and in the settings of the project.
    let level = verbosity(arguments).max(1);
    Some(vec![Change::Option("--maxfail=0".into()), Change::Option(format!("--verbosity={level}"))])
}

/// The verbosity that the command line asks for.
fn verbosity(arguments: &[&str]) -> i64 {
    let mut level: i64 = 0;
    for word in arguments.iter().take_while(|word| **word != "--") {
        if let Some(number) = word.strip_prefix("--verbosity=") {
            level = number.parse().unwrap_or(level);
        } else if *word == "--verbose" {
            level += 1;
        } else if *word == "--quiet" {
            level -= 1;
        } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')) {
            for letter in letters.chars().take_while(|letter| LETTERS.contains(*letter)) {
                level += i64::from(letter == 'v') - i64::from(letter == 'q');
            }
        }
    }
    level.min(9)
}

/// The ids of the tests replace the given paths.
pub(super) fn pytest_selects(arguments: &[&str], tests: &BTreeSet<String>) -> Option<Vec<Change>> {
    if arguments.iter().any(|word| CHOOSING.contains(word)) || !tests.iter().all(|test| test.contains("::")) {
        return None;
    }
    let mut changes: Vec<Change> = pytest_paths(arguments)?.into_iter().map(Change::Remove).collect();
    changes.extend(tests.iter().map(|test| Change::End(quoted(test))));
    Some(changes)
}

/// The arguments that are neither options nor their values; `None` if an option is unknown.
fn pytest_paths(arguments: &[&str]) -> Option<Vec<usize>> {
    let mut paths = Vec::new();
    let mut words = arguments.iter().enumerate().peekable();
    while let Some((index, word)) = words.next() {
        if *word == "--" {
            paths.extend(words.map(|(index, _)| index));
            break;
        }
        let takes_next = if let Some(option) = word.strip_prefix("--") {
            let has_value = option.contains('=') || ALONE.contains(word);
            let next_is_option = words.peek().is_none_or(|(_, next)| next.starts_with('-'));
            let is_known = has_value || WITH_VALUE.contains(word) || next_is_option;
            // Whether an unknown option takes the next word, only pytest knows.
            is_known.then_some(WITH_VALUE.contains(word))?
        } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            takes_next(letters)?
        } else {
            paths.push(index);
            false
        };
        if takes_next {
            words.next();
        }
    }
    Some(paths)
}

/// Whether the last short option takes the next word as its value; `None` if one is unknown.
fn takes_next(letters: &str) -> Option<bool> {
    let rest = letters.trim_start_matches(|letter| LETTERS.contains(letter));
    match rest.chars().next() {
        None => Some(false),
        Some(letter) if LETTERS_WITH_VALUE.contains(letter) => Some(rest.chars().nth(1).is_none()),
        Some(_) => None,
    }
}

/// The changes with which unittest names all tests, and does not stop at the first failure.
pub(super) fn unittest_names(arguments: &[&str]) -> Option<Vec<Change>> {
    let has = |options: &[&str]| arguments.iter().any(|word| options.contains(word));
    if has(&["-h", "--help"]) {
        return None;
    }
    let is_verbose = has(&["-v", "--verbose"]) && !has(&["-q", "--quiet"]);
    let stops = arguments.iter().enumerate().filter(|(_, word)| ["-f", "--failfast"].contains(word));
    let mut changes: Vec<Change> = stops.map(|(index, _)| Change::Remove(index)).collect();
    if !is_verbose {
        changes.push(Change::Option("-v".into()));
    }
    Some(changes)
}

/// The changes with which doctest names what passes: without them, it prints failures only, and stops if it is told to.
pub(super) fn doctest_names(arguments: &[&str]) -> Option<Vec<Change>> {
    let has = |options: &[&str]| arguments.iter().any(|word| options.contains(word));
    if has(&["-h", "--help"]) {
        return None;
    }
    let stops = arguments.iter().enumerate().filter(|(_, word)| ["-f", "--fail-fast"].contains(word));
    let mut changes: Vec<Change> = stops.map(|(index, _)| Change::Remove(index)).collect();
    if !has(&["-v", "--verbose"]) {
        changes.push(Change::Begin("-v".into()));
    }
    Some(changes)
}

/// The dotted names of the tests replace the given ones.
pub(super) fn unittest_selects(arguments: &[&str], tests: &BTreeSet<String>) -> Option<Vec<Change>> {
    // What is discovered is named from a directory that only the discovery knows.
    if arguments.first() == Some(&"discover") {
        return None;
    }
    let mut changes = Vec::new();
    let mut words = arguments.iter().enumerate();
    while let Some((index, word)) = words.next() {
        match *word {
            "-v" | "-q" | "-f" | "-c" | "-b" | "--verbose" | "--quiet" | "--failfast" | "--catch"
            | "--buffer" | "--locals" => {}
            "-k" | "--durations" => {
                words.next();
            }
            word if word.starts_with('-') => return None,
            _ => changes.push(Change::Remove(index)),
        }
    }
    // A part of a test is named by its parameters, and can only be run with the whole.
    let names: Option<BTreeSet<&str>> = tests.iter().map(|test| dotted(test)).collect();
    changes.extend(names?.into_iter().map(|name| Change::End(quoted(name))));
    Some(changes)
}

/// The name that unittest loads; `None` if it is not that of a test.
fn dotted(identity: &str) -> Option<&str> {
    let name = identity.split(' ').next()?;
    let is_name = name.contains('.') && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
    let others = ["_FailedTest", "setUpClass", "tearDownClass", "setUpModule", "tearDownModule", "__main__"];
    (is_name && !name.split('.').any(|part| others.contains(&part))).then_some(name)
}
