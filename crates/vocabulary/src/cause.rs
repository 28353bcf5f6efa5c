//! Why a task was blocked or a run ended: one closed list, each cause with its exit code.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The cause of an end. `Dependency` is derived and takes the exit code of its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Everything asked for was done and shown.
    Done,
    /// The goals passed before the first attempt.
    AlreadySatisfied,
    /// Attempts repeat themselves.
    NotConverging,
    /// The attempts allowed for one task are used up.
    MaxIterations,
    /// The replans allowed for one lineage are used up.
    MaxReplans,
    /// The judge sees neither success nor a way on.
    JudgeGaveUp,
    /// A replan was asked for while replanning is off.
    ReplanningDisabled,
    /// Files outside the scope were changed and the configuration says to block.
    ScopeViolation,
    /// The plan was not good enough.
    PlanRejected,
    /// The plan holds something that must not be run.
    PlanRefused,
    /// The goal is unclear and nobody answered.
    NeedsClarification,
    /// Revisions are used up, or the same error came back.
    RequiresHumanIntervention,
    /// A person said no.
    ApprovalRefused,
    /// Nobody answered in time, which is a no.
    ApprovalTimeout,
    /// Something outside is awaited.
    Waiting,
    /// Results could not be merged.
    Conflict,
    /// A budget is used up.
    Budget,
    /// No model answered.
    ModelUnavailable,
    /// The agent could not be started, or its provider refuses it.
    AgentUnavailable,
    /// The judge gave no readable answer.
    JudgeUnavailable,
    /// The checks could not run.
    Infrastructure,
    /// Nothing can be compared with the state before the work.
    BaselineUnusable,
    /// A task it depends on ended without success.
    Dependency,
    /// Some tasks were done and delivered, others not.
    Partial,
    /// A person stopped it.
    Stopped,
}

impl Cause {
    /// Every cause, for tables and tests.
    pub const ALL: [Self; 25] = [
        Self::Done,
        Self::AlreadySatisfied,
        Self::NotConverging,
        Self::MaxIterations,
        Self::MaxReplans,
        Self::JudgeGaveUp,
        Self::ReplanningDisabled,
        Self::ScopeViolation,
        Self::PlanRejected,
        Self::PlanRefused,
        Self::NeedsClarification,
        Self::RequiresHumanIntervention,
        Self::ApprovalRefused,
        Self::ApprovalTimeout,
        Self::Waiting,
        Self::Conflict,
        Self::Budget,
        Self::ModelUnavailable,
        Self::AgentUnavailable,
        Self::JudgeUnavailable,
        Self::Infrastructure,
        Self::BaselineUnusable,
        Self::Dependency,
        Self::Partial,
        Self::Stopped,
    ];

    /// The process exit code of a run that ended so; `None` for `Dependency`, whose source has it.
    pub const fn exit_code(self) -> Option<u8> {
        match self {
            Self::Done | Self::AlreadySatisfied => Some(0),
            Self::NotConverging
            | Self::MaxIterations
            | Self::MaxReplans
            | Self::JudgeGaveUp
            | Self::ReplanningDisabled
            | Self::ScopeViolation => Some(3),
            Self::PlanRejected | Self::PlanRefused => Some(4),
            Self::NeedsClarification
            | Self::RequiresHumanIntervention
            | Self::ApprovalRefused
            | Self::ApprovalTimeout
            | Self::Waiting
            | Self::Conflict => Some(5),
            Self::Budget => Some(6),
            Self::ModelUnavailable
            | Self::AgentUnavailable
            | Self::JudgeUnavailable
            | Self::Infrastructure
            | Self::BaselineUnusable => Some(7),
            Self::Partial => Some(8),
            Self::Stopped => Some(130),
            Self::Dependency => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::*;

    /// Catches a cause left out of `ALL` or listed twice: the names must be as many as the variants.
    #[test]
    fn causes_are_listed_once_and_have_distinct_names() {
        let names: BTreeSet<_> =
            Cause::ALL.iter().map(|cause| serde_json::to_value(cause).unwrap().to_string()).collect();
        assert_eq!(names.len(), Cause::ALL.len());
        assert_eq!(Cause::ALL.iter().filter(|cause| cause.exit_code().is_none()).count(), 1);
    }
}
