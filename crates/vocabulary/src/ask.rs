//! Questions to models and to people, as data: who is asked, about what, with what at hand, and what came back.
//!
//! A recorded question is small: it names commits and tasks. What the model is shown is gathered from the run's state
//! when it is asked. Answers are recorded whole.

use serde::{Deserialize, Serialize};

use crate::documents::{ActionPlan, Document, GoalUnderstanding, Subtask};
use crate::prelude::*;
use crate::settings::{DecompositionLevel, ReflectionDepth, Strategy};
use crate::usage::Usage;
use crate::work::{CommandId, CommitId, ReportedFailure};
use crate::{Redacted, TaskId, TaskState};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Planner,
    Judge,
    /// Does the work of the built-in agent.
    Worker,
    Reflector,
}

impl Role {
    pub const ALL: [Self; 4] = [Self::Planner, Self::Judge, Self::Worker, Self::Reflector];

    /// The name, as the configuration has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Planner => "planner",
            Self::Judge => "judge",
            Self::Worker => "worker",
            Self::Reflector => "reflector",
        }
    }
}

/// What is asked of the judge of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskQuestion {
    /// The checks and the scope are clean: is the acceptance met?
    Acceptance,
    /// Attempts get nowhere: is it worth going on, or must the task be planned anew?
    WorthGoingOn,
}

/// What a question is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "about")]
pub enum QuestionKind {
    /// All of planning in one answer.
    Plan,
    /// What is wanted?
    Understand,
    /// Which tasks make it up?
    Decompose,
    /// In which order, by which steps?
    Order,
    /// Is the plan good enough?
    JudgePlan {
        /// The revision of the plan.
        revision: u32,
        /// Which of the samples of its score this is, from 1.
        sample: u32,
    },
    /// The plan again, with the issues of the judge.
    Refine {
        /// The revision to be made.
        revision: u32,
    },
    /// Is the task done, or worth going on with?
    JudgeTask {
        task: TaskId,
        commit: CommitId,
        origin: CommitId,
        question: TaskQuestion,
        /// Which of several independent answers this is, from 1.
        sample: u32,
    },
    /// Smaller tasks in the place of one that cannot work.
    ReplanTask { task: TaskId },
    /// Is the goal reached?
    JudgeWhole { commit: CommitId, origin: CommitId },
    /// How did it go, and does the plan still fit?
    Reflect { task: TaskId },
}

impl QuestionKind {
    /// Who is asked about it.
    pub const fn role(&self) -> Role {
        match self {
            Self::Plan | Self::Understand | Self::Decompose | Self::Order | Self::Refine { .. } => {
                Role::Planner
            }
            Self::ReplanTask { .. } => Role::Planner,
            Self::JudgePlan { .. } | Self::JudgeTask { .. } | Self::JudgeWhole { .. } => Role::Judge,
            Self::Reflect { .. } => Role::Reflector,
        }
    }

    /// The task it is about, if it is about one.
    pub const fn task(&self) -> Option<&TaskId> {
        match self {
            Self::JudgeTask { task, .. } | Self::ReplanTask { task } | Self::Reflect { task } => Some(task),
            Self::Plan | Self::Understand | Self::Decompose | Self::Order => None,
            Self::JudgePlan { .. } | Self::Refine { .. } | Self::JudgeWhole { .. } => None,
        }
    }

    /// A short name, for people and for the form of the answer.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Understand => "goal_understanding",
            Self::Decompose => "task_decomposition",
            Self::Order => "action_plan",
            Self::JudgePlan { .. } => "plan_judgement",
            Self::Refine { .. } => "refinement",
            Self::JudgeTask { .. } => "task_judgement",
            Self::ReplanTask { .. } => "replan",
            Self::JudgeWhole { .. } => "whole_judgement",
            Self::Reflect { .. } => "reflection",
        }
    }
}

/// One question to a model, as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelQuestion {
    #[serde(flatten)]
    pub about: QuestionKind,
    /// What was wrong with the last answer to the same question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
}

impl ModelQuestion {
    /// A question that is put for the first time.
    pub const fn new(about: QuestionKind) -> Self {
        Self { about, retry: None }
    }
}

/// Why a question is put again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retry {
    /// Answers that could not be used, so far.
    pub tries: u32,
    /// What was wrong with the last.
    pub problem: Redacted,
}

