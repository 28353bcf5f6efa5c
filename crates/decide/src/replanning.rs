//! Putting smaller tasks in the place of one that cannot work, in one step that leaves a sound graph.
//!
//! The children inherit the old task's dependencies and scope; whoever waited for it waits for all of them. One
//! counter covers a task and all its descendants, so that a lineage ends whatever the judge says. What cannot
//! be rewired soundly (unknown or circular dependencies) is refused with the offending id.

use fixpoint_vocabulary::settings::limits::MAX_GLOBS;
use fixpoint_vocabulary::settings::limits::MAX_SUBTASKS;
use fixpoint_vocabulary::settings::{PlanningSettings, ReplanningSettings};
use fixpoint_vocabulary::{Cause, Localize, TaskId, TaskState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::graph::{self, Edges};
use crate::prelude::*;

/// A task of the running graph. Other fields are carried along untouched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
pub struct GraphTask {
    /// Its name.
    pub id: TaskId,
    /// The tasks it waits for.
    #[serde(default)]
    pub dependencies: Vec<TaskId>,
    /// Where it stands.
    pub state: TaskState,
    /// The paths it may change; absent: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MAX_GLOBS))]
    pub scope_paths: Option<Vec<String>>,
    /// The tasks that stand in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<Vec<TaskId>>,
    /// Where it stands in its lineage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replanning_info: Option<ReplanningInfo>,
    /// Whatever else the task carries.
    #[serde(flatten)]
    #[schemars(skip)]
    pub other: Map<String, Value>,
}

impl GraphTask {
    /// What waiting for this task rests on: its replacements once it has been replaced, else its dependencies.
    pub fn awaited(&self) -> &[TaskId] {
        if self.state == TaskState::ReplacedByReplan {
            self.replaced_by.as_deref().unwrap_or_default()
        } else {
            &self.dependencies
        }
    }
}

/// Where a task stands in its lineage of replans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReplanningInfo {
    /// Replans made in the lineage so far.
    pub iteration: u32,
    /// The replan with this number is not made any more.
    pub max_iterations: u32,
    /// The task the lineage began with.
    pub original_task_id: TaskId,
    /// The tasks that stand in its place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced_by: Vec<TaskId>,
    /// Why it was replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replan_reason: Option<String>,
}

/// A new task, as the planner names it. Other fields are carried along untouched.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
pub struct Child {
    /// Its name; made unique if another task has it already.
    pub id: TaskId,
    /// The children or existing tasks it waits for.
    #[serde(default)]
    pub dependencies: Vec<TaskId>,
    /// The paths it may change; absent: those of the task it replaces.
    #[serde(default)]
    #[schemars(length(max = MAX_GLOBS))]
    pub scope_paths: Option<Vec<String>>,
    /// Whatever else the task carries.
    #[serde(flatten)]
    #[schemars(skip)]
    pub other: Map<String, Value>,
}

/// The limits of replanning: the `replanning` section, itself or under its name, and the cap on all tasks.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Limits {
    /// The section's keys, given directly.
    #[serde(flatten)]
    pub section: ReplanningSettings,
    /// The section under its name; wins over the keys given directly.
    pub replanning: Option<ReplanningSettings>,
    /// Tasks of one run, replans included, at most.
    #[schemars(range(min = MAX_SUBTASKS.min, max = MAX_SUBTASKS.max))]
    pub max_subtasks: u32,
}

impl Default for Limits {
    fn default() -> Self {
        let section = ReplanningSettings::default();
        Self { section, replanning: None, max_subtasks: PlanningSettings::default().max_subtasks }
    }
}

/// A task to be replaced, with its graph and the tasks that are to take its place.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct Question {
    /// The graph.
    pub tasks: Vec<GraphTask>,
    /// The task to be replaced.
    pub task: TaskId,
    /// The tasks that are to take its place.
    #[schemars(length(min = 1))]
    pub children: Vec<Child>,
    /// Replans made so far in its lineage.
    pub lineage_iteration: u32,
    /// Why it is replaced, for the record.
    #[serde(default)]
    pub reason: Option<String>,
    /// The limits.
    #[serde(default)]
    pub config: Limits,
}

/// The rewired graph, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Answer {
    /// The graph with the new tasks in it.
    Rewired {
        /// All tasks: the old ones in their order, then the new ones.
        tasks: Vec<GraphTask>,
        /// Replans made in the lineage, this one included.
        lineage_iteration: u32,
    },
    /// A limit stands in the way; no task was made.
    Blocked {
        /// What blocks.
        blocked: Blocked,
    },
}

impl Localize for Answer {}

