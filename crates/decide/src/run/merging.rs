//! Merging the results of tasks.
//!
//! Two results are merged by a task of its own: the merge commit is checked like an attempt, and an agent is needed only
//! where the sides conflict, or fail together what each passes alone. Invariant: at most `max_fix_iterations` merges get
//! an agent; no result is dropped without being named.

use fixpoint_vocabulary::documents::Subtask;
use fixpoint_vocabulary::work::{Base, CommandResult, Conflict, Merged};
use fixpoint_vocabulary::{Cause, TaskId, TaskState};
use serde::{Deserialize, Serialize};

use super::{NewTask, Run, TaskChange, TaskKind, TaskNode, TaskSignal, Transition, UnexpectedEvent};
use crate::prelude::*;
use crate::task_run::{BaselineState, TaskOptions, TaskStart};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeChange {
    /// Two results were merged, or marked where they conflict.
    Merged { task: TaskId, merged: Merged },
    /// A result is not part of what is delivered.
    LeftOut { task: TaskId },
}

impl Run {
    pub(super) fn apply_merge(&mut self, change: &MergeChange) {
        match change {
            MergeChange::Merged { task, merged } => {
                self.graph.update(task, |node| node.merged = Some(merged.clone()));
            }
            MergeChange::LeftOut { task } => {
                self.left_out.insert(task.clone());
            }
        }
    }

    /// The results that no other result holds, in the order of their tasks.
    pub(super) fn unmerged_results(&self) -> Vec<TaskId> {
        let base = self.planning.base.as_ref().map(|base| &base.tree);
        let result = |id: &TaskId| self.task(id).and_then(TaskNode::result);
        let is_changed = |id: &&TaskId| result(id).is_some_and(|result| Some(&result.tree) != base);
        // A result that undoes everything before it is the last all the same. What a result that is left out was made
        // of is left out with it, or the same merge would be tried for ever.
        let ends = self.graph.last_results().into_iter().filter(is_changed);
        ends.filter(|id| !self.left_out.contains(*id)).cloned().collect()
    }

    /// The tasks whose results could not be merged with the others.
    pub fn left_out(&self) -> impl Iterator<Item = &TaskId> {
        self.left_out.iter()
    }

    /// The two results to be merged next. What is merged already is the one side, so that only a single result is left
    /// out where that cannot be done.
    pub(super) fn next_pair(&self) -> Option<(TaskId, TaskId)> {
        let ends = self.unmerged_results();
        let is_merge = |id: &&TaskId| self.task(id).is_some_and(TaskNode::is_merge);
        let ours = ends.iter().find(is_merge).or_else(|| ends.first())?;
        let theirs = ends.iter().find(|id| *id != ours)?;
        Some((ours.clone(), theirs.clone()))
    }

    /// Whether the result of every task is part of the whole.
    pub(super) fn is_everything_included(&self) -> bool {
        let is_blocked = self.tasks().any(|node| node.state == TaskState::Blocked);
        !is_blocked && self.left_out.is_empty() && self.unreachable_tasks().is_empty()
    }

    /// The commit that holds everything that is delivered.
    pub fn result(&self) -> Option<&Base> {
        let ends = self.unmerged_results();
        match ends.as_slice() {
            [] => self.graph.last_results().first().and_then(|id| self.task(id)).and_then(TaskNode::result),
            [only] => self.task(only).and_then(TaskNode::result),
            [_, _, ..] => None,
        }
    }

    /// What is known of the checks for two results together: what fails in both, and what fails sometimes in either.
    fn common_baseline(&self, ours: &TaskId, theirs: &TaskId) -> Option<BaselineState> {
        let after = |id: &TaskId| self.task(id)?.run.as_ref().map(|run| run.baseline_after());
        let base = self.planning.base.clone()?;
        Some(BaselineState::common(&after(ours)?, &after(theirs)?, base))
    }

    /// A task that merges the results of two others.
    pub(super) fn merge_task(&self, ours: &TaskId, theirs: &TaskId) -> NewTask {
        let number = self.tasks().filter(|node| node.is_merge()).count() + 1;
        let named = |n: usize| TaskId::from(format!("merge-{n}"));
        let is_free = |id: &TaskId| self.task(id).is_none();
        let id = (number..).map(named).find(is_free).unwrap_or_else(|| named(number));
        let sides: Vec<&TaskNode> = [ours, theirs].into_iter().filter_map(|id| self.task(id)).collect();
        let is_open = sides.iter().any(|side| side.task.scope_paths.is_empty());
        let scopes = sides.iter().flat_map(|side| side.task.scope_paths.iter().cloned());
        let scopes: BTreeSet<String> = scopes.filter(|_| !is_open).collect();
        let goals: BTreeSet<String> = sides.iter().flat_map(|side| side.task.goals.iter().cloned()).collect();
        let described: Vec<String> =
            sides.iter().map(|side| format!("`{}`: {}", side.id(), side.task.description)).collect();
        let description = format!(
            "Merge two results so that each still does what it did alone.\n\nThe sides:\n\n{}",
            described.join("\n\n")
        );
        let task = Subtask {
            dependencies: Vec::from([ours.clone(), theirs.clone()]),
            scope_paths: scopes.into_iter().collect(),
            goals: goals.into_iter().collect(),
            ..Subtask::new(id, description)
        };
        NewTask::new(task, TaskKind::Merge { ours: ours.clone(), theirs: theirs.clone() })
    }
}

impl Transition<'_> {
    pub(super) fn with_merge(
        &mut self,
        task: &TaskId,
        result: &CommandResult,
    ) -> Result<(), UnexpectedEvent> {
        let CommandResult::Merged(merged) = result else { return Ok(()) };
        self.push(MergeChange::Merged { task: task.clone(), merged: merged.clone() });
        let Some(options) = self.run.merge_options(task, merged) else {
            self.push(TaskChange::blocked(task, Cause::Conflict));
            return Ok(());
        };
        self.push(TaskChange::Started { options: Box::new(options) });
        self.tell(task, TaskSignal::Begin)
    }
}

impl Run {
    /// Everything that is fixed about a merge: its commit is checked before any agent works on it.
    fn merge_options(&self, task: &TaskId, merged: &Merged) -> Option<TaskOptions> {
        let node = self.task(task)?;
        let TaskKind::Merge { ours, theirs } = &node.kind else { return None };
        let baseline = self.common_baseline(ours, theirs)?;
        let commit = |id: &TaskId| self.task(id).and_then(TaskNode::result).map(|base| base.commit.clone());
        let conflict =
            Conflict { ours: commit(ours)?, theirs: commit(theirs)?, paths: merged.conflicts.clone() };
        let start = TaskStart::Evaluate {
            baseline,
            work: Base { commit: merged.commit.clone(), tree: merged.tree.clone() },
            conflict: (!merged.conflicts.is_empty()).then_some(conflict),
            changes: Vec::new(),
        };
        Some(self.task_options(node, start, self.settings()?))
    }
}
