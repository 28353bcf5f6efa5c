//! Every setting of Fixpoint as a typed field: its default, its range and its description, each written once.
//!
//! The doc comments and ranges below become the JSON Schema that editors read and that the `config` crate
//! enforces, and the reference page. A field exists only if some code reads it. Keys and choices that are
//! planned but not implemented are listed in `x-unavailable-keys` and `x-unavailable-values`, each with what
//! to do instead; `config` refuses them as "not available yet". Nothing here reads a file or merges layers.

mod convergence;
mod evidence;
pub mod limits;
mod planning;
mod refinement;
mod resources;
mod tool_policy;

use crate::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use convergence::{ConvergenceSettings, OnStop, ReplanningSettings, StageInstructions};
pub use evidence::{
    BaselineReuse, BaselineSettings, Check, CheckKind, CheckOptions, CheckVerdict, Companion,
    FingerprintSettings, FingerprintValues, IntegrationSettings, NewlyFlaky, OnViolation, RUNNERS,
    ScopeSettings, WorkspaceSettings,
};
pub use planning::{
    CacheSettings, ComplexityThreshold, DecompositionLevel, PlanningSettings, ReflectAfter, ReflectionDepth,
    ReflectionSettings, RevisionSettings, Strategy,
};
pub use refinement::{JudgeSettings, OnStagnation, RefinementSettings};
pub use resources::{
    AgentKind, AgentSettings, BudgetSettings, Endpoint, ModelSettings, Price, Protocol, SandboxMode,
    SandboxNetwork, SandboxSettings, UserConfigApi,
};
pub use tool_policy::{ApprovalRule, ApprovalWhen, BranchKind};

/// All settings of Fixpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("x-unavailable-keys" = {
    "mcp_servers": "configure MCP servers in your coding agent instead"
}))]
pub struct Settings {
    /// How `fixpoint run` and `fixpoint plan` turn a goal into tasks.
    pub planning: PlanningSettings,
    /// When a plan that the judge has scored is accepted, planned again or rejected.
    pub refinement: RefinementSettings,
    /// How often the judge scores a plan.
    pub judge: JudgeSettings,
    /// How a task that cannot be done as planned is replaced by smaller tasks.
    pub replanning: ReplanningSettings,
    /// When a task counts as stuck, and what happens then.
    pub convergence: ConvergenceSettings,
    /// Commands that test the project. `--until` and `--check` replace them; if there are none at all,
    /// Fixpoint looks for the project's tests as `fixpoint init` does. Each check needs a name of its own.
    #[schemars(length(max = 100))]
    pub checks: Vec<Check>,
    /// How checks are run.
    pub check_options: CheckOptions,
    /// What failed before the work began and is therefore not blamed on the agent.
    pub baseline: BaselineSettings,
    /// When two failures count as the same failure.
    pub fingerprint: FingerprintSettings,
    /// Which files an agent may change. `.fixpoint` may never change.
    pub scope: ScopeSettings,
    /// How the private copies of the repository that agents and checks run in are prepared.
    pub workspace: WorkspaceSettings,
    /// How the results of tasks are merged and the whole is finished.
    pub integration: IntegrationSettings,
    /// Tasks that run at the same time, at most. Each has an agent and a workspace of its own.
    #[schemars(range(min = 1, max = 64))]
    pub max_workers: u32,
    /// What one run may spend; null means no limit. Work that has begun is finished; then the run pauses, and
    /// `fixpoint resume --budget` continues it.
    pub budget: BudgetSettings,
    /// Which language models plan, judge and reflect, and how they are reached.
    pub models: ModelSettings,
    /// The coding agent that edits the code, where none is named after `--`.
    pub agent: AgentSettings,
    /// What agents, checks and set-up commands may reach beside their workspace. Not in a file of the
    /// repository.
    #[serde(deserialize_with = "resources::sandbox_settings")]
    pub sandbox: SandboxSettings,
    /// A web service that supplies the settings of the person a `fixpoint run` or `fixpoint plan` is for. Not
    /// in a file of the repository.
    pub user_config_api: UserConfigApi,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            planning: PlanningSettings::default(),
            refinement: RefinementSettings::default(),
            judge: JudgeSettings::default(),
            replanning: ReplanningSettings::default(),
            convergence: ConvergenceSettings::default(),
            checks: Vec::new(),
            check_options: CheckOptions::default(),
            baseline: BaselineSettings::default(),
            fingerprint: FingerprintSettings::default(),
            scope: ScopeSettings::default(),
            workspace: WorkspaceSettings::default(),
            integration: IntegrationSettings::default(),
            max_workers: 3,
            budget: BudgetSettings::default(),
            models: ModelSettings::default(),
            agent: AgentSettings::default(),
            sandbox: SandboxSettings::default(),
            user_config_api: UserConfigApi::default(),
        }
    }
}
