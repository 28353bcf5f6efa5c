//! What there is to know, as texts.
//!
//! Owns how tasks, failures, checks and remarks are written down for a model. Where the lines of a text mean something
//! (A1, A2 …), what others wrote stands on one line, so that it cannot pretend to be the next. Refuses to choose what is
//! shown and to cut it.

use fixpoint_vocabulary::TaskState;
use fixpoint_vocabulary::ask::{CheckOutcome, Draft, Remark, TaskMaterial};
use fixpoint_vocabulary::documents::{ActionPlan, GoalUnderstanding, Subtask};
use fixpoint_vocabulary::work::ReportedFailure;
use serde::Serialize;

use crate::diff::Hints;
use crate::quote::{one_line, plain};

/// What stands where a list that must be there is empty.
pub(crate) const NONE: &str = "(none)";

/// A document as JSON on one line.
fn json(document: &impl Serialize) -> String {
    serde_json::to_string(document).unwrap_or_default()
}

/// Tasks as JSON, one on a line, the way an answer writes them.
pub(crate) fn tasks(tasks: &[Subtask]) -> String {
    tasks.iter().map(json).collect::<Vec<_>>().join("\n")
}

/// What is wanted, as JSON.
pub(crate) fn understanding(understanding: Option<&GoalUnderstanding>) -> String {
    understanding.map(json).unwrap_or_default()
}

/// Order and steps as JSON.
pub(crate) fn actions(actions: &ActionPlan) -> String {
    if actions == &ActionPlan::default() { String::new() } else { json(actions) }
}

/// A draft, each part on a line of its own.
pub(crate) fn draft(draft: Option<&Draft>) -> String {
    draft.map_or_else(String::new, |draft| {
        let goal = format!("goal: {}", one_line(draft.goal.as_str()));
        [goal, json(&draft.understanding), tasks(&draft.tasks), actions(&draft.actions)].join("\n")
    })
}

/// Items, one on a line.
pub(crate) fn list(items: &[String]) -> String {
    items.iter().map(|item| format!("- {}", one_line(item))).collect::<Vec<_>>().join("\n")
}

/// Names on one line.
pub(crate) fn names(names: &[String]) -> String {
    names.iter().map(|name| one_line(name)).collect::<Vec<_>>().join(", ")
}

/// Remarks with who made them. Their further lines are indented, so that none can be put into another's mouth.
pub(crate) fn remarks(remarks: &[Remark]) -> String {
    let said = |remark: &Remark| {
        let text = plain(remark.text.as_str()).trim().replace('\n', "\n    ");
        format!("{}: {text}", one_line(remark.by.as_str()))
    };
    remarks.iter().map(said).collect::<Vec<_>>().join("\n")
}

/// Checks with what they showed.
pub(crate) fn checks(checks: &[CheckOutcome]) -> String {
    let shown =
        |check: &CheckOutcome| format!("- {}: {}", one_line(&check.command), one_line(&check.outcome));
    checks.iter().map(shown).collect::<Vec<_>>().join("\n")
}

/// What fails, and for how many attempts in a row; the most stubborn first.
pub(crate) fn failures(failures: &[(ReportedFailure, u32)]) -> String {
    let mut failures: Vec<&(ReportedFailure, u32)> = failures.iter().collect();
    failures.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    let told = |(failure, times): &&(ReportedFailure, u32)| {
        let place =
            failure.place.as_ref().map(|place| format!(" at {}", one_line(place))).unwrap_or_default();
        let name = one_line(&failure.id().to_string());
        format!("- {name}{place} (attempts in a row: {times}): {}", one_line(failure.message.as_str()))
    };
    failures.iter().map(told).collect::<Vec<_>>().join("\n")
}

/// What the judge said last, and which items it missed.
pub(crate) fn previous(task: &TaskMaterial) -> String {
    let missing =
        if task.missing.is_empty() { String::new() } else { format!("missing: {}\n", names(&task.missing)) };
    let reason = task.reason.as_str();
    if reason.trim().is_empty() { missing } else { format!("{missing}reason: {}", one_line(reason)) }
}

/// What came of a task: what its checks showed, what fails, what was changed beside it, what the judge said.
pub(crate) fn result(task: &TaskMaterial) -> String {
    let outside = match list(&task.outside) {
        outside if outside.is_empty() => outside,
        outside => format!("changed outside the scope:\n{outside}"),
    };
    let parts = [checks(&task.checks), failures(&task.failures), outside, previous(task)];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// One task with everything it is held to.
pub(crate) fn task(material: &TaskMaterial) -> String {
    let task = &material.task;
    let mut lines = vec![status(material)];
    let items = task.acceptance.iter().enumerate();
    lines.extend(items.map(|(at, item)| format!("A{}. {}", at + 1, one_line(item))));
    if task.acceptance.is_empty() {
        // A judge that misses something needs a number for it.
        lines.push("A1. what the description says is done".to_string());
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

/// One task by its name, its state and what it is for.
pub(crate) fn status(material: &TaskMaterial) -> String {
    let task = &material.task;
    let (id, description) = (one_line(task.id.as_str()), one_line(&task.description));
    format!("{id} [{}, attempts: {}]: {description}", state(material.state), material.attempts)
}

const fn state(state: TaskState) -> &'static str {
    match state {
        TaskState::Ready => "not begun",
        TaskState::Running => "under way",
        TaskState::NeedsContinuation => "not done yet",
        TaskState::Done => "done",
        TaskState::Blocked => "blocked",
        TaskState::Cancelled => "called off",
        TaskState::ReplacedByReplan => "replaced by others",
    }
}

/// All tasks with what became of them.
pub(crate) fn outcomes(outcomes: &[TaskMaterial]) -> String {
    let told = |material: &TaskMaterial| {
        let parts = [task(material), checks(&material.checks), previous(material)];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
    };
    outcomes.iter().map(told).collect::<Vec<_>>().join("\n\n")
}

/// What tells which files of a diff matter.
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
