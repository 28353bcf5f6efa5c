//! A made-up judge, and whoever looks back: what they say of plans, tasks and the whole, true or not.

use std::collections::BTreeSet;

use fixpoint_vocabulary::Score;
use fixpoint_vocabulary::ask::{Material, TaskQuestion};
use fixpoint_vocabulary::documents::{
    Change, Document, JudgeAnswer, PlanJudgement, PlanRevision, Reflection, ReflectionDocument,
    ReflectionPhase, ReflectionStatus, Subtask, TypedChange, WholeJudgement,
};
use fixpoint_vocabulary::work::CommitId;

use super::actors::{Actors, Honesty, TaskJudge};
use super::parameters::PARAMETERS;
use super::planner::{Goals, task};
use super::scheme::Piece;
use super::tree::Tree;
use crate::random::Random;

/// A judge at work on one question.
pub(crate) struct Judging<'a> {
    pub(crate) cast: &'a Actors,
    pub(crate) material: &'a Material,
    pub(crate) random: Random,
}

/// The share of a goal's steps that tasks are about.
fn coverage(cast: &Actors, tasks: &[Subtask]) -> f64 {
    let named: BTreeSet<Piece> = tasks.iter().flat_map(|task| Piece::named_in(&task.description)).collect();
    let upto = |part: u32| named.iter().filter(|piece| piece.part == part).map(|piece| piece.upto).max();
    let pieces = cast.scheme.pieces();
    let all: u32 = pieces.iter().map(|piece| piece.upto).sum();
    let covered: u32 = pieces.iter().map(|piece| upto(piece.part).unwrap_or(0).min(piece.upto)).sum();
    if all == 0 { 1.0 } else { f64::from(covered) / f64::from(all) }
}

impl Judging<'_> {
    /// What an honest judge would say, or its opposite.
    fn said(&mut self, truth: bool) -> bool {
        match self.cast.honesty {
            Honesty::AlwaysYes => true,
            Honesty::Honest | Honesty::TakesAnyPlan => truth,
            Honesty::Errs | Honesty::ErrsAndTakesAnyPlan => {
                truth != (self.random.unit() < PARAMETERS.judge.errs)
            }
        }
    }

    pub(crate) fn plan(mut self) -> Document {
        let judge = &PARAMETERS.judge;
        let coverage = coverage(self.cast, &self.material.tasks);
        let is_acceptable = match self.cast.honesty {
            Honesty::TakesAnyPlan | Honesty::ErrsAndTakesAnyPlan | Honesty::AlwaysYes => true,
            Honesty::Honest | Honesty::Errs => self.said(coverage >= 1.0),
        };
        let score = self.random.normal(40.0 + 50.0 * coverage, judge.sigma).clamp(0.0, 100.0);
        let has_score = self.random.unit() >= judge.no_score;
        let suggests = self.random.unit() < judge.suggests;
        Document::PlanJudgement(PlanJudgement {
            is_acceptable,
            issues: if is_acceptable { Vec::new() } else { vec!["something is left out".to_string()] },
            suggestions: if suggests { vec!["name more checks".to_string()] } else { Vec::new() },
            overall_score: has_score.then(|| Score::nearest(score)),
        })
    }

    pub(crate) fn task(mut self, commit: &CommitId, origin: &CommitId, question: TaskQuestion) -> Document {
        let judge = &PARAMETERS.judge;
        let tree = Tree::of(commit);
        let description = self.material.task.as_ref().map_or("", |task| task.task.description.as_str());
        let pieces = Piece::named_in(description);
        let missing: Vec<String> = (1u32..)
            .zip(&pieces)
            .filter(|(_, piece)| !self.cast.scheme.is_met(**piece, &tree))
            .map(|(number, piece)| format!("A{number}: {}", piece.name()))
            .collect();
        let chance = self.random.unit();
        let is_asked_for_more = question == TaskQuestion::WorthGoingOn;
        let mut said = JudgeAnswer {
            success: !is_asked_for_more && self.said(missing.is_empty()),
            should_continue: true,
            should_replan: false,
            already_satisfied: commit == origin,
            reason: "by what is there".to_string(),
            missing_requirements: missing,
        };
        let (wants_replan, gives_up) = match self.cast.task_judge {
            TaskJudge::Ordinary => (
                is_asked_for_more && chance < judge.asks_for_replan,
                is_asked_for_more && chance > 1.0 - judge.gives_up,
            ),
            TaskJudge::WantsReplan => (true, false),
            TaskJudge::GivesUp => (false, true),
            TaskJudge::NeverContent | TaskJudge::Patient => (false, false),
        };
        if self.cast.task_judge == TaskJudge::NeverContent {
            (said.success, said.missing_requirements) = (false, vec!["A1".to_string()]);
        }
        if wants_replan || gives_up {
            (said.success, said.should_continue, said.should_replan) = (false, false, wants_replan);
        }
        Document::TaskJudgement(said)
    }

    pub(crate) fn whole(mut self, commit: &CommitId) -> Document {
        let unmet = self.cast.scheme.unmet(&Tree::of(commit));
        let is_complete = self.said(unmet.is_empty());
        let taken = self.material.outcomes.len();
        let additional = |(number, piece): (usize, &Piece)| {
            let goals = if self.random.unit() < 0.7 { Goals::Named } else { Goals::None };
            task(self.cast, &format!("w{}", taken + number), &BTreeSet::from([*piece]), &[], goals)
        };
        Document::WholeJudgement(WholeJudgement {
            is_complete,
            missing_aspects: unmet.iter().map(|piece| piece.name()).collect(),
            additional_tasks: unmet.iter().enumerate().map(additional).collect(),
            completion_score: None,
        })
    }

    pub(crate) fn look_back(mut self) -> Document {
        let reflector = &PARAMETERS.reflector;
        let revises = self.random.unit() < reflector.revises;
        let change = if self.random.unit() < reflector.in_words_only {
            Change::Text("do it better".to_string())
        } else {
            let mut execution_order = self.material.actions.execution_order.clone();
            execution_order.reverse();
            Change::Typed(TypedChange::Reorder { execution_order })
        };
        let revision = PlanRevision {
            reason: "it did not go as planned".to_string(),
            changes: vec![change],
            updated_action_plan: None,
        };
        Document::Reflection(ReflectionDocument {
            phase: ReflectionPhase::Reflection,
            reflection: Reflection {
                action_evaluated: "the last task".to_string(),
                status: ReflectionStatus::Partial,
                evaluation: String::new(),
                alignment_with_plan: String::new(),
                issues_identified: vec![format!("issue {}", self.random.next_u64() % 4)],
                plan_revision_needed: revises,
                error: None,
                root_cause_analysis: None,
            },
            plan_revision_needed: None,
            plan_revision: revises.then_some(revision),
            comment: String::new(),
        })
    }
}
