//! The tasks of a run: found by name, and with what may start next kept up to date instead of searched for.
//!
//! Owns three things that would else be looked for among all tasks at every event: where a name stands, which tasks are
//! under way, and which wait for nothing any more. Refuses decisions; which of the ready ones starts is asked here and
//! decided by [`crate::scheduling`]'s rules, which a property holds it to.
//!
//! A copy, on which an event is tried out, shares all tasks but those it changes: they stand in pieces, and a change
//! copies one piece of pointers and one task. Invariant: `places`, `active` and `ready` follow from the tasks and from
//! the order of the plan alone.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;

use fixpoint_vocabulary::{TaskId, TaskState};

use super::Node;
use super::reflecting::has_ended;
use crate::glob::{Cover, PatternSet};
use crate::task_run::Step;

/// Tasks in a piece: about the square root of a large plan, so that neither pieces nor tasks in one are many.
const PIECE: usize = 32;

/// A task with what is kept about it.
#[derive(Debug, Clone)]
struct Slot {
    node: Arc<Node>,
    /// Which files it may change, compiled.
    scope: Arc<Cover>,
    /// Its place in the order of the plan.
    rank: usize,
    /// Whether those who wait for it may go on.
    is_met: bool,
    /// The tasks that name it as awaited.
    awaited_by: Vec<usize>,
}

/// The tasks of a run, in the order in which they came.
#[derive(Debug, Clone, Default)]
pub(super) struct Nodes {
    pieces: Vec<Arc<Vec<Arc<Slot>>>>,
    length: usize,
    /// Where each name stands first.
    places: Arc<BTreeMap<TaskId, usize>>,
    /// Who waits for names that no task has.
    unknown: Arc<BTreeMap<TaskId, Vec<usize>>>,
    /// Tasks that something may become of at any event.
    active: BTreeSet<usize>,
    /// Tasks that wait for nothing any more, in the order of the plan.
    ready: Arc<BTreeSet<(usize, usize)>>,
    /// The order of the plan.
    order: Arc<BTreeMap<TaskId, usize>>,
    /// How many wait, and how many have an end that can be looked back at.
    waiting: usize,
    ended: usize,
    has_twins: bool,
}

impl PartialEq for Nodes {
    fn eq(&self, other: &Self) -> bool {
        self.length == other.length && self.iter().eq(other.iter())
    }
}

/// Whether something may become of a task at any event, whatever else happens.
fn is_active(node: &Node) -> bool {
    let is_under_way = match node.step {
        Step::Working { .. } | Step::Paused { .. } => true,
        Step::New | Step::Ended { .. } => false,
    };
    is_under_way || node.state == TaskState::Running || (has_ended(node) && !node.reflected)
}

/// The names that a task's prospects hang on.
fn awaited(node: &Node) -> &[TaskId] {
    match node.state {
        TaskState::ReplacedByReplan => &node.replaced_by,
        TaskState::Ready
        | TaskState::Running
        | TaskState::NeedsContinuation
        | TaskState::Done
        | TaskState::Blocked
        | TaskState::Cancelled => &node.task.dependencies,
    }
}

