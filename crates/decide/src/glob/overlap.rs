//! Whether two lists of patterns can ever cover the same path.
//!
//! Owns the question that decides which tasks may run side by side. The answer is exact for lists without
//! negated patterns; those are left aside, which errs towards overlapping and so towards safety. Only paths that
//! can exist in a repository count.

use super::program::Program;
use super::set::PatternSet;
use super::tree_path::Segment;
use crate::prelude::*;

/// Whether there is any path that both lists cover. An empty list covers everything.
pub fn overlap(one: &PatternSet, other: &PatternSet) -> bool {
    OverlapMatcher::new(one).overlaps(&OverlapMatcher::new(other))
}

/// What a list covers, compiled for being compared with many others.
#[derive(Debug, Clone)]
pub struct OverlapMatcher {
    programs: Vec<Program>,
}

impl OverlapMatcher {
    pub fn new(list: &PatternSet) -> Self {
        Self { programs: list.covers_below() }
    }

    /// Whether there is any path that both cover.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.programs.iter().any(|left| other.programs.iter().any(|right| have_common_path(left, right)))
    }
}

/// Where one is while walking two programs and the rule for paths along the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    left: usize,
    right: usize,
    segment: Segment,
}

/// Searches for a row of bytes that leads both programs to their end, over sets of bytes rather than bytes.
/// There are finitely many places and each is visited once.
fn have_common_path(left: &Program, right: &Program) -> bool {
    if left.first_bytes().zip(right.first_bytes()).any(|(left, right)| !left.meets(right)) {
        return false;
    }
    let mut visited = BTreeSet::new();
    let mut open = vec![Place { left: 0, right: 0, segment: Segment::START }];
    while let Some(place) = open.pop() {
        if !visited.insert(place) {
            continue;
        }
        if left.ends_at(place.left) && right.ends_at(place.right) && place.segment.may_end() {
            return true;
        }
        open.extend(left.free_moves(place.left).map(|left| Place { left, ..place }));
        open.extend(right.free_moves(place.right).map(|right| Place { right, ..place }));
        if let (Some((from_left, left)), Some((from_right, right))) =
            (left.taking_move(place.left), right.taking_move(place.right))
        {
            let segments = place.segment.after_any_of(from_left.intersection(from_right));
            open.extend(segments.map(|segment| Place { left, right, segment }));
        }
    }
    false
}
