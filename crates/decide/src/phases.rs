//! The phases of a run and the only ways from one to the next.

use alloc::vec::Vec;

use fixpoint_vocabulary::Text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a run is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
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
pub enum PhaseEvent {
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
    /// A person lets a task that was given up try again.
    TriedAgain,
}

impl PhaseEvent {
    /// Everything that can happen.
    pub const ALL: [Self; 12] = [
        Self::GoalUnderstood,
        Self::Decomposed,
        Self::Ordered,
        Self::PlanAccepted,
        Self::PlanSentBack,
        Self::ReflectionDue,
        Self::AllWell,
        Self::RevisionNeeded,
        Self::Revised,
        Self::AllDone,
        Self::GaveUp,
        Self::TriedAgain,
    ];
}

/// A event that has no place in its phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{event:?} cannot happen in the phase {phase:?}")]
pub struct Impossible {
    /// The phase.
    pub phase: Phase,
    /// What was claimed to happen in it.
    pub event: PhaseEvent,
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
    pub const fn after(self, event: PhaseEvent) -> Result<Self, Impossible> {
        use PhaseEvent as H;
        match (self, event) {
            (Self::GoalUnderstanding, H::GoalUnderstood) | (Self::PlanReview, H::PlanSentBack) => {
                Ok(Self::TaskDecomposition)
            }
            (Self::TaskDecomposition, H::Decomposed) => Ok(Self::ActionPlanning),
            (Self::ActionPlanning, H::Ordered) => Ok(Self::PlanReview),
            (Self::PlanReview, H::PlanAccepted)
            | (Self::Reflection, H::AllWell)
            | (Self::PlanRevision, H::Revised)
            | (Self::Completion, H::TriedAgain) => Ok(Self::Execution),
            (Self::Execution, H::ReflectionDue) => Ok(Self::Reflection),
            (Self::Reflection, H::RevisionNeeded) => Ok(Self::PlanRevision),
            (Self::Execution | Self::Reflection, H::AllDone) => Ok(Self::Completion),
            (Self::Completion, _) => Err(Impossible { phase: self, event }),
            (_, H::GaveUp) => Ok(Self::Completion),
            (phase, event) => Err(Impossible { phase, event }),
        }
    }

    /// Whether a run that is in this phase may be in another after one event. One answer may hold several phases of
    /// planning, so what happened may be several steps of the table.
    pub fn leads_to(self, other: Self) -> bool {
        let mut reached = Vec::from([self]);
        let mut next = 0;
        while let Some(phase) = reached.get(next).copied() {
            if phase == other {
                return true;
            }
            let steps = PhaseEvent::ALL.into_iter().filter_map(|event| phase.after(event).ok());
            // An end is an end: only somebody who has it tried again leads out of it, and that is an event of its own.
            let is_passed = phase == Self::Completion && self != Self::Completion;
            for step in steps.filter(|_| !is_passed) {
                if !reached.contains(&step) {
                    reached.push(step);
                }
            }
            next += 1;
        }
        false
    }

    /// How the phase is called in front of people.
    pub fn title(self) -> Text {
        match self {
            Self::GoalUnderstanding => Text::new("understanding the goal", "目標の理解"),
            Self::TaskDecomposition => Text::new("splitting into tasks", "タスクへの分割"),
            Self::ActionPlanning => Text::new("ordering the tasks", "作業順序の決定"),
            Self::PlanReview => Text::new("reviewing the plan", "計画のレビュー"),
            Self::Execution => Text::new("executing", "実行"),
            Self::Reflection => Text::new("reflecting", "振り返り"),
            Self::PlanRevision => Text::new("revised_actions the plan", "計画の修正"),
            Self::Completion => Text::new("completed", "完了"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The whole table: what is not named here is impossible.
    #[test]
    fn the_table_is_closed() {
        use Phase as P;
        use PhaseEvent as H;
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
            (P::Completion, H::TriedAgain, P::Execution),
        ];
        expected.extend(
            P::ALL.into_iter().filter(|p| *p != P::Completion).map(|p| (p, H::GaveUp, P::Completion)),
        );
        let mut possible = Vec::new();
        for phase in P::ALL {
            for event in PhaseEvent::ALL {
                match phase.after(event) {
                    Ok(next) => possible.push((phase, event, next)),
                    Err(error) => assert_eq!(error, Impossible { phase, event }),
                }
            }
        }
        let key = |(p, h, n): &(P, H, P)| (*p as u8, *h as u8, *n as u8);
        possible.sort_by_key(key);
        expected.sort_by_key(key);
        assert_eq!(possible, expected);
    }
    /// Catches a way back from the work into planning, and one out of the end that nobody asked for.
    #[test]
    fn planning_is_never_come_back_to() {
        use Phase as P;
        let from =
            |phase: P| P::ALL.into_iter().filter(move |other| phase.leads_to(*other)).collect::<Vec<_>>();
        assert_eq!(from(P::GoalUnderstanding), P::ALL);
        assert_eq!(from(P::PlanReview), P::ALL[1..]);
        for phase in [P::Execution, P::Reflection, P::PlanRevision, P::Completion] {
            assert_eq!(from(phase), [P::Execution, P::Reflection, P::PlanRevision, P::Completion]);
        }
    }
}
