//! The plan before the judge: scored, compared with the one before where that matters, refined, accepted or rejected.
//!
//! A single score is a sample, so more are drawn only while a decision depends on how two plans compare. The best
//! acceptable plan goes on, also after a regression. Invariant: at most `max_refinement_attempts` plans after the
//! first, each scored at most `judge.max_samples` times.

use alloc::vec::Vec;

use fixpoint_vocabulary::ask::{About, Ask, ModelAnswer, Reading};
use fixpoint_vocabulary::documents::{ActionPlan, Document, PlanJudgement, PlanningDocument, Subtask};
use fixpoint_vocabulary::work::{Command, CommandResult};
use fixpoint_vocabulary::{Cause, Redacted, Redactor, Score};

use super::{Deciding, Judging, Mended, Move, Owner, Run, Trouble};
use crate::fallback::{self, Fallback, Mergeable};
use crate::refinement::{self, Comparison};
use crate::sampling::{self, Next, Samples};
use crate::structure::{self, PlannedTask};
use crate::{noise, plan_shape};

impl Mergeable for Subtask {
    fn id(&self) -> &fixpoint_vocabulary::TaskId {
        &self.id
    }

    fn dependencies(&self) -> &[fixpoint_vocabulary::TaskId] {
        &self.dependencies
    }

    fn acceptance(&self) -> alloc::string::String {
        if self.acceptance.is_empty() { self.description.clone() } else { self.acceptance.join("\n") }
    }
}

/// One plan that was put before the judge.
#[derive(Debug, Clone, PartialEq)]
pub struct Revision {
    /// Its tasks.
    pub tasks: Vec<Subtask>,
    /// Their order and steps.
    pub actions: ActionPlan,
    /// Whether it is as the planner gave it.
    pub mended: Mended,
    /// What the judge said, each time it was asked.
    pub samples: Vec<PlanJudgement>,
}

impl Revision {
    /// The scores it got.
    pub fn scores(&self) -> Vec<Score> {
        self.samples.iter().filter_map(|sample| sample.overall_score).collect()
    }

    /// The mean of its scores.
    pub fn score(&self) -> Option<Score> {
        noise::mean(&self.scores()).map(Score::nearest)
    }

    fn is_acceptable(&self) -> bool {
        self.samples.first().is_some_and(|first| first.is_acceptable)
    }
}

/// The plans so far and what was decided about them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Review {
    /// The plans, the first at first.
    pub revisions: Vec<Revision>,
    /// What was decided about each.
    pub decisions: Vec<refinement::Answer>,
    /// The one that goes on.
    pub accepted: Option<u32>,
    /// What it holds that must not be run, or not without consent.
    pub findings: Vec<alloc::string::String>,
    pub(super) suggestion_replans: u32,
}

