//! The controller itself: what it remembers, what it counts, and the rule for each kind of progress.
//!
//! [`Controller::judge`] decides and changes nothing; [`Controller::record`] folds what was decided and decides
//! nothing, so a resumed run only records.

use fixpoint_vocabulary::Cause;
use serde::{Deserialize, Serialize};

use super::{Action, Attempt, AttemptOutcome, AttemptVerdict, Code, Limits};
use crate::prelude::*;
use crate::progress::{FailureHistory, FailureSet, ProgressKind};

/// What the controller counts. It is recorded with each verdict, so that a resumed run counts on and judges nothing
/// again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// The stage of the next attempt, from 1.
    pub stage: u32,
    pub stalls: u32,
    /// Attempts with progress since the last stall, above stage 1.
    pub recovery: u32,
    /// Attempts in a row whose checks could not run.
    pub infra: u32,
    /// Attempts in a row with other failures, and not fewer.
    pub changed_in_a_row: u32,
    pub iterations: u32,
}

impl Counts {
    pub const START: Self =
        Self { stage: 1, stalls: 0, recovery: 0, infra: 0, changed_in_a_row: 0, iterations: 0 };
}

/// The state of the controller between two attempts; all of it is data, so that it survives a crash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Controller {
    limits: Limits,
    history: FailureHistory,
    tree: Option<String>,
    counts: Counts,
}

/// What one attempt leads to, before the limit on attempts is applied.
struct NextStep {
    action: Action,
    cause: Option<Cause>,
    code: Code,
}

impl NextStep {
    const fn continues(code: Code) -> Self {
        Self { action: Action::Continue, cause: None, code }
    }

    const fn stop(cause: Cause, code: Code) -> Self {
        Self { action: Action::Stop, cause: Some(cause), code }
    }
}

impl Controller {
    pub fn new(
        limits: Limits,
        goal_failures_before: Option<FailureSet>,
        tree_before: Option<String>,
    ) -> Self {
        let history = FailureHistory::beginning_with(goal_failures_before);
        Self { limits, history, tree: tree_before, counts: Counts::START }
    }

    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// Judges an attempt and records it.
    pub fn after(&mut self, attempt: &Attempt) -> AttemptVerdict {
        let (verdict, counts) = self.judge(attempt);
        self.record(attempt, counts);
        verdict
    }

    /// What happens after an attempt, and what is counted then. Changes nothing.
    pub fn judge(&self, attempt: &Attempt) -> (AttemptVerdict, Counts) {
        let progress = self.classify(attempt);
        let one_more = u32::from(progress != ProgressKind::Rerun);
        let mut counts = Counts { iterations: self.counts.iterations + one_more, ..self.counts };
        let mut next = self.limits.next_step(&mut counts, progress);
        if attempt.outcome == AttemptOutcome::Environment && next.action == Action::Stop {
            // When somebody has mended the environment, the checks can go on.
            next.action = Action::Pause;
        }
        if next.action == Action::Continue && counts.iterations >= self.limits.convergence.max_iterations {
            next = NextStep::stop(Cause::MaxIterations, Code::IterationsUsedUp);
        }
        let verdict = AttemptVerdict {
            progress,
            stall_count: counts.stalls,
            stage: counts.stage,
            action: next.action,
            cause: next.cause,
            reason: self.limits.reason(counts, next.code, progress),
        };
        (verdict, counts)
    }

    /// Remembers an attempt with the counts that were decided then. Decides nothing.
    pub fn record(&mut self, attempt: &Attempt, counts: Counts) {
        self.counts = counts;
        if attempt.rerun {
            return;
        }
        // An attempt whose checks could not run has left its tree all the same.
        self.tree.clone_from(&attempt.tree);
        self.history.forget_flaky(&attempt.flaky);
        if let Some(failures) = failures_of(attempt) {
            self.history.remember(failures);
        }
    }

