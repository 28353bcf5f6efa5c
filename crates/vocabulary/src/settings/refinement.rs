//! Settings of plan refinement and of the judge's sampling.

use super::limits::DELTA_THRESHOLD;
use super::limits::MAX_SAMPLES;
use super::limits::NOISE_THRESHOLD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Score;

/// How a judged plan is accepted, refined or rejected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RefinementSettings {
    /// How many times a plan may be replanned.
    #[schemars(range(min = 0, max = 10), extend("x-legacy-name" = "max_quality_retries"))]
    pub max_refinement_attempts: u32,
    /// Whether suggestions for an acceptable plan lead to another plan.
    pub refine_suggestions_on_success: bool,
    /// How many replans may be made for suggestions alone.
    #[schemars(range(min = 0, max = 5))]
    pub max_suggestion_replans: u32,
    /// Whether a structurally broken replan is merged task by task with the plan before it.
    pub enable_individual_fallback: bool,
    /// An improvement below this many points is stagnation.
    #[schemars(range(min = DELTA_THRESHOLD.min, max = DELTA_THRESHOLD.max))]
    pub delta_threshold: f64,
    /// An improvement below this many percent of the previous score is stagnation.
    #[schemars(range(min = 0, max = 100))]
    pub delta_threshold_percent: f64,
    /// The share of tasks that may come or go before the structure counts as broken.
    #[schemars(range(min = 0, max = 1))]
    pub task_count_change_threshold: f64,
    /// The number of tasks that may come or go whatever their share.
    #[schemars(range(min = 0, max = 10))]
    pub task_count_change_min_absolute: u32,
    /// A score difference below this is noise: the plans count as equal.
    #[schemars(range(min = NOISE_THRESHOLD.min, max = NOISE_THRESHOLD.max))]
    pub noise_threshold: f64,
    /// What becomes of a plan that is not acceptable and no longer improves.
    pub on_stagnation: OnStagnation,
    /// An acceptable plan with this score is accepted at once.
    pub target_score: Option<Score>,
}

impl Default for RefinementSettings {
    fn default() -> Self {
        Self {
            max_refinement_attempts: 2,
            refine_suggestions_on_success: false,
            max_suggestion_replans: 1,
            enable_individual_fallback: true,
            delta_threshold: 5.0,
            delta_threshold_percent: 5.0,
            task_count_change_threshold: 0.3,
            task_count_change_min_absolute: 2,
            noise_threshold: 3.0,
            on_stagnation: OnStagnation::Auto,
            target_score: None,
        }
    }
}

/// What becomes of a plan that is not acceptable and no longer improves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnStagnation {
    /// Inside the noise reject, after a real but too small change replan.
    #[default]
    Auto,
    /// Always reject.
    Reject,
    /// Always replan while attempts remain.
    Replan,
}

/// How often a plan may be scored when a decision depends on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct JudgeSettings {
    /// Scores drawn of one plan, at most. 1 compares single scores by `refinement.noise_threshold`.
    #[schemars(range(min = MAX_SAMPLES.min, max = MAX_SAMPLES.max))]
    pub max_samples: u32,
}

impl Default for JudgeSettings {
    fn default() -> Self {
        Self { max_samples: 5 }
    }
}
