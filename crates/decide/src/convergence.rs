//! The convergence controller: after every attempt, whether to go on, how hard to lean, when to stop.
//!
//! It counts stalls; enough of them raise the stage, progress lowers it again, the last stage stops the task.
//! Invariants: every sequence ends within `max_iterations` attempts; `not_converging` is said only after
//! [`Limits::stalls_to_stop`] stalls that no progress undid.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use fixpoint_vocabulary::settings::{CheckOptions, ConvergenceSettings};
use fixpoint_vocabulary::{Cause, Reason};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::progress::{FailureSet, Memory, ProgressKind};

/// The `convergence` section, and how many attempts without checks are too many.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Limits {
    /// The `convergence` section of the configuration.
    #[serde(flatten)]
    pub convergence: ConvergenceSettings,
    /// So many attempts in a row whose checks could not run stop the task.
    #[schemars(range(min = 1, max = 100))]
    pub max_infra_failures: u32,
}

impl Default for Limits {
    fn default() -> Self {
        let max_infra_failures = CheckOptions::default().max_infra_failures;
        Self { convergence: ConvergenceSettings::default(), max_infra_failures }
    }
}

impl Limits {
    /// Stalls, not undone by progress, that stop a task.
    pub const fn stalls_to_stop(&self) -> u32 {
        self.convergence.stall_threshold.saturating_mul(self.convergence.max_stage.saturating_sub(1))
    }
}

/// What the checks said about an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Nothing is left to do.
    Complete,
    /// Something fails.
    Incomplete,
    /// The checks could not run.
    Infra,
    /// A person or an outside thing is awaited.
    Waiting,
}

/// One attempt, as far as convergence goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attempt {
    /// What the checks said.
    pub outcome: Outcome,
    /// What fails. May be left out of an attempt that is not `incomplete`.
    #[serde(default)]
    #[schemars(with = "Option<Vec<String>>")]
    pub fingerprints: Option<BTreeSet<String>>,
    /// Whether the checks were cut short.
    #[serde(default)]
    pub masked: bool,
    /// Failures now known to be flaky.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub flaky: BTreeSet<String>,
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
    pub goal_failures_before: Option<BTreeSet<String>>,
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
    /// The checks could not run too often.
    ChecksUnavailable,
    /// There is nothing to compare with yet.
    FirstAttempt,
    /// Fewer failures.
    Progressing,
    /// Enough progress to lean less hard.
    StageLowered,
    /// Other failures, not yet a stall.
    StillChanging,
    /// The attempt got nowhere.
    Stalled,
    /// Too many got nowhere: lean harder.
    StageRaised,
    /// The last stage is reached.
    NotConverging,
    /// No attempts are left.
    IterationsUsedUp,
}

/// The controller's word on one attempt. The counts are those after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// What the attempt came to.
    pub progress: ProgressKind,
    /// Stalls at this stage.
    pub stall_count: u32,
    /// How hard the controller leans.
    pub stage: u32,
    /// What happens next.
    pub action: Action,
    /// Why it stops or pauses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// Which rule decided.
    pub reason: Reason<Code>,
}

/// The controller's word on each attempt, up to the first that ends the task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Answer {
    /// One verdict per attempt.
    pub iterations: Vec<Verdict>,
}

/// An attempt that is incomplete without saying in what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "iterations[{0}].fingerprints: an incomplete attempt must say what fails (`[]` for nothing readable)"
)]
pub struct NothingSaid(pub usize);

