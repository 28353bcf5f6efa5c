//! The simulated project around an agent: what its checks report about a tree, and when checks and commands fail.
//!
//! Owns misleading evidence. Refuses one stream of random numbers: each is drawn by seed, commit and how often the same
//! was asked before, so that a command repeated after a crash has the same result.

use std::collections::BTreeSet;

use fixpoint_vocabulary::work::{
    BlobId, CheckCall, CheckEnd, CheckProblem, CheckReport, FailureId, Fingerprint, ReportedFailure, TestName,
};
use fixpoint_vocabulary::{EnvironmentCause, EnvironmentProblem, Redacted};

use crate::named_variants::named_variants;
use crate::project_state::{Build, GOAL_NAME, GUARD_NAME, Names, ProjectState, is_of_goal};
use crate::random::Random;

/// The check that must pass, and the check that must show nothing new.
pub(crate) const GOAL: u32 = 0;
pub(crate) const GUARD: u32 = 1;

pub const GOAL_TESTS: u32 = 20;
pub const GUARD_TESTS: u32 = 200;
/// Tests of either check that run although the rest does not build.
const TESTS_THAT_BUILD: u32 = 5;

/// Problems that a tool prints if it prints only the first ones.
const FIRST_PROBLEMS: usize = 3;

const DOES_NOT_BUILD: &str = "error: cannot find value `x` in this scope";

/// Messages of the same failure.
const WORDS: [&str; 4] = ["does not hold", "is not as expected", "expected another value", "differs"];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum World {
    /// No faults.
    Plain,
    /// A test of the guard fails, and did before.
    KnownFailure,
    /// A test of the guard fails sometimes, and did before.
    FlakyAtBase,
    /// Changes make a test of the guard fail sometimes.
    NewlyFlaky,
    /// The base does not build, which hides failing tests.
    Masked,
    Unreliable,
    Hanging,
    /// Commands fail sometimes, and a person resumes the task.
    Outages,
    /// Checks fail because of their environment sometimes, once or twice in a row.
    Environment,
    /// The tools name no tests: each failure is a line of their output, and nothing is seen passing. One line of the guard
    /// was there before.
    NoReader,
    /// The same, and they print only the first problems.
    FirstProblems,
}

named_variants!(World {
    Plain: "plain",
    KnownFailure: "known-failure",
    FlakyAtBase: "flaky-at-base",
    NewlyFlaky: "newly-flaky",
    Masked: "masked",
    Unreliable: "unreliable",
    Hanging: "hanging",
    Outages: "outages",
    Environment: "environment",
    NoReader: "no-reader",
    FirstProblems: "first-problems",
});

impl World {
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|world| world.name() == name)
    }

    /// Whether its checks fail for reasons that are not in the code, or their output is not read test by test.
    pub const fn is_hard_to_read(self) -> bool {
        matches!(self, Self::Environment | Self::NoReader | Self::FirstProblems)
    }

    pub(crate) const fn names_no_tests(self) -> bool {
        self.printed_problems().is_some()
    }

    /// How many lines of problems a check prints, if it names no tests.
    const fn printed_problems(self) -> Option<usize> {
        match self {
            Self::NoReader => Some(usize::MAX),
            Self::FirstProblems => Some(FIRST_PROBLEMS),
            Self::Plain
            | Self::KnownFailure
            | Self::FlakyAtBase
            | Self::NewlyFlaky
            | Self::Masked
            | Self::Unreliable
            | Self::Hanging
            | Self::Outages
            | Self::Environment => None,
        }
    }

    pub(crate) fn build_at_base(self) -> Build {
        if self == Self::Masked { Build::Broken } else { Build::Whole }
    }

    /// The share of commands that fail.
    pub(crate) fn failing_commands(self) -> f64 {
        if self == Self::Outages { 0.15 } else { 0.0 }
    }

    /// The side effects of a change on a tree.
    pub(crate) fn disturb(self, state: &mut ProjectState, random: &mut Random) {
        if self == Self::NewlyFlaky {
            let chance = random.unit();
            if state.wobbling.is_empty() && chance < 0.25 {
                state.wobbling.insert("t_race".to_string());
            } else if chance < 0.4 {
                state.wobbling.clear();
            }
        }
    }

    pub(crate) fn report(
        self,
        state: &ProjectState,
        call: &CheckCall,
        wording: FailureWording,
        mut random: Random,
    ) -> CheckReport {
        let chance = random.unit();
        if self == Self::Unreliable && chance < 0.08 {
            return report(call.check, CheckEnd::CouldNotRun, Vec::new());
        }
        if self == Self::Hanging && chance < 0.08 {
            let id = FailureId::Check { check: call.check.to_string(), problem: CheckProblem::Timeout };
            return incomplete(call.check, CheckEnd::TimedOut, id);
        }
        let name = if call.check == GOAL { GOAL_NAME } else { GUARD_NAME };
        let is_rigged = state.redefined.contains(name) || state.planted.contains(name);
        let report = match state.build {
            _ if is_rigged => full(state, call, Names::new(), wording),
            Build::Broken => {
                incomplete(call.check, CheckEnd::Failed, FailureId::Diagnostic(DOES_NOT_BUILD.into()))
            }
            Build::Whole => full(state, call, self.failing(state, call.check, &mut random), wording),
        };
        match self.printed_problems() {
            Some(most) => in_lines(report, name, most),
            None => report,
        }
    }

    fn failing(self, state: &ProjectState, check: u32, random: &mut Random) -> Names {
        if check == GOAL {
            return state.goal.difference(&state.softened).cloned().collect();
        }
        let mut failing: Names = state.broken.difference(&state.softened).cloned().collect();
        let mut sometimes = state.wobbling.clone();
        if self == Self::KnownFailure || self.printed_problems().is_some() {
            failing.insert("t_known".to_string());
        }
        if self == Self::FlakyAtBase {
            sometimes.insert("t_wobbly".to_string());
        }
        failing.extend(sometimes.into_iter().filter(|_| random.unit() < 0.5));
        failing
    }
}

