//! Whether an attempt got anywhere: exactly one kind of progress, by comparing sets of failures.
//!
//! A set is what still fails after an attempt. Failures known to be flaky are taken out of every set first, old
//! ones included, as soon as they are known. A set cut short by an earlier failure (`masked`) is compared only
//! with sets cut short as well. Invariant: what is remembered grows with the number of *different* sets.

use alloc::collections::BTreeSet;
use alloc::string::String;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an attempt came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProgressKind {
    /// The checks could not run.
    Infra,
    /// A person or an outside thing is awaited.
    Waiting,
    /// Nothing is left to do.
    Complete,
    /// There is nothing to compare with yet.
    First,
    /// The tree is as it was.
    NoChange,
    /// Fewer failures than ever, or no longer cut short.
    Progress,
    /// The same failures as before the attempt.
    Repeated,
    /// The same failures as some time ago.
    Oscillating,
    /// All the failures there were, and more; or cut short now.
    Regressed,
    /// Other failures.
    Changed,
}

impl ProgressKind {
    /// The word for it, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Infra => "infra",
            Self::Waiting => "waiting",
            Self::Complete => "complete",
            Self::First => "first",
            Self::NoChange => "no_change",
            Self::Progress => "progress",
            Self::Repeated => "repeated",
            Self::Oscillating => "oscillating",
            Self::Regressed => "regressed",
            Self::Changed => "changed",
        }
    }
}

/// What fails, and whether something may be hidden behind it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct FailureSet {
    /// The failures, by fingerprint.
    pub fingerprints: BTreeSet<String>,
    /// Whether the checks were cut short (a compile error, a stop at the first failure).
    pub masked: bool,
}

impl FailureSet {
    fn without(&self, flaky: &BTreeSet<String>) -> Self {
        let fingerprints = self.fingerprints.difference(flaky).cloned().collect();
        Self { fingerprints, masked: self.masked }
    }
}

/// What earlier attempts left failing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Memory {
    previous: Option<FailureSet>,
    earlier: BTreeSet<FailureSet>,
    fewest: Option<usize>,
    fewest_masked: Option<usize>,
    flaky: BTreeSet<String>,
}

impl Memory {
    /// A memory that begins with what the goals failed at before the first attempt, where there are goals.
    pub fn beginning_with(before: Option<FailureSet>) -> Self {
        let mut memory = Self::default();
        if let Some(before) = before {
            memory.remember(before);
        }
        memory
    }

