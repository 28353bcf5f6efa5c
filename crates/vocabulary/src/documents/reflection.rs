//! The reflection document: how a step went, and how the plan must change.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::planning::{Action, ActionPlan};
use crate::prelude::*;

/// The name of the phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReflectionPhase {
    /// Reflection.
    #[default]
    Reflection,
}

/// What looking back found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReflectionDocument {
    /// The name of the phase.
    #[serde(default)]
    pub phase: ReflectionPhase,
    /// How the step went.
    pub reflection: Reflection,
    /// The same question outside of `reflection`, where some models answer it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_revision_needed: Option<bool>,
    /// How the plan must change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_revision: Option<PlanRevision>,
    /// A word for the reader.
    #[serde(default)]
    pub comment: String,
}

impl ReflectionDocument {
    /// Whether the plan must change, wherever the model said so.
    pub fn needs_revision(&self) -> bool {
        self.reflection.plan_revision_needed || self.plan_revision_needed == Some(true)
    }
}

/// How a step went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReflectionStatus {
    /// As it should.
    Success,
    /// Not at all.
    Failure,
    /// In part.
    Partial,
}

/// How a step went, and what that says about the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reflection {
    /// The step, or the task.
    #[serde(alias = "action_id")]
    pub action_evaluated: String,
    /// How it went.
    pub status: ReflectionStatus,
    /// In words.
    #[serde(default)]
    pub evaluation: String,
    /// Whether the plan still fits.
    #[serde(default)]
    pub alignment_with_plan: String,
    /// What is wrong.
    #[serde(default)]
    pub issues_identified: Vec<String>,
    /// Whether the plan must change.
    #[serde(default)]
    pub plan_revision_needed: bool,
    /// What failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_cause_analysis: Option<String>,
}

/// How the plan must change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanRevision {
    /// Why.
    #[serde(default)]
    pub reason: String,
    /// What.
    #[serde(default)]
    pub changes: Vec<Change>,
    /// The order and the steps as they shall be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_action_plan: Option<ActionPlan>,
}

/// One change, to be applied as it stands or only to be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Change {
    /// To be applied.
    Typed(TypedChange),
    /// To be read.
    Text(String),
}

/// A change that can be applied as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum TypedChange {
    /// A step more.
    AddAction {
        /// The step.
        action: Action,
        /// The id of the step it comes after; absent: before those that are not done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<String>,
    },
    /// A step less.
    RemoveAction {
        /// The id of the step.
        #[serde(alias = "action")]
        action_id: String,
    },
    /// Another step in the place of one.
    ReplaceAction {
        /// The id of the step.
        action_id: String,
        /// The step in its place.
        action: Action,
    },
    /// Another order of the tasks.
    Reorder {
        /// The tasks in their new order.
        #[serde(alias = "order")]
        execution_order: Vec<crate::TaskId>,
    },
}

/// Texts, also where a model gives objects in their place.
pub(super) fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let text = |value: Value| match value {
        Value::String(text) => text,
        Value::Object(map) => match map.get("description").or_else(|| map.get("id")) {
            Some(Value::String(text)) => text.clone(),
            Some(_) | None => Value::Object(map).to_string(),
        },
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_)) => other.to_string(),
    };
    Ok(Vec::<Value>::deserialize(deserializer)?.into_iter().map(text).collect())
}
