//! Preparing a command: everything that is needed to execute it, gathered from the run's state.

use fixpoint_vocabulary::ask::{
    Ask, CheckOutcome, Material, ModelQuestion, QuestionKind, Repair, TaskMaterial,
};
use fixpoint_vocabulary::documents::{ActionPlan, Subtask};
use fixpoint_vocabulary::prepared::{PreparedAction, PreparedAttempt, PreparedCommand, TaskContext};
use fixpoint_vocabulary::settings::ScopeSettings;
use fixpoint_vocabulary::work::{AttemptCommand, Command, CommandId, ReportedFailure};
use fixpoint_vocabulary::{Redacted, Redactor, TaskId, counted};

use super::planning::CachedPlan;
use super::{InFlight, Owner, Run, TaskKind, TaskNode};
use crate::prelude::*;
use crate::task_run::TaskRun;

impl Run {
    /// A command in flight with everything that is needed to execute it; `None` where it is not in flight.
    pub fn prepare(&self, id: CommandId) -> Option<PreparedCommand> {
        let InFlight { owner, command } = self.in_flight.get(&id)?;
        let node = owner.task().and_then(|task| self.task(task));
        Some(PreparedCommand {
            action: self.prepare_action(owner, node, command),
            task: node.and_then(|node| self.task_brief(node)),
            checks: Arc::clone(&self.checks),
            tree: self.planning.base.as_ref().map(|base| base.tree.clone()),
            tools: self.plan_options().map(|options| options.tools.clone()).unwrap_or_default(),
        })
    }

    fn prepare_action(&self, owner: &Owner, node: Option<&TaskNode>, command: &Command) -> PreparedAction {
        let task = node.and_then(|node| node.run.as_ref());
        match command {
            Command::TakeBase => PreparedAction::TakeBase,
            Command::RunChecks(run) => PreparedAction::RunChecks(run.clone()),
            Command::RunAttempt(command) => PreparedAction::RunAttempt(self.prepare_attempt(task, command)),
            Command::RestorePaths(restore) => PreparedAction::RestorePaths(restore.clone()),
            Command::FindProtected(range) => {
                PreparedAction::FindProtected(range.clone(), self.base_checks.baseline.tests())
            }
            Command::Merge(merge) => PreparedAction::Merge(merge.clone()),
            Command::Ask(question) => PreparedAction::Ask(Box::new(self.prepare_ask(owner, task, question))),
            Command::AskPerson(ask) => PreparedAction::AskPerson(ask.clone()),
            Command::FindCachedPlan => PreparedAction::FindCachedPlan,
            Command::StorePlan => PreparedAction::StorePlan(self.plan_to_store().map(Box::new)),
            Command::Deliver(delivery) => PreparedAction::Deliver(delivery.clone()),
        }
    }

    fn prepare_attempt(&self, task: Option<&TaskRun>, command: &AttemptCommand) -> PreparedAttempt {
        let attempt = match task {
            Some(task) => task.prepared_attempt(command),
            None => PreparedAttempt::new(command.clone()),
        };
        PreparedAttempt { money: self.ledger.money_left(), said: self.planning.remarks.clone(), ..attempt }
    }

    fn prepare_ask(&self, owner: &Owner, task: Option<&TaskRun>, question: &ModelQuestion) -> Ask {
        let rejected = self.rejected.iter().rev().find(|(whose, _)| whose == owner);
        let last = match rejected {
            Some((_, rejected)) => Some(&rejected.text),
            None => task.and_then(TaskRun::rejected_answer),
        };
        let repair = question.retry.as_ref().map(|retry| Repair {
            tries: retry.tries,
            problem: retry.problem.clone(),
            answer: last.cloned().unwrap_or_default(),
        });
        Ask { about: question.about.clone(), repair, material: self.material(&question.about) }
    }

    /// A task as an agent is told it. The only task of a run is told in its spec.
    fn task_brief(&self, node: &TaskNode) -> Option<TaskContext> {
        let spec = self.spec.as_ref()?;
        if node.kind == TaskKind::Given {
            return None;
        }
        let scope = &spec.settings.scope;
        let own = &node.task.scope_paths;
        let allowed_paths = if own.is_empty() { scope.allowed_paths.clone() } else { own.clone() };
        Some(TaskContext {
            task: node.id().clone(),
            goal: self.task_prompt(&node.task, spec.goal.as_str()),
            scope: ScopeSettings { allowed_paths, ..scope.clone() },
            goals: node.goals.clone(),
        })
    }

    fn task_prompt(&self, task: &Subtask, goal: &str) -> Redacted {
        let mut text = task.description.clone();
        if !task.acceptance.is_empty() {
            let items = (1u32..).zip(&task.acceptance).map(|(n, item)| format!("- A{n}: {item}"));
            text.push_str(&format!("\n\nIt is done when:\n{}", items.collect::<Vec<_>>().join("\n")));
        }
        if !task.context.trim().is_empty() {
            text.push_str(&format!("\n\nWhat you should know:\n{}", task.context.trim()));
        }
        let steps = self.steps_of(&task.id);
        if !steps.is_empty() {
            text.push_str(&format!("\n\nA way to go about it:\n{}", steps.join("\n")));
        }
        if task.description != goal {
            text.push_str(&format!(
                "\n\nThis is one part of a larger goal; do only this part. The larger goal:\n{goal}"
            ));
        }
        Redactor::default().redact(&text)
    }

