//! A made-up project and agents of known character.
//!
//! A commit's name is the state of the project, so a command has the same result however often it is repeated: what
//! an agent does depends on the seed and on what it begins with, never on what was drawn before.

use std::collections::BTreeSet;

use fixpoint_vocabulary::Redacted;
use fixpoint_vocabulary::work::{
    AgentEnd, AttemptOrder, AttemptResult, Base, BlobId, CheckCall, CheckEnd, CheckReport, CheckRun, Command,
    CommandResult, CommitId, GraftOrder, ReportedFailure, TreeId,
};
use serde::{Deserialize, Serialize};

use crate::random::Random;

/// The check that must pass, and the check that must show nothing new.
pub(crate) const GOAL: u32 = 0;
pub(crate) const GUARD: u32 = 1;

/// How an agent behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    /// Fixes something nearly every time.
    Fixes,
    /// Changes files and fixes nothing.
    Stalls,
    /// Trades one failure for another and back.
    Oscillates,
    /// Fails at something else each time.
    Churns,
    /// Fixes, and breaks other tests on the way.
    Breaks,
    /// Fixes, and edits files that are none of its business.
    Wanders,
    /// Changes nothing at all.
    Idles,
}

impl Agent {
    /// Every character.
    pub const ALL: [Self; 7] =
        [Self::Fixes, Self::Stalls, Self::Oscillates, Self::Churns, Self::Breaks, Self::Wanders, Self::Idles];
}

/// The state of a project; the name of a commit is this, written down.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct State {
    goal: BTreeSet<String>,
    guard: BTreeSet<String>,
    outside: BTreeSet<String>,
    edits: u32,
}

impl State {
    fn of(commit: &CommitId) -> Self {
        serde_json::from_str(&commit.0).unwrap_or_default()
    }

    fn name(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// A made-up project with an agent working on it.
#[derive(Debug, Clone)]
pub struct Project {
    seed: u64,
    agent: Agent,
    failing_tests: u32,
}

impl Project {
    /// A project in which so many tests of the goal fail.
    pub fn new(seed: u64, agent: Agent, failing_tests: u32) -> Self {
        Self { seed, agent, failing_tests }
    }

    /// Performs a command, always with the same result.
    pub fn perform(&self, command: &Command) -> CommandResult {
        match command {
            Command::TakeBase => {
                let goal = (0..self.failing_tests).map(|n| format!("goal_{n}")).collect();
                let guard = BTreeSet::from(["known_failure".to_string()]);
                let name = State { goal, guard, ..State::default() }.name();
                CommandResult::Base(Base { commit: CommitId(name.clone()), tree: TreeId(name) })
            }
            Command::RunChecks(run) => CommandResult::Checks { reports: Self::check(run) },
            Command::RunAttempt(order) => CommandResult::Attempt(self.attempt(order)),
            Command::Graft(order) => Self::graft(order),
        }
    }

    fn check(run: &CheckRun) -> Vec<CheckReport> {
        let state = State::of(&run.commit);
        run.calls.iter().map(|call| report(&state, call)).collect()
    }

    fn attempt(&self, order: &AttemptOrder) -> AttemptResult {
        let mut random = Random::keyed(self.seed, &format!("attempt {} {}", order.number, order.base));
        let mut state = State::of(&order.base);
        if self.agent != Agent::Idles {
            state.edits += 1;
        }
        let fixes = random.unit() < 0.8;
        match self.agent {
            Agent::Stalls | Agent::Idles => {}
            Agent::Fixes | Agent::Breaks | Agent::Wanders if fixes => drop(state.goal.pop_first()),
            Agent::Fixes | Agent::Breaks | Agent::Wanders => {}
            Agent::Oscillates => {
                let side = if order.number.is_multiple_of(2) { "even" } else { "odd" };
                state.goal = BTreeSet::from([format!("goal_{side}")]);
            }
            Agent::Churns => state.goal = BTreeSet::from([format!("goal_of_{}", order.number)]),
        }
        if self.agent == Agent::Breaks {
            state.guard.retain(|test| test == "known_failure");
            if random.unit() < 0.5 {
                state.guard.insert("broken_on_the_way".to_string());
            }
        }
        if self.agent == Agent::Wanders && random.unit() < 0.7 {
            state.outside.insert("ci.yml".to_string());
        }
        let violations: Vec<String> = state.outside.iter().cloned().collect();
        AttemptResult {
            end: AgentEnd::Exited,
            commit: CommitId(state.name()),
            tree: TreeId(state.name()),
            revertible: violations.clone(),
            violations,
            edited_tests: Vec::new(),
            exit_code: Some(0),
            changed_files: 1,
            changed_lines: 1,
        }
    }

    fn graft(order: &GraftOrder) -> CommandResult {
        let mut state = State::of(&order.onto);
        state.outside.retain(|path| !order.paths.contains(path));
        let name = state.name();
        CommandResult::Grafted { commit: CommitId(name.clone()), tree: TreeId(name) }
    }
}

fn report(state: &State, call: &CheckCall) -> CheckReport {
    let all = if call.check == GOAL { &state.goal } else { &state.guard };
    let is_asked = |test: &&String| call.only.is_empty() || call.only.contains(*test);
    let failing: Vec<&String> = all.iter().filter(is_asked).collect();
    let failure = |test: &&String| ReportedFailure {
        identity: test.to_string(),
        fingerprint: format!("fingerprint of {test}"),
        message: Redacted::ours("does not hold"),
        place: None,
    };
    CheckReport {
        check: call.check,
        end: if failing.is_empty() { CheckEnd::Passed } else { CheckEnd::Failed },
        failures: failing.iter().map(failure).collect(),
        masked: false,
        passed: Some(100),
        counted: 100,
        passed_set: Some(BlobId("all the others".to_string())),
        seen_passing: call.watched.iter().filter(|test| !all.contains(*test)).cloned().collect(),
        gone: BTreeSet::new(),
        reasons: Vec::new(),
        took_ms: 0,
    }
}
