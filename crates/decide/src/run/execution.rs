//! The task graph at work: what starts now and from which commit, and what follows from a task that ended.

use fixpoint_vocabulary::settings::{OnStop, Settings};
use fixpoint_vocabulary::work::{Command, MergeCommand};
use fixpoint_vocabulary::{Cause, TaskId, TaskState};

use super::{
    Judging, MergeChange, Owner, Run, TaskChange, TaskKind, TaskNode, TaskSignal, Transition, UnexpectedEvent,
};
use crate::prelude::*;
use crate::task_run::{Decision, JudgeOptions, TaskOptions, TaskStart, TaskStatus};

/// A task without any check is done when the judge says so twice.
const YESES_WITHOUT_CHECKS: u32 = 2;

impl Run {
    /// The tasks whose results another one depends on: its dependencies, with replaced tasks expanded to their replacements.
    pub(super) fn effective_dependencies(&self, dependencies: &[TaskId]) -> Vec<TaskId> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        let mut waiting: Vec<&TaskId> = dependencies.iter().rev().collect();
        while let Some(id) = waiting.pop() {
            let Some(node) = self.task(id).filter(|_| seen.insert(id)) else { continue };
            if node.state == TaskState::ReplacedByReplan {
                waiting.extend(node.replaced_by.iter().rev());
            } else {
                found.push(node.id());
            }
        }
        self.graph.without_contained(&found).into_iter().cloned().collect()
    }

    /// Everything that is fixed about a task that begins now.
    pub(super) fn task_options(&self, node: &TaskNode, start: TaskStart, settings: &Settings) -> TaskOptions {
        let (asked, guards, judging, test_edits) = match self.plan_options() {
            Some(options) => (self.run_goals(), options.guards.clone(), options.judging, options.test_edits),
            None => {
                let none = BTreeSet::new;
                (none(), none(), Judging::ByChecksAlone, crate::task_run::TestEdits::Checked)
            }
        };
        let given: BTreeSet<u32> = asked.union(&guards).copied().collect();
        let has_checks = !guards.is_empty() || !node.goals.is_empty();
        let judge = JudgeOptions {
            yeses: if has_checks { 1 } else { YESES_WITHOUT_CHECKS },
            max_format_retries: settings.models.max_format_retries,
            lineage_iteration: node.lineage_iteration(),
            replanning: settings.replanning.clone(),
        };
        // What is merged or proven as a whole is judged as a whole, when it is complete.
        let is_part = !node.is_merge() && node.kind != TaskKind::FinalProof;
        let is_judged = judging == Judging::ByModel && is_part;
        let (goals, guards) = self.with_kept_goals(node, guards);
        let start = match start {
            TaskStart::FromCommit(base) => self.start_on_base(base, &goals, &guards),
            TaskStart::TakeBase
            | TaskStart::FromCheckedBase(_)
            | TaskStart::FromBaseline(_)
            | TaskStart::Evaluate { .. } => start,
        };
        TaskOptions {
            start,
            invented: goals.difference(&given).copied().collect(),
            judge: is_judged.then_some(judge),
            test_edits,
            promised: self.base_checks.goals.clone(),
            max_interruptions: self.options.max_interruptions,
            ..TaskOptions::under(settings, node.id().clone(), goals, guards)
        }
    }

    /// Whether anything could show that a task is done: a check, or somebody who judges it.
    fn can_prove(&self, node: &TaskNode) -> bool {
        let has_guards = self.plan_options().is_some_and(|options| !options.guards.is_empty());
        has_guards || self.is_judged_by_model() || !node.goals.is_empty()
    }

    /// What a task begins with, once all its dependencies are one commit.
    fn start_of(&self, node: &TaskNode, below: &[TaskId]) -> Option<TaskStart> {
        // Work that is there already rests on the same results: it goes on there, not on the results alone.
        let first = below.first().filter(|id| node.baseline.is_none() || !self.is_below_replaced(node, id));
        let done = first.and_then(|id| self.task(id)).and_then(|node| node.run.as_ref());
        if let Some(start) = self.start_of_final_proof(node, done) {
            return Some(start);
        }
        match (done, &node.baseline, &self.planning.base) {
            (Some(done), ..) => Some(TaskStart::FromBaseline(done.baseline_after())),
            (None, Some(baseline), _) => Some(TaskStart::FromBaseline(baseline.clone())),
            (None, None, Some(base)) => Some(TaskStart::FromCommit(base.clone())),
            (None, None, None) => None,
        }
    }

    /// Whether a result lies below the task that another took the place of.
    fn is_below_replaced(&self, node: &TaskNode, id: &TaskId) -> bool {
        let mut replaced = self.tasks().filter(|old| old.replaced_by.contains(node.id()));
        replaced.any(|old| self.effective_dependencies(&old.task.dependencies).contains(id))
    }

    /// The task that merges two results, where there is one.
    fn merge_of(&self, one: &TaskId, other: &TaskId) -> Option<&TaskId> {
        let is_it = |node: &&TaskNode| matches!(&node.kind, TaskKind::Merge { ours, theirs } if ours == one && theirs == other);
        self.tasks().find(is_it).map(TaskNode::id)
    }

    /// A task's decision as far as the run allows it.
    pub(super) fn within_limits(&self, task: &TaskId, decision: Decision) -> Decision {
        let is_first = matches!(&decision.command, Some(Command::RunAttempt(_)))
            && self.task(task).is_some_and(|node| node.last_attempt.is_none());
        let is_repair = self.task(task).is_some_and(TaskNode::is_merge);
        let most = self.settings().map_or(0, |settings| settings.integration.max_fix_iterations);
        if is_first && is_repair && self.repairs() >= most as usize {
            return Decision { judged: decision.judged, ..Decision::end(Cause::Conflict) };
        }
        self.within_budget(decision)
    }

    /// Merges that needed an agent so far.
    fn repairs(&self) -> usize {
        self.tasks().filter(|node| node.is_merge() && node.last_attempt.is_some()).count()
    }
}

