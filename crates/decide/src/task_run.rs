//! The life of one task: base, baseline, attempts with their checks, and an end with its cause.
//!
//! A state machine in three parts. [`TaskRun::record`] folds what happened, [`TaskRun::decide`] looks at the state
//! after that and says what follows, [`TaskRun::apply`] folds what was decided. Only `decide` decides, and it changes
//! nothing: a live run calls all three, a resumed one `record` and `apply`, so a recorded run is never judged anew.
//! Each event is folded once. Between `decide` and `apply` a caller may put another decision in the place of the one
//! it got, as when a command cannot be afforded. Invariants: at most one command is under way; every command has
//! exactly one end; every sequence of events ends the task or waits for somebody.

mod beginning;
mod goal_trial;
mod ground;
mod guard_trial;
mod judgement;
mod next_attempt;
mod order;
mod proof;
mod telling;
mod trial;

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use fixpoint_vocabulary::work::{
    Base, CheckProblem, CheckReport, Command, CommandEnd, CommandResult, CommitId, Conflict, Event,
    FailureId, Fingerprint, ReportedFailure, TestName, TreeId,
};
use fixpoint_vocabulary::{Cause, Redacted};
use serde::{Deserialize, Serialize};

pub use self::ground::{CheckBaseline, Ground};
pub use self::judgement::Judgement;
pub use self::order::{ImpliedGoals, JudgeOrder, Start, TaskOrder, TestEdits};
pub use self::trial::Trial;
use crate::convergence::{Attempt, Controller, Counts, Outcome, Verdict};

/// What is being performed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// The base is being taken.
    TakingBase,
    /// The checks run at the base.
    Baseline,
    /// The agent works.
    Attempting,
    /// What lies outside the scope is being taken back.
    Reverting,
    /// The goals run.
    Goals,
    /// The tests of the base are being put into the attempt.
    RestoringTests,
    /// The goals run with the tests of the base.
    GoalsWithBaseTests,
    /// The guards run.
    Guards,
    /// Tests that were not seen at the base run there.
    SuspectsAtBase,
    /// Tests that look new run again.
    Confirming,
    /// Tests that fail sometimes run at the base, where nobody may have seen them fail.
    FlakyAtBase,
    /// The judge is asked.
    Judging,
}

/// Where the task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "step")]
pub enum Step {
    /// Nothing has happened.
    New,
    /// A command is under way.
    Working {
        /// For what.
        work: Work,
    },
    /// A person, or an outside thing, is awaited. Going on repeats the last command.
    Paused {
        /// Why.
        cause: Cause,
        /// What goes on then.
        work: Work,
    },
    /// Over.
    Ended {
        /// Why.
        cause: Cause,
    },
}

/// What the guards showed beside what blocks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Seen {
    /// Failed before and fails now: tolerated.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub known: BTreeSet<FailureId>,
    /// Known to fail sometimes: tolerated.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub flaky: BTreeSet<FailureId>,
    /// Fails sometimes, and never did before.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub newly_flaky: BTreeSet<FailureId>,
    /// Passed before, and is no longer run.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub vanished: BTreeSet<TestName>,
}

/// An attempt that was judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// The stage it was made at.
    pub stage: u32,
    /// What the controller was told.
    pub attempt: Attempt,
    /// What it said.
    pub verdict: Verdict,
    /// What it counted then.
    pub counts: Counts,
    /// The commit the attempt came to.
    pub commit: CommitId,
    /// What still fails, for the next prompt.
    pub failures: Vec<ReportedFailure>,
    /// What was outside the scope, for the next prompt.
    pub outside: Vec<String>,
    /// What the guards showed beside that.
    #[serde(default)]
    pub seen: Seen,
    /// Whether no earlier attempt left less to do.
    pub is_best: bool,
}

impl Judged {
    /// Whether something stands in the way that may be gone by itself: it fails only sometimes, or took too long once.
    fn is_shaky(&self) -> bool {
        let is_timeout = |failure: &ReportedFailure| {
            matches!(failure.id(), FailureId::Check { problem: CheckProblem::Timeout, .. })
        };
        !self.seen.newly_flaky.is_empty() || self.failures.iter().any(is_timeout)
    }
}

