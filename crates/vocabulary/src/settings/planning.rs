//! Settings of planning, reflection, revision, the plan cache, execution and tool policy.

use alloc::string::String;
use alloc::vec::Vec;

use super::limits::MAX_SUBTASKS;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a goal is understood, decomposed and ordered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PlanningSettings {
    /// Off: the goal runs as one task.
    pub enabled: bool,
    /// How the planner is asked to think.
    pub strategy: Strategy,
    /// Tasks of one run, replans included, at most.
    #[schemars(range(min = MAX_SUBTASKS.min, max = MAX_SUBTASKS.max))]
    pub max_subtasks: u32,
    /// How fine the tasks are cut.
    pub decomposition_level: DecompositionLevel,
    /// Whether the size of the goal decides about level and reflection where nothing else was set.
    pub auto_adjust_level: bool,
    /// Whether the feasible part of a goal is run without asking when the rest is not.
    pub allow_partial: bool,
    /// Sizes of a goal, in tokens.
    pub complexity_threshold: ComplexityThreshold,
    /// When results are looked back on.
    pub reflection: ReflectionSettings,
    /// How often a plan may be revised while it runs.
    pub revision: RevisionSettings,
    /// Plans kept for goals that come again.
    pub cache: CacheSettings,
    /// Limits while actions are carried out.
    pub execution: ExecutionSettings,
    /// Which tools may be used.
    pub security: SecuritySettings,
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
            execution: ExecutionSettings::default(),
            security: SecuritySettings::default(),
        }
    }
}

/// How the planner is asked to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Reasoning first.
    #[default]
    ChainOfThought,
    /// A task may hold subtasks.
    Hierarchical,
    /// One call, no written reasoning.
    Simple,
}

/// How fine the tasks are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DecompositionLevel {
    /// Many small tasks.
    Detailed,
    /// As many as seem natural.
    #[default]
    Moderate,
    /// As few as possible.
    Minimal,
}

/// Sizes of a goal, in tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ComplexityThreshold {
    /// Up to this size a goal is simple.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub simple: u32,
    /// Up to this size a goal is moderate; above it, complex.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub moderate: u32,
    /// Read for compatibility; unused.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub complex: u32,
}

impl Default for ComplexityThreshold {
    fn default() -> Self {
        Self { simple: 100, moderate: 500, complex: 9999 }
    }
}

/// When results are looked back on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ReflectionSettings {
    /// Off: never.
    pub enabled: bool,
    /// After every failed action.
    pub trigger_on_error: bool,
    /// After every so many actions; 0 for never.
    #[schemars(range(min = 0, max = 1000))]
    pub trigger_interval: u32,
    /// How much the reflecting model is shown.
    pub depth: ReflectionDepth,
    /// After which actions the regular reflection happens.
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

/// How much the reflecting model is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReflectionDepth {
    /// Everything recorded about the action.
    Deep,
    /// The result and what was expected.
    #[default]
    Moderate,
    /// The status alone.
    Shallow,
}

/// After which actions the regular reflection happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReflectAfter {
    /// After any.
    #[default]
    All,
    /// After those that change something.
    Important,
}

/// How often a plan may be revised while it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RevisionSettings {
    /// Revisions of one plan, at most.
    #[schemars(range(min = 0, max = 100))]
    pub max_revisions: u32,
    /// Whether a person must agree to a revision.
    pub require_human_approval: bool,
    /// Seconds to wait for that person; then it is a no.
    #[schemars(range(min = 1, max = 2_592_000))]
    pub approval_timeout: u32,
}

impl Default for RevisionSettings {
    fn default() -> Self {
        Self { max_revisions: 3, require_human_approval: false, approval_timeout: 3600 }
    }
}

/// Plans kept for goals that come again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CacheSettings {
    /// Off: every goal is planned anew.
    pub enabled: bool,
    /// Seconds a plan is kept.
    #[schemars(range(min = 0, max = 31_536_000))]
    pub ttl: u32,
    /// How alike two goals must be for one's plan to be the other's draft.
    #[schemars(range(min = 0, max = 1))]
    pub similarity: f64,
    /// Plans kept, at most; the least recently used goes first.
    #[schemars(range(min = 1, max = 100_000))]
    pub max_entries: u32,
}

impl Default for CacheSettings {
    fn default() -> Self {
        Self { enabled: true, ttl: 86_400, similarity: 0.92, max_entries: 500 }
    }
}

/// Limits while actions are carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ExecutionSettings {
    /// Seconds for one action.
    #[schemars(range(min = 1, max = 86_400))]
    pub action_timeout: u32,
    /// Seconds for all actions together.
    #[schemars(range(min = 1, max = 2_592_000))]
    pub total_timeout: u32,
    /// Giving up before the end.
    pub early_termination: EarlyTermination,
}

impl Default for ExecutionSettings {
    fn default() -> Self {
        Self { action_timeout: 60, total_timeout: 3600, early_termination: EarlyTermination::default() }
    }
}

/// Giving up before the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EarlyTermination {
    /// Off: failures in a row do not stop the actions.
    pub enabled: bool,
    /// So many failed actions in a row stop them, and a person is told.
    #[schemars(range(min = 1, max = 1000))]
    pub max_consecutive_failures: u32,
}

impl Default for EarlyTermination {
    fn default() -> Self {
        Self { enabled: true, max_consecutive_failures: 3 }
    }
}

/// Which tools may be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SecuritySettings {
    /// Globs of tools that may be used; empty for all that nothing else catches.
    pub allowed_tools: Vec<String>,
    /// Globs of tools that may never be used; wins over everything.
    pub forbidden_tools: Vec<String>,
    /// Globs of tools a person must agree to.
    pub require_approval: Vec<ApprovalRule>,
}

impl Default for SecuritySettings {
    fn default() -> Self {
        let ask = |glob: &str| ApprovalRule::Tool(glob.into());
        Self {
            allowed_tools: Vec::new(),
            forbidden_tools: Vec::new(),
            require_approval: Vec::from(["*delete*", "*merge*", "*admin*", "*permission*"].map(ask)),
        }
    }
}

/// A glob of tools a person must agree to, or the same under a condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ApprovalRule {
    /// Whenever the tool is used.
    Tool(String),
    /// Only when the condition holds, or cannot be known.
    Conditional {
        /// The glob of tools.
        tool: String,
        /// The condition.
        when: ApprovalWhen,
    },
}

/// The condition of an approval rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalWhen {
    /// The kind of branch the tool would change.
    pub branch: BranchKind,
}

/// The kind of branch a tool would change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BranchKind {
    /// The repository's default branch.
    Default,
}
