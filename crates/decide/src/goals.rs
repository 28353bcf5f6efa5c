//! Whether a goal passes, and what a finished task can point to as proof.
//!
//! A command that exits 0 is not enough where tests were named: those that failed before must be *seen* to pass.
//! Deleting, skipping or weakening a test, or making the command do nothing, is told apart and named.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What one run of a goal's command showed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GoalRun {
    /// Whether the command itself reported success.
    pub succeeded: bool,
    /// The tests seen passing; empty where the output names none.
    pub passed: BTreeSet<String>,
    /// What failed, by fingerprint.
    pub failed: BTreeSet<String>,
}

impl GoalRun {
    fn is_clean(&self) -> bool {
        self.succeeded && self.failed.is_empty()
    }
}

/// Everything known about one goal after an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GoalEvidence {
    /// The tests that failed at the base, where the output named tests.
    pub failing_before: BTreeSet<String>,
    /// Whether the output named tests at the base.
    pub named_tests_before: NamedTests,
    /// The runs on the attempt's tree; all of them must pass.
    pub runs: Vec<GoalRun>,
    /// How many runs there must be.
    pub required_runs: u32,
    /// A run with the base's version of the test files, where the attempt edited those without leave.
    pub with_base_tests: Option<GoalRun>,
}

impl GoalEvidence {
    fn ran_nothing(&self, run: &GoalRun) -> bool {
        self.named_tests_before == NamedTests::Yes && run.passed.is_empty()
    }

    /// Tests that failed before and were not seen passing in a run.
    fn unseen(&self, run: &GoalRun) -> BTreeSet<String> {
        self.failing_before.difference(&run.passed).cloned().collect()
    }
}

/// Whether a command's output names the tests it ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NamedTests {
    /// It does.
    Yes,
    /// It does not: only its exit code speaks.
    #[default]
    No,
}

/// What a goal came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "goal")]
pub enum GoalVerdict {
    /// It passes, every time.
    Passing,
    /// It fails.
    Failing {
        /// What fails.
        failures: BTreeSet<String>,
    },
    /// It passed in some runs only. Flakiness is tolerated in guards, never in goals.
    Flaky {
        /// What failed in some of them.
        failures: BTreeSet<String>,
    },
    /// The command succeeded without running a test where it ran some before.
    NoTestsRan,
    /// Tests that must pass were not seen: deleted, skipped or no longer run.
    NotObserved {
        /// Those tests.
        tests: BTreeSet<String>,
    },
    /// It passes only because the tests were changed.
    TestsWeakened {
        /// What fails with the tests as they were.
        failures: BTreeSet<String>,
    },
    /// It was not run, or not often enough.
    NotRun,
}

