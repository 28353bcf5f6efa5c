//! The life of one task: base, baseline, attempts with their checks, and an end with its cause.
//!
//! A state machine in three parts. [`TaskRun::record`] folds what happened, [`TaskRun::decide`] looks at the state
//! after that and says what follows, [`TaskRun::apply`] folds what was decided. Only `decide` decides, and it changes
//! nothing: a live run calls all three, a resumed one `record` and `apply`, so a recorded run is never judged anew.
//! Each event is folded once. Between `decide` and `apply` a caller may put another decision in the place of the one
//! it got, as when a command cannot be afforded. Invariants: at most one command is under way; every command has
//! exactly one end; every sequence of events ends the task or leaves it waiting for somebody.
//!
//! Each file below owns one question: what is asked, how the answer is folded, and what it leads to.
//!
//! ```text
//! first_attempt.rs     is there anything to do? base and baseline
//! evaluation.rs        what did an attempt leave? scope first, then goals, guards and judge
//! proof_tree.rs        which changes of tests and check definitions are put back before that counts?
//! goal_evaluation.rs   are the goals seen to pass, with and without these changes?
//! guard_evaluation.rs  does anything fail that did not fail before?
//! judge.rs             is the acceptance met? is it worth going on?
//! next_attempt.rs      another attempt, or the end?
//! ```

mod baseline_state;
mod decision;
mod evaluation;
mod first_attempt;
mod goal_evaluation;
mod guard_evaluation;
mod judge;
mod next_attempt;
mod options;
mod proof_tree;
mod queries;
mod status;

use fixpoint_vocabulary::work::{
    Base, CheckReport, Command, CommandEnd, CommandResult, CommitId, Conflict, Event, FailureId, Fingerprint,
    ProtectedChange, ReportedFailure, TreeId,
};
use fixpoint_vocabulary::{Cause, Redacted};
use serde::{Deserialize, Serialize};

pub(crate) use self::baseline_state::{BaselineLimits, BaselineStep};
pub use self::baseline_state::{BaselineState, CheckBaseline};
pub use self::decision::{BaselineComparison, Decision, JudgedAttempt};
use self::evaluation::Evaluation;
pub use self::judge::Judgement;
use self::judge::UnreadableAnswer;
pub use self::options::{ImpliedGoals, JudgeOptions, TaskOptions, TaskStart, TestEdits};
pub use self::proof_tree::described;
pub(crate) use self::proof_tree::is_permitted;
pub use self::status::{TaskActivity, TaskStatus, UnexpectedEvent};
use crate::convergence::{Action, AttemptOutcome, Controller};
use crate::prelude::*;

/// What remains to be done at a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Remaining {
    commit: CommitId,
    masked: bool,
    /// Whether another run of the same tree may show something else.
    #[serde(default)]
    may_pass_unchanged: bool,
    failures: Vec<ReportedFailure>,
    outside: Vec<String>,
}

impl Remaining {
    fn of_conflict(commit: &CommitId, conflict: &Conflict) -> Self {
        let failure = |path: &String| {
            let message = Redacted::ours("holds both sides of a conflict, marked");
            ReportedFailure::new(FailureId::Conflict(path.clone()), message)
        };
        let failures = conflict.paths.iter().map(failure).collect();
        Self {
            commit: commit.clone(),
            masked: false,
            may_pass_unchanged: false,
            failures,
            outside: Vec::new(),
        }
    }

    /// How far from done: checks that were cut short are worse than any number of failures.
    fn distance(&self) -> (bool, usize) {
        (self.masked, self.failures.len() + self.outside.len())
    }
}

