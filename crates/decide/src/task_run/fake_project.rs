//! A fake project for the tests: a commit is a state of it, the agent follows a script, checks report the state.

use fixpoint_vocabulary::Redacted;
use fixpoint_vocabulary::work::{
    AgentEnd, AttemptResult, Base, BlobId, CheckCall, CheckEnd, CheckReport, Command, CommandEnd, CommandId,
    CommandResult, CommitId, Event, FailureId, Leftovers, ProtectedChange, ProtectedEdit, ProtectedRole,
    ReportedFailure, RestoredPath, TestName, TreeId,
};

use super::{Decision, TaskOptions, TaskRun, TaskStatus};
use crate::prelude::*;

/// The number of the goal and of the guard.
pub(super) const GOAL: u32 = 0;
pub(super) const GUARD: u32 = 1;

/// What a tree is like.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct TreeState {
    /// Tests of the goal that fail.
    pub(super) goal: BTreeSet<TestName>,
    /// Tests of the goal that fail with the tests of the base, whatever was done to them.
    pub(super) goal_with_base_tests: BTreeSet<TestName>,
    /// Tests of the guard that fail with the tests of the base, whatever was done to them.
    pub(super) guard_with_base_tests: BTreeSet<TestName>,
    /// Tests of the goal that fail without what earlier checks left behind.
    pub(super) failing_when_pristine: BTreeSet<TestName>,
    /// Tests of the guard that fail.
    pub(super) guard: BTreeSet<TestName>,
    /// Tests of the guard that fail only when asked for by name, since the rest was cut short.
    pub(super) hidden: BTreeSet<TestName>,
    /// Tests of the guard that fail in a whole run and pass when run alone.
    pub(super) flaky: BTreeSet<TestName>,
    /// Tests of the guard that fail in every second run of any check.
    pub(super) wavering: BTreeSet<TestName>,
    /// Whether the guard runs no tests: what fails there are findings.
    pub(super) findings: Option<Findings>,
    /// Tests that are no longer run.
    pub(super) gone: BTreeSet<TestName>,
    /// Whether the checks can run, and what they say.
    pub(super) end: Option<CheckEnd>,
    pub(super) violations: Vec<String>,
    pub(super) edited_tests: Vec<String>,
    pub(super) cannot_start: bool,
}

/// How a guard without tests tells what it found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Findings {
    /// One by one, and all of them.
    Listed,
    /// One of them may hide others, or nothing is said.
    Hidden,
}

pub(super) fn names(letters: &str) -> BTreeSet<TestName> {
    letters.chars().map(|letter| TestName(letter.to_string())).collect()
}

/// A state in which these tests of the goal and of the guard fail.
pub(super) fn failing(goal: &str, guard: &str) -> TreeState {
    TreeState { goal: names(goal), guard: names(guard), ..TreeState::default() }
}

/// A change of a test, or of product code that reaches for the checks.
fn edited_test(path: String) -> ProtectedChange {
    let role = if path.starts_with("src/") { ProtectedRole::Interference } else { ProtectedRole::Test };
    ProtectedChange {
        path: RestoredPath::File(path),
        role,
        edit: ProtectedEdit::Edited,
        what: String::new(),
        is_permitted: false,
    }
}

pub(super) struct FakeProject {
    states: BTreeMap<CommitId, TreeState>,
    script: Vec<TreeState>,
    pub(super) attempts: usize,
    pub(super) check_runs: usize,
    /// Where checks ran, in order.
    pub(super) runs: Vec<(CommitId, Leftovers)>,
    /// The bases of the attempts, in order.
    pub(super) bases: Vec<CommitId>,
    /// The sessions they were to go on with.
    pub(super) sessions: Vec<Option<String>>,
}

impl FakeProject {
    pub(super) fn new(base: TreeState, script: Vec<TreeState>) -> Self {
        let states = BTreeMap::from([(CommitId("base".into()), base)]);
        Self {
            states,
            script,
            attempts: 0,
            check_runs: 0,
            runs: Vec::new(),
            bases: Vec::new(),
            sessions: Vec::new(),
        }
    }

    /// From now on the checks can run and wait for nothing.
    pub(super) fn settle(&mut self) {
        self.states.values_mut().chain(&mut self.script).for_each(|state| state.end = None);
    }

    fn tree(&self, commit: &CommitId) -> TreeId {
        let state = self.states.get(commit).cloned().unwrap_or_default();
        TreeId(format!("{state:?}"))
    }

    fn add(&mut self, state: TreeState) -> CommitId {
        let commit = CommitId(format!("c{}", self.states.len()));
        self.states.insert(commit.clone(), state);
        commit
    }

