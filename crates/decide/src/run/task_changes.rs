//! What happens to the task graph and to single tasks.

use fixpoint_vocabulary::documents::Subtask;
use fixpoint_vocabulary::run_spec::PlacedCheck;
use fixpoint_vocabulary::settings::{Check, CheckKind};
use fixpoint_vocabulary::work::{Command, CommandId, Event};
use fixpoint_vocabulary::{Cause, Redacted, TaskId, TaskState};
use serde::{Deserialize, Serialize};

use super::{InFlight, Owner, Run, TaskKind, TaskNode, TaskSignal};
use crate::prelude::*;
use crate::replanning::ReplanningInfo;
use crate::task_run::{self, BaselineState, TaskOptions, TaskRun};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NewTask {
    pub task: Subtask,
    pub kind: TaskKind,
    /// Its place in its lineage of replans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lineage: Option<ReplanningInfo>,
    /// What it begins on, where that is not what it depends on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<BaselineState>,
}

impl NewTask {
    pub(super) const fn new(task: Subtask, kind: TaskKind) -> Self {
        Self { task, kind, lineage: None, baseline: None }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskChange {
    Added {
        tasks: Vec<NewTask>,
    },
    Started {
        #[serde(rename = "order")]
        options: Box<TaskOptions>,
    },
    /// A task's own state machine decided something, and maybe wants a command executed.
    Decided {
        task: TaskId,
        #[serde(default, skip_serializing_if = "TaskSignal::is_event")]
        signal: TaskSignal,
        decision: task_run::Decision,
    },
    /// A task has another state in the graph.
    StateChanged {
        task: TaskId,
        state: TaskState,
        /// Why, where it is blocked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<Cause>,
    },
    /// Smaller tasks take the place of one; who waited for it waits for them.
    Replaced {
        task: TaskId,
        children: Vec<NewTask>,
        reason: Redacted,
    },
    /// A task waits for others than before.
    Rewired {
        task: TaskId,
        dependencies: Vec<TaskId>,
    },
}

impl TaskChange {
    pub(super) fn state(task: &TaskId, state: TaskState) -> Self {
        Self::StateChanged { task: task.clone(), state, cause: None }
    }

    pub(super) fn blocked(task: &TaskId, cause: Cause) -> Self {
        Self::StateChanged { task: task.clone(), state: TaskState::Blocked, cause: Some(cause) }
    }
}

impl Run {
    /// Folds a change. `id` is the name of the command it begins, if it begins one.
    pub(super) fn apply_task(&mut self, id: CommandId, change: &TaskChange) {
        match change {
            TaskChange::Added { tasks } => {
                self.final_review.is_complete = None;
                tasks.iter().for_each(|task| self.add_task(task.clone()));
            }
            TaskChange::Started { options } => {
                let run = TaskRun::new((**options).clone());
                self.graph.update(&options.task, |node| {
                    node.state = TaskState::Running;
                    node.run = Some(run);
                });
            }
            TaskChange::Decided { task, decision, .. } => self.apply_task_decision(id, task, decision),
            TaskChange::StateChanged { task, state, cause } => self.apply_state(task, *state, *cause),
            TaskChange::Replaced { task, children, .. } => {
                self.forget_rejected(&Owner::Replan(task.clone()));
                let names: Vec<TaskId> = children.iter().map(|child| child.task.id.clone()).collect();
                self.graph.rewire(task, |node| {
                    node.state = TaskState::ReplacedByReplan;
                    node.replaced_by = names;
                });
                children.iter().for_each(|child| self.add_task(child.clone()));
            }
            TaskChange::Rewired { task, dependencies } => {
                self.graph.rewire(task, |node| node.task.dependencies.clone_from(dependencies));
            }
        }
    }

    /// Folds what a task reacts to, before what it decides.
    pub(super) fn record_task(&mut self, task: &TaskId, signal: TaskSignal, event: &Event) {
        self.graph.update(task, |node| {
            if let Some(run) = &mut node.run {
                run.record(&signal.event(event));
            }
        });
    }

    fn apply_task_decision(&mut self, id: CommandId, task: &TaskId, decision: &task_run::Decision) {
        self.graph.update(task, |node| {
            if let Some(run) = &mut node.run {
                run.apply(decision);
            }
            if let Some(Command::RunAttempt(_)) = decision.command {
                node.last_attempt = Some(id);
            }
        });
        if let Some(command) = &decision.command {
            let (owner, command) = (Owner::Task(task.clone()), command.clone());
            self.in_flight.insert(id, InFlight { owner, command });
        }
    }

    fn apply_state(&mut self, task: &TaskId, state: TaskState, cause: Option<Cause>) {
        self.graph.update(task, |node| {
            let tries_again = node.state == TaskState::Blocked && state == TaskState::Ready;
            (node.state, node.cause) = (state, cause);
            if tries_again {
                (node.run, node.last_attempt, node.reflected) = (None, None, false);
            }
        });
        if state == TaskState::Ready {
            self.reopen(task);
        }
    }

    /// A task tries again: the judgement of the whole was made without it, and what was left out because of it may be
    /// part of the result after all.
    fn reopen(&mut self, task: &TaskId) {
        self.final_review.is_complete = None;
        self.reopen_delivery();
        if let Some(TaskKind::Merge { theirs, .. }) = self.task(task).map(|node| node.kind.clone()) {
            self.left_out.remove(&theirs);
        }
    }

    /// A task enters the graph, and the commands that must pass when it is done become checks.
    fn add_task(&mut self, new: NewTask) {
        let goals: BTreeSet<u32> = new.task.goals.iter().map(|command| self.check_number(command)).collect();
        // Tasks that replace it each do a part only; the run's own goals are checked at the end then.
        let is_only =
            new.kind == TaskKind::Planned && self.review.plan().is_some_and(|plan| plan.tasks.len() == 1);
        let goals = if is_only { goals.union(&self.run_goals()).copied().collect() } else { goals };
        self.graph.add(TaskNode::new(new, goals));
    }

    /// The number of the check that runs a command, which is made one if it is none.
    fn check_number(&mut self, command: &str) -> u32 {
        let position = self.checks.iter().position(|placed| placed.check.command == command);
        let number = position.unwrap_or_else(|| {
            let directory = self.spec.as_ref().map(|spec| spec.directory.clone()).unwrap_or_default();
            let name = alloc::format!("goal-{}", self.checks.len() + 1);
            let check = Check::new(name, command.to_string(), CheckKind::Goal);
            Arc::make_mut(&mut self.checks).push(PlacedCheck { check, directory });
            self.checks.len() - 1
        });
        u32::try_from(number).unwrap_or(u32::MAX)
    }
}