impl Transition<'_> {
    /// What the task graph needs next.
    pub(super) fn next_of_tasks(&mut self) -> Result<(), UnexpectedEvent> {
        let ended = self.run.graph.active().find_map(|node| match (node.state, node.status()) {
            (TaskState::Running, TaskStatus::Ended { cause })
                if !self.run.is_busy(&Owner::Replan(node.id().clone())) =>
            {
                Some((node.id().clone(), cause))
            }
            (_, _) => None,
        });
        if let Some((task, cause)) = ended {
            self.task_ended(&task, cause);
            return Ok(());
        }
        if self.is_reflecting() {
            return Ok(());
        }
        if self.run.graph.has_duplicates() {
            self.end(Cause::PlanRejected);
            return Ok(());
        }
        let max_workers = self.run.settings().map_or(1, |settings| settings.max_workers);
        if let Some(task) = self.run.graph.next_to_start(max_workers as usize).map(|node| node.id().clone()) {
            return self.start(&task);
        }
        if self.run.graph.is_finished() {
            self.next_of_final_review();
        }
        Ok(())
    }

    /// Starts a task, or first merges the results it depends on.
    fn start(&mut self, task: &TaskId) -> Result<(), UnexpectedEvent> {
        let Some(node) = self.run.task(task).cloned() else { return Ok(()) };
        if let TaskKind::Merge { ours, theirs } = &node.kind {
            self.start_merge(&node, ours, theirs);
            return Ok(());
        }
        let below = self.run.effective_dependencies(&node.task.dependencies);
        if let [first, second, ..] = below.as_slice() {
            let name = match self.run.merge_of(first, second) {
                Some(name) => name.clone(),
                None => {
                    let merge = self.run.merge_task(first, second);
                    let name = merge.task.id.clone();
                    self.push(TaskChange::Added { tasks: Vec::from([merge]) });
                    name
                }
            };
            let kept = below.iter().filter(|id| *id != first && *id != second).cloned();
            let dependencies = core::iter::once(name).chain(kept).collect();
            self.push(TaskChange::Rewired { task: task.clone(), dependencies });
            return Ok(());
        }
        let start = self.run.start_of(&node, &below).filter(|_| self.run.can_prove(&node));
        let (Some(start), Some(settings)) = (start, self.run.settings()) else {
            self.give_up_at_once(task, Cause::BaselineUnusable);
            return Ok(());
        };
        let options = Box::new(self.run.task_options(&node, start, settings));
        self.push(TaskChange::Started { options });
        self.tell(task, TaskSignal::Begin)
    }

    fn start_merge(&mut self, node: &TaskNode, ours: &TaskId, theirs: &TaskId) {
        let result =
            |id: &TaskId| self.run.task(id).and_then(TaskNode::result).map(|base| base.commit.clone());
        let task = node.id().clone();
        match (result(ours), result(theirs)) {
            (Some(ours), Some(theirs)) => {
                self.push(TaskChange::state(&task, TaskState::Running));
                let merge = MergeCommand { ours, theirs, name: task.as_str().into() };
                self.begin(Owner::Merge(task), Command::Merge(merge));
            }
            (_, _) => self.give_up_at_once(&task, Cause::Conflict),
        }
    }

    /// A task that is due and cannot be begun.
    fn give_up_at_once(&mut self, task: &TaskId, cause: Cause) {
        self.push(TaskChange::state(task, TaskState::Running));
        self.push(TaskChange::blocked(task, cause));
    }

    /// A task's own life is over: it is done, planned anew, or blocked.
    fn task_ended(&mut self, task: &TaskId, cause: Cause) {
        let Some(node) = self.run.task(task) else { return };
        // Without a model nobody could plan it anew.
        let replans = self.run.is_judged_by_model()
            && self.run.settings().is_some_and(|settings| {
                settings.convergence.on_stop == OnStop::Replan && settings.replanning.enabled
            });
        let is_replaceable = !node.is_merge();
        let asked = node.run.as_ref().is_some_and(|run| run.asks_for_replan());
        let theirs =
            if let TaskKind::Merge { theirs, .. } = &node.kind { Some(theirs.clone()) } else { None };
        if matches!(cause, Cause::Done | Cause::AlreadySatisfied) {
            return self.push(TaskChange::state(task, TaskState::Done));
        }
        let gets_nowhere = cause == Cause::NotConverging && replans && is_replaceable;
        if gets_nowhere || (cause == Cause::JudgeGaveUp && asked) {
            return self.replan(task, cause);
        }
        self.push(TaskChange::blocked(task, cause));
        if let Some(task) = theirs {
            self.push(MergeChange::LeftOut { task });
        }
    }
}
