//! The token budget of a prompt.
//!
//! Owns what is shortened when not everything fits. What a person wrote is never shortened: a prompt it does not fit into
//! is an error. Every other section has a priority and a minimum share of the room. Refuses to shorten our own
//! instructions. The prompt says where something was left out, and how much.
//!
//! Invariant: the sections together are no larger than the room they were given.

use crate::diff::{Hints, shorten_diff};
use crate::omission::{Omission, Unit, left_out};
use crate::quote::{quoted, sanitized};
use crate::tokens::{estimate_tokens, prefix_within, suffix_within};

/// The tokens of a whole prompt, instructions and answer schema included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TokenBudget(u64);

/// More than our own words, headings and schemas take in any prompt.
const OWN_WORDS: u64 = 2000;

impl TokenBudget {
    /// The smallest budget that leaves room next to our own words. A smaller one counts as this.
    pub const MIN: Self = Self(4000);

    pub fn new(tokens: u64) -> Self {
        Self(tokens).max(Self::MIN)
    }

    pub const fn get(self) -> u64 {
        self.0
    }

    /// The largest goal that is accepted, in tokens. The other half of the room is for diffs, failures and the rest.
    pub const fn max_goal_tokens(self) -> u64 {
        self.0.saturating_sub(OWN_WORDS) / 2
    }
}

/// Why there is no prompt: what a person wrote does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the goal and the remarks are about {tokens} tokens, but this prompt has room for {room}; raise \
     `models.max_prompt_tokens` (now {budget}), or start a run with a shorter goal"
)]
pub struct PromptTooLarge {
    pub tokens: u64,
    pub room: u64,
    pub budget: u64,
}

/// What happens to a section that does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overflow {
    /// It was written by a person, so it is never shortened.
    Reject,
    /// The start is kept.
    KeepStart,
    /// The end is kept, where logs say what went wrong.
    KeepEnd,
    /// The most relevant hunks of a diff are kept.
    KeepHunks,
}

/// A kind of section: text that others wrote, quoted as data.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SectionKind {
    /// The name in templates.
    pub(crate) name: &'static str,
    pub(crate) heading: &'static str,
    /// Sections with a lower number are filled first.
    pub(crate) priority: u8,
    /// The percentage of the room it gets in any case, if it needs it.
    pub(crate) min_share: u64,
    pub(crate) overflow: Overflow,
}

/// One section of a prompt.
#[derive(Debug, Clone)]
pub(crate) struct Section {
    kind: SectionKind,
    text: String,
    need: u64,
    /// Lines that were dropped before the text came here.
    omitted_before: u64,
}

/// A section as it is in the prompt, and what is missing from it.
pub(crate) struct Quoted {
    pub(crate) text: String,
    pub(crate) omission: Option<Omission>,
}

/// What a note about left-out text costs at most.
const NOTE: u64 = 32;

impl Section {
    pub(crate) fn new(kind: SectionKind, text: &str) -> Self {
        let text = sanitized(text);
        let need = estimate_tokens(&text);
        Self { kind, text, need, omitted_before: 0 }
    }

    pub(crate) fn with_omitted(self, lines: u64) -> Self {
        Self { omitted_before: lines, ..self }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.kind.name
    }

    /// The section without its text, with the longest fences: its overhead.
    pub(crate) fn frame(&self) -> String {
        quoted(self.kind.heading, "````````", "", "")
    }

    /// The section with at most `tokens` of its text.
    pub(crate) fn quoted(&self, tokens: u64, hints: &Hints) -> Quoted {
        let (kept, (count, unit)) = if tokens >= self.need {
            (self.text.clone(), (self.omitted_before, Unit::Lines))
        } else {
            match self.kind.overflow {
                Overflow::Reject | Overflow::KeepStart => {
                    self.counted(whole_lines(prefix_within(&self.text, tokens)))
                }
                Overflow::KeepEnd => self.counted(suffix_within(&self.text, tokens)),
                Overflow::KeepHunks => {
                    let (kept, omitted) = shorten_diff(&self.text, hints, tokens);
                    (kept, (omitted + self.omitted_before, Unit::Lines))
                }
            }
        };
        let note = if count == 0 { String::new() } else { left_out(count, unit) };
        let (before, after) = match self.kind.overflow {
            Overflow::KeepEnd => (note.as_str(), ""),
            Overflow::Reject | Overflow::KeepStart | Overflow::KeepHunks => ("", note.as_str()),
        };
        Quoted {
            text: quoted(self.kind.heading, &kept, before, after),
            omission: (count > 0).then_some(Omission { heading: self.kind.heading, count, unit }),
        }
    }

    /// A part of the text, with how much is missing: lines, or characters where not even one line is missing.
    fn counted(&self, kept: &str) -> (String, (u64, Unit)) {
        let lines = |text: &str| text.trim_end().lines().count() as u64;
        let missing_lines = lines(&self.text).saturating_sub(lines(kept)) + self.omitted_before;
        let characters = |text: &str| text.chars().count() as u64;
        let missing = match missing_lines {
            0 => (characters(&self.text).saturating_sub(characters(kept)), Unit::Characters),
            lines => (lines, Unit::Lines),
        };
        (kept.to_string(), missing)
    }
}

/// Without the last line, if it was cut in two and is not the only one.
fn whole_lines(text: &str) -> &str {
    match text.rsplit_once('\n') {
        Some((lines, rest)) if rest.len() < lines.len() => lines,
        Some(_) | None => text,
    }
}

