//! Settings of the convergence controller and of replanning.

use alloc::string::String;
use alloc::vec::Vec;

use super::limits::MAX_ITERATIONS;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When attempts at one task count as getting nowhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ConvergenceSettings {
    /// Off: attempts repeat until done or until `max_iterations`.
    pub enabled: bool,
    /// So many stalls raise the stage by one.
    #[schemars(range(min = 1, max = 20))]
    pub stall_threshold: u32,
    /// The last stage.
    #[schemars(range(min = 2, max = 10))]
    pub max_stage: u32,
    /// Whether reaching the last stage stops the task. Off: the last stage acts as stage 2.
    pub fail_on_max_stage: bool,
    /// So many attempts with progress lower the stage by one.
    #[schemars(range(min = 1, max = 20))]
    pub recover_after: u32,
    /// Every so many changed attempts in a row count as a stall.
    #[schemars(range(min = 1, max = 20))]
    pub changed_limit: u32,
    /// Attempts at one task, at most.
    #[schemars(range(min = MAX_ITERATIONS.min, max = MAX_ITERATIONS.max))]
    pub max_iterations: u32,
    /// What a task that does not converge leads to within a run.
    pub on_stop: OnStop,
    /// What the agent is told at the stages between 2 and the last.
    #[schemars(length(max = 10))]
    pub stages: Vec<StageInstructions>,
}

impl Default for ConvergenceSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            stall_threshold: 2,
            max_stage: 3,
            fail_on_max_stage: true,
            recover_after: 2,
            changed_limit: 3,
            max_iterations: 10,
            on_stop: OnStop::Replan,
            stages: Vec::new(),
        }
    }
}

impl ConvergenceSettings {
    /// Stalls, not undone by progress, that stop a task.
    pub const fn stalls_to_stop(&self) -> u32 {
        self.stall_threshold.saturating_mul(self.max_stage.saturating_sub(1))
    }
}

/// What a task that does not converge leads to within a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnStop {
    /// The diagnosis goes to replanning first.
    #[default]
    Replan,
    /// The task is blocked.
    Block,
}

/// What the agent is told at one stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StageInstructions {
    /// The stage these instructions are for.
    #[schemars(range(min = 2, max = 10))]
    pub stage: u32,
    /// Added to the agent's prompt.
    pub instructions: String,
}

/// How a task that cannot work is replaced by smaller ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ReplanningSettings {
    /// Off: a task that would need a replan is blocked.
    pub enabled: bool,
    /// The replan with this number, counted over a task and all its descendants, is not made any more.
    #[schemars(range(min = 0, max = 100))]
    pub max_iterations: u32,
    /// How long the planner may take for one replan.
    #[schemars(range(min = 1, max = 86400))]
    pub timeout_seconds: u32,
    /// Tasks that one replan may make.
    #[schemars(range(min = 1, max = 100))]
    pub max_children: u32,
}

impl Default for ReplanningSettings {
    fn default() -> Self {
        Self { enabled: true, max_iterations: 3, timeout_seconds: 300, max_children: 5 }
    }
}
