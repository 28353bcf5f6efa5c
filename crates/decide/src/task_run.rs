//! The life of one task: base, baseline, attempts with their checks, and an end with its cause.
//!
//! A state machine in two halves. [`TaskRun::decide`] looks at what happened and says what follows; it changes
//! nothing. [`TaskRun::apply`] records what happened and what was decided; it decides nothing, so a recorded run is
//! taken up by an other version without being judged anew. Invariants: at most one command is under way; every
//! command has exactly one end; every sequence of events ends the task or waits for somebody.

mod beginning;
mod budget;
mod goal_trial;
mod ground;
mod guard_trial;
mod next_attempt;
mod order;
mod proof;
mod trial;

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use fixpoint_vocabulary::Cause;
use fixpoint_vocabulary::work::{
    AttemptOrder, Command, CommandEnd, CommandResult, CommitId, Event, ReportedFailure,
};
use serde::{Deserialize, Serialize};

use self::budget::Spent;
pub use self::goal_trial::NO_TESTS_RAN;
pub use self::ground::{CheckBaseline, Ground};
pub use self::order::{ImpliedGoals, TaskOrder, TestEdits};
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

/// What the guards showed beside what blocks, by test or fingerprint.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Seen {
    /// Failed before and fails now: tolerated.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub known: BTreeSet<String>,
    /// Known to fail sometimes: tolerated.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub flaky: BTreeSet<String>,
    /// Fails sometimes, and never did before.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub newly_flaky: BTreeSet<String>,
    /// Passed before, and is no longer run.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub vanished: BTreeSet<String>,
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
}

impl Judged {
    /// Whether something stands in the way that may be gone by itself: it fails only sometimes, or took too long once.
    fn is_shaky(&self) -> bool {
        let is_timeout = |failure: &ReportedFailure| failure.fingerprint.starts_with("timeout:");
        !self.seen.newly_flaky.is_empty() || self.failures.iter().any(is_timeout)
    }
}

/// What follows from an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
}

impl Decision {
    const fn perform(work: Work, command: Command) -> Self {
        Self { step: Step::Working { work }, command: Some(command), held: None, judged: None }
    }

    const fn pause(work: Work, cause: Cause) -> Self {
        Self { step: Step::Paused { cause, work }, command: None, held: None, judged: None }
    }

    const fn end(cause: Cause) -> Self {
        Self { step: Step::Ended { cause }, command: None, held: None, judged: None }
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
    /// How far from done: to be cut short is worse than any number of failures.
    fn distance(&self) -> (bool, usize) {
        (self.masked, self.failures.len() + self.outside.len())
    }
}

/// One task, between two events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRun {
    order: TaskOrder,
    step: Step,
    under_way: Option<Command>,
    interruptions: u32,
    spent: Spent,
    ground: Ground,
    controller: Option<Controller>,
    trial: Option<Trial>,
    made: Vec<Made>,
    /// What the last attempt left.
    last: Option<Left>,
    /// What the best one left; the later of two that are as good.
    best: Option<Left>,
    /// The checks that ever named tests that pass.
    naming: BTreeSet<u32>,
}