/// The state of one task between two events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskRun {
    options: TaskOptions,
    status: TaskStatus,
    /// The command that was decided last: resuming repeats it.
    last_command: Option<Command>,
    /// Crashes in a row that cut a command short.
    interruptions: u32,
    baseline: BaselineState,
    controller: Option<Controller>,
    /// The attempt that is being evaluated.
    evaluation: Option<Evaluation>,
    /// What each judged attempt left, in order.
    snapshots: Vec<Base>,
    /// What the last attempt left to do.
    last: Option<Remaining>,
    /// What the best attempt left to do, where a later one was worse.
    earlier_best: Option<Remaining>,
    /// The checks whose output ever named tests that pass.
    checks_with_names: BTreeSet<u32>,
    judgement: Option<Judgement>,
    /// How many attempts had been judged when the judge said that.
    attempts_at_judgement: u32,
    /// Answers of the judge that could not be read, since the last that could.
    unreadable_answers: Vec<UnreadableAnswer>,
    /// What the checks showed of the last judged attempt.
    last_reports: Vec<CheckReport>,
    /// The changes of tests and definitions in it that somebody permitted.
    #[serde(default)]
    permitted_changes: Vec<ProtectedChange>,
    /// How many attempts in a row have had each failure.
    attempts_with: BTreeMap<Fingerprint, u32>,
    /// How many attempts in a row changed nothing.
    idle_attempts: u32,
}

impl TaskRun {
    pub fn new(options: TaskOptions) -> Self {
        let (baseline, evaluation, last) = match &options.start {
            TaskStart::TakeBase => (BaselineState::default(), None, None),
            TaskStart::FromCommit(base) => {
                (BaselineState { base: Some(base.clone()), ..BaselineState::default() }, None, None)
            }
            TaskStart::FromCheckedBase(baseline) => (baseline.clone(), None, None),
            TaskStart::FromBaseline(baseline) => {
                let unfinished = baseline.base.as_ref().filter(|_| baseline.is_unproven);
                (baseline.clone(), unfinished.map(Evaluation::of_existing), None)
            }
            TaskStart::Evaluate { baseline, work, conflict, changes } => {
                let remaining =
                    conflict.as_ref().map(|conflict| Remaining::of_conflict(&work.commit, conflict));
                let protected_from = baseline.base.as_ref().map_or(&work.commit, |base| &base.commit).clone();
                let protected = changes.clone();
                let evaluation = Evaluation { protected, protected_from, ..Evaluation::of_existing(work) };
                (baseline.clone(), Some(evaluation), remaining)
            }
        };
        Self {
            options,
            status: TaskStatus::New,
            last_command: None,
            interruptions: 0,
            baseline,
            controller: None,
            evaluation,
            snapshots: Vec::new(),
            last,
            earlier_best: None,
            checks_with_names: BTreeSet::new(),
            judgement: None,
            attempts_at_judgement: 0,
            unreadable_answers: Vec::new(),
            last_reports: Vec::new(),
            permitted_changes: Vec::new(),
            attempts_with: BTreeMap::new(),
            idle_attempts: 0,
        }
    }

    /// Folds what happened: what a command returned, or that it was interrupted. Decides nothing.
    pub fn record(&mut self, event: &Event) {
        match (event, self.status) {
            (Event::Ended { end, .. }, TaskStatus::Working { activity }) => match end {
                CommandEnd::Completed(result) => {
                    self.interruptions = 0;
                    self.record_result(activity, result);
                }
                CommandEnd::Lost => self.interruptions = self.interruptions.saturating_add(1),
                CommandEnd::Failed { .. } | CommandEnd::Cancelled => {}
            },
            // Somebody looked at it and asked to go on.
            (Event::Resumed { .. }, _) => self.interruptions = 0,
            (Event::Ended { .. } | Event::Started | Event::StopRequested, _) => {}
        }
    }

