//! The phases of a run and the only ways from one to the next.

use crate::prelude::*;
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PhaseEvent {
    GoalUnderstood,
    Decomposed,
    Ordered,
    PlanAccepted,
    /// The plan goes back with feedback.
    PlanSentBack,
    /// An action or a task calls for a reflection.
    ReflectionDue,
    /// The reflection found nothing to change.
    AllWell,
    /// The reflection found that the plan must change.
    RevisionNeeded,
    Revised,
    AllDone,
    /// It cannot go on; the cause is recorded elsewhere.
    GaveUp,
    /// A person lets a task that was given up try again.
    TriedAgain,
}

impl PhaseEvent {
    /// Everything that can happen.
    const ALL: [Self; 12] = [
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

    /// The phase that follows; `None` where the event cannot happen in this phase.
    const fn after(self, event: PhaseEvent) -> Option<Self> {
        use PhaseEvent as E;
        match (self, event) {
            (Self::GoalUnderstanding, E::GoalUnderstood) | (Self::PlanReview, E::PlanSentBack) => {
                Some(Self::TaskDecomposition)
            }
            (Self::TaskDecomposition, E::Decomposed) => Some(Self::ActionPlanning),
            (Self::ActionPlanning, E::Ordered) => Some(Self::PlanReview),
            (Self::PlanReview, E::PlanAccepted)
            | (Self::Reflection, E::AllWell)
            | (Self::PlanRevision, E::Revised)
            | (Self::Completion, E::TriedAgain) => Some(Self::Execution),
            (Self::Execution, E::ReflectionDue) => Some(Self::Reflection),
            (Self::Reflection, E::RevisionNeeded) => Some(Self::PlanRevision),
            (Self::Execution | Self::Reflection, E::AllDone) => Some(Self::Completion),
            (Self::Completion, _) => None,
            (_, E::GaveUp) => Some(Self::Completion),
            (_, _) => None,
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
            let steps = PhaseEvent::ALL.into_iter().filter_map(|event| phase.after(event));
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
            Self::PlanRevision => Text::new("revising the plan", "計画の修正"),
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
        use PhaseEvent as E;
        let mut expected = alloc::vec![
            (P::GoalUnderstanding, E::GoalUnderstood, P::TaskDecomposition),
            (P::TaskDecomposition, E::Decomposed, P::ActionPlanning),
            (P::ActionPlanning, E::Ordered, P::PlanReview),
            (P::PlanReview, E::PlanAccepted, P::Execution),
            (P::PlanReview, E::PlanSentBack, P::TaskDecomposition),
            (P::Execution, E::ReflectionDue, P::Reflection),
            (P::Execution, E::AllDone, P::Completion),
            (P::Reflection, E::AllWell, P::Execution),
            (P::Reflection, E::RevisionNeeded, P::PlanRevision),
            (P::Reflection, E::AllDone, P::Completion),
            (P::PlanRevision, E::Revised, P::Execution),
            (P::Completion, E::TriedAgain, P::Execution),
        ];
        expected.extend(
            P::ALL.into_iter().filter(|p| *p != P::Completion).map(|p| (p, E::GaveUp, P::Completion)),
        );
        let mut possible = Vec::new();
        for phase in P::ALL {
            for event in PhaseEvent::ALL {
                possible.extend(phase.after(event).map(|next| (phase, event, next)));
            }
        }
        let key = |(p, e, n): &(P, E, P)| (*p as u8, *e as u8, *n as u8);
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
