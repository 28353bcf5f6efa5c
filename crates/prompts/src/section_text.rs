//! The text of each section.
//!
//! Owns how tasks, failures, checks and remarks are written for a model. Where each line is an item (A1, A2 …), text of
//! others is put on one line, so that it cannot pretend to be the next item. Refuses to choose sections and to shorten
//! them.

use fixpoint_vocabulary::TaskState;
use fixpoint_vocabulary::ask::{CheckOutcome, Remark, SavedPlan, TaskMaterial};
use fixpoint_vocabulary::documents::{ActionPlan, GoalUnderstanding, Subtask};
use fixpoint_vocabulary::work::ReportedFailure;
use serde::Serialize;

use crate::diff::Hints;
use crate::quote::{one_line, sanitized};

/// Stands for an empty list in a section that must be there.
pub(crate) const NONE: &str = "(none)";

fn json(document: &impl Serialize) -> String {
    serde_json::to_string(document).unwrap_or_default()
}

/// One task per line, as JSON, in the form of an answer.
pub(crate) fn tasks(tasks: &[Subtask]) -> String {
    tasks.iter().map(json).collect::<Vec<_>>().join("\n")
}

pub(crate) fn understanding(understanding: Option<&GoalUnderstanding>) -> String {
    understanding.map(json).unwrap_or_default()
}

pub(crate) fn actions(actions: &ActionPlan) -> String {
    if actions == &ActionPlan::default() { String::new() } else { json(actions) }
}

pub(crate) fn draft(draft: Option<&SavedPlan>) -> String {
    draft.map_or_else(String::new, |draft| {
        let goal = format!("goal: {}", one_line(draft.goal.as_str()));
        [goal, json(&draft.understanding), tasks(&draft.tasks), actions(&draft.actions)].join("\n")
    })
}

pub(crate) fn list(items: &[String]) -> String {
    items.iter().map(|item| format!("- {}", one_line(item))).collect::<Vec<_>>().join("\n")
}

pub(crate) fn names(names: &[String]) -> String {
    names.iter().map(|name| one_line(name)).collect::<Vec<_>>().join(", ")
}

/// Remarks with their author. Further lines are indented, so that no remark can pretend to be by another person.
pub(crate) fn remarks(remarks: &[Remark]) -> String {
    let line = |remark: &Remark| {
        let text = sanitized(remark.text.as_str()).trim().replace('\n', "\n    ");
        format!("{}: {text}", one_line(remark.by.as_str()))
    };
    remarks.iter().map(line).collect::<Vec<_>>().join("\n")
}

pub(crate) fn checks(checks: &[CheckOutcome]) -> String {
    let line = |check: &CheckOutcome| format!("- {}: {}", one_line(&check.command), one_line(&check.outcome));
    checks.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Failures, those of the most attempts in a row first.
pub(crate) fn failures(failures: &[(ReportedFailure, u32)]) -> String {
    let mut failures: Vec<&(ReportedFailure, u32)> = failures.iter().collect();
    failures.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    let line = |(failure, times): &&(ReportedFailure, u32)| {
        let place =
            failure.place.as_ref().map(|place| format!(" at {}", one_line(place))).unwrap_or_default();
        let name = one_line(&failure.id().to_string());
        format!("- {name}{place} (attempts in a row: {times}): {}", one_line(failure.message.as_str()))
    };
    failures.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The judge's last reason, and the acceptance items it found missing.
pub(crate) fn last_judgement(task: &TaskMaterial) -> String {
    let missing =
        if task.missing.is_empty() { String::new() } else { format!("missing: {}\n", names(&task.missing)) };
    let reason = task.reason.as_str();
    if reason.trim().is_empty() { missing } else { format!("{missing}reason: {}", one_line(reason)) }
}

/// Check results, failures, changes outside the scope and the last judgement of a task.
pub(crate) fn result(task: &TaskMaterial) -> String {
    let outside = match list(&task.outside) {
        outside if outside.is_empty() => outside,
        outside => format!("changed outside the scope:\n{outside}"),
    };
    let parts = [checks(&task.checks), failures(&task.failures), outside, last_judgement(task)];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// One task with its acceptance criteria, scope, goals and context.
pub(crate) fn task(material: &TaskMaterial) -> String {
    let task = &material.task;
    let mut lines = vec![status(material)];
    let items = task.acceptance.iter().enumerate();
    lines.extend(items.map(|(at, item)| format!("A{}. {}", at + 1, one_line(item))));
    if task.acceptance.is_empty() {
        // The judge reports missing items by number, so there must be one.
        lines.push("A1. The description is fulfilled.".to_string());
    }
    let mut add = |name: &str, text: String| {
        if !text.is_empty() {
            lines.push(format!("{name}: {text}"));
        }
    };
    add("scope_paths", names(&task.scope_paths));
    add("goals", names(&task.goals));
    add(
        "dependencies",
        task.dependencies.iter().map(|id| one_line(id.as_str())).collect::<Vec<_>>().join(", "),
    );
    add("context", one_line(&task.context));
    lines.join("\n")
}

/// A task's id, state and description.
pub(crate) fn status(material: &TaskMaterial) -> String {
    let task = &material.task;
    let (id, description) = (one_line(task.id.as_str()), one_line(&task.description));
    format!("{id} [{}, attempts: {}]: {description}", state(material.state), material.attempts)
}

const fn state(state: TaskState) -> &'static str {
    match state {
        TaskState::Ready => "not started",
        TaskState::Running => "running",
        TaskState::NeedsContinuation => "not done yet",
        TaskState::Done => "done",
        TaskState::Blocked => "blocked",
        TaskState::Cancelled => "cancelled",
        TaskState::ReplacedByReplan => "replaced by other tasks",
    }
}

pub(crate) fn task_results(results: &[TaskMaterial]) -> String {
    let text = |material: &TaskMaterial| {
        let parts = [task(material), checks(&material.checks), last_judgement(material)];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
    };
    results.iter().map(text).collect::<Vec<_>>().join("\n\n")
}

/// Which files of a diff matter.
pub(crate) fn hints<'m>(materials: impl Iterator<Item = &'m TaskMaterial>) -> Hints {
    let mut hints = Hints::default();
    for material in materials {
        hints.scope.extend(material.task.scope_paths.iter().cloned());
        hints.named.extend(material.outside.iter().cloned());
        for (failure, _) in &material.failures {
            hints.add_paths_in(failure.place.as_deref().unwrap_or_default());
        }
        material.task.acceptance.iter().for_each(|item| hints.add_paths_in(item));
    }
    hints
}
