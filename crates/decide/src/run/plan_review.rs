//! The plan before its judge: scored, compared with the one before where that matters, refined, accepted or rejected.
//!
//! A single score is a sample, so more are drawn only while a decision depends on how two plans compare. The best
//! acceptable plan is executed, also after a regression. Invariant: at most `max_refinement_attempts` plans after the
//! first, each scored at most `judge.max_samples` times.

use fixpoint_vocabulary::ask::{ModelAnswer, ParsedAnswer, QuestionKind};
use fixpoint_vocabulary::documents::{ActionPlan, Document, PlanJudgement, PlanningDocument, Subtask};
use fixpoint_vocabulary::work::{Command, CommandResult};
use fixpoint_vocabulary::{Cause, Redactor, Score};
use serde::{Deserialize, Serialize};

use super::{Owner, RejectedAnswer, Run, Transition};
use crate::fallback;
use crate::prelude::*;
use crate::refinement::{self, Comparison};
use crate::sampling::{self, Next, Samples};
use crate::structure;
use crate::{noise, plan_shape};

/// What became of a refined plan whose structure is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanRepair {
    /// It was sound: the plan is as the planner gave it.
    None,
    /// It was merged with the plan before, task by task.
    Merged,
    /// The plan before is used.
    Previous,
}

/// One plan that was put before the judge.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewedPlan {
    pub tasks: Vec<Subtask>,
    pub actions: ActionPlan,
    /// Whether it is as the planner gave it.
    pub repair: PlanRepair,
    /// What the judge said, each time it was asked.
    pub samples: Vec<PlanJudgement>,
}

impl ReviewedPlan {
    pub fn scores(&self) -> Vec<Score> {
        self.samples.iter().filter_map(|sample| sample.overall_score).collect()
    }

    pub fn score(&self) -> Option<Score> {
        noise::mean(&self.scores()).map(Score::nearest)
    }

    fn is_acceptable(&self) -> bool {
        self.samples.first().is_some_and(|first| first.is_acceptable)
    }
}

/// The plans so far and what was decided about them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PlanReview {
    pub revisions: Vec<ReviewedPlan>,
    /// What was decided about each.
    pub decisions: Vec<refinement::Answer>,
    /// The number of the plan that is executed.
    pub accepted: Option<u32>,
    /// What it contains that must not be executed, or not without a person's approval.
    pub findings: Vec<alloc::string::String>,
    pub(super) suggestion_replans: u32,
}

impl PlanReview {
    /// The accepted plan, or the newest.
    pub fn plan(&self) -> Option<&ReviewedPlan> {
        match self.accepted {
            Some(revision) => self.revisions.get(revision as usize),
            None => self.revisions.last(),
        }
    }

