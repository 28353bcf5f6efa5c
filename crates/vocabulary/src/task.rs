//! A task's name and the states it can be in. Which state may follow which is decided in `decide::tasks`.

use crate::prelude::*;
use core::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of a task, unique within its run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct TaskId(#[schemars(length(min = 1))] String);

impl TaskId {
    /// The name as written in the plan.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for TaskId {
    fn from(id: &str) -> Self {
        Self(id.into())
    }
}

impl From<String> for TaskId {
    fn from(id: String) -> Self {
        Self(id)
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where a task stands. Input may write the names in lower case too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TaskState {
    /// Not started, or put back after an interruption.
    Ready,
    /// An attempt is under way.
    Running,
    /// Judged unfinished and worth another attempt.
    NeedsContinuation,
    /// Finished, with evidence.
    Done,
    /// Cannot go on without a person.
    Blocked,
    /// Called off.
    Cancelled,
    /// Other tasks stand in its place.
    ReplacedByReplan,
}

impl TaskState {
    /// Every state, for tables and tests.
    pub const ALL: [Self; 7] = [
        Self::Ready,
        Self::Running,
        Self::NeedsContinuation,
        Self::Done,
        Self::Blocked,
        Self::Cancelled,
        Self::ReplacedByReplan,
    ];

    /// Whether no further attempt can happen, not even with a person's help.
    pub const fn is_terminal(self) -> bool {
        match self {
            Self::Done | Self::Cancelled | Self::ReplacedByReplan => true,
            Self::Ready | Self::Running | Self::NeedsContinuation | Self::Blocked => false,
        }
    }

    /// Whether the task waits for its turn.
    pub const fn is_waiting(self) -> bool {
        match self {
            Self::Ready | Self::NeedsContinuation => true,
            Self::Running | Self::Done | Self::Blocked | Self::Cancelled | Self::ReplacedByReplan => false,
        }
    }
}
