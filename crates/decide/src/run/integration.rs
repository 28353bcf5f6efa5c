//! Bringing results together, and the judgement of the whole.
//!
//! Two results are brought together by a task of their own: what the merge holds is put on trial like an attempt, and
//! only where the sides conflict, or fail together what each passes alone, an agent is needed. Invariant: at most
//! `max_fix_iterations` merges get an agent; no result is dropped without being named.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use fixpoint_vocabulary::ask::{About, Ask, ModelAnswer, Reading};
use fixpoint_vocabulary::documents::{Complexity, Document, Subtask, WholeJudgement};
use fixpoint_vocabulary::work::{Base, CommandResult, Conflict};
use fixpoint_vocabulary::{Cause, Redacted, TaskId, TaskState};

use super::{Deciding, Judging, Move, NewTask, Node, NodeKind, On, OutOfPlace, Owner, Run, Trouble};
use crate::task_run::{Ground, Start};
use crate::{plan_shape, sanitising};

impl Run {
    /// The results that no other result holds, in the order of their tasks.
    pub(super) fn loose_ends(&self) -> Vec<TaskId> {
        let changed = |node: &&Node| {
            let tree = node.result().map(|result| result.tree);
            tree.is_some() && tree != self.planning.base.as_ref().map(|base| base.tree.clone())
        };
        let done: Vec<TaskId> = self
            .tasks()
            .filter(|node| node.state == TaskState::Done)
            .filter(changed)
            .map(|node| node.id().clone())
            .collect();
        // What a result that is left out was made of is left out with it: to take that up again would lead to the same
        // merge, for ever.
        self.outermost(&done).into_iter().filter(|id| !self.left_out.contains(id)).collect()
    }

    /// The tasks whose results could not be brought together with the others.
    pub fn left_out(&self) -> impl Iterator<Item = &TaskId> {
        self.left_out.iter()
    }

    /// The two results to be brought together next. What was brought together already is the one side, so that only a
    /// single result is left out where that cannot be done.
    fn next_pair(&self) -> Option<(TaskId, TaskId)> {
        let ends = self.loose_ends();
        let is_merge = |id: &&TaskId| self.task(id).is_some_and(Node::is_merge);
        let ours = ends.iter().find(is_merge).or_else(|| ends.first())?;
        let theirs = ends.iter().find(|id| *id != ours)?;
        Some((ours.clone(), theirs.clone()))
    }

    /// Whether every task came to what it should, so that the whole can.
    pub(super) fn is_all_in(&self) -> bool {
        let is_blocked = self.tasks().any(|node| node.state == TaskState::Blocked);
        !is_blocked && self.left_out.is_empty() && self.waiting_in_vain().is_empty()
    }

    /// The task that makes the goals of the run pass at its end, where no task had to so far.
    fn last_task(&self) -> Option<NewTask> {
        let order = self.plan_order().filter(|order| !order.goals.is_empty())?;
        let end: Vec<TaskId> = self.loose_ends();
        let is_asked_for = |node: &Node| {
            let is_there = end.contains(node.id()) || node.task.dependencies == end;
            is_there && node.goals.is_superset(&order.goals)
        };
        if !self.is_all_in() || self.tasks().any(is_asked_for) {
            return None;
        }
        let commands = order.goals.iter().filter_map(|goal| self.checks.get(*goal as usize));
        let names: BTreeSet<&TaskId> = self.tasks().map(Node::id).collect();
        let named = |n: u32| TaskId::from(format!("goals-{n}"));
        let task = Subtask {
            id: (1u32..).map(named).find(|id| !names.contains(id))?,
            description: self.brief.as_ref().map(|brief| brief.goal.as_str().into()).unwrap_or_default(),
            dependencies: end,
            estimated_complexity: Complexity::Medium,
            required_tools: Vec::new(),
            acceptance: Vec::new(),
            scope_paths: Vec::new(),
            goals: commands.map(|placed| placed.check.command.clone()).collect(),
            context: String::new(),
            subtasks: Vec::new(),
        };
        Some(NewTask { task, kind: NodeKind::Added, lineage: None, ground: None })
    }

    /// What the run came to: the commit that holds everything that is delivered.
    pub fn result(&self) -> Option<Base> {
        let ends = self.loose_ends();
        match ends.as_slice() {
            [] => self.tasks().find_map(Node::result),
            [only] => self.task(only).and_then(Node::result),
            [_, _, ..] => None,
        }
    }

