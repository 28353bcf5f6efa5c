//! Which lines the result should hold and does not, and which it should not and does.
//!
//! How often a line should be there follows from the base and the two alignments: as often as neither side removed it,
//! and once for each time a side added it. Both sides adding the same telling line, or the same run of lines, may have
//! added one thing, so one of them is enough. A line that came back is one too many; of lines that are everywhere, such
//! as a closing brace, that is only said of the part of the file they were removed from.

use core::cell::Cell;
use core::cmp::Ordering;

use super::alignment::{Changes, Hunk, Place, align};
use super::segments::Segments;
use super::versions::Versions;
use super::{FourVersions, Loss, MergeProblem, Side};
use crate::prelude::*;

/// Bytes of lines that are taken apart into words, in all. A lost line for which nothing is left is lost.
const BUDGET: usize = 32 << 20;
/// Lines of a change that are shown.
const SHOWN_LINES: usize = 3;

/// Two sides, each with what it did and where its lines are in the result.
#[derive(Debug)]
pub(super) struct Comparison<'a> {
    pub(super) versions: Versions<'a>,
    changes: [Changes; 2],
    in_result: [Vec<Option<usize>>; 2],
    segments: Segments,
    budget: Cell<usize>,
}

/// How often a line should be there. Which of two equal lines a side removed cannot always be told, so there is what
/// the alignments say, and what is certain.
#[derive(Debug, Clone, Copy)]
struct Expected {
    least: usize,
    exactly: usize,
    most: usize,
}

type Found = BTreeMap<(Side, usize, Loss), Vec<u32>>;

/// Changes of lines that the result does not hold, and marks.
pub(super) fn of_lines(four: &FourVersions<'_>) -> Vec<MergeProblem> {
    let comparison = Comparison::new(Versions::new(four));
    let marked = comparison.first_mark().map(|line| MergeProblem::Marked { line });
    let found = comparison.found();
    let told = found.iter().map(|((side, hunk, loss), lines)| {
        let shown: Vec<String> =
            lines.iter().take(SHOWN_LINES).map(|line| comparison.versions.shown(*line)).collect();
        let hunk = u32::try_from(hunk + 1).unwrap_or(u32::MAX);
        MergeProblem::Lost { side: *side, hunk, loss: *loss, text: shown.join("\n") }
    });
    marked.into_iter().chain(told).collect()
}

impl<'a> Comparison<'a> {
    fn new(versions: Versions<'a>) -> Self {
        let changes = |side| Changes::between(&versions.base.lines, &versions.side(side).lines);
        let in_result = |side| align(&versions.side(side).lines, &versions.result.lines);
        let changes = Side::BOTH.map(changes);
        let [ours, theirs] = &changes;
        Self {
            segments: Segments::new(&versions, [ours, theirs]),
            changes,
            in_result: Side::BOTH.map(in_result),
            versions,
            budget: Cell::new(BUDGET),
        }
    }

    pub(super) const fn changes(&self, side: Side) -> &Changes {
        let [ours, theirs] = &self.changes;
        match side {
            Side::Ours => ours,
            Side::Theirs => theirs,
        }
    }

    /// For each line of a side its place in the result.
    pub(super) fn in_result(&self, side: Side) -> &[Option<usize>] {
        let [ours, theirs] = &self.in_result;
        match side {
            Side::Ours => ours,
            Side::Theirs => theirs,
        }
    }

    pub(super) fn hunk(&self, side: Side, number: usize) -> Option<&Hunk> {
        self.changes(side).hunks.get(number)
    }

    /// Whether there is budget left for this many bytes.
    pub(super) fn spend(&self, bytes: usize) -> bool {
        let left = self.budget.get().checked_sub(bytes);
        self.budget.set(left.unwrap_or(0));
        left.is_some()
    }

    fn first_mark(&self) -> Option<u32> {
        let result = &self.versions.result;
        let is_left =
            |line: u32| self.versions.is_mark(line) && result.count(line) > self.expected(line, None).exactly;
        let mut lines = result.lines.iter().zip(&result.numbers);
        lines.find(|(line, _)| is_left(**line)).map(|(_, number)| *number)
    }

