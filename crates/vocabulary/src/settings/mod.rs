//! Every setting Fixpoint knows, typed: its default, its range and its meaning, each written once.
//!
//! The ranges and descriptions below become the JSON Schema that editors read and that `config` enforces, so
//! what is published is what is checked. Nothing here reads a file or merges layers: that is `config`.

mod convergence;
mod evidence;
pub mod limits;
mod planning;
mod refinement;
mod resources;

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use convergence::{ConvergenceSettings, OnStop, ReplanningSettings, StageInstructions};
pub use evidence::{
    BaselineReuse, BaselineSettings, Check, CheckKind, CheckOptions, CheckVerdict, Companion,
    FingerprintSettings, FingerprintValues, IntegrationSettings, NewlyFlaky, OnViolation, ScopeSettings,
    WorkspaceSettings,
};
pub use planning::{
    ApprovalRule, ApprovalWhen, BranchKind, CacheSettings, ComplexityThreshold, DecompositionLevel,
    EarlyTermination, ExecutionSettings, PlanningSettings, ReflectAfter, ReflectionDepth, ReflectionSettings,
    RevisionSettings, SecuritySettings, Strategy,
};
pub use refinement::{JudgeSettings, OnStagnation, RefinementSettings};
pub use resources::{
    AgentKind, AgentSettings, BudgetSettings, Endpoint, McpServer, ModelSettings, Price, Protocol,
    SandboxMode, UserConfigApi,
};

/// The whole configuration of Fixpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Settings {
    /// How a goal is understood, decomposed and ordered.
    pub planning: PlanningSettings,
    /// How a judged plan is accepted, refined or rejected.
    pub refinement: RefinementSettings,
    /// How often a plan may be scored when a decision depends on it.
    pub judge: JudgeSettings,
    /// How a task that cannot work is replaced by smaller ones.
    pub replanning: ReplanningSettings,
    /// When attempts at one task count as getting nowhere.
    pub convergence: ConvergenceSettings,
    /// The project's own commands whose outcome is evidence.
    #[schemars(length(max = 100))]
    pub checks: Vec<Check>,
    /// How all checks are run.
    pub check_options: CheckOptions,
    /// What was failing before the work began.
    pub baseline: BaselineSettings,
    /// What makes two failures the same.
    pub fingerprint: FingerprintSettings,
    /// Which files a task may change.
    pub scope: ScopeSettings,
    /// How a private workspace is prepared.
    pub workspace: WorkspaceSettings,
    /// How finished tasks are put together.
    pub integration: IntegrationSettings,
    /// How many agents work at the same time, at most.
    #[schemars(range(min = 1, max = 64))]
    pub max_workers: u32,
    /// What a run may spend. An absent limit is no limit.
    pub budget: BudgetSettings,
    /// Which model plays which role.
    pub models: ModelSettings,
    /// The coding agent that does the work.
    pub agent: AgentSettings,
    /// Whether agents are confined by the kernel.
    pub sandbox: SandboxMode,
    /// MCP servers by name.
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// A service that answers with one person's settings.
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
            sandbox: SandboxMode::Auto,
            mcp_servers: BTreeMap::new(),
            user_config_api: UserConfigApi::default(),
        }
    }
}
