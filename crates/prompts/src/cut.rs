//! Prompts cut to a budget.
//!
//! Owns who yields to whom when not everything fits: every part has a rank, by which it is filled up, and a share that
//! it keeps whatever the others need. Refuses to cut our own words. What was left out is said.
//!
//! Invariant: the parts together are no larger than what was granted.

use crate::diff::{Hints, cut_diff};
use crate::quote::{plain, quoted};
use crate::tokens::{beginning, ending, estimate_tokens};

/// Tokens a prompt may have, its instructions and the schema of its answer included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TokenBudget(u64);

impl TokenBudget {
    /// The least that leaves room for something beside our own words, which are never cut. A smaller budget counts as
    /// this.
    pub const SMALLEST: Self = Self(4000);

    /// So many tokens, or the least that is of use.
    pub fn new(tokens: u64) -> Self {
        Self(tokens).max(Self::SMALLEST)
    }

    /// The number of tokens.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// What is kept of a part that does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// The beginning.
    Beginning,
    /// The end, where logs say what went wrong.
    End,
    /// The hunks that matter.
    Hunks,
}

/// A kind of foreign text in prompts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PartKind {
    /// The name in templates.
    pub(crate) name: &'static str,
    /// What the reader is told it is.
    pub(crate) heading: &'static str,
    /// The lower, the sooner it is given what it needs.
    pub(crate) rank: u8,
    /// Percent of the room it keeps at least, if it needs them.
    pub(crate) share: u64,
    /// What is kept of it.
    pub(crate) keep: Keep,
}

/// One foreign text of a prompt.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    kind: PartKind,
    text: String,
    need: u64,
}

/// What a note about something left out costs.
const NOTE: u64 = 32;

impl Part {
    /// A text of a kind.
    pub(crate) fn new(kind: PartKind, text: &str) -> Self {
        let text = plain(text);
        let need = estimate_tokens(&text);
        Self { kind, text, need }
    }

    /// The name in templates.
    pub(crate) fn name(&self) -> &'static str {
        self.kind.name
    }

    /// The quotation without its text, with the longest fences: what it costs beside that.
    pub(crate) fn frame(&self) -> String {
        quoted(self.kind.heading, "````````", "")
    }

    /// The quotation, with no more of the text than granted.
    pub(crate) fn quotation(&self, granted: u64, hints: &Hints) -> String {
        if granted >= self.need {
            return quoted(self.kind.heading, &self.text, "");
        }
        let (kept, note) = match self.kind.keep {
            Keep::Beginning => {
                (whole_lines(beginning(&self.text, granted)).to_string(), "the end is left out")
            }
            Keep::End => (ending(&self.text, granted).to_string(), "the beginning is left out"),
            Keep::Hunks => (cut_diff(&self.text, hints, granted), "the rest is left out"),
        };
        let left_out = self.need.saturating_sub(estimate_tokens(&kept));
        quoted(self.kind.heading, &kept, &format!("{note}: about {left_out} tokens"))
    }
}

/// Without the last line, if it was cut in two and is not the only one.
fn whole_lines(text: &str) -> &str {
    match text.rsplit_once('\n') {
        Some((lines, rest)) if rest.len() < lines.len() => lines,
        Some(_) | None => text,
    }
}

/// How many tokens each part is granted.
pub(crate) fn grants(parts: &[Part], available: u64) -> Vec<u64> {
    let need: u64 = parts.iter().map(|part| part.need).sum();
    // Where something must go, every part may have to say so.
    let notes = if need <= available { 0 } else { NOTE * parts.len() as u64 };
    let available = available.saturating_sub(notes);
    let mut left = available;
    let mut granted: Vec<u64> = Vec::with_capacity(parts.len());
    for part in parts {
        let floor = part.need.min(available.saturating_mul(part.kind.share) / 100).min(left);
        left -= floor;
        granted.push(floor);
    }
    let mut by_rank: Vec<(&Part, &mut u64)> = parts.iter().zip(&mut granted).collect();
    by_rank.sort_by_key(|(part, _)| part.kind.rank);
    for (part, granted) in by_rank {
        let more = (part.need - *granted).min(left);
        *granted += more;
        left -= more;
    }
    granted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kind(rank: u8, share: u64, keep: Keep) -> PartKind {
        PartKind { name: "part", heading: "Part", rank, share, keep }
    }

    #[test]
    fn ranks_are_filled_up_and_shares_are_kept() {
        let words = |n: usize| "word ".repeat(n);
        let need = Part::new(kind(1, 0, Keep::End), &words(100)).need;
        let parts = [
            Part::new(kind(2, 10, Keep::Beginning), &words(100)),
            Part::new(kind(1, 0, Keep::Beginning), &words(100)),
            Part::new(kind(3, 0, Keep::Beginning), "word"),
        ];
        assert_eq!(grants(&parts, 10_000), vec![need, need, parts[2].need]);
        assert_eq!(grants(&parts, need + 3 * NOTE), vec![need / 10, need - need / 10, 0]);
        assert_eq!(grants(&parts, 0), vec![0, 0, 0]);
    }

    #[test]
    fn what_is_left_out_is_said() {
        let text: String = (0..100).map(|n| format!("line {n}\n")).collect();
        let hints = Hints::default();
        let head = Part::new(kind(1, 0, Keep::Beginning), &text).quotation(60, &hints);
        assert!(head.contains("line 0\n") && !head.contains("line 99"), "{head}");
        assert!(head.contains("[the end is left out: about "), "{head}");
        let tail = Part::new(kind(1, 0, Keep::End), &text).quotation(60, &hints);
        assert!(!tail.contains("line 0\n") && tail.contains("line 99"), "{tail}");
        let nothing = Part::new(kind(1, 0, Keep::End), &text).quotation(0, &hints);
        assert!(nothing.contains("is left out") && !nothing.contains("line"), "{nothing}");
    }

    proptest! {
        /// Catches shares that are given out without looking at what is left, and notes that are not paid for.
        #[test]
        fn parts_fit_into_the_room(
            needs in prop::collection::vec((0_usize..300, 0_u8..4, 0_u64..60), 1..8),
            available in 0_u64..400,
        ) {
            let parts: Vec<Part> = needs
                .iter()
                .map(|(words, rank, share)| Part::new(kind(*rank, *share, Keep::End), &"some words\n".repeat(*words)))
                .collect();
            let granted = grants(&parts, available);
            let sizes = parts.iter().zip(granted).map(|(part, granted)| {
                estimate_tokens(&part.quotation(granted, &Hints::default()))
            });
            let frames: u64 = parts.iter().map(|part| estimate_tokens(&part.frame())).sum();
            // Where there is no room even for the notes, they are all there is.
            let room = available.max(NOTE * parts.len() as u64);
            prop_assert!(sizes.sum::<u64>() <= frames + room);
        }
    }
}