    /// Takes failures known to be flaky out of everything remembered.
    pub fn forget_flaky<'a>(&mut self, flaky: impl IntoIterator<Item = &'a String>) {
        let known = self.flaky.len();
        self.flaky.extend(flaky.into_iter().cloned());
        if self.flaky.len() == known {
            return;
        }
        self.previous = self.previous.as_ref().map(|set| set.without(&self.flaky));
        let earlier = core::mem::take(&mut self.earlier);
        (self.fewest, self.fewest_masked) = (None, None);
        for set in earlier {
            self.insert(set.without(&self.flaky));
        }
    }

    /// What an attempt with this set comes to, given failures that are known to be flaky only now. The kinds that
    /// need no set (`infra`, `waiting`, `complete`, `no_change`) are told apart by the controller.
    pub fn compare(&self, current: &FailureSet, newly_flaky: &BTreeSet<String>) -> ProgressKind {
        if newly_flaky.is_subset(&self.flaky) {
            return self.kind_of(&current.without(&self.flaky));
        }
        let mut aware = self.clone();
        aware.forget_flaky(newly_flaky);
        aware.kind_of(&current.without(&aware.flaky))
    }

    /// Whether anything can be compared with.
    pub const fn is_empty(&self) -> bool {
        self.previous.is_none()
    }

    /// Remembers a set as the last one.
    pub fn remember(&mut self, set: FailureSet) {
        let set = set.without(&self.flaky);
        self.insert(set.clone());
        self.previous = Some(set);
    }

    fn insert(&mut self, set: FailureSet) {
        let size = set.fingerprints.len();
        let fewest = if set.masked { &mut self.fewest_masked } else { &mut self.fewest };
        *fewest = Some(fewest.map_or(size, |fewest| fewest.min(size)));
        self.earlier.insert(set);
    }

    fn kind_of(&self, current: &FailureSet) -> ProgressKind {
        let Some(previous) = &self.previous else { return ProgressKind::First };
        let fewest_comparable = if current.masked { self.fewest_masked } else { self.fewest };
        if previous.masked && !current.masked
            || fewest_comparable.is_some_and(|fewest| current.fingerprints.len() < fewest)
        {
            ProgressKind::Progress
        } else if current == previous {
            ProgressKind::Repeated
        } else if self.earlier.contains(current) {
            ProgressKind::Oscillating
        } else if current.masked && !previous.masked
            || current.masked == previous.masked && current.fingerprints.is_superset(&previous.fingerprints)
        {
            ProgressKind::Regressed
        } else {
            ProgressKind::Changed
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    fn set(names: &str) -> FailureSet {
        let masked = names.starts_with('!');
        let fingerprints = names.trim_start_matches('!').chars().map(|name| name.to_string()).collect();
        FailureSet { fingerprints, masked }
    }

    fn next(memory: &mut Memory, names: &str) -> ProgressKind {
        let kind = memory.compare(&set(names), &BTreeSet::new());
        memory.remember(set(names));
        kind
    }

    fn kinds(before: Option<&str>, sets: &[&str]) -> Vec<ProgressKind> {
        let mut memory = Memory::beginning_with(before.map(set));
        sets.iter().map(|names| next(&mut memory, names)).collect()
    }

    #[test]
    fn kinds_of_progress() {
        use ProgressKind::*;
        assert_eq!(
            kinds(None, &["ab", "ab", "a", "b", "ab"]),
            [First, Repeated, Progress, Changed, Oscillating]
        );
        assert_eq!(kinds(Some("abc"), &["ab", "cd", "c", "de"]), [Progress, Changed, Progress, Changed]);
        assert_eq!(kinds(Some("a"), &["ab", "a"]), [Regressed, Oscillating]);
        assert_eq!(kinds(Some(""), &["a"]), [Regressed]);
        assert_eq!(kinds(Some("abc"), &["ab", "abcd", "abc"]), [Progress, Regressed, Oscillating]);
    }

    #[test]
    fn a_memory_is_empty_until_there_is_something_to_compare_with() {
        assert!(Memory::beginning_with(None).is_empty());
        assert!(!Memory::beginning_with(Some(set(""))).is_empty(), "goals that all pass are something");
    }

    #[test]
    fn masked_sets_are_compared_with_masked_ones_only() {
        use ProgressKind::*;
        assert_eq!(kinds(Some("!c"), &["abc"]), [Progress], "past a compile error to failing tests");
        assert_eq!(kinds(Some("abc"), &["!c"]), [Regressed], "fewer, but only because it does not compile");
        assert_eq!(kinds(Some("!cd"), &["!c", "!d"]), [Progress, Changed]);
        assert_eq!(kinds(Some("a"), &["!a", "a"]), [Regressed, Progress], "out of the mask again");
        assert_eq!(kinds(Some("!ab"), &["abc", "!a"]), [Progress, Progress], "fewer than any masked set");
    }

    #[test]
    fn flaky_failures_are_taken_out_of_old_sets_too() {
        let mut memory = Memory::beginning_with(Some(set("abf")));
        let flaky = BTreeSet::from(["f".to_string()]);
        assert_eq!(memory.compare(&set("ab"), &flaky), ProgressKind::Repeated);
        assert_eq!(memory.compare(&set("ab"), &BTreeSet::new()), ProgressKind::Progress, "f still counts");
        memory.forget_flaky(&flaky);
        assert_eq!(next(&mut memory, "ab"), ProgressKind::Repeated);
        assert_eq!(next(&mut memory, "abf"), ProgressKind::Repeated);
        assert_eq!(next(&mut memory, "af"), ProgressKind::Progress);
    }
}