    /// How often the result should have a line, in all or in one part.
    fn expected(&self, line: u32, segment: Option<usize>) -> Expected {
        let is_here = |of: Option<usize>| segment.is_none() || of == segment;
        let before = match segment {
            Some(segment) => self.segments.counts(line, segment).0,
            None => self.versions.base.count(line),
        };
        let (mut all, mut most, mut sum, mut added) = (BTreeSet::new(), 0, 0, 0);
        for side in Side::BOTH {
            let removed = self.changes(side).removed(line).iter();
            let removed = removed.filter(|place| is_here(self.segments.of_removed(place)));
            let removed: BTreeSet<usize> = removed.map(|place| place.at).collect();
            (most, sum) = (removed.len().max(most), sum + removed.len());
            all.extend(removed);
            let places = self.changes(side).added(line).iter();
            added += places.filter(|place| is_here(self.segments.of_added(side, place))).count();
        }
        let whole = before + added;
        Expected {
            least: whole.saturating_sub(sum),
            exactly: whole.saturating_sub(all.len()),
            most: whole.saturating_sub(most),
        }
    }

    /// Whether a part of the result has a line too often or not often enough, whatever the sides meant.
    fn balance_in(&self, line: u32, segment: Option<usize>) -> Ordering {
        let Some(segment) = segment else { return Ordering::Equal };
        let expected = self.expected(line, Some(segment));
        let (_, now) = self.segments.counts(line, segment);
        if now > expected.most {
            Ordering::Greater
        } else if now < expected.least {
            Ordering::Less
        } else {
            Ordering::Equal
        }
    }

    fn found(&self) -> Found {
        let mut found = Found::new();
        let touched = Side::BOTH.into_iter().map(|side| self.changes(side));
        let touched: BTreeSet<u32> =
            touched.flat_map(|changes| changes.added.keys().chain(changes.removed.keys()).copied()).collect();
        // Signs alone follow the lines they belong to: what those became must be known first.
        let (telling, signs): (Vec<u32>, Vec<u32>) =
            touched.into_iter().partition(|line| self.versions.has_word(*line));
        let mut combined = BTreeSet::new();
        for line in telling.into_iter().chain(signs) {
            self.dropped(line, &mut combined, &mut found);
            self.came_back(line, &mut found);
            self.moved_back(line, &mut found);
        }
        found
    }

    fn dropped(&self, line: u32, combined: &mut BTreeSet<(Side, usize)>, found: &mut Found) {
        let shared = Side::BOTH.map(|side| self.shareable(side, line)).into_iter().min().unwrap_or(0);
        let expected = self.expected(line, None);
        let there = self.versions.result.count(line) + shared;
        let missing = expected.exactly.saturating_sub(there);
        let is_sure = there < expected.least;
        if missing == 0 {
            return;
        }
        let mut copies: Vec<(bool, Side, Place)> = Vec::new();
        for side in Side::BOTH {
            let is_there = |place: &Place| self.in_result(side).get(place.at).is_some_and(Option::is_some);
            let added = self.changes(side).added(line).iter();
            copies.extend(added.map(|place| (is_there(place), side, *place)));
        }
        // Those that have no place in the result are the ones that are missing.
        copies.sort();
        let is_short = |side: Side, place: &Place| {
            shared == 0 && self.balance_in(line, self.segments.of_added(side, place)) == Ordering::Less
        };
        copies.retain(|(_, side, place)| is_sure || is_short(*side, place));
        for (_, side, place) in copies.into_iter().take(missing) {
            if self.is_combined(side, line, place) {
                combined.insert((side, place.hunk));
            } else if self.versions.has_word(line) || !combined.contains(&(side, place.hunk)) {
                found.entry((side, place.hunk, Loss::Dropped)).or_default().push(line);
            }
        }
    }

    /// How many of the times a side added a line may be the other side's as well.
    fn shareable(&self, side: Side, line: u32) -> usize {
        let is_telling = |line: u32| self.versions.has_word(line) && self.versions.base.count(line) == 0;
        let of_other = |line: u32| !self.changes(side.other()).added(line).is_empty();
        let is_shared = |place: &&Place| {
            let Some(hunk) = self.hunk(side, place.hunk) else { return false };
            let next_to = [place.at.checked_sub(1), place.at.checked_add(1)];
            let mut beside = next_to.into_iter().flatten().filter(|at| hunk.side.contains(at));
            let is_told = |at: usize| {
                self.versions.side(side).line(at).is_some_and(|line| is_telling(line) && of_other(line))
            };
            is_telling(line) || beside.any(is_told) || self.is_same_change(side, hunk)
        };
        self.changes(side).added(line).iter().filter(is_shared).count()
    }

