//! What is fixed about a run when it begins.

use fixpoint_vocabulary::ask::{PersonPresence, PlanningStyle, Role};
use fixpoint_vocabulary::settings::Price;
use fixpoint_vocabulary::work::Allowance;
use serde::{Deserialize, Serialize};

use crate::noise::Sigma;
use crate::prelude::*;
use crate::task_run::{TaskOptions, TestEdits};

/// Everything about a run that is fixed when it begins, beside its spec.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunOptions {
    pub tasks: TaskSource,
    #[serde(default)]
    pub budget: Allowance,
    /// So many commands in a row cut short by crashes pause the run.
    pub max_interruptions: u32,
}

/// Where the tasks of a run come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskSource {
    /// There is one, and it is known.
    Given(Box<TaskOptions>),
    Planned(Box<PlanOptions>),
}

/// In how many questions a goal is planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanningCalls {
    /// In none: the goal is one task.
    None,
    /// In one, for all phases.
    AtOnce,
    /// In one for each phase.
    PerPhase,
}

/// Whether results are judged by a model, beside the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judging {
    ByModel,
    /// There is no model: the checks alone decide.
    ByChecksAlone,
}

/// How far a run goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunExtent {
    #[default]
    Whole,
    PlanOnly,
}

/// How the tasks of a run are planned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanOptions {
    pub calls: PlanningCalls,
    /// How the planner is asked to think, and how finely to cut.
    pub style: PlanningStyle,
    /// Actions between two reflections; 0 for none.
    pub reflection_interval: u32,
    pub person: PersonPresence,
    pub judging: Judging,
    #[serde(default)]
    pub extent: RunExtent,
    /// The standard deviation of the judge's scores, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sigma: Option<Sigma>,
    /// What the model of each role costs, where that is known.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prices: BTreeMap<Role, Price>,
    /// The tools a task may name; none where it may name any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The checks every task must leave as they were, by their number.
    pub guards: BTreeSet<u32>,
    /// The checks that must pass in the end.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub goals: BTreeSet<u32>,
    pub test_edits: TestEdits,
}

impl RunOptions {
    pub fn given(options: TaskOptions) -> Self {
        let (budget, max_interruptions) = (options.budget, options.max_interruptions);
        Self { tasks: TaskSource::Given(Box::new(options)), budget, max_interruptions }
    }

    pub fn planned(options: PlanOptions, budget: Allowance) -> Self {
        Self { tasks: TaskSource::Planned(Box::new(options)), budget, max_interruptions: 3 }
    }
}
