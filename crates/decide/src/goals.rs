//! Whether a goal passes, and what a finished task can point to as proof.
//!
//! A command that exits 0 is not enough where tests were named: those that failed before must be *seen* to pass.
//! Deleting, skipping or weakening a test, or making the command do nothing, is told apart and named.

use crate::prelude::*;
use fixpoint_vocabulary::Text;
use fixpoint_vocabulary::work::{FailureId, TestName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What one run of a goal's check showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoalRun<'a> {
    pub succeeded: bool,
    pub has_passing_tests: bool,
    /// Which of the tests that failed at the base were seen passing.
    pub seen_passing: &'a BTreeSet<TestName>,
    pub failed: BTreeSet<&'a FailureId>,
}

impl GoalRun<'_> {
    fn is_clean(&self) -> bool {
        self.succeeded && self.failed.is_empty()
    }
}

/// Everything known about one goal after an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GoalEvidence<'a> {
    /// The tests that failed at the base, where the output named tests.
    pub failing_before: BTreeSet<&'a TestName>,
    /// Whether the output named tests at the base.
    pub named_tests_before: NamedTests,
    /// The runs on the attempt's tree; all of them must pass.
    pub runs: Vec<GoalRun<'a>>,
    pub required_runs: u32,
    /// The runs in the proof tree, where that is not the attempt's own: where the attempt changed tests or definitions.
    pub in_proof_tree: Vec<GoalRun<'a>>,
}

impl<'a> GoalEvidence<'a> {
    fn ran_nothing(&self, run: &GoalRun<'a>) -> bool {
        self.named_tests_before == NamedTests::Yes && !run.has_passing_tests
    }

    /// Tests that failed before and were not seen passing in a run.
    fn unseen(&self, run: &GoalRun<'a>) -> impl Iterator<Item = TestName> {
        let unseen = self.failing_before.iter().filter(|test| !run.seen_passing.contains(**test));
        unseen.map(|test| (*test).clone())
    }
}

/// Whether a command's output names the tests it ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NamedTests {
    Yes,
    /// It does not: only its exit code speaks.
    #[default]
    No,
}

/// Whether a goal passes, and if not, why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GoalVerdict {
    Passing,
    Failing {
        failures: BTreeSet<FailureId>,
    },
    /// It passed in some runs only. Flakiness is tolerated in guards, never in goals.
    Flaky {
        /// What failed in some of them.
        failures: BTreeSet<FailureId>,
    },
    /// The command succeeded without running a test where it ran some before.
    NoTestsRan,
    /// Tests that must pass were not seen: deleted, skipped or no longer run.
    NotObserved {
        tests: BTreeSet<TestName>,
    },
    /// It passes only because the tests were changed.
    TestsWeakened {
        /// What fails with the tests as they were.
        failures: BTreeSet<FailureId>,
    },
    /// It was not run, or not often enough.
    NotRun,
}

pub fn decide(evidence: &GoalEvidence<'_>) -> GoalVerdict {
    let clean_runs = evidence.runs.iter().filter(|run| run.is_clean()).count();
    if clean_runs < evidence.runs.len() {
        let failed = evidence.runs.iter().flat_map(|run| run.failed.iter());
        let failures = failed.map(|failure| (*failure).clone()).collect();
        return if clean_runs == 0 {
            GoalVerdict::Failing { failures }
        } else {
            GoalVerdict::Flaky { failures }
        };
    }
    if evidence.runs.len() < (evidence.required_runs as usize).max(1) {
        return GoalVerdict::NotRun;
    }
    if evidence.runs.iter().any(|run| evidence.ran_nothing(run)) {
        return GoalVerdict::NoTestsRan;
    }
    let tests: BTreeSet<TestName> = evidence.runs.iter().flat_map(|run| evidence.unseen(run)).collect();
    if !tests.is_empty() {
        return GoalVerdict::NotObserved { tests };
    }
    // Without the changes of tests and definitions the same must be seen, or these changes hid it.
    let is_weakened = |run: &&GoalRun<'_>| {
        !run.is_clean() || evidence.ran_nothing(run) || evidence.unseen(run).next().is_some()
    };
    match evidence.in_proof_tree.iter().find(is_weakened) {
        Some(run) => {
            let failed = run.failed.iter().map(|failure| (*failure).clone());
            let failures = failed.chain(evidence.unseen(run).map(FailureId::Test)).collect();
            GoalVerdict::TestsWeakened { failures }
        }
        None => GoalVerdict::Passing,
    }
}

/// What a finished task can point to, the strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// Its goals pass.
    Goals,
    /// The tree changed and the guards stayed clean; there was no goal and no judge.
    GuardsOnly,
    /// The judge said yes twice; there were no checks.
    JudgeOnly,
    /// Commands succeeded without naming what they ran.
    ExitCodeOnly,
}

impl Proof {
    /// What it shows, as the end of a sentence.
    pub fn text(self) -> Text {
        match self {
            Self::Goals => Text::new(
                "what failed before passes now, and there are no new failures",
                "失敗していたテストが成功し、新たな失敗はありません",
            ),
            Self::GuardsOnly => Text::new(
                "files changed and there are no new failures (no goal was given)",
                "変更があり、新たな失敗はありません（目標の指定なし）",
            ),
            Self::ExitCodeOnly => Text::new(
                "the commands pass (they do not name the tests that pass)",
                "コマンドは成功しました（成功したテストの名前は報告されていません）",
            ),
            Self::JudgeOnly => Text::new("the judge approved it twice", "判定者が2回承認しました"),
        }
    }
}