/// What blocks a replan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Blocked {
    /// The cause the task is blocked with.
    pub cause: Cause,
}

/// Why another replan may not be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplanRefusal {
    /// Replanning is off.
    Disabled,
    /// The lineage has used its replans.
    LimitReached,
}

/// Why the children cannot take the task's place: to be told to the planner, or to whoever asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidReplan {
    /// The task to be replaced is not in the graph.
    #[error("task: no task is called `{0}`")]
    NoSuchTask(TaskId),
    /// The task has ended or is blocked.
    #[error("task: `{0}` is {1:?} and can no longer be replaced")]
    NotReplaceable(TaskId, TaskState),
    /// Two tasks of the graph share a name.
    #[error("tasks: several tasks are called `{0}`")]
    DuplicateTask(TaskId),
    /// Two children share a name.
    #[error("children: several are called `{0}`")]
    DuplicateChild(TaskId),
    /// No child at all.
    #[error("children: at least one task must take the place of `{0}`")]
    NoChildren(TaskId),
    /// A child, or what it waits for, waits for something that does not exist.
    #[error("children: `{child}` depends on `{missing}`, which does not exist")]
    UnknownDependency {
        /// The child.
        child: TaskId,
        /// What it names.
        missing: TaskId,
    },
    /// The new graph would go round in a circle.
    #[error("children: circular dependency through `{0}`")]
    Circular(TaskId),
}

/// Whether one more replan may be made in a lineage; the number it would have.
pub fn may_replan(lineage_iteration: u32, settings: &ReplanningSettings) -> Result<u32, ReplanRefusal> {
    let next = lineage_iteration.saturating_add(1);
    if !settings.enabled {
        Err(ReplanRefusal::Disabled)
    } else if next >= settings.max_iterations {
        Err(ReplanRefusal::LimitReached)
    } else {
        Ok(next)
    }
}

/// Replaces the task, or says which limit or defect stands in the way.
pub fn decide(question: &Question) -> Result<Answer, InvalidReplan> {
    let limits = &question.config;
    let settings = limits.replanning.as_ref().unwrap_or(&limits.section);
    let old = replaceable(question)?;
    let blocked = |cause| Ok(Answer::Blocked { blocked: Blocked { cause } });
    let iteration = match may_replan(replans_so_far(question, old), settings) {
        Ok(iteration) => iteration,
        Err(ReplanRefusal::Disabled) => return blocked(Cause::ReplanningDisabled),
        Err(ReplanRefusal::LimitReached) => return blocked(Cause::MaxReplans),
    };
    check_children(question)?;
    let children = question.children.len();
    let is_too_many = children > settings.max_children as usize
        || question.tasks.len() + children > limits.max_subtasks as usize;
    if is_too_many {
        return blocked(Cause::MaxReplans);
    }
    let lineage = Lineage { old, iteration, max_iterations: settings.max_iterations };
    let tasks = lineage.rewire(question);
    check_graph(&tasks, tasks.get(question.tasks.len()..).unwrap_or_default())?;
    Ok(Answer::Rewired { tasks, lineage_iteration: iteration })
}

/// The replans made in the lineage of a task: what the caller says, or more where a task of the lineage knows of
/// more. One counter is shared by all descendants, so the highest that any of them has seen is it.
fn replans_so_far(question: &Question, old: &GraphTask) -> u32 {
    let origin = |task: &GraphTask| {
        let info = task.replanning_info.as_ref();
        info.map_or_else(|| task.id.clone(), |info| info.original_task_id.clone())
    };
    let lineage = question.tasks.iter().filter(|task| origin(task) == origin(old));
    let known = lineage.filter_map(|task| task.replanning_info.as_ref()).map(|info| info.iteration).max();
    question.lineage_iteration.max(known.unwrap_or(0))
}

fn replaceable(question: &Question) -> Result<&GraphTask, InvalidReplan> {
    if let Some(id) = graph::duplicates(question.tasks.iter().map(|task| &task.id)).first() {
        return Err(InvalidReplan::DuplicateTask((*id).clone()));
    }
    let found = question.tasks.iter().find(|task| task.id == question.task);
    let old = found.ok_or_else(|| InvalidReplan::NoSuchTask(question.task.clone()))?;
    if old.state == TaskState::Running || old.state.is_waiting() {
        Ok(old)
    } else {
        Err(InvalidReplan::NotReplaceable(old.id.clone(), old.state))
    }
}