impl TaskRun {
    /// A task that has not begun.
    pub fn new(order: TaskOrder) -> Self {
        Self {
            order,
            step: Step::New,
            under_way: None,
            interruptions: 0,
            spent: Spent::default(),
            ground: Ground::default(),
            controller: None,
            trial: None,
            made: Vec::new(),
            last: None,
            best: None,
            naming: BTreeSet::new(),
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

    /// A command with what an agent must be told, which stands elsewhere on record.
    pub fn told(&self, command: &Command) -> Command {
        match command {
            Command::RunAttempt(order) => {
                let (failures, outside) = self.left_at(&order.base);
                Command::RunAttempt(AttemptOrder { failures, outside, ..order.clone() })
            }
            Command::TakeBase | Command::RunChecks(_) | Command::Graft(_) => command.clone(),
        }
    }

    /// What is left to do at a commit that an attempt begins with.
    fn left_at(&self, commit: &CommitId) -> (Vec<ReportedFailure>, Vec<String>) {
        let known = self.last.iter().chain(&self.best).find(|left| left.commit == *commit);
        match known.or(self.last.as_ref()) {
            Some(left) => (left.failures.clone(), left.outside.clone()),
            None => {
                let goals = self.goals(&self.ground);
                let failing = goals.iter().filter_map(|goal| self.ground.checks.get(goal));
                (failing.flat_map(|goal| goal.failures.iter().cloned()).collect(), Vec::new())
            }
        }
    }

    /// Says what follows from an event.
    pub fn decide(&self, event: &Event) -> Result<Decision, OutOfPlace> {
        Ok(self.within_budget(event, self.wish(event)?))
    }

    /// What would follow if it could be afforded.
    fn wish(&self, event: &Event) -> Result<Decision, OutOfPlace> {
        match (event, self.step) {
            (Event::Begun, Step::New) => Ok(Decision::perform(Work::TakingBase, Command::TakeBase)),
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
                Ok(Decision { step: self.step, command: None, held: None, judged: None })
            }
            (Event::Resumed { .. }, Step::Paused { work, .. }) => self.repeat(work),
            (Event::Begun | Event::Ended { .. } | Event::Resumed { .. }, _) => Err(self.out_of_place()),
        }
    }

    /// Records what happened and what was decided then.
    pub fn apply(&mut self, event: &Event, decision: &Decision) {
        if let (Event::Ended { end, .. }, Step::Working { work }) = (event, self.step) {
            match end {
                CommandEnd::Completed(result) => {
                    self.trial = self.trial_with(work, result);
                    self.ground.take_in(work, result);
                    self.interruptions = 0;
                    if let CommandResult::Checks { reports } = result {
                        let naming = reports.iter().filter(|report| report.passed.is_some());
                        self.naming.extend(naming.map(|report| report.check));
                    }
                }
                CommandEnd::Lost => self.interruptions += 1,
                CommandEnd::Failed { .. } | CommandEnd::Cancelled => {}
            }
        }
        if matches!(event, Event::Resumed { .. }) {
            // Somebody looked at it and asked to go on.
            self.interruptions = 0;
        }
        if let Some(judged) = &decision.judged {
            self.conclude(judged);
        }
        self.spent.take_in(event, decision);
        if let Some(command) = decision.command.as_ref().or(decision.held.as_ref()) {
            self.under_way = Some(command.clone());
        }
        self.step = decision.step;
    }

    fn after_completed(&self, work: Work, result: &CommandResult) -> Result<Decision, OutOfPlace> {
        match (work, result) {
            (Work::TakingBase, CommandResult::Base(base)) => Ok(self.with_base(base)),
            (Work::Baseline, CommandResult::Checks { reports }) => {
                let mut ground = self.ground.clone();
                ground.take_in(work, result);
                Ok(self.with_baseline(&ground, reports))
            }
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
                let trial = self.trial_with(work, result).ok_or_else(|| self.out_of_place())?;
                Ok(self.with_trial(work, &trial, result))
            }
            (_, _) => Err(self.out_of_place()),
        }
    }

    /// A crash cut a command short: it costs nothing but time and is repeated, within a bound.
    fn after_lost(&self, work: Work) -> Result<Decision, OutOfPlace> {
        if self.interruptions >= self.order.max_interruptions {
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
        self.made.push(Made {
            commit: judged.commit.clone(),
            tree: judged.attempt.tree.clone().unwrap_or_default(),
        });
        let left = Left {
            commit: judged.commit.clone(),
            masked: judged.attempt.masked,
            is_shaky: judged.is_shaky(),
            failures: judged.failures.clone(),
            outside: judged.outside.clone(),
        };
        if self.best.as_ref().is_none_or(|best| left.distance() <= best.distance()) {
            self.best = Some(left.clone());
        }
        self.last = Some(left);
        self.trial = None;
    }

    /// The controller as it stands, made on first use: only the baseline knows what failed before. It remembers every
    /// attempt, so it is borrowed, not copied.
    fn controller(&self) -> Cow<'_, Controller> {
        self.controller.as_ref().map_or_else(|| Cow::Owned(self.new_controller()), Cow::Borrowed)
    }

    fn new_controller(&self) -> Controller {
        let before = self.ground.goal_failures(&self.goals(&self.ground));
        Controller::new(self.order.limits.clone(), before, self.ground.base_tree())
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod world;
