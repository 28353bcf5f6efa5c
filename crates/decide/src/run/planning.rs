//! From the goal to a plan: base and its checks, cached plan, understanding, tasks, order.
//!
//! Owns the planner's questions and what its answers mean. What a person is asked meanwhile is in `clarification`, the
//! plan cache in `plan_cache`. Invariant: at most one clarification and one coarser try, and each answer is asked for
//! again a bounded number of times.

use fixpoint_vocabulary::ask::{ModelAnswer, ParsedAnswer, PersonPresence, QuestionKind, Remark, SavedPlan};
use fixpoint_vocabulary::documents::{
    ActionPlan, Document, GoalUnderstanding, PlanningDocument, PlanningError, PlanningErrorKind, Subtask,
    TaskDecomposition,
};
use fixpoint_vocabulary::settings::DecompositionLevel;
use fixpoint_vocabulary::work::{Base, Command, CommandResult};
use fixpoint_vocabulary::{Cause, Redactor};
use serde::{Deserialize, Serialize};

use super::{
    Owner, PlanRepair, PlanReviewChange, PlanningCalls, RejectedAnswer, Run, RunOptions, TaskSource,
    Transition,
};
use crate::plan_shape::{self, Bounds};
use crate::prelude::*;

/// The part of a goal that can be done, where not all of it can.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartialPlan {
    pub feasible: Vec<Subtask>,
    pub infeasible: Vec<String>,
    pub alternatives: Vec<String>,
}

