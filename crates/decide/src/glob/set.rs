//! Lists of patterns, and what a whole list says about a path.
//!
//! Owns the order of patterns: the last one that matches decides, and once a directory is covered nothing below
//! it can be taken out again. Only paths that can exist in a repository are ever covered.

use super::bytes::ByteSet;
use super::program::{Program, Token};
use super::syntax::{Effect, Line, Target};
use super::tree_path::is_tree_path;
use crate::prelude::*;
/// What a list of patterns says about a path. Patterns are named by their index in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// No pattern is about it.
    Untouched,
    /// This pattern covers it, or a directory it lies in.
    Covered(usize),
    /// This pattern, written with `!`, takes it out again.
    Exempt(usize),
}

impl Coverage {
    /// The pattern that covers the path, if one does.
    pub fn covering(self) -> Option<usize> {
        match self {
            Self::Covered(index) => Some(index),
            Self::Untouched | Self::Exempt(_) => None,
        }
    }
}

/// A list of patterns as in a `.gitignore` file at the root, compiled once.
#[derive(Debug, Clone)]
pub struct PatternSet {
    lines: Vec<Line>,
}

impl PatternSet {
    /// Compiles a list. Each item is one line, without the line's end.
    pub fn new<Glob: AsRef<[u8]>>(patterns: impl IntoIterator<Item = Glob>) -> Self {
        Self { lines: patterns.into_iter().map(|pattern| Line::read(pattern.as_ref())).collect() }
    }

    /// Whether the list has no items at all. A list of comments is not empty: it covers nothing, on purpose.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The indices of the malformed patterns. They match nothing, so whoever reads a list from a person should
    /// name them rather than let them pass.
    pub fn malformed(&self) -> impl Iterator<Item = usize> {
        self.lines.iter().enumerate().filter_map(|(index, line)| match line {
            Line::Malformed => Some(index),
            Line::Nothing | Line::Pattern(_) => None,
        })
    }

    /// What the list says about a file. An empty list says nothing; where it stands for everything, as in a
    /// scope, the caller asks [`PatternSet::is_empty`].
    pub fn matches_file(&self, path: &[u8]) -> Coverage {
        if !is_tree_path(path) {
            return Coverage::Untouched;
        }
        // The deciding pattern, and its effect, of the path itself and of each directory above it, by the
        // length of what they are called: that is from the top down.
        let mut deciding: BTreeMap<usize, (usize, Effect)> = BTreeMap::new();
        for (index, line) in self.lines.iter().enumerate() {
            let pattern = match line {
                Line::Nothing | Line::Malformed => continue,
                Line::Pattern(pattern) => pattern,
            };
            pattern.program.for_each_matched_prefix(path, |length| {
                let counts = match path.get(length) {
                    Some(&next) => next == b'/',
                    None => pattern.target == Target::Anything,
                };
                if counts {
                    deciding.insert(length, (index, pattern.effect));
                }
            });
        }
        for (length, (index, effect)) in deciding {
            match effect {
                Effect::Cover => return Coverage::Covered(index),
                Effect::Exempt if length == path.len() => return Coverage::Exempt(index),
                Effect::Exempt => {}
            }
        }
        Coverage::Untouched
    }

    /// One program for each way the list covers what lies below directories, from a path's first byte to its last.
    /// That is enough to compare lists by: a pattern covers whatever is below what it matches, so two that have
    /// any path in common also have one below it. Patterns that take paths out are left aside, and an empty
    /// list covers everything.
    pub(super) fn covers_below(&self) -> Vec<Program> {
        if self.is_empty() {
            return vec![Program::new(vec![Token::Many(ByteSet::ALL)])];
        }
        let below = [Token::One(ByteSet::of(b'/')), Token::Many(ByteSet::ALL)];
        self.lines
            .iter()
            .filter_map(|line| match line {
                Line::Pattern(pattern) if pattern.effect == Effect::Cover => {
                    Some(pattern.program.followed_by(below))
                }
                Line::Nothing | Line::Malformed | Line::Pattern(_) => None,
            })
            .collect()
    }
}
