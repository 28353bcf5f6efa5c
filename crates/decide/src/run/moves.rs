//! What an event leads to, step by step, as data: what is recorded and folded, never decided again.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use fixpoint_vocabulary::ask::Remark;
use fixpoint_vocabulary::documents::{
    ActionPlan, GoalUnderstanding, PlanJudgement, Subtask, TaskDecomposition,
};
use fixpoint_vocabulary::settings::DecompositionLevel;
use fixpoint_vocabulary::work::{Base, Command, Event, Merged};
use fixpoint_vocabulary::{Cause, Redacted, TaskId, TaskState};
use serde::{Deserialize, Serialize};

use super::node::NodeKind;
use crate::refinement;
use crate::replanning::ReplanningInfo;
use crate::task_run::{self, Ground, TaskOrder};

/// Whose work a command is, beside that of tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// A task's own.
    Task(TaskId),
    /// The planning of the goal.
    Planning,
    /// The judgement of the plan.
    Review,
    /// The planning of a task anew.
    Replan(TaskId),
    /// The bringing together of two results.
    Merge(TaskId),
    /// The judgement of the whole.
    Whole,
    /// A look back after a task.
    Reflection(TaskId),
}

/// What a task was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum On {
    /// What happened.
    #[default]
    TheEvent,
    /// That it begins.
    Begun,
    /// That it stops.
    StopAsked,
    /// That it goes on.
    Resumed,
}

impl On {
    /// The event, as the task sees it.
    pub fn seen(self, event: &Event) -> Event {
        match self {
            Self::TheEvent => event.clone(),
            Self::Begun => Event::Begun,
            Self::StopAsked => Event::StopAsked,
            Self::Resumed => Event::resumed(),
        }
    }

    fn is_the_event(&self) -> bool {
        *self == Self::TheEvent
    }
}

/// Why an answer could not be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trouble {
    /// What is wrong with it.
    pub problem: Redacted,
    /// The answer, for the model to mend.
    pub text: Redacted,
}

/// Which plan is used where a plan made again is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mended {
    /// It was sound.
    No,
    /// The two plans, task by task.
    Merged,
    /// The plan before.
    Previous,
}

/// A task that is new in the graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NewTask {
    /// The task.
    pub task: Subtask,
    /// Where it comes from.
    pub kind: NodeKind,
    /// Where it stands in its lineage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lineage: Option<ReplanningInfo>,
    /// What it begins on, where that is not what it depends on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ground: Option<Ground>,
}

