//! The documents models are asked for and runs are told in: one JSON document for each phase.
//!
//! Owns the wire and history format and the JSON Schemas generated from it. Reading is lenient where a missing value
//! has a neutral meaning, and never where it would count as a yes. Refuses judging what a document says.

mod completion;
mod execution;
mod judgement;
mod planning;
mod reflection;

pub use completion::{CompletionDocument, CompletionPhase, CompletionStatus, CompletionSummary};
pub use execution::{ExecutionDocument, ExecutionPhase, FunctionCall};
pub use judgement::{JudgeAnswer, PlanJudgement, WholeJudgement};
pub use planning::{
    Action, ActionPlan, Complexity, GoalUnderstanding, PartialPlan, PlanningDocument, PlanningError,
    PlanningErrorKind, PlanningPhase, Subtask, TaskDecomposition,
};
pub use reflection::{
    Change, PlanRevision, Reflection, ReflectionDocument, ReflectionPhase, ReflectionStatus, TypedChange,
};

use serde::{Deserialize, Serialize};

/// A document that was read out of a model's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Document {
    /// Understanding, tasks, order, or why there are none.
    Planning(PlanningDocument),
    /// What the judge says of a plan.
    PlanJudgement(PlanJudgement),
    /// What the judge says of a task.
    TaskJudgement(JudgeAnswer),
    /// What the judge says of the whole.
    WholeJudgement(WholeJudgement),
    Reflection(ReflectionDocument),
}
