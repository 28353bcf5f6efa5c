//! From the goal to a plan: base, a plan kept from earlier, understanding, tasks, order; questions to the person.
//!
//! Invariant: at most one clarification and one coarser try, each answer asked for again a bounded number of times.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use fixpoint_vocabulary::ask::{
    About, Ask, Asking, Draft, ModelAnswer, PersonAnswer, PersonAsk, PersonAskKind, Reading, Remark,
};
use fixpoint_vocabulary::documents::{
    ActionPlan, Document, GoalUnderstanding, PlanningDocument, PlanningError, PlanningErrorKind, Subtask,
    TaskDecomposition,
};
use fixpoint_vocabulary::settings::DecompositionLevel;
use fixpoint_vocabulary::work::{Base, Command, CommandResult, Recalled};
use fixpoint_vocabulary::{Cause, Redacted, Redactor};

use super::{Deciding, Mended, Move, Owner, PlanningCalls, Run, RunOrder, TaskSource, Trouble};
use crate::plan_shape::{self, Bounds};

/// How long a person is waited for.
const PERSON_SECONDS: u32 = 3600;

/// What can be done of a goal that cannot be done as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partial {
    /// The tasks that can be done.
    pub feasible: Vec<Subtask>,
    /// What cannot.
    pub infeasible: Vec<String>,
    /// What could be done instead.
    pub alternatives: Vec<String>,
}

/// Whether a plan kept from earlier was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Memory {
    /// Not yet.
    NotAsked,
    /// None is there.
    Nothing,
    /// A plan to begin from.
    Draft(Box<Draft>),
}

/// How far planning has come.
#[derive(Debug, Clone, PartialEq)]
pub struct Planning {
    /// The run's base.
    pub base: Option<Base>,
    /// A plan kept from earlier.
    pub memory: Memory,
    /// Whether anybody can be asked.
    pub asking: Asking,
    /// What people said.
    pub remarks: Vec<Remark>,
    /// How often the goal was unclear.
    pub unclear: u32,
    /// How finely the goal is cut, once that was lowered.
    pub level: Option<DecompositionLevel>,
    /// What is wanted.
    pub understanding: Option<GoalUnderstanding>,
    /// The tasks and why.
    pub decomposition: Option<TaskDecomposition>,
    /// What can be done of the goal, where not all of it can.
    pub partial: Option<Partial>,
}

