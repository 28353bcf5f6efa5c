//! The completion document: what a run came to, in the form of the other phases.

use crate::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of the phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompletionPhase {
    /// Completion.
    #[default]
    Completion,
}

/// A state that needs somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompletionStatus {
    /// A person must decide.
    RequiresHumanIntervention,
}

/// What a run came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompletionDocument {
    /// The name of the phase.
    #[serde(default)]
    pub phase: CompletionPhase,
    /// Whether somebody is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<CompletionStatus>,
    /// What came of it.
    pub summary: CompletionSummary,
    /// Whether it is over.
    pub done: bool,
    /// A word for the reader.
    #[serde(default)]
    pub comment: String,
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CompletionSummary {
    /// Whether the goal is reached, with evidence.
    pub goal_achieved: bool,
    /// Tasks that are done.
    pub tasks_completed: u32,
    /// Tasks that are not.
    pub tasks_failed: u32,
    /// What is there now.
    #[serde(default)]
    pub key_outcomes: Vec<String>,
    /// What to remember.
    #[serde(default)]
    pub lessons_learned: Vec<String>,
    /// Revisions of the plan that were made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision_attempts: Option<u32>,
    /// Why it ended so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Where things stand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_state: Option<String>,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recommendations: Vec<String>,
}