/// What follows from an event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Where the task stands then.
    pub step: Step,
    /// What is to be performed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Command>,
    /// What would be performed if it could be afforded; going on performs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Command>,
    /// The attempt that was judged by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<Judged>,
    /// What the judge's words came to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<Judgement>,
}

impl Decision {
    const fn at(step: Step) -> Self {
        Self { step, command: None, held: None, judged: None, judgement: None }
    }

    fn perform(work: Work, command: Command) -> Self {
        Self { command: Some(command), ..Self::at(Step::Working { work }) }
    }

    const fn pause(work: Work, cause: Cause) -> Self {
        Self::at(Step::Paused { cause, work })
    }

    /// The task is over.
    pub const fn end(cause: Cause) -> Self {
        Self::at(Step::Ended { cause })
    }

    /// The same with its command held back, because it cannot be afforded now. Going on performs it.
    #[must_use]
    pub fn held_back(self) -> Self {
        match (self.step, self.command) {
            (Step::Working { work }, Some(command)) => {
                let step = Step::Paused { cause: Cause::Budget, work };
                Self { step, held: Some(command), command: None, ..self }
            }
            (step, command) => Self { step, command, ..self },
        }
    }
}

/// An event that has no place where the task stands: a defect of whoever sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this event cannot happen at the step {step:?}")]
pub struct OutOfPlace {
    /// Where the task stands.
    pub step: Step,
}

/// An attempt that was made, as far as later ones need it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Made {
    commit: CommitId,
    tree: String,
}

impl Made {
    fn as_base(&self) -> Base {
        Base { commit: self.commit.clone(), tree: TreeId(self.tree.clone()) }
    }
}

/// What an attempt left to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Left {
    commit: CommitId,
    masked: bool,
    /// Whether the same tree may show something else next time.
    #[serde(default)]
    is_shaky: bool,
    failures: Vec<ReportedFailure>,
    outside: Vec<String>,
}

impl Left {
    /// What is left of two sides that could not be brought together.
    fn unmerged(commit: &CommitId, conflict: &Conflict) -> Self {
        let failure = |path: &String| {
            let message = Redacted::ours("holds both sides of a conflict, marked");
            ReportedFailure::new(FailureId::Conflict(path.clone()), message)
        };
        let failures = conflict.paths.iter().map(failure).collect();
        Self { commit: commit.clone(), masked: false, is_shaky: false, failures, outside: Vec::new() }
    }

    /// How far from done: to be cut short is worse than any number of failures.
    fn distance(&self) -> (bool, usize) {
        (self.masked, self.failures.len() + self.outside.len())
    }
}

/// One task, between two events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskRun {
    order: TaskOrder,
    step: Step,
    under_way: Option<Command>,
    interruptions: u32,
    ground: Ground,
    controller: Option<Controller>,
    trial: Option<Trial>,
    made: Vec<Made>,
    /// What the last attempt left.
    last: Option<Left>,
    /// What the best one left, where a later one was worse.
    earlier_best: Option<Left>,
    /// The checks that ever named tests that pass.
    naming: BTreeSet<u32>,
    /// What the judge said last.
    judgement: Option<Judgement>,
    /// How many attempts had been judged then.
    #[serde(default)]
    judged_then: u32,
    /// Answers of the judge that could not be read, since the last that could.
    unreadable: Vec<Unreadable>,
    /// What the checks showed of the last attempt that was judged.
    shown: Vec<CheckReport>,
    /// How many attempts in a row each failure has been there.
    lasting: BTreeMap<Fingerprint, u32>,
    /// How many attempts in a row changed nothing.
    #[serde(default)]
    idle: u32,
}

/// An answer that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Unreadable {
    problem: Redacted,
    text: Redacted,
}

impl TaskRun {
    /// A task that has not begun.
    pub fn new(order: TaskOrder) -> Self {
        let (ground, trial, last) = match &order.start {
            Start::TakeBase => (Ground::default(), None, None),
            Start::At(base) => (Ground { base: Some(base.clone()), ..Ground::default() }, None, None),
            Start::On(ground) => {
                let unfinished = ground.base.as_ref().filter(|_| ground.is_unproven);
                let trial = unfinished.map(|base| Trial::given(&base.commit, &base.tree));
                (ground.clone(), trial, None)
            }
            Start::Trial { ground, commit, tree, conflict } => {
                let left = conflict.as_ref().map(|conflict| Left::unmerged(commit, conflict));
                (ground.clone(), Some(Trial::given(commit, tree)), left)
            }
        };
        Self {
            order,
            step: Step::New,
            under_way: None,
            interruptions: 0,
            ground,
            controller: None,
            trial,
            made: Vec::new(),
            last,
            earlier_best: None,
            naming: BTreeSet::new(),
            judgement: None,
            judged_then: 0,
            unreadable: Vec::new(),
            shown: Vec::new(),
            lasting: BTreeMap::new(),
            idle: 0,
        }
    }

