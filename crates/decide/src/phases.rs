//! The phases of a run and the only ways from one to the next.

use fixpoint_vocabulary::Text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a run is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// What is wanted?
    GoalUnderstanding,
    /// Which tasks make it up?
    TaskDecomposition,
    /// In which order, with which tools?
    ActionPlanning,
    /// Is the plan good enough?
    PlanReview,
    /// The work itself.
    Execution,
    /// Did it go as expected?
    Reflection,
    /// The plan is changed.
    PlanRevision,
    /// The end, good or bad.
    Completion,
}

/// What can happen in a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Happening {
    /// The goal is understood.
    GoalUnderstood,
    /// The tasks are known.
    Decomposed,
    /// The actions are in order.
    Ordered,
    /// The plan was accepted.
    PlanAccepted,
    /// The plan goes back with feedback.
    PlanSentBack,
    /// An action or a task calls for a look back.
    ReflectionDue,
    /// Looking back found nothing to change.
    AllWell,
    /// Looking back found that the plan must change.
    RevisionNeeded,
    /// The plan was changed.
    Revised,
    /// Nothing is left to do.
    AllDone,
    /// It cannot go on; the cause is recorded elsewhere.
    GaveUp,
}

/// A happening that has no place in its phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{happening:?} cannot happen in the phase {phase:?}")]
pub struct Impossible {
    /// The phase.
    pub phase: Phase,
    /// What was claimed to happen in it.
    pub happening: Happening,
}

impl Phase {
    /// Every phase, in order.
    pub const ALL: [Self; 8] = [
        Self::GoalUnderstanding,
        Self::TaskDecomposition,
        Self::ActionPlanning,
        Self::PlanReview,
        Self::Execution,
        Self::Reflection,
        Self::PlanRevision,
        Self::Completion,
    ];

    /// The phase that follows.
    pub const fn after(self, happening: Happening) -> Result<Self, Impossible> {
        use Happening as H;
        match (self, happening) {
            (Self::GoalUnderstanding, H::GoalUnderstood) | (Self::PlanReview, H::PlanSentBack) => {
                Ok(Self::TaskDecomposition)
            }
            (Self::TaskDecomposition, H::Decomposed) => Ok(Self::ActionPlanning),
            (Self::ActionPlanning, H::Ordered) => Ok(Self::PlanReview),
            (Self::PlanReview, H::PlanAccepted)
            | (Self::Reflection, H::AllWell)
            | (Self::PlanRevision, H::Revised) => Ok(Self::Execution),
            (Self::Execution, H::ReflectionDue) => Ok(Self::Reflection),
            (Self::Reflection, H::RevisionNeeded) => Ok(Self::PlanRevision),
            (Self::Execution | Self::Reflection, H::AllDone) => Ok(Self::Completion),
            (Self::Completion, _) => Err(Impossible { phase: self, happening }),
            (_, H::GaveUp) => Ok(Self::Completion),
            (phase, happening) => Err(Impossible { phase, happening }),
        }
    }

    /// How the phase is called in front of people.
    pub fn title(self) -> Text {
        match self {
            Self::GoalUnderstanding => Text::new("understanding the goal", "目標の理解"),
            Self::TaskDecomposition => Text::new("decomposing into tasks", "タスクの分解"),
            Self::ActionPlanning => Text::new("ordering the actions", "行動系列の生成"),
            Self::PlanReview => Text::new("judging the plan", "計画の評価"),
            Self::Execution => Text::new("carrying out", "実行"),
            Self::Reflection => Text::new("looking back", "リフレクション"),
            Self::PlanRevision => Text::new("revising the plan", "計画修正"),
            Self::Completion => Text::new("completed", "完了"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const HAPPENINGS: [Happening; 11] = [
        Happening::GoalUnderstood,
        Happening::Decomposed,
        Happening::Ordered,
        Happening::PlanAccepted,
        Happening::PlanSentBack,
        Happening::ReflectionDue,
        Happening::AllWell,
        Happening::RevisionNeeded,
        Happening::Revised,
        Happening::AllDone,
        Happening::GaveUp,
    ];

    /// The whole table: what is not named here is impossible.
    #[test]
    fn the_table_is_closed() {
        use Happening as H;
        use Phase as P;
        let mut expected = alloc::vec![
            (P::GoalUnderstanding, H::GoalUnderstood, P::TaskDecomposition),
            (P::TaskDecomposition, H::Decomposed, P::ActionPlanning),
            (P::ActionPlanning, H::Ordered, P::PlanReview),
            (P::PlanReview, H::PlanAccepted, P::Execution),
            (P::PlanReview, H::PlanSentBack, P::TaskDecomposition),
            (P::Execution, H::ReflectionDue, P::Reflection),
            (P::Execution, H::AllDone, P::Completion),
            (P::Reflection, H::AllWell, P::Execution),
            (P::Reflection, H::RevisionNeeded, P::PlanRevision),
            (P::Reflection, H::AllDone, P::Completion),
            (P::PlanRevision, H::Revised, P::Execution),
        ];
        expected.extend(
            P::ALL.into_iter().filter(|p| *p != P::Completion).map(|p| (p, H::GaveUp, P::Completion)),
        );
        let mut possible = Vec::new();
        for phase in P::ALL {
            for happening in HAPPENINGS {
                match phase.after(happening) {
                    Ok(next) => possible.push((phase, happening, next)),
                    Err(error) => assert_eq!(error, Impossible { phase, happening }),
                }
            }
        }
        let key = |(p, h, n): &(P, H, P)| (*p as u8, *h as u8, *n as u8);
        possible.sort_by_key(key);
        expected.sort_by_key(key);
        assert_eq!(possible, expected);
    }
}
