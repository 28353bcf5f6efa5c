//! The convergence controller: after every attempt, whether to go on, at which stage, and when to stop.
//!
//! It counts stalls; enough of them raise the stage, progress lowers it again, the last stage stops the task. From
//! stage 2 an attempt gets a new session, the best tree so far and the instructions of its stage.
//! Invariants: every sequence ends within `max_iterations` attempts; `not_converging` is said only after
//! [`ConvergenceSettings::stalls_to_stop`] stalls that no progress undid.

mod controller;
mod reasons;

use fixpoint_vocabulary::settings::limits::MAX_INFRA_FAILURES;
use fixpoint_vocabulary::settings::{CheckOptions, ConvergenceSettings};
use fixpoint_vocabulary::work::Fingerprint;
use fixpoint_vocabulary::{Cause, Lang, Localize, Reason};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::controller::{Controller, Counts};
use crate::prelude::*;
use crate::progress::{FailureSet, ProgressKind};

/// The `convergence` section, and how many attempts without checks are too many.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Limits {
    /// The `convergence` section of the configuration.
    #[serde(flatten)]
    pub convergence: ConvergenceSettings,
    /// So many attempts in a row whose checks could not run stop the task.
    #[schemars(range(min = MAX_INFRA_FAILURES.min, max = MAX_INFRA_FAILURES.max))]
    pub max_infra_failures: u32,
}

impl Default for Limits {
    fn default() -> Self {
        let max_infra_failures = CheckOptions::default().max_infra_failures;
        Self { convergence: ConvergenceSettings::default(), max_infra_failures }
    }
}

/// What the checks said about an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AttemptOutcome {
    /// Nothing is left to do.
    Complete,
    /// Something fails.
    Incomplete,
    /// The checks could not run.
    Infra,
    /// They failed because of their environment: a program, a module or a service is missing.
    Environment,
    /// A person or an outside thing is awaited.
    Waiting,
}

/// One attempt, as far as convergence goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attempt {
    /// What the checks said.
    pub outcome: AttemptOutcome,
    /// What fails. May be left out of an attempt that is not `incomplete`.
    #[serde(default)]
    #[schemars(with = "Option<Vec<String>>")]
    pub fingerprints: Option<BTreeSet<Fingerprint>>,
    /// Whether the checks were cut short.
    #[serde(default)]
    pub masked: bool,
    /// Whether the checks only ran again: nobody worked on the code since the last time, or other tests were selected.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub rerun: bool,
    /// Failures now known to be flaky.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub flaky: BTreeSet<Fingerprint>,
    /// The tree the attempt left.
    #[serde(default)]
    pub tree: Option<String>,
    /// The tree the attempt began with, where that is not the one before it left.
    #[serde(default)]
    pub base_tree: Option<String>,
    /// Files changed outside the scope; each is a failure too.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub scope_violations: BTreeSet<String>,
}

/// A whole history of attempts.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Question {
    /// The limits.
    #[serde(default)]
    pub config: Limits,
    /// What the goals failed at before the first attempt; absent where there are no goals.
    #[serde(default)]
    #[schemars(with = "Option<Vec<String>>")]
    pub goal_failures_before: Option<BTreeSet<Fingerprint>>,
    /// Whether the checks were cut short then.
    #[serde(default)]
    pub masked_before: bool,
    /// The tree before the first attempt.
    #[serde(default)]
    pub tree_before: Option<String>,
    /// The attempts, in order.
    pub iterations: Vec<Attempt>,
}

/// What happens next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Another attempt.
    Continue,
    /// The task is done.
    Complete,
    /// The task waits.
    Pause,
    /// The task stops.
    Stop,
}

/// Which rule decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// Nothing is left to do.
    Completed,
    /// Something outside is awaited.
    Awaiting,
    /// The checks could not run; once more.
    ChecksRetried,
    /// The checks ran again; nothing is counted.
    CheckedAgain,
    /// The checks could not run too often.
    ChecksUnavailable,
    /// There is nothing to compare with yet.
    FirstAttempt,
    /// Fewer failures.
    Progressing,
    /// Enough progress to go back a stage.
    StageLowered,
    /// Other failures, not yet a stall.
    StillChanging,
    /// The attempt got nowhere.
    Stalled,
    /// Too many got nowhere: on to the next stage.
    StageRaised,
    /// It got nowhere at the last stage, which does not stop the task.
    LastStage,
    /// It got nowhere, and nobody counts.
    NotCounted,
    /// The last stage is reached.
    NotConverging,
    /// No attempts are left.
    IterationsUsedUp,
}

/// The verdict on one attempt. The counts are those after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttemptVerdict {
    /// Whether the attempt got anywhere.
    pub progress: ProgressKind,
    /// Stalls at this stage.
    pub stall_count: u32,
    /// The stage of the next attempt, from 1.
    pub stage: u32,
    /// What happens next.
    pub action: Action,
    /// Why it stops or pauses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// Which rule decided.
    pub reason: Reason<Code>,
}

/// The verdict on each attempt, up to the first that ends the task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Answer {
    /// One verdict per attempt.
    pub iterations: Vec<AttemptVerdict>,
}

impl Localize for Answer {
    fn localize(&mut self, lang: Lang) {
        self.iterations.iter_mut().for_each(|verdict| verdict.reason.localize(lang));
    }
}

/// An incomplete attempt that does not say what fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "iterations[{0}].fingerprints: an incomplete attempt must say what fails (`[]` for nothing readable)"
)]
pub struct MissingFingerprints(pub usize);

pub fn decide(question: &Question) -> Result<Answer, MissingFingerprints> {
    let is_silent = |attempt: &Attempt| {
        attempt.outcome == AttemptOutcome::Incomplete
            && attempt.fingerprints.is_none()
            && attempt.scope_violations.is_empty()
    };
    if let Some(silent) = question.iterations.iter().position(is_silent) {
        return Err(MissingFingerprints(silent));
    }
    let before = question.goal_failures_before.clone().map(|fingerprints| FailureSet {
        fingerprints,
        out_of_scope: BTreeSet::new(),
        masked: question.masked_before,
    });
    let mut controller = Controller::new(question.config.clone(), before, question.tree_before.clone());
    let mut iterations = Vec::new();
    for attempt in &question.iterations {
        let verdict = controller.after(attempt);
        let goes_on = verdict.action == Action::Continue;
        iterations.push(verdict);
        if !goes_on {
            break;
        }
    }
    Ok(Answer { iterations })
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
