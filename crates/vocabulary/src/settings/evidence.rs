//! Settings of checks, baseline, fingerprints, scope, workspaces and integration.

use super::limits::MAX_GLOBS;
use super::limits::MAX_INFRA_FAILURES;
use crate::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A command that tests the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// The name shown in reports. No two checks may have the same name.
    #[schemars(length(min = 1))]
    pub name: String,
    /// The command line, run by `sh -c` at the root of the repository. For example `cargo test`.
    #[schemars(length(min = 1))]
    pub command: String,
    /// What the check must show.
    #[serde(default)]
    pub kind: CheckKind,
    /// Seconds after which the check is stopped and counts as failed.
    #[serde(default = "Check::default_timeout")]
    #[schemars(range(min = 1, max = 86400))]
    pub timeout: u32,
    /// Checks with the same lock never run at the same time, not even in different runs. For example the name
    /// of a port or a database they share.
    #[serde(default)]
    pub lock: Option<String>,
    /// How pass or fail is decided.
    #[serde(default)]
    pub verdict: CheckVerdict,
    /// The test runner or compiler whose output the check prints. `auto` recognises it by the command line
    /// and the output; `generic` is any other program.
    #[serde(default = "Check::default_runner")]
    #[schemars(extend("enum" = RUNNERS.as_slice()))]
    pub runner: String,
}

/// The values of `checks[].runner`. All but `auto` are names of runners whose output can be read.
pub const RUNNERS: [&str; 42] = [
    "auto",
    "cargo_test",
    "nextest",
    "go_test",
    "pytest",
    "unittest",
    "jest",
    "vitest",
    "mocha",
    "node_test",
    "junit",
    "tap",
    "phpunit",
    "minitest",
    "rspec",
    "maven",
    "gradle",
    "junit_console",
    "ctest",
    "google_test",
    "catch2",
    "ex_unit",
    "dotnet_test",
    "bun",
    "deno",
    "playwright",
    "jasmine",
    "ava",
    "robot",
    "behave",
    "doctest",
    "rustc",
    "gcc",
    "tsc",
    "eslint",
    "javac",
    "ruff",
    "pyright",
    "biome",
    "shellcheck",
    "linter",
    "generic",
];

impl Check {
    /// A check with default timeout, verdict and runner, and without a lock.
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

/// What a check must show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckKind {
    /// It must pass.
    Goal,
    /// It must show no failure that was not there before.
    #[default]
    Guard,
}

/// How pass or fail of a check is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckVerdict {
    /// By the tests its output names, else by the exit code. By the decision file, if the check wrote one before the
    /// work began.
    #[default]
    Auto,
    /// By the decision file that the check writes (`FIXPOINT_DECISION_FILE`), else as with `auto`. With an exit code
    /// other than 0 the check fails, whatever the file says.
    File,
    /// Like `auto`, but with exit code 0 the last line that is exactly `PASS`, `COMPLETE`, `FAIL` or
    /// `INCOMPLETE` decides; without such a line the check fails.
    Text,
}

/// How checks are run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CheckOptions {
    /// Checks of one task that run at the same time.
    #[schemars(range(min = 1, max = 64))]
    pub max_parallel: u32,
    /// Attempts in a row whose checks could not be run at all; then the task stops.
    #[schemars(range(min = MAX_INFRA_FAILURES.min, max = MAX_INFRA_FAILURES.max))]
    pub max_infra_failures: u32,
    /// How many times in a row a goal must pass.
    #[schemars(range(min = 1, max = 20))]
    pub goal_runs: u32,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self { max_parallel: 1, max_infra_failures: 2, goal_runs: 2 }
    }
}

/// What failed before the work began and is therefore not blamed on the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BaselineSettings {
    /// How many times failing checks are run before the work begins. What fails only in some of these runs is
    /// flaky.
    #[schemars(range(min = 1, max = 20))]
    pub runs: u32,
    /// How many more times a failure that looks new is run before it counts.
    #[schemars(range(min = 0, max = 20))]
    pub confirm_runs: u32,
    /// What happens if a test that never failed before the work began now fails in some runs.
    pub newly_flaky: NewlyFlaky,
    /// Names of the guards to use, from `checks` or as found by Fixpoint; other guards are not run. Goals are
    /// always run. Empty: all guards.
    pub checks: Vec<String>,
    /// Whether an earlier result of the same check on the same files is used instead of running the check
    /// again.
    pub reuse: BaselineReuse,
}

