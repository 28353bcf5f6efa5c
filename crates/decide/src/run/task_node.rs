//! A task of the running graph with everything that has become of it.

use fixpoint_vocabulary::documents::Subtask;
use fixpoint_vocabulary::work::{Base, CommandId, Merged};
use fixpoint_vocabulary::{Cause, TaskId, TaskState};
use serde::{Deserialize, Serialize};
use serde_json::Map;

use super::task_changes::NewTask;
use crate::prelude::*;
use crate::replanning::{GraphTask, ReplanningInfo};
use crate::task_run::{BaselineState, TaskRun, TaskStatus};

/// Where a task comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskKind {
    /// It is all there is to do: nothing was planned.
    Given,
    Planned,
    /// A task that could not work, and was replaced.
    Replanned,
    /// Something that was missing when the result was judged.
    Added,
    /// The whole result, to be proven against the base of the run.
    FinalProof,
    Merge {
        /// The task whose result is the one side.
        ours: TaskId,
        /// The task whose result is the other.
        theirs: TaskId,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct TaskNode {
    pub task: Subtask,
    pub kind: TaskKind,
    pub state: TaskState,
    pub cause: Option<Cause>,
    /// Its place in its lineage of replans.
    pub lineage: Option<ReplanningInfo>,
    pub replaced_by: Vec<TaskId>,
    /// The numbers of the checks that must pass when it is done.
    pub goals: BTreeSet<u32>,
    /// What it begins on, where that is not what it depends on.
    pub baseline: Option<BaselineState>,
    /// What merging two results gave.
    pub merged: Option<Merged>,
    /// Its own state machine, once it began.
    pub run: Option<TaskRun>,
    /// The last attempt that was begun.
    pub last_attempt: Option<CommandId>,
    /// Whether the reflection after it was made, or was not called for.
    pub reflected: bool,
}

impl TaskNode {
    pub(super) fn new(new: NewTask, goals: BTreeSet<u32>) -> Self {
        Self {
            task: new.task,
            kind: new.kind,
            state: TaskState::Ready,
            cause: None,
            lineage: new.lineage,
            replaced_by: Vec::new(),
            goals,
            baseline: new.baseline,
            merged: None,
            run: None,
            last_attempt: None,
            reflected: false,
        }
    }

    /// The only task of a run.
    pub(super) fn given(run: TaskRun) -> Self {
        let task = Subtask::new(run.options().task.clone(), String::new());
        let new = NewTask::new(task, TaskKind::Given);
        Self { state: TaskState::Running, run: Some(run), ..Self::new(new, BTreeSet::new()) }
    }

    pub const fn id(&self) -> &TaskId {
        &self.task.id
    }

    /// What its own state machine is doing.
    pub fn status(&self) -> TaskStatus {
        self.run.as_ref().map_or(TaskStatus::New, TaskRun::status)
    }

    /// The commit that is its result, once it is done.
    pub fn result(&self) -> Option<&Base> {
        self.run.as_ref().filter(|_| self.state == TaskState::Done).and_then(TaskRun::result)
    }

    pub fn lineage_iteration(&self) -> u32 {
        self.lineage.as_ref().map_or(0, |info| info.iteration)
    }

    /// The task its lineage began with.
    pub fn origin(&self) -> &TaskId {
        self.lineage.as_ref().map_or(&self.task.id, |info| &info.original_task_id)
    }

    pub const fn is_merge(&self) -> bool {
        matches!(self.kind, TaskKind::Merge { .. })
    }

    /// Whether it is over, and worth a reflection.
    pub(super) const fn has_ended(&self) -> bool {
        matches!(self.state, TaskState::Done | TaskState::Blocked)
            && matches!(self.kind, TaskKind::Planned | TaskKind::Replanned | TaskKind::Added)
    }

    /// As scheduling and replanning see it. A task without a scope may change anything, so it runs alone.
    pub fn outline(&self) -> GraphTask {
        GraphTask {
            id: self.task.id.clone(),
            dependencies: self.task.dependencies.clone(),
            state: self.state,
            scope_paths: Some(self.task.scope_paths.clone()),
            replaced_by: Some(self.replaced_by.clone()),
            replanning_info: self.lineage.clone(),
            other: Map::new(),
        }
    }
}