    /// Where the task stands.
    pub const fn step(&self) -> Step {
        self.step
    }

    /// The commits the judged attempts came to, in order.
    pub fn results(&self) -> impl Iterator<Item = &CommitId> {
        self.made.iter().map(|made| &made.commit)
    }

    /// What is fixed about it.
    pub const fn order(&self) -> &TaskOrder {
        &self.order
    }

    /// What was there before the first attempt.
    pub const fn ground(&self) -> &Ground {
        &self.ground
    }

    /// Folds what happened: what a command came to, and whether it was interrupted. Decides nothing.
    pub fn record(&mut self, event: &Event) {
        match (event, self.step) {
            (Event::Ended { end, .. }, Step::Working { work }) => match end {
                CommandEnd::Completed(result) => {
                    self.interruptions = 0;
                    self.record_result(work, result);
                }
                CommandEnd::Lost => self.interruptions = self.interruptions.saturating_add(1),
                CommandEnd::Failed { .. } | CommandEnd::Cancelled => {}
            },
            // Somebody looked at it and asked to go on.
            (Event::Resumed { .. }, _) => self.interruptions = 0,
            (Event::Ended { .. } | Event::Begun | Event::StopAsked, _) => {}
        }
    }

    fn record_result(&mut self, work: Work, result: &CommandResult) {
        match result {
            CommandResult::Base(base) if work == Work::TakingBase => self.ground.base = Some(base.clone()),
            CommandResult::Attempt(left) if work == Work::Attempting => self.record_attempt(left),
            CommandResult::Grafted { commit, tree } if work == Work::Reverting => {
                self.record_reverted(commit, tree);
            }
            CommandResult::Checks { reports } => self.record_checks(work, reports),
            CommandResult::Answer(answer) if work == Work::Judging => self.record_answer(answer),
            // Nothing of it is evidence, or `decide` refuses it.
            CommandResult::Base(_)
            | CommandResult::Attempt(_)
            | CommandResult::Grafted { .. }
            | CommandResult::Answer(_)
            | CommandResult::Merged(_)
            | CommandResult::Person(_)
            | CommandResult::Recalled(_)
            | CommandResult::Kept
            | CommandResult::Delivered(_) => {}
        }
    }

    /// Says what follows from an event that was recorded.
    pub fn decide(&self, event: &Event) -> Result<Decision, OutOfPlace> {
        match (event, self.step) {
            (Event::Begun, Step::New) => Ok(self.begin()),
            (Event::Ended { end, .. }, Step::Working { work }) => match end {
                CommandEnd::Completed(result) => self.after_completed(work, result),
                CommandEnd::Lost => self.after_lost(work),
                CommandEnd::Failed { .. } => Ok(Decision::pause(work, Cause::Infrastructure)),
                CommandEnd::Cancelled => Ok(Decision::pause(work, Cause::Stopped)),
            },
            (Event::StopAsked, Step::Working { work }) => Ok(Decision::pause(work, Cause::Stopped)),
            (Event::StopAsked, Step::New) => Ok(Decision::end(Cause::Stopped)),
            // What was under way when the stop came may still end, and asking twice changes nothing.
            (Event::StopAsked | Event::Ended { .. }, Step::Paused { .. } | Step::Ended { .. }) => {
                Ok(Decision::at(self.step))
            }
            (Event::Resumed { .. }, Step::Paused { work, .. }) => self.repeat(work),
            (Event::Begun | Event::Ended { .. } | Event::Resumed { .. }, _) => Err(self.out_of_place()),
        }
    }