impl Review {
    /// The plan that goes on, or the newest.
    pub fn plan(&self) -> Option<&Revision> {
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

/// What to do about the newest plan.
enum Verdict {
    /// The judge is asked about a plan.
    Score { revision: u32, sample: u32 },
    /// It is decided.
    Decided(refinement::Answer),
}

impl Run {
    fn verdict(&self) -> Option<Verdict> {
        let settings = self.settings()?;
        let newest = u32::try_from(self.review.revisions.len().checked_sub(1)?).ok()?;
        let plan = self.review.revisions.last()?;
        let Some(first) = plan.samples.first() else {
            return Some(Verdict::Score { revision: newest, sample: 1 });
        };
        let before = newest.checked_sub(1).and_then(|n| self.review.revisions.get(n as usize));
        let question = refinement::Question {
            is_acceptable: first.is_acceptable,
            score: plan.score(),
            previous_score: before.and_then(Revision::score),
            issues: first.issues.clone(),
            suggestions: first.suggestions.clone(),
            attempt_count: newest,
            suggestion_replan_count: self.review.suggestion_replans,
            config: settings.refinement.clone(),
        };
        let Some(before) = before.filter(|before| before.score().is_some() && plan.score().is_some()) else {
            return Some(Verdict::Decided(refinement::decide(&question)));
        };
        let samples = sampling::Question {
            a: Samples { scores: before.scores() },
            b: Samples { scores: plan.scores() },
            sigma: self.plan_order().and_then(|order| order.sigma),
            max_samples: settings.judge.max_samples,
            delta_threshold: settings.refinement.delta_threshold,
        };
        let is_worth_it = settings.judge.max_samples > 1 && refinement::depends_on_comparison(&question);
        let revision = match sampling::decide(&samples).next {
            Next::A if is_worth_it => newest.saturating_sub(1),
            Next::B if is_worth_it => newest,
            Next::A | Next::B | Next::Stop => {
                let comparison: Option<Comparison> = sampling::compare(&samples, &settings.refinement);
                return Some(Verdict::Decided(refinement::decide_compared(&question, comparison)));
            }
        };
        // Drawn samples that hold no score count too, or a judge without scores would be asked for ever.
        let drawn = self.review.revisions.get(revision as usize).map_or(0, |plan| plan.samples.len());
        if drawn >= settings.judge.max_samples as usize {
            let comparison = Some(Comparison::InNoise);
            return Some(Verdict::Decided(refinement::decide_compared(&question, comparison)));
        }
        Some(Verdict::Score { revision, sample: u32::try_from(drawn).unwrap_or(u32::MAX).saturating_add(1) })
    }
}

impl Deciding<'_> {
    /// What the judgement of the plan needs next.
    pub(super) fn next_of_review(&mut self) {
        if self.run.is_busy(&Owner::Review) || self.run.review.accepted.is_some() {
            return;
        }
        let is_judged = self.run.plan_order().is_some_and(|order| order.judging == Judging::ByModel);
        if !is_judged {
            return self.accept_plan(0);
        }
        match self.run.verdict() {
            Some(Verdict::Score { revision, sample }) => {
                self.ask(Owner::Review, Ask::new(About::JudgePlan { revision, sample }));
            }
            Some(Verdict::Decided(answer)) => self.decided(answer),
            None => self.end(Cause::PlanRejected),
        }
    }

    fn decided(&mut self, answer: refinement::Answer) {
        let decision = answer.decision;
        let accepted = match decision {
            refinement::Decision::Replan => None,
            refinement::Decision::Accept | refinement::Decision::Reject => self.run.review.best(),
        };
        self.push(Move::PlanDecided { answer });
        match (decision, accepted) {
            (refinement::Decision::Replan, _) => {
                let revision = u32::try_from(self.run.review.revisions.len()).unwrap_or(u32::MAX);
                self.ask(Owner::Review, Ask::new(About::Refine { revision }));
            }
            (_, Some(revision)) => self.accept_plan(revision),
            (_, None) => self.end(Cause::PlanRejected),
        }
    }

    pub(super) fn with_review(&mut self, command: &Command, result: &CommandResult) {
        if let CommandResult::Person(answer) = result {
            return self.with_consent(answer);
        }
        let (Command::Ask(ask), CommandResult::Answer(answer)) = (command, result) else { return };
        if let About::JudgePlan { revision, .. } = &ask.about {
            return self.with_plan_judgement(*revision, answer);
        }
        match &answer.reading {
            Reading::Document(Document::Planning(document)) => self.with_refined(document),
            Reading::Document(_) => self.unusable_refinement("another kind of document was given"),
            Reading::Unreadable { problem, text } => {
                let trouble = Trouble { problem: problem.clone(), text: text.clone() };
                self.refine_again(trouble);
            }
            Reading::Unanswered { .. } => {}
        }
    }

    fn with_plan_judgement(&mut self, revision: u32, answer: &ModelAnswer) {
        let trouble = match &answer.reading {
            Reading::Document(Document::PlanJudgement(judgement)) => {
                return self.push(Move::PlanScored { revision, judgement: judgement.clone() });
            }
            Reading::Document(_) => Trouble {
                problem: Redacted::ours("another kind of document was given"),
                text: Redacted::default(),
            },
            Reading::Unreadable { problem, text } => Trouble { problem: problem.clone(), text: text.clone() },
            Reading::Unanswered { .. } => return,
        };
        if self.is_asked_again(&Owner::Review, trouble) {
            let sample =
                self.run.review.revisions.get(revision as usize).map_or(0, |plan| plan.samples.len());
            let sample = u32::try_from(sample).unwrap_or(u32::MAX).saturating_add(1);
            return self.ask(Owner::Review, Ask::new(About::JudgePlan { revision, sample }));
        }
        // A judge that cannot be read never counts as a yes.
        let judgement = PlanJudgement {
            is_acceptable: false,
            issues: Vec::new(),
            suggestions: Vec::new(),
            overall_score: None,
        };
        self.push(Move::PlanScored { revision, judgement });
    }

    fn unusable_refinement(&mut self, problem: &str) {
        let problem = Redactor::default().redact(problem);
        self.refine_again(Trouble { problem, text: Redacted::default() });
    }

    fn refine_again(&mut self, trouble: Trouble) {
        if self.is_asked_again(&Owner::Review, trouble) {
            let revision = u32::try_from(self.run.review.revisions.len()).unwrap_or(u32::MAX);
            return self.ask(Owner::Review, Ask::new(About::Refine { revision }));
        }
        match self.run.review.best() {
            Some(revision) => self.accept_plan(revision),
            None => self.end(Cause::PlanRejected),
        }
    }

    fn with_refined(&mut self, document: &PlanningDocument) {
        let Some(decomposition) = &document.task_decomposition else {
            return self.unusable_refinement("task_decomposition: this part of the answer is missing");
        };
        let tasks = plan_shape::flattened(&decomposition.subtasks);
        let bounds = self.run.plan_bounds(0);
        let actions = document.action_plan.clone().unwrap_or_default();
        if let Some(problem) = plan_shape::problem_of_actions(&actions, &tasks, bounds) {
            return self.unusable_refinement(&problem);
        }
        let (Some(first), Some(previous), Some(settings)) =
            (self.run.review.revisions.first(), self.run.review.revisions.last(), self.run.settings())
        else {
            return self.end(Cause::PlanRejected);
        };
        let question = structure::Question {
            original: outline(&first.tasks),
            replanned: outline(&tasks),
            config: settings.refinement.clone(),
        };
        let is_sound =
            structure::decide(&question).is_valid && plan_shape::problem_of_tasks(&tasks, bounds).is_none();
        let (tasks, actions, mended) = if is_sound {
            (tasks, actions, Mended::No)
        } else {
            match fallback::decide(&first.tasks, &previous.tasks, &tasks, &settings.refinement) {
                Fallback::Merged(tasks) if plan_shape::problem_of_tasks(&tasks, bounds).is_none() => {
                    (tasks, previous.actions.clone(), Mended::Merged)
                }
                // What is wrong with a task by itself is not mended by putting it beside others.
                Fallback::Merged(_) => (previous.tasks.clone(), previous.actions.clone(), Mended::Previous),
                Fallback::Previous(tasks) => (tasks, previous.actions.clone(), Mended::Previous),
            }
        };
        self.push(Move::Planned { tasks, actions, mended });
    }
}

fn outline(tasks: &[Subtask]) -> Vec<PlannedTask> {
    let outline =
        |task: &Subtask| PlannedTask { id: task.id.clone(), dependencies: task.dependencies.clone() };
    tasks.iter().map(outline).collect()
}