impl Nodes {
    pub(super) const fn len(&self) -> usize {
        self.length
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Node> {
        self.pieces.iter().flat_map(|piece| piece.iter()).map(|slot| &*slot.node)
    }

    /// All of them as the plan orders them, then as they came.
    pub(super) fn in_order(&self) -> Vec<&Node> {
        let mut slots: Vec<&Arc<Slot>> = self.pieces.iter().flat_map(|piece| piece.iter()).collect();
        slots.sort_by_key(|slot| slot.rank);
        slots.into_iter().map(|slot| &*slot.node).collect()
    }

    /// The one of this name, the first where there are several.
    pub(super) fn get(&self, id: &TaskId) -> Option<&Node> {
        self.places.get(id).and_then(|place| self.slot(*place)).map(|slot| &*slot.node)
    }

    /// Those that something may become of at any event: they run, are paused, or have ended unseen.
    pub(super) fn active(&self) -> impl Iterator<Item = &Node> {
        self.active.iter().filter_map(|place| self.slot(*place)).map(|slot| &*slot.node)
    }

    /// Whether two tasks have one name.
    pub(super) const fn has_twins(&self) -> bool {
        self.has_twins
    }

    /// How many wait.
    pub(super) const fn waiting(&self) -> usize {
        self.waiting
    }

    /// How many have an end that can be looked back at.
    pub(super) const fn ended(&self) -> usize {
        self.ended
    }

    /// Whether any runs.
    pub(super) fn is_any_running(&self) -> bool {
        self.running().next().is_some()
    }

    /// The first task in the order of the plan that may start beside those that run.
    pub(super) fn next_to_start(&self, max_workers: usize) -> Option<&Node> {
        let running: Vec<&Cover> = self.running().map(|slot| &*slot.scope).collect();
        if running.len() >= max_workers {
            return None;
        }
        let ready = self.ready.iter().filter_map(|(_, place)| self.slot(*place));
        let may_start = |slot: &&Arc<Slot>| running.iter().all(|other| !slot.scope.overlaps(other));
        ready.into_iter().find(may_start).map(|slot| &*slot.node)
    }

    fn running(&self) -> impl Iterator<Item = &Arc<Slot>> {
        let active = self.active.iter().filter_map(|place| self.slot(*place));
        active.filter(|slot| slot.node.state == TaskState::Running)
    }

    /// Puts the tasks into the order of a plan; what it does not name comes last.
    pub(super) fn put_in_order(&mut self, order: &[TaskId]) {
        let mut places: BTreeMap<TaskId, usize> = BTreeMap::new();
        for (place, id) in order.iter().enumerate() {
            places.entry(id.clone()).or_insert(place);
        }
        if *self.order == places {
            return;
        }
        self.order = Arc::new(places);
        for place in 0..self.length {
            let Some(rank) = self.slot(place).map(|slot| self.rank(&slot.node)) else { continue };
            self.change_slot(place, |slot| slot.rank = rank);
        }
    }

    fn rank(&self, node: &Node) -> usize {
        let place = |id: &TaskId| self.order.get(id).copied().unwrap_or(usize::MAX);
        place(node.id()).min(place(node.origin()))
    }

    /// Adds a task.
    pub(super) fn push(&mut self, node: Node) {
        let place = self.length;
        let id = node.id().clone();
        let is_known = self.places.contains_key(&id);
        self.has_twins |= is_known;
        let scope = Arc::new(Cover::of(&PatternSet::new(&node.task.scope_paths)));
        let slot = Slot {
            rank: self.rank(&node),
            node: Arc::new(node),
            scope,
            is_met: false,
            awaited_by: Vec::new(),
        };
        match self.pieces.last_mut().filter(|piece| piece.len() < PIECE) {
            Some(piece) => Arc::make_mut(piece).push(Arc::new(slot)),
            None => self.pieces.push(Arc::new(Vec::from([Arc::new(slot)]))),
        }
        self.length += 1;
        self.tally(place, Tally::In);
        self.enlist(place, Tally::In);
        if !is_known {
            Arc::make_mut(&mut self.places).insert(id.clone(), place);
            if self.unknown.contains_key(&id) {
                let waited = Arc::make_mut(&mut self.unknown).remove(&id).unwrap_or_default();
                self.change_slot(place, |slot| slot.awaited_by = waited);
            }
        }
        self.refresh(place);
    }

    /// Changes a task.
    pub(super) fn change(&mut self, id: &TaskId, change: impl FnOnce(&mut Node)) {
        let Some(place) = self.places.get(id).copied() else { return };
        let Some(before) = self.slot(place).map(|slot| (slot.node.state, awaited(&slot.node).to_vec()))
        else {
            return;
        };
        self.tally(place, Tally::Out);
        self.change_slot(place, |slot| change(Arc::make_mut(&mut slot.node)));
        self.tally(place, Tally::In);
        let is_same = self
            .slot(place)
            .is_some_and(|slot| (slot.node.state, awaited(&slot.node)) == (before.0, &before.1));
        if is_same {
            return;
        }
        self.enlist_names(place, &before.1, Tally::Out);
        self.enlist(place, Tally::In);
        self.refresh(place);
    }
}

/// Whether something is counted or no longer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tally {
    In,
    Out,
}

