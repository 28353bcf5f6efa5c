//! The execution document: the step a model takes next.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::TaskId;
use crate::prelude::*;

/// The name of the phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionPhase {
    /// Execution.
    #[default]
    Execution,
}

/// The step a model takes next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionDocument {
    /// The name of the phase.
    #[serde(default)]
    pub phase: ExecutionPhase,
    /// The task it is a step of.
    pub current_task: TaskId,
    /// The tool to be called.
    pub function_call: FunctionCall,
    /// A word for the reader.
    #[serde(default)]
    pub comment: String,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionCall {
    /// The tool.
    pub name: String,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Value,
}