/// How many tokens each section gets.
pub(crate) fn allocate(sections: &[Section], room: u64) -> Result<Vec<u64>, u64> {
    let is_required = |section: &Section| section.kind.overflow == Overflow::Reject;
    let required: u64 = sections.iter().filter(|section| is_required(section)).map(|one| one.need).sum();
    if required > room {
        return Err(required);
    }
    let need: u64 = sections.iter().map(|section| section.need).sum();
    // Where something must go, every other section may need a note.
    let notes = if need <= room { 0 } else { NOTE * sections.len() as u64 };
    let room = (room - required).saturating_sub(notes);
    let mut left = room;
    let mut allocated: Vec<u64> = Vec::with_capacity(sections.len());
    for section in sections {
        let tokens = if is_required(section) {
            section.need
        } else {
            let floor = section.need.min(room.saturating_mul(section.kind.min_share) / 100).min(left);
            left -= floor;
            floor
        };
        allocated.push(tokens);
    }
    let mut by_priority: Vec<(&Section, &mut u64)> = sections.iter().zip(&mut allocated).collect();
    by_priority.sort_by_key(|(section, _)| section.kind.priority);
    for (section, tokens) in by_priority {
        let more = (section.need - *tokens).min(left);
        *tokens += more;
        left -= more;
    }
    Ok(allocated)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kind(priority: u8, min_share: u64, overflow: Overflow) -> SectionKind {
        SectionKind { name: "section", heading: "Section", priority, min_share, overflow }
    }

    fn words(count: usize) -> String {
        "word ".repeat(count)
    }

    #[test]
    fn priorities_are_filled_and_minimum_shares_respected() {
        let need = Section::new(kind(1, 0, Overflow::KeepEnd), &words(100)).need;
        let sections = [
            Section::new(kind(2, 10, Overflow::KeepStart), &words(100)),
            Section::new(kind(1, 0, Overflow::KeepStart), &words(100)),
            Section::new(kind(3, 0, Overflow::KeepStart), "word"),
        ];
        assert_eq!(allocate(&sections, 10_000), Ok(vec![need, need, sections[2].need]));
        assert_eq!(allocate(&sections, need + 3 * NOTE), Ok(vec![need / 10, need - need / 10, 0]));
        assert_eq!(allocate(&sections, 0), Ok(vec![0, 0, 0]));
    }

    /// Catches cutting the goal to make room for anything else.
    #[test]
    fn what_a_person_wrote_is_complete_or_rejected() {
        let goal = Section::new(kind(1, 0, Overflow::Reject), &words(100));
        let need = goal.need;
        let sections = [Section::new(kind(0, 90, Overflow::KeepStart), &words(500)), goal];
        assert_eq!(allocate(&sections, need).map(|all| all[1]), Ok(need));
        assert_eq!(allocate(&sections, need - 1), Err(need));
    }

    #[test]
    fn a_shortened_section_says_where_and_how_much() {
        let text: String = (0..1500).map(|n| format!("line {n}\n")).collect();
        let hints = Hints::default();
        let section = |overflow| Section::new(kind(1, 0, overflow), &text);
        let start = section(Overflow::KeepStart).quoted(60, &hints).text;
        assert!(start.contains("line 0\n") && !start.contains("line 1499"), "{start}");
        assert!(start.ends_with("```\n[… 1,476 lines left out …]\n"), "{start}");
        let end = section(Overflow::KeepEnd).quoted(60, &hints).text;
        assert!(!end.contains("line 0\n") && end.contains("line 1499"), "{end}");
        assert!(end.starts_with("Section (data only):\n[… 1,4"), "{end}");
        let nothing = section(Overflow::KeepEnd).quoted(0, &hints).text;
        assert!(nothing.contains("[… 1,500 lines left out …]"), "{nothing}");
        let one_line = Section::new(kind(1, 0, Overflow::KeepStart), &"x".repeat(5000)).quoted(60, &hints);
        assert!(one_line.text.contains(" characters left out …]"), "{}", one_line.text);
        let complete = section(Overflow::KeepStart).with_omitted(1).quoted(100_000, &hints).text;
        assert!(complete.ends_with("[… 1 line left out …]\n"), "{complete}");
    }

    proptest! {
        /// Catches shares that are given out without looking at what is left, and notes that are not paid for.
        #[test]
        fn sections_fit_into_the_room(
            needs in prop::collection::vec((0_usize..300, 0_u8..4, 0_u64..60), 1..8),
            room in 0_u64..400,
        ) {
            let section = |(lines, priority, share): &(usize, u8, u64)| {
                Section::new(kind(*priority, *share, Overflow::KeepEnd), &"some words\n".repeat(*lines))
            };
            let sections: Vec<Section> = needs.iter().map(section).collect();
            let allocated = allocate(&sections, room).unwrap();
            let sizes = sections.iter().zip(allocated).map(|(section, tokens)| {
                estimate_tokens(&section.quoted(tokens, &Hints::default()).text)
            });
            let frames: u64 = sections.iter().map(|section| estimate_tokens(&section.frame())).sum();
            // Where there is no room even for the notes, they are all there is.
            let room = room.max(NOTE * sections.len() as u64);
            prop_assert!(sizes.sum::<u64>() <= frames + room);
        }
    }
}
