//! What a merge lost: which changes of either side are not in what somebody made of both.
//!
//! Owns the comparison of one file in four versions: the base, the two sides, the result. Refuses to merge anything
//! itself. Invariant: a line that a side added and the result does not hold, a line that it removed and the result
//! holds, and a mark that was left are found whatever else the result says. Where both sides changed one line, a line
//! that keeps what each of them did within it keeps both. The order of lines is the resolver's to choose, unless a
//! side's own reordering was undone; blank lines and blanks at the end of a line are nobody's change. The cost is
//! bounded: versions too long to be aligned are compared by how often they have each line.

mod alignment;
mod combining;
mod losses;
mod segments;
mod versions;

use crate::prelude::*;
pub use fixpoint_vocabulary::work::Side;
use serde::{Deserialize, Serialize};

/// One file in its four versions; `None` where a version does not have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FourVersions<'a> {
    /// What both sides began with.
    pub base: Option<&'a [u8]>,
    pub ours: Option<&'a [u8]>,
    pub theirs: Option<&'a [u8]>,
    /// What was made of them.
    pub result: Option<&'a [u8]>,
}

impl<'a> FourVersions<'a> {
    const fn side(&self, side: Side) -> Option<&'a [u8]> {
        match side {
            Side::Ours => self.ours,
            Side::Theirs => self.theirs,
        }
    }
}

/// How a change was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// Lines the side added are not in the result.
    Dropped,
    /// Lines the side removed are in the result.
    CameBack,
    /// Lines the side moved are where they were before.
    MovedBack,
    /// The side changed the file, and the result does not have it.
    FileGone,
    /// The side removed the file, nobody else changed it, and the result has it.
    FileBack,
    /// The file has no lines, and the result is neither side's.
    NeitherSide,
}

/// A place where the result does not hold both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeProblem {
    /// A conflict is still marked.
    Marked {
        /// The first line of a mark, from 1.
        line: u32,
    },
    /// A change of one side is not in the result.
    Lost {
        side: Side,
        /// Which change of that side in this file, from 1; 0 for the file as a whole. It depends on the base and the
        /// side alone, so it stays the same from result to result.
        hunk: u32,
        loss: Loss,
        /// The lines it is about, shortened.
        text: String,
    },
}

/// More problems than anybody fixes at once.
pub const MAX_PROBLEMS: usize = 64;

/// The changes of either side that the result does not hold, and marks that were left.
pub fn problems(versions: &FourVersions<'_>) -> Vec<MergeProblem> {
    let all = [versions.base, versions.ours, versions.theirs, versions.result];
    let mut found = match versions.result {
        None => Side::BOTH.into_iter().filter_map(|side| gone(versions, side)).collect(),
        Some(result) if all.into_iter().flatten().any(is_binary) => neither(versions, result),
        Some(_) => {
            let mut found: Vec<MergeProblem> =
                Side::BOTH.into_iter().filter_map(|side| back(versions, side)).collect();
            found.extend(losses::of_lines(versions));
            found
        }
    };
    found.truncate(MAX_PROBLEMS);
    found
}

/// Whether content has no lines that could be compared, as git tells.
pub fn is_binary(content: &[u8]) -> bool {
    content.iter().take(8 << 10).any(|byte| *byte == 0)
}

const fn whole(side: Side, loss: Loss) -> MergeProblem {
    MergeProblem::Lost { side, hunk: 0, loss, text: String::new() }
}

/// A result without the file: whoever changed it, and did not remove it, lost that.
fn gone(versions: &FourVersions<'_>, side: Side) -> Option<MergeProblem> {
    let is_changed = versions.side(side).is_some() && versions.side(side) != versions.base;
    is_changed.then_some(whole(side, Loss::FileGone))
}

/// A result with a file that a side removed. Where the other changed it, keeping that is right.
fn back(versions: &FourVersions<'_>, side: Side) -> Option<MergeProblem> {
    let is_removed = versions.base.is_some() && versions.side(side).is_none();
    let other = versions.side(side.other());
    let is_changed = other.is_some() && other != versions.base;
    (is_removed && !is_changed).then_some(whole(side, Loss::FileBack))
}

/// Of what has no lines, one side can be taken, and where one side alone changed it, that one.
fn neither(versions: &FourVersions<'_>, result: &[u8]) -> Vec<MergeProblem> {
    let changed: Vec<Side> =
        Side::BOTH.into_iter().filter(|side| versions.side(*side) != versions.base).collect();
    let is_taken = changed.iter().any(|side| versions.side(*side) == Some(result));
    if changed.is_empty() || is_taken {
        return Vec::new();
    }
    changed.into_iter().map(|side| whole(side, Loss::NeitherSide)).collect()
}

#[cfg(test)]
mod generated;
#[cfg(test)]
mod tests;
