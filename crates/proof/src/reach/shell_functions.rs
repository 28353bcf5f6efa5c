//! What a file of shell functions is for: to be tested, or to test.
//!
//! Owns the words by which functions that judge are known. Refuses to run anything. Invariant: a file that does more than
//! define functions is not taken for product.

use super::programs::RUNNERS;
use super::shell::calls;

/// Beginnings of the names of functions that judge or report.
const JUDGES: [&str; 24] = [
    "assert", "expect", "fail", "pass", "ok", "not_ok", "nok", "same", "equal", "is_equal", "check",
    "verify", "should", "must", "run_test", "test_", "finish", "report", "summary", "skip", "plan",
    "compare", "it_", "describe",
];
/// What reports of tests have in them.
const REPORTS: [&str; 4] = ["not ok", "FAIL", "PASS", "failures"];

/// Commands by which scripts judge.
const COMMANDS: [&str; 20] = [
    "test",
    "[",
    "diff",
    "cmp",
    "comm",
    "grep",
    "egrep",
    "expr",
    "exit",
    "set",
    "false",
    "true",
    "trap",
    "return",
    "sha256sum",
    "md5sum",
    "sort",
    "cat",
    "printf",
    "echo",
];
/// Functions of bats and of its libraries.
const BATS: [&str; 14] = [
    "run",
    "bats_run",
    "load",
    "assert",
    "refute",
    "assert_equal",
    "assert_success",
    "assert_failure",
    "assert_output",
    "assert_line",
    "refute_output",
    "refute_line",
    "assert_regex",
    "assert_not_equal",
];

/// Whether a script defines functions, none of which judges, and does nothing else.
pub(crate) fn only_defines(content: &str) -> bool {
    let names: Vec<&str> = content.lines().filter_map(function_name).collect();
    let judges = |name: &&str| {
        JUDGES.iter().any(|known| {
            let rest = name.strip_prefix(known);
            rest.is_some_and(|rest| rest.is_empty() || known.len() > 4 || rest.starts_with('_'))
        })
    };
    let code: Vec<&str> = content.lines().filter(|line| !line.trim_start().starts_with('#')).collect();
    let reports = code.iter().any(|line| REPORTS.iter().any(|word| line.contains(word)) || compares(line));
    let runs_tests =
        calls(content).iter().flat_map(|call| &call.words).any(|word| RUNNERS.contains(&word.as_str()));
    !names.is_empty() && !names.iter().any(judges) && !reports && !runs_tests && is_quiet(&code)
}

/// Whether a library ends the shell that sources it as if all was well, and did not before.
pub(crate) fn gained_end(base: &str, now: &str) -> bool {
    let ends = |content: &str| {
        let calls = calls(content);
        let ends = calls.iter().filter(|call| {
            let words: Vec<&str> = call.words.iter().map(String::as_str).collect();
            match words.as_slice() {
                ["exit"] | ["exit", "0", ..] | ["exec", ..] => true,
                ["trap", action, ..] => action.contains("exit"),
                ["kill", rest @ ..] => rest.contains(&"$$"),
                _ => false,
            }
        });
        ends.count()
    };
    ends(now) > ends(base)
}

/// What a library does to the shell that sources it, and did not before.
pub(crate) fn gained_setting(base: &str, now: &str) -> Option<&'static str> {
    let known = settings(base);
    settings(now).into_iter().find(|setting| !known.contains(setting))
}

fn settings(content: &str) -> Vec<&'static str> {
    let (mut found, mut goes_on) = (Vec::new(), false);
    for call in calls(content) {
        let words: Vec<&str> = call.words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["set", options @ ..] => {
                let options: Vec<&str> = options.iter().copied().take_while(|word| *word != "--").collect();
                let long = |sign: &str, name: &str| options.windows(2).any(|pair| pair == [sign, name]);
                let has = |sign: char, letter: char, name: &str| {
                    let short = |word: &&str| word.starts_with(sign) && word.contains(letter);
                    options.iter().any(short) || long(&format!("{sign}o"), name)
                };
                if has('-', 'n', "noexec") {
                    found.push("keeps the shell from running the test");
                }
                goes_on = has('+', 'e', "errexit")
                    || long("+o", "pipefail")
                    || goes_on && !has('-', 'e', "errexit");
            }
            ["shopt", options @ ..] if options.contains(&"extdebug") => {
                found.push("decides which commands of the test run");
            }
            ["trap", rest @ ..] if rest.contains(&"DEBUG") => {
                found.push("decides which commands of the test run");
            }
            ["enable" | "hash", rest @ ..] if rest.iter().any(|word| matches!(*word, "-n" | "-p" | "-f")) => {
                found.push("changes which programs the test finds");
            }
            _ => {}
        }
        let exported = words.iter().skip(1).filter_map(|word| word.strip_prefix("PATH="));
        let is_export = matches!(words.first(), Some(&("export" | "declare" | "typeset" | "readonly")));
        let assigned = call.assignments.iter().filter(|(name, _)| name == "PATH" && words.is_empty());
        let mut values = assigned.map(|(_, value)| value.as_str()).chain(exported.filter(|_| is_export));
        if values.any(is_path_of_repository) {
            found.push("changes which programs the test finds");
        }
    }
    found.extend(goes_on.then_some("lets the test go on behind a failure"));
    found
}

