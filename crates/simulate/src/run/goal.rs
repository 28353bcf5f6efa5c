//! A simulated goal: its parts and their steps, which parts conflict, and whether a tree really reaches the goal.
//!
//! The description of a task names its steps (`do p0:2 p1:1`: the first two steps of part 0 and the first of part 1), so
//! that planner, agents and judges need nothing else.

use std::collections::BTreeSet;

use super::parameters::PARAMETERS;
use super::tree::{Step, Tree};
use crate::random::Random;

/// The command that must show nothing new.
pub(crate) const GUARD: &str = "guard";
/// The command that must pass in the end.
pub(crate) const EVERYTHING: &str = "check everything";
/// The test of the guard that fails at the base.
const KNOWN: &str = "g_known";
pub(crate) const GUARD_TESTS: u32 = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) steps: u32,
    /// Whether it writes a line into the shared file.
    pub(crate) is_sharing: bool,
    /// Whether it fails together with the next part.
    pub(crate) is_clashing: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SimulatedGoal {
    pub(crate) seed: u64,
    pub(crate) parts: Vec<Part>,
    has_known_failure: bool,
}

pub(crate) fn between([least, most]: [u32; 2], random: &mut Random) -> u32 {
    let span = u64::from(most.saturating_sub(least)) + 1;
    least + u32::try_from(random.next_u64() % span).unwrap_or(0)
}

/// The first steps of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StepRange {
    pub(crate) part: u32,
    pub(crate) upto: u32,
}

impl StepRange {
    /// Its form in descriptions and commands.
    pub(crate) fn name(self) -> String {
        format!("p{}:{}", self.part, self.upto)
    }

    pub(crate) fn named_in(text: &str) -> BTreeSet<Self> {
        let range = |word: &str| {
            let (part, upto) = word.strip_prefix('p')?.split_once(':')?;
            Some(Self { part: part.parse().ok()?, upto: upto.parse().ok()? })
        };
        text.split_whitespace().filter_map(range).collect()
    }

    fn steps(self) -> impl Iterator<Item = Step> {
        (1..=self.upto).map(move |step| Step { part: self.part, step })
    }

    pub(crate) fn scope(self) -> String {
        format!("src/p{}/**", self.part)
    }
}

impl SimulatedGoal {
    pub(crate) fn new(seed: u64) -> Self {
        let goal = &PARAMETERS.goal;
        let mut random = Random::keyed(seed, "goal");
        let parts = between(goal.parts, &mut random);
        let part = |_| Part {
            steps: between(goal.steps, &mut random),
            is_sharing: random.unit() < goal.shares_text,
            is_clashing: random.unit() < goal.clashes,
        };
        let parts = (0..parts).map(part).collect();
        let has_known_failure = Random::keyed(seed, "known").unit() < goal.known_failure;
        Self { seed, parts, has_known_failure }
    }

    /// All steps of all parts.
    pub(crate) fn ranges(&self) -> Vec<StepRange> {
        (0u32..).zip(&self.parts).map(|(part, whole)| StepRange { part, upto: whole.steps }).collect()
    }

    fn part(&self, number: u32) -> Option<Part> {
        self.parts.get(number as usize).copied()
    }

    pub(crate) fn is_sharing(&self, part: u32) -> bool {
        self.part(part).is_some_and(|part| part.is_sharing)
    }

    pub(crate) fn missing(&self, range: StepRange, tree: &Tree) -> Vec<Step> {
        range.steps().filter(|step| !tree.is_stepped(*step)).collect()
    }

    pub(crate) fn is_met(&self, range: StepRange, tree: &Tree) -> bool {
        self.missing(range, tree).is_empty() && (!self.is_sharing(range.part) || tree.has_line(range.part))
    }

    pub(crate) fn unmet(&self, tree: &Tree) -> Vec<StepRange> {
        self.ranges().into_iter().filter(|range| !self.is_met(*range, tree)).collect()
    }

    /// Parts that are complete and fail together with the next one.
    fn clashes<'a>(&'a self, tree: &'a Tree) -> impl Iterator<Item = u32> + 'a {
        let whole = |part: u32| {
            self.part(part)
                .is_some_and(|whole| self.missing(StepRange { part, upto: whole.steps }, tree).is_empty())
        };
        let clashing = (0u32..).zip(&self.parts).filter(|(_, part)| part.is_clashing);
        clashing
            .map(|(number, _)| number)
            .filter(move |part| whole(*part) && whole(part + 1) && !tree.is_compatible(*part))
    }

    pub(crate) fn is_reached(&self, tree: &Tree) -> bool {
        self.unmet(tree).is_empty() && self.is_clean(tree)
    }

    /// Whether nothing is wrong but missing steps.
    pub(crate) fn is_clean(&self, tree: &Tree) -> bool {
        tree.broken().next().is_none()
            && self.clashes(tree).next().is_none()
            && !tree.has_edits_outside()
            && !tree.is_marked()
    }

    /// The tests that fail when a command is run on a tree, and how many tests it has.
    pub(crate) fn failing(&self, command: &str, tree: &Tree) -> (BTreeSet<String>, u32) {
        if command == GUARD {
            let broken = tree.broken().map(|test| format!("g{test}"));
            let clashing = self.clashes(tree).map(|part| format!("clash{part}"));
            let known = self.has_known_failure.then(|| KNOWN.to_string());
            return (broken.chain(clashing).chain(known).collect(), GUARD_TESTS + 8);
        }
        let ranges: BTreeSet<StepRange> = match command {
            EVERYTHING => self.ranges().into_iter().collect(),
            other => StepRange::named_in(other),
        };
        let mut failing = BTreeSet::new();
        for range in &ranges {
            let missing = self.missing(*range, tree);
            failing.extend(missing.iter().map(|Step { part, step }| format!("p{part}_s{step}")));
            if self.is_sharing(range.part) && !tree.has_line(range.part) {
                failing.insert(format!("p{}_line", range.part));
            }
        }
        let all: u32 = ranges.iter().map(|range| range.upto + 1).sum();
        (failing, all.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixpoint_vocabulary::work::CommitId;

    /// Catches a fault that does not count: a run that overlooks it would look good.
    #[test]
    fn every_fault_counts() {
        let part = Part { steps: 1, is_sharing: true, is_clashing: true };
        let goal = SimulatedGoal {
            seed: 0,
            parts: vec![part, Part { is_clashing: false, ..part }],
            has_known_failure: false,
        };
        let is_reached = |changes: &str| goal.is_reached(&Tree::of(&CommitId(changes.to_string())));
        assert!(is_reached("f0.1 f1.1 l0 l1 h0"));
        for wrong in [
            "f1.1 l0 l1 h0",
            "f0.1 f1.1 l0 h0",
            "f0.1 f1.1 l0 l1",
            "f0.1 f1.1 l0 l1 h0 b3",
            "f0.1 f1.1 l0 l1 h0 o",
            "f0.1 f1.1 l0 l1 h0 m",
        ] {
            assert!(!is_reached(wrong), "{wrong}");
        }
    }

    #[test]
    fn pieces_are_read_as_they_are_written() {
        let range = StepRange { part: 3, upto: 2 };
        assert_eq!(StepRange::named_in(&format!("do {} and p:x", range.name())), BTreeSet::from([range]));
    }
}
