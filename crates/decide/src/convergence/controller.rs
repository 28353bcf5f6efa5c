//! The controller itself: what it remembers, what it counts, and the rule for each kind of progress.
//!
//! Judging and recording are two steps: what was judged is recorded elsewhere first, and a recorded run is taken up
//! by recording alone.

use alloc::string::String;

use fixpoint_vocabulary::Cause;
use serde::{Deserialize, Serialize};

use super::{Action, Attempt, Code, Limits, Outcome, Verdict};
use crate::progress::{FailureSet, Memory, ProgressKind};

/// What the controller counts. All of it is recorded with each verdict, so that a recorded run is taken up
/// where it was and never judged anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// How hard the controller leans.
    pub stage: u32,
    /// Stalls at this stage.
    pub stalls: u32,
    /// Attempts with progress since the last stall, above stage 1.
    pub recovery: u32,
    /// Attempts in a row whose checks could not run.
    pub infra: u32,
    /// Attempts in a row with other failures, none of them fewer.
    pub changed_in_a_row: u32,
    /// Attempts made.
    pub iterations: u32,
}

impl Counts {
    /// Before the first attempt.
    pub const START: Self =
        Self { stage: 1, stalls: 0, recovery: 0, infra: 0, changed_in_a_row: 0, iterations: 0 };
}

/// The state of the controller between two attempts; all of it is data, so that it survives a crash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Controller {
    limits: Limits,
    memory: Memory,
    tree: Option<String>,
    counts: Counts,
}

/// What one attempt leads to, before the cap on attempts is looked at.
struct Step {
    action: Action,
    cause: Option<Cause>,
    code: Code,
}

impl Step {
    const fn go_on(code: Code) -> Self {
        Self { action: Action::Continue, cause: None, code }
    }

    const fn stop(cause: Cause, code: Code) -> Self {
        Self { action: Action::Stop, cause: Some(cause), code }
    }
}

impl Controller {
    /// A controller before the first attempt.
    pub fn new(
        limits: Limits,
        goal_failures_before: Option<FailureSet>,
        tree_before: Option<String>,
    ) -> Self {
        let memory = Memory::beginning_with(goal_failures_before);
        Self { limits, memory, tree: tree_before, counts: Counts::START }
    }

    /// What has been counted so far.
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// Says what happens next after an attempt, and remembers it.
    pub fn after(&mut self, attempt: &Attempt) -> Verdict {
        let (verdict, counts) = self.judge(attempt);
        self.record(attempt, counts);
        verdict
    }

    /// Says what happens next after an attempt, and what is counted then.
    pub fn judge(&self, attempt: &Attempt) -> (Verdict, Counts) {
        let progress = self.classify(attempt);
        let mut counts = Counts { iterations: self.counts.iterations + 1, ..self.counts };
        let mut step = self.limits.step(&mut counts, progress);
        if step.action == Action::Continue && counts.iterations >= self.limits.convergence.max_iterations {
            step = Step::stop(Cause::MaxIterations, Code::IterationsUsedUp);
        }
        let verdict = Verdict {
            progress,
            stall_count: counts.stalls,
            stage: counts.stage,
            action: step.action,
            cause: step.cause,
            reason: self.limits.reason(counts, step.code, progress),
        };
        (verdict, counts)
    }

    /// Remembers an attempt with the counts that were decided then. Decides nothing.
    pub fn record(&mut self, attempt: &Attempt, counts: Counts) {
        self.counts = counts;
        // An attempt whose checks could not run has left its tree all the same.
        self.tree.clone_from(&attempt.tree);
        self.memory.forget_flaky(&attempt.flaky);
        if let Some(failures) = failures_of(attempt) {
            self.memory.remember(failures);
        }
    }

