//! A made-up project: an agent in a world, both by a seed.
//!
//! Invariant: a command comes to the same however often it is cut short and repeated. Chance is drawn by the command
//! and by how often it has come to an end before, never from one stream.

use fixpoint_vocabulary::Redacted;
use fixpoint_vocabulary::work::{
    AttemptCommand, AttemptResult, Base, CheckRun, Command, CommandEnd, CommandResult, CommitId,
    RestorePaths, RestoredPath,
};

use crate::agent::Agent;
use crate::random::Random;
use crate::state::{State, Truth, is_of_goal};
use crate::world::{Words, World};

/// The file that holds the tests of the goal.
const TESTS: &str = "tests/goal.rs";

/// An agent at work in a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Project {
    pub(crate) seed: u64,
    pub(crate) agent: Agent,
    pub(crate) world: World,
}

impl Project {
    /// The project of that seed. The seed also says how many tests of the goal fail, one to six.
    pub const fn new(seed: u64, agent: Agent, world: World) -> Self {
        Self { seed, agent, world }
    }

    /// The tree before anybody did anything.
    pub(crate) fn base(&self) -> State {
        let failing = 1 + Random::keyed(self.seed, "failing tests").next_u64() % 6;
        let goal = (0..failing).map(|n| format!("g{n}")).collect();
        State { goal, build: self.world.build_at_base(), ..State::default() }
    }

    /// The truth about a commit.
    pub(crate) fn truth(&self, commit: &CommitId) -> Truth {
        State::of(commit).truth(self.world.build_at_base())
    }

    /// Performs a command that came to an end `before` times.
    pub(crate) fn perform(&self, command: &Command, before: u32) -> CommandEnd {
        let mut random = self.random("command", &command_key(command), before);
        if random.unit() < self.world.failing_commands() {
            return CommandEnd::Failed { message: Redacted::ours("the machine is out of order") };
        }
        CommandEnd::Completed(match command {
            Command::TakeBase => {
                let (commit, tree) = self.base().ids();
                CommandResult::Base(Base { commit, tree })
            }
            Command::RunChecks(run) => self.check(run, before),
            Command::RunAttempt(order) => CommandResult::Attempt(self.attempt(order)),
            Command::RestorePaths(order) => graft(order),
            Command::Merge(_)
            | Command::Ask(_)
            | Command::AskPerson(_)
            | Command::FindCachedPlan
            | Command::StorePlan
            | Command::Deliver(_) => {
                return CommandEnd::Failed { message: Redacted::ours("one task alone never asks for this") };
            }
        })
    }

    fn check(&self, run: &CheckRun, before: u32) -> CommandResult {
        let state = State::of(&run.commit);
        let words = if self.agent == Agent::Rewords { Words::Other } else { Words::Same };
        let reports = run.calls.iter().map(|call| {
            let random = self.random(&format!("check {} {:?}", call.check, call.only), &run.commit.0, before);
            self.world.report(&state, call, words, random)
        });
        CommandResult::Checks { reports: reports.collect() }
    }

    /// An attempt that could not be made has done nothing, so that how often that was does not matter.
    pub(crate) fn attempt(&self, order: &AttemptCommand) -> AttemptResult {
        let mut random = self.random("attempt", &order.base.0, order.number);
        let mut state = State::of(&order.base);
        let leaving = self.agent.work(order.number, &mut state, &mut random);
        let (commit, _) = state.ids();
        if commit != order.base {
            self.world.leaves(&mut state, &mut random);
        }
        let violations: Vec<String> = state.outside.iter().cloned().collect();
        let has_edited_tests =
            !state.softened.is_empty() || state.removed.iter().any(|test| is_of_goal(test));
        let (commit, tree) = state.ids();
        AttemptResult {
            revertible: violations.clone(),
            violations,
            edited_tests: if has_edited_tests {
                vec![RestoredPath::File(TESTS.to_string())]
            } else {
                Vec::new()
            },
            exit_code: leaving.exit_code,
            changed_files: 1,
            changed_lines: u64::from(state.edits),
            ..AttemptResult::new(leaving.end, commit, tree)
        }
    }

    fn random(&self, what: &str, whose: &str, number: u32) -> Random {
        Random::keyed(self.seed, &format!("{what} {number} {whose}"))
    }
}

/// What tells commands of a project apart, as far as their failing goes.
fn command_key(command: &Command) -> String {
    match command {
        Command::TakeBase => "base".to_string(),
        Command::RunChecks(run) => format!("checks {} {}", run.calls.len(), run.commit),
        Command::RunAttempt(order) => format!("attempt {} {}", order.number, order.base),
        Command::RestorePaths(order) => format!("graft {}", order.onto),
        Command::Merge(order) => format!("merge {} {}", order.ours, order.theirs),
        Command::Ask(ask) => format!("ask {:?}", ask.about),
        Command::AskPerson(ask) => format!("person {}", ask.about),
        Command::FindCachedPlan => "recall".to_string(),
        Command::StorePlan => "keep".to_string(),
        Command::Deliver(order) => format!("deliver {}", order.result),
    }
}

fn graft(order: &RestorePaths) -> CommandResult {
    let mut state = State::of(&order.onto);
    let is_grafted = |path: &str| order.paths.contains(&RestoredPath::File(path.to_string()));
    state.outside.retain(|path| !is_grafted(path));
    if is_grafted(TESTS) {
        state.softened.clear();
        state.removed.retain(|test| !is_of_goal(test));
    }
    let (commit, tree) = state.ids();
    CommandResult::Restored { commit, tree }
}