/// Decides about a whole history.
pub fn decide(question: &Question) -> Result<Answer, NothingSaid> {
    let is_silent = |attempt: &Attempt| {
        attempt.outcome == Outcome::Incomplete
            && attempt.fingerprints.is_none()
            && attempt.scope_violations.is_empty()
    };
    if let Some(silent) = question.iterations.iter().position(is_silent) {
        return Err(NothingSaid(silent));
    }
    let before = question.goal_failures_before.clone();
    let before = before.map(|fingerprints| FailureSet { fingerprints, masked: question.masked_before });
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

/// The state of the controller between two attempts; all of it is data, so that it survives a crash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Controller {
    limits: Limits,
    memory: Memory,
    tree: Option<String>,
    stage: u32,
    stall_count: u32,
    recovery: u32,
    infra_count: u32,
    changed_in_a_row: u32,
    iterations: u32,
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
        Self {
            limits,
            memory: Memory::beginning_with(goal_failures_before),
            tree: tree_before,
            stage: 1,
            stall_count: 0,
            recovery: 0,
            infra_count: 0,
            changed_in_a_row: 0,
            iterations: 0,
        }
    }

    /// How hard the controller leans on the next attempt.
    pub const fn stage(&self) -> u32 {
        self.stage
    }

    /// Takes in an attempt and says what happens next.
    pub fn after(&mut self, attempt: &Attempt) -> Verdict {
        self.iterations += 1;
        let progress = self.classify(attempt);
        let mut step = self.step(progress);
        let cap = self.limits.convergence.max_iterations;
        if step.action == Action::Continue && self.iterations >= cap {
            step = Step::stop(Cause::MaxIterations, Code::IterationsUsedUp);
        }
        Verdict {
            progress,
            stall_count: self.stall_count,
            stage: self.stage,
            action: step.action,
            cause: step.cause,
            reason: self.reason(step.code, progress),
        }
    }

    fn classify(&mut self, attempt: &Attempt) -> ProgressKind {
        self.memory.forget_flaky(&attempt.flaky);
        // An attempt whose checks could not run has left its tree all the same.
        let tree_before = core::mem::replace(&mut self.tree, attempt.tree.clone());
        match attempt.outcome {
            Outcome::Infra => return ProgressKind::Infra,
            Outcome::Waiting => return ProgressKind::Waiting,
            Outcome::Complete if attempt.scope_violations.is_empty() => return ProgressKind::Complete,
            Outcome::Complete | Outcome::Incomplete => {}
        }
        let before = attempt.base_tree.as_ref().or(tree_before.as_ref());
        let is_unchanged = attempt.tree.is_some() && attempt.tree.as_ref() == before;
        let current = failures_of(attempt);
        if is_unchanged && !self.memory.is_empty() {
            self.memory.remember(current);
            return ProgressKind::NoChange;
        }
        self.memory.compare(current)
    }

    fn step(&mut self, progress: ProgressKind) -> Step {
        if progress != ProgressKind::Infra {
            self.infra_count = 0;
        }
        let changed_before = self.changed_in_a_row;
        if progress != ProgressKind::Infra && progress != ProgressKind::Changed {
            self.changed_in_a_row = 0;
        }
        match progress {
            ProgressKind::Complete => Step { action: Action::Complete, cause: None, code: Code::Completed },
            ProgressKind::Waiting => {
                Step { action: Action::Pause, cause: Some(Cause::Waiting), code: Code::Awaiting }
            }
            ProgressKind::Infra => self.infra(),
            ProgressKind::First => {
                self.stall_count = 0;
                Step::go_on(Code::FirstAttempt)
            }
            ProgressKind::Progress => self.progressed(),
            ProgressKind::Changed => {
                self.changed_in_a_row = changed_before + 1;
                if self.changed_in_a_row.is_multiple_of(self.limits.convergence.changed_limit.max(1)) {
                    self.stalled()
                } else {
                    self.recovery = 0;
                    Step::go_on(Code::StillChanging)
                }
            }
            ProgressKind::NoChange
            | ProgressKind::Repeated
            | ProgressKind::Oscillating
            | ProgressKind::Regressed => self.stalled(),
        }
    }

    fn infra(&mut self) -> Step {
        self.infra_count += 1;
        if self.infra_count >= self.limits.max_infra_failures {
            Step::stop(Cause::Infrastructure, Code::ChecksUnavailable)
        } else {
            Step::go_on(Code::ChecksRetried)
        }
    }

    fn progressed(&mut self) -> Step {
        self.stall_count = 0;
        if self.stage > 1 {
            self.recovery += 1;
            if self.recovery >= self.limits.convergence.recover_after {
                self.stage -= 1;
                self.recovery = 0;
                return Step::go_on(Code::StageLowered);
            }
        }
        Step::go_on(Code::Progressing)
    }

    fn stalled(&mut self) -> Step {
        let convergence = &self.limits.convergence;
        if !convergence.enabled {
            return Step::go_on(Code::Stalled);
        }
        self.recovery = 0;
        self.stall_count += 1;
        if self.stall_count < convergence.stall_threshold {
            return Step::go_on(Code::Stalled);
        }
        self.stall_count = 0;
        self.stage = self.stage.saturating_add(1).min(convergence.max_stage);
        if self.stage == convergence.max_stage && convergence.fail_on_max_stage {
            Step::stop(Cause::NotConverging, Code::NotConverging)
        } else {
            Step::go_on(Code::StageRaised)
        }
    }

    fn reason(&self, code: Code, progress: ProgressKind) -> Reason<Code> {
        let (stage, stalls) = (self.stage, self.stall_count);
        let threshold = self.limits.convergence.stall_threshold;
        let (got_en, got_ja) = got_nowhere(progress);
        match code {
            Code::Completed => Reason::new(code, "nothing is left to do", "完了"),
            Code::Awaiting => Reason::new(code, "something outside is awaited", "外部の応答待ち"),
            Code::ChecksRetried => {
                Reason::new(code, "the checks could not run; trying again", "チェックを実行できず再試行")
            }
            Code::ChecksUnavailable => Reason::new(
                code,
                format!("the checks could not run {} times in a row", self.infra_count),
                format!("チェックを {} 回連続で実行できなかった", self.infra_count),
            ),
            Code::FirstAttempt => Reason::new(code, "first attempt", "初回の試行"),
            Code::Progressing => Reason::new(code, "fewer failures than ever before", "失敗が減少"),
            Code::StageLowered => Reason::new(
                code,
                format!("progress again; back to stage {stage}"),
                format!("改善が続いたためステージ {stage} に戻る"),
            ),
            Code::StillChanging => {
                Reason::new(code, "other failures, not fewer", "失敗の内容は変化したが減っていない")
            }
            Code::Stalled => Reason::new(
                code,
                format!("{got_en} (stall {stalls} of {threshold} at stage {stage})"),
                format!("{got_ja}（ステージ {stage} の停滞 {stalls}/{threshold}）"),
            ),
            Code::StageRaised => Reason::new(
                code,
                format!("{got_en}; on to stage {stage}"),
                format!("{got_ja}。ステージ {stage} へ"),
            ),
            Code::NotConverging => Reason::new(
                code,
                format!("{got_en}; the last stage, {stage}, is reached: not converging"),
                format!("{got_ja}。最終ステージ {stage} に到達、収束しない"),
            ),
            Code::IterationsUsedUp => Reason::new(
                code,
                format!("{} attempts have run", self.iterations),
                format!("最大試行回数 {} に到達", self.iterations),
            ),
        }
    }
}

/// What still fails after an attempt, files outside the scope included.
fn failures_of(attempt: &Attempt) -> FailureSet {
    let outside = attempt.scope_violations.iter().map(|path| format!("scope:{path}"));
    let failing = attempt.fingerprints.iter().flatten().cloned();
    FailureSet { fingerprints: failing.chain(outside).collect(), masked: attempt.masked }
}

fn got_nowhere(progress: ProgressKind) -> (&'static str, &'static str) {
    match progress {
        ProgressKind::NoChange => ("the attempt changed nothing", "変更なし"),
        ProgressKind::Repeated => ("the same failures again", "同じ失敗の反復"),
        ProgressKind::Oscillating => ("back to failures seen before", "以前と同じ失敗に逆戻り"),
        ProgressKind::Regressed => ("more failures than before", "失敗が増加"),
        ProgressKind::Changed
        | ProgressKind::Infra
        | ProgressKind::Waiting
        | ProgressKind::Complete
        | ProgressKind::First
        | ProgressKind::Progress => {
            ("other failures each time, never fewer", "失敗が入れ替わるだけで減らない")
        }
    }
}

#[cfg(test)]
mod tests;