impl Nodes {
    fn slot(&self, place: usize) -> Option<&Arc<Slot>> {
        self.pieces.get(place / PIECE)?.get(place % PIECE)
    }

    fn change_slot(&mut self, place: usize, change: impl FnOnce(&mut Slot)) {
        let piece = self.pieces.get_mut(place / PIECE).map(Arc::make_mut);
        let Some(slot) = piece.and_then(|piece| piece.get_mut(place % PIECE)).map(Arc::make_mut) else {
            return;
        };
        let before = slot.rank;
        change(slot);
        let after = slot.rank;
        if before != after && self.ready.contains(&(before, place)) {
            let ready = Arc::make_mut(&mut self.ready);
            ready.remove(&(before, place));
            ready.insert((after, place));
        }
    }

    /// Counts a task in or out.
    fn tally(&mut self, place: usize, tally: Tally) {
        let Some(node) = self.slot(place).map(|slot| Arc::clone(&slot.node)) else { return };
        let (waits, ended) = (usize::from(node.state.is_waiting()), usize::from(has_ended(&node)));
        match tally {
            Tally::In => {
                self.waiting += waits;
                self.ended += ended;
                if is_active(&node) {
                    self.active.insert(place);
                }
            }
            Tally::Out => {
                self.waiting -= waits;
                self.ended -= ended;
                self.active.remove(&place);
            }
        }
    }

    /// Enters a task at those it waits for.
    fn enlist(&mut self, place: usize, tally: Tally) {
        let names = self.slot(place).map(|slot| awaited(&slot.node).to_vec()).unwrap_or_default();
        self.enlist_names(place, &names, tally);
    }

    fn enlist_names(&mut self, place: usize, names: &[TaskId], tally: Tally) {
        let enlist = |list: &mut Vec<usize>| match tally {
            Tally::In => list.push(place),
            Tally::Out => list.retain(|other| *other != place),
        };
        for name in names {
            match self.places.get(name).copied() {
                Some(below) => self.change_slot(below, |slot| enlist(&mut slot.awaited_by)),
                None => enlist(Arc::make_mut(&mut self.unknown).entry(name.clone()).or_default()),
            }
        }
    }

    /// Sees whether a task may start and whether those who wait for it may, and so on upwards.
    fn refresh(&mut self, from: usize) {
        let mut changed = Vec::from([from]);
        while let Some(place) = changed.pop() {
            let Some(slot) = self.slot(place) else { continue };
            let (key, was_met) = ((slot.rank, place), slot.is_met);
            let is_awaited_met = || awaited(&slot.node).iter().all(|id| self.is_met(id));
            let (is_ready, is_met) = match slot.node.state {
                TaskState::Ready | TaskState::NeedsContinuation => (is_awaited_met(), false),
                TaskState::Done => (false, true),
                TaskState::ReplacedByReplan => (false, is_awaited_met()),
                TaskState::Running | TaskState::Blocked | TaskState::Cancelled => (false, false),
            };
            if is_ready != self.ready.contains(&key) {
                let ready = Arc::make_mut(&mut self.ready);
                if is_ready {
                    ready.insert(key)
                } else {
                    ready.remove(&key)
                };
            }
            if is_met != was_met {
                self.change_slot(place, |slot| slot.is_met = is_met);
                changed.extend(self.slot(place).iter().flat_map(|slot| slot.awaited_by.iter().copied()));
            }
        }
    }

    fn is_met(&self, id: &TaskId) -> bool {
        self.places.get(id).and_then(|place| self.slot(*place)).is_some_and(|slot| slot.is_met)
    }
}

#[cfg(test)]
mod tests;