fn check_children(question: &Question) -> Result<(), InvalidReplan> {
    if question.children.is_empty() {
        return Err(InvalidReplan::NoChildren(question.task.clone()));
    }
    match graph::duplicates(question.children.iter().map(|child| &child.id)).first() {
        Some(id) => Err(InvalidReplan::DuplicateChild((*id).clone())),
        None => Ok(()),
    }
}

fn check_graph(tasks: &[GraphTask], new_tasks: &[GraphTask]) -> Result<(), InvalidReplan> {
    let all: Edges<TaskId> = tasks.iter().map(|task| (task.id.clone(), task.awaited().to_vec())).collect();
    // Only what the children rest on is on trial: a defect elsewhere is not for the planner to mend.
    let edges = graph::reachable_from(&all, new_tasks.iter().map(|task| task.id.clone()));
    if let Some((child, missing)) = graph::unknown_dependencies(&edges).into_iter().next() {
        return Err(InvalidReplan::UnknownDependency { child, missing });
    }
    let circle = graph::find_cycle(&edges).unwrap_or_default();
    let is_new = |id: &&TaskId| new_tasks.iter().any(|task| &task.id == *id);
    match circle.iter().find(is_new).or(circle.first()) {
        Some(task) => Err(InvalidReplan::Circular(task.clone())),
        None => Ok(()),
    }
}

struct Lineage<'a> {
    old: &'a GraphTask,
    iteration: u32,
    max_iterations: u32,
}

impl Lineage<'_> {
    fn original(&self) -> TaskId {
        let info = self.old.replanning_info.as_ref();
        info.map_or_else(|| self.old.id.clone(), |info| info.original_task_id.clone())
    }

    fn info(&self) -> ReplanningInfo {
        ReplanningInfo {
            iteration: self.iteration,
            max_iterations: self.max_iterations,
            original_task_id: self.original(),
            replaced_by: Vec::new(),
            replan_reason: None,
        }
    }

    fn rewire(&self, question: &Question) -> Vec<GraphTask> {
        let names = fresh_names(question);
        let new_ids: Vec<TaskId> =
            question.children.iter().filter_map(|child| names.get(&child.id)).cloned().collect();
        let old_tasks = question.tasks.iter().map(|task| self.after_replan(task, &new_ids, question));
        let children = question.children.iter().map(|child| self.child(child, &names));
        old_tasks.chain(children).collect()
    }

    /// An existing task: the replaced one is marked, whoever waited for it waits for the children.
    fn after_replan(&self, task: &GraphTask, new_ids: &[TaskId], question: &Question) -> GraphTask {
        let mut task = task.clone();
        if task.id == self.old.id {
            task.state = TaskState::ReplacedByReplan;
            task.replaced_by = Some(new_ids.to_vec());
            let replan_reason = question.reason.clone();
            task.replanning_info =
                Some(ReplanningInfo { replaced_by: new_ids.to_vec(), replan_reason, ..self.info() });
            return task;
        }
        if task.dependencies.contains(&self.old.id) {
            let expanded = task.dependencies.iter().flat_map(|dependency| {
                if dependency == &self.old.id { new_ids.to_vec() } else { Vec::from([dependency.clone()]) }
            });
            task.dependencies = graph::without_repeats(expanded);
        }
        task
    }

    fn child(&self, child: &Child, names: &BTreeMap<TaskId, TaskId>) -> GraphTask {
        let renamed = |id: &TaskId| names.get(id).unwrap_or(id).clone();
        let own = child.dependencies.iter().map(renamed);
        GraphTask {
            id: renamed(&child.id),
            dependencies: graph::without_repeats(own.chain(self.old.dependencies.iter().cloned())),
            state: TaskState::Ready,
            // A child without a scope of its own must not reach further than the task it replaces.
            scope_paths: child.scope_paths.clone().or_else(|| self.old.scope_paths.clone()),
            replaced_by: None,
            replanning_info: Some(self.info()),
            other: child.other.clone(),
        }
    }
}

/// The name each child gets: its own, or one derived from the replaced task's where that is taken.
fn fresh_names(question: &Question) -> BTreeMap<TaskId, TaskId> {
    let mut taken: BTreeSet<TaskId> = question.tasks.iter().map(|task| task.id.clone()).collect();
    let mut names = BTreeMap::new();
    for child in &question.children {
        let derived = (1u32..).map(|n| match n {
            1 => child.id.clone(),
            2 => format!("{}.{}", question.task, child.id).into(),
            _ => format!("{}.{}.{n}", question.task, child.id).into(),
        });
        let free = derived.into_iter().find(|name| !taken.contains(name)).unwrap_or_else(|| child.id.clone());
        taken.insert(free.clone());
        names.insert(child.id.clone(), free);
    }
    names
}

#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;
