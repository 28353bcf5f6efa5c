//! What a judge says: of a plan, of a task, of the whole. A missing word never counts as a yes.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::planning::Subtask;
use crate::Score;
use crate::prelude::*;

/// What the judge says of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanJudgement {
    /// Whether it can be carried out as it is.
    pub is_acceptable: bool,
    /// What is wrong with it.
    #[serde(default)]
    pub issues: Vec<String>,
    /// What would make it better.
    #[serde(default)]
    pub suggestions: Vec<String>,
    /// How good it is, from 0 to 100. What is no such number is no score.
    #[serde(default, deserialize_with = "score", skip_serializing_if = "Option::is_none")]
    pub overall_score: Option<Score>,
}

/// What the judge says of one task. Other fields a model adds are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
pub struct JudgeAnswer {
    /// The acceptance is met.
    pub success: bool,
    /// Another attempt is worth while.
    pub should_continue: bool,
    /// The task cannot work as it is.
    pub should_replan: bool,
    /// Nothing had to be done. Waives only that something was done.
    #[serde(default)]
    pub already_satisfied: bool,
    /// The judge's words.
    pub reason: String,
    /// What is still missing.
    #[serde(default)]
    pub missing_requirements: Vec<String>,
}

/// What the judge says of the whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WholeJudgement {
    /// Whether the goal is reached.
    pub is_complete: bool,
    /// What is missing.
    #[serde(default)]
    pub missing_aspects: Vec<String>,
    /// Tasks that would bring it.
    #[serde(default)]
    pub additional_tasks: Vec<Subtask>,
    /// How much of the goal is reached, from 0 to 100.
    #[serde(default, deserialize_with = "score", skip_serializing_if = "Option::is_none")]
    pub completion_score: Option<Score>,
}

fn score<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Score>, D::Error> {
    let number = match Option::<Value>::deserialize(deserializer)? {
        Some(Value::Number(number)) => number.as_f64(),
        Some(Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_)) | None => {
            None
        }
    };
    Ok(number.and_then(|number| Score::try_from(number).ok()))
}
