//! Settings of plan refinement and of how often the judge scores a plan.

use super::limits::DELTA_THRESHOLD;
use super::limits::MAX_SAMPLES;
use super::limits::NOISE_THRESHOLD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Score;

/// When a plan that the judge has scored is accepted, planned again or rejected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RefinementSettings {
    /// How many times a plan may be made again after the first one. The old name `maxQualityRetries` is
    /// accepted too.
    #[schemars(range(min = 0, max = 10), extend("x-legacy-name" = "max_quality_retries"))]
    pub max_refinement_attempts: u32,
    /// Whether an acceptable plan is made again to follow the judge's suggestions.
    pub refine_suggestions_on_success: bool,
    /// How many times a plan may be made again only to follow suggestions.
    #[schemars(range(min = 0, max = 5))]
    pub max_suggestion_replans: u32,
    /// Whether a new plan that changes too many tasks, or whose dependencies are broken, is merged task by
    /// task with the previous plan. If false, the previous plan is used.
    pub enable_individual_fallback: bool,
    /// An improvement of fewer points than this is too small to count.
    #[schemars(range(min = DELTA_THRESHOLD.min, max = DELTA_THRESHOLD.max))]
    pub delta_threshold: f64,
    /// An improvement of less than this percentage of the previous score is too small to count.
    #[schemars(range(min = 0, max = 100))]
    pub delta_threshold_percent: f64,
    /// How much the number of tasks may change against the first plan, as a fraction: 0.3 is 30%. More counts
    /// as too many changed tasks, if it is also more than `task_count_change_min_absolute` tasks.
    #[schemars(range(min = 0, max = 1))]
    pub task_count_change_threshold: f64,
    /// A difference of at most this many tasks never counts as too many.
    #[schemars(range(min = 0, max = 10))]
    pub task_count_change_min_absolute: u32,
    /// A score difference of fewer points than this is noise: the two plans count as equal. With
    /// `judge.max_samples` above 1, repeated scores decide instead.
    #[schemars(range(min = NOISE_THRESHOLD.min, max = NOISE_THRESHOLD.max))]
    pub noise_threshold: f64,
    /// What happens to a plan that is not acceptable and no longer improves.
    pub on_stagnation: OnStagnation,
    /// An acceptable plan with at least this score is accepted without further comparison.
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

/// What happens to a plan that is not acceptable and no longer improves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnStagnation {
    /// Rejected if the change is noise; made again if there was a real but too small improvement.
    #[default]
    Auto,
    /// Rejected.
    Reject,
    /// Made again, up to `max_refinement_attempts` times.
    Replan,
}

/// How often the judge scores a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct JudgeSettings {
    /// Scores of one plan, at most. Further scores are asked for only if the decision depends on them. 1
    /// compares single scores by `refinement.noise_threshold`.
    #[schemars(range(min = MAX_SAMPLES.min, max = MAX_SAMPLES.max))]
    pub max_samples: u32,
}

impl Default for JudgeSettings {
    fn default() -> Self {
        Self { max_samples: 5 }
    }
}
