//! The invariants of every run, checked after every record and at the end.
//!
//! A violation is reported as text, and the test fails.

use std::collections::{BTreeMap, BTreeSet};

use fixpoint_decide::bounds;
use fixpoint_decide::run::{
    Change, Judging, PlanningCalls, Run, RunChange, RunStatus, TaskChange, TaskKind, TaskNode,
};
use fixpoint_decide::task_run::TaskStatus;
use fixpoint_decide::tasks::{TaskEvent, after};
use fixpoint_engine::{EngineExit, Record};
use fixpoint_vocabulary::ask::{ModelAnswer, ParsedAnswer};
use fixpoint_vocabulary::work::{Command, CommandEnd, CommandId, CommandResult, Event};
use fixpoint_vocabulary::{Cause, TaskId, TaskState};

use crate::run::actors::Honesty;
use crate::run::goal::EVERYTHING;
use crate::run::scenario::{OwnChecks, RunScenario};
use crate::run::simulator::SimulatedRun;
use crate::run::tree::Tree;

/// A run with more records never ends.
const MOST_RECORDS: usize = 3000;

#[derive(Debug, Default)]
pub(crate) struct InvariantChecker {
    states: BTreeMap<TaskId, TaskState>,
    begun: BTreeMap<CommandId, Command>,
    records: usize,
    /// The most attempts in flight at once.
    pub(crate) most_attempts: usize,
    /// Questions without an answer, and attempts and questions that were interrupted or failed.
    unanswered: u64,
    interrupted: u64,
    unblocked: usize,
    pub(crate) violations: Vec<String>,
}

impl InvariantChecker {
    fn violated(&mut self, violation: String) {
        if self.violations.len() < 5 {
            self.violations.push(violation);
        }
    }

    /// Checks records that were written together, and the run after them.
    pub(crate) fn check_records(&mut self, scenario: &RunScenario, records: &[Record], run: &Run) {
        for record in records {
            self.records += 1;
            if self.records == MOST_RECORDS {
                self.violated("it does not stop".to_string());
            }
            self.count(record);
            record.decision.changes.iter().for_each(|change| self.check_change(change, run));
        }
        for node in run.tasks() {
            if self.states.get(node.id()) != Some(&node.state) {
                self.violated(format!("`{}` is {:?} without a change", node.id(), node.state));
            }
        }
        self.check_workers(scenario, run);
        self.check_budget(run);
        let has_work = run.in_flight().next().is_some();
        if run.status() == RunStatus::Working && !has_work {
            self.violated("it works, and nothing is in flight".to_string());
        }
        if matches!(run.status(), RunStatus::Paused { .. } | RunStatus::Ended { .. }) && has_work {
            self.violated("it is at rest, and something is in flight".to_string());
        }
        let forgotten = |node: &&TaskNode| {
            let is_idle =
                matches!(node.status(), TaskStatus::Working { .. }) && node.state == TaskState::Running;
            let is_mine = |owner: &fixpoint_decide::run::Owner| {
                *owner == fixpoint_decide::run::Owner::Task(node.id().clone())
            };
            is_idle && !run.in_flight().any(|(_, owner, _)| is_mine(owner))
        };
        if let Some(node) = run.tasks().find(forgotten) {
            self.violated(format!("`{}` works, and nothing of it is in flight", node.id()));
        }
    }

    fn count(&mut self, record: &Record) {
        if let Event::Resumed { unblocked, .. } = &record.event {
            self.unblocked += unblocked.len();
        }
        let Event::Ended { command, end, .. } = &record.event else { return };
        let is_paid = |command: &Command| matches!(command, Command::Ask(_) | Command::RunAttempt(_));
        match end {
            CommandEnd::Completed(CommandResult::Answer(ModelAnswer { reading, .. })) => {
                self.unanswered += u64::from(matches!(reading, ParsedAnswer::Unanswered { .. }));
            }
            CommandEnd::Completed(_) => {}
            CommandEnd::Lost | CommandEnd::Failed { .. } | CommandEnd::Cancelled => {
                let paid = self.begun.get(command).is_some_and(is_paid);
                self.interrupted += u64::from(paid);
            }
        }
    }

