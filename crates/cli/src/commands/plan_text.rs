//! A plan, as people are shown it.

use fixpoint_decide::run::{Revision, Run};
use fixpoint_vocabulary::documents::Subtask;

use crate::display::score_words;

/// The plan of a run that went no further, in lines.
pub(crate) fn lines(run: &Run) -> Vec<String> {
    let Some(plan) = run.review().plan() else { return Vec::new() };
    let mut lines = Vec::new();
    if let Some(understanding) = &run.planning().understanding {
        lines.push(format!("Goal: {}", understanding.main_objective));
        lines.extend(listed("done when", &understanding.success_criteria));
        lines.extend(listed("but", &understanding.constraints));
        lines.extend(listed("assumed", &understanding.assumptions));
    }
    if let Some(partial) = &run.planning().partial {
        lines.extend(listed("not possible", &partial.infeasible));
        lines.extend(listed("instead", &partial.alternatives));
    }
    lines.push(head(plan, run));
    lines.extend(plan.tasks.iter().flat_map(task_lines));
    lines
}

fn head(plan: &Revision, run: &Run) -> String {
    let score = if plan.samples.is_empty() { String::new() } else { format!(", {}", score_words(plan, run)) };
    format!("Plan: {} tasks{}", plan.tasks.len(), score.trim_end_matches(','))
}

fn listed(name: &str, items: &[String]) -> Vec<String> {
    items.iter().map(|item| format!("  {name}: {item}")).collect()
}

fn task_lines(task: &Subtask) -> Vec<String> {
    let names = |ids: &[fixpoint_vocabulary::TaskId]| {
        ids.iter().map(fixpoint_vocabulary::TaskId::as_str).collect::<Vec<_>>().join(", ")
    };
    let after = match task.dependencies.as_slice() {
        [] => String::new(),
        some => format!(" (after {})", names(some)),
    };
    let mut lines = vec![format!("  {}{after}: {}", task.id, task.description)];
    let numbered = (1u32..).zip(&task.acceptance).map(|(n, item)| format!("      A{n}: {item}"));
    lines.extend(numbered);
    lines.extend(task.goals.iter().map(|goal| format!("      must pass: {goal}")));
    if !task.scope_paths.is_empty() {
        lines.push(format!("      may change: {}", task.scope_paths.join(", ")));
    }
    lines
}