impl Planning {
    pub(super) fn new(order: &RunOrder) -> Self {
        let asking = match &order.tasks {
            TaskSource::Given(_) => Asking::NobodyThere,
            TaskSource::Planned(order) => order.asking,
        };
        Self {
            base: None,
            memory: Memory::NotAsked,
            asking,
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
    /// How finely the goal is cut.
    pub(super) fn level(&self) -> DecompositionLevel {
        let ordered = self.plan_order().map(|order| order.manner.level).unwrap_or_default();
        self.planning.level.unwrap_or(ordered)
    }

    pub(super) fn plan_bounds(&self, taken: usize) -> Bounds<'_> {
        let most = self.settings().map_or(1, |settings| settings.planning.max_subtasks);
        let left = most.saturating_sub(u32::try_from(taken).unwrap_or(u32::MAX));
        let tools = self.plan_order().map(|order| order.tools.as_slice()).unwrap_or_default();
        Bounds { max_tasks: left, tools }
    }
}

const fn coarser(level: DecompositionLevel) -> DecompositionLevel {
    match level {
        DecompositionLevel::Detailed => DecompositionLevel::Moderate,
        DecompositionLevel::Moderate | DecompositionLevel::Minimal => DecompositionLevel::Minimal,
    }
}

impl Deciding<'_> {
    /// What planning needs next.
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
        let calls = self.run.plan_order().map_or(PlanningCalls::None, |order| order.calls);
        let is_remembered = self.run.settings().is_some_and(|settings| settings.planning.cache.enabled);
        match (calls, &self.run.planning.memory) {
            (PlanningCalls::None, _) => return self.as_one_task(),
            (PlanningCalls::AtOnce | PlanningCalls::PerPhase, Memory::NotAsked) if is_remembered => {
                return self.begin(Owner::Planning, Command::RecallPlan);
            }
            (
                PlanningCalls::AtOnce | PlanningCalls::PerPhase,
                Memory::NotAsked | Memory::Nothing | Memory::Draft(_),
            ) => {}
        }
        let about = match (calls, &*self.run.planning) {
            (PlanningCalls::None | PlanningCalls::AtOnce, _) => About::Plan,
            (PlanningCalls::PerPhase, Planning { understanding: None, .. }) => About::Understand,
            (PlanningCalls::PerPhase, Planning { decomposition: None, .. }) => About::Decompose,
            (PlanningCalls::PerPhase, _) => About::Order,
        };
        self.ask(Owner::Planning, Ask::new(about));
    }

    /// The goal as it is, without a plan.
    fn as_one_task(&mut self) {
        let goal = self.run.brief.as_ref().map(|brief| brief.goal.as_str().into()).unwrap_or_default();
        let task = Subtask {
            id: "task".into(),
            description: goal,
            dependencies: Vec::new(),
            estimated_complexity: fixpoint_vocabulary::documents::Complexity::Medium,
            required_tools: Vec::new(),
            acceptance: Vec::new(),
            scope_paths: Vec::new(),
            goals: Vec::new(),
            context: String::new(),
            subtasks: Vec::new(),
        };
        let actions = ActionPlan { execution_order: Vec::from([task.id.clone()]), actions: Vec::new() };
        self.push(Move::Planned { tasks: Vec::from([task]), actions, mended: Mended::No });
        self.accept_plan(0);
    }

    pub(super) fn with_planning(&mut self, command: &Command, result: &CommandResult) {
        match (command, result) {
            (_, CommandResult::Base(base)) => self.push(Move::BaseTaken { base: base.clone() }),
            (_, CommandResult::Recalled(recalled)) => self.with_memory(recalled),
            (Command::AskPerson(asked), CommandResult::Person(answer)) => {
                self.with_person(asked.kind, answer)
            }
            (Command::Ask(ask), CommandResult::Answer(answer)) => {
                let (about, answer) = (ask.about.clone(), answer.clone());
                self.with_plan_answer(&about, &answer);
            }
            (_, _) => {}
        }
    }

    fn with_memory(&mut self, recalled: &Recalled) {
        match recalled {
            Recalled::Nothing => self.push(Move::Recalled { draft: None }),
            Recalled::Near(draft) => self.push(Move::Recalled { draft: Some(Box::new(draft.clone())) }),
            Recalled::Exact(draft) => {
                let bounds = self.run.plan_bounds(0);
                let is_sound = plan_shape::problem_of_tasks(&draft.tasks, bounds).is_none()
                    && plan_shape::problem_of_actions(&draft.actions, &draft.tasks, bounds).is_none();
                self.push(Move::Recalled { draft: Some(Box::new(draft.clone())) });
                if is_sound {
                    self.push(Move::Understood { understanding: draft.understanding.clone() });
                    let (tasks, actions) = (draft.tasks.clone(), draft.actions.clone());
                    self.push(Move::Planned { tasks, actions, mended: Mended::No });
                }
            }
        }
    }

    fn with_person(&mut self, kind: PersonAskKind, answer: &PersonAnswer) {
        match (kind, answer) {
            (PersonAskKind::Clarification, PersonAnswer::Said(said)) => {
                self.push(Move::Heard { said: said.clone() });
            }
            (PersonAskKind::Clarification, _) => self.push(Move::NobodyThere),
            (PersonAskKind::Approval, PersonAnswer::Approved { .. }) => self.take_partial(),
            (PersonAskKind::Approval, PersonAnswer::Refused { .. } | PersonAnswer::Said(_)) => {
                self.end(Cause::ApprovalRefused);
            }
            (PersonAskKind::Approval, PersonAnswer::Nobody) => self.end(Cause::ApprovalTimeout),
        }
    }

    fn with_plan_answer(&mut self, about: &About, answer: &ModelAnswer) {
        match &answer.reading {
            Reading::Document(Document::Planning(document)) => self.with_plan_document(about, document),
            Reading::Document(_) => {
                self.unusable_plan(Redacted::ours("another kind of document was given"), Redacted::default());
            }
            Reading::Unreadable { problem, text } => self.unusable_plan(problem.clone(), text.clone()),
            Reading::Unanswered { .. } => {}
        }
    }

    /// An answer of the planner that cannot be used: asked for again, or the end.
    fn unusable_plan(&mut self, problem: Redacted, text: Redacted) {
        if !self.is_asked_again(&Owner::Planning, Trouble { problem, text }) {
            self.end(Cause::ModelUnavailable);
        }
    }

    fn wrong_plan(&mut self, problem: &str) {
        self.unusable_plan(Redactor::default().redact(problem), Redacted::default());
    }

    fn with_plan_document(&mut self, about: &About, document: &PlanningDocument) {
        if let Some(error) = &document.error {
            return self.with_planning_error(error);
        }
        match (about, &document.goal_understanding, &document.task_decomposition, &document.action_plan) {
            (About::Understand, Some(understanding), ..) => {
                self.push(Move::Understood { understanding: understanding.clone() });
            }
            (About::Decompose, _, Some(decomposition), _) => self.with_tasks(decomposition),
            (About::Order, .., Some(actions)) => self.with_actions(actions),
            (About::Plan, Some(understanding), Some(decomposition), actions) => {
                let tasks = plan_shape::flattened(&decomposition.subtasks);
                let in_order = ActionPlan::default();
                let actions = actions.as_ref().unwrap_or(&in_order);
                let bounds = self.run.plan_bounds(0);
                let problem = plan_shape::problem_of_tasks(&tasks, bounds)
                    .or_else(|| plan_shape::problem_of_actions(actions, &tasks, bounds));
                match problem {
                    Some(problem) => self.wrong_plan(&problem),
                    None => {
                        self.push(Move::Understood { understanding: understanding.clone() });
                        self.push(Move::Planned { tasks, actions: actions.clone(), mended: Mended::No });
                    }
                }
            }
            (..) => self.wrong_plan(&format!("{}: this part of the answer is missing", about.name())),
        }
    }

    fn with_tasks(&mut self, decomposition: &TaskDecomposition) {
        let subtasks = plan_shape::flattened(&decomposition.subtasks);
        match plan_shape::problem_of_tasks(&subtasks, self.run.plan_bounds(0)) {
            Some(problem) => self.wrong_plan(&problem),
            None => {
                let reasoning = decomposition.reasoning.clone();
                self.push(Move::Decomposed { decomposition: TaskDecomposition { reasoning, subtasks } });
            }
        }
    }

    fn with_actions(&mut self, actions: &ActionPlan) {
        let tasks = self.run.planning.decomposition.as_ref().map(|found| found.subtasks.clone());
        let tasks = tasks.unwrap_or_default();
        match plan_shape::problem_of_actions(actions, &tasks, self.run.plan_bounds(0)) {
            Some(problem) => self.wrong_plan(&problem),
            None => self.push(Move::Planned { tasks, actions: actions.clone(), mended: Mended::No }),
        }
    }

    fn with_planning_error(&mut self, error: &PlanningError) {
        match &error.kind {
            PlanningErrorKind::UnclearGoal => self.unclear_goal(error),
            PlanningErrorKind::DecompositionFailed => self.decomposition_failed(error),
            PlanningErrorKind::Other(kind) => {
                self.wrong_plan(&format!("error.type `{kind}` is not known: {}", error.message));
            }
        }
    }

    /// The person is asked once; with nobody there the planner must assume; then it is over.
    fn unclear_goal(&mut self, error: &PlanningError) {
        let redactor = Redactor::default();
        let is_last = self.run.planning.unclear >= 1;
        match (self.run.planning.asking, is_last) {
            (Asking::Possible, false) => {
                let questions = error.clarification_needed.iter().map(|text| redactor.redact(text)).collect();
                let about = redactor.redact(&error.message);
                let kind = PersonAskKind::Clarification;
                let asked = PersonAsk { about, questions, kind, within: PERSON_SECONDS };
                self.begin(Owner::Planning, Command::AskPerson(asked));
            }
            (Asking::Possible | Asking::NobodyThere, _) => self.end(Cause::NeedsClarification),
        }
    }

    /// Once more, less finely cut; then what can be done, if that is agreed to.
    fn decomposition_failed(&mut self, error: &PlanningError) {
        let level = self.run.level();
        if self.run.planning.level.is_none() && level != DecompositionLevel::Minimal {
            return self.push(Move::Coarser { level: coarser(level) });
        }
        let partial = error.partial_plan.clone().unwrap_or_default();
        let feasible = plan_shape::flattened(&partial.feasible_subtasks);
        if plan_shape::problem_of_tasks(&feasible, self.run.plan_bounds(0)).is_some() {
            return self.end(Cause::PlanRejected);
        }
        let (infeasible, alternatives) = (partial.infeasible_subtasks, partial.alternative_approaches);
        let listed = infeasible.join("; ");
        self.push(Move::PartialOffered { feasible, infeasible, alternatives });
        let settings = self.run.settings();
        if settings.is_some_and(|settings| settings.planning.allow_partial) {
            return self.take_partial();
        }
        let about = format!("only a part of the goal can be planned; this cannot: {listed}");
        let about = Redactor::default().redact(&about);
        let kind = PersonAskKind::Approval;
        let asked = PersonAsk { about, questions: Vec::new(), kind, within: PERSON_SECONDS };
        self.begin(Owner::Planning, Command::AskPerson(asked));
    }

    fn take_partial(&mut self) {
        let Some(partial) = self.run.planning.partial.clone() else { return self.end(Cause::PlanRejected) };
        if self.run.planning.understanding.is_none() {
            let main_objective =
                self.run.brief.as_ref().map(|brief| brief.goal.as_str().into()).unwrap_or_default();
            let understanding = GoalUnderstanding { main_objective, ..GoalUnderstanding::default() };
            self.push(Move::Understood { understanding });
        }
        let actions = ActionPlan::default();
        self.push(Move::Planned { tasks: partial.feasible, actions, mended: Mended::No });
    }
}
