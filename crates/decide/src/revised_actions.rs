//! Applies a revision to the steps of a plan. Steps of finished tasks are not changed.

use crate::prelude::*;
use fixpoint_vocabulary::TaskId;
use fixpoint_vocabulary::documents::{Action, ActionPlan, Change, PlanRevision, TypedChange};

/// The name of a step: its task, and its place among the steps of that task, from 1.
fn names(actions: &[Action]) -> Vec<String> {
    let place = |index: usize, task: &TaskId| {
        actions.iter().take(index + 1).filter(|action| action.task_id == *task).count()
    };
    let name = |(index, action): (usize, &Action)| {
        format!("{}_action_{}", action.task_id, place(index, &action.task_id))
    };
    actions.iter().enumerate().map(name).collect()
}

/// The steps after a revision, or what is wrong with it. Steps of tasks that are done are not touched.
pub(crate) fn revised(
    plan: &ActionPlan,
    revision: &PlanRevision,
    tasks: &[TaskId],
    is_done: &dyn Fn(&TaskId) -> bool,
) -> Result<ActionPlan, String> {
    let typed: Vec<&TypedChange> = revision
        .changes
        .iter()
        .filter_map(|change| match change {
            Change::Typed(change) => Some(change),
            Change::Text(_) => None,
        })
        .collect();
    let plan = match &revision.updated_action_plan {
        Some(updated) => with_done_kept(plan, updated, is_done),
        None if typed.is_empty() => {
            return Err("plan_revision: changes in words need an updated_action_plan".to_string());
        }
        None => {
            let mut plan = plan.clone();
            typed.into_iter().try_for_each(|change| apply(&mut plan, change, is_done))?;
            plan
        }
    };
    let named = plan.execution_order.iter().chain(plan.actions.iter().map(|action| &action.task_id));
    match named.into_iter().find(|id| !tasks.contains(id)) {
        Some(unknown) => Err(format!("plan_revision: `{unknown}` is no task of the plan")),
        None => Ok(plan),
    }
}

fn with_done_kept(plan: &ActionPlan, updated: &ActionPlan, is_done: &dyn Fn(&TaskId) -> bool) -> ActionPlan {
    let kept = plan.actions.iter().filter(|action| is_done(&action.task_id));
    let new = updated.actions.iter().filter(|action| !is_done(&action.task_id));
    let order =
        if updated.execution_order.is_empty() { &plan.execution_order } else { &updated.execution_order };
    ActionPlan { execution_order: order.clone(), actions: kept.chain(new).cloned().collect() }
}

fn apply(
    plan: &mut ActionPlan,
    change: &TypedChange,
    is_done: &dyn Fn(&TaskId) -> bool,
) -> Result<(), String> {
    match change {
        TypedChange::AddAction { action, after } => {
            let place = match after {
                Some(after) => place_of(plan, after)? + 1,
                None => plan
                    .actions
                    .iter()
                    .position(|action| !is_done(&action.task_id))
                    .unwrap_or(plan.actions.len()),
            };
            let mut action = action.clone();
            if action.task_id.as_str().is_empty() {
                // It belongs to the task whose step it comes before or after.
                let near = plan.actions.get(place).or_else(|| plan.actions.last());
                action.task_id = near
                    .map(|near| near.task_id.clone())
                    .ok_or("plan_revision: the new step names no task")?;
            }
            plan.actions.insert(place.min(plan.actions.len()), action);
        }
        TypedChange::RemoveAction { action_id } => {
            let place = place_of(plan, action_id)?;
            if plan.actions.get(place).is_some_and(|action| !is_done(&action.task_id)) {
                plan.actions.remove(place);
            }
        }
        TypedChange::ReplaceAction { action_id, action } => {
            let place = place_of(plan, action_id)?;
            if let Some(old) = plan.actions.get_mut(place).filter(|old| !is_done(&old.task_id)) {
                let task_id = if action.task_id.as_str().is_empty() {
                    old.task_id.clone()
                } else {
                    action.task_id.clone()
                };
                *old = Action { task_id, ..action.clone() };
            }
        }
        TypedChange::Reorder { execution_order } => plan.execution_order.clone_from(execution_order),
    }
    Ok(())
}

fn place_of(plan: &ActionPlan, name: &str) -> Result<usize, String> {
    let found = names(&plan.actions).iter().position(|known| known == name);
    found.ok_or_else(|| format!("plan_revision: there is no step `{name}`"))
}

#[cfg(test)]
mod tests;