    pub(crate) fn note_begun(&mut self, seq: u64, record: &Record, run: &Run) {
        for (id, _, command) in record.decision.commands(seq) {
            self.begun.insert(id, command.clone());
        }
        let is_rest =
            |change: &Change| matches!(change, Change::Run(RunChange::Pause { .. } | RunChange::End { .. }));
        let is_halted = record.decision.changes.iter().any(is_rest);
        if is_halted {
            let given_up = self.begun.keys().filter(|id| !run.is_in_flight(**id)).count();
            // An upper bound of the commands that were cancelled.
            self.interrupted += u64::from(given_up > 0) * 4;
        }
    }

    fn check_change(&mut self, step: &Change, run: &Run) {
        let Some((task, event)) = self.event(step, run) else { return };
        let state = self.states.get(&task).copied();
        match state.map(|state| after(state, event)) {
            Some(Ok(next)) => drop(self.states.insert(task, next)),
            Some(Err(impossible)) => self.violated(format!("`{task}`: {impossible}")),
            None => self.violated(format!("`{task}` is not in the graph")),
        }
    }

    /// What a change means for the state of a task.
    fn event(&mut self, step: &Change, run: &Run) -> Option<(TaskId, TaskEvent)> {
        let Change::Task(change) = step else { return None };
        let (task, state, cause) = match change {
            TaskChange::Added { tasks } => {
                self.states.extend(tasks.iter().map(|new| (new.task.id.clone(), TaskState::Ready)));
                return None;
            }
            TaskChange::Replaced { task, children, .. } => {
                self.states.extend(children.iter().map(|new| (new.task.id.clone(), TaskState::Ready)));
                return Some((task.clone(), TaskEvent::Replaced));
            }
            TaskChange::Started { options } => {
                let is_merge = run.task(&options.task).is_some_and(TaskNode::is_merge);
                let is_running = self.states.get(&options.task) == Some(&TaskState::Running);
                self.check_dependencies(&options.task, run);
                return (!is_merge || !is_running).then(|| (options.task.clone(), TaskEvent::Started));
            }
            TaskChange::StateChanged { task, state, cause } => (task, state, cause),
            TaskChange::Decided { .. } | TaskChange::Rewired { .. } => return None,
        };
        let event = match state {
            TaskState::Running => TaskEvent::Started,
            TaskState::Done => TaskEvent::Finished,
            TaskState::Blocked => TaskEvent::Blocked(cause.unwrap_or(Cause::Partial)),
            TaskState::Ready => TaskEvent::Unblocked,
            TaskState::NeedsContinuation => TaskEvent::Unfinished,
            TaskState::Cancelled => TaskEvent::Cancelled,
            TaskState::ReplacedByReplan => TaskEvent::Replaced,
        };
        Some((task.clone(), event))
    }

    /// A task starts only when its dependencies, or their replacements, are done.
    fn check_dependencies(&mut self, task: &TaskId, run: &Run) {
        let mut waiting: Vec<TaskId> =
            run.task(task).map(|node| node.task.dependencies.clone()).unwrap_or_default();
        let mut totals = BTreeSet::new();
        while let Some(id) = waiting.pop() {
            if !totals.insert(id.clone()) {
                continue;
            }
            let state = self.states.get(&id).copied();
            if state == Some(TaskState::ReplacedByReplan) {
                waiting.extend(run.task(&id).map(|node| node.replaced_by.clone()).unwrap_or_default());
            } else if state != Some(TaskState::Done) {
                self.violated(format!("`{task}` starts, and `{id}` is {state:?}"));
            }
        }
    }

