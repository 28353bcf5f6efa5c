//! The tasks of a run: found by name, and with what may start next kept up to date instead of searched for.
//!
//! Owns three indexes that would otherwise be searched for among all tasks at every event: the place of a name, the
//! tasks that something may happen to next, and the tasks that wait for nothing any more. Refuses decisions; which of
//! the ready tasks starts first follows [`crate::scheduling`]'s rules, which a property test compares it with.
//!
//! Invariant: `places`, `active`, `ready` and the counts follow from the tasks and the plan's order alone.

use fixpoint_vocabulary::{TaskId, TaskState};

use super::TaskNode;
use crate::glob::{OverlapMatcher, PatternSet};
use crate::prelude::*;
use crate::task_run::TaskStatus;

/// A task with what is kept about it.
#[derive(Debug, Clone)]
struct Entry {
    node: TaskNode,
    /// Which files it may change, compiled.
    scope: OverlapMatcher,
    /// Its place in the order of the plan.
    rank: usize,
    /// Whether tasks that wait for it may start.
    is_met: bool,
    /// The tasks that name it as awaited.
    awaited_by: Vec<usize>,
}

/// The tasks of a run, in the order in which they were added.
#[derive(Debug, Clone, Default)]
pub(super) struct TaskGraph {
    entries: Vec<Entry>,
    /// The first place of each name.
    places: BTreeMap<TaskId, usize>,
    /// Who waits for names that no task has.
    unknown: BTreeMap<TaskId, Vec<usize>>,
    /// Tasks that something may happen to at any event.
    active: BTreeSet<usize>,
    /// Tasks that wait for nothing any more, in the order of the plan.
    ready: BTreeSet<(usize, usize)>,
    /// The order of the plan.
    order: BTreeMap<TaskId, usize>,
    /// How many wait, and how many have ended so that a reflection may follow.
    waiting: usize,
    ended: usize,
    has_duplicates: bool,
}

impl PartialEq for TaskGraph {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

/// Whether something may happen to a task at any event, whatever else happens.
fn is_active(node: &TaskNode) -> bool {
    let is_working = match node.status() {
        TaskStatus::Working { .. } | TaskStatus::Paused { .. } => true,
        TaskStatus::New | TaskStatus::Ended { .. } => false,
    };
    is_working || node.state == TaskState::Running || (node.has_ended() && !node.reflected)
}

/// The names that decide whether a task can start, or counts as done.
fn awaited(node: &TaskNode) -> &[TaskId] {
    let is_replaced = node.state == TaskState::ReplacedByReplan;
    if is_replaced { &node.replaced_by } else { &node.task.dependencies }
}

impl TaskGraph {
    pub(super) const fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &TaskNode> {
        self.entries.iter().map(|entry| &entry.node)
    }

    /// All tasks as the plan orders them, then as they were added.
    pub(super) fn in_order(&self) -> Vec<&TaskNode> {
        let mut entries: Vec<&Entry> = self.entries.iter().collect();
        entries.sort_by_key(|entry| entry.rank);
        entries.into_iter().map(|entry| &entry.node).collect()
    }

    /// The task of this name, the first where there are several.
    pub(super) fn get(&self, id: &TaskId) -> Option<&TaskNode> {
        self.places.get(id).and_then(|place| self.entries.get(*place)).map(|entry| &entry.node)
    }

