//! What a task is doing, or why it no longer does anything.

use fixpoint_vocabulary::Cause;
use serde::{Deserialize, Serialize};

/// What the command under way is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskActivity {
    /// Taking the commit that all attempts are compared with.
    TakingBase,
    /// Running the checks at the base.
    Baseline,
    Attempting,
    /// Reverting files changed outside the scope.
    Reverting,
    /// Running the goals in the attempt's own tree.
    Goals,
    /// Making the attempt's tree with tests and check definitions as at the base.
    BuildingProofTree,
    /// Running the goals there.
    ProofGoals,
    /// Running the guards in the attempt's own tree, where that is not the proof tree.
    Guards,
    /// Running the guards in the proof tree.
    ProofGuards,
    /// Running tests at the base that a failure there had hidden.
    SuspectsAtBase,
    /// Running failures again that look new.
    Confirming,
    /// Running tests at the base that fail sometimes now: they may have failed sometimes before.
    FlakyAtBase,
    Judging,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "status")]
pub enum TaskStatus {
    New,
    /// A command is under way.
    Working {
        activity: TaskActivity,
    },
    /// It waits for a person or for something outside. Resuming repeats the last command.
    Paused {
        cause: Cause,
        /// What the repeated command is for.
        activity: TaskActivity,
    },
    Ended {
        cause: Cause,
    },
}

/// An event that cannot happen at this point: a defect of whoever sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this event cannot happen while the task is at {status:?}")]
pub struct UnexpectedEvent {
    pub status: TaskStatus,
}
