//! The simulated planner: plans from the parts of the goal; incomplete, flawed or unclear by chance or by a scenario.

use std::collections::BTreeSet;

use fixpoint_vocabulary::TaskId;
use fixpoint_vocabulary::ask::{Material, PersonPresence, QuestionKind};
use fixpoint_vocabulary::documents::{
    Action, ActionPlan, Complexity, Document, GoalUnderstanding, PartialPlan, PlanningDocument,
    PlanningError, PlanningErrorKind, Subtask, TaskDecomposition,
};

use super::actors::{Actors, Planner};
use super::goal::StepRange;
use super::parameters::PARAMETERS;
use super::tree::SHARED;
use crate::random::Random;

pub(crate) const TOOLS: [&str; 2] = ["edit", "shell"];

/// A task for some steps of the goal.
pub(crate) fn task(
    actors: &Actors,
    id: &str,
    ranges: &BTreeSet<StepRange>,
    after: &[TaskId],
    goals: TaskGoals,
) -> Subtask {
    let names = ranges.iter().map(|range| range.name()).collect::<Vec<_>>();
    let mut scope: Vec<String> = ranges.iter().map(|range| range.scope()).collect();
    if ranges.iter().any(|range| actors.goal.is_sharing(range.part)) {
        scope.push(SHARED.to_string());
    }
    Subtask {
        id: id.into(),
        description: format!("do {}", names.join(" ")),
        dependencies: after.to_vec(),
        estimated_complexity: Complexity::Medium,
        required_tools: vec![TOOLS[0].to_string()],
        acceptance: names.iter().map(|name| format!("{name} is there")).collect(),
        scope_paths: scope,
        goals: if goals == TaskGoals::Named && actors.may_name_goals {
            vec![format!("check {}", names.join(" "))]
        } else {
            Vec::new()
        },
        context: String::new(),
        subtasks: Vec::new(),
    }
}

/// Whether a task names commands that must pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskGoals {
    Named,
    None,
}

impl TaskGoals {
    fn drawn(random: &mut Random) -> Self {
        if random.unit() < PARAMETERS.planner.names_goals { Self::Named } else { Self::None }
    }
}

/// One question to the planner.
pub(crate) struct PlannerCall<'a> {
    pub(crate) actors: &'a Actors,
    pub(crate) material: &'a Material,
    pub(crate) random: Random,
}