    /// Those of some tasks that no other of them depends on, directly or not.
    pub(super) fn without_contained<'a>(&'a self, tasks: &[&'a TaskId]) -> Vec<&'a TaskId> {
        if let [] | [_] = tasks {
            return tasks.to_vec();
        }
        let places: Vec<usize> = tasks.iter().filter_map(|id| self.places.get(*id).copied()).collect();
        let contained = self.dependencies_of(&places);
        let is_contained = |id: &&TaskId| {
            self.places.get(*id).and_then(|place| contained.get(*place)).copied().unwrap_or(false)
        };
        tasks.iter().copied().filter(|id| !is_contained(id)).collect()
    }

    /// The tasks with a result that no other such task depends on, directly or not.
    pub(super) fn last_results(&self) -> Vec<&TaskId> {
        let nodes = || self.iter().enumerate().filter(|(_, node)| node.result().is_some());
        let places: Vec<usize> = nodes().map(|(place, _)| place).collect();
        let contained = self.dependencies_of(&places);
        let is_last = |place: &usize| !contained.get(*place).copied().unwrap_or(false);
        nodes().filter(|(place, _)| is_last(place)).map(|(_, node)| node.id()).collect()
    }

    /// For each task whether any of these depends on it, directly or not.
    fn dependencies_of(&self, tasks: &[usize]) -> Vec<bool> {
        let node = |place: usize| self.entries.get(place).map(|entry| &entry.node);
        let place_of = |id: &TaskId| self.places.get(id).copied();
        let mut found = vec![false; self.len()];
        let mut is_given = vec![false; self.len()];
        let mut waiting = Vec::new();
        for place in tasks {
            is_given.get_mut(*place).into_iter().for_each(|given| *given = true);
            waiting.extend(
                node(*place).into_iter().flat_map(|node| &node.task.dependencies).filter_map(place_of),
            );
        }
        while let Some(place) = waiting.pop() {
            let is_new = found.get_mut(place).is_some_and(|seen| !core::mem::replace(seen, true));
            let Some(node) = node(place).filter(|_| is_new) else { continue };
            waiting.extend(node.replaced_by.iter().filter_map(place_of));
            if is_given.get(place) == Some(&false) {
                waiting.extend(node.task.dependencies.iter().filter_map(place_of));
            }
        }
        found
    }

    /// Tasks that something may happen to at any event: they run, are paused, or ended without a reflection yet.
    pub(super) fn active(&self) -> impl Iterator<Item = &TaskNode> {
        self.active.iter().filter_map(|place| self.entries.get(*place)).map(|entry| &entry.node)
    }

    /// Whether two tasks have one name.
    pub(super) const fn has_duplicates(&self) -> bool {
        self.has_duplicates
    }

    pub(super) const fn waiting(&self) -> usize {
        self.waiting
    }

    pub(super) const fn ended(&self) -> usize {
        self.ended
    }

    /// Whether nothing runs and nothing can start any more. Waiting tasks that are not ready wait for others that are
    /// not done, and nothing is left that could do them.
    pub(super) fn is_finished(&self) -> bool {
        self.ready.is_empty() && self.running().next().is_none()
    }

    /// The first task in the order of the plan that may start beside those that run.
    pub(super) fn next_to_start(&self, max_workers: usize) -> Option<&TaskNode> {
        let running: Vec<&OverlapMatcher> = self.running().map(|entry| &entry.scope).collect();
        if running.len() >= max_workers {
            return None;
        }
        let mut ready = self.ready.iter().filter_map(|(_, place)| self.entries.get(*place));
        let may_start = |entry: &&Entry| running.iter().all(|other| !entry.scope.overlaps(other));
        ready.find(may_start).map(|entry| &entry.node)
    }

    fn running(&self) -> impl Iterator<Item = &Entry> {
        let active = self.active.iter().filter_map(|place| self.entries.get(*place));
        active.filter(|entry| entry.node.state == TaskState::Running)
    }

    fn is_met(&self, id: &TaskId) -> bool {
        self.places.get(id).and_then(|place| self.entries.get(*place)).is_some_and(|entry| entry.is_met)
    }

    fn rank(&self, node: &TaskNode) -> usize {
        let place = |id: &TaskId| self.order.get(id).copied().unwrap_or(usize::MAX);
        place(node.id()).min(place(node.origin()))
    }
}

/// Whether something is counted or no longer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Count {
    In,
    Out,
}

impl TaskGraph {
    /// Puts the tasks into the order of a plan; those it does not name come last.
    pub(super) fn set_order(&mut self, order: &[TaskId]) {
        let mut places: BTreeMap<TaskId, usize> = BTreeMap::new();
        for (place, id) in order.iter().enumerate() {
            places.entry(id.clone()).or_insert(place);
        }
        if self.order == places {
            return;
        }
        self.order = places;
        let ranks: Vec<usize> = self.entries.iter().map(|entry| self.rank(&entry.node)).collect();
        for (place, (entry, rank)) in self.entries.iter_mut().zip(ranks).enumerate() {
            if self.ready.remove(&(entry.rank, place)) {
                self.ready.insert((rank, place));
            }
            entry.rank = rank;
        }
    }

