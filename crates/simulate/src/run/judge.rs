//! The simulated judge and reflector: their answers about plans, tasks and the final result, correct or not.

use std::collections::BTreeSet;

use fixpoint_vocabulary::Score;
use fixpoint_vocabulary::ask::{Material, TaskQuestion};
use fixpoint_vocabulary::documents::{
    Change, Document, JudgeAnswer, PlanJudgement, PlanRevision, Reflection, ReflectionDocument,
    ReflectionPhase, ReflectionStatus, Subtask, TypedChange, WholeJudgement,
};
use fixpoint_vocabulary::work::CommitId;

use super::actors::{Actors, Honesty, TaskJudge};
use super::goal::StepRange;
use super::parameters::PARAMETERS;
use super::planner::{TaskGoals, task};
use super::tree::Tree;
use crate::random::Random;

/// One question to the judge or the reflector.
pub(crate) struct JudgeCall<'a> {
    pub(crate) actors: &'a Actors,
    pub(crate) material: &'a Material,
    pub(crate) random: Random,
}

/// The share of the goal's steps that tasks name.
fn coverage(actors: &Actors, tasks: &[Subtask]) -> f64 {
    let named: BTreeSet<StepRange> =
        tasks.iter().flat_map(|task| StepRange::named_in(&task.description)).collect();
    let upto = |part: u32| named.iter().filter(|range| range.part == part).map(|range| range.upto).max();
    let ranges = actors.goal.ranges();
    let all: u32 = ranges.iter().map(|range| range.upto).sum();
    let covered: u32 = ranges.iter().map(|range| upto(range.part).unwrap_or(0).min(range.upto)).sum();
    if all == 0 { 1.0 } else { f64::from(covered) / f64::from(all) }
}

impl JudgeCall<'_> {
    /// What an honest judge would answer, or its opposite.
    fn answer(&mut self, truth: bool) -> bool {
        match self.actors.honesty {
            Honesty::AlwaysYes => true,
            Honesty::Honest | Honesty::TakesAnyPlan => truth,
            Honesty::Errs | Honesty::ErrsAndTakesAnyPlan => {
                truth != (self.random.unit() < PARAMETERS.judge.errs)
            }
        }
    }

    pub(crate) fn plan(mut self) -> Document {
        let judge = &PARAMETERS.judge;
        let coverage = coverage(self.actors, &self.material.tasks);
        let is_acceptable = match self.actors.honesty {
            Honesty::TakesAnyPlan | Honesty::ErrsAndTakesAnyPlan | Honesty::AlwaysYes => true,
            Honesty::Honest | Honesty::Errs => self.answer(coverage >= 1.0),
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
        let ranges = StepRange::named_in(description);
        let missing: Vec<String> = (1u32..)
            .zip(&ranges)
            .filter(|(_, range)| !self.actors.goal.is_met(**range, &tree))
            .map(|(number, range)| format!("A{number}: {}", range.name()))
            .collect();
        let chance = self.random.unit();
        let is_asked_for_more = question == TaskQuestion::WorthGoingOn;
        let mut answer = JudgeAnswer {
            success: !is_asked_for_more && self.answer(missing.is_empty()),
            should_continue: true,
            should_replan: false,
            already_satisfied: commit == origin,
            reason: "by what is there".to_string(),
            missing_requirements: missing,
        };
        let (wants_replan, gives_up) = match self.actors.task_judge {
            TaskJudge::Ordinary => (
                is_asked_for_more && chance < judge.asks_for_replan,
                is_asked_for_more && chance > 1.0 - judge.gives_up,
            ),
            TaskJudge::WantsReplan => (true, false),
            TaskJudge::GivesUp => (false, true),
            TaskJudge::NeverContent | TaskJudge::Patient => (false, false),
        };
        if self.actors.task_judge == TaskJudge::NeverContent {
            (answer.success, answer.missing_requirements) = (false, vec!["A1".to_string()]);
        }
        if wants_replan || gives_up {
            (answer.success, answer.should_continue, answer.should_replan) = (false, false, wants_replan);
        }
        Document::TaskJudgement(answer)
    }

    pub(crate) fn final_review(mut self, commit: &CommitId) -> Document {
        let unmet = self.actors.goal.unmet(&Tree::of(commit));
        let is_complete = self.answer(unmet.is_empty());
        let taken = self.material.outcomes.len();
        let additional = |(number, range): (usize, &StepRange)| {
            let goals = if self.random.unit() < 0.7 { TaskGoals::Named } else { TaskGoals::None };
            task(self.actors, &format!("w{}", taken + number), &BTreeSet::from([*range]), &[], goals)
        };
        Document::WholeJudgement(WholeJudgement {
            is_complete,
            missing_aspects: unmet.iter().map(|range| range.name()).collect(),
            additional_tasks: unmet.iter().enumerate().map(additional).collect(),
            completion_score: None,
        })
    }

    pub(crate) fn reflect(mut self) -> Document {
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
