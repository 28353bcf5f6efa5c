//! Settings of everything that is evidence: checks, baseline, fingerprints, scope, workspaces, integration.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::limits::MAX_GLOBS;
use super::limits::MAX_INFRA_FAILURES;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A command whose outcome is evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// How the check is called in reports.
    #[schemars(length(min = 1))]
    pub name: String,
    /// The command line, run by `sh -c`.
    #[schemars(length(min = 1))]
    pub command: String,
    /// Whether the check must pass, or only show nothing new.
    #[serde(default)]
    pub kind: CheckKind,
    /// Seconds until the check counts as hanging.
    #[serde(default = "Check::default_timeout")]
    #[schemars(range(min = 1, max = 86400))]
    pub timeout: u32,
    /// Checks with the same lock never run at the same time (a port, a database).
    #[serde(default)]
    pub lock: Option<String>,
    /// How the outcome is read.
    #[serde(default)]
    pub verdict: CheckVerdict,
    /// The test runner whose output it prints: its name, or `auto`.
    #[serde(default = "Check::default_runner")]
    pub runner: String,
}

impl Check {
    /// A check with the default limits.
    pub fn new(name: impl Into<String>, command: impl Into<String>, kind: CheckKind) -> Self {
        Self {
            name: name.into(),
            command: command.into(),
            kind,
            timeout: Self::default_timeout(),
            lock: None,
            verdict: CheckVerdict::Auto,
            runner: Self::default_runner(),
        }
    }

    fn default_timeout() -> u32 {
        1800
    }

    fn default_runner() -> String {
        "auto".to_string()
    }
}

/// Whether a check must pass, or only show nothing new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckKind {
    /// Must pass.
    Goal,
    /// Must show nothing that was not failing before.
    #[default]
    Guard,
}

/// How a check's outcome is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckVerdict {
    /// Decision file, machine report, exit code with what could be parsed.
    #[default]
    Auto,
    /// Also a last line that is exactly a verdict word.
    Text,
}

/// How all checks are run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CheckOptions {
    /// Checks that run at the same time.
    #[schemars(range(min = 1, max = 64))]
    pub max_parallel: u32,
    /// So many attempts in a row whose checks could not run stop the task.
    #[schemars(range(min = MAX_INFRA_FAILURES.min, max = MAX_INFRA_FAILURES.max))]
    pub max_infra_failures: u32,
    /// How many times a goal must pass.
    #[schemars(range(min = 1, max = 20))]
    pub goal_runs: u32,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self { max_parallel: 1, max_infra_failures: 2, goal_runs: 2 }
    }
}

/// What was failing before the work began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BaselineSettings {
    /// Runs at the base; what fails in some of them only is known to be flaky.
    #[schemars(range(min = 1, max = 20))]
    pub runs: u32,
    /// Further runs of what looks new.
    #[schemars(range(min = 0, max = 20))]
    pub confirm_runs: u32,
    /// Whether a test that fails sometimes now and never did before blocks.
    pub newly_flaky: NewlyFlaky,
    /// Names of the checks a baseline is taken of; empty for all.
    pub checks: Vec<String>,
    /// Whether what an earlier run saw at the same tree, within a day, is taken instead of running the checks again.
    pub reuse: BaselineReuse,
}

/// Whether what an earlier run saw at the same tree is taken instead of running the checks again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BaselineReuse {
    /// It is, within a day.
    #[default]
    Day,
    /// The checks run every time.
    Never,
}

impl Default for BaselineSettings {
    fn default() -> Self {
        Self {
            runs: 2,
            confirm_runs: 2,
            newly_flaky: NewlyFlaky::Block,
            checks: Vec::new(),
            reuse: BaselineReuse::Day,
        }
    }
}

/// Whether a test that fails sometimes now and never did before blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NewlyFlaky {
    /// It blocks.
    #[default]
    Block,
    /// It is listed and tolerated.
    Allow,
}

/// What makes two failures the same.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FingerprintSettings {
    /// Whether values that were seen ("got 6") tell failures apart.
    pub values: FingerprintValues,
}

/// Whether values that were seen ("got 6") tell failures apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FingerprintValues {
    /// "got 6" and "got 7" are the same failure.
    #[default]
    Drop,
    /// They are two.
    Keep,
}

/// Which files a task may change.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ScopeSettings {
    /// Globs as in `.gitignore` of what may change; empty for everything.
    #[schemars(length(max = MAX_GLOBS))]
    pub allowed_paths: Vec<String>,
    /// Globs of what may not change, whatever is allowed.
    #[schemars(length(max = MAX_GLOBS))]
    pub denied_paths: Vec<String>,
    /// Files that may change, at most.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub max_changed_files: Option<u64>,
    /// Lines that may change, at most.
    #[schemars(range(min = 0, max = 100_000_000))]
    pub max_changed_lines: Option<u64>,
    /// What a violation leads to.
    pub on_violation: OnViolation,
    /// Files that may change along with another, beside the known lock files.
    pub companions: Vec<Companion>,
}

/// What a scope violation leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnViolation {
    /// The attempt is not complete, and is told why.
    #[default]
    Report,
    /// What lies outside is reverted at once.
    Revert,
    /// The task is blocked.
    Block,
}

/// A file that may change along with another, in the same directory or below it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Companion {
    /// The file name that changes along, such as `Cargo.lock`.
    #[schemars(length(min = 1))]
    pub file: String,
    /// The file name it changes with, such as `Cargo.toml`.
    #[schemars(length(min = 1))]
    pub with: String,
}

/// How a private workspace is prepared.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WorkspaceSettings {
    /// Commands run once in a new workspace, such as installing packages.
    pub setup: Vec<String>,
    /// Files git ignores that the project needs, such as `.env`.
    pub copy: Vec<String>,
    /// Names of environment variables that agents and checks may see beyond the usual ones; `NAME*` for a family.
    pub env: Vec<String>,
}

/// How finished tasks are put together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct IntegrationSettings {
    /// Tasks made to repair merges, at most.
    #[schemars(range(min = 0, max = 100))]
    pub max_fix_iterations: u32,
    /// Tasks the final judgement may add, at most.
    #[schemars(range(min = 0, max = 100))]
    pub max_additional_tasks: u32,
}

impl Default for IntegrationSettings {
    fn default() -> Self {
        Self { max_fix_iterations: 3, max_additional_tasks: 5 }
    }
}
