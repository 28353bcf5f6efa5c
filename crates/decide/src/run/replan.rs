//! Smaller tasks in the place of one that cannot work.

use fixpoint_vocabulary::ask::{ModelAnswer, ParsedAnswer, QuestionKind};
use fixpoint_vocabulary::documents::{Document, Subtask};
use fixpoint_vocabulary::work::CommandResult;
use fixpoint_vocabulary::{Cause, Redacted, Redactor, TaskId};
use serde_json::Map;

use super::{NewTask, Owner, RejectedAnswer, Run, TaskChange, TaskKind, TaskNode, Transition};
use crate::prelude::*;
use crate::replanning::{self, Answer, Child, GraphTask, ReplanRefusal};
use crate::task_run::{BaselineState, TaskRun, TaskStatus};
use crate::{plan_shape, sanitising};

impl Run {
    /// Replans made in a task's lineage: one counter for a task and all its descendants.
    fn replans_of(&self, task: &TaskId) -> u32 {
        let Some(origin) = self.task(task).map(|node| node.origin().clone()) else { return 0 };
        let lineage = self.tasks().filter(|node| *node.origin() == origin);
        lineage.map(|node| node.lineage_iteration()).max().unwrap_or(0)
    }

    /// What the tasks in the place of another begin on: its best attempt, compared with what it was compared with.
    fn baseline_for_children(run: &TaskRun) -> Option<BaselineState> {
        // What lies outside the scope would be part of what they are compared with, and nobody would see it again.
        let best = run.best_result().filter(|_| run.is_best_within_scope())?;
        let goals = run.options().goals.difference(&run.options().guards).copied().collect();
        Some(run.baseline().moved_to(best.clone(), &goals))
    }
}

impl Transition<'_> {
    /// Asks for smaller tasks, if that may still be done in the lineage.
    pub(super) fn replan(&mut self, task: &TaskId, cause: Cause) {
        let Some(settings) = self.run.settings() else { return };
        let is_full = self.run.graph.len() >= settings.planning.max_subtasks as usize;
        let blocked = match replanning::may_replan(self.run.replans_of(task), &settings.replanning) {
            Err(ReplanRefusal::Disabled) => Some(cause),
            Err(ReplanRefusal::LimitReached) => Some(Cause::MaxReplans),
            Ok(_) => is_full.then_some(Cause::MaxReplans),
        };
        match blocked {
            Some(cause) => self.block(task, cause),
            None => {
                let about = QuestionKind::ReplanTask { task: task.clone() };
                self.ask(Owner::Replan(task.clone()), about);
            }
        }
    }

    fn block(&mut self, task: &TaskId, cause: Cause) {
        self.push(TaskChange::blocked(task, cause));
    }

    pub(super) fn with_replan(&mut self, task: &TaskId, result: &CommandResult) {
        let CommandResult::Answer(ModelAnswer { reading, .. }) = result else { return };
        let ParsedAnswer::Document(Document::Planning(document)) = reading else {
            return match RejectedAnswer::of(reading) {
                Some(rejected) => self.replan_again(task, rejected),
                None => self.block(task, Cause::ModelUnavailable),
            };
        };
        match (&document.task_decomposition, &document.error) {
            (Some(decomposition), _) => {
                let children = plan_shape::flattened(&decomposition.subtasks);
                let reason = Redactor::default().redact(&decomposition.reasoning);
                self.replace(task, &children, reason);
            }
            // The planner says that no smaller tasks would do. That is on record, and asking again would only press it.
            (None, Some(_)) => self.block(task, self.cause_of(task)),
            (None, None) => {
                let problem = Redacted::ours("task_decomposition is missing");
                self.replan_again(task, RejectedAnswer::because(problem));
            }
        }
    }

    /// The answer cannot be used: the planner is asked again, or the task stays as it is, blocked.
    fn replan_again(&mut self, task: &TaskId, rejected: RejectedAnswer) {
        let owner = Owner::Replan(task.clone());
        if self.is_asked_again(&owner, rejected) {
            let about = QuestionKind::ReplanTask { task: task.clone() };
            return self.ask(owner, about);
        }
        self.block(task, self.cause_of(task));
    }

    /// Why a task that is not replaced came to its end.
    fn cause_of(&self, task: &TaskId) -> Cause {
        match self.run.task(task).map(TaskNode::status) {
            Some(TaskStatus::Ended { cause }) => cause,
            Some(TaskStatus::New | TaskStatus::Working { .. } | TaskStatus::Paused { .. }) | None => {
                Cause::NotConverging
            }
        }
    }

    fn replace(&mut self, task: &TaskId, children: &[Subtask], reason: Redacted) {
        let (Some(node), Some(settings)) = (self.run.task(task), self.run.settings()) else { return };
        let outlines: Vec<GraphTask> = self.run.tasks().map(|node| node.outline()).collect();
        let question = replanning::Question {
            tasks: outlines.clone(),
            task: task.clone(),
            children: children.iter().map(child).collect(),
            lineage_iteration: self.run.replans_of(task),
            reason: Some(reason.to_string()),
            config: replanning::Limits {
                replanning: Some(settings.replanning.clone()),
                max_subtasks: settings.planning.max_subtasks,
                ..replanning::Limits::default()
            },
        };
        let baseline = node.run.as_ref().and_then(Run::baseline_for_children);
        let findings = sanitising::risky_commands(children);
        let finding = findings.first().map(sanitising::RiskyCommand::text);
        if let Some(problem) = plan_shape::problem_of_each(children).or(finding) {
            let problem = Redactor::default().redact(&problem);
            return self.replan_again(task, RejectedAnswer::because(problem));
        }
        match replanning::decide(&question) {
            Ok(Answer::Rewired { tasks, .. }) => {
                let (old, new) = tasks.split_at(outlines.len().min(tasks.len()));
                let children: Vec<NewTask> = new
                    .iter()
                    .zip(children)
                    .map(|(outline, task)| new_task(outline, task, baseline.clone()))
                    .collect();
                let rewired: Vec<TaskChange> = rewired(&outlines, old);
                self.push(TaskChange::Replaced { task: task.clone(), children, reason });
                rewired.into_iter().for_each(|change| self.push(change));
            }
            // Too many tasks at once is the planner's to mend; to have none left is not.
            Ok(Answer::Blocked { .. }) if children.len() > settings.replanning.max_children as usize => {
                let problem = Redacted::ours("more tasks than may take the place of one");
                self.replan_again(task, RejectedAnswer::because(problem));
            }
            Ok(Answer::Blocked { blocked }) => self.block(task, blocked.cause),
            Err(invalid) => {
                let problem = Redactor::default().redact(&invalid.to_string());
                self.replan_again(task, RejectedAnswer::because(problem));
            }
        }
    }
}