    /// The best plan that was acceptable; of equals the later, which has the feedback in it.
    fn best(&self) -> Option<u32> {
        let acceptable = (0u32..).zip(&self.revisions).filter(|(_, plan)| plan.is_acceptable());
        let mut best: Option<(u32, Option<Score>)> = None;
        for (number, plan) in acceptable {
            if best.is_none_or(|(_, score)| plan.score() >= score) {
                best = Some((number, plan.score()));
            }
        }
        best.map(|(number, _)| number)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanReviewChange {
    /// A plan is there, to be judged.
    Planned {
        tasks: Vec<Subtask>,
        actions: ActionPlan,
        /// Whether it is as the planner gave it.
        repair: PlanRepair,
    },
    Scored {
        /// The revision of the plan, from 0.
        revision: u32,
        judgement: PlanJudgement,
    },
    /// It is decided what becomes of the newest plan.
    Decided { answer: refinement::Answer },
    Accepted {
        /// Its revision, from 0.
        revision: u32,
    },
    /// The plan contains something that must not be executed, or not without a person's approval.
    Flagged { findings: Vec<alloc::string::String> },
}

/// What to do about the newest plan.
enum ReviewStep {
    /// The judge is asked about a plan.
    Score {
        revision: u32,
        sample: u32,
    },
    Decided(refinement::Answer),
}

impl Run {
    pub(super) fn apply_plan_review(&mut self, change: &PlanReviewChange) {
        let review = &mut self.review;
        match change {
            PlanReviewChange::Planned { tasks, actions, repair } => {
                let (tasks, actions, repair) = (tasks.clone(), actions.clone(), *repair);
                review.revisions.push(ReviewedPlan { tasks, actions, repair, samples: Vec::new() });
                self.forget_rejected(&Owner::Planning);
                self.forget_rejected(&Owner::PlanReview);
            }
            PlanReviewChange::Scored { revision, judgement } => {
                if let Some(plan) = review.revisions.get_mut(*revision as usize) {
                    plan.samples.push(judgement.clone());
                }
                self.forget_rejected(&Owner::PlanReview);
            }
            PlanReviewChange::Decided { answer } => {
                let is_for_suggestions = answer.reason.code == refinement::Code::ApplyingSuggestions;
                review.suggestion_replans += u32::from(is_for_suggestions);
                review.decisions.push(answer.clone());
            }
            PlanReviewChange::Accepted { revision } => review.accepted = Some(*revision),
            PlanReviewChange::Flagged { findings } => review.findings.extend(findings.iter().cloned()),
        }
        self.follow_plan_order();
    }

    /// Tasks are started in the order of the plan.
    pub(super) fn follow_plan_order(&mut self) {
        let order = self.review.plan().map(|plan| plan.actions.execution_order.as_slice());
        self.graph.set_order(order.unwrap_or_default());
    }

    fn review_step(&self) -> Option<ReviewStep> {
        let settings = self.settings()?;
        let newest = u32::try_from(self.review.revisions.len().checked_sub(1)?).ok()?;
        let plan = self.review.revisions.last()?;
        let Some(first) = plan.samples.first() else {
            return Some(ReviewStep::Score { revision: newest, sample: 1 });
        };
        let before = newest.checked_sub(1).and_then(|n| self.review.revisions.get(n as usize));
        let question = refinement::Question {
            is_acceptable: first.is_acceptable,
            score: plan.score(),
            previous_score: before.and_then(ReviewedPlan::score),
            issues: first.issues.clone(),
            suggestions: first.suggestions.clone(),
            attempt_count: newest,
            suggestion_replan_count: self.review.suggestion_replans,
            config: settings.refinement.clone(),
        };
        let Some(before) = before.filter(|before| before.score().is_some() && plan.score().is_some()) else {
            return Some(ReviewStep::Decided(refinement::decide(&question)));
        };
        let samples = sampling::Question {
            a: Samples { scores: before.scores() },
            b: Samples { scores: plan.scores() },
            sigma: self.plan_options().and_then(|options| options.sigma),
            max_samples: settings.judge.max_samples,
            delta_threshold: settings.refinement.delta_threshold,
        };
        let is_worth_it = settings.judge.max_samples > 1 && refinement::depends_on_comparison(&question);
        let revision = match sampling::decide(&samples).next {
            Next::A if is_worth_it => newest.saturating_sub(1),
            Next::B if is_worth_it => newest,
            Next::A | Next::B | Next::Stop => {
                let comparison: Option<Comparison> = sampling::compare(&samples, &settings.refinement);
                return Some(ReviewStep::Decided(refinement::decide_compared(&question, comparison)));
            }
        };
        // Drawn samples that hold no score count too, or a judge without scores would be asked for ever.
        let drawn = self.review.revisions.get(revision as usize).map_or(0, |plan| plan.samples.len());
        if drawn >= settings.judge.max_samples as usize {
            let comparison = Some(Comparison::InNoise);
            return Some(ReviewStep::Decided(refinement::decide_compared(&question, comparison)));
        }
        Some(ReviewStep::Score {
            revision,
            sample: u32::try_from(drawn).unwrap_or(u32::MAX).saturating_add(1),
        })
    }
}

impl Transition<'_> {
    /// What the judgement of the plan needs next.
    pub(super) fn next_of_review(&mut self) {
        if self.run.is_busy(&Owner::PlanReview) || self.run.review.accepted.is_some() {
            return;
        }
        if !self.run.is_judged_by_model() {
            return self.accept_plan(0);
        }
        match self.run.review_step() {
            Some(ReviewStep::Score { revision, sample }) => {
                self.ask(Owner::PlanReview, QuestionKind::JudgePlan { revision, sample });
            }
            Some(ReviewStep::Decided(answer)) => self.decided(answer),
            None => self.end(Cause::PlanRejected),
        }
    }

    fn decided(&mut self, answer: refinement::Answer) {
        let decision = answer.decision;
        let accepted = match decision {
            refinement::Decision::Replan => None,
            refinement::Decision::Accept | refinement::Decision::Reject => self.run.review.best(),
        };
        self.push(PlanReviewChange::Decided { answer });
        match (decision, accepted) {
            (refinement::Decision::Replan, _) => {
                let revision = u32::try_from(self.run.review.revisions.len()).unwrap_or(u32::MAX);
                self.ask(Owner::PlanReview, QuestionKind::Refine { revision });
            }
            (_, Some(revision)) => self.accept_plan(revision),
            (_, None) => self.end(Cause::PlanRejected),
        }
    }

    pub(super) fn with_review(&mut self, command: &Command, result: &CommandResult) {
        if let CommandResult::Person(answer) = result {
            return self.with_plan_approval(answer);
        }
        let (Command::Ask(ask), CommandResult::Answer(answer)) = (command, result) else { return };
        if let QuestionKind::JudgePlan { revision, .. } = &ask.about {
            return self.with_plan_judgement(*revision, answer);
        }
        if let ParsedAnswer::Document(Document::Planning(document)) = &answer.reading {
            self.with_refined(document);
        } else if let Some(rejected) = RejectedAnswer::of(&answer.reading) {
            self.refine_again(rejected);
        }
    }

    fn with_plan_judgement(&mut self, revision: u32, answer: &ModelAnswer) {
        if let ParsedAnswer::Document(Document::PlanJudgement(judgement)) = &answer.reading {
            return self.push(PlanReviewChange::Scored { revision, judgement: judgement.clone() });
        }
        let Some(rejected) = RejectedAnswer::of(&answer.reading) else { return };
        if self.is_asked_again(&Owner::PlanReview, rejected) {
            let sample =
                self.run.review.revisions.get(revision as usize).map_or(0, |plan| plan.samples.len());
            let sample = u32::try_from(sample).unwrap_or(u32::MAX).saturating_add(1);
            return self.ask(Owner::PlanReview, QuestionKind::JudgePlan { revision, sample });
        }
        // A judge that cannot be read never counts as a yes.
        let judgement = PlanJudgement {
            is_acceptable: false,
            issues: Vec::new(),
            suggestions: Vec::new(),
            overall_score: None,
        };
        self.push(PlanReviewChange::Scored { revision, judgement });
    }

    fn reject_refinement(&mut self, problem: &str) {
        self.refine_again(RejectedAnswer::because(Redactor::default().redact(problem)));
    }

    fn refine_again(&mut self, rejected: RejectedAnswer) {
        if self.is_asked_again(&Owner::PlanReview, rejected) {
            let revision = u32::try_from(self.run.review.revisions.len()).unwrap_or(u32::MAX);
            return self.ask(Owner::PlanReview, QuestionKind::Refine { revision });
        }
        match self.run.review.best() {
            Some(revision) => self.accept_plan(revision),
            None => self.end(Cause::PlanRejected),
        }
    }

    fn with_refined(&mut self, document: &PlanningDocument) {
        let Some(decomposition) = &document.task_decomposition else {
            return self.reject_refinement("task_decomposition: this part of the answer is missing");
        };
        let tasks = plan_shape::flattened(&decomposition.subtasks);
        let bounds = self.run.plan_bounds(0);
        let actions = document.action_plan.clone().unwrap_or_default();
        if let Some(problem) = plan_shape::problem_of_actions(&actions, &tasks, bounds) {
            return self.reject_refinement(&problem);
        }
        let (Some(first), Some(previous), Some(settings)) =
            (self.run.review.revisions.first(), self.run.review.revisions.last(), self.run.settings())
        else {
            return self.end(Cause::PlanRejected);
        };
        let question = structure::Question {
            original: structure::outline(&first.tasks),
            replanned: structure::outline(&tasks),
            config: settings.refinement.clone(),
        };
        let is_sound =
            structure::decide(&question).is_valid && plan_shape::problem_of_tasks(&tasks, bounds).is_none();
        let (tasks, actions, repair) = if is_sound {
            (tasks, actions, PlanRepair::None)
        } else {
            let merged = fallback::decide(&first.tasks, &previous.tasks, &tasks, &settings.refinement);
            // Merging does not repair what is wrong with a single task.
            match merged.filter(|tasks| plan_shape::problem_of_tasks(tasks, bounds).is_none()) {
                Some(tasks) => (tasks, previous.actions.clone(), PlanRepair::Merged),
                None => (previous.tasks.clone(), previous.actions.clone(), PlanRepair::Previous),
            }
        };
        self.push(PlanReviewChange::Planned { tasks, actions, repair });
    }
}
