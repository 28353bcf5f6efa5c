//! What a made-up tree is like, and the truth about it, which no check is told.
//!
//! The name of a commit is its state, written down: whoever has the name has the tree. Invariant: reading a name gives
//! the state it was made of.

use std::collections::BTreeSet;

use fixpoint_vocabulary::work::{CommitId, TreeId};

/// Names of tests or of files.
pub(crate) type Names = BTreeSet<String>;

/// What a tree is like.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct State {
    /// How often somebody changed something.
    pub(crate) edits: u32,
    /// Whether it can be built.
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
    /// Changed files that are none of the task's business.
    pub(crate) outside: Names,
}

/// Whether a tree can be built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Build {
    #[default]
    Whole,
    /// Part of it cannot, which hides what the tests of that part would say.
    Broken,
}

/// Whether a tree is what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Truth {
    Done,
    /// It is not, and a check that looks can show it.
    Undone,
    /// It is not, and nothing that ran need have shown it: a test that fails only sometimes, or a test of the guard
    /// that is gone and was never seen, since the base did not build.
    Unseen,
}

impl State {
    /// The state a commit is the name of.
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
        }
    }

    pub(crate) fn name(&self) -> String {
        let Self { edits, build, goal, softened, removed, broken, wobbling, outside } = self;
        let build = match build {
            Build::Whole => "",
            Build::Broken => "-",
        };
        let mut name = format!("{edits};{build}");
        for names in [goal, softened, removed, broken, wobbling, outside] {
            name.push(';');
            for (place, each) in names.iter().enumerate() {
                if place > 0 {
                    name.push(',');
                }
                name.push_str(each);
            }
        }
        name
    }

    /// The commit and the tree it is.
    pub(crate) fn ids(&self) -> (CommitId, TreeId) {
        let name = self.name();
        (CommitId(name.clone()), TreeId(name))
    }

    /// The truth about it, where the base could be built or not.
    pub(crate) fn truth(&self, base: Build) -> Truth {
        let was_seen = |test: &&String| base == Build::Whole || is_of_goal(test);
        let (seen, unseen): (Vec<&String>, Vec<&String>) = self.removed.iter().partition(was_seen);
        let is_wrong = self.build == Build::Broken
            || !seen.is_empty()
            || [&self.goal, &self.broken, &self.outside].iter().any(|names| !names.is_empty());
        if is_wrong {
            Truth::Undone
        } else if self.wobbling.is_empty() && unseen.is_empty() {
            Truth::Done
        } else {
            Truth::Unseen
        }
    }
}

/// Whether a test belongs to the goal.
pub(crate) fn is_of_goal(test: &str) -> bool {
    test.starts_with('g')
}

/// A set of one name.
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
        let full = State {
            edits: 3,
            build: Build::Broken,
            goal: two("g1", "g2"),
            softened: named("g3"),
            removed: two("t4", "g5"),
            broken: named("t6"),
            wobbling: named("t7"),
            outside: named("ci.yml"),
        };
        for state in [State::default(), full.clone(), State { goal: Names::new(), ..full }] {
            assert_eq!(State::of(&state.ids().0), state);
        }
    }

    /// Catches a fault that is left out of the truth: a policy that overlooks it would be praised.
    #[test]
    fn every_fault_is_one() {
        let wrong = [
            State { build: Build::Broken, ..State::default() },
            State { goal: named("g"), ..State::default() },
            State { removed: named("g"), wobbling: named("t"), ..State::default() },
            State { broken: named("t"), ..State::default() },
            State { outside: named("f"), ..State::default() },
        ];
        for state in wrong {
            for base in [Build::Whole, Build::Broken] {
                assert_eq!(state.truth(base), Truth::Undone, "{state:?}");
            }
        }
        let sometimes = State { wobbling: named("t"), ..State::default() };
        assert_eq!(sometimes.truth(Build::Whole), Truth::Unseen);
        let gone = State { removed: named("t"), ..State::default() };
        assert_eq!((gone.truth(Build::Whole), gone.truth(Build::Broken)), (Truth::Undone, Truth::Unseen));
        let softened_and_right = State { softened: named("g"), edits: 9, ..State::default() };
        assert_eq!(
            softened_and_right.truth(Build::Whole),
            Truth::Done,
            "it holds with the tests as they were"
        );
    }
}
