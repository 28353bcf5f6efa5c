//! What is fixed about a task when it begins.

use fixpoint_vocabulary::TaskId;
use fixpoint_vocabulary::settings::ReplanningSettings;
use fixpoint_vocabulary::settings::{BaselineSettings, CheckOptions, OnViolation, Settings};
use fixpoint_vocabulary::work::{Allowance, Base, Conflict, ProtectedChange};
use serde::{Deserialize, Serialize};

use super::BaselineState;
use crate::convergence::Limits;
use crate::prelude::*;

/// Whether a task may change the tests of its goals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestEdits {
    Allowed,
    /// It may, but the goals must pass with the base's tests, too.
    Checked,
}

/// What counts as a goal beside the named ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImpliedGoals {
    #[default]
    None,
    /// A guard that fails at the base every time is a goal too.
    FailingGuards,
    /// The same; and where no guard fails, there is nothing to do.
    FailingGuardsOrNothing,
}

/// What a task begins with.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStart {
    /// The user's tree, or the commit that was named.
    #[default]
    TakeBase,
    /// A commit on which no check ran yet.
    FromCommit(Base),
    /// The base of the run, with what checks showed there.
    FromCheckedBase(BaselineState),
    /// A result, on which checks ran.
    FromBaseline(BaselineState),
    /// Work that is there already. It is evaluated first; only what it leaves to do is attempted.
    Evaluate {
        /// What it is compared with.
        baseline: BaselineState,
        work: Base,
        /// The conflict that it holds, marked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        conflict: Option<Conflict>,
        /// The tests and check definitions in which the work differs from what it is compared with.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        changes: Vec<ProtectedChange>,
    },
}

/// How the judge of a task is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgeOptions {
    /// How many independent yeses make it done.
    pub yeses: u32,
    /// How often an answer that cannot be read is asked for again.
    pub max_format_retries: u32,
    /// Replans made in the task's lineage.
    pub lineage_iteration: u32,
    /// Whether and how often the task may be replanned.
    pub replanning: ReplanningSettings,
}

/// Everything about a task that is fixed when it begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskOptions {
    pub task: TaskId,
    /// The checks that must pass, by their number.
    pub goals: BTreeSet<u32>,
    /// Those of the goals that a planner made up: their commands may exist only once the work is done.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub invented: BTreeSet<u32>,
    /// The checks that must show nothing new.
    pub guards: BTreeSet<u32>,
    /// Guards that are goals of the whole run: they need not pass here, but no change of tests may make them pass.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub promised: BTreeSet<u32>,
    #[serde(default)]
    pub implied_goals: ImpliedGoals,
    /// When attempts count as stalled.
    pub limits: Limits,
    /// How the baseline is taken and compared with.
    pub baseline: BaselineSettings,
    /// How many times a goal must pass.
    pub goal_runs: u32,
    /// What follows from a change outside the scope.
    pub on_violation: OnViolation,
    pub test_edits: TestEdits,
    /// Commands in a row that crashes may cut short; one more pauses the task.
    pub max_interruptions: u32,
    /// What it may spend; only where it is the only task of a run.
    #[serde(default, skip_serializing_if = "is_unlimited")]
    pub budget: Allowance,
    #[serde(default, skip_serializing_if = "is_default")]
    pub start: TaskStart,
    /// The judge that must agree, beside the checks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<JudgeOptions>,
}

fn is_unlimited(budget: &Allowance) -> bool {
    *budget == Allowance::default()
}

fn is_default(start: &TaskStart) -> bool {
    *start == TaskStart::TakeBase
}

impl TaskOptions {
    /// A task with these checks and the default settings.
    pub fn new(task: TaskId, goals: BTreeSet<u32>, guards: BTreeSet<u32>) -> Self {
        Self {
            task,
            goals,
            invented: BTreeSet::new(),
            guards,
            promised: BTreeSet::new(),
            implied_goals: ImpliedGoals::None,
            limits: Limits::default(),
            baseline: BaselineSettings::default(),
            goal_runs: CheckOptions::default().goal_runs,
            on_violation: OnViolation::default(),
            test_edits: TestEdits::Checked,
            max_interruptions: 3,
            budget: Allowance::default(),
            start: TaskStart::TakeBase,
            judge: None,
        }
    }

    /// A task with these checks, as the settings say.
    pub fn under(settings: &Settings, task: TaskId, goals: BTreeSet<u32>, guards: BTreeSet<u32>) -> Self {
        Self {
            limits: Limits {
                convergence: settings.convergence.clone(),
                max_infra_failures: settings.check_options.max_infra_failures,
            },
            baseline: settings.baseline.clone(),
            goal_runs: settings.check_options.goal_runs,
            on_violation: settings.scope.on_violation,
            ..Self::new(task, goals, guards)
        }
    }
}