/// Decides about one goal.
pub fn decide(evidence: &GoalEvidence) -> GoalVerdict {
    let failures: BTreeSet<String> =
        evidence.runs.iter().flat_map(|run| run.failed.iter().cloned()).collect();
    let clean_runs = evidence.runs.iter().filter(|run| run.is_clean()).count();
    if clean_runs < evidence.runs.len() {
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
    let tests: BTreeSet<String> = evidence.runs.iter().flat_map(|run| evidence.unseen(run)).collect();
    if !tests.is_empty() {
        return GoalVerdict::NotObserved { tests };
    }
    match &evidence.with_base_tests {
        // With the tests as they were the same must be seen, or the change of the tests hid it.
        Some(run) if !run.is_clean() || evidence.ran_nothing(run) || !evidence.unseen(run).is_empty() => {
            let failures = run.failed.iter().cloned().chain(evidence.unseen(run)).collect();
            GoalVerdict::TestsWeakened { failures }
        }
        Some(_) | None => GoalVerdict::Passing,
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

/// What a task had to show for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grounds {
    /// Its goals, if any, and whether one of them names tests.
    pub goals: Option<NamedTests>,
    /// Its guards, if any, and whether one of them names tests.
    pub guards: Option<NamedTests>,
}

/// The proof a task finished on these grounds has: the strongest that is there.
pub const fn proof(grounds: Grounds) -> Proof {
    match (grounds.goals, grounds.guards) {
        (Some(NamedTests::Yes), _) => Proof::Goals,
        (Some(NamedTests::No), _) | (None, Some(NamedTests::No)) => Proof::ExitCodeOnly,
        (None, Some(NamedTests::Yes)) => Proof::GuardsOnly,
        (None, None) => Proof::JudgeOnly,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec;

    fn names(list: &[&str]) -> BTreeSet<String> {
        list.iter().map(ToString::to_string).collect()
    }

    fn run(passed: &[&str], failed: &[&str]) -> GoalRun {
        GoalRun { succeeded: failed.is_empty(), passed: names(passed), failed: names(failed) }
    }

    fn evidence(runs: Vec<GoalRun>) -> GoalEvidence {
        GoalEvidence {
            failing_before: names(&["t1"]),
            named_tests_before: NamedTests::Yes,
            required_runs: 2,
            runs,
            with_base_tests: None,
        }
    }

    #[test]
    fn a_goal_must_be_seen_to_pass_every_time() {
        use GoalVerdict::*;
        let good = || run(&["t1", "t2"], &[]);
        let exits_0 = GoalRun { succeeded: true, ..GoalRun::default() };
        let crashed = GoalRun { succeeded: false, ..run(&["t1"], &[]) };
        let table = vec![
            (evidence(vec![good(), good()]), Passing),
            (evidence(vec![]), NotRun),
            (evidence(vec![run(&["t2"], &["t1"]); 2]), Failing { failures: names(&["t1"]) }),
            (evidence(vec![good(), run(&["t2"], &["t1"])]), Flaky { failures: names(&["t1"]) }),
            (evidence(vec![crashed.clone(), crashed]), Failing { failures: names(&[]) }),
            (evidence(vec![exits_0.clone(), exits_0.clone()]), NoTestsRan),
            (evidence(vec![good(), exits_0.clone()]), NoTestsRan),
            (evidence(vec![good(), run(&["t2"], &[])]), NotObserved { tests: names(&["t1"]) }),
            (evidence(vec![run(&["t2"], &[]); 2]), NotObserved { tests: names(&["t1"]) }),
            (
                GoalEvidence { with_base_tests: Some(run(&[], &["t1"])), ..evidence(vec![good(), good()]) },
                TestsWeakened { failures: names(&["t1"]) },
            ),
            (
                GoalEvidence { with_base_tests: Some(exits_0.clone()), ..evidence(vec![good(), good()]) },
                TestsWeakened { failures: names(&["t1"]) },
            ),
            (
                GoalEvidence { with_base_tests: Some(run(&["t2"], &[])), ..evidence(vec![good(), good()]) },
                TestsWeakened { failures: names(&["t1"]) },
            ),
            (GoalEvidence { with_base_tests: Some(good()), ..evidence(vec![good(), good()]) }, Passing),
            (evidence(vec![good()]), NotRun),
            (evidence(vec![good(), exits_0.clone()]), NoTestsRan),
            (
                evidence(vec![GoalRun { succeeded: true, ..run(&["t1"], &["t9"]) }; 2]),
                Failing { failures: names(&["t9"]) },
            ),
            (GoalEvidence { runs: vec![exits_0], ..GoalEvidence::default() }, Passing),
        ];
        for (evidence, expected) in table {
            assert_eq!(decide(&evidence), expected, "{evidence:?}");
        }
    }

    #[test]
    fn the_proof_is_the_strongest_that_is_there() {
        use NamedTests::{No, Yes};
        let table = [
            (Some(Yes), None, Proof::Goals),
            (Some(No), Some(Yes), Proof::ExitCodeOnly),
            (None, Some(Yes), Proof::GuardsOnly),
            (None, Some(No), Proof::ExitCodeOnly),
            (None, None, Proof::JudgeOnly),
        ];
        for (goals, guards, expected) in table {
            assert_eq!(proof(Grounds { goals, guards }), expected);
        }
    }
}
