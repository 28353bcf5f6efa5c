//! The planning document: what is wanted, which tasks make it up, in which order; or why that cannot be said.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::TaskId;
use crate::prelude::*;

/// The name of the phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanningPhase {
    /// Planning.
    #[default]
    Planning,
}

/// What planning came to. One call fills in all of it, or each phase its own part.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PlanningDocument {
    /// The name of the phase.
    #[serde(default)]
    pub phase: PlanningPhase,
    /// What is wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal_understanding: Option<GoalUnderstanding>,
    /// The tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_decomposition: Option<TaskDecomposition>,
    /// Their order and the actions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action_plan: Option<ActionPlan>,
    /// Why there is no plan, or only a part of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<PlanningError>,
    /// A word for the reader.
    #[serde(default)]
    pub comment: String,
}

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct GoalUnderstanding {
    /// The goal in one sentence; all goals, where the text has several.
    pub main_objective: String,
    /// What must hold in the end.
    #[serde(default)]
    pub success_criteria: Vec<String>,
    /// What must not be done, or must stay as it is.
    #[serde(default)]
    pub constraints: Vec<String>,
    /// What else matters.
    #[serde(default)]
    pub context: String,
    /// What was assumed because nobody could be asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
}

/// The tasks and why they are these.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TaskDecomposition {
    /// Why these tasks.
    #[serde(default)]
    pub reasoning: String,
    /// The tasks.
    pub subtasks: Vec<Subtask>,
}

/// How hard a task is taken to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Complexity {
    /// Easy.
    Low,
    /// Ordinary.
    #[default]
    Medium,
    /// Hard.
    High,
}

/// One task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Subtask {
    /// Its name, unique in the plan.
    pub id: TaskId,
    /// What is to be done.
    pub description: String,
    /// The tasks that must be done before.
    #[serde(default)]
    pub dependencies: Vec<TaskId>,
    /// How hard it is taken to be.
    #[serde(default)]
    pub estimated_complexity: Complexity,
    /// The tools it needs.
    #[serde(default)]
    pub required_tools: Vec<String>,
    /// What must hold when it is done, in this order called A1, A2 and so on.
    #[serde(default)]
    pub acceptance: Vec<String>,
    /// Globs of the paths it may change; empty for any.
    #[serde(default)]
    pub scope_paths: Vec<String>,
    /// Commands that must pass when it is done.
    #[serde(default)]
    pub goals: Vec<String>,
    /// What whoever does it must know beside that.
    #[serde(default)]
    pub context: String,
    /// Smaller tasks it is made of, where the plan has levels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subtasks: Vec<Subtask>,
}

impl Subtask {
    /// A task with a name and a description, and nothing else.
    pub const fn new(id: TaskId, description: String) -> Self {
        Self {
            id,
            description,
            dependencies: Vec::new(),
            estimated_complexity: Complexity::Medium,
            required_tools: Vec::new(),
            acceptance: Vec::new(),
            scope_paths: Vec::new(),
            goals: Vec::new(),
            context: String::new(),
            subtasks: Vec::new(),
        }
    }
}

/// In which order, by which steps.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ActionPlan {
    /// The tasks in the order in which they are taken up.
    #[serde(default)]
    pub execution_order: Vec<TaskId>,
    /// The steps.
    #[serde(default)]
    pub actions: Vec<Action>,
}

/// One step of a task. Its id is `<task>_action_<n>`, counted from 1 within the task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Action {
    /// The task it belongs to.
    #[serde(default = "no_task")]
    pub task_id: TaskId,
    /// What kind of step.
    #[serde(default)]
    pub action_type: String,
    /// The tool it uses.
    #[serde(default)]
    pub tool: String,
    /// What for.
    pub purpose: String,
    /// What it should come to.
    #[serde(default)]
    pub expected_outcome: String,
    /// What to do if it does not.
    #[serde(default)]
    pub fallback_strategy: String,
    /// Steps of one group may go on at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel_group: Option<String>,
    /// Whether it may go on beside others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub can_parallelize: Option<bool>,
    /// The steps that must be done before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<String>,
}

/// A step in a proposed change may leave its task to be guessed from the step it follows.
fn no_task() -> TaskId {
    TaskId::from("")
}

/// What kind of trouble.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanningErrorKind {
    /// The goal cannot be told.
    UnclearGoal,
    /// The goal cannot be cut into tasks.
    DecompositionFailed,
    /// Anything else the model calls an error.
    #[serde(untagged)]
    Other(String),
}

/// Why there is no plan, or only a part of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanningError {
    /// What kind of trouble.
    #[serde(rename = "type")]
    pub kind: PlanningErrorKind,
    /// In words.
    #[serde(default)]
    pub message: String,
    /// Questions to the person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clarification_needed: Vec<String>,
    /// What can be done all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial_plan: Option<PartialPlan>,
}

/// What can be done, what cannot, and what could be done instead.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PartialPlan {
    /// Tasks that can be done.
    #[serde(default)]
    pub feasible_subtasks: Vec<Subtask>,
    /// What cannot, in words or as tasks.
    #[serde(default, deserialize_with = "super::reflection::texts")]
    pub infeasible_subtasks: Vec<String>,
    /// What could be done instead.
    #[serde(default, deserialize_with = "super::reflection::texts")]
    pub alternative_approaches: Vec<String>,
}