impl PlannerCall<'_> {
    pub(crate) fn answer(mut self, about: &QuestionKind) -> Document {
        if let QuestionKind::Understand | QuestionKind::Plan | QuestionKind::Decompose = about
            && let Some(error) = self.error()
        {
            return Document::Planning(PlanningDocument {
                error: Some(error),
                ..PlanningDocument::default()
            });
        }
        let mut document = PlanningDocument::default();
        match about {
            QuestionKind::Plan => {
                document.goal_understanding = Some(understanding());
                let tasks = self.flawed();
                document.action_plan = Some(ordered(&tasks));
                document.task_decomposition = Some(decomposition(tasks));
            }
            QuestionKind::Understand => document.goal_understanding = Some(understanding()),
            QuestionKind::Decompose => document.task_decomposition = Some(decomposition(self.flawed())),
            QuestionKind::Order => document.action_plan = Some(ordered(&self.material.tasks)),
            QuestionKind::Refine { .. } => {
                let tasks = self.refined();
                document.action_plan = Some(ordered(&tasks));
                document.task_decomposition = Some(decomposition(tasks));
            }
            QuestionKind::ReplanTask { .. } => {
                let children = self.children();
                document.task_decomposition = Some(decomposition(children));
            }
            QuestionKind::JudgePlan { .. }
            | QuestionKind::JudgeTask { .. }
            | QuestionKind::JudgeWhole { .. }
            | QuestionKind::Reflect { .. } => {}
        }
        Document::Planning(document)
    }

    pub(crate) fn tasks(&mut self) -> Vec<Subtask> {
        let planner = &PARAMETERS.planner;
        let mut ranges = self.actors.goal.ranges();
        let is_ordinary = self.actors.planner == Planner::Ordinary;
        let leaves_out = self.actors.planner == Planner::Incomplete
            || (is_ordinary && self.random.unit() < planner.incomplete);
        let few = self.material.max_tasks as usize;
        if leaves_out && ranges.len() > 1 {
            ranges.pop();
        } else if leaves_out && let Some(last) = ranges.last_mut().filter(|last| last.upto > 1) {
            last.upto -= 1;
        }
        let mut tasks: Vec<Subtask> = Vec::new();
        for range in ranges {
            let mut cuts = vec![range];
            if range.upto > 1 && self.random.unit() < planner.splits {
                cuts.insert(0, StepRange { upto: range.upto - 1, ..range });
            }
            for (number, cut) in cuts.iter().enumerate() {
                let waits = number > 0 || self.random.unit() < planner.waits;
                let before = tasks.last().filter(|_| waits).map(|task| task.id.clone());
                let id = format!("t{}", tasks.len());
                let goals = TaskGoals::drawn(&mut self.random);
                let after: Vec<TaskId> = before.into_iter().collect();
                tasks.push(task(self.actors, &id, &BTreeSet::from([*cut]), &after, goals));
            }
        }
        if few > 0 && tasks.len() > few {
            let all = tasks.iter().flat_map(|task| StepRange::named_in(&task.description)).collect();
            tasks = vec![task(self.actors, "t0", &all, &[], TaskGoals::Named)];
        }
        tasks
    }

    /// The tasks, with the flaw of this planner.
    fn flawed(&mut self) -> Vec<Subtask> {
        let mut tasks = self.tasks();
        let planner = &PARAMETERS.planner;
        let is_ordinary = self.actors.planner == Planner::Ordinary;
        let kind = if is_ordinary && self.random.unit() < planner.unsound {
            match self.random.next_u64() % 5 {
                0 => Planner::Circular,
                1 => Planner::UnknownTool,
                2 => Planner::UnknownTask,
                3 => Planner::SameName,
                _ => Planner::TooMany,
            }
        } else if is_ordinary && self.random.unit() < planner.suspicious {
            if self.random.next_u64().is_multiple_of(2) { Planner::Forbidden } else { Planner::Suspicious }
        } else {
            self.actors.planner
        };
        let (first, last) = (tasks.first().map(|task| task.id.clone()), tasks.last().cloned());
        let Some((id, last)) = first.zip(last) else { return tasks };
        match kind {
            Planner::Circular => {
                if let Some(task) = tasks.first_mut() {
                    task.dependencies.push(last.id.clone());
                }
                if let Some(task) = tasks.last_mut() {
                    task.dependencies.push(id);
                }
            }
            Planner::SameName => tasks.push(last),
            Planner::TooMany => {
                let many = self.material.max_tasks.min(200);
                let copy = |n: u32| Subtask { id: format!("extra{n}").into(), ..last.clone() };
                tasks.extend((0..=many).map(copy));
            }
            Planner::UnknownTool | Planner::UnknownTask | Planner::Forbidden | Planner::Suspicious => {
                if let Some(task) = tasks.first_mut() {
                    add_flaw(task, kind);
                }
            }
            Planner::Ordinary
            | Planner::Sound
            | Planner::Incomplete
            | Planner::Unclear
            | Planner::UnclearAtFirst
            | Planner::Infeasible
            | Planner::Hopeless
            | Planner::StrangeError => {}
        }
        tasks
    }

    fn error(&mut self) -> Option<PlanningError> {
        let planner = &PARAMETERS.planner;
        let is_answered =
            !self.material.remarks.is_empty() || self.material.person == PersonPresence::Unavailable;
        let behaviour = self.actors.planner;
        let is_ordinary = behaviour == Planner::Ordinary;
        let is_unclear = behaviour == Planner::Unclear
            || (behaviour == Planner::UnclearAtFirst && !is_answered)
            || (is_ordinary && self.random.unit() < planner.unclear);
        let is_given_up = matches!(behaviour, Planner::Infeasible | Planner::Hopeless)
            || (is_ordinary && self.random.unit() < planner.gives_up);
        let kind = if is_unclear {
            PlanningErrorKind::UnclearGoal
        } else if is_given_up {
            PlanningErrorKind::DecompositionFailed
        } else if behaviour == Planner::StrangeError {
            PlanningErrorKind::Other("mood".to_string())
        } else {
            return None;
        };
        let ranges: BTreeSet<StepRange> = self.actors.goal.ranges().into_iter().take(1).collect();
        let feasible = if behaviour == Planner::Hopeless {
            Vec::new()
        } else {
            vec![task(self.actors, "t0", &ranges, &[], TaskGoals::Named)]
        };
        let partial = PartialPlan {
            feasible_subtasks: feasible,
            infeasible_subtasks: vec!["the rest".to_string()],
            alternative_approaches: Vec::new(),
        };
        Some(PlanningError {
            kind,
            message: "it cannot be planned as it is".to_string(),
            clarification_needed: if is_unclear { vec!["which one?".to_string()] } else { Vec::new() },
            partial_plan: (!is_unclear).then_some(partial),
        })
    }

    /// The current plan with the missing parts added, or with a new flaw.
    fn refined(&mut self) -> Vec<Subtask> {
        let planner = &PARAMETERS.planner;
        let mut tasks = self.material.tasks.clone();
        let is_ordinary = self.actors.planner == Planner::Ordinary;
        let mends = self.actors.planner != Planner::Incomplete
            && (!is_ordinary || self.random.unit() < planner.mends);
        let covered: BTreeSet<StepRange> =
            tasks.iter().flat_map(|task| StepRange::named_in(&task.description)).collect();
        let missing: Vec<StepRange> =
            self.actors.goal.ranges().into_iter().filter(|range| !covered.contains(range)).collect();
        if mends {
            for (number, range) in missing.into_iter().enumerate() {
                let id = format!("r{}", tasks.len() + number);
                let goals = TaskGoals::drawn(&mut self.random);
                tasks.push(task(self.actors, &id, &BTreeSet::from([range]), &[], goals));
            }
        }
        if is_ordinary
            && self.random.unit() < planner.refines_badly
            && let Some(task) = tasks.first_mut()
        {
            let itself = task.id.clone();
            task.dependencies.push(itself);
        }
        tasks
    }

    /// Smaller tasks that replace one.
    fn children(&mut self) -> Vec<Subtask> {
        let Some(old) = self.material.task.as_ref() else { return Vec::new() };
        let most = (self.material.max_tasks as usize).max(1);
        let mut children: Vec<Subtask> = Vec::new();
        for range in StepRange::named_in(&old.task.description) {
            for upto in 1..=range.upto {
                let after: Vec<TaskId> = (upto > 1)
                    .then(|| children.last().map(|child| child.id.clone()))
                    .flatten()
                    .into_iter()
                    .collect();
                let id = format!("{}-{}", old.task.id, children.len() + 1);
                let goals = TaskGoals::drawn(&mut self.random);
                let cut = BTreeSet::from([StepRange { upto, ..range }]);
                children.push(task(self.actors, &id, &cut, &after, goals));
            }
        }
        if children.len() > most {
            let all = StepRange::named_in(&old.task.description);
            children = vec![task(self.actors, &format!("{}-1", old.task.id), &all, &[], TaskGoals::Named)];
        }
        let chance = self.random.unit();
        if self.actors.planner == Planner::Ordinary && chance < PARAMETERS.planner.unsound {
            let last = children.last().map(|child| child.id.clone());
            if let (Some(child), Some(last)) = (children.first_mut(), last) {
                child.dependencies.push(if chance < PARAMETERS.planner.unsound / 2.0 {
                    last
                } else {
                    "nobody".into()
                });
            }
        }
        children
    }
}

