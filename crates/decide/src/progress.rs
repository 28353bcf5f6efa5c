//! Whether an attempt got anywhere: exactly one kind of progress, by comparing sets of failures.
//!
//! A set is what still fails after an attempt. Failures known to be flaky are taken out of every set first, old
//! ones included, as soon as they are known. A set cut short by an earlier failure (`masked`) is compared only
//! with sets cut short as well. Invariant: what is remembered grows with the number of *different* sets.

use crate::prelude::*;
use fixpoint_vocabulary::work::Fingerprint;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How an attempt compares with those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProgressKind {
    /// The checks could not run, or lack something in their environment.
    Infra,
    /// The checks only ran again.
    Rerun,
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
            Self::Rerun => "rerun",
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
    pub fingerprints: BTreeSet<Fingerprint>,
    /// The files changed outside the scope: each is a failure too.
    pub out_of_scope: BTreeSet<String>,
    /// Whether the checks were cut short (a compile error, a stop at the first failure).
    pub masked: bool,
}

impl FailureSet {
    fn without(&self, flaky: &BTreeSet<Fingerprint>) -> Self {
        let fingerprints = self.fingerprints.difference(flaky).cloned().collect();
        Self { fingerprints, out_of_scope: self.out_of_scope.clone(), masked: self.masked }
    }

    fn len(&self) -> usize {
        self.fingerprints.len() + self.out_of_scope.len()
    }

    fn is_superset(&self, other: &Self) -> bool {
        self.fingerprints.is_superset(&other.fingerprints)
            && self.out_of_scope.is_superset(&other.out_of_scope)
    }
}

/// What earlier attempts left failing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FailureHistory {
    previous: Option<FailureSet>,
    earlier: BTreeSet<FailureSet>,
    fewest: Option<usize>,
    fewest_masked: Option<usize>,
    flaky: BTreeSet<Fingerprint>,
}

impl FailureHistory {
    /// A history that begins with what the goals failed at before the first attempt, where there are goals.
    pub fn beginning_with(before: Option<FailureSet>) -> Self {
        let mut history = Self::default();
        if let Some(before) = before {
            history.remember(before);
        }
        history
    }

    /// Takes failures known to be flaky out of everything remembered.
    pub fn forget_flaky<'a>(&mut self, flaky: impl IntoIterator<Item = &'a Fingerprint>) {
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

    /// How a set compares with the sets before it, given failures that are known to be flaky only now. The kinds that
    /// need no set (`infra`, `waiting`, `complete`, `no_change`) are the controller's.
    pub fn compare(&self, current: &FailureSet, newly_flaky: &BTreeSet<Fingerprint>) -> ProgressKind {
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
        let size = set.len();
        let fewest = if set.masked { &mut self.fewest_masked } else { &mut self.fewest };
        *fewest = Some(fewest.map_or(size, |fewest| fewest.min(size)));
        self.earlier.insert(set);
    }

    fn kind_of(&self, current: &FailureSet) -> ProgressKind {
        let Some(previous) = &self.previous else { return ProgressKind::First };
        let fewest_comparable = if current.masked { self.fewest_masked } else { self.fewest };
        if previous.masked && !current.masked
            || fewest_comparable.is_some_and(|fewest| current.len() < fewest)
        {
            ProgressKind::Progress
        } else if current == previous {
            ProgressKind::Repeated
        } else if self.earlier.contains(current) {
            ProgressKind::Oscillating
        } else if current.masked && !previous.masked
            || current.masked == previous.masked && current.is_superset(previous)
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

    /// Failures by letter, files outside the scope in capitals; `!` for a set that was cut short.
    fn set(names: &str) -> FailureSet {
        let masked = names.starts_with('!');
        let is_path = |name: &char| name.is_uppercase();
        let names = names.trim_start_matches('!').chars();
        let (outside, fingerprints): (String, String) = names.partition(is_path);
        FailureSet {
            fingerprints: fingerprints.chars().map(|name| Fingerprint(name.to_string())).collect(),
            out_of_scope: outside.chars().map(|path| path.to_string()).collect(),
            masked,
        }
    }

    fn next(history: &mut FailureHistory, names: &str) -> ProgressKind {
        let kind = history.compare(&set(names), &BTreeSet::new());
        history.remember(set(names));
        kind
    }

    fn kinds(before: Option<&str>, sets: &[&str]) -> Vec<ProgressKind> {
        let mut history = FailureHistory::beginning_with(before.map(set));
        sets.iter().map(|names| next(&mut history, names)).collect()
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
        assert!(FailureHistory::beginning_with(None).is_empty());
        assert!(
            !FailureHistory::beginning_with(Some(set(""))).is_empty(),
            "goals that all pass are something"
        );
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
    fn files_outside_the_scope_count_like_failures() {
        use ProgressKind::*;
        assert_eq!(kinds(Some("ab"), &["aX", "a", "aX"]), [Changed, Progress, Oscillating]);
        assert_eq!(kinds(Some("a"), &["aX", "aXY"]), [Regressed, Regressed]);
    }

    #[test]
    fn flaky_failures_are_taken_out_of_old_sets_too() {
        let mut history = FailureHistory::beginning_with(Some(set("abf")));
        let flaky = BTreeSet::from([Fingerprint::from("f")]);
        assert_eq!(history.compare(&set("ab"), &flaky), ProgressKind::Repeated);
        assert_eq!(history.compare(&set("ab"), &BTreeSet::new()), ProgressKind::Progress, "f still counts");
        history.forget_flaky(&flaky);
        assert_eq!(next(&mut history, "ab"), ProgressKind::Repeated);
        assert_eq!(next(&mut history, "abf"), ProgressKind::Repeated);
        assert_eq!(next(&mut history, "af"), ProgressKind::Progress);
    }
}
