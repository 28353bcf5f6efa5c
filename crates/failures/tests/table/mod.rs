//! The table of fingerprints: recorded outputs, perturbed in ways that must not matter, and paired where it must.

pub(crate) mod perturb;

use std::collections::{BTreeMap, BTreeSet};

use fixpoint_failures::{Failure, Report};

use crate::fixtures::{self, Case};
use perturb::Perturbation;

/// Times each perturbation is drawn anew.
const ROUNDS: u64 = 3;

/// What was counted for one runner.
#[derive(Debug, Default, Clone)]
pub(crate) struct Row {
    /// Failures recorded.
    pub(crate) failures: usize,
    /// Failures looked for again, and found.
    pub(crate) same: (usize, usize),
    /// Pairs of different failures, and those told apart.
    pub(crate) different: (usize, usize),
    /// What went wrong.
    pub(crate) wrong: Vec<String>,
}

/// The percentage of a count.
pub(crate) fn percent((all, good): (usize, usize)) -> f64 {
    if all == 0 { 100.0 } else { 100.0 * good as f64 / all as f64 }
}

/// The table, by runner.
pub(crate) fn measure() -> BTreeMap<String, Row> {
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    let mut by_runner: BTreeMap<String, Vec<(String, Failure)>> = BTreeMap::new();
    for case in fixtures::cases() {
        let report = case.read(&case.output, fixtures::HERE);
        let row = rows.entry(case.runner.clone()).or_default();
        row.failures += report.failures.len();
        compare(row, &case, "recorded again", &report, &case.read(&case.shifted, fixtures::SHIFTED));
        for perturbation in Perturbation::ALL {
            for round in 0..ROUNDS {
                let (output, place) = perturbation.apply(&case, round);
                compare(row, &case, perturbation.name(), &report, &case.read(&output, &place));
            }
        }
        let known = by_runner.entry(case.runner.clone()).or_default();
        known.extend(report.failures.into_iter().map(|failure| (case.name.clone(), failure)));
    }
    for (runner, failures) in by_runner {
        pair(rows.entry(runner).or_default(), &failures);
    }
    rows
}

fn compare(row: &mut Row, case: &Case, how: &str, report: &Report, again: &Report) {
    let found: BTreeSet<&str> = again.failures.iter().map(|failure| failure.fingerprint.as_str()).collect();
    for failure in &report.failures {
        let is_found = found.contains(failure.fingerprint.as_str());
        row.same.0 += 1;
        row.same.1 += usize::from(is_found);
        if !is_found {
            let candidate = again.failures.iter().find(|other| other.test == failure.test);
            row.wrong.push(format!("{}/{} {how}: {failure:?}\n  now {candidate:?}", case.runner, case.name));
        }
    }
    // Failures that were not there before are as wrong as failures that are gone.
    let before: BTreeSet<&str> = report.failures.iter().map(|failure| failure.fingerprint.as_str()).collect();
    for failure in again.failures.iter().filter(|failure| !before.contains(failure.fingerprint.as_str())) {
        row.same.0 += 1;
        row.wrong.push(format!("{}/{} {how}: appeared {failure:?}", case.runner, case.name));
    }
}

/// Every two failures that differ in test, kind, file or place are different ones. The place is what a person would
/// look at; it is not part of a fingerprint, so this is no restatement of how they are made.
fn pair(row: &mut Row, failures: &[(String, Failure)]) {
    let truth = |failure: &Failure| {
        let test = failure.test.clone().map(|test| (failure.package.clone(), test));
        (
            test,
            failure.kind.clone(),
            failure.file.clone(),
            failure.line,
            failure.message.lines().next().map(str::to_string),
        )
    };
    for (index, (case, one)) in failures.iter().enumerate() {
        for (other_case, other) in &failures[index + 1..] {
            let (a, b) = (truth(one), truth(other));
            let differ = (a.0.is_some() || b.0.is_some())
                && (a.0 != b.0 || a.1 != b.1 || (a.2 == b.2 && a.3 != b.3 && a.3.is_some() && b.3.is_some()));
            let differ = differ
                || (a.0.is_none()
                    && b.0.is_none()
                    && a.1 == b.1
                    && a.2 == b.2
                    && a.3.is_some()
                    && a.3 != b.3);
            if !differ {
                continue;
            }
            row.different.0 += 1;
            if one.fingerprint == other.fingerprint {
                row.wrong.push(format!("{case} and {other_case} alike: {one:?}\n  and {other:?}"));
            } else {
                row.different.1 += 1;
            }
        }
    }
}

/// The table as text.
pub(crate) fn render(rows: &BTreeMap<String, Row>) -> String {
    let mut text = format!(
        "{:<12}{:>10}{:>12}{:>10}{:>12}{:>14}\n",
        "runner", "failures", "perturbed", "same", "pairs", "different"
    );
    for (runner, row) in rows {
        text.push_str(&format!(
            "{runner:<12}{:>10}{:>12}{:>8.2} %{:>12}{:>12.2} %\n",
            row.failures,
            row.same.0,
            percent(row.same),
            row.different.0,
            percent(row.different)
        ));
    }
    text
}
