//! What was there before the first attempt: the base and what the checks showed on it.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixpoint_vocabulary::work::{Base, BlobId, CheckEnd, CheckReport, CommandResult, ReportedFailure};
use serde::{Deserialize, Serialize};

use super::Work;
use super::trial::silence;
use crate::progress::FailureSet;

/// What one check showed at the base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckBaseline {
    /// How it ended the first time.
    pub end: CheckEnd,
    /// What failed in each run, by test or fingerprint.
    pub failing: Vec<BTreeSet<String>>,
    /// What failed the first time.
    pub failures: Vec<ReportedFailure>,
    /// Whether it was cut short.
    pub masked: bool,
    /// How many tests were seen passing; `None` where the output names no tests.
    pub passed: Option<u32>,
    /// The tests seen passing.
    pub passed_set: Option<BlobId>,
}

impl CheckBaseline {
    fn of(report: &CheckReport) -> Self {
        Self {
            end: report.end,
            failing: Vec::from([identities(report)]),
            failures: report.failures.clone(),
            masked: report.masked,
            passed: report.passed,
            passed_set: report.passed_set.clone(),
        }
    }

    /// Whether it ever failed at the base.
    pub fn ever_failed(&self) -> bool {
        self.end != CheckEnd::Passed || self.failing.iter().any(|run| !run.is_empty())
    }

    /// What failed there at least once.
    pub fn ever_failing(&self) -> BTreeSet<String> {
        self.failing.iter().flatten().cloned().collect()
    }

    /// Whether nothing it shows later could prove anything: it fails, and shows nothing passing.
    pub fn proves_nothing(&self) -> bool {
        self.end != CheckEnd::Passed && self.passed.unwrap_or(0) == 0
    }
}

/// What fails in a report, by test or fingerprint.
pub(super) fn identities(report: &CheckReport) -> BTreeSet<String> {
    report.failures.iter().map(|failure| failure.identity.clone()).collect()
}

/// What was there before the first attempt.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Ground {
    /// The base.
    pub base: Option<Base>,
    /// What each check showed there.
    pub checks: BTreeMap<u32, CheckBaseline>,
    /// How many times the checks ran there.
    pub runs: u32,
}

impl Ground {
    /// Records what came in about the base.
    pub(super) fn take_in(&mut self, work: Work, result: &CommandResult) {
        match (work, result) {
            (Work::TakingBase, CommandResult::Base(base)) => self.base = Some(base.clone()),
            (Work::Baseline, CommandResult::Checks { reports }) if silence(reports).is_none() => {
                self.runs += 1;
                for report in reports {
                    match self.checks.get_mut(&report.check) {
                        Some(known) => known.failing.push(identities(report)),
                        None => {
                            self.checks.insert(report.check, CheckBaseline::of(report));
                        }
                    }
                }
            }
            (_, _) => {}
        }
    }

    /// What the goals failed at, where there are goals.
    pub(super) fn goal_failures(&self, goals: &BTreeSet<u32>) -> Option<FailureSet> {
        if goals.is_empty() {
            return None;
        }
        let checks: Vec<&CheckBaseline> = goals.iter().filter_map(|goal| self.checks.get(goal)).collect();
        let failures = checks.iter().flat_map(|check| &check.failures);
        Some(FailureSet {
            fingerprints: failures.map(|failure| failure.fingerprint.clone()).collect(),
            masked: checks.iter().any(|check| check.masked),
        })
    }

    /// The tree of the base.
    pub(super) fn base_tree(&self) -> Option<String> {
        self.base.as_ref().map(|base| base.tree.to_string())
    }
}