    fn check_workers(&mut self, scenario: &RunScenario, run: &Run) {
        let most = scenario.settings.max_workers as usize;
        let attempts = run.in_flight().filter(|(.., command)| matches!(command, Command::RunAttempt(_)));
        let attempts = attempts.count();
        self.most_attempts = self.most_attempts.max(attempts);
        let running: Vec<&TaskNode> = run.tasks().filter(|node| node.state == TaskState::Running).collect();
        if attempts > most || running.len() > most {
            self.violated(format!("{attempts} attempts, {} tasks at once, {most} allowed", running.len()));
        }
        for (place, one) in running.iter().enumerate() {
            for other in running.iter().skip(place + 1) {
                let (left, right) = (&one.task.scope_paths, &other.task.scope_paths);
                let overlap =
                    left.is_empty() || right.is_empty() || left.iter().any(|path| right.contains(path));
                if overlap {
                    self.violated(format!("`{}` and `{}` overlap and run together", one.id(), other.id()));
                }
            }
        }
    }

    fn check_budget(&mut self, run: &Run) {
        let (committed, allowed) = (run.ledger().committed(), run.ledger().allowed());
        let pairs = [
            ("calls", committed.model_calls, allowed.model_calls),
            ("tokens", committed.tokens, allowed.tokens),
            ("money", committed.money.0, allowed.money.map(|money| money.0)),
            ("attempts", committed.attempts, allowed.attempts),
        ];
        for (name, committed, allowed) in pairs {
            if allowed.is_some_and(|allowed| committed > allowed) {
                self.violated(format!("{committed} {name} of {allowed:?} allowed"));
            }
        }
    }

    pub(crate) fn check_end(&mut self, scenario: &RunScenario, simulated: &SimulatedRun) {
        let run = &simulated.run;
        self.check_bounds(scenario, run);
        self.check_delivery(simulated);
        for node in run.tasks() {
            self.check_task(scenario, node);
        }
        let most = scenario.settings.replanning.max_iterations;
        if let Some(node) = run.tasks().find(|node| node.lineage_iteration() >= most.max(1)) {
            self.violated(format!("`{}` is a replan too many", node.id()));
        }
        let dead =
            |id: &TaskId| matches!(self.states.get(id), Some(TaskState::Blocked | TaskState::Cancelled));
        let in_vain = run.unreachable_tasks();
        let shown = |node: &&TaskNode| node.state.is_waiting() && node.task.dependencies.iter().any(dead);
        if let Some(node) = run.tasks().filter(shown).find(|node| !in_vain.contains(node.id())) {
            self.violated(format!("`{}` waits in vain, and is not shown so", node.id()));
        }
        if let RunStatus::Ended { cause: Cause::Done | Cause::AlreadySatisfied } = run.status() {
            self.check_success(scenario, run);
        }
    }

    /// The delivered branch, and the one on record, are at the result.
    fn check_delivery(&mut self, simulated: &SimulatedRun) {
        let run = &simulated.run;
        let result = match simulated.ending {
            EngineExit::Ended(Cause::Done | Cause::Partial | Cause::JudgeUnavailable) => run.result(),
            EngineExit::Ended(_) | EngineExit::Paused(_) => return,
        };
        let base = run.planning().base.as_ref().map(|base| &base.commit);
        let expected =
            result.filter(|result| Some(&result.commit) != base).map(|result| result.commit.0.clone());
        let on_record = run.delivered().and_then(|delivered| delivered.branch.clone());
        if on_record.map(|branch| branch.name) != expected || simulated.executed.branch != expected {
            self.violated(format!("{:?} was delivered instead of {expected:?}", simulated.executed.branch));
        }
    }