fn child(task: &Subtask) -> Child {
    let scope_paths = (!task.scope_paths.is_empty()).then(|| task.scope_paths.clone());
    Child { id: task.id.clone(), dependencies: task.dependencies.clone(), scope_paths, other: Map::new() }
}

/// A child with the name, the dependencies and the scope the graph gave it.
fn new_task(outline: &GraphTask, task: &Subtask, baseline: Option<BaselineState>) -> NewTask {
    let task = Subtask {
        id: outline.id.clone(),
        dependencies: outline.dependencies.clone(),
        scope_paths: outline.scope_paths.clone().unwrap_or_default(),
        ..task.clone()
    };
    NewTask { task, kind: TaskKind::Replanned, lineage: outline.replanning_info.clone(), baseline }
}

/// The tasks that wait for others than before.
fn rewired(before: &[GraphTask], after: &[GraphTask]) -> Vec<TaskChange> {
    let known: BTreeMap<&TaskId, &GraphTask> = before.iter().map(|task| (&task.id, task)).collect();
    let is_changed = |task: &&GraphTask| {
        known.get(&task.id).is_some_and(|before| before.dependencies != task.dependencies)
    };
    let rewired = |task: &GraphTask| TaskChange::Rewired {
        task: task.id.clone(),
        dependencies: task.dependencies.clone(),
    };
    after.iter().filter(is_changed).map(rewired).collect()
}

#[cfg(test)]
mod tests {

    use fixpoint_vocabulary::documents::{PlanningDocument, PlanningError, PlanningErrorKind};
    use fixpoint_vocabulary::settings::Settings;
    use fixpoint_vocabulary::usage::Usage;
    use fixpoint_vocabulary::work::Event;

    use super::super::{Change, RunChange, RunOptions, Turn};
    use super::*;
    use crate::task_run::TaskOptions;

    /// What follows from an answer of the planner.
    fn changes(document: PlanningDocument) -> Vec<Change> {
        let task = TaskId::from("t");
        let options =
            TaskOptions::under(&Settings::default(), task.clone(), BTreeSet::new(), BTreeSet::from([0]));
        let mut run = Run::new(RunOptions::given(options), None);
        let turn = Turn { seq: 1, elapsed_ms: 0 };
        let mut transition = Transition::new(&mut run, turn, &Event::Started);
        let reading = ParsedAnswer::Document(Document::Planning(document));
        let answer = ModelAnswer { model: "m".into(), usage: Usage::default(), reading };
        transition.with_replan(&task, &CommandResult::Answer(answer));
        transition.changes
    }

    /// Catches that "no smaller tasks would do" is taken for an answer that cannot be used, and asked for again.
    #[test]
    fn a_planner_that_sees_no_smaller_tasks_is_believed() {
        let error = PlanningError {
            kind: PlanningErrorKind::DecompositionFailed,
            message: "two tests contradict each other".into(),
            clarification_needed: Vec::new(),
            partial_plan: None,
        };
        let refused = PlanningDocument { error: Some(error), ..PlanningDocument::default() };
        assert_eq!(changes(refused), [TaskChange::blocked(&"t".into(), Cause::NotConverging).into()]);
        let silent = changes(PlanningDocument::default());
        assert!(matches!(silent.first(), Some(Change::Run(RunChange::RejectAnswer { .. }))), "{silent:?}");
    }
}