/// One question to a model with everything that is shown to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    pub about: QuestionKind,
    /// What was wrong with the last answer to the same question.
    pub repair: Option<Repair>,
    /// What there is to know.
    pub material: Material,
}

impl Ask {
    /// A question that is put for the first time, with nothing shown.
    pub fn new(about: QuestionKind) -> Self {
        Self { about, repair: None, material: Material::default() }
    }
}

/// What was wrong with the last answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// Answers that could not be used, so far.
    pub tries: u32,
    /// What was wrong with the last.
    pub problem: Redacted,
    /// The last, for the model to correct.
    pub answer: Redacted,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    pub by: Redacted,
    pub text: Redacted,
}

/// How planning goes about its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PlanningStyle {
    /// How the planner is asked to think.
    pub strategy: Strategy,
    /// How fine the tasks are cut.
    pub level: DecompositionLevel,
    /// How much a reflection is shown.
    pub depth: ReflectionDepth,
}

/// Whether a person can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PersonPresence {
    #[default]
    Available,
    /// What is unclear must be assumed, and the plan must say so.
    Unavailable,
}

/// A plan for another goal, or for the same at another time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedPlan {
    /// The goal it was made for.
    pub goal: Redacted,
    pub understanding: GoalUnderstanding,
    pub tasks: Vec<Subtask>,
    pub actions: ActionPlan,
}

/// One check, for a model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckOutcome {
    pub command: String,
    /// What it showed, in a line.
    pub outcome: String,
}

/// What there is to know about one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskMaterial {
    pub task: Subtask,
    pub state: TaskState,
    pub attempts: u32,
    /// What fails, and how many attempts in a row it has failed.
    pub failures: Vec<(ReportedFailure, u32)>,
    /// What was changed outside its scope.
    pub outside: Vec<String>,
    pub checks: Vec<CheckOutcome>,
    pub reason: Redacted,
    /// What the judge found missing.
    pub missing: Vec<String>,
    /// The last attempt, whose output tells what the agent did.
    pub last_attempt: Option<CommandId>,
    /// The commit of its result, and the one it began with.
    pub commits: Option<(CommitId, CommitId)>,
}

/// Everything a question may need. Which parts are shown is the prompt's affair.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Material {
    /// The goal in the user's words.
    pub goal: Redacted,
    pub remarks: Vec<Remark>,
    pub person: PersonPresence,
    /// The state of the repository that the planner is shown.
    pub base: Option<CommitId>,
    /// How to go about it.
    pub style: PlanningStyle,
    pub understanding: Option<GoalUnderstanding>,
    pub tasks: Vec<Subtask>,
    pub actions: ActionPlan,
    /// A plan to begin from.
    pub draft: Option<SavedPlan>,
    /// The issues the judge found in the plan.
    pub issues: Vec<String>,
    /// What would make it better.
    pub suggestions: Vec<String>,
    pub tools: Vec<String>,
    /// The commands of the project's own checks.
    pub checks: Vec<String>,
    /// Tasks that may still be added.
    pub max_tasks: u32,
    pub task: Option<TaskMaterial>,
    /// All tasks, where the whole result is judged.
    pub outcomes: Vec<TaskMaterial>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelAnswer {
    /// The model that answered, as `provider/model`.
    pub model: String,
    #[serde(default)]
    pub usage: Usage,
    /// The answer as parsed.
    pub reading: ParsedAnswer,
}

/// An answer of a model, as parsed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParsedAnswer {
    /// A document of the form asked for.
    Document(Document),
    Unreadable {
        /// What is wrong with it.
        problem: Redacted,
        text: Redacted,
    },
    /// Nobody answered: no key, no connection, no credit, no time.
    Unanswered { why: Redacted },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonQuestion {
    /// What it is about, in a sentence.
    pub about: Redacted,
    /// The questions; none where a yes or no is asked for.
    pub questions: Vec<Redacted>,
    pub kind: PersonQuestionKind,
    /// Seconds to wait; then nobody is there.
    pub within: u32,
}

/// What is asked of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PersonQuestionKind {
    Clarification,
    /// A yes or a no.
    Approval,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PersonAnswer {
    Said(Vec<Remark>),
    Approved {
        by: Redacted,
    },
    Refused {
        by: Redacted,
    },
    /// Nothing: nobody is there, or nobody answered in time.
    Nobody,
}
