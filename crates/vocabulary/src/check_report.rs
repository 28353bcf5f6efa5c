//! What a check showed.

use serde::{Deserialize, Serialize};

use crate::Redacted;
use crate::environment::EnvironmentProblem;
use crate::failure::ReportedFailure;
use crate::ids::{BlobId, TestName};
use crate::prelude::*;

/// How a check's command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckEnd {
    Passed,
    Failed,
    /// It did not end in time, which is a failure too.
    TimedOut,
    /// It crashed, which is a failure too.
    Crashed,
    /// Its command does not exist: at the base nothing can be learned from it, later somebody removed it.
    NotFound,
    /// It failed because of its environment, not of the code: a program, a module or a service is missing.
    Environment,
    /// It could not run at all: killed from outside, no disk, no workspace.
    CouldNotRun,
    /// It awaits a person or an outside thing.
    Waiting,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckReport {
    /// Which check of the order, from 0.
    pub check: u32,
    pub end: CheckEnd,
    /// What fails, the first of them where there are too many.
    pub failures: Vec<ReportedFailure>,
    /// Whether the check was cut short by an earlier failure.
    pub masked: bool,
    /// Whether each failure is a finding of its own, no test is known to have run, and nothing says that the tool did not
    /// come to the end: what is new can be told from what is known.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub itemised: bool,
    /// How many tests were seen passing by name; `None` where the output names none.
    pub passed: Option<u32>,
    /// How many tests are known to have passed, by name or by a summary.
    #[serde(default)]
    pub counted: u64,
    /// The tests seen passing, for later comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed_set: Option<BlobId>,
    /// Those of the watched tests that were seen passing.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub seen_passing: BTreeSet<TestName>,
    /// Tests that passed at the base and were not seen at all.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub gone: BTreeSet<TestName>,
    /// The check's own words about its decision.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Redacted>,
    /// Milliseconds it took.
    #[serde(default)]
    pub took_ms: u64,
    /// Whether the check wrote a decision file of its own.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub decided_by_file: bool,
    /// Files of the commit that are tests, or decide what the check does, and that were other files when it ended.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub rewrote: BTreeSet<String>,
    /// What its environment lacks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<EnvironmentProblem>,
}

impl CheckReport {
    /// A check that ended like this and showed nothing.
    pub const fn new(check: u32, end: CheckEnd) -> Self {
        Self {
            check,
            end,
            failures: Vec::new(),
            masked: false,
            itemised: false,
            passed: None,
            counted: 0,
            passed_set: None,
            seen_passing: BTreeSet::new(),
            gone: BTreeSet::new(),
            reasons: Vec::new(),
            took_ms: 0,
            decided_by_file: false,
            rewrote: BTreeSet::new(),
            environment: None,
        }
    }
}
