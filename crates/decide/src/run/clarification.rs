//! What a person is asked while the goal is planned, and what the answers mean: an unclear goal, a partial plan.

use fixpoint_vocabulary::ask::{PersonAnswer, PersonPresence, PersonQuestion, PersonQuestionKind};
use fixpoint_vocabulary::documents::{ActionPlan, GoalUnderstanding, PlanningError};
use fixpoint_vocabulary::settings::DecompositionLevel;
use fixpoint_vocabulary::work::Command;
use fixpoint_vocabulary::{Cause, Redactor};

use super::planning::{PartialPlan, PlanningChange};
use super::{Owner, Transition};
use crate::plan_shape;
use crate::prelude::*;

/// Seconds that a person is waited for.
const PERSON_SECONDS: u32 = 3600;

const fn coarser(level: DecompositionLevel) -> DecompositionLevel {
    match level {
        DecompositionLevel::Detailed => DecompositionLevel::Moderate,
        DecompositionLevel::Moderate | DecompositionLevel::Minimal => DecompositionLevel::Minimal,
    }
}

impl Transition<'_> {
    pub(super) fn with_clarification(&mut self, kind: PersonQuestionKind, answer: &PersonAnswer) {
        match (kind, answer) {
            (PersonQuestionKind::Clarification, PersonAnswer::Said(said)) => {
                self.push(PlanningChange::Clarified { said: said.clone() });
            }
            (PersonQuestionKind::Clarification, _) => self.push(PlanningChange::Unavailable),
            (PersonQuestionKind::Approval, PersonAnswer::Approved { .. }) => self.take_partial(),
            (PersonQuestionKind::Approval, PersonAnswer::Refused { .. } | PersonAnswer::Said(_)) => {
                self.end(Cause::ApprovalRefused);
            }
            (PersonQuestionKind::Approval, PersonAnswer::Nobody) => self.end(Cause::ApprovalTimeout),
        }
    }

    /// The person is asked once; with nobody there the planner must assume; then it is over.
    pub(super) fn unclear_goal(&mut self, error: &PlanningError) {
        let redactor = Redactor::default();
        let is_last = self.run.planning.unclear >= 1;
        match (self.run.planning.person, is_last) {
            (PersonPresence::Available, false) => {
                let asked = PersonQuestion {
                    about: redactor.redact(&error.message),
                    questions: error.clarification_needed.iter().map(|text| redactor.redact(text)).collect(),
                    kind: PersonQuestionKind::Clarification,
                    within: PERSON_SECONDS,
                };
                self.begin(Owner::Planning, Command::AskPerson(asked));
            }
            (PersonPresence::Available | PersonPresence::Unavailable, _) => {
                self.end(Cause::NeedsClarification)
            }
        }
    }

    /// Once more, less finely decomposed; then the part that can be done, if that is agreed to.
    pub(super) fn decomposition_failed(&mut self, error: &PlanningError) {
        let level = self.run.level();
        if self.run.planning.level.is_none() && level != DecompositionLevel::Minimal {
            return self.push(PlanningChange::Coarser { level: coarser(level) });
        }
        let partial = error.partial_plan.clone().unwrap_or_default();
        let feasible = plan_shape::flattened(&partial.feasible_subtasks);
        if plan_shape::problem_of_tasks(&feasible, self.run.plan_bounds(0)).is_some() {
            return self.end(Cause::PlanRejected);
        }
        let (infeasible, alternatives) = (partial.infeasible_subtasks, partial.alternative_approaches);
        let about = format!("only a part of the goal can be planned; this cannot: {}", infeasible.join("; "));
        self.push(PlanningChange::PartialOffered(PartialPlan { feasible, infeasible, alternatives }));
        if self.run.settings().is_some_and(|settings| settings.planning.allow_partial) {
            return self.take_partial();
        }
        self.ask_approval(Owner::Planning, &about, PERSON_SECONDS);
    }

    fn take_partial(&mut self) {
        let Some(partial) = self.run.planning.partial.clone() else { return self.end(Cause::PlanRejected) };
        if self.run.planning.understanding.is_none() {
            let main_objective = self.run.goal();
            let understanding = GoalUnderstanding { main_objective, ..GoalUnderstanding::default() };
            self.push(PlanningChange::Understood { understanding });
        }
        self.planned(partial.feasible, ActionPlan::default());
    }
}