/// Whether an earlier result of the same check on the same files is used instead of running the check again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BaselineReuse {
    /// Yes, if it is less than a day old.
    #[default]
    Day,
    /// No, but the new result is stored for later runs, as with `--fresh`.
    Refresh,
    /// No, every run takes its own baseline.
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

/// What happens if a test that never failed before the work began now fails in some runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NewlyFlaky {
    /// The attempt is not done.
    #[default]
    Block,
    /// The test is reported, and the attempt may be done.
    Allow,
}

/// When two failures count as the same failure.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FingerprintSettings {
    /// Whether values in a message make a difference, such as 6 in "expected 5, got 6".
    pub values: FingerprintValues,
}

/// Whether values in a message make a difference, such as 6 in "expected 5, got 6".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FingerprintValues {
    /// No: "got 6" and "got 7" are the same failure.
    #[default]
    Drop,
    /// Yes: they are two failures.
    Keep,
}

/// Which files an agent may change. `.fixpoint` may never change.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ScopeSettings {
    /// Globs of files that may change, as in `.gitignore`, from the root of the repository. Empty: all files.
    /// For example `src/**`.
    #[schemars(length(max = MAX_GLOBS))]
    pub allowed_paths: Vec<String>,
    /// Globs of files that may not change, even if `allowed_paths` matches them.
    #[schemars(length(max = MAX_GLOBS))]
    pub denied_paths: Vec<String>,
    /// Files that one task may change, at most; null for no limit.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub max_changed_files: Option<u64>,
    /// Lines that one task may add and delete together, at most; null for no limit.
    #[schemars(range(min = 0, max = 100_000_000))]
    pub max_changed_lines: Option<u64>,
    /// What happens to an attempt that changes something else. From stage 2 on, such changes are always
    /// reverted.
    pub on_violation: OnViolation,
    /// Globs of files that decide what a check does and that an agent may change all the same: runner configuration,
    /// build files, package scripts, plugins. Other changes of such files are undone before the checks decide. For
    /// example `Makefile`.
    #[schemars(length(max = MAX_GLOBS))]
    pub definitions: Vec<String>,
    /// Files that may change together with another file although `allowed_paths` does not match them. The
    /// usual lock files are known.
    pub companions: Vec<Companion>,
}

/// What happens to an attempt that changes files outside the scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnViolation {
    /// It is not done, and the next attempt is told which files to put back.
    #[default]
    Report,
    /// The files outside the scope are reverted at once; then the checks are run.
    Revert,
    /// The task stops.
    Block,
}

/// A file that may change if another file in the same directory, or in one below, changes too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Companion {
    /// The name of the file that may change, or a glob of names. For example `Cargo.lock`.
    #[schemars(length(min = 1))]
    pub file: String,
    /// The name of the file it changes with, or a glob of names. For example `Cargo.toml`.
    #[schemars(length(min = 1))]
    pub with: String,
}

/// How the private copies of the repository that agents and checks run in are prepared.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("x-unavailable-keys" = {
    "max_bytes": "remove it: the size of a result is not limited",
    "max_files": "limit the files that a task may change with `scope.max_changed_files` instead"
}))]
pub struct WorkspaceSettings {
    /// Commands run by `sh -c` in a new workspace, and again when a manifest or lock file changes, each
    /// within `agent.timeout` seconds. For example `npm ci`.
    pub setup: Vec<String>,
    /// Files to copy although git ignores them, as globs from the root of the repository. For example `.env`.
    pub copy: Vec<String>,
    /// Names of further environment variables that agents and checks may see. `NAME*` stands for all that
    /// begin with `NAME`. `--env` adds to them.
    pub env: Vec<String>,
}

/// How the results of tasks are merged and the whole is finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct IntegrationSettings {
    /// Merges with a conflict or a new failure that an agent may repair, at most; and rounds in which the
    /// final review may add tasks, at most.
    #[schemars(range(min = 0, max = 100))]
    pub max_fix_iterations: u32,
    /// Tasks that the final review may add, at most, in all rounds together.
    #[schemars(range(min = 0, max = 100))]
    pub max_additional_tasks: u32,
}

impl Default for IntegrationSettings {
    fn default() -> Self {
        Self { max_fix_iterations: 3, max_additional_tasks: 5 }
    }
}