/// One step of a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Move {
    /// A task decided, and maybe wants something performed.
    Task {
        /// The task.
        task: TaskId,
        /// What it was told.
        #[serde(default, skip_serializing_if = "On::is_the_event")]
        on: On,
        /// What it decided.
        decision: task_run::Decision,
    },
    /// Something is to be performed for the run itself.
    Begin {
        /// For what.
        owner: Owner,
        /// What.
        command: Command,
    },
    /// Something would be performed if it could be; going on performs it.
    Hold {
        /// For what.
        owner: Owner,
        /// What.
        command: Command,
        /// Why not.
        cause: Cause,
    },
    /// An answer could not be used.
    Unusable {
        /// For what it was meant.
        owner: Owner,
        /// Why not.
        trouble: Trouble,
    },
    /// The run's base.
    BaseTaken {
        /// The base.
        base: Base,
    },
    /// People said something, or nobody did.
    Heard {
        /// What; nothing where nobody is there.
        said: Vec<Remark>,
    },
    /// What is unclear is assumed from now on.
    NobodyThere,
    /// The goal is understood.
    Understood {
        /// As what.
        understanding: GoalUnderstanding,
    },
    /// The tasks are known.
    Decomposed {
        /// The tasks.
        decomposition: TaskDecomposition,
    },
    /// The goal is to be cut less finely.
    Coarser {
        /// How finely.
        level: DecompositionLevel,
    },
    /// Only a part of the goal can be done, if that is agreed to.
    PartialOffered {
        /// The tasks that can be done.
        feasible: Vec<Subtask>,
        /// What cannot.
        infeasible: Vec<String>,
        /// What could be done instead.
        alternatives: Vec<String>,
    },
    /// A plan kept from earlier was found, or none.
    Recalled {
        /// Whether one was found.
        draft: Option<Box<fixpoint_vocabulary::ask::Draft>>,
    },
    /// A plan is there, to be judged.
    Planned {
        /// Its tasks.
        tasks: Vec<Subtask>,
        /// Their order and steps.
        actions: ActionPlan,
        /// Whether it is as the planner gave it.
        mended: Mended,
    },
    /// The judge said something of a plan.
    PlanScored {
        /// The revision of the plan, from 0.
        revision: u32,
        /// What it said.
        judgement: PlanJudgement,
    },
    /// What becomes of the plan.
    PlanDecided {
        /// What, and why.
        answer: refinement::Answer,
    },
    /// This plan goes on.
    PlanAccepted {
        /// Its revision, from 0.
        revision: u32,
    },
    /// The plan holds something that must not be run, or not without consent.
    PlanSuspect {
        /// What.
        findings: Vec<String>,
    },
    /// The plan is to be carried out: these are the tasks.
    TasksAdded {
        /// The tasks.
        tasks: Vec<NewTask>,
    },
    /// A task begins.
    TaskStarted {
        /// Everything that is fixed about it.
        order: Box<TaskOrder>,
    },
    /// A task stands elsewhere now.
    TaskMoved {
        /// The task.
        task: TaskId,
        /// Where.
        state: TaskState,
        /// Why, where it is blocked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<Cause>,
    },
    /// Smaller tasks take the place of one; who waited for it waits for them.
    TaskReplaced {
        /// The task.
        task: TaskId,
        /// The tasks in its place.
        children: Vec<NewTask>,
        /// Why.
        reason: Redacted,
    },
    /// A task waits for others than before.
    TaskRewired {
        /// The task.
        task: TaskId,
        /// What it waits for.
        dependencies: Vec<TaskId>,
    },
    /// Two results were brought together, or marked where they conflict.
    SidesMerged {
        /// The task of bringing them together.
        task: TaskId,
        /// What came of it.
        merged: Merged,
    },
    /// A result is not part of what is delivered.
    LeftOut {
        /// The task whose result it is.
        task: TaskId,
    },
    /// The judge said something of the whole.
    WholeJudged {
        /// Whether the goal is reached.
        is_complete: bool,
        /// What is missing.
        missing: Vec<String>,
    },
    /// A look back ended.
    Reflected {
        /// After which task.
        task: TaskId,
        /// What it came to.
        document: Option<Box<fixpoint_vocabulary::documents::ReflectionDocument>>,
    },
    /// The steps that are not done would be others, if that is agreed to.
    RevisionProposed {
        /// The order and the steps.
        actions: ActionPlan,
        /// The error it is to cure.
        error: String,
    },
    /// The steps that are not done are others now.
    Revised {
        /// The order and the steps.
        actions: ActionPlan,
        /// The error it is to cure.
        error: String,
    },
    /// What was held back is taken up.
    Released,
    /// The run waits for somebody.
    Pause {
        /// Why.
        cause: Cause,
    },
    /// The run is over.
    End {
        /// Why.
        cause: Cause,
    },
}

/// What follows from an event.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Decision {
    /// Step by step.
    pub moves: Vec<Move>,
}

impl Decision {
    /// What is to be performed, each with its place among the moves, which is part of its name.
    pub fn commands(&self) -> impl Iterator<Item = (u32, Owner, &Command)> {
        (0u32..).zip(&self.moves).filter_map(|(index, step)| {
            if let Move::Begin { owner, command } = step {
                return Some((index, owner.clone(), command));
            }
            let (task, decision) = step.of_task()?;
            decision.command.as_ref().map(|command| (index, Owner::Task(task.clone()), command))
        })
    }

    /// What tasks decided.
    pub fn of_tasks(&self) -> impl Iterator<Item = (&TaskId, &task_run::Decision)> {
        self.moves.iter().filter_map(Move::of_task)
    }
}

impl Move {
    /// What a task decided, where it is that.
    fn of_task(&self) -> Option<(&TaskId, &task_run::Decision)> {
        if let Self::Task { task, decision, .. } = self { Some((task, decision)) } else { None }
    }
}