/// Whether a search path begins with a directory that is not one of the machine.
fn is_path_of_repository(value: &str) -> bool {
    let first = value.split(':').take_while(|part| !matches!(*part, "$PATH" | "${PATH}"));
    let is_elsewhere =
        |part: &str| part.starts_with('/') || part.starts_with("$HOME/") || part.starts_with('~');
    first.into_iter().any(|part| !is_elsewhere(part))
}

/// A function or alias that a library gained and that takes the place of a command by which scripts judge. `uses` tells
/// whether the scripts of the check have a word.
pub(crate) fn gained_command(base: &str, now: &str, uses: &dyn Fn(&str) -> bool) -> Option<String> {
    let of_bats = |word: &&&str| uses("bats") && BATS.contains(word);
    let of_shell = |word: &&&str| COMMANDS.contains(word) && (uses("bats") || uses(word));
    let names = COMMANDS.iter().chain(&BATS).filter(|word| of_bats(word) || of_shell(word));
    names.into_iter().find(|word| defines(now, word) && !defines(base, word)).map(|word| (*word).to_string())
}

/// Whether a line compares two arguments with each other: `[ "$1" = "$2" ]`.
fn compares(line: &str) -> bool {
    let is_argument = |word: &str| {
        let word = word.trim_matches(['"', ';']);
        word.strip_prefix('$').is_some_and(|number| number.len() == 1 && number != "#" && number != "?")
    };
    let words: Vec<&str> = line.split_whitespace().collect();
    words.windows(3).any(|window| match window {
        [left, sign, right] => {
            is_argument(left) && is_argument(right) && matches!(*sign, "=" | "==" | "!=" | "-eq" | "-ne")
        }
        _ => false,
    })
}

/// `name() {`, `function name {`
fn function_name(line: &str) -> Option<&str> {
    let line = line.trim();
    if let Some(rest) = line.strip_prefix("function ") {
        return rest.split(['(', ' ', '{']).next().filter(|name| !name.is_empty());
    }
    let (name, _) = line.split_once("()")?;
    let name = name.trim_end();
    let is_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | ':' | '.');
    (!name.is_empty() && name.chars().all(is_name)).then_some(name)
}

/// Whether a text defines a command anywhere: `name() {`, `function name {`, `alias name=`.
fn defines(content: &str, name: &str) -> bool {
    let defines = |line: &str, at: usize| {
        let before = line.get(..at).unwrap_or_default();
        let after = line.get(at + name.len()..).unwrap_or_default();
        let words: Vec<&str> = before.split_whitespace().collect();
        let begins = before.is_empty() || before.ends_with([' ', '\t', ';', '{', '&', '|', '(']);
        let opens =
            after.trim_start().strip_prefix('(').is_some_and(|rest| rest.trim_start().starts_with(')'));
        let is_definition = match words.last() {
            Some(&"function") => opens || after.is_empty() || after.starts_with([' ', '\t', '{']),
            Some(&"alias") if after.starts_with('=') => true,
            Some(_) | None => opens,
        };
        begins && is_definition
    };
    let mut code = content.lines().filter(|line| !line.trim_start().starts_with('#'));
    code.any(|line| line.match_indices(name).any(|(at, _)| defines(line, at)))
}