    fn classify(&self, attempt: &Attempt) -> ProgressKind {
        let Some(current) = failures_of(attempt) else {
            return match attempt.outcome {
                AttemptOutcome::Infra | AttemptOutcome::Environment => ProgressKind::Infra,
                AttemptOutcome::Waiting => ProgressKind::Waiting,
                AttemptOutcome::Complete | AttemptOutcome::Incomplete => ProgressKind::Complete,
            };
        };
        if attempt.rerun {
            return ProgressKind::Rerun;
        }
        let before = attempt.base_tree.as_ref().or(self.tree.as_ref());
        let is_unchanged = attempt.tree.is_some() && attempt.tree.as_ref() == before;
        if is_unchanged && !self.history.is_empty() {
            return ProgressKind::NoChange;
        }
        self.history.compare(&current, &attempt.flaky)
    }
}

impl Limits {
    fn next_step(&self, counts: &mut Counts, progress: ProgressKind) -> NextStep {
        if !matches!(progress, ProgressKind::Infra | ProgressKind::Rerun) {
            counts.infra = 0;
            counts.changed_in_a_row =
                if progress == ProgressKind::Changed { counts.changed_in_a_row + 1 } else { 0 };
        }
        match progress {
            ProgressKind::Complete => {
                NextStep { action: Action::Complete, cause: None, code: Code::Completed }
            }
            ProgressKind::Waiting => {
                NextStep { action: Action::Pause, cause: Some(Cause::Waiting), code: Code::Awaiting }
            }
            ProgressKind::Infra => self.infra(counts),
            ProgressKind::Rerun => NextStep::continues(Code::CheckedAgain),
            ProgressKind::First => {
                counts.stalls = 0;
                NextStep::continues(Code::FirstAttempt)
            }
            ProgressKind::Progress => self.progressed(counts),
            ProgressKind::Changed => {
                if counts.changed_in_a_row.is_multiple_of(self.convergence.changed_limit.max(1)) {
                    self.stalled(counts)
                } else {
                    counts.recovery = 0;
                    NextStep::continues(Code::StillChanging)
                }
            }
            ProgressKind::NoChange
            | ProgressKind::Repeated
            | ProgressKind::Oscillating
            | ProgressKind::Regressed => self.stalled(counts),
        }
    }

    fn infra(&self, counts: &mut Counts) -> NextStep {
        counts.infra += 1;
        if counts.infra >= self.max_infra_failures {
            NextStep::stop(Cause::Infrastructure, Code::ChecksUnavailable)
        } else {
            NextStep::continues(Code::ChecksRetried)
        }
    }

    fn progressed(&self, counts: &mut Counts) -> NextStep {
        counts.stalls = 0;
        if counts.stage > 1 {
            counts.recovery += 1;
            if counts.recovery >= self.convergence.recover_after {
                counts.stage -= 1;
                counts.recovery = 0;
                return NextStep::continues(Code::StageLowered);
            }
        }
        NextStep::continues(Code::Progressing)
    }

    fn stalled(&self, counts: &mut Counts) -> NextStep {
        let convergence = &self.convergence;
        if !convergence.enabled {
            return NextStep::continues(Code::NotCounted);
        }
        counts.recovery = 0;
        counts.stalls += 1;
        if counts.stalls < convergence.stall_threshold {
            return NextStep::continues(Code::Stalled);
        }
        counts.stalls = 0;
        let is_last = counts.stage >= convergence.max_stage;
        counts.stage = counts.stage.saturating_add(1).min(convergence.max_stage);
        if counts.stage == convergence.max_stage && convergence.fail_on_max_stage {
            NextStep::stop(Cause::NotConverging, Code::NotConverging)
        } else if is_last {
            NextStep::continues(Code::LastStage)
        } else {
            NextStep::continues(Code::StageRaised)
        }
    }
}

/// What still fails after an attempt, files outside the scope included; `None` where the attempt says nothing
/// about that. An attempt that is complete but for its scope is not complete.
fn failures_of(attempt: &Attempt) -> Option<FailureSet> {
    match attempt.outcome {
        AttemptOutcome::Infra | AttemptOutcome::Environment | AttemptOutcome::Waiting => return None,
        AttemptOutcome::Complete if attempt.scope_violations.is_empty() => return None,
        AttemptOutcome::Complete | AttemptOutcome::Incomplete => {}
    }
    Some(FailureSet {
        fingerprints: attempt.fingerprints.clone().unwrap_or_default(),
        out_of_scope: attempt.scope_violations.clone(),
        masked: attempt.masked,
    })
}