    /// Whether the other side made the very same change.
    fn is_same_change(&self, side: Side, hunk: &Hunk) -> bool {
        let lines = |side, hunk: &Hunk| self.versions.side(side).lines.get(hunk.side.clone());
        let other = side.other();
        let mut others = self.changes(other).hunks.iter().filter(|theirs| theirs.base == hunk.base);
        others.any(|theirs| lines(side, hunk) == lines(other, theirs))
    }

    fn came_back(&self, line: u32, found: &mut Found) {
        let expected = self.expected(line, None);
        let there = self.versions.result.count(line);
        let too_many = there.saturating_sub(expected.exactly);
        let is_sure = self.versions.has_word(line) && self.versions.base.count(line) == 1;
        let mut seen = BTreeSet::new();
        for side in Side::BOTH {
            for place in self.changes(side).removed(line) {
                if seen.len() >= too_many || self.is_kept_by_other(side, place.hunk) {
                    continue;
                }
                let is_here = || self.balance_in(line, self.segments.of_removed(place)) == Ordering::Greater;
                if (is_sure || is_here()) && seen.insert(place.at) {
                    found.entry((side, place.hunk, Loss::CameBack)).or_default().push(line);
                }
            }
        }
    }

    /// Whether a side only removed what the other changed: then the change is kept, and what is around it may be.
    fn is_kept_by_other(&self, side: Side, hunk: usize) -> bool {
        let Some(hunk) = self.hunk(side, hunk).filter(|hunk| hunk.side.is_empty()) else { return false };
        let touches = |theirs: &Hunk| {
            let is_within = theirs.base.start < hunk.base.end && theirs.base.end > hunk.base.start;
            is_within && !theirs.side.is_empty()
        };
        self.changes(side.other()).hunks.iter().any(touches)
    }

    /// Whether a line that a side took from one place to another is at the one and not at the other.
    fn moved_back(&self, line: u32, found: &mut Found) {
        for side in Side::BOTH {
            let changes = self.changes(side);
            let (added, removed) = (changes.added(line), changes.removed(line));
            let (Some(first), false) = (added.first(), removed.is_empty()) else { continue };
            let mut hunks = added.iter().chain(removed).map(|place| place.hunk);
            let is = |segment, balance| self.balance_in(line, segment) == balance;
            let is_back = removed.iter().any(|place| is(self.segments.of_removed(place), Ordering::Greater))
                && added.iter().any(|place| is(self.segments.of_added(side, place), Ordering::Less));
            if is_back || hunks.all(|hunk| self.is_undone(side, hunk)) {
                found.entry((side, first.hunk, Loss::MovedBack)).or_default().push(line);
            }
        }
    }

    /// Whether the result reads at the place of a change as if the side had not made it: from the last line before it
    /// to the first behind it that the other side kept, it is the other side's.
    fn is_undone(&self, side: Side, hunk: usize) -> bool {
        let Some(hunk) = self.hunk(side, hunk) else { return false };
        let (mine, others) = (self.changes(side), self.changes(side.other()));
        let kept = |at: &usize| {
            let of = |changes: &Changes| changes.places.get(*at).copied().flatten();
            of(mine).zip(of(others))
        };
        let before = (0..hunk.base.start).rev().find_map(|at| kept(&at));
        let after = (hunk.base.end..self.versions.base.lines.len()).find_map(|at| kept(&at));
        let (own, other) = (self.versions.side(side), self.versions.side(side.other()));
        let start = before.map_or((0, 0), |(mine, others)| (mine + 1, others + 1));
        let end = after.unwrap_or((own.lines.len(), other.lines.len()));
        let (Some(made), Some(left)) = (own.lines.get(start.0..end.0), other.lines.get(start.1..end.1))
        else {
            return false;
        };
        if !self.spend(left.len()) {
            return false;
        }
        let place = |at: usize| self.in_result(side.other()).get(at).copied().flatten();
        let from = before.map_or(Some(0), |(_, at)| place(at).map(|at| at + 1));
        let to = after.map_or(Some(self.versions.result.lines.len()), |(_, at)| place(at));
        let (Some(from), Some(to)) = (from, to) else { return false };
        made != left && self.versions.result.lines.get(from..to) == Some(left)
    }
}
