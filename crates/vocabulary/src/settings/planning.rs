//! Settings of planning, reflection, revision and the plan cache.

use super::limits::MAX_SUBTASKS;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How `fixpoint run` and `fixpoint plan` turn a goal into tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("x-unavailable-keys" = {
    "execution": "limit the work with `agent.timeout`, `convergence.max_iterations` and `budget` instead",
    "security": "restrict tools in the configuration of your coding agent instead"
}))]
pub struct PlanningSettings {
    /// Whether a goal is split into tasks. If false, the whole goal is one task, as with `--no-plan`.
    pub enabled: bool,
    /// How the planner works out the tasks. A goal of at most `complexity_threshold.simple` tokens is always
    /// planned in one call.
    pub strategy: Strategy,
    /// Tasks of one run, at most, including those that replanning adds.
    #[schemars(range(min = MAX_SUBTASKS.min, max = MAX_SUBTASKS.max))]
    pub max_subtasks: u32,
    /// How small the tasks are.
    pub decomposition_level: DecompositionLevel,
    /// Whether the size of the goal chooses `strategy`, `decomposition_level` and
    /// `reflection.trigger_interval`. Each of the three that is set in any layer keeps its value.
    pub auto_adjust_level: bool,
    /// Whether the feasible part of a goal is run without asking a person, if the rest is not feasible.
    pub allow_partial: bool,
    /// The size of a goal, in tokens (about four English letters each).
    pub complexity_threshold: ComplexityThreshold,
    /// When the reflector reviews a finished task and may revise the plan.
    pub reflection: ReflectionSettings,
    /// How the plan may be revised while it runs.
    pub revision: RevisionSettings,
    /// Plans stored for later runs with the same or a similar goal.
    pub cache: CacheSettings,
}

impl Default for PlanningSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            strategy: Strategy::ChainOfThought,
            max_subtasks: 100,
            decomposition_level: DecompositionLevel::Moderate,
            auto_adjust_level: true,
            allow_partial: false,
            complexity_threshold: ComplexityThreshold::default(),
            reflection: ReflectionSettings::default(),
            revision: RevisionSettings::default(),
            cache: CacheSettings::default(),
        }
    }
}

/// How the planner works out the tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// In several calls, with written reasoning first.
    #[default]
    ChainOfThought,
    /// In several calls; a task may contain subtasks, which are flattened into one graph.
    Hierarchical,
    /// In one call, without written reasoning.
    Simple,
}

/// How small the tasks are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DecompositionLevel {
    /// Many small tasks, each verifiable by itself.
    Detailed,
    /// As many tasks as the planner finds natural.
    #[default]
    Moderate,
    /// As few tasks as possible.
    Minimal,
}

/// The size of a goal, in tokens (about four English letters each).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ComplexityThreshold {
    /// A goal of at most this many tokens is simple: one planning call, as few tasks as possible, reflection
    /// only after failures.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub simple: u32,
    /// A larger goal of at most this many tokens is moderate, with reflection every 5 tasks. Any larger goal
    /// is complex: detailed tasks, reflection every 3.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub moderate: u32,
    /// Accepted because older files have it; it has no effect.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub complex: u32,
}

impl Default for ComplexityThreshold {
    fn default() -> Self {
        Self { simple: 100, moderate: 500, complex: 9999 }
    }
}

/// When the reflector reviews a finished task and may revise the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ReflectionSettings {
    /// Whether there is any reflection.
    pub enabled: bool,
    /// Whether every failed task is reviewed.
    pub trigger_on_error: bool,
    /// Every so many finished tasks, the last one is reviewed; 0 for failed tasks only. With
    /// `planning.auto_adjust_level`, the size of the goal chooses this number unless it is set.
    #[schemars(range(min = 0, max = 1000))]
    pub trigger_interval: u32,
    /// How much of the task the reflector is shown.
    pub depth: ReflectionDepth,
    /// Which tasks the regular review is for. Failed tasks are reviewed anyway, by `trigger_on_error`.
    pub after: ReflectAfter,
}

impl Default for ReflectionSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            trigger_on_error: true,
            trigger_interval: 3,
            depth: ReflectionDepth::Moderate,
            after: ReflectAfter::All,
        }
    }
}

/// How much of the task the reflector is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReflectionDepth {
    /// Also the diff, the end of the agent's output and all other tasks.
    Deep,
    /// Also the acceptance criteria and the results of the checks.
    #[default]
    Moderate,
    /// Only the goal, the task's status and the planned actions.
    Shallow,
}

/// Which tasks the regular review is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReflectAfter {
    /// Every task.
    #[default]
    All,
    /// Tasks that changed files.
    Important,
}

/// How the plan may be revised while it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RevisionSettings {
    /// Revisions in one run, at most.
    #[schemars(range(min = 0, max = 100))]
    pub max_revisions: u32,
    /// Whether a person must approve each revision.
    pub require_human_approval: bool,
    /// Seconds a person has to approve a plan or a revision; no answer means no.
    #[schemars(range(min = 1, max = 2_592_000))]
    pub approval_timeout: u32,
}

impl Default for RevisionSettings {
    fn default() -> Self {
        Self { max_revisions: 3, require_human_approval: false, approval_timeout: 3600 }
    }
}

/// Plans stored for later runs with the same or a similar goal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CacheSettings {
    /// Whether plans are stored and reused. The same goal on the same files reuses its plan; a similar goal
    /// gives it to the planner as a draft.
    pub enabled: bool,
    /// Seconds after which a stored plan is too old to be used.
    #[schemars(range(min = 0, max = 31_536_000))]
    pub ttl: u32,
    /// How similar two goals must be to share a draft: 1 means the same words, 0 means anything.
    #[schemars(range(min = 0, max = 1))]
    pub similarity: f64,
    /// Plans stored for one repository, at most; the least recently used is deleted first.
    #[schemars(range(min = 1, max = 100_000))]
    pub max_entries: u32,
}

impl Default for CacheSettings {
    fn default() -> Self {
        Self { enabled: true, ttl: 86_400, similarity: 0.92, max_entries: 500 }
    }
}
