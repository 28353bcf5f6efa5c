//! A program that puts a prefix before every line of what it runs changes no failure.
//!
//! Every recorded output is read behind every kind of prefix, and together with another one behind another prefix.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests read recorded files"
)]

mod fixtures;

use std::collections::BTreeSet;

use fixpoint_failures::Report;
use fixtures::Case;

/// What stands before a line, by its number.
type Prefix = fn(usize) -> String;

const PREFIXES: [(&str, Prefix); 8] = [
    ("brackets", |_| "[task] ".to_string()),
    ("brackets and a colon", |_| "[@scope/pkg:test]: ".to_string()),
    ("compose", |_| "app-1  | ".to_string()),
    ("turbo", |_| "web:test: ".to_string()),
    ("pnpm", |_| "packages/a test: ".to_string()),
    ("time", |line| format!("2026-05-05T10:{:02}:{:02}.1234567Z ", line / 60 % 60, line % 60)),
    ("time of day", |line| format!("[10:{:02}:{:02}] ", line / 60 % 60, line % 60)),
    ("time and name", |line| format!("10:{:02}:{:02} web.1  | ", line / 60 % 60, line % 60)),
];

fn fingerprints(report: &Report) -> BTreeSet<&str> {
    report.failures.iter().map(|failure| failure.fingerprint.as_str()).collect()
}

/// Outputs that a reader reads; XML stands on lines of its own, and the last lines of any other are theirs alone.
fn cases() -> Vec<Case> {
    let is_read = |case: &Case| {
        let report = case.read(&case.output, fixtures::HERE);
        let is_generic = report.failures.iter().any(|failure| failure.runner.name() == "generic");
        !is_generic && !case.output.contains("<testsuite") && !report.failures.is_empty()
    };
    fixtures::cases().into_iter().filter(is_read).collect()
}

fn prefixed(output: &str, prefix: Prefix) -> String {
    output.lines().enumerate().map(|(number, line)| format!("{}{line}\n", prefix(number))).collect()
}

#[test]
fn a_prefix_changes_no_failure() {
    let mut wrong = Vec::new();
    let mut all = 0;
    for case in cases() {
        let plain = case.read(&case.output, fixtures::HERE);
        for (name, prefix) in PREFIXES {
            let behind = case.read(&prefixed(&case.output, prefix), fixtures::HERE);
            all += 1;
            if fingerprints(&plain) != fingerprints(&behind) {
                wrong.push(format!(
                    "{}/{} {name}: {} of {}",
                    case.runner,
                    case.name,
                    behind.failures.len(),
                    plain.failures.len()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {all}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn two_programs_that_write_in_turns_are_told_apart() {
    // The findings of any linter count only where nothing else is found.
    let is_of_reader = |case: &Case| case.read(&case.output, fixtures::HERE).runner.name() != "linter";
    let cases: Vec<Case> = cases().into_iter().filter(is_of_reader).collect();
    let mut wrong = Vec::new();
    for pair in cases.windows(2).filter(|pair| pair.len() == 2 && pair[0].runner != pair[1].runner) {
        let (one, other) = (&pair[0], &pair[1]);
        let mut lines = Vec::new();
        let (mut first, mut second) = (one.output.lines(), other.output.lines());
        loop {
            let (line, next) = (first.next(), second.next());
            lines.extend(line.map(|line| format!("[one] {line}\n")));
            lines.extend(next.map(|line| format!("[two] {line}\n")));
            if line.is_none() && next.is_none() {
                break;
            }
        }
        let both = one.read(&lines.concat(), fixtures::HERE);
        let found: BTreeSet<(&str, &str)> =
            both.failures.iter().map(|f| (f.runner.name(), f.message.as_str())).collect();
        for case in [one, other] {
            let alone = case.read(&case.output, fixtures::HERE);
            let missing =
                alone.failures.iter().find(|f| !found.contains(&(f.runner.name(), f.message.as_str())));
            if let Some(missing) = missing {
                wrong.push(format!(
                    "{}/{} beside {}/{}: {missing:?}",
                    case.runner, case.name, one.runner, other.runner
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
