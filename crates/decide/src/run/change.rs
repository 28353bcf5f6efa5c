//! What an event changes, as data: each part of the run has its own enum, and applies it in its own file.
//!
//! A change is recorded once and applied once; applying one never decides anything.

use fixpoint_vocabulary::ask::ParsedAnswer;
use fixpoint_vocabulary::work::{Command, CommandId, Event};
use fixpoint_vocabulary::{Cause, Redacted, TaskId};
use serde::{Deserialize, Serialize};

use super::base_checks::BaseChecksChange;
use super::delivery::DeliveryChange;
use super::final_proof::FinalProofChange;
use super::final_review::FinalReviewChange;
use super::merging::MergeChange;
use super::plan_review::PlanReviewChange;
use super::planning::PlanningChange;
use super::reflection::ReflectionChange;
use super::task_changes::TaskChange;
use crate::prelude::*;
use crate::task_run;

/// The part of the run that a command is for; the same part handles its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// A task's own work: baseline, attempts, checks, its judge.
    Task(TaskId),
    /// The checks at the base, before anything is planned.
    BaseChecks,
    /// Planning the goal.
    Planning,
    /// Judging and refining the plan.
    PlanReview,
    /// Planning smaller tasks in the place of this one.
    Replan(TaskId),
    /// Merging the two results that this task merges.
    Merge(TaskId),
    /// Comparing the result with the base of the run.
    FinalProof,
    /// Judging the result as a whole.
    FinalReview,
    /// The reflection after this task.
    Reflection(TaskId),
    /// Delivering the result.
    Delivery,
}

impl Owner {
    /// The task it is about.
    pub const fn task(&self) -> Option<&TaskId> {
        match self {
            Self::Task(task) | Self::Merge(task) | Self::Replan(task) | Self::Reflection(task) => Some(task),
            Self::BaseChecks
            | Self::Planning
            | Self::PlanReview
            | Self::FinalProof
            | Self::FinalReview
            | Self::Delivery => None,
        }
    }
}

/// What a task is told to react to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskSignal {
    /// The event itself: one of the task's own commands ended.
    #[default]
    Event,
    Begin,
    /// Stop, so that it can be resumed.
    Stop,
    Resume,
}

impl TaskSignal {
    /// The event as the task sees it.
    pub fn event(self, event: &Event) -> Cow<'_, Event> {
        match self {
            Self::Event => Cow::Borrowed(event),
            Self::Begin => Cow::Owned(Event::Started),
            Self::Stop => Cow::Owned(Event::StopRequested),
            Self::Resume => Cow::Owned(Event::resumed()),
        }
    }

    pub(super) fn is_event(&self) -> bool {
        *self == Self::Event
    }
}

/// An answer of a model that could not be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedAnswer {
    /// What is wrong with it.
    pub problem: Redacted,
    /// The answer, for the model to correct.
    pub text: Redacted,
}

impl RejectedAnswer {
    /// An answer that is rejected for what it says, not for how it reads.
    pub(super) fn because(problem: Redacted) -> Self {
        Self { problem, text: Redacted::default() }
    }

    /// What is wrong with an answer that is not the document that was asked for; `None` where nobody answered.
    pub(super) fn of(answer: &ParsedAnswer) -> Option<Self> {
        match answer {
            ParsedAnswer::Document(_) => {
                Some(Self::because(Redacted::ours("the answer is a different kind of document")))
            }
            ParsedAnswer::Unreadable { problem, text } => {
                Some(Self { problem: problem.clone(), text: text.clone() })
            }
            ParsedAnswer::Unanswered { .. } => None,
        }
    }
}

/// A change of the run itself: what is in flight, deferred, paused, over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunChange {
    /// A command is to be executed.
    Begin {
        owner: Owner,
        command: Command,
    },
    /// A command cannot be executed now; resuming executes it.
    Defer {
        owner: Owner,
        command: Command,
        cause: Cause,
    },
    /// Deferred commands are taken up again.
    ReleaseDeferred,
    /// A model's answer could not be used.
    RejectAnswer {
        /// For which part it was meant.
        owner: Owner,
        answer: RejectedAnswer,
    },
    Pause {
        cause: Cause,
    },
    End {
        cause: Cause,
    },
}

/// One change of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    Run(RunChange),
    /// The checks at the base.
    BaseChecks(BaseChecksChange),
    Planning(PlanningChange),
    /// The plan before its judge.
    PlanReview(PlanReviewChange),
    /// A task or the task graph.
    Task(TaskChange),
    Merge(MergeChange),
    /// The whole result against the base of the run.
    FinalProof(FinalProofChange),
    /// The judgement of the whole result.
    FinalReview(FinalReviewChange),
    /// Reflection and revision.
    Reflection(ReflectionChange),
    /// Delivering the result.
    Delivery(DeliveryChange),
}

macro_rules! change_from {
    ($($variant:ident($change:ty)),* $(,)?) => {
        $(impl From<$change> for Change {
            fn from(change: $change) -> Self {
                Self::$variant(change)
            }
        })*
    };
}

change_from! {
    Run(RunChange),
    BaseChecks(BaseChecksChange),
    Planning(PlanningChange),
    PlanReview(PlanReviewChange),
    Task(TaskChange),
    Merge(MergeChange),
    FinalProof(FinalProofChange),
    FinalReview(FinalReviewChange),
    Reflection(ReflectionChange),
    Delivery(DeliveryChange),
}

impl Change {
    /// What a task decided, where this is that.
    pub fn task_decision(&self) -> Option<(&TaskId, &task_run::Decision)> {
        let Self::Task(TaskChange::Decided { task, decision, .. }) = self else { return None };
        Some((task, decision))
    }

    /// The command that this change begins, and for which part.
    pub fn command(&self) -> Option<(Owner, &Command)> {
        match self {
            Self::Run(RunChange::Begin { owner, command }) => Some((owner.clone(), command)),
            Self::Task(TaskChange::Decided { task, decision, .. }) => {
                decision.command.as_ref().map(|command| (Owner::Task(task.clone()), command))
            }
            Self::Run(_)
            | Self::Task(_)
            | Self::BaseChecks(_)
            | Self::Planning(_)
            | Self::PlanReview(_)
            | Self::Merge(_)
            | Self::FinalProof(_)
            | Self::FinalReview(_)
            | Self::Reflection(_)
            | Self::Delivery(_) => None,
        }
    }
}

/// What follows from an event: its changes, in the order in which they were applied.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Decision {
    /// The changes.
    pub changes: Vec<Change>,
}

impl Decision {
    /// The commands to be executed, by the ids they have in the record of this number.
    pub fn commands(&self, seq: u64) -> impl Iterator<Item = (CommandId, Owner, &Command)> {
        let numbered = (0u32..).zip(&self.changes);
        numbered.filter_map(move |(index, change)| {
            change.command().map(|(owner, command)| (CommandId { seq, index }, owner, command))
        })
    }

    /// What tasks decided.
    pub fn task_decisions(&self) -> impl Iterator<Item = (&TaskId, &task_run::Decision)> {
        self.changes.iter().filter_map(Change::task_decision)
    }
}
