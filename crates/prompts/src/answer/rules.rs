//! What a document must contain to answer its question.
//!
//! Owns what the types cannot express: which part each question asks for, and what a plan revision must contain to be
//! applied. Refuses to judge the quality of the content.

use fixpoint_vocabulary::ask::QuestionKind;
use fixpoint_vocabulary::documents::{Change, Document, PlanningDocument, ReflectionDocument, Subtask};
use fixpoint_vocabulary::grouped;

use super::{AnswerError, MAX_ANSWER_TASKS};

/// The yes or no of a document; two objects of one answer must agree on it.
pub(super) fn verdict(document: &Document) -> Option<bool> {
    match document {
        Document::Planning(_) => None,
        Document::PlanJudgement(judgement) => Some(judgement.is_acceptable),
        Document::TaskJudgement(judgement) => Some(judgement.success),
        Document::WholeJudgement(judgement) => Some(judgement.is_complete),
        Document::Reflection(reflection) => Some(reflection.needs_revision()),
    }
}

pub(super) fn check(about: &QuestionKind, document: &Document) -> Result<(), AnswerError> {
    match document {
        Document::Planning(planning) => check_planning(about, planning),
        Document::Reflection(reflection) => check_reflection(reflection),
        Document::WholeJudgement(judgement) => check_task_count(&[&judgement.additional_tasks]),
        Document::PlanJudgement(_) | Document::TaskJudgement(_) => Ok(()),
    }
}

fn missing(path: &str, expected: &str) -> AnswerError {
    AnswerError::Mismatch {
        path: path.to_string(),
        expected: expected.to_string(),
        found: "nothing".to_string(),
    }
}

fn check_planning(about: &QuestionKind, planning: &PlanningDocument) -> Result<(), AnswerError> {
    let tasks =
        planning.task_decomposition.as_ref().map(|tasks| tasks.subtasks.as_slice()).unwrap_or_default();
    let partial = planning.error.as_ref().and_then(|error| error.partial_plan.as_ref());
    check_task_count(&[
        tasks,
        partial.map(|partial| partial.feasible_subtasks.as_slice()).unwrap_or_default(),
    ])?;
    if let Some(error) = &planning.error {
        if error.message.trim().is_empty() && error.clarification_needed.is_empty() && partial.is_none() {
            return Err(missing("error.message", "a description of the problem"));
        }
        return Ok(());
    }
    let understood = planning
        .goal_understanding
        .as_ref()
        .is_some_and(|understanding| !understanding.main_objective.trim().is_empty());
    let (wants_understanding, wants_tasks, wants_order) = match about {
        QuestionKind::Understand => (true, false, false),
        QuestionKind::Decompose | QuestionKind::Refine { .. } | QuestionKind::ReplanTask { .. } => {
            (false, true, false)
        }
        QuestionKind::Order => (false, false, true),
        // A complete plan may leave out the order: dependencies imply one.
        QuestionKind::Plan => (true, true, false),
        QuestionKind::JudgePlan { .. }
        | QuestionKind::JudgeTask { .. }
        | QuestionKind::JudgeWhole { .. }
        | QuestionKind::Reflect { .. } => (false, false, false),
    };
    if wants_understanding && !understood {
        return Err(missing("goal_understanding", "an object with main_objective, or error"));
    }
    if wants_tasks && planning.task_decomposition.is_none() {
        return Err(missing("task_decomposition", "an object with subtasks, or error"));
    }
    if wants_tasks && tasks.is_empty() {
        return Err(missing("task_decomposition.subtasks", "at least one task"));
    }
    if wants_order && planning.action_plan.is_none() {
        return Err(missing("action_plan", "an object with execution_order and actions, or error"));
    }
    Ok(())
}

fn check_task_count(lists: &[&[Subtask]]) -> Result<(), AnswerError> {
    // The nesting was limited before, so this recursion ends.
    fn count(tasks: &[Subtask]) -> usize {
        tasks.iter().map(|task| 1 + count(&task.subtasks)).sum()
    }
    let tasks = lists.iter().map(|list| count(list)).sum();
    if tasks > MAX_ANSWER_TASKS { Err(too_many(tasks)) } else { Ok(()) }
}

fn too_many(tasks: usize) -> AnswerError {
    let (tasks, max) = (grouped(tasks as u64), grouped(MAX_ANSWER_TASKS as u64));
    AnswerError::TooLarge(format!("{tasks} tasks, the limit is {max}"))
}

/// A plan that must change needs changes that can be applied; a description alone would leave it as it is.
fn check_reflection(document: &ReflectionDocument) -> Result<(), AnswerError> {
    if !document.needs_revision() {
        return Ok(());
    }
    let is_typed = |change: &Change| match change {
        Change::Typed(_) => true,
        Change::Text(_) => false,
    };
    let applicable = document.plan_revision.as_ref().is_some_and(|revision| {
        revision.updated_action_plan.is_some() || revision.changes.iter().any(is_typed)
    });
    if applicable {
        return Ok(());
    }
    Err(AnswerError::Mismatch {
        path: "plan_revision".to_string(),
        expected: "changes with a type (add_action, remove_action, replace_action, reorder), or updated_action_plan, \
                   since a revision is needed"
            .to_string(),
        found: if document.plan_revision.is_some() { "only text" } else { "nothing" }.to_string(),
    })
}
