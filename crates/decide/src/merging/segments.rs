//! The four versions cut at the lines that all of them have once and that nobody moved.
//!
//! Owns telling places apart without comparing positions: a line that is everywhere is counted between two such lines,
//! so what one place lost is not made up for by another.

use super::Side;
use super::alignment::{Changes, Place, align};
use super::versions::{Version, Versions};
use crate::prelude::*;
/// Which part of its version each line is in.
#[derive(Debug)]
pub(super) struct Segments {
    base: Vec<usize>,
    sides: [Vec<usize>; 2],
    counts: BTreeMap<(u32, usize), Counted>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    base: usize,
    result: usize,
}

impl Segments {
    pub(super) fn new(versions: &Versions<'_>, changes: [&Changes; 2]) -> Self {
        let is_once = |line: u32| {
            let sides = Side::BOTH.map(|side| versions.side(side));
            let all = [&versions.base, &versions.result].into_iter().chain(sides);
            all.into_iter().all(|version| version.count(line) == 1)
        };
        let is_kept =
            |at: usize| changes.iter().all(|changes| changes.places.get(at).copied().flatten().is_some());
        let kept =
            versions.base.lines.iter().enumerate().filter(|(at, line)| is_kept(*at) && is_once(**line));
        let kept: Vec<u32> = kept.map(|(_, line)| *line).collect();
        let known: BTreeSet<u32> = kept.iter().copied().collect();
        let left = versions.result.lines.iter().copied().filter(|line| known.contains(line));
        let places = align(&kept, &left.collect::<Vec<_>>());
        let fixed = kept.into_iter().zip(places).filter(|(_, place)| place.is_some());
        let fixed: BTreeSet<u32> = fixed.map(|(line, _)| line).collect();
        let cut = |version: &Version| cut(version, &fixed);
        let base = cut(&versions.base);
        let mut counts: BTreeMap<(u32, usize), Counted> = BTreeMap::new();
        for (line, segment) in versions.base.lines.iter().zip(&base) {
            counts.entry((*line, *segment)).or_default().base += 1;
        }
        for (line, segment) in versions.result.lines.iter().zip(cut(&versions.result)) {
            counts.entry((*line, segment)).or_default().result += 1;
        }
        Self { base, sides: Side::BOTH.map(|side| cut(versions.side(side))), counts }
    }

    /// The part of the base a line was removed from.
    pub(super) fn of_removed(&self, place: &Place) -> Option<usize> {
        self.base.get(place.at).copied()
    }

    /// The part of the side a line was added to.
    pub(super) fn of_added(&self, side: Side, place: &Place) -> Option<usize> {
        let [ours, theirs] = &self.sides;
        let cut = match side {
            Side::Ours => ours,
            Side::Theirs => theirs,
        };
        cut.get(place.at).copied()
    }

    /// How often a part of the base and of the result has a line.
    pub(super) fn counts(&self, line: u32, segment: usize) -> (usize, usize) {
        let counted = self.counts.get(&(line, segment)).copied().unwrap_or_default();
        (counted.base, counted.result)
    }
}

/// For each line how many of the fixed ones are before it.
fn cut(version: &Version, fixed: &BTreeSet<u32>) -> Vec<usize> {
    let mut seen = 0;
    let number = |line: &u32| {
        let before = seen;
        seen += usize::from(fixed.contains(line));
        before
    };
    version.lines.iter().map(number).collect()
}
