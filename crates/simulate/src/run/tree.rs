//! A simulated tree of a run: a set of changes, each with a short name. A merge is their union.
//!
//! The name of a commit is its tree in text form. Invariant: reading a name gives the tree it was made from, and a merge
//! contains every change of both sides.

use std::collections::BTreeSet;

use fixpoint_vocabulary::work::{Base, CommitId, TreeId};

/// A path outside every scope.
pub(crate) const OUTSIDE: &str = "ci.yml";
/// The file in which results conflict in text.
pub(crate) const SHARED: &str = "shared.txt";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Step {
    pub(crate) part: u32,
    pub(crate) step: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Tree(BTreeSet<String>);

impl Tree {
    pub(crate) fn of(commit: &CommitId) -> Self {
        Self(commit.0.split(' ').filter(|change| !change.is_empty()).map(str::to_string).collect())
    }

    pub(crate) fn base(&self) -> Base {
        let name = self.0.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
        Base { commit: CommitId(name.clone()), tree: TreeId(name) }
    }

    fn has(&self, change: &str) -> bool {
        self.0.contains(change)
    }

    #[cfg(test)]
    pub(crate) fn holds(&self, other: &Self) -> bool {
        self.0.is_superset(&other.0)
    }

    pub(crate) fn is_stepped(&self, step: Step) -> bool {
        self.has(&format!("f{}.{}", step.part, step.step))
    }

    pub(crate) fn step(&mut self, step: Step) {
        self.0.insert(format!("f{}.{}", step.part, step.step));
    }

    pub(crate) fn has_line(&self, part: u32) -> bool {
        self.has(&format!("l{part}"))
    }

    pub(crate) fn add_line(&mut self, part: u32) {
        self.0.insert(format!("l{part}"));
    }

    pub(crate) fn lose_a_line(&mut self) {
        let last = self.0.iter().rfind(|change| change.starts_with('l')).cloned();
        self.0.retain(|change| Some(change) != last.as_ref());
    }

    /// A change without any effect.
    pub(crate) fn touch(&mut self, by: &str, number: u32) {
        self.0.insert(format!("x{}.{number}", by.replace(' ', "_")));
    }

    pub(crate) fn break_test(&mut self, test: u32) {
        self.0.insert(format!("b{test}"));
    }

    pub(crate) fn mend_test(&mut self, test: u32) {
        self.0.insert(format!("u{test}"));
    }

    /// Tests of the guard that are broken.
    pub(crate) fn broken(&self) -> impl Iterator<Item = u32> {
        let tests = self.0.iter().filter_map(|change| change.strip_prefix('b')?.parse().ok());
        tests.filter(|test: &u32| !self.has(&format!("u{test}")))
    }

    pub(crate) fn is_compatible(&self, part: u32) -> bool {
        self.has(&format!("h{part}"))
    }

    /// Makes a part compatible with the next one.
    pub(crate) fn make_compatible(&mut self, part: u32) {
        self.0.insert(format!("h{part}"));
    }

    pub(crate) fn edit_outside(&mut self) {
        self.0.insert("o".to_string());
    }

    pub(crate) fn has_edits_outside(&self) -> bool {
        self.has("o")
    }

    pub(crate) fn restore_outside(&mut self) {
        self.0.remove("o");
    }

    /// Whether it contains conflict markers.
    pub(crate) fn is_marked(&self) -> bool {
        self.has("m")
    }

    pub(crate) fn unmark(&mut self) {
        self.0.remove("m");
    }

    /// A merge conflicts if each side has lines in the shared file that the other does not have.
    pub(crate) fn merged(&self, other: &Self) -> Self {
        let lines = |tree: &Self| -> BTreeSet<String> {
            tree.0.iter().filter(|change| change.starts_with('l')).cloned().collect()
        };
        let (ours, theirs) = (lines(self), lines(other));
        let mut merged = Self(self.0.union(&other.0).cloned().collect());
        if !ours.is_subset(&theirs) && !theirs.is_subset(&ours) {
            merged.0.insert("m".to_string());
        }
        merged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(changes: &str) -> Tree {
        Tree::of(&CommitId(changes.to_string()))
    }

    /// Catches a merge that drops a side's change, and a conflict that is not marked.
    #[test]
    fn a_merge_holds_both_sides() {
        for (ours, theirs, is_marked) in
            [("f0.1 l0", "f1.1 l1", true), ("f0.1", "f1.1 l1", false), ("l0 l1", "l1 f2.2", false)]
        {
            let merged = tree(ours).merged(&tree(theirs));
            assert!(merged.holds(&tree(ours)) && merged.holds(&tree(theirs)), "{ours} + {theirs}");
            assert_eq!(merged.is_marked(), is_marked, "{ours} + {theirs}");
            assert_eq!(Tree::of(&merged.base().commit), merged);
        }
    }

    #[test]
    fn what_was_mended_is_not_broken() {
        assert_eq!(tree("b1 b2 u1").broken().collect::<Vec<_>>(), [2]);
    }
}
