//! Which lines of one version are which of another, and the changes that are left between them.
//!
//! Invariant: places grow together, no line has two. Versions that are too long are aligned by their common beginning
//! and end alone; lines in between that both have are then no change.

use crate::prelude::*;
use core::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Lines of two versions together, beyond which they are not aligned.
pub(super) const LONGEST: usize = 60_000;

/// A run of lines that a side has in place of a run of the base's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hunk {
    pub(super) base: Range<usize>,
    pub(super) side: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// Which change, from 0.
    pub(super) hunk: usize,
    /// Which line: of the side where it was added, of the base where it was removed.
    pub(super) at: usize,
}

/// What one side did to the base.
#[derive(Debug, Clone, Default)]
pub(super) struct Changes {
    /// For each line of the base its place in the side.
    pub(super) places: Vec<Option<usize>>,
    pub(super) hunks: Vec<Hunk>,
    pub(super) added: BTreeMap<u32, Vec<Place>>,
    pub(super) removed: BTreeMap<u32, Vec<Place>>,
}

impl Changes {
    pub(super) fn between(base: &[u32], side: &[u32]) -> Self {
        let places = align(base, side);
        let mut changes = Self { hunks: hunks(&places, side.len()), places, ..Self::default() };
        for (number, hunk) in changes.hunks.iter().enumerate() {
            let (mut removed, mut added) = (by_line(base, &hunk.base), by_line(side, &hunk.side));
            if is_too_long(base, side) {
                cancel(&mut removed, &mut added);
            }
            for (all, some) in [(&mut changes.removed, removed), (&mut changes.added, added)] {
                for (line, at) in some {
                    let here = at.into_iter().map(|at| Place { hunk: number, at });
                    all.entry(line).or_default().extend(here);
                }
            }
        }
        changes
    }

    pub(super) fn added(&self, line: u32) -> &[Place] {
        self.added.get(&line).map(Vec::as_slice).unwrap_or_default()
    }

    pub(super) fn removed(&self, line: u32) -> &[Place] {
        self.removed.get(&line).map(Vec::as_slice).unwrap_or_default()
    }
}

fn is_too_long(old: &[u32], new: &[u32]) -> bool {
    old.len() + new.len() > LONGEST
}

/// For each line of the old version its place in the new one.
pub(super) fn align(old: &[u32], new: &[u32]) -> Vec<Option<usize>> {
    let mut places = vec![None; old.len()];
    let mut set = |old_index: usize, new_index: usize, len: usize| {
        for (place, at) in places.iter_mut().skip(old_index).take(len).zip(new_index..) {
            *place = Some(at);
        }
    };
    if is_too_long(old, new) {
        let begin = old.iter().zip(new).take_while(|(one, other)| one == other).count();
        let most = old.len().min(new.len()).saturating_sub(begin);
        let ends = old.iter().rev().zip(new.iter().rev()).take(most);
        let end = ends.take_while(|(one, other)| one == other).count();
        set(0, 0, begin);
        set(old.len() - end, new.len() - end, end);
        return places;
    }
    for operation in capture_diff_slices(Algorithm::Myers, old, new) {
        match operation {
            DiffOp::Equal { old_index, new_index, len } => set(old_index, new_index, len),
            DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => {}
        }
    }
    places
}

fn hunks(places: &[Option<usize>], side_len: usize) -> Vec<Hunk> {
    let mut found = Vec::new();
    let mut open = Hunk { base: 0..0, side: 0..0 };
    let ends = places.iter().enumerate().filter_map(|(at, place)| place.map(|place| (at, place)));
    for (base, side) in ends.chain([(places.len(), side_len)]) {
        (open.base.end, open.side.end) = (base, side);
        if !open.base.is_empty() || !open.side.is_empty() {
            found.push(open.clone());
        }
        open = Hunk { base: base + 1..base + 1, side: side + 1..side + 1 };
    }
    found
}

fn by_line(lines: &[u32], range: &Range<usize>) -> BTreeMap<u32, Vec<usize>> {
    let mut found: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (at, line) in lines.iter().enumerate().skip(range.start).take(range.len()) {
        found.entry(*line).or_default().push(at);
    }
    found
}

/// Takes out what is on both lists.
fn cancel(removed: &mut BTreeMap<u32, Vec<usize>>, added: &mut BTreeMap<u32, Vec<usize>>) {
    for (line, from) in removed.iter_mut() {
        let Some(to) = added.get_mut(line) else { continue };
        let same = from.len().min(to.len());
        from.drain(..same);
        to.drain(..same);
    }
    for list in [removed, added] {
        list.retain(|_, at| !at.is_empty());
    }
}
