//! Goals stay goals: what a finished task reached must hold in everything that is built on its result.
//!
//! The goals of the tasks that a task rests on are guards for it, and goals of a merge: its base is the base of the
//! run, where they may fail, so that a comparison would excuse too much. What a result was accepted with holds in its
//! tree; a task passes that on, so looking at the nearest results is enough. Invariant: a run is done only if every
//! goal of every task that is done was seen passing in the tree that is delivered.

use fixpoint_vocabulary::{TaskId, TaskState};

use super::{Run, TaskNode};
use crate::prelude::*;
use crate::task_run::{CheckBaseline, TaskRun};

/// The checks that passed when a result was accepted: its goals, and the guards that did not fail before.
fn proven_by(run: &TaskRun) -> impl Iterator<Item = u32> {
    let passed = |guard: &&u32| {
        run.baseline().checks.get(guard).is_none_or(|check| !CheckBaseline::always_failed(check))
    };
    run.options().goals.iter().chain(run.options().guards.iter().filter(passed)).copied()
}

impl Run {
    /// The goals and guards of a task, with the goals of all tasks that it rests on.
    pub(super) fn with_kept_goals(
        &self,
        node: &TaskNode,
        guards: BTreeSet<u32>,
    ) -> (BTreeSet<u32>, BTreeSet<u32>) {
        if let Some(checks) = self.checks_of_final_proof(node, &guards) {
            return checks;
        }
        let below = self.goals_below(&self.effective_dependencies(&node.task.dependencies));
        if node.is_merge() {
            let kept: BTreeSet<u32> = below.intersection(&self.promised_goals()).copied().collect();
            (node.goals.union(&kept).copied().collect(), guards)
        } else {
            (node.goals.clone(), guards.union(&below).copied().collect())
        }
    }

    /// What passed when these results were accepted.
    pub(super) fn goals_below(&self, results: &[TaskId]) -> BTreeSet<u32> {
        let done = results.iter().filter_map(|id| self.task(id)).filter(|node| node.result().is_some());
        done.filter_map(|node| node.run.as_ref()).flat_map(proven_by).collect()
    }

    /// Every goal that must hold at the end: those of the run, and of each task that is done.
    pub(super) fn promised_goals(&self) -> BTreeSet<u32> {
        let done = self.tasks().filter(|node| node.state == TaskState::Done);
        self.run_goals().into_iter().chain(done.flat_map(|node| node.goals.iter().copied())).collect()
    }

    /// The goals that nobody has seen passing in the tree that is delivered.
    pub fn unproven_goals(&self) -> BTreeSet<u32> {
        let Some(delivered) = self.result().map(|result| &result.tree) else { return BTreeSet::new() };
        let is_it = |node: &&TaskNode| node.result().is_some_and(|result| result.tree == *delivered);
        let proven: BTreeSet<u32> =
            self.tasks().filter(is_it).filter_map(|node| node.run.as_ref()).flat_map(proven_by).collect();
        self.promised_goals().difference(&proven).copied().collect()
    }
}

#[cfg(test)]
mod tests;