    fn record_result(&mut self, activity: TaskActivity, result: &CommandResult) {
        match result {
            CommandResult::Base(base) if activity == TaskActivity::TakingBase => {
                self.baseline.base = Some(base.clone());
            }
            CommandResult::Attempt(result) if activity == TaskActivity::Attempting => {
                self.record_attempt(result);
            }
            CommandResult::Restored { commit, tree } if activity == TaskActivity::Reverting => {
                self.record_reverted(commit, tree);
            }
            CommandResult::Restored { commit, .. } if activity == TaskActivity::BuildingProofTree => {
                self.record_proof_tree(commit);
            }
            CommandResult::Checks { reports } => self.record_checks(activity, reports),
            CommandResult::Answer(answer) if activity == TaskActivity::Judging => self.record_answer(answer),
            // There is nothing in it to keep, or `decide` refuses it.
            CommandResult::Base(_)
            | CommandResult::Attempt(_)
            | CommandResult::Restored { .. }
            | CommandResult::Answer(_)
            | CommandResult::Protected { .. }
            | CommandResult::Merged(_)
            | CommandResult::Person(_)
            | CommandResult::CachedPlan(_)
            | CommandResult::PlanStored
            | CommandResult::Delivered(_) => {}
        }
    }

    /// Says what follows from an event that was recorded.
    pub fn decide(&self, event: &Event) -> Result<Decision, UnexpectedEvent> {
        match (event, self.status) {
            (Event::Started, TaskStatus::New) => Ok(self.begin()),
            (Event::Ended { end, .. }, TaskStatus::Working { activity }) => match end {
                CommandEnd::Completed(result) => self.after_result(activity, result),
                CommandEnd::Lost => self.after_crash(activity),
                CommandEnd::Failed { .. } => Ok(Decision::pause(activity, Cause::Infrastructure)),
                CommandEnd::Cancelled => Ok(Decision::pause(activity, Cause::Stopped)),
            },
            (Event::StopRequested, TaskStatus::Working { activity }) => {
                Ok(Decision::pause(activity, Cause::Stopped))
            }
            (Event::StopRequested, TaskStatus::New) => Ok(Decision::end(Cause::Stopped)),
            // A command may still end after the stop, and to stop twice changes nothing.
            (
                Event::StopRequested | Event::Ended { .. },
                TaskStatus::Paused { .. } | TaskStatus::Ended { .. },
            ) => Ok(Decision::at(self.status)),
            (Event::Resumed { .. }, TaskStatus::Paused { activity, .. }) => self.repeat(activity),
            (Event::Started | Event::Ended { .. } | Event::Resumed { .. }, _) => Err(self.unexpected()),
        }
    }

    /// Folds a decision about the event that was recorded last. Decides nothing.
    pub fn apply(&mut self, decision: &Decision) {
        if let Some(judged) = &decision.judged {
            self.apply_judged(judged);
        }
        if let Some(judgement) = &decision.judgement {
            self.judgement = Some(judgement.clone());
            self.attempts_at_judgement = self.attempts();
        }
        if let Some(command) = decision.command.as_ref().or(decision.deferred.as_ref()) {
            self.last_command = Some(command.clone());
        }
        self.status = decision.status;
    }

    fn after_result(
        &self,
        activity: TaskActivity,
        result: &CommandResult,
    ) -> Result<Decision, UnexpectedEvent> {
        let evaluation = || self.evaluation.as_ref().ok_or_else(|| self.unexpected());
        match (activity, result) {
            (TaskActivity::TakingBase, CommandResult::Base(base)) => Ok(self.after_base(base)),
            (TaskActivity::Baseline, CommandResult::Checks { reports }) => {
                Ok(self.after_baseline_run(reports))
            }
            (TaskActivity::Attempting, CommandResult::Attempt(result)) => {
                Ok(self.after_attempt(evaluation()?, result))
            }
            (TaskActivity::Reverting, CommandResult::Restored { .. }) => Ok(self.evaluate(evaluation()?)),
            (TaskActivity::BuildingProofTree, CommandResult::Restored { .. }) => {
                Ok(self.after_proof_tree(evaluation()?))
            }
            (
                TaskActivity::Goals
                | TaskActivity::ProofGoals
                | TaskActivity::Guards
                | TaskActivity::ProofGuards
                | TaskActivity::SuspectsAtBase
                | TaskActivity::Confirming
                | TaskActivity::FlakyAtBase,
                CommandResult::Checks { reports },
            ) => Ok(self.after_checks(activity, evaluation()?, reports)),
            (TaskActivity::Judging, CommandResult::Answer(answer)) => Ok(self.after_answer(answer)),
            (_, _) => Err(self.unexpected()),
        }
    }

