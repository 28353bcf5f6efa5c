//! A simulated project: an agent, a world and a seed.
//!
//! Invariant: a command has the same result however often it is interrupted and repeated. Random numbers are drawn by the
//! command and by how often it has ended before, never from one stream.

use fixpoint_vocabulary::Redacted;
use fixpoint_vocabulary::work::{
    AttemptCommand, AttemptResult, Base, CheckRun, Command, CommandEnd, CommandResult, CommitId, Leftovers,
    ProtectedChange, ProtectedEdit, ProtectedRole, RestorePaths, RestoredPath,
};

use crate::agent::Agent;
use crate::project_state::{Correctness, Names, ProjectState};
use crate::random::Random;
use crate::world::{FailureWording, World, lacking};

/// The file that holds the tests.
const TESTS: &str = "tests/goal.rs";
/// The file that says what the checks do.
const DEFINITIONS: &str = "Makefile";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Project {
    pub(crate) seed: u64,
    pub(crate) agent: Agent,
    pub(crate) world: World,
}

impl Project {
    /// The seed also says how many tests of the goal fail, one to six.
    pub const fn new(seed: u64, agent: Agent, world: World) -> Self {
        Self { seed, agent, world }
    }

    pub(crate) fn base(&self) -> ProjectState {
        let failing = 1 + Random::keyed(self.seed, "failing tests").next_u64() % 6;
        let goal = (0..failing).map(|n| format!("g{n}")).collect();
        ProjectState { goal, build: self.world.build_at_base(), ..ProjectState::default() }
    }

    pub(crate) fn correctness(&self, commit: &CommitId) -> Correctness {
        let state = ProjectState::of(commit);
        // A tool that names and counts no tests does not show that one is gone.
        let is_unnamed = self.world.names_no_tests();
        let seen = ProjectState { removed: Names::new(), ..state.clone() };
        match (state.correctness(), seen.correctness()) {
            (Correctness::Wrong, Correctness::Correct) if is_unnamed => Correctness::Undetectable,
            (correctness, _) => correctness,
        }
    }

    /// Executes a command that has ended `before` times.
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
            Command::RunAttempt(command) => CommandResult::Attempt(self.attempt(command)),
            Command::RestorePaths(command) => restore_paths(command),
            Command::Merge(_)
            | Command::FindProtected(_)
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
        let mut state = ProjectState::of(&run.commit);
        match run.leftovers {
            Leftovers::Kept => {}
            Leftovers::Baseline | Leftovers::Pristine => state.planted.clear(),
        }
        let words = if self.agent == Agent::Rewords { FailureWording::Other } else { FailureWording::Same };
        let reports = run.calls.iter().map(|call| {
            if self.lacks_something(call.check, state.edits, before) {
                return lacking(call.check, self.random("cause", &run.commit.0, call.check));
            }
            let random = self.random(&format!("check {} {:?}", call.check, call.only), &run.commit.0, before);
            self.world.report(&state, call, words, random)
        });
        CommandResult::Checks { reports: reports.collect() }
    }

    /// Whether the environment of a check lacks something: for one attempt, or for two in a row. At the base, where there is
    /// no next attempt, for one run or for two.
    fn lacks_something(&self, check: u32, edits: u32, before: u32) -> bool {
        if self.world != World::Environment {
            return false;
        }
        let draw = |edits: u32| match self.random("environment", &check.to_string(), edits).unit() {
            chance if chance < 0.01 => 2,
            chance if chance < 0.05 => 1,
            _ => 0,
        };
        match edits.checked_sub(1) {
            None => before < draw(0),
            Some(earlier) => before == 0 && (draw(edits) > 0 || earlier > 0 && draw(earlier) > 1),
        }
    }

    /// Does not depend on how often the attempt failed before: a failed attempt changes nothing.
    pub(crate) fn attempt(&self, command: &AttemptCommand) -> AttemptResult {
        let mut random = self.random("attempt", &command.base.0, command.number);
        let mut state = ProjectState::of(&command.base);
        let exit = self.agent.work(command.number, &mut state, &mut random);
        let (commit, _) = state.ids();
        if commit != command.base {
            self.world.disturb(&mut state, &mut random);
        }
        let violations: Vec<String> = state.outside.iter().cloned().collect();
        let has_edited_tests = !state.softened.is_empty() || !state.removed.is_empty();
        let tests = has_edited_tests.then(|| edited(TESTS, ProtectedRole::Test));
        let definitions =
            (!state.redefined.is_empty()).then(|| edited(DEFINITIONS, ProtectedRole::Definition));
        let (commit, tree) = state.ids();
        AttemptResult {
            revertible: violations.clone(),
            violations,
            protected: tests.into_iter().chain(definitions).collect(),
            exit_code: exit.exit_code,
            changed_files: 1,
            changed_lines: u64::from(state.edits),
            ..AttemptResult::new(exit.end, commit, tree)
        }
    }

    fn random(&self, what: &str, whose: &str, number: u32) -> Random {
        Random::keyed(self.seed, &format!("{what} {number} {whose}"))
    }
}

/// Identifies a command, to draw whether it fails.
fn command_key(command: &Command) -> String {
    match command {
        Command::TakeBase => "base".to_string(),
        Command::RunChecks(run) => format!("checks {} {}", run.calls.len(), run.commit),
        Command::RunAttempt(command) => format!("attempt {} {}", command.number, command.base),
        Command::RestorePaths(command) => format!("graft {}", command.onto),
        Command::FindProtected(range) => format!("compare {}", range.to),
        Command::Merge(command) => format!("merge {} {}", command.ours, command.theirs),
        Command::Ask(ask) => format!("ask {:?}", ask.about),
        Command::AskPerson(ask) => format!("person {}", ask.about),
        Command::FindCachedPlan => "recall".to_string(),
        Command::StorePlan => "keep".to_string(),
        Command::Deliver(command) => format!("deliver {}", command.result),
    }
}

fn edited(path: &str, role: ProtectedRole) -> ProtectedChange {
    ProtectedChange {
        path: RestoredPath::File(path.to_string()),
        role,
        edit: ProtectedEdit::Edited,
        what: String::new(),
        is_permitted: false,
    }
}

fn restore_paths(command: &RestorePaths) -> CommandResult {
    let mut state = ProjectState::of(&command.onto);
    let is_restored = |path: &str| command.paths.contains(&RestoredPath::File(path.to_string()));
    state.outside.retain(|path| !is_restored(path));
    if is_restored(TESTS) {
        state.softened.clear();
        state.removed.clear();
    }
    if is_restored(DEFINITIONS) {
        state.redefined.clear();
    }
    let (commit, tree) = state.ids();
    CommandResult::Restored { commit, tree }
}