    fn check_bounds(&mut self, scenario: &RunScenario, run: &Run) {
        // A person who unblocks a task resets its counters.
        if self.unblocked > 0 {
            return;
        }
        let tasks = run.review().plan().map_or(0, |plan| plan.tasks.len());
        let mut config = scenario.settings.clone();
        config.planning.enabled = scenario.calls != PlanningCalls::None;
        let question = bounds::Question {
            config,
            tasks: u32::try_from(tasks).unwrap_or(u32::MAX),
            prices: Some(RunScenario::price()),
        };
        let most = bounds::decide(&question);
        let spent = run.ledger().spent();
        let excused = self.unanswered + self.interrupted;
        if spent.model_calls > most.model_calls + excused {
            self.violated(format!("{} calls, {} at most", spent.model_calls, most.model_calls));
        }
        if spent.attempts > most.agent_attempts + self.interrupted {
            self.violated(format!("{} attempts, {} at most", spent.attempts, most.agent_attempts));
        }
        if excused == 0 && spent.tokens > most.tokens {
            self.violated(format!("{} tokens, {} at most", spent.tokens, most.tokens));
        }
        if excused == 0 && most.money.is_some_and(|money| spent.money.usd() > money + 1e-6) {
            self.violated(format!("{} dollars, {:?} at most", spent.money.usd(), most.money));
        }
    }

    fn check_task(&mut self, scenario: &RunScenario, node: &TaskNode) {
        if node.state != TaskState::Done {
            return;
        }
        let Some(result) = node.result() else {
            return self.violated(format!("`{}` is done without a result", node.id()));
        };
        let tree = Tree::of(&result.commit);
        let is_guarded = scenario.own_checks != OwnChecks::None;
        if is_guarded && !scenario.actors.goal.is_clean(&tree) {
            self.violated(format!("`{}` is done, and {} is not clean", node.id(), result.commit));
        }
        for command in &node.task.goals {
            if !scenario.actors.goal.failing(command, &tree).0.is_empty() {
                self.violated(format!("`{}` is done, and `{command}` fails at {}", node.id(), result.commit));
            }
        }
        if let TaskKind::Merge { .. } = &node.kind
            && tree.is_marked()
        {
            self.violated(format!("`{}` is done, and holds marks", node.id()));
        }
    }

    fn check_success(&mut self, scenario: &RunScenario, run: &Run) {
        let is_done = |node: &&TaskNode| match node.state {
            TaskState::Done | TaskState::ReplacedByReplan => true,
            TaskState::Ready
            | TaskState::Running
            | TaskState::NeedsContinuation
            | TaskState::Blocked
            | TaskState::Cancelled => false,
        };
        if let Some(node) = run.tasks().find(|node| !is_done(node)) {
            self.violated(format!("done, and `{}` is {:?}", node.id(), node.state));
        }
        let Some(result) = run.result() else { return };
        let tree = Tree::of(&result.commit);
        let goal = &scenario.actors.goal;
        if scenario.own_checks == OwnChecks::GuardAndGoal && !goal.failing(EVERYTHING, &tree).0.is_empty() {
            self.violated(format!("done, and its goal fails at {}", result.commit));
        }
        let sides = run.tasks().filter(|node| node.state == TaskState::Done).filter_map(TaskNode::result);
        for side in sides.filter(|_| scenario.own_checks == OwnChecks::None) {
            if scenario.actors.goal.unmet(&tree).len() > goal.unmet(&Tree::of(&side.commit)).len() {
                self.violated(format!("done, and {} has less than {}", result.commit, side.commit));
            }
        }
        if is_truth_known(scenario, run) && !goal.is_reached(&tree) {
            self.violated(format!("false done: {}", result.commit));
        }
    }
}

/// Whether an honest judge or check was asked that can see every fault.
pub(crate) fn is_truth_known(scenario: &RunScenario, run: &Run) -> bool {
    scenario.actors.honesty == Honesty::Honest
        && scenario.judging == Judging::ByModel
        && scenario.own_checks != OwnChecks::None
        && run.planning().partial.is_none()
        && run.result().is_some()
        // Without planning, only its own check says what a goal means.
        && (scenario.calls != PlanningCalls::None || scenario.own_checks == OwnChecks::GuardAndGoal)
}