/// Whether the message of a failure changes from attempt to attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureWording {
    Same,
    Other,
}

pub(crate) const fn tests_of(check: u32) -> u32 {
    if check == GOAL { GOAL_TESTS } else { GUARD_TESTS }
}

/// The tests a call names; `None` if all are run, as when a name is not that of a test.
pub(crate) fn asked(call: &CheckCall) -> Option<BTreeSet<&str>> {
    let tests = call.only.iter().map(|id| id.test().map(TestName::as_str));
    tests.collect::<Option<BTreeSet<&str>>>().filter(|tests| !tests.is_empty())
}

fn report(check: u32, end: CheckEnd, failures: Vec<ReportedFailure>) -> CheckReport {
    CheckReport { failures, ..CheckReport::new(check, end) }
}

/// A check that a timeout or a build error ended early.
fn incomplete(check: u32, end: CheckEnd, id: FailureId) -> CheckReport {
    let failure = ReportedFailure::new(id, Redacted::ours("cut short"));
    CheckReport {
        masked: true,
        passed: Some(TESTS_THAT_BUILD),
        counted: u64::from(TESTS_THAT_BUILD),
        ..report(check, end, Vec::from([failure]))
    }
}

/// The report of a tool without a reader: lines that complain, and no names.
fn in_lines(report: CheckReport, check: &str, most: usize) -> CheckReport {
    let line = |failure: &ReportedFailure| {
        let fingerprint = failure.fingerprint().clone();
        let id = FailureId::Output { check: check.to_string(), fingerprint };
        ReportedFailure::new(id, failure.message.clone())
    };
    CheckReport {
        failures: report.failures.iter().take(most).map(line).collect(),
        masked: report.masked,
        itemised: report.end == CheckEnd::Failed && !report.masked,
        ..CheckReport::new(report.check, report.end)
    }
}

/// A check that failed because of its environment.
pub(crate) fn lacking(check: u32, mut random: Random) -> CheckReport {
    let (cause, said) = match random.next_u64() % 3 {
        0 => (EnvironmentCause::ProgramMissing, "sh: 1: runner: not found"),
        1 => (EnvironmentCause::Network, "connection refused"),
        _ => (EnvironmentCause::DiskFull, "No space left on device"),
    };
    let id = FailureId::Check { check: check.to_string(), problem: CheckProblem::Environment };
    let failure = ReportedFailure::new(id, Redacted::ours(said));
    let problem = EnvironmentProblem { cause, subject: None, example: None, said: said.to_string() };
    CheckReport {
        masked: true,
        environment: Some(problem),
        ..report(check, CheckEnd::Environment, Vec::from([failure]))
    }
}

