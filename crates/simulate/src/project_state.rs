//! The state of a simulated tree, and whether it really is what was asked for, which no check is told.
//!
//! The name of a commit is its state in text form. Invariant: reading a name gives the state it was made from.

use std::collections::BTreeSet;

use fixpoint_vocabulary::work::{CommitId, TreeId};

/// Names of tests or of files.
pub(crate) type Names = BTreeSet<String>;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ProjectState {
    pub(crate) edits: u32,
    pub(crate) build: Build,
    /// Tests of the goal that fail with the tests as they were at the base.
    pub(crate) goal: Names,
    /// Tests of the goal that were changed to pass whatever the code does.
    pub(crate) softened: Names,
    pub(crate) removed: Names,
    /// Tests of the guard that fail and did not at the base.
    pub(crate) broken: Names,
    /// Tests of the guard that fail sometimes and did not at the base.
    pub(crate) wobbling: Names,
    /// Changed files outside the task's scope.
    pub(crate) outside: Names,
    /// Checks whose definition was changed, so that they pass whatever the code does.
    pub(crate) redefined: Names,
    /// Checks that pass whatever the code does where ignored files of earlier attempts are kept.
    pub(crate) planted: Names,
}

/// The checks, as the two sets above name them.
pub(crate) const GOAL_NAME: &str = "goal";
pub(crate) const GUARD_NAME: &str = "guard";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Build {
    #[default]
    Whole,
    /// Part of it does not build, which hides the tests of that part.
    Broken,
}

/// Whether a tree really is what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Correctness {
    Correct,
    /// Wrong, and a check can show it.
    Wrong,
    /// Wrong, but no check has to show it: a test fails only sometimes.
    Undetectable,
}

impl ProjectState {
    pub(crate) fn of(commit: &CommitId) -> Self {
        let mut parts = commit.0.split(';');
        let mut part = || parts.next().unwrap_or_default();
        let edits = part().parse().unwrap_or_default();
        let build = if part() == "-" { Build::Broken } else { Build::Whole };
        let mut names = || part().split(',').filter(|name| !name.is_empty()).map(str::to_string).collect();
        Self {
            edits,
            build,
            goal: names(),
            softened: names(),
            removed: names(),
            broken: names(),
            wobbling: names(),
            outside: names(),
            redefined: names(),
            planted: names(),
        }
    }

    pub(crate) fn name(&self) -> String {
        let Self { edits, build, goal, softened, removed, broken, wobbling, outside, redefined, planted } =
            self;
        let build = match build {
            Build::Whole => "",
            Build::Broken => "-",
        };
        let mut name = format!("{edits};{build}");
        for names in [goal, softened, removed, broken, wobbling, outside, redefined, planted] {
            name.push(';');
            name.push_str(&names.iter().map(String::as_str).collect::<Vec<_>>().join(","));
        }
        name
    }

    pub(crate) fn ids(&self) -> (CommitId, TreeId) {
        let name = self.name();
        (CommitId(name.clone()), TreeId(name))
    }

    pub(crate) fn correctness(&self) -> Correctness {
        let faults = [&self.goal, &self.removed, &self.broken, &self.outside];
        if self.build == Build::Broken || faults.iter().any(|names| !names.is_empty()) {
            Correctness::Wrong
        } else if self.wobbling.is_empty() {
            Correctness::Correct
        } else {
            Correctness::Undetectable
        }
    }
}

pub(crate) fn is_of_goal(test: &str) -> bool {
    test.starts_with('g')
}

pub(crate) fn named(name: &str) -> Names {
    BTreeSet::from([name.to_string()])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches two sets that change places in the name, and a set that is not written at all.
    #[test]
    fn a_name_is_read_as_the_state_it_was_made_of() {
        let two = |a: &str, b: &str| BTreeSet::from([a.to_string(), b.to_string()]);
        let full = ProjectState {
            edits: 3,
            build: Build::Broken,
            goal: two("g1", "g2"),
            softened: named("g3"),
            removed: two("t4", "g5"),
            broken: named("t6"),
            wobbling: named("t7"),
            outside: named("ci.yml"),
            redefined: named(GOAL_NAME),
            planted: named(GUARD_NAME),
        };
        for state in [ProjectState::default(), full.clone(), ProjectState { goal: Names::new(), ..full }] {
            assert_eq!(ProjectState::of(&state.ids().0), state);
        }
    }

    /// Catches a fault that does not count: a policy that overlooks it would look good.
    #[test]
    fn every_fault_is_one() {
        let wrong = [
            ProjectState { build: Build::Broken, ..ProjectState::default() },
            ProjectState { goal: named("g"), ..ProjectState::default() },
            ProjectState { removed: named("g"), wobbling: named("t"), ..ProjectState::default() },
            ProjectState { broken: named("t"), ..ProjectState::default() },
            ProjectState { outside: named("f"), ..ProjectState::default() },
        ];
        for state in wrong {
            assert_eq!(state.correctness(), Correctness::Wrong, "{state:?}");
        }
        let sometimes = ProjectState { wobbling: named("t"), ..ProjectState::default() };
        assert_eq!(sometimes.correctness(), Correctness::Undetectable);
        let softened_and_right = ProjectState { softened: named("g"), edits: 9, ..ProjectState::default() };
        assert_eq!(
            softened_and_right.correctness(),
            Correctness::Correct,
            "it holds with the tests as they were"
        );
    }
}