/// What looking for a cached plan gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CachedPlan {
    NotLookedUp,
    Missing,
    /// A plan to begin from.
    SavedPlan(Box<SavedPlan>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Planning {
    pub base: Option<Base>,
    pub cached: CachedPlan,
    pub person: PersonPresence,
    pub remarks: Vec<Remark>,
    /// How often the goal was unclear.
    pub unclear: u32,
    /// How finely the goal is decomposed, once that was lowered.
    pub level: Option<DecompositionLevel>,
    pub understanding: Option<GoalUnderstanding>,
    pub decomposition: Option<TaskDecomposition>,
    /// The part of the goal that can be done, where not all of it can.
    pub partial: Option<PartialPlan>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanningChange {
    BaseTaken {
        base: Base,
    },
    /// The plan cache was looked through.
    CacheLookedUp {
        /// The plan it holds for this goal or a similar one.
        draft: Option<Box<SavedPlan>>,
    },
    /// People answered a question about the goal.
    Clarified {
        said: Vec<Remark>,
    },
    /// Nobody answered: what is unclear is assumed from now on.
    Unavailable,
    Remarked {
        said: Vec<Remark>,
    },
    Understood {
        understanding: GoalUnderstanding,
    },
    Decomposed {
        decomposition: TaskDecomposition,
    },
    /// The goal is to be decomposed less finely.
    Coarser {
        level: DecompositionLevel,
    },
    /// Only a part of the goal can be planned.
    PartialOffered(PartialPlan),
}

impl Planning {
    pub(super) fn new(options: &RunOptions) -> Self {
        let person = match &options.tasks {
            TaskSource::Given(_) => PersonPresence::Unavailable,
            TaskSource::Planned(options) => options.person,
        };
        Self {
            base: None,
            cached: CachedPlan::NotLookedUp,
            person,
            remarks: Vec::new(),
            unclear: 0,
            level: None,
            understanding: None,
            decomposition: None,
            partial: None,
        }
    }
}

impl Run {
    pub(super) fn apply_planning(&mut self, change: &PlanningChange) {
        let planning = &mut self.planning;
        match change {
            PlanningChange::BaseTaken { base } => planning.base = Some(base.clone()),
            PlanningChange::CacheLookedUp { draft } => {
                planning.cached = draft.clone().map_or(CachedPlan::Missing, CachedPlan::SavedPlan);
            }
            PlanningChange::Clarified { said } => {
                planning.unclear += 1;
                planning.remarks.extend(said.iter().cloned());
            }
            PlanningChange::Unavailable => {
                planning.unclear += 1;
                planning.person = PersonPresence::Unavailable;
            }
            PlanningChange::Remarked { said } => planning.remarks.extend(said.iter().cloned()),
            PlanningChange::Understood { understanding } => {
                planning.understanding = Some(understanding.clone());
                self.forget_rejected(&Owner::Planning);
            }
            PlanningChange::Decomposed { decomposition } => {
                planning.decomposition = Some(decomposition.clone());
                self.forget_rejected(&Owner::Planning);
            }
            PlanningChange::Coarser { level } => planning.level = Some(*level),
            PlanningChange::PartialOffered(partial) => planning.partial = Some(partial.clone()),
        }
    }

    /// How finely the goal is decomposed.
    pub(super) fn level(&self) -> DecompositionLevel {
        let ordered = self.plan_options().map(|options| options.style.level).unwrap_or_default();
        self.planning.level.unwrap_or(ordered)
    }

    /// The goal in the user's words.
    pub(super) fn goal(&self) -> String {
        self.spec.as_ref().map(|spec| spec.goal.as_str().into()).unwrap_or_default()
    }

    /// What a plan must keep to, where so many tasks are there already.
    pub(super) fn plan_bounds(&self, taken: usize) -> Bounds<'_> {
        let most = self.settings().map_or(1, |settings| settings.planning.max_subtasks);
        let left = most.saturating_sub(u32::try_from(taken).unwrap_or(u32::MAX));
        let tools = self.plan_options().map(|options| options.tools.as_slice()).unwrap_or_default();
        Bounds { max_tasks: left, tools }
    }
}

impl Transition<'_> {
    pub(super) fn next_of_planning(&mut self) {
        if self.run.is_busy(&Owner::Planning) {
            return;
        }
        if !self.run.review.revisions.is_empty() {
            return self.next_of_review();
        }
        if self.run.planning.base.is_none() {
            return self.begin(Owner::Planning, Command::TakeBase);
        }
        if !self.run.base_checks.is_settled {
            return self.next_of_base_checks();
        }
        let calls = self.run.plan_options().map_or(PlanningCalls::None, |options| options.calls);
        if calls == PlanningCalls::None {
            return self.as_one_task();
        }
        if self.run.planning.cached == CachedPlan::NotLookedUp && self.run.is_plan_cached() {
            return self.begin(Owner::Planning, Command::FindCachedPlan);
        }
        let planning = &self.run.planning;
        let about = match (calls, &planning.understanding, &planning.decomposition) {
            (PlanningCalls::None | PlanningCalls::AtOnce, ..) => QuestionKind::Plan,
            (PlanningCalls::PerPhase, None, _) => QuestionKind::Understand,
            (PlanningCalls::PerPhase, Some(_), None) => QuestionKind::Decompose,
            (PlanningCalls::PerPhase, Some(_), Some(_)) => QuestionKind::Order,
        };
        self.ask(Owner::Planning, about);
    }

    /// The goal as it is, without a plan.
    fn as_one_task(&mut self) {
        let task = Subtask::new("task".into(), self.run.goal());
        let actions = ActionPlan { execution_order: Vec::from([task.id.clone()]), actions: Vec::new() };
        self.planned(Vec::from([task]), actions);
        self.accept_plan(0);
    }

    /// A plan as the planner gave it is there, to be judged.
    pub(super) fn planned(&mut self, tasks: Vec<Subtask>, actions: ActionPlan) {
        self.push(PlanReviewChange::Planned { tasks, actions, repair: PlanRepair::None });
    }

    pub(super) fn with_planning(&mut self, command: &Command, result: &CommandResult) {
        match (command, result) {
            (_, CommandResult::Base(base)) => self.push(PlanningChange::BaseTaken { base: base.clone() }),
            (_, CommandResult::CachedPlan(found)) => self.with_cached_plan(found),
            (Command::AskPerson(asked), CommandResult::Person(answer)) => {
                self.with_clarification(asked.kind, answer);
            }
            (Command::Ask(ask), CommandResult::Answer(answer)) => self.with_plan_answer(&ask.about, answer),
            (_, _) => {}
        }
    }

    fn with_plan_answer(&mut self, about: &QuestionKind, answer: &ModelAnswer) {
        if let ParsedAnswer::Document(Document::Planning(document)) = &answer.reading {
            self.with_plan_document(about, document);
        } else if let Some(rejected) = RejectedAnswer::of(&answer.reading) {
            self.reject_plan(rejected);
        }
    }

    /// An answer of the planner that cannot be used: asked for again, or the end.
    fn reject_plan(&mut self, answer: RejectedAnswer) {
        if !self.is_asked_again(&Owner::Planning, answer) {
            self.end(Cause::ModelUnavailable);
        }
    }

    fn reject_plan_because(&mut self, problem: &str) {
        self.reject_plan(RejectedAnswer::because(Redactor::default().redact(problem)));
    }

    fn with_plan_document(&mut self, about: &QuestionKind, document: &PlanningDocument) {
        if let Some(error) = &document.error {
            return self.with_planning_error(error);
        }
        match (about, &document.goal_understanding, &document.task_decomposition, &document.action_plan) {
            (QuestionKind::Understand, Some(understanding), ..) => {
                self.push(PlanningChange::Understood { understanding: understanding.clone() });
            }
            (QuestionKind::Decompose, _, Some(decomposition), _) => self.with_tasks(decomposition),
            (QuestionKind::Order, .., Some(actions)) => self.with_actions(actions),
            (QuestionKind::Plan, Some(understanding), Some(decomposition), actions) => {
                let actions = actions.clone().unwrap_or_default();
                self.with_whole_plan(understanding, decomposition, actions);
            }
            (..) => {
                let problem = format!("{}: this part of the answer is missing", about.name());
                self.reject_plan_because(&problem);
            }
        }
    }

    fn with_whole_plan(
        &mut self,
        understanding: &GoalUnderstanding,
        decomposition: &TaskDecomposition,
        actions: ActionPlan,
    ) {
        let tasks = plan_shape::flattened(&decomposition.subtasks);
        let bounds = self.run.plan_bounds(0);
        let problem = plan_shape::problem_of_tasks(&tasks, bounds)
            .or_else(|| plan_shape::problem_of_actions(&actions, &tasks, bounds));
        match problem {
            Some(problem) => self.reject_plan_because(&problem),
            None => {
                self.push(PlanningChange::Understood { understanding: understanding.clone() });
                self.planned(tasks, actions);
            }
        }
    }

    fn with_tasks(&mut self, decomposition: &TaskDecomposition) {
        let subtasks = plan_shape::flattened(&decomposition.subtasks);
        match plan_shape::problem_of_tasks(&subtasks, self.run.plan_bounds(0)) {
            Some(problem) => self.reject_plan_because(&problem),
            None => {
                let reasoning = decomposition.reasoning.clone();
                let decomposition = TaskDecomposition { reasoning, subtasks };
                self.push(PlanningChange::Decomposed { decomposition });
            }
        }
    }

    fn with_actions(&mut self, actions: &ActionPlan) {
        let tasks = self.run.planning.decomposition.as_ref().map(|found| found.subtasks.clone());
        let tasks = tasks.unwrap_or_default();
        match plan_shape::problem_of_actions(actions, &tasks, self.run.plan_bounds(0)) {
            Some(problem) => self.reject_plan_because(&problem),
            None => self.planned(tasks, actions.clone()),
        }
    }

    fn with_planning_error(&mut self, error: &PlanningError) {
        match &error.kind {
            PlanningErrorKind::UnclearGoal => self.unclear_goal(error),
            PlanningErrorKind::DecompositionFailed => self.decomposition_failed(error),
            PlanningErrorKind::Other(kind) => {
                let problem = format!("error.type `{kind}` is not known: {}", error.message);
                self.reject_plan_because(&problem);
            }
        }
    }
}
