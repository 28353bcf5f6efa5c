//! What a task decides: what is recorded, and folded by resuming without being decided again.

use fixpoint_vocabulary::Cause;
use fixpoint_vocabulary::work::{CheckProblem, Command, CommitId, FailureId, ReportedFailure, TestName};
use serde::{Deserialize, Serialize};

use super::{Judgement, TaskActivity, TaskStatus};
use crate::convergence::{Attempt, AttemptVerdict, Counts};
use crate::prelude::*;

/// What the guards showed, compared with the baseline.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BaselineComparison {
    /// Failed before and fails now: tolerated.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub known: BTreeSet<FailureId>,
    /// Fails sometimes, and did before: tolerated.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub flaky: BTreeSet<FailureId>,
    /// Fails sometimes, and never did before.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub newly_flaky: BTreeSet<FailureId>,
    /// Passed before, and is no longer run.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub vanished: BTreeSet<TestName>,
}

/// An attempt with the verdict on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedAttempt {
    /// The stage it was made at.
    pub stage: u32,
    /// The question to the convergence controller.
    pub attempt: Attempt,
    pub verdict: AttemptVerdict,
    pub counts: Counts,
    /// The commit the attempt left, or the one it began with where it was dropped.
    pub commit: CommitId,
    /// What still fails, for the next prompt.
    pub failures: Vec<ReportedFailure>,
    /// Files changed outside the scope, for the next prompt.
    pub outside: Vec<String>,
    /// What else the guards showed.
    #[serde(default)]
    pub comparison: BaselineComparison,
    /// Whether no earlier attempt left less to do.
    pub is_best: bool,
}

impl JudgedAttempt {
    /// Whether a failure may be gone on another run of the same tree: a newly flaky test, or a timeout.
    pub(super) fn may_pass_unchanged(&self) -> bool {
        let is_timeout = |failure: &ReportedFailure| {
            matches!(failure.id(), FailureId::Check { problem: CheckProblem::Timeout, .. })
        };
        !self.comparison.newly_flaky.is_empty() || self.failures.iter().any(is_timeout)
    }
}

/// What follows from an event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    pub status: TaskStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Command>,
    /// A command that cannot be afforded now; resuming executes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deferred: Option<Command>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<JudgedAttempt>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<Judgement>,
}

impl Decision {
    pub(super) const fn at(status: TaskStatus) -> Self {
        Self { status, command: None, deferred: None, judged: None, judgement: None }
    }

    pub(super) fn execute(activity: TaskActivity, command: Command) -> Self {
        Self { command: Some(command), ..Self::at(TaskStatus::Working { activity }) }
    }

    pub(super) const fn pause(activity: TaskActivity, cause: Cause) -> Self {
        Self::at(TaskStatus::Paused { cause, activity })
    }

    pub const fn end(cause: Cause) -> Self {
        Self::at(TaskStatus::Ended { cause })
    }

    /// The same with its command deferred, because it cannot be afforded now. Resuming executes it.
    #[must_use]
    pub fn deferred(self) -> Self {
        match (self.status, self.command) {
            (TaskStatus::Working { activity }, Some(command)) => {
                let status = TaskStatus::Paused { cause: Cause::Budget, activity };
                Self { status, deferred: Some(command), command: None, ..self }
            }
            (status, command) => Self { status, command, ..self },
        }
    }
}
