//! Settings of stuck tasks: when attempts are stopped, and how a task is replaced.

use super::limits::MAX_ITERATIONS;
use crate::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When a task counts as stuck, and what happens then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ConvergenceSettings {
    /// Whether stuck tasks are stopped. If false, attempts are repeated until the task is done or
    /// `max_iterations` is reached.
    pub enabled: bool,
    /// Stalls that raise the stage by one. A stall is an attempt that leaves the same failures, more
    /// failures, failures of an earlier attempt, or no change.
    #[schemars(range(min = 1, max = 20))]
    pub stall_threshold: u32,
    /// The last stage. At stage 1 the agent is told what fails; from stage 2 on it starts from the best
    /// attempt so far and is told to make a minimal fix.
    #[schemars(range(min = 2, max = 10))]
    pub max_stage: u32,
    /// Whether reaching the last stage stops the task. If false, the last stage works like stage 2.
    pub fail_on_max_stage: bool,
    /// Attempts with progress (fewer failures than ever before) that lower the stage by one.
    #[schemars(range(min = 1, max = 20))]
    pub recover_after: u32,
    /// Every so many attempts in a row that leave other failures, but not fewer, count as a stall.
    #[schemars(range(min = 1, max = 20))]
    pub changed_limit: u32,
    /// Attempts at one task, at most; then it stops.
    #[schemars(range(min = MAX_ITERATIONS.min, max = MAX_ITERATIONS.max))]
    pub max_iterations: u32,
    /// What a `run` does with a task that was stopped as stuck.
    pub on_stop: OnStop,
    /// Instructions of your own for the agent, one entry for each stage from 2 on.
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
    /// Stalls that stop a task if no attempt in between makes progress.
    pub const fn stalls_to_stop(&self) -> u32 {
        self.stall_threshold.saturating_mul(self.max_stage.saturating_sub(1))
    }
}

/// What a `run` does with a task that was stopped as stuck.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnStop {
    /// The planner replaces it by smaller tasks, if `replanning` allows.
    #[default]
    Replan,
    /// It is blocked, and so are the tasks that depend on it.
    Block,
}

/// Instructions for the agent at one stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StageInstructions {
    /// The stage; stages above `convergence.max_stage` are never reached.
    #[schemars(range(min = 2, max = 10))]
    pub stage: u32,
    /// Text that is added to the agent's prompt.
    pub instructions: String,
}

/// How a task that cannot be done as planned is replaced by smaller tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ReplanningSettings {
    /// Whether tasks are replaced. If false, such a task is blocked.
    pub enabled: bool,
    /// A task and its replacements are replanned at most one time less than this: 3 allows two replans, 1
    /// none.
    #[schemars(range(min = 0, max = 100))]
    pub max_iterations: u32,
    /// Seconds the planner has for one replan; `models.timeout` if that is shorter.
    #[schemars(range(min = 1, max = 86400))]
    pub timeout_seconds: u32,
    /// Tasks that one replan may create, at most.
    #[schemars(range(min = 1, max = 100))]
    pub max_children: u32,
}

impl Default for ReplanningSettings {
    fn default() -> Self {
        Self { enabled: true, max_iterations: 3, timeout_seconds: 300, max_children: 5 }
    }
}