    fn classify(&self, attempt: &Attempt) -> ProgressKind {
        let Some(current) = failures_of(attempt) else {
            return match attempt.outcome {
                Outcome::Infra => ProgressKind::Infra,
                Outcome::Waiting => ProgressKind::Waiting,
                Outcome::Complete | Outcome::Incomplete => ProgressKind::Complete,
            };
        };
        let before = attempt.base_tree.as_ref().or(self.tree.as_ref());
        let is_unchanged = attempt.tree.is_some() && attempt.tree.as_ref() == before;
        if is_unchanged && !self.memory.is_empty() {
            return ProgressKind::NoChange;
        }
        self.memory.compare(&current, &attempt.flaky)
    }
}

impl Limits {
    fn step(&self, counts: &mut Counts, progress: ProgressKind) -> Step {
        if progress != ProgressKind::Infra {
            counts.infra = 0;
            counts.changed_in_a_row =
                if progress == ProgressKind::Changed { counts.changed_in_a_row + 1 } else { 0 };
        }
        match progress {
            ProgressKind::Complete => Step { action: Action::Complete, cause: None, code: Code::Completed },
            ProgressKind::Waiting => {
                Step { action: Action::Pause, cause: Some(Cause::Waiting), code: Code::Awaiting }
            }
            ProgressKind::Infra => self.infra(counts),
            ProgressKind::First => {
                counts.stalls = 0;
                Step::go_on(Code::FirstAttempt)
            }
            ProgressKind::Progress => self.progressed(counts),
            ProgressKind::Changed => {
                if counts.changed_in_a_row.is_multiple_of(self.convergence.changed_limit.max(1)) {
                    self.stalled(counts)
                } else {
                    counts.recovery = 0;
                    Step::go_on(Code::StillChanging)
                }
            }
            ProgressKind::NoChange
            | ProgressKind::Repeated
            | ProgressKind::Oscillating
            | ProgressKind::Regressed => self.stalled(counts),
        }
    }

    fn infra(&self, counts: &mut Counts) -> Step {
        counts.infra += 1;
        if counts.infra >= self.max_infra_failures {
            Step::stop(Cause::Infrastructure, Code::ChecksUnavailable)
        } else {
            Step::go_on(Code::ChecksRetried)
        }
    }

    fn progressed(&self, counts: &mut Counts) -> Step {
        counts.stalls = 0;
        if counts.stage > 1 {
            counts.recovery += 1;
            if counts.recovery >= self.convergence.recover_after {
                counts.stage -= 1;
                counts.recovery = 0;
                return Step::go_on(Code::StageLowered);
            }
        }
        Step::go_on(Code::Progressing)
    }

    fn stalled(&self, counts: &mut Counts) -> Step {
        let convergence = &self.convergence;
        if !convergence.enabled {
            return Step::go_on(Code::NotCounted);
        }
        counts.recovery = 0;
        counts.stalls += 1;
        if counts.stalls < convergence.stall_threshold {
            return Step::go_on(Code::Stalled);
        }
        counts.stalls = 0;
        let is_last = counts.stage >= convergence.max_stage;
        counts.stage = counts.stage.saturating_add(1).min(convergence.max_stage);
        if counts.stage == convergence.max_stage && convergence.fail_on_max_stage {
            Step::stop(Cause::NotConverging, Code::NotConverging)
        } else if is_last {
            Step::go_on(Code::LastStage)
        } else {
            Step::go_on(Code::StageRaised)
        }
    }
}

/// What still fails after an attempt, files outside the scope included; `None` where the attempt says nothing
/// about that. An attempt that is complete but for its scope is not complete.
fn failures_of(attempt: &Attempt) -> Option<FailureSet> {
    match attempt.outcome {
        Outcome::Infra | Outcome::Waiting => return None,
        Outcome::Complete if attempt.scope_violations.is_empty() => return None,
        Outcome::Complete | Outcome::Incomplete => {}
    }
    Some(FailureSet {
        fingerprints: attempt.fingerprints.clone().unwrap_or_default(),
        out_of_scope: attempt.scope_violations.clone(),
        masked: attempt.masked,
    })
}
