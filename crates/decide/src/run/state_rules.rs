//! What may follow what: the run's phase out of where it stands, and each task's way by the table of its states.
//!
//! The tables are `phases` and `tasks`; a decision that leaves them is refused as a whole before it is recorded.

use fixpoint_vocabulary::{Cause, TaskId, TaskState};

use super::{Change, Owner, Run, RunStatus, TaskChange, TaskNode};
use crate::phases::Phase;
use crate::refinement;
use crate::tasks::{self, TaskEvent};

/// An event that has no place where the run stands: a defect of whoever sent it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnexpectedEvent {
    /// It cannot happen to the run.
    #[error("this event cannot happen to a run that is {status:?}")]
    Run { status: RunStatus },
    /// What was decided about it has no place in the phase: a defect of ours.
    #[error("a run cannot come from the phase {from:?} to {to:?}")]
    Phase {
        from: Phase,
        /// The phase it would be in.
        to: Phase,
    },
    /// What was decided about a task has no place in its state: a defect of ours.
    #[error("task `{task}`: {error}")]
    State { task: TaskId, error: tasks::InvalidTransition },
    /// It cannot happen to the task.
    #[error("task `{task}`: {error}")]
    Task { task: TaskId, error: crate::task_run::UnexpectedEvent },
}

impl Run {
    /// What the run is doing.
    pub fn phase(&self) -> Phase {
        let is_planned = self.plan_options().is_some();
        match self.status {
            RunStatus::Ended { .. } => Phase::Completion,
            RunStatus::New | RunStatus::Working | RunStatus::Paused { .. } if !is_planned => Phase::Execution,
            RunStatus::New | RunStatus::Working | RunStatus::Paused { .. } => match self.review.accepted {
                Some(_) => self.phase_of_work(),
                None => self.phase_of_planning(),
            },
        }
    }

    fn phase_of_work(&self) -> Phase {
        let is_reflecting = self.busy_owners().any(|owner| matches!(owner, Owner::Reflection(_)));
        match (is_reflecting, &self.proposed) {
            (true, Some(_)) => Phase::PlanRevision,
            (true, None) => Phase::Reflection,
            (false, _) => Phase::Execution,
        }
    }

    fn phase_of_planning(&self) -> Phase {
        let review = &self.review;
        let is_decided = review.decisions.len() == review.revisions.len();
        let is_sent_back = is_decided
            && review.decisions.last().is_some_and(|last| last.decision == refinement::Decision::Replan);
        match (review.revisions.is_empty(), &self.planning.understanding, &self.planning.decomposition) {
            (false, ..) if is_sent_back => Phase::TaskDecomposition,
            (false, ..) => Phase::PlanReview,
            (true, None, _) => Phase::GoalUnderstanding,
            (true, Some(_), None) => Phase::TaskDecomposition,
            (true, Some(_), Some(_)) => Phase::ActionPlanning,
        }
    }

    /// Why a change cannot follow from the state that its task is in.
    pub(super) fn forbids(&self, change: &Change) -> Option<UnexpectedEvent> {
        let Change::Task(change) = change else { return None };
        let (task, event) = match change {
            TaskChange::Replaced { task, .. } => (task, TaskEvent::Replaced),
            TaskChange::Started { options } => (&options.task, TaskEvent::Started),
            TaskChange::StateChanged { task, state, cause } => (task, event_into(*state, *cause)),
            TaskChange::Added { .. } | TaskChange::Decided { .. } | TaskChange::Rewired { .. } => {
                return None;
            }
        };
        let node = self.task(task)?;
        // A merge runs from when its sides are being merged, before anybody works on what came of it.
        let is_merging = node.is_merge() && node.state == TaskState::Running && event == TaskEvent::Started;
        let error = tasks::after(node.state, event).err().filter(|_| !is_merging)?;
        Some(UnexpectedEvent::State { task: TaskNode::id(node).clone(), error })
    }
}

/// What must have happened to a task that comes into a state.
fn event_into(state: TaskState, cause: Option<Cause>) -> TaskEvent {
    match state {
        TaskState::Ready => TaskEvent::Unblocked,
        TaskState::Running => TaskEvent::Started,
        TaskState::NeedsContinuation => TaskEvent::Unfinished,
        TaskState::Done => TaskEvent::Finished,
        TaskState::Blocked => TaskEvent::Blocked(cause.unwrap_or(Cause::Partial)),
        TaskState::Cancelled => TaskEvent::Cancelled,
        TaskState::ReplacedByReplan => TaskEvent::Replaced,
    }
}
