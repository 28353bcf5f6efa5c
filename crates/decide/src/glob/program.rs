//! Compiled patterns: a row of tokens, run by following every possibility at once.
//!
//! Owns the meaning of a token, given once as its moves, from which matching and overlap both follow. A position
//! is entered at most once per byte, so a run takes at most the product of the two lengths, whatever the
//! pattern. Nothing here recurses, so no pattern is too long either.

use super::bytes::ByteSet;
use crate::prelude::*;
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    /// One byte of the set.
    One(ByteSet),
    /// Any number of bytes of the set, none included.
    Many(ByteSet),
    /// The next so many tokens may be left out.
    Optional(usize),
}

impl Token {
    /// Any number of whole directories, none included: what `**/` means.
    pub(super) const fn any_directories() -> [Self; 3] {
        [Self::Optional(2), Self::Many(ByteSet::ALL), Self::One(ByteSet::of(b'/'))]
    }
}

/// A compiled pattern. A position in it is the index of the token that comes next.
#[derive(Debug, Clone)]
pub(super) struct Program {
    tokens: Vec<Token>,
}

impl Program {
    pub(super) fn new(tokens: Vec<Token>) -> Self {
        Self { tokens }
    }

    /// The same pattern with more tokens after it.
    pub(super) fn followed_by(&self, more: impl IntoIterator<Item = Token>) -> Self {
        Self { tokens: self.tokens.iter().copied().chain(more).collect() }
    }

    /// What the first bytes can be, up to where the pattern is no longer of one length.
    pub(super) fn first_bytes(&self) -> impl Iterator<Item = ByteSet> + '_ {
        self.tokens.iter().map_while(|token| match token {
            Token::One(set) => Some(*set),
            Token::Many(_) | Token::Optional(_) => None,
        })
    }

    /// Whether a position is behind the last token.
    pub(super) fn ends_at(&self, position: usize) -> bool {
        position == self.tokens.len()
    }

    /// Where one can go from a position without taking a byte.
    pub(super) fn free_moves(&self, position: usize) -> impl Iterator<Item = usize> + use<> {
        let next = position + 1;
        match self.tokens.get(position) {
            None | Some(Token::One(_)) => [None, None],
            Some(Token::Many(_)) => [Some(next), None],
            Some(Token::Optional(count)) => [Some(next), Some(next + count)],
        }
        .into_iter()
        .flatten()
    }

    /// Which bytes can be taken at a position, and where one is then.
    pub(super) fn taking_move(&self, position: usize) -> Option<(ByteSet, usize)> {
        match self.tokens.get(position)? {
            Token::One(set) => Some((*set, position + 1)),
            Token::Many(set) => Some((*set, position)),
            Token::Optional(_) => None,
        }
    }

    /// Reports the length of every beginning of the text that the pattern matches, from the shortest on.
    pub(super) fn for_each_matched_prefix(&self, text: &[u8], mut report: impl FnMut(usize)) {
        let mut now = Positions::none_of(self);
        let mut next = Positions::none_of(self);
        now.enter(0);
        now.follow_free_moves(self);
        for (length, &byte) in text.iter().enumerate() {
            if now.include(self.tokens.len()) {
                report(length);
            }
            next.clear();
            for (set, target) in now.order.iter().filter_map(|&position| self.taking_move(position)) {
                if set.contains(byte) {
                    next.enter(target);
                }
            }
            if next.order.is_empty() {
                return;
            }
            next.follow_free_moves(self);
            core::mem::swap(&mut now, &mut next);
        }
        if now.include(self.tokens.len()) {
            report(text.len());
        }
    }
}

/// The positions a run can be at, each held once, in the order they were entered.
struct Positions {
    order: Vec<usize>,
    entered: Vec<bool>,
}

impl Positions {
    fn none_of(program: &Program) -> Self {
        Self { order: Vec::new(), entered: vec![false; program.tokens.len() + 1] }
    }

    fn include(&self, position: usize) -> bool {
        self.entered.get(position).copied().unwrap_or(false)
    }

    fn enter(&mut self, position: usize) {
        if let Some(entered) = self.entered.get_mut(position)
            && !*entered
        {
            *entered = true;
            self.order.push(position);
        }
    }

    /// Adds what can be reached without taking a byte. The order of entering is the list of what is to be done.
    fn follow_free_moves(&mut self, program: &Program) {
        let mut done = 0;
        while let Some(&position) = self.order.get(done) {
            done += 1;
            for target in program.free_moves(position) {
                self.enter(target);
            }
        }
    }

    fn clear(&mut self) {
        for position in self.order.drain(..) {
            if let Some(entered) = self.entered.get_mut(position) {
                *entered = false;
            }
        }
    }
}
