//! Rules about which tools need a person's approval, as `fixpoint decide policy` takes them.
//!
//! No setting holds such rules yet: `planning.security` is not available.

use crate::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A glob of tool names that need approval, always or under a condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ApprovalRule {
    /// Whenever the tool is used.
    Tool(String),
    /// Only if the condition holds, or if nobody knows whether it does.
    Conditional {
        /// The glob of tool names.
        tool: String,
        /// The condition.
        when: ApprovalWhen,
    },
}

/// The condition of an approval rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalWhen {
    /// The kind of branch the tool would change.
    pub branch: BranchKind,
}

/// The kind of branch a tool would change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BranchKind {
    /// The repository's default branch.
    Default,
}