/// The strongest proof of a task that finished. For its goals and its guards, if any: whether one of them names tests.
pub(crate) const fn proof(goals: Option<NamedTests>, guards: Option<NamedTests>) -> Proof {
    match (goals, guards) {
        (Some(NamedTests::Yes), _) => Proof::Goals,
        (Some(NamedTests::No), _) | (None, Some(NamedTests::No)) => Proof::ExitCodeOnly,
        (None, Some(NamedTests::Yes)) => Proof::GuardsOnly,
        (None, None) => Proof::JudgeOnly,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a run showed, owned.
    #[derive(Clone)]
    struct Shown {
        succeeded: bool,
        has_passing_tests: bool,
        seen_passing: BTreeSet<TestName>,
        failed: BTreeSet<FailureId>,
    }

    impl Shown {
        fn as_run(&self) -> GoalRun<'_> {
            GoalRun {
                succeeded: self.succeeded,
                has_passing_tests: self.has_passing_tests,
                seen_passing: &self.seen_passing,
                failed: self.failed.iter().collect(),
            }
        }
    }

    fn tests(list: &[&str]) -> BTreeSet<TestName> {
        list.iter().map(|name| TestName::from(*name)).collect()
    }

    fn failing(list: &[&str]) -> BTreeSet<FailureId> {
        tests(list).into_iter().map(FailureId::Test).collect()
    }

    fn shown(passed: &[&str], failed: &[&str]) -> Shown {
        Shown {
            succeeded: failed.is_empty(),
            has_passing_tests: !passed.is_empty(),
            seen_passing: tests(passed),
            failed: failing(failed),
        }
    }

    /// The verdict on a goal in which `t1` failed at the base and which must pass twice.
    fn verdict(runs: &[Shown], with_base_tests: Option<&Shown>) -> GoalVerdict {
        let failing = tests(&["t1"]);
        decide(&GoalEvidence {
            failing_before: failing.iter().collect(),
            named_tests_before: NamedTests::Yes,
            required_runs: 2,
            runs: runs.iter().map(Shown::as_run).collect(),
            in_proof_tree: with_base_tests.into_iter().map(Shown::as_run).collect(),
        })
    }

    #[test]
    fn a_goal_must_be_seen_to_pass_every_time() {
        use GoalVerdict::{Failing, Flaky, NoTestsRan, NotObserved, NotRun, Passing};
        let good = shown(&["t1", "t2"], &[]);
        let bad = shown(&["t2"], &["t1"]);
        let without_t1 = shown(&["t2"], &[]);
        let exits_0 = shown(&[], &[]);
        let crashed = Shown { succeeded: false, ..shown(&["t1"], &[]) };
        let exits_0_failing = Shown { succeeded: true, ..shown(&["t1"], &["t9"]) };
        for (row, runs, expected) in [
            ("passes twice", vec![&good, &good], Passing),
            ("was not run", vec![], NotRun),
            ("passes once", vec![&good], NotRun),
            ("fails twice", vec![&bad, &bad], Failing { failures: failing(&["t1"]) }),
            ("fails once", vec![&good, &bad], Flaky { failures: failing(&["t1"]) }),
            ("crashes without a failure", vec![&crashed, &crashed], Failing { failures: failing(&[]) }),
            ("exits 0 with a failure", vec![&exits_0_failing; 2], Failing { failures: failing(&["t9"]) }),
            ("runs nothing", vec![&exits_0, &exits_0], NoTestsRan),
            ("runs nothing once", vec![&good, &exits_0], NoTestsRan),
            ("skips the test once", vec![&good, &without_t1], NotObserved { tests: tests(&["t1"]) }),
            ("skips the test", vec![&without_t1, &without_t1], NotObserved { tests: tests(&["t1"]) }),
        ] {
            let runs: Vec<Shown> = runs.into_iter().cloned().collect();
            assert_eq!(verdict(&runs, None), expected, "{row}");
        }
    }

    #[test]
    fn a_goal_must_pass_with_the_tests_of_the_base_too() {
        let good = shown(&["t1", "t2"], &[]);
        let weakened = GoalVerdict::TestsWeakened { failures: failing(&["t1"]) };
        for (row, with_base_tests, expected) in [
            ("passes", good.clone(), GoalVerdict::Passing),
            ("fails", shown(&[], &["t1"]), weakened.clone()),
            ("runs nothing", shown(&[], &[]), weakened.clone()),
            ("skips the test", shown(&["t2"], &[]), weakened),
        ] {
            let runs = [good.clone(), good.clone()];
            assert_eq!(verdict(&runs, Some(&with_base_tests)), expected, "{row}");
        }
    }

    #[test]
    fn without_names_at_the_base_the_exit_code_is_enough() {
        let exits_0 = shown(&[], &[]);
        let evidence = GoalEvidence { runs: vec![exits_0.as_run()], ..GoalEvidence::default() };
        assert_eq!(decide(&evidence), GoalVerdict::Passing);
    }

    #[test]
    fn the_proof_is_the_strongest_that_is_there() {
        use NamedTests::{No, Yes};
        for (row, goals, guards, expected) in [
            ("goals with names", Some(Yes), None, Proof::Goals),
            ("goals without names", Some(No), Some(Yes), Proof::ExitCodeOnly),
            ("guards with names", None, Some(Yes), Proof::GuardsOnly),
            ("guards without names", None, Some(No), Proof::ExitCodeOnly),
            ("no checks", None, None, Proof::JudgeOnly),
        ] {
            assert_eq!(proof(goals, guards), expected, "{row}");
        }
    }
}
