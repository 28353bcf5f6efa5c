//! What an attempt broke, compared with what was broken before.
//!
//! Failures are compared by what fails: by test, or by fingerprint where there is no test. `fixpoint decide` knows
//! them as text, the engine as `&FailureId`; the rules are the same, so they are generic. Every failure now is exactly
//! one of new, known, flaky or newly flaky; what does not fail now is fixed, vanished, or of no interest.

use crate::prelude::*;
use fixpoint_vocabulary::Localize;
use fixpoint_vocabulary::settings::NewlyFlaky;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What failed before, and what fails now.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(rename = "Question")]
pub struct Question<Id: Ord = String> {
    /// What failed in each run at the base.
    #[schemars(with = "Vec<Vec<String>>")]
    pub baseline_runs: Vec<BTreeSet<Id>>,
    /// What fails now.
    #[schemars(with = "Vec<String>")]
    pub current: BTreeSet<Id>,
    /// What failed in each further run of what looked new.
    #[serde(default)]
    #[schemars(with = "Vec<Vec<String>>")]
    pub confirm_runs: Vec<BTreeSet<Id>>,
    /// What passed at the base.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub passing_before: BTreeSet<Id>,
    /// What was observed now, passing or failing; absent: not known.
    #[serde(default)]
    #[schemars(with = "Option<Vec<String>>")]
    pub present_now: Option<BTreeSet<Id>>,
    /// Whether a newly flaky failure blocks.
    #[serde(default)]
    pub newly_flaky: NewlyFlaky,
}

/// Where each failure belongs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Answer")]
pub struct Answer<Id: Ord = String> {
    /// Fails now, every time, and did not at the base (or only sometimes).
    pub new: BTreeSet<Id>,
    /// Fails now as it did in every run at the base.
    pub known: BTreeSet<Id>,
    /// Failed in every run at the base and is observed passing now.
    pub fixed: BTreeSet<Id>,
    /// Fails now as it sometimes did at the base.
    pub flaky: BTreeSet<Id>,
    /// Fails sometimes now and never did at the base.
    pub newly_flaky: BTreeSet<Id>,
    /// Passed at the base and is no longer run.
    pub vanished: BTreeSet<Id>,
    /// Whether nothing stands in the way.
    pub complete: bool,
}

impl<Id: Ord> Localize for Answer<Id> {}

/// Sorts the failures of now by what was before.
pub fn decide<Id: Ord + Clone>(question: &Question<Id>) -> Answer<Id> {
    let before = Before::of(&question.baseline_runs);
    let mut answer = Answer {
        new: BTreeSet::new(),
        known: BTreeSet::new(),
        fixed: before.always.iter().filter(|id| is_observed_passing(question, id)).cloned().collect(),
        flaky: BTreeSet::new(),
        newly_flaky: BTreeSet::new(),
        vanished: question.passing_before.iter().filter(|id| is_gone(question, id)).cloned().collect(),
        complete: false,
    };
    for failure in &question.current {
        let group = match (before.of_failure(failure), now(question, failure)) {
            (FailedBefore::Always, _) => &mut answer.known,
            (FailedBefore::Never, Now::Unconfirmed | Now::EveryTime)
            | (FailedBefore::Sometimes, Now::EveryTime) => &mut answer.new,
            (FailedBefore::Never, Now::Sometimes) => &mut answer.newly_flaky,
            (FailedBefore::Sometimes, Now::Unconfirmed | Now::Sometimes) => &mut answer.flaky,
        };
        group.insert(failure.clone());
    }
    let flaky_is_fine = match question.newly_flaky {
        NewlyFlaky::Allow => true,
        NewlyFlaky::Block => answer.newly_flaky.is_empty(),
    };
    answer.complete = answer.new.is_empty() && answer.vanished.is_empty() && flaky_is_fine;
    answer
}

enum FailedBefore {
    Always,
    Sometimes,
    Never,
}

struct Before<Id> {
    always: BTreeSet<Id>,
    ever: BTreeSet<Id>,
}

impl<Id: Ord + Clone> Before<Id> {
    fn of(runs: &[BTreeSet<Id>]) -> Self {
        let ever: BTreeSet<Id> = runs.iter().flatten().cloned().collect();
        // No run at all is no knowledge: nothing is known to fail always.
        let always = ever.iter().filter(|id| runs.iter().all(|run| run.contains(*id))).cloned().collect();
        Self { always, ever }
    }

    fn of_failure(&self, failure: &Id) -> FailedBefore {
        if self.always.contains(failure) {
            FailedBefore::Always
        } else if self.ever.contains(failure) {
            FailedBefore::Sometimes
        } else {
            FailedBefore::Never
        }
    }
}

enum Now {
    /// Seen failing once and not run again.
    Unconfirmed,
    EveryTime,
    Sometimes,
}