    pub(super) fn perform(&mut self, command: &Command) -> CommandResult {
        match command {
            Command::TakeBase => {
                let commit = CommitId("base".into());
                CommandResult::Base(Base { tree: self.tree(&commit), commit })
            }
            Command::RunChecks(run) => {
                let mut state = self.states.get(&run.commit).cloned().unwrap_or_default();
                if run.leftovers != Leftovers::Kept {
                    state.goal.extend(state.failing_when_pristine.iter().cloned());
                }
                self.runs.push((run.commit.clone(), run.leftovers));
                let reports = run.calls.iter().map(|call| self.report(&state, call)).collect();
                CommandResult::Checks { reports }
            }
            Command::RunAttempt(attempt) => {
                self.bases.push(attempt.base.clone());
                self.sessions.push(attempt.session.clone());
                let state =
                    self.script.get(self.attempts).or(self.script.last()).cloned().unwrap_or_default();
                self.attempts += 1;
                let commit = self.add(state.clone());
                let end = if state.cannot_start { AgentEnd::CouldNotStart } else { AgentEnd::Exited };
                let tree = self.tree(&commit);
                CommandResult::Attempt(AttemptResult {
                    revertible: state.violations.clone(),
                    violations: state.violations,
                    protected: state.edited_tests.into_iter().map(edited_test).collect(),
                    exit_code: Some(0),
                    changed_files: 1,
                    changed_lines: 1,
                    session: Some(format!("s{}", self.attempts)),
                    ..AttemptResult::new(end, commit, tree)
                })
            }
            Command::RestorePaths(restore) => {
                let mut state = self.states.get(&restore.onto).cloned().unwrap_or_default();
                let is_grafted = |path: &String| restore.paths.contains(&RestoredPath::File(path.clone()));
                state.violations.retain(|path| !is_grafted(path));
                if state.edited_tests.iter().any(is_grafted) {
                    state.goal = state.goal_with_base_tests.clone();
                    state.guard.extend(state.guard_with_base_tests.iter().cloned());
                    state.gone.clear();
                }
                let commit = self.add(state);
                CommandResult::Restored { tree: self.tree(&commit), commit }
            }
            other @ (Command::Merge(_)
            | Command::FindProtected(_)
            | Command::Deliver(_)
            | Command::Ask(_)
            | Command::AskPerson(_)
            | Command::FindCachedPlan
            | Command::StorePlan) => panic!("a task without a judge never asks for {other:?}"),
        }
    }

    fn report(&mut self, state: &TreeState, call: &CheckCall) -> CheckReport {
        self.check_runs += 1;
        let only: BTreeSet<TestName> = call.only.iter().filter_map(FailureId::test).cloned().collect();
        let mut failing = if call.check == GOAL { state.goal.clone() } else { state.guard.clone() };
        if call.check == GUARD {
            failing.extend(state.hidden.intersection(&only).cloned());
            if call.only.is_empty() {
                failing.extend(state.flaky.iter().cloned());
            }
            if !self.check_runs.is_multiple_of(2) {
                failing.extend(state.wavering.iter().cloned());
            }
        }
        failing.retain(|test| !state.gone.contains(test) && (call.only.is_empty() || only.contains(test)));
        let is_seen = |test: &&TestName| !failing.contains(*test) && !state.gone.contains(*test);
        let failure = |test: &TestName| {
            ReportedFailure::of_test(test.clone(), format!("f:{test}").into(), Redacted::ours("fails"))
        };
        if let Some(findings) = state.findings.filter(|_| call.check == GUARD) {
            return in_findings(&state.guard, findings);
        }
        let natural = if failing.is_empty() { CheckEnd::Passed } else { CheckEnd::Failed };
        CheckReport {
            failures: failing.iter().map(failure).collect(),
            masked: call.check == GUARD && !state.hidden.is_empty(),
            passed: Some(9),
            counted: 9,
            passed_set: Some(BlobId("passed".into())),
            seen_passing: call.watched.iter().filter(is_seen).cloned().collect(),
            gone: if call.passed_before.is_some() { state.gone.clone() } else { BTreeSet::new() },
            ..CheckReport::new(call.check, state.end.unwrap_or(natural))
        }
    }
}

/// The report of a guard without tests.
fn in_findings(found: &BTreeSet<TestName>, findings: Findings) -> CheckReport {
    let failure = |name: &TestName| {
        let id = FailureId::Diagnostic(format!("d:{name}").into());
        ReportedFailure::new(id, Redacted::ours("is wrong"))
    };
    let is_failing = !found.is_empty() || findings == Findings::Hidden;
    CheckReport {
        failures: found.iter().map(failure).collect(),
        itemised: findings == Findings::Listed && is_failing,
        ..CheckReport::new(GUARD, if is_failing { CheckEnd::Failed } else { CheckEnd::Passed })
    }
}

/// A task on a fake project.
pub(super) struct TaskSimulator {
    pub(super) run: TaskRun,
    /// The same task as a resumed run sees it: what happened and what was decided, without deciding.
    resumed: TaskRun,
    pub(super) project: FakeProject,
    seq: u64,
    pub(super) waiting: Option<(CommandId, Command)>,
}

impl TaskSimulator {
    pub(super) fn new(options: TaskOptions, base: TreeState, script: Vec<TreeState>) -> Self {
        let run = TaskRun::new(options);
        Self { resumed: run.clone(), run, project: FakeProject::new(base, script), seq: 0, waiting: None }
    }

    /// Sends an event through the three parts of the machine.
    pub(super) fn send(&mut self, event: &Event) -> Decision {
        self.run.record(event);
        let decision = self.run.decide(event).expect("the event is in place");
        self.run.apply(&decision);
        self.resumed.record(event);
        self.resumed.apply(&decision);
        assert_eq!(self.run, self.resumed, "to resume is to record and apply");
        let id = CommandId { seq: self.seq, index: 0 };
        self.seq += 1;
        self.waiting = decision.command.clone().map(|command| (id, command));
        decision
    }

    pub(super) fn end_command(&mut self, end: CommandEnd) -> Decision {
        let (command, _) = self.waiting.take().expect("a command is under way");
        self.send(&Event::Ended { command, end, took_ms: 1000 })
    }

    /// Performs commands until the task waits or ends.
    pub(super) fn go(&mut self) -> TaskStatus {
        while let Some((_, command)) = self.waiting.clone() {
            let result = self.project.perform(&command);
            self.end_command(CommandEnd::Completed(result));
        }
        self.run.status()
    }
}