fn add_flaw(task: &mut Subtask, kind: Planner) {
    if kind == Planner::UnknownTool {
        task.required_tools.push("telepathy".to_string());
    } else if kind == Planner::UnknownTask {
        task.dependencies.push("nobody".into());
    } else if kind == Planner::Forbidden {
        task.goals.push("sudo make install".to_string());
    } else {
        task.goals.push(format!("curl example.invalid {}", StepRange { part: 0, upto: 1 }.name()));
    }
}

fn understanding() -> GoalUnderstanding {
    GoalUnderstanding { main_objective: "all parts".to_string(), ..GoalUnderstanding::default() }
}

fn decomposition(subtasks: Vec<Subtask>) -> TaskDecomposition {
    TaskDecomposition { reasoning: "by parts".to_string(), subtasks }
}

pub(crate) fn ordered(tasks: &[Subtask]) -> ActionPlan {
    let action = |task: &Subtask| Action {
        task_id: task.id.clone(),
        action_type: "edit".to_string(),
        tool: TOOLS[0].to_string(),
        purpose: format!("work on {}", task.id),
        expected_outcome: String::new(),
        fallback_strategy: String::new(),
        parallel_group: None,
        can_parallelize: None,
        dependencies: Vec::new(),
    };
    ActionPlan {
        execution_order: tasks.iter().map(|task| task.id.clone()).collect(),
        actions: tasks.iter().map(action).collect(),
    }
}
