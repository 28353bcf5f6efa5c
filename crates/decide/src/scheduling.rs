//! Which tasks start now.
//!
//! A task may start when everything it waits for is done, a replaced task counting as done when all its
//! replacements are. Never more than `max_workers` at once, never two whose scopes overlap. A task that waits
//! for something that can no longer be done is blocked, derived anew each time, so that it frees itself when a
//! person unblocks the cause. Invariant: while unblocked work is left, something runs or starts.

use fixpoint_vocabulary::{Localize, TaskId, TaskState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::glob::{OverlapMatcher, PatternSet};
use crate::graph::{self, Edges};
use crate::prelude::*;
use crate::replanning::GraphTask;

/// The graph as it stands.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct Question {
    /// All tasks, in the order in which they are to be started. Absent scopes overlap with nothing, empty ones
    /// with every other scope.
    pub tasks: Vec<GraphTask>,
    /// Tasks that may run at the same time.
    #[schemars(range(min = 1, max = 10_000))]
    pub max_workers: u32,
}

/// What starts, and what cannot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Answer {
    /// The tasks to start now, in the order given.
    pub start: Vec<TaskId>,
    /// The waiting tasks that cannot start because something they wait for cannot be done.
    pub blocked: Vec<TaskId>,
    /// Whether nothing is running and nothing can start any more.
    pub finished: bool,
}

impl Localize for Answer {}

/// What waiting for a task comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Prospect {
    /// It is done.
    Met,
    /// It may yet be done.
    Pending,
    /// It cannot be done unless a person steps in.
    Dead,
}

/// Two tasks of one name: which of them is meant cannot be known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("tasks: several tasks are called `{0}`")]
pub struct DuplicateTask(pub TaskId);

pub fn decide(question: &Question) -> Result<Answer, DuplicateTask> {
    if let Some(id) = graph::duplicates(question.tasks.iter().map(|task| &task.id)).first() {
        return Err(DuplicateTask((*id).clone()));
    }
    let prospects = prospects(&question.tasks);
    let prospect = |id: &TaskId| prospects.get(id).copied().unwrap_or(Prospect::Dead);
    let running = question.tasks.iter().filter(|task| task.state == TaskState::Running);
    let mut active: Vec<Option<OverlapMatcher>> = running.map(scope_of).collect();
    let is_running = !active.is_empty();

    let mut start = Vec::new();
    let mut blocked = Vec::new();
    let mut is_waiting = false;
    for task in question.tasks.iter().filter(|task| task.state.is_waiting()) {
        if prospect(&task.id) == Prospect::Dead {
            blocked.push(task.id.clone());
            continue;
        }
        is_waiting = true;
        let is_runnable = task.dependencies.iter().all(|id| prospect(id) == Prospect::Met);
        if !is_runnable || active.len() >= question.max_workers as usize {
            continue;
        }
        let scope = scope_of(task);
        if active.iter().all(|other| are_disjoint(&scope, other)) {
            active.push(scope);
            start.push(task.id.clone());
        }
    }
    Ok(Answer { start, blocked, finished: !is_running && !is_waiting })
}

fn scope_of(task: &GraphTask) -> Option<OverlapMatcher> {
    task.scope_paths.as_ref().map(|paths| OverlapMatcher::new(&PatternSet::new(paths)))
}

fn are_disjoint(one: &Option<OverlapMatcher>, other: &Option<OverlapMatcher>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => !one.overlaps(other),
        (None, _) | (_, None) => true,
    }
}

/// What waiting for each task comes to, from the bottom of the graph upwards. What waits for itself in a
/// circle, or for a task that does not exist, can never be done.
fn prospects(tasks: &[GraphTask]) -> BTreeMap<TaskId, Prospect> {
    let by_id: BTreeMap<&TaskId, &GraphTask> = tasks.iter().map(|task| (&task.id, task)).collect();
    let edges: Edges<TaskId> = tasks.iter().map(|task| (task.id.clone(), task.awaited().to_vec())).collect();
    let mut prospects: BTreeMap<TaskId, Prospect> = BTreeMap::new();
    for id in graph::topological_sort(&edges).order {
        let Some(task) = by_id.get(&id) else { continue };
        let below = task.awaited().iter().map(|id| prospects.get(id).copied().unwrap_or(Prospect::Dead));
        let prospect = match task.state {
            TaskState::Done => Prospect::Met,
            TaskState::Running => Prospect::Pending,
            TaskState::Blocked | TaskState::Cancelled => Prospect::Dead,
            TaskState::ReplacedByReplan => weakest(below),
            TaskState::Ready | TaskState::NeedsContinuation => match weakest(below) {
                Prospect::Met | Prospect::Pending => Prospect::Pending,
                Prospect::Dead => Prospect::Dead,
            },
        };
        prospects.insert(id, prospect);
    }
    prospects
}

fn weakest(prospects: impl Iterator<Item = Prospect>) -> Prospect {
    prospects.fold(Prospect::Met, |weakest, prospect| match (weakest, prospect) {
        (Prospect::Dead, _) | (_, Prospect::Dead) => Prospect::Dead,
        (Prospect::Pending, _) | (_, Prospect::Pending) => Prospect::Pending,
        (Prospect::Met, Prospect::Met) => Prospect::Met,
    })
}

#[cfg(test)]
mod tests;