    /// A crash cut a command short: that costs nothing but time, so it is repeated, within a bound.
    fn after_crash(&self, activity: TaskActivity) -> Result<Decision, UnexpectedEvent> {
        if self.interruptions > self.options.max_interruptions {
            Ok(Decision::pause(activity, Cause::Infrastructure))
        } else {
            self.repeat(activity)
        }
    }

    fn repeat(&self, activity: TaskActivity) -> Result<Decision, UnexpectedEvent> {
        let command = self.last_command.clone().ok_or_else(|| self.unexpected())?;
        Ok(Decision::execute(activity, command))
    }

    fn unexpected(&self) -> UnexpectedEvent {
        UnexpectedEvent { status: self.status }
    }

    fn apply_judged(&mut self, judged: &JudgedAttempt) {
        let mut controller = self.controller.take().unwrap_or_else(|| self.new_controller());
        controller.record(&judged.attempt, judged.counts);
        self.controller = Some(controller);
        let is_paused = judged.verdict.action == Action::Pause;
        if judged.attempt.outcome == AttemptOutcome::Infra
            || judged.attempt.outcome == AttemptOutcome::Environment && is_paused
        {
            // The attempt stands; only its checks are run again.
            return;
        }
        let evaluation = self.evaluation.take();
        self.permitted_changes =
            evaluation.iter().flat_map(|evaluation| self.permitted(evaluation)).collect();
        self.last_reports = evaluation.iter().flat_map(Evaluation::reports).cloned().collect();
        let tree = TreeId(judged.attempt.tree.clone().unwrap_or_default());
        self.snapshots.push(Base { commit: judged.commit.clone(), tree });
        // Not by the kind of progress: the first attempt at a task without goals is of a kind of its own.
        // What was reverted because it was out of scope was a change all the same.
        let is_idle = judged.attempt.tree.is_some()
            && judged.attempt.tree == judged.attempt.base_tree
            && judged.outside.is_empty();
        self.idle_attempts = if is_idle { self.idle_attempts.saturating_add(1) } else { 0 };
        let counted = |failure: &ReportedFailure| {
            let before = self.attempts_with.get(failure.fingerprint()).copied().unwrap_or(0);
            (failure.fingerprint().clone(), before.saturating_add(1))
        };
        self.attempts_with = judged.failures.iter().map(counted).collect();
        let before = self.last.replace(Remaining {
            commit: judged.commit.clone(),
            masked: judged.attempt.masked,
            may_pass_unchanged: judged.may_pass_unchanged(),
            failures: judged.failures.clone(),
            outside: judged.outside.clone(),
        });
        self.earlier_best = if judged.is_best { None } else { self.earlier_best.take().or(before) };
    }

    /// What the best attempt left to do; of two that are as good, the later one.
    fn best(&self) -> Option<&Remaining> {
        self.earlier_best.as_ref().or(self.last.as_ref())
    }

    /// The controller, made on first use: only the baseline knows what failed before. It remembers every attempt, so
    /// it is borrowed, not copied.
    fn controller(&self) -> Cow<'_, Controller> {
        self.controller.as_ref().map_or_else(|| Cow::Owned(self.new_controller()), Cow::Borrowed)
    }

    fn new_controller(&self) -> Controller {
        let before = self.baseline.goal_failures(&self.goals());
        Controller::new(self.options.limits.clone(), before, self.baseline.base_tree())
    }
}

#[cfg(test)]
mod fake_project;
#[cfg(test)]
mod tests;
