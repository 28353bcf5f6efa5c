//! A task of the running graph with everything that has become of it.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;

use fixpoint_vocabulary::documents::Subtask;
use fixpoint_vocabulary::work::{Base, CommandId, Merged};
use fixpoint_vocabulary::{Cause, TaskId, TaskState};
use serde::{Deserialize, Serialize};
use serde_json::Map;

use crate::replanning::{GraphTask, ReplanningInfo};
use crate::task_run::{Ground, Step, TaskRun};

/// Where a task comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// It is all there is to do.
    Given,
    /// The plan.
    Planned,
    /// A task that could not work.
    Replanned,
    /// The judgement of the whole.
    Added,
    /// Two results that must be brought together.
    Merge {
        /// The task whose result is the one side.
        ours: TaskId,
        /// The task whose result is the other.
        theirs: TaskId,
    },
}

/// A task of the running graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The task as it was planned.
    pub task: Subtask,
    /// Where it comes from.
    pub kind: NodeKind,
    /// Where it stands.
    pub state: TaskState,
    /// Why it is blocked.
    pub cause: Option<Cause>,
    /// Where it stands in its lineage.
    pub lineage: Option<ReplanningInfo>,
    /// The tasks in its place.
    pub replaced_by: Vec<TaskId>,
    /// The numbers of the checks that must pass when it is done.
    pub goals: BTreeSet<u32>,
    /// What it begins on, where that is not what it depends on.
    pub ground: Option<Ground>,
    /// What bringing two results together came to.
    pub merged: Option<Merged>,
    /// Its own life, once it began.
    pub run: Option<Arc<TaskRun>>,
    /// Where its own life stands.
    pub step: Step,
    /// The last attempt that was begun.
    pub last_attempt: Option<CommandId>,
    /// Whether a look back at it was made, or was not called for.
    pub reflected: bool,
}

impl Node {
    /// Its name.
    pub const fn id(&self) -> &TaskId {
        &self.task.id
    }

    /// The commit it came to, once it is done.
    pub fn result(&self) -> Option<Base> {
        self.run.as_ref().filter(|_| self.state == TaskState::Done).and_then(|run| run.result())
    }

    /// Replans made in its lineage.
    pub fn lineage_iteration(&self) -> u32 {
        self.lineage.as_ref().map_or(0, |info| info.iteration)
    }

    /// The task its lineage began with.
    pub fn origin(&self) -> &TaskId {
        self.lineage.as_ref().map_or(&self.task.id, |info| &info.original_task_id)
    }

    /// Whether it brings two results together.
    pub const fn is_merge(&self) -> bool {
        match self.kind {
            NodeKind::Merge { .. } => true,
            NodeKind::Given | NodeKind::Planned | NodeKind::Replanned | NodeKind::Added => false,
        }
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