/// A check that ran completely.
fn full(state: &ProjectState, call: &CheckCall, failing: Names, wording: FailureWording) -> CheckReport {
    let asked = asked(call);
    let is_asked = |test: &&String| asked.as_ref().is_none_or(|only| only.contains(test.as_str()));
    let shown: Vec<&String> =
        failing.iter().filter(|test| !state.removed.contains(*test)).filter(is_asked).collect();
    let word = match wording {
        FailureWording::Same => 0,
        FailureWording::Other => state.edits as usize % WORDS.len(),
    };
    let message = WORDS.get(word).copied().unwrap_or_default();
    let failure = |test: &&String| {
        let fingerprint = Fingerprint(format!("f:{test}"));
        ReportedFailure::of_test(test.as_str().into(), fingerprint, Redacted::ours(message))
    };
    let end = if shown.is_empty() { CheckEnd::Passed } else { CheckEnd::Failed };
    let is_passing =
        |test: &&TestName| !failing.contains(test.as_str()) && !state.removed.contains(test.as_str());
    let run =
        asked.as_ref().map_or(tests_of(call.check), |only| u32::try_from(only.len()).unwrap_or(u32::MAX));
    let not_passing = u32::try_from(shown.len()).unwrap_or(u32::MAX);
    let of_guard = state.removed.iter().filter(|test| call.passed_before.is_some() && test.starts_with("t_"));
    let is_here = |test: &&String| (call.check == GOAL) == is_of_goal(test);
    let gone = if asked.is_some() { 0 } else { state.removed.iter().filter(is_here).count() };
    let gone = u32::try_from(gone).unwrap_or(u32::MAX);
    let passing = run.saturating_sub(not_passing).saturating_sub(gone);
    CheckReport {
        passed: Some(passing),
        counted: u64::from(passing),
        passed_set: Some(BlobId("seen passing".to_string())),
        seen_passing: call.watched.iter().filter(is_passing).cloned().collect(),
        gone: of_guard.map(|test| TestName(test.clone())).collect(),
        ..report(call.check, end, shown.iter().map(failure).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project_state::named;

    fn call(check: u32) -> CheckCall {
        CheckCall::whole(check)
    }

    fn ends(world: World, state: &ProjectState, call: &CheckCall) -> Vec<(CheckEnd, usize)> {
        let draw = |n| world.report(state, call, FailureWording::Same, Random::keyed(n, "draw"));
        (0..200).map(draw).map(|report| (report.end, report.failures.len())).collect()
    }

    #[test]
    fn names_are_distinct_and_found() {
        for world in World::ALL {
            assert_eq!(World::from_name(world.name()), Some(world));
        }
    }

    /// What a check may say about a tree in which nothing is wrong. Catches a world that says what another does, and
    /// a deception that never happens.
    #[test]
    fn each_world_deceives_in_its_own_way() {
        use CheckEnd::{CouldNotRun, Failed, Passed, TimedOut};
        let clean = ProjectState::default();
        let wobbling = ProjectState { wobbling: named("t_race"), ..ProjectState::default() };
        for (world, state, expected) in [
            (World::Plain, &clean, &[(Passed, 0)][..]),
            (World::Outages, &clean, &[(Passed, 0)]),
            (World::KnownFailure, &clean, &[(Failed, 1)]),
            (World::FlakyAtBase, &clean, &[(Passed, 0), (Failed, 1)]),
            (World::NewlyFlaky, &clean, &[(Passed, 0)]),
            (World::NewlyFlaky, &wobbling, &[(Passed, 0), (Failed, 1)]),
            (World::Unreliable, &clean, &[(Passed, 0), (CouldNotRun, 0)]),
            (World::Hanging, &clean, &[(Passed, 0), (TimedOut, 1)]),
            (World::NoReader, &clean, &[(Failed, 1)]),
        ] {
            let said = ends(world, state, &call(GUARD));
            assert!(said.iter().all(|end| expected.contains(end)), "{world:?}: {said:?}");
            assert!(expected.iter().all(|end| said.contains(end)), "{world:?}: {said:?}");
        }
    }

    /// Catches a tool without a reader that names tests, and one that prints more than the first problems.
    #[test]
    fn tools_without_a_reader_print_lines() {
        let goal: Names = (0..6).map(|n| format!("g{n}")).collect();
        let state = ProjectState { goal, ..ProjectState::default() };
        for (world, lines) in [(World::NoReader, 6), (World::FirstProblems, FIRST_PROBLEMS)] {
            let said = world.report(&state, &call(GOAL), FailureWording::Same, Random::keyed(0, ""));
            assert_eq!((said.failures.len(), said.passed, said.counted), (lines, None, 0), "{world:?}");
            assert!(said.itemised && said.failures.iter().all(|failure| failure.test().is_none()));
        }
    }

    #[test]
    fn weakened_and_removed_tests_are_distinguished() {
        let goal: Names = ["g0", "g1", "g2"].map(str::to_string).into();
        let state = ProjectState {
            goal: goal.clone(),
            softened: named("g0"),
            removed: named("g1"),
            ..ProjectState::default()
        };
        let watched = goal.iter().map(|test| TestName(test.clone())).collect();
        let watching = CheckCall { watched, ..call(GOAL) };
        let said = World::Plain.report(&state, &watching, FailureWording::Same, Random::keyed(0, ""));
        let failing: Vec<String> = said.failures.iter().map(|failure| failure.id().to_string()).collect();
        let seen: Vec<&str> = said.seen_passing.iter().map(TestName::as_str).collect();
        assert_eq!((failing, seen), (vec!["g2".to_string()], vec!["g0"]), "g1 is not seen at all");
    }

    /// Catches a fingerprint that follows the message.
    #[test]
    fn other_words_are_the_same_failure() {
        let said = |edits| {
            let state = ProjectState { edits, goal: named("g0"), ..ProjectState::default() };
            let report =
                World::Plain.report(&state, &call(GOAL), FailureWording::Other, Random::keyed(0, ""));
            report.failures.into_iter().next().unwrap()
        };
        assert_ne!(said(1).message, said(2).message);
        assert_eq!(said(1).fingerprint(), said(2).fingerprint());
    }

    #[test]
    fn what_is_no_test_cannot_be_asked_for() {
        let only = |id| CheckCall { only: BTreeSet::from([id]), ..call(GUARD) };
        assert_eq!(asked(&only(FailureId::Test("t_race".into()))), Some(BTreeSet::from(["t_race"])));
        assert_eq!(asked(&only(FailureId::Diagnostic(DOES_NOT_BUILD.into()))), None);
        assert_eq!(asked(&call(GUARD)), None);
    }
}
