//! What must hold of every whole run, looked at after every record and at the end.
//!
//! Owns the properties; refuses to help: whatever does not hold is told as text and ends the simulation as a failure.

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

use super::actors::Honesty;
use super::circumstances::{Circumstances, Own};
use super::scheme::EVERYTHING;
use super::simulator::SimulatedRun;
use super::tree::Tree;

/// A run with more records than this goes on for ever.
const MOST_RECORDS: usize = 3000;

/// What was seen of one run.
#[derive(Debug, Default)]
pub(crate) struct Watcher {
    states: BTreeMap<TaskId, TaskState>,
    begun: BTreeMap<CommandId, Command>,
    records: usize,
    /// The most attempts that were under way at once.
    pub(crate) most_attempts: usize,
    /// Questions that got no answer, and attempts and questions that were cut short or could not be performed.
    unanswered: u64,
    cut_short: u64,
    unblocked: usize,
    pub(crate) complaints: Vec<String>,
}

impl Watcher {
    fn complain(&mut self, complaint: String) {
        if self.complaints.len() < 5 {
            self.complaints.push(complaint);
        }
    }

    /// Looks at records that were written together, and at the run as it is after them.
    pub(crate) fn look(&mut self, circumstances: &Circumstances, records: &[Record], run: &Run) {
        for record in records {
            self.records += 1;
            if self.records == MOST_RECORDS {
                self.complain("it does not stop".to_string());
            }
            self.count(record);
            record.decision.changes.iter().for_each(|change| self.follow(change, run));
        }
        for node in run.tasks() {
            if self.states.get(node.id()) != Some(&node.state) {
                self.complain(format!("`{}` is {:?} without a change", node.id(), node.state));
            }
        }
        self.look_at_workers(circumstances, run);
        self.look_at_budget(run);
        let has_work = run.in_flight().next().is_some();
        if run.status() == RunStatus::Working && !has_work {
            self.complain("it works, and nothing is under way".to_string());
        }
        if matches!(run.status(), RunStatus::Paused { .. } | RunStatus::Ended { .. }) && has_work {
            self.complain("it is at rest, and something is under way".to_string());
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
            self.complain(format!("`{}` works, and nothing of it is under way", node.id()));
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
                self.cut_short += u64::from(paid);
            }
        }
    }

    /// What was begun, and what was given up in the same breath.
    pub(crate) fn note_begun(&mut self, seq: u64, record: &Record, run: &Run) {
        for (id, _, command) in record.decision.commands(seq) {
            self.begun.insert(id, command.clone());
        }
        let is_rest =
            |change: &Change| matches!(change, Change::Run(RunChange::Pause { .. } | RunChange::End { .. }));
        let is_halted = record.decision.changes.iter().any(is_rest);
        if is_halted {
            let given_up = self.begun.keys().filter(|id| !run.is_in_flight(**id)).count();
            // Bounded from above: whatever was ever begun may have been given up by it.
            self.cut_short += u64::from(given_up > 0) * 4;
        }
    }

    fn follow(&mut self, step: &Change, run: &Run) {
        let Some((task, event)) = self.event(step, run) else { return };
        let state = self.states.get(&task).copied();
        match state.map(|state| after(state, event)) {
            Some(Ok(next)) => drop(self.states.insert(task, next)),
            Some(Err(impossible)) => self.complain(format!("`{task}`: {impossible}")),
            None => self.complain(format!("`{task}` is not in the graph")),
        }
    }

    /// What a move means for a task, where it means something for one.
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
                self.look_at_dependencies(&options.task, run);
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

    /// What a task that starts waits for is done, replacements included.
    fn look_at_dependencies(&mut self, task: &TaskId, run: &Run) {
        let mut waiting: Vec<TaskId> =
            run.task(task).map(|node| node.task.dependencies.clone()).unwrap_or_default();
        let mut seen = BTreeSet::new();
        while let Some(id) = waiting.pop() {
            if !seen.insert(id.clone()) {
                continue;
            }
            let state = self.states.get(&id).copied();
            if state == Some(TaskState::ReplacedByReplan) {
                waiting.extend(run.task(&id).map(|node| node.replaced_by.clone()).unwrap_or_default());
            } else if state != Some(TaskState::Done) {
                self.complain(format!("`{task}` starts, and `{id}` is {state:?}"));
            }
        }
    }

    fn look_at_workers(&mut self, circumstances: &Circumstances, run: &Run) {
        let most = circumstances.settings.max_workers as usize;
        let attempts = run.in_flight().filter(|(.., command)| matches!(command, Command::RunAttempt(_)));
        let attempts = attempts.count();
        self.most_attempts = self.most_attempts.max(attempts);
        let running: Vec<&TaskNode> = run.tasks().filter(|node| node.state == TaskState::Running).collect();
        if attempts > most || running.len() > most {
            self.complain(format!("{attempts} attempts, {} tasks at once, {most} allowed", running.len()));
        }
        for (place, one) in running.iter().enumerate() {
            for other in running.iter().skip(place + 1) {
                let (left, right) = (&one.task.scope_paths, &other.task.scope_paths);
                let overlap =
                    left.is_empty() || right.is_empty() || left.iter().any(|path| right.contains(path));
                if overlap {
                    self.complain(format!("`{}` and `{}` overlap and run together", one.id(), other.id()));
                }
            }
        }
    }

    fn look_at_budget(&mut self, run: &Run) {
        let (committed, allowed) = (run.ledger().committed(), run.ledger().allowed());
        let pairs = [
            ("calls", committed.model_calls, allowed.model_calls),
            ("tokens", committed.tokens, allowed.tokens),
            ("money", committed.money.0, allowed.money.map(|money| money.0)),
            ("attempts", committed.attempts, allowed.attempts),
        ];
        for (name, committed, allowed) in pairs {
            if allowed.is_some_and(|allowed| committed > allowed) {
                self.complain(format!("{committed} {name} of {allowed:?} allowed"));
            }
        }
    }

    /// Looks at how a run ended.
    pub(crate) fn look_at_end(&mut self, circumstances: &Circumstances, played: &SimulatedRun) {
        let run = &played.run;
        self.look_at_bounds(circumstances, run);
        self.look_at_delivery(played);
        for node in run.tasks() {
            self.look_at_task(circumstances, node);
        }
        let most = circumstances.settings.replanning.max_iterations;
        if let Some(node) = run.tasks().find(|node| node.lineage_iteration() >= most.max(1)) {
            self.complain(format!("`{}` is a replan too many", node.id()));
        }
        let dead =
            |id: &TaskId| matches!(self.states.get(id), Some(TaskState::Blocked | TaskState::Cancelled));
        let in_vain = run.unreachable_tasks();
        let shown = |node: &&TaskNode| node.state.is_waiting() && node.task.dependencies.iter().any(dead);
        if let Some(node) = run.tasks().filter(shown).find(|node| !in_vain.contains(node.id())) {
            self.complain(format!("`{}` waits in vain, and is not shown so", node.id()));
        }
        if let RunStatus::Ended { cause: Cause::Done | Cause::AlreadySatisfied } = run.status() {
            self.look_at_success(circumstances, run);
        }
    }

    /// The branch is at the result, where there is one to deliver, and on record.
    fn look_at_delivery(&mut self, played: &SimulatedRun) {
        let run = &played.run;
        let result = match played.ending {
            EngineExit::Ended(Cause::Done | Cause::Partial | Cause::JudgeUnavailable) => run.result(),
            EngineExit::Ended(_) | EngineExit::Paused(_) => return,
        };
        let base = run.planning().base.as_ref().map(|base| &base.commit);
        let expected =
            result.filter(|result| Some(&result.commit) != base).map(|result| result.commit.0.clone());
        let on_record = run.delivered().and_then(|delivered| delivered.branch.clone());
        if on_record.map(|branch| branch.name) != expected || played.performed.branch != expected {
            self.complain(format!("{:?} was delivered instead of {expected:?}", played.performed.branch));
        }
    }

    fn look_at_bounds(&mut self, circumstances: &Circumstances, run: &Run) {
        // A person who unblocks a task resets its counters.
        if self.unblocked > 0 {
            return;
        }
        let tasks = run.review().plan().map_or(0, |plan| plan.tasks.len());
        let mut config = circumstances.settings.clone();
        config.planning.enabled = circumstances.calls != PlanningCalls::None;
        let question = bounds::Question {
            config,
            tasks: u32::try_from(tasks).unwrap_or(u32::MAX),
            prices: Some(Circumstances::price()),
        };
        let most = bounds::decide(&question);
        let spent = run.ledger().spent();
        let excused = self.unanswered + self.cut_short;
        if spent.model_calls > most.model_calls + excused {
            self.complain(format!("{} calls, {} at most", spent.model_calls, most.model_calls));
        }
        if spent.attempts > most.agent_attempts + self.cut_short {
            self.complain(format!("{} attempts, {} at most", spent.attempts, most.agent_attempts));
        }
        if excused == 0 && spent.tokens > most.tokens {
            self.complain(format!("{} tokens, {} at most", spent.tokens, most.tokens));
        }
        if excused == 0 && most.money.is_some_and(|money| spent.money.usd() > money + 1e-6) {
            self.complain(format!("{} dollars, {:?} at most", spent.money.usd(), most.money));
        }
    }

    fn look_at_task(&mut self, circumstances: &Circumstances, node: &TaskNode) {
        if node.state != TaskState::Done {
            return;
        }
        let Some(result) = node.result() else {
            return self.complain(format!("`{}` is done without a result", node.id()));
        };
        let tree = Tree::of(&result.commit);
        let is_guarded = circumstances.own != Own::Nothing;
        if is_guarded && !circumstances.cast.scheme.is_clean(&tree) {
            self.complain(format!("`{}` is done, and {} is not clean", node.id(), result.commit));
        }
        for command in &node.task.goals {
            if !circumstances.cast.scheme.failing(command, &tree).0.is_empty() {
                self.complain(format!("`{}` is done, and `{command}` fails at {}", node.id(), result.commit));
            }
        }
        if let TaskKind::Merge { .. } = &node.kind
            && tree.is_marked()
        {
            self.complain(format!("`{}` is done, and holds marks", node.id()));
        }
    }

    fn look_at_success(&mut self, circumstances: &Circumstances, run: &Run) {
        let is_done = |node: &&TaskNode| match node.state {
            TaskState::Done | TaskState::ReplacedByReplan => true,
            TaskState::Ready
            | TaskState::Running
            | TaskState::NeedsContinuation
            | TaskState::Blocked
            | TaskState::Cancelled => false,
        };
        if let Some(node) = run.tasks().find(|node| !is_done(node)) {
            self.complain(format!("done, and `{}` is {:?}", node.id(), node.state));
        }
        let Some(result) = run.result() else { return };
        let tree = Tree::of(&result.commit);
        let scheme = &circumstances.cast.scheme;
        if circumstances.own == Own::GuardAndGoal && !scheme.failing(EVERYTHING, &tree).0.is_empty() {
            self.complain(format!("done, and its goal fails at {}", result.commit));
        }
        let sides = run.tasks().filter(|node| node.state == TaskState::Done).filter_map(TaskNode::result);
        for side in sides.filter(|_| circumstances.own == Own::Nothing) {
            if circumstances.cast.scheme.unmet(&tree).len() > scheme.unmet(&Tree::of(&side.commit)).len() {
                self.complain(format!("done, and {} has less than {}", result.commit, side.commit));
            }
        }
        if is_truth_known(circumstances, run) && !scheme.is_true(&tree) {
            self.complain(format!("false done: {}", result.commit));
        }
    }
}

/// Whether everybody who could have seen that something is wrong was honest and was asked.
pub(crate) fn is_truth_known(circumstances: &Circumstances, run: &Run) -> bool {
    circumstances.cast.honesty == Honesty::Honest
        && circumstances.judging == Judging::ByModel
        && circumstances.own != Own::Nothing
        && run.planning().partial.is_none()
        && run.result().is_some()
        // A goal that is taken as it is has nobody who says what it means, but for its own check.
        && (circumstances.calls != PlanningCalls::None || circumstances.own == Own::GuardAndGoal)
}
