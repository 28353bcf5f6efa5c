//! Whether a line that is not in the result as it was written is there as part of another.
//!
//! Where both sides changed one line, somebody has to write a third. It keeps a side's change if it has the words and
//! signs that the side put into the line, has those that the side took out no more often than the other side accounts
//! for, and keeps at least half of the words that neither touched. Only lines that nobody else wrote, near the place
//! of the change, are looked at, so a line of another change is never taken for this one.

use core::ops::Range;

use super::Side;
use super::alignment::{Hunk, Place};
use super::losses::Comparison;
use super::versions::{Tokens, count_tokens, indent, is_separator, is_word, tokens};

/// Lines one line may have been split into.
const LONGEST_SPLIT: usize = 4;
/// Lines around the place of a change that are looked at.
const NEAR: usize = 400;
/// What it costs to look at a place where nobody wrote anything new.
const AT_LEAST: usize = 16;

/// One line of a side, with what it was before and what the other side made of that.
struct Changed<'a> {
    now: &'a [u8],
    tokens: Tokens<'a>,
    before: Option<Tokens<'a>>,
    others: Tokens<'a>,
}

impl Comparison<'_> {
    /// Whether the result has a line that keeps what the side did with this one.
    pub(super) fn is_combined(&self, side: Side, line: u32, place: Place) -> bool {
        if !self.versions.has_word(line) {
            return false;
        }
        let before = self.line_before(side, line, place);
        let others = before.and_then(|at| self.line_after(side.other(), at));
        let text = |line: Option<u32>| line.map(|line| self.versions.text(line));
        let was = text(before.and_then(|at| self.versions.base.line(at))).map(tokens);
        let changed = Changed {
            now: self.versions.text(line),
            tokens: tokens(self.versions.text(line)),
            others: text(others).map(tokens).or_else(|| was.clone()).unwrap_or_default(),
            before: was,
        };
        let near = self.near(side, place);
        near.clone().any(|start| {
            let most = LONGEST_SPLIT.min(near.end - start);
            (1..=most).any(|length| self.keeps(&changed, others, start..start + length))
        })
    }

    fn keeps(&self, changed: &Changed<'_>, others: Option<u32>, lines: Range<usize>) -> bool {
        if !self.spend(AT_LEAST) {
            return false;
        }
        let written = self.versions.result.lines.get(lines).unwrap_or_default();
        let is_novel = written.iter().any(|line| self.versions.is_novel(*line));
        // The other side's line may hold this side's change too, if it had anything but blanks to hold.
        let is_others = matches!((written, others), ([line], Some(other)) if *line == other);
        let is_of_blanks = changed.before.as_ref() == Some(&changed.tokens);
        if !is_novel && (!is_others || is_of_blanks) {
            return false;
        }
        let mut found = Tokens::new();
        for line in written {
            let text = self.versions.text(*line);
            if !self.spend(text.len()) {
                return false;
            }
            count_tokens(text, &mut found);
        }
        if is_of_blanks {
            let begins = written.first().map(|line| indent(self.versions.text(*line)));
            return begins == Some(indent(changed.now)) && changed.half_is_in(&found);
        }
        changed.is_in(&found)
    }

    /// The line of the base that this one was, if one of the same change is much like it.
    fn line_before(&self, side: Side, line: u32, place: Place) -> Option<usize> {
        let hunk = self.hunk(side, place.hunk)?;
        self.most_alike(line, hunk.base.clone(), None)
    }

    /// What a side made of a line of the base, if it changed it.
    fn line_after(&self, side: Side, at: usize) -> Option<u32> {
        let line = self.versions.base.line(at)?;
        let is_here = |hunk: &&Hunk| hunk.base.contains(&at);
        let hunk = self.changes(side).hunks.iter().find(is_here)?.clone();
        let found = self.most_alike(line, hunk.side, Some(side))?;
        self.versions.side(side).line(found)
    }

    fn most_alike(&self, line: u32, range: Range<usize>, of: Option<Side>) -> Option<usize> {
        let wanted = tokens(self.versions.text(line));
        let mut best = None;
        for at in range {
            let version = of.map_or(&self.versions.base, |side| self.versions.side(side));
            let text = version.line(at).map(|line| self.versions.text(line)).unwrap_or_default();
            if !self.spend(text.len()) {
                break;
            }
            let (same, all) = alike(&wanted, &tokens(text));
            // The larger share of words wins; as fractions, so that nothing is rounded.
            let is_better =
                best.is_none_or(|(_, same_before, all_before)| same * all_before > same_before * all);
            if 3 * same >= all && same > 0 && is_better {
                best = Some((at, same, all));
            }
        }
        best.map(|(at, _, _)| at)
    }

    /// The lines of the result between those around the change.
    fn near(&self, side: Side, place: Place) -> Range<usize> {
        let whole = 0..self.versions.result.lines.len();
        let Some(hunk) = self.hunk(side, place.hunk) else { return whole };
        let places = self.in_result(side);
        let before = places.iter().take(hunk.side.start).rev().find_map(|place| *place);
        let after = places.iter().skip(hunk.side.end).find_map(|place| *place);
        let start = before.map_or(whole.start, |at| at + 1);
        let end = after.unwrap_or(whole.end).max(start);
        start..end.min(start + NEAR)
    }
}

/// How many words two lines have in common, and how many the two have.
fn alike(one: &Tokens<'_>, other: &Tokens<'_>) -> (i64, i64) {
    let count = |tokens: &Tokens<'_>| -> i64 {
        tokens.iter().filter(|(token, _)| is_word(token)).map(|(_, count)| *count).sum()
    };
    let words = one.iter().filter(|(token, _)| is_word(token));
    let same: i64 = words.map(|(token, count)| (*count).min(other.get(token).copied().unwrap_or(0))).sum();
    (2 * same, count(one) + count(other))
}

impl Changed<'_> {
    fn count(tokens: &Tokens<'_>, token: &[u8]) -> i64 {
        tokens.get(token).copied().unwrap_or(0)
    }

    /// Whether these words and signs keep what the side did.
    fn is_in(&self, found: &Tokens<'_>) -> bool {
        let none = Tokens::new();
        let before = self.before.as_ref().unwrap_or(&none);
        let differs = |token: &[u8]| Self::count(&self.tokens, token) != Self::count(before, token);
        let mut all = self.tokens.keys().chain(before.keys());
        let has_words = all.clone().any(|token| is_word(token) && differs(token));
        let is_kept = all.all(|token| {
            if has_words && is_separator(token) {
                return true;
            }
            let (now, was) = (Self::count(&self.tokens, token), Self::count(before, token));
            let others = Self::count(&self.others, token) - was;
            let there = Self::count(found, token);
            match now - was {
                added @ 1.. => there >= was + added + others.min(0),
                0 => true,
                _ => there <= now + others.max(0),
            }
        });
        is_kept && self.half_is_in(found)
    }

    /// Whether at least half of the words that nobody touched are there.
    fn half_is_in(&self, found: &Tokens<'_>) -> bool {
        let Some(before) = &self.before else { return true };
        let untouched = |token: &&&[u8]| {
            let was = Self::count(before, token);
            is_word(token)
                && was == Self::count(&self.tokens, token)
                && was == Self::count(&self.others, token)
        };
        let (mut all, mut there) = (0, 0);
        for token in before.keys().filter(untouched) {
            let was = Self::count(before, token);
            all += was;
            there += was.min(Self::count(found, token));
        }
        2 * there >= all
    }
}