    /// What is known of the checks for two results together: what fails in both, and what fails sometimes in either.
    fn common_ground(&self, ours: &TaskId, theirs: &TaskId) -> Option<Ground> {
        let after = |id: &TaskId| self.task(id)?.run.as_ref().map(|run| run.ground_after());
        let base = self.planning.base.clone()?;
        Some(Ground::common(&after(ours)?, &after(theirs)?, base))
    }
}

impl Deciding<'_> {
    /// A task that brings the results of two others together.
    pub(super) fn merge_node(&self, ours: &TaskId, theirs: &TaskId) -> NewTask {
        let number = self.run.tasks().filter(|node| node.is_merge()).count() + 1;
        let names: BTreeSet<&TaskId> = self.run.tasks().map(Node::id).collect();
        let named = |n: usize| TaskId::from(format!("merge-{n}"));
        let id = (number..).map(named).find(|id| !names.contains(id)).unwrap_or_else(|| named(number));
        let side = |id: &TaskId| self.run.task(id).map(|node| node.task.clone());
        let (one, other) = (side(ours), side(theirs));
        let scope =
            |task: &Option<Subtask>| task.as_ref().map(|task| task.scope_paths.clone()).unwrap_or_default();
        let (left, right) = (scope(&one), scope(&other));
        let is_open = left.is_empty() || right.is_empty();
        let both = left.into_iter().chain(right).collect::<BTreeSet<String>>();
        let described =
            |task: &Option<Subtask>| task.as_ref().map(|task| task.description.clone()).unwrap_or_default();
        let goals =
            one.iter().chain(&other).flat_map(|task| task.goals.clone()).collect::<BTreeSet<String>>();
        let task = Subtask {
            id,
            description: format!(
                "Bring two results together so that both do what they did alone.\n\nOne side, `{ours}`: {}\n\nThe other, `{theirs}`: {}",
                described(&one),
                described(&other)
            ),
            dependencies: Vec::from([ours.clone(), theirs.clone()]),
            estimated_complexity: Complexity::Medium,
            required_tools: Vec::new(),
            acceptance: Vec::new(),
            scope_paths: if is_open { Vec::new() } else { both.into_iter().collect() },
            goals: goals.into_iter().collect(),
            context: String::new(),
            subtasks: Vec::new(),
        };
        let kind = NodeKind::Merge { ours: ours.clone(), theirs: theirs.clone() };
        NewTask { task, kind, lineage: None, ground: None }
    }

    pub(super) fn with_merge(&mut self, task: &TaskId, result: &CommandResult) -> Result<(), OutOfPlace> {
        let CommandResult::Merged(merged) = result else { return Ok(()) };
        self.push(Move::SidesMerged { task: task.clone(), merged: merged.clone() });
        let Some(node) = self.run.task(task).cloned() else { return Ok(()) };
        let NodeKind::Merge { ours, theirs } = &node.kind else { return Ok(()) };
        let commits = |id: &TaskId| self.run.task(id).and_then(Node::result).map(|base| base.commit);
        let (Some(ground), Some(ours), Some(theirs), Some(settings)) =
            (self.run.common_ground(ours, theirs), commits(ours), commits(theirs), self.run.settings())
        else {
            let (state, cause) = (TaskState::Blocked, Some(Cause::Conflict));
            self.push(Move::TaskMoved { task: task.clone(), state, cause });
            return Ok(());
        };
        let is_clean = merged.conflicts.is_empty();
        let conflict = Conflict { ours, theirs, paths: merged.conflicts.clone() };
        let start = Start::Trial {
            ground,
            commit: merged.commit.clone(),
            tree: merged.tree.clone(),
            conflict: (!is_clean).then_some(conflict),
        };
        let order = Box::new(self.run.order_of(&node, start, settings));
        self.push(Move::TaskStarted { order });
        self.tell(task, On::Begun)
    }

    /// All tasks have ended: their results are brought together two by two, then the whole is judged.
    pub(super) fn next_of_integration(&mut self) {
        if let Some((ours, theirs)) = self.run.next_pair() {
            let merge = self.merge_node(&ours, &theirs);
            return self.push(Move::TasksAdded { tasks: Vec::from([merge]) });
        }
        if let Some(last) = self.run.last_task() {
            return self.push(Move::TasksAdded { tasks: Vec::from([last]) });
        }
        let is_judged = self.run.plan_order().is_some_and(|order| order.judging == Judging::ByModel);
        let worked = self.run.tasks().filter(|node| !node.is_merge()).count();
        let needs_judging = is_judged
            && worked > 1
            && self.run.whole.is_complete.is_none()
            && !self.run.loose_ends().is_empty();
        if !needs_judging {
            return self.finish();
        }
        if self.run.is_busy(&Owner::Whole) {
            return;
        }
        match (self.run.result(), &self.run.planning.base) {
            (Some(result), Some(base)) => {
                let about = About::JudgeWhole { commit: result.commit, origin: base.commit.clone() };
                self.ask(Owner::Whole, Ask::new(about));
            }
            (_, _) => self.finish(),
        }
    }

    pub(super) fn with_whole(&mut self, result: &CommandResult) {
        let CommandResult::Answer(ModelAnswer { reading, .. }) = result else { return };
        let trouble = match reading {
            Reading::Document(Document::WholeJudgement(judgement)) => return self.with_judgement(judgement),
            Reading::Document(_) => Trouble {
                problem: Redacted::ours("another kind of document was given"),
                text: Redacted::default(),
            },
            Reading::Unreadable { problem, text } => Trouble { problem: problem.clone(), text: text.clone() },
            Reading::Unanswered { .. } => return,
        };
        if !self.is_asked_again(&Owner::Whole, trouble) {
            // It cannot be read, so it is no yes; what is done is delivered all the same.
            self.end(Cause::JudgeUnavailable);
        }
    }

    fn with_judgement(&mut self, judgement: &WholeJudgement) {
        let (is_complete, missing) = (judgement.is_complete, judgement.missing_aspects.clone());
        let added = if is_complete { Vec::new() } else { self.additional(&judgement.additional_tasks) };
        self.push(Move::WholeJudged { is_complete, missing });
        if !added.is_empty() {
            self.push(Move::TasksAdded { tasks: added });
        }
    }

    /// The tasks that may be added, on top of what is there.
    fn additional(&self, tasks: &[Subtask]) -> Vec<NewTask> {
        let Some(settings) = self.run.settings() else { return Vec::new() };
        let is_over = self.run.whole.rounds >= settings.integration.max_fix_iterations;
        let added = self.run.tasks().filter(|node| node.kind == NodeKind::Added).count();
        let left = (settings.integration.max_additional_tasks as usize).saturating_sub(added);
        let room = (settings.planning.max_subtasks as usize).saturating_sub(self.run.nodes.len());
        let names: BTreeSet<TaskId> = self.run.tasks().map(|node| node.id().clone()).collect();
        let mut tasks: Vec<Subtask> = plan_shape::flattened(tasks);
        tasks.truncate(if is_over { 0 } else { left.min(room) });
        rename(&mut tasks, &names);
        if plan_shape::problem_of_tasks(&tasks, self.run.plan_bounds(self.run.nodes.len())).is_some() {
            return Vec::new();
        }
        if !sanitising::findings(&tasks).is_empty() {
            return Vec::new();
        }
        // They begin on what is there, and their results hold it.
        let end = self.run.loose_ends();
        let new = |mut task: Subtask| {
            if task.dependencies.is_empty() {
                task.dependencies.clone_from(&end);
            }
            NewTask { task, kind: NodeKind::Added, lineage: None, ground: None }
        };
        tasks.into_iter().map(new).collect()
    }
}

/// Gives tasks names that are not taken, and drops dependencies on what is not among them: that is done already.
fn rename(tasks: &mut [Subtask], taken: &BTreeSet<TaskId>) {
    let own: BTreeSet<TaskId> = tasks.iter().map(|task| task.id.clone()).collect();
    let fresh = |id: &TaskId| {
        let named = |n: u32| if n == 0 { id.clone() } else { TaskId::from(format!("{id}.{n}")) };
        (0u32..).map(named).find(|id| !taken.contains(id)).unwrap_or_else(|| id.clone())
    };
    for task in tasks {
        task.id = fresh(&task.id);
        let inner = task.dependencies.iter().filter(|id| own.contains(*id));
        task.dependencies = inner.map(&fresh).collect();
    }
}