fn now<Id: Ord>(question: &Question<Id>, failure: &Id) -> Now {
    if question.confirm_runs.is_empty() {
        Now::Unconfirmed
    } else if question.confirm_runs.iter().all(|run| run.contains(failure)) {
        Now::EveryTime
    } else {
        Now::Sometimes
    }
}

fn is_observed_passing<Id: Ord>(question: &Question<Id>, id: &Id) -> bool {
    !question.current.contains(id) && question.present_now.as_ref().is_none_or(|now| now.contains(id))
}

fn is_gone<Id: Ord>(question: &Question<Id>, id: &Id) -> bool {
    !question.current.contains(id) && question.present_now.as_ref().is_some_and(|now| !now.contains(id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn set(names: &str) -> BTreeSet<String> {
        names.chars().map(|name| name.to_string()).collect()
    }

    fn question(baseline: &[&str], current: &str, confirm: &[&str]) -> Question {
        Question {
            baseline_runs: baseline.iter().map(|names| set(names)).collect(),
            current: set(current),
            confirm_runs: confirm.iter().map(|names| set(names)).collect(),
            passing_before: set(""),
            present_now: None,
            newly_flaky: NewlyFlaky::Block,
        }
    }

    /// The groups as `new/known/fixed/flaky/newly flaky/vanished`.
    fn groups(question: &Question) -> (String, bool) {
        let answer = decide(question);
        let groups =
            [answer.new, answer.known, answer.fixed, answer.flaky, answer.newly_flaky, answer.vanished];
        let names: Vec<String> = groups.iter().map(|ids| ids.iter().map(String::as_str).collect()).collect();
        (names.join("/"), answer.complete)
    }

    #[test]
    fn every_group() {
        let allowed = Question { newly_flaky: NewlyFlaky::Allow, ..question(&[""], "x", &["x", ""]) };
        for (row, question, expected, complete) in vec![
            ("fails as always", question(&["k", "k"], "k", &[]), "/k////", true),
            ("one more than before", question(&["k", "k"], "kn", &["n", "n"]), "n/k////", false),
            ("another than before", question(&["k", "k"], "n", &[]), "n//k///", false),
            ("flaky at the base", question(&["kf", "k"], "kf", &[]), "/k//f//", true),
            ("flaky before, always now", question(&["f", ""], "f", &["f", "f"]), "f/////", false),
            ("flaky before and now", question(&["f", ""], "f", &["f", ""]), "///f//", true),
            ("flaky only now", question(&["", ""], "x", &["x", ""]), "////x/", false),
            ("failed once and never again", question(&["", ""], "x", &["", ""]), "////x/", false),
            ("no baseline", question(&[], "x", &[]), "x/////", false),
            ("flaky only now, allowed", allowed, "////x/", true),
        ] {
            assert_eq!(groups(&question), (expected.to_string(), complete), "{row}");
        }
    }

    #[test]
    fn fixed_means_observed_passing_and_gone_tests_are_named() {
        let mut gone = question(&["ab"], "", &[]);
        gone.passing_before = set("pq");
        gone.present_now = Some(set("ap"));
        assert_eq!(groups(&gone), ("//a///q".to_string(), false), "b is gone, not fixed; q has vanished");
        gone.present_now = None;
        assert_eq!(groups(&gone), ("//ab///".to_string(), true), "what was observed is not known");
    }

    proptest! {
        /// Catches a failure that falls into two groups or into none, and a completeness that ignores a group.
        #[test]
        fn the_groups_partition(
            baseline in proptest::collection::vec("[a-f]{0,4}", 0..3), current in "[a-f]{0,5}",
            confirm in proptest::collection::vec("[a-f]{0,4}", 0..3), passing in "[a-h]{0,4}",
            present in proptest::option::of("[a-h]{0,6}"),
        ) {
            let baseline: Vec<&str> = baseline.iter().map(String::as_str).collect();
            let confirm: Vec<&str> = confirm.iter().map(String::as_str).collect();
            let question = Question {
                passing_before: set(&passing),
                present_now: present.as_deref().map(set),
                ..question(&baseline, &current, &confirm)
            };
            let Answer { new, known, fixed, flaky, newly_flaky, vanished, complete } = decide(&question);
            let failing = [&new, &known, &flaky, &newly_flaky];
            prop_assert_eq!(failing.iter().map(|group| group.len()).sum::<usize>(), question.current.len());
            let all: BTreeSet<String> = failing.into_iter().flatten().cloned().collect();
            prop_assert_eq!(&all, &question.current);
            prop_assert!(fixed.is_disjoint(&all) && vanished.is_disjoint(&all));
            prop_assert!(fixed.is_disjoint(&vanished));
            prop_assert_eq!(complete, new.is_empty() && vanished.is_empty() && newly_flaky.is_empty());
        }
    }
}