    /// Folds a decision about the event that was recorded last. Decides nothing.
    pub fn apply(&mut self, decision: &Decision) {
        if let Some(judgement) = &decision.judgement {
            self.judgement = Some(judgement.clone());
        }
        if let Some(judged) = &decision.judged {
            self.conclude(judged);
        }
        if decision.judgement.is_some() {
            self.judged_then = self.attempts();
        }
        if let Some(command) = decision.command.as_ref().or(decision.held.as_ref()) {
            self.under_way = Some(command.clone());
        }
        self.step = decision.step;
    }

    fn after_completed(&self, work: Work, result: &CommandResult) -> Result<Decision, OutOfPlace> {
        match (work, result) {
            (Work::TakingBase, CommandResult::Base(base)) => Ok(self.with_base(base)),
            (Work::Baseline, CommandResult::Checks { reports }) => Ok(self.with_baseline(reports)),
            (Work::Attempting, CommandResult::Attempt(_))
            | (Work::Reverting | Work::RestoringTests, CommandResult::Grafted { .. })
            | (
                Work::Goals
                | Work::GoalsWithBaseTests
                | Work::Guards
                | Work::SuspectsAtBase
                | Work::Confirming
                | Work::FlakyAtBase,
                CommandResult::Checks { .. },
            ) => {
                let trial = self.trial.as_ref().ok_or_else(|| self.out_of_place())?;
                Ok(self.with_trial(work, trial, result))
            }
            (Work::Judging, CommandResult::Answer(answer)) => Ok(self.with_answer(answer)),
            (_, _) => Err(self.out_of_place()),
        }
    }

    /// A crash cut a command short: it costs nothing but time and is repeated, within a bound.
    fn after_lost(&self, work: Work) -> Result<Decision, OutOfPlace> {
        if self.interruptions > self.order.max_interruptions {
            Ok(Decision::pause(work, Cause::Infrastructure))
        } else {
            self.repeat(work)
        }
    }

    fn repeat(&self, work: Work) -> Result<Decision, OutOfPlace> {
        let command = self.under_way.clone().ok_or_else(|| self.out_of_place())?;
        Ok(Decision::perform(work, command))
    }

    fn out_of_place(&self) -> OutOfPlace {
        OutOfPlace { step: self.step }
    }

    fn conclude(&mut self, judged: &Judged) {
        let mut controller = self.controller.take().unwrap_or_else(|| self.new_controller());
        controller.record(&judged.attempt, judged.counts);
        self.controller = Some(controller);
        if judged.attempt.outcome == Outcome::Infra {
            // The attempt stands; only its checks are run again.
            return;
        }
        self.shown = self.trial.take().map(Trial::into_reports).unwrap_or_default();
        self.made.push(Made {
            commit: judged.commit.clone(),
            tree: judged.attempt.tree.clone().unwrap_or_default(),
        });
        // Not by the kind of progress: the first attempt at a task without goals is of a kind of its own.
        let is_idle = judged.attempt.tree.is_some() && judged.attempt.tree == judged.attempt.base_tree;
        self.idle = if is_idle { self.idle.saturating_add(1) } else { 0 };
        let lasted = |failure: &ReportedFailure| {
            let before = self.lasting.get(failure.fingerprint()).copied().unwrap_or(0);
            (failure.fingerprint().clone(), before.saturating_add(1))
        };
        self.lasting = judged.failures.iter().map(lasted).collect();
        let before = self.last.replace(Left {
            commit: judged.commit.clone(),
            masked: judged.attempt.masked,
            is_shaky: judged.is_shaky(),
            failures: judged.failures.clone(),
            outside: judged.outside.clone(),
        });
        self.earlier_best = if judged.is_best { None } else { self.earlier_best.take().or(before) };
    }

    /// What the best attempt left; the later of two that are as good.
    fn best(&self) -> Option<&Left> {
        self.earlier_best.as_ref().or(self.last.as_ref())
    }

    /// The controller as it stands, made on first use: only the baseline knows what failed before. It remembers every
    /// attempt, so it is borrowed, not copied.
    fn controller(&self) -> Cow<'_, Controller> {
        self.controller.as_ref().map_or_else(|| Cow::Owned(self.new_controller()), Cow::Borrowed)
    }

    fn new_controller(&self) -> Controller {
        let before = self.ground.goal_failures(&self.goals());
        Controller::new(self.order.limits.clone(), before, self.ground.base_tree())
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod world;