    fn steps_of(&self, task: &TaskId) -> Vec<String> {
        let actions = self.review.plan().map(|plan| plan.actions.actions.as_slice()).unwrap_or_default();
        let own = actions.iter().filter(|action| action.task_id == *task);
        own.map(|action| format!("- {}", action.purpose)).collect()
    }

    fn material(&self, about: &QuestionKind) -> Material {
        let planning = &self.planning;
        let goal = self.spec.as_ref().map(|spec| spec.goal.clone()).unwrap_or_default();
        let revision = if let QuestionKind::JudgePlan { revision, .. } = about {
            self.review.revisions.get(*revision as usize)
        } else {
            self.review.plan()
        };
        let decomposed = planning.decomposition.as_ref().map(|found| found.subtasks.clone());
        let tasks = revision.map(|plan| plan.tasks.clone()).or(decomposed).unwrap_or_default();
        let feedback = self.review.decisions.last().and_then(|answer| answer.feedback.clone());
        let (issues, suggestions) =
            feedback.map(|feedback| (feedback.issues, feedback.suggestions)).unwrap_or_default();
        let options = self.plan_options();
        let style = options.map(|options| options.style).unwrap_or_default();
        Material {
            goal,
            remarks: planning.remarks.clone(),
            person: planning.person,
            base: planning.base.as_ref().map(|base| base.commit.clone()),
            style: fixpoint_vocabulary::ask::PlanningStyle { level: self.level(), ..style },
            understanding: planning.understanding.clone(),
            tasks,
            actions: revision.map_or_else(ActionPlan::default, |plan| plan.actions.clone()),
            draft: match &planning.cached {
                CachedPlan::SavedPlan(draft) => Some((**draft).clone()),
                CachedPlan::NotLookedUp | CachedPlan::Missing => None,
            },
            issues,
            suggestions,
            tools: options.map(|options| options.tools.clone()).unwrap_or_default(),
            checks: self.checks.iter().map(|placed| placed.check.command.clone()).collect(),
            max_tasks: self.most_tasks(about),
            task: about.task().and_then(|task| self.task(task)).map(|node| self.task_material(node)),
            outcomes: if let QuestionKind::JudgeWhole { .. } = about {
                self.tasks().map(|node| self.task_material(node)).collect()
            } else {
                Vec::new()
            },
        }
    }

    /// Tasks that the answer may have.
    fn most_tasks(&self, about: &QuestionKind) -> u32 {
        let Some(settings) = self.settings() else { return 1 };
        let room = self.plan_bounds(self.graph.len()).max_tasks;
        if let QuestionKind::ReplanTask { .. } = about {
            room.min(settings.replanning.max_children)
        } else if let QuestionKind::JudgeWhole { .. } = about {
            room.min(settings.integration.max_additional_tasks)
        } else {
            room
        }
    }

    fn task_material(&self, node: &TaskNode) -> TaskMaterial {
        let run = node.run.as_ref();
        let judgement = run.and_then(TaskRun::judgement);
        let said = judgement.map(|said| said.answer.clone());
        let commit = run.and_then(|run| run.result().or_else(|| run.best_result()));
        let origin = run.and_then(|run| run.baseline().base.as_ref());
        TaskMaterial {
            task: node.task.clone(),
            state: node.state,
            attempts: run.map_or(0, TaskRun::attempts),
            failures: run.map(TaskRun::lasting_failures).unwrap_or_default(),
            outside: run.map(|run| run.outside().to_vec()).unwrap_or_default(),
            checks: self.outcomes_of(run),
            reason: Redactor::default().redact(said.as_ref().map_or("", |said| said.reason.as_str())),
            missing: said.map(|said| said.missing_requirements).unwrap_or_default(),
            last_attempt: node.last_attempt,
            commits: commit
                .zip(origin)
                .map(|(commit, origin)| (commit.commit.clone(), origin.commit.clone())),
        }
    }

    /// What the checks showed of a task, a line each.
    fn outcomes_of(&self, run: Option<&TaskRun>) -> Vec<CheckOutcome> {
        let reports = run.into_iter().flat_map(TaskRun::reports);
        let outcome = |report: &fixpoint_vocabulary::work::CheckReport| {
            let placed = self.checks.get(report.check as usize)?;
            let failing: Vec<String> = report
                .failures
                .iter()
                .take(5)
                .map(|failure: &ReportedFailure| failure.id().to_string())
                .collect();
            let outcome = match (report.failures.is_empty(), report.counted) {
                (true, 0) => "passed".to_string(),
                (true, tests) => format!("passed, {}", counted(tests, "test")),
                (false, _) => format!("{} failing: {}", report.failures.len(), failing.join(", ")),
            };
            Some(CheckOutcome { command: placed.check.command.clone(), outcome })
        };
        reports.filter_map(outcome).collect()
    }
}
