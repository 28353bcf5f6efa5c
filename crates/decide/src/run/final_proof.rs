//! The whole result against the base of the run.
//!
//! An attempt is proven with the tests and check definitions that its task began with. Two tasks together could get
//! around that: one changes a test while the code still passes the old one, the next breaks the code. So the result of
//! several tasks is compared with the base once more; where tests or definitions differ, the given goals and guards must
//! pass with those of the base too. Checks that the plan added may rest on tests that tasks added: they must pass in the
//! result as it is. Invariant: no run is done by tests that one task changed for another.

use fixpoint_vocabulary::TaskId;
use fixpoint_vocabulary::documents::Subtask;
use fixpoint_vocabulary::work::{Base, CommandResult, CommitRange, ProtectedChange, TreeId};
use serde::{Deserialize, Serialize};

use super::{NewTask, Run, TaskKind, TaskNode, Transition};
use crate::prelude::*;
use crate::task_run::{BaselineState, CheckBaseline, TaskRun, TaskStart, is_permitted};

/// The last comparison of a result with the base of the run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct FinalProof {
    /// The tree of the result; `None` before the first comparison.
    tree: Option<TreeId>,
    /// The tests and check definitions that differ, and that nobody permitted to change.
    changes: Vec<ProtectedChange>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinalProofChange {
    /// A result was compared with the base.
    Compared {
        tree: TreeId,
        /// The tests and check definitions that differ, and that nobody permitted to change.
        changes: Vec<ProtectedChange>,
    },
}

impl Run {
    pub(super) fn apply_final_proof(&mut self, change: &FinalProofChange) {
        match change {
            FinalProofChange::Compared { tree, changes } => {
                self.final_proof = FinalProof { tree: Some(tree.clone()), changes: changes.clone() };
            }
        }
    }

    /// The base and the result, where the result was made by several tasks and nobody has compared them yet.
    pub(super) fn uncompared_result(&self) -> Option<CommitRange> {
        let (result, base) = (self.result()?, self.planning.base.as_ref()?);
        let has_checks = self.plan_options().is_some_and(|options| !options.guards.is_empty())
            || !self.run_goals().is_empty();
        let is_known = self.final_proof.tree.as_ref() == Some(&result.tree)
            || result.tree == base.tree
            || self.is_proven_against(base, &result.tree);
        let is_needed = has_checks && !is_known && self.is_everything_included();
        is_needed.then(|| CommitRange { from: base.commit.clone(), to: result.commit.clone() })
    }

    /// Whether a tree is the result of a task that was itself compared with the base of the run.
    fn is_proven_against(&self, base: &Base, tree: &TreeId) -> bool {
        let mut made_it = self.tasks().filter(|node| node.result().is_some_and(|made| made.tree == *tree));
        made_it.any(|node| {
            let origin = node.run.as_ref().and_then(|run| run.baseline().base.as_ref());
            !node.is_merge() && origin == Some(base)
        })
    }

    /// The changes of tests and definitions in the result with which nobody has proven it.
    fn test_changes(&self) -> &[ProtectedChange] {
        let (Some(result), Some(base)) = (self.result(), &self.planning.base) else { return &[] };
        let is_known = self.final_proof.tree.as_ref() == Some(&result.tree);
        if is_known && !self.is_proven_against(base, &result.tree) { &self.final_proof.changes } else { &[] }
    }

    /// The task that shows, or brings about, that the result reaches what nobody has seen it reach.
    pub(super) fn last_task(&self) -> Option<NewTask> {
        let end: Vec<TaskId> = self.unmerged_results();
        let unproven = self.unproven_goals();
        let is_asked_for = |node: &TaskNode| {
            node.kind == TaskKind::FinalProof
                && node.task.dependencies == end
                && node.goals.is_superset(&unproven)
        };
        let is_needed = !unproven.is_empty() || !self.test_changes().is_empty();
        if !is_needed || !self.is_everything_included() || self.tasks().any(is_asked_for) {
            return None;
        }
        let kept = self.goals_below(&end);
        let mut goals: BTreeSet<u32> = self.promised_goals().difference(&kept).copied().collect();
        if !self.test_changes().is_empty() {
            goals.extend(self.run_goals());
        }
        let commands = goals.union(&unproven).filter_map(|goal| self.checks.get(*goal as usize));
        let names: BTreeSet<&TaskId> = self.tasks().map(TaskNode::id).collect();
        let named = |n: u32| TaskId::from(format!("goals-{n}"));
        let id = (1u32..).map(named).find(|id| !names.contains(id))?;
        let task = Subtask {
            dependencies: end,
            goals: commands.map(|placed| placed.check.command.clone()).collect(),
            ..Subtask::new(id, self.goal())
        };
        Some(NewTask::new(task, TaskKind::FinalProof))
    }

    /// What the last task begins with where tests or definitions differ from those of the base: the result itself, to be
    /// evaluated like an attempt at the whole.
    pub(super) fn start_of_final_proof(&self, node: &TaskNode, below: Option<&TaskRun>) -> Option<TaskStart> {
        if node.kind != TaskKind::FinalProof {
            return None;
        }
        let changes = self.test_changes();
        if changes.is_empty() {
            return None;
        }
        Some(TaskStart::Evaluate {
            baseline: self.baseline_of_whole(below?),
            work: self.result()?.clone(),
            conflict: None,
            changes: changes.to_vec(),
        })
    }

    /// What the given checks showed at the base, without the failures that are gone since: they are not excused again.
    fn baseline_of_whole(&self, result: &TaskRun) -> BaselineState {
        let (at_base, now, goals) = (&self.base_checks.baseline, result.baseline_after(), self.run_goals());
        let seen = |(check, seen): (&u32, &CheckBaseline)| {
            let now = now.checks.get(check).filter(|_| !goals.contains(check));
            (*check, now.map_or_else(|| seen.clone(), |now| seen.still_failing(now)))
        };
        let checks = at_base.checks.iter().map(seen).collect();
        BaselineState { base: at_base.base.clone(), checks, ..BaselineState::default() }
    }

    /// The goals and guards of the last task, where it is compared with the base of the run.
    pub(super) fn checks_of_final_proof(
        &self,
        node: &TaskNode,
        guards: &BTreeSet<u32>,
    ) -> Option<(BTreeSet<u32>, BTreeSet<u32>)> {
        if node.kind != TaskKind::FinalProof || self.test_changes().is_empty() {
            return None;
        }
        let below = self.goals_below(&self.effective_dependencies(&node.task.dependencies));
        let goals = self.run_goals();
        let kept = guards.iter().chain(&below).chain(&node.goals).filter(|check| !goals.contains(check));
        let kept = kept.copied().collect();
        Some((goals, kept))
    }
}

impl Transition<'_> {
    pub(super) fn with_final_proof(&mut self, result: &CommandResult) {
        let CommandResult::Protected { changes } = result else { return };
        let (Some(made), Some(options)) = (self.run.result(), self.run.plan_options()) else { return };
        let test_edits = options.test_edits;
        let unpermitted = changes.iter().filter(|change| !is_permitted(test_edits, change)).cloned();
        let (tree, changes) = (made.tree.clone(), unpermitted.collect());
        self.push(FinalProofChange::Compared { tree, changes });
    }
}

#[cfg(test)]
mod tests;