    pub(super) fn add(&mut self, node: TaskNode) {
        let place = self.entries.len();
        let id = node.id().clone();
        let is_known = self.places.contains_key(&id);
        self.has_duplicates |= is_known;
        let scope = OverlapMatcher::new(&PatternSet::new(&node.task.scope_paths));
        let rank = self.rank(&node);
        self.entries.push(Entry { node, scope, rank, is_met: false, awaited_by: Vec::new() });
        self.count(place, Count::In);
        self.register(place, Count::In);
        if !is_known {
            let awaited_by = self.unknown.remove(&id).unwrap_or_default();
            self.entries.iter_mut().skip(place).for_each(|entry| entry.awaited_by.extend(&awaited_by));
            self.places.insert(id, place);
        }
        self.refresh(place);
    }

    /// Changes a task, but for what it waits for.
    pub(super) fn update(&mut self, id: &TaskId, change: impl FnOnce(&mut TaskNode)) {
        let Some(place) = self.places.get(id).copied() else { return };
        self.count(place, Count::Out);
        if let Some(entry) = self.entries.get_mut(place) {
            change(&mut entry.node);
        }
        self.count(place, Count::In);
        self.refresh(place);
    }

    /// Changes a task, and with it what it waits for.
    pub(super) fn rewire(&mut self, id: &TaskId, change: impl FnOnce(&mut TaskNode)) {
        let Some(place) = self.places.get(id).copied() else { return };
        self.register(place, Count::Out);
        self.update(id, change);
        self.register(place, Count::In);
        self.refresh(place);
    }

    fn count(&mut self, place: usize, count: Count) {
        let Some(node) = self.entries.get(place).map(|entry| &entry.node) else { return };
        let (waits, ended) = (usize::from(node.state.is_waiting()), usize::from(node.has_ended()));
        match count {
            Count::In => {
                self.waiting += waits;
                self.ended += ended;
                if is_active(node) {
                    self.active.insert(place);
                }
            }
            Count::Out => {
                self.waiting -= waits;
                self.ended -= ended;
                self.active.remove(&place);
            }
        }
    }

    /// Enters a task at those it waits for, or removes it there.
    fn register(&mut self, place: usize, count: Count) {
        let names = self.entries.get(place).map(|entry| awaited(&entry.node).to_vec()).unwrap_or_default();
        for name in names {
            let below = self.places.get(&name).copied();
            let list = match below.and_then(|below| self.entries.get_mut(below)) {
                Some(entry) => &mut entry.awaited_by,
                None => self.unknown.entry(name).or_default(),
            };
            match count {
                Count::In => list.push(place),
                Count::Out => list.retain(|other| *other != place),
            }
        }
    }

    /// Sees whether a task may start and whether those who wait for it may, and so on upwards.
    fn refresh(&mut self, from: usize) {
        let mut changed = Vec::from([from]);
        while let Some(place) = changed.pop() {
            let Some(entry) = self.entries.get(place) else { continue };
            let is_awaited_met = || awaited(&entry.node).iter().all(|id| self.is_met(id));
            let (is_ready, is_met) = match entry.node.state {
                TaskState::Ready | TaskState::NeedsContinuation => (is_awaited_met(), false),
                TaskState::Done => (false, true),
                TaskState::ReplacedByReplan => (false, is_awaited_met()),
                TaskState::Running | TaskState::Blocked | TaskState::Cancelled => (false, false),
            };
            let key = (entry.rank, place);
            if is_ready {
                self.ready.insert(key);
            } else {
                self.ready.remove(&key);
            }
            if let Some(entry) = self.entries.get_mut(place).filter(|entry| entry.is_met != is_met) {
                entry.is_met = is_met;
                changed.extend(entry.awaited_by.iter().copied());
            }
        }
    }
}

#[cfg(test)]
mod tests;