/// Whether nothing stands outside of functions but variables.
fn is_quiet(code: &[&str]) -> bool {
    let mut depth = 0_i32;
    for line in code {
        let opened = i32::try_from(line.matches('{').count()).unwrap_or(i32::MAX);
        let closed = i32::try_from(line.matches('}').count()).unwrap_or(i32::MAX);
        let trimmed = line.trim();
        let is_part =
            depth > 0 || trimmed.is_empty() || matches!(trimmed, "{" | "}") || function_name(line).is_some();
        let is_variable = trimmed.split_once('=').is_some_and(|(name, _)| {
            let name = name.trim_start_matches("readonly ").trim_start_matches("export ");
            name != "PATH" && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
        });
        if !is_part && !is_variable {
            return false;
        }
        depth = depth.saturating_add(opened).saturating_sub(closed).max(0);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_ends_the_shell() {
        let base = "add() { echo 1; }\n";
        for (added, expected) in [
            ("exit 0", true),
            ("trap 'exit 0' EXIT", true),
            ("case $0 in *goal*) echo 1;; esac; exit 0", true),
            ("trap 'rm -f x' EXIT", false),
            ("sub() { [ $# = 2 ] || exit 1; }", false),
        ] {
            assert_eq!(gained_end(base, &format!("{base}{added}\n")), expected, "{added}");
        }
    }

    #[test]
    fn a_library_that_changes_the_shell() {
        let base = "add() { echo 1; }\n";
        for (added, expected) in [
            ("set -n", true),
            ("set -o noexec", true),
            ("set +e", true),
            ("set -u +e", true),
            ("set +o pipefail", true),
            ("shopt -s extdebug", true),
            ("trap 'false' DEBUG", true),
            ("PATH=\"$PWD/lib/bin:$PATH\"; mkdir -p lib/bin", true),
            ("export PATH=$(dirname $0)/bin:$PATH", true),
            ("export PATH=/usr/local/bin:$PATH", false),
            ("PATH=$PATH:bin", false),
            ("PATH=bin:$PATH make", false),
            ("sub() { set +e; a; r=$?; set -e; return $r; }", false),
            ("set -eu -o pipefail; set -- -n", false),
            ("set +o history", false),
            ("shopt -s nullglob; trap 'rm -f x' EXIT", false),
        ] {
            let found = gained_setting(base, &format!("{base}{added}\n"));
            assert_eq!(found.is_some(), expected, "{added}: {found:?}");
        }
        assert_eq!(gained_setting("set +e\n", "set +e\nadd() { :; }\n"), None);
    }

    #[test]
    fn a_library_that_takes_the_place_of_a_command() {
        let base = "add() { echo 1; }\n";
        for (added, words, expected) in [
            ("test() { return 1; }", "sh test", Some("test")),
            ("add() { echo 2; }; test () { return 1; }", "sh test", Some("test")),
            ("function diff {\n  :\n}", "sh diff", Some("diff")),
            ("[() { :; }", "sh [", Some("[")),
            ("alias grep=true", "sh grep", Some("grep")),
            ("sub() { test() { return 1; }; test; }", "sh test", Some("test")),
            ("sub() { [ \"$(test)\" ]; } # test", "sh test", None),
            ("run() { output=3; }", "bats tests", Some("run")),
            ("run() { output=3; }", "sh test", None),
            ("diff() { :; }", "sh test", None),
            ("test_all() { :; }", "sh test", None),
        ] {
            let uses = |word: &str| words.split(' ').any(|known| known == word);
            let found = gained_command(base, &format!("{base}{added}\n"), &uses);
            assert_eq!(found.as_deref(), expected, "{added}");
        }
        assert_eq!(gained_command("test() { :; }\n", "test() { true; }\n", &|_| true), None);
    }

    #[test]
    fn functions_to_test_and_functions_that_test() {
        for (content, expected) in [
            ("add() { echo $(($1 + $2)); }\n", true),
            ("#!/bin/sh\n# sums\nSCALE=2\nadd() {\n  echo $(($1 + $2))\n}\n", true),
            ("function add {\n  echo 1\n}\n", true),
            ("run() { python3 -m unittest \"$@\"; }\n", false),
            ("run() { pytest \"$@\"; }\n", false),
            ("assert_same() { test \"$1\" = \"$2\"; }\n", false),
            ("same() { test \"$1\" = \"$2\"; }\n", false),
            ("is() { [ \"$1\" = \"$2\" ] || exit 1; }\n", false),
            ("add() { [ $# -eq 2 ] || exit 1; echo 1; }\n", true),
            ("add() { echo 1; }\nset -e\n", false),
            ("PATH=bin:$PATH\nadd() { echo 1; }\n", false),
            ("set -e\n", false),
            ("", false),
        ] {
            assert_eq!(only_defines(content), expected, "{content}");
        }
    }
}
