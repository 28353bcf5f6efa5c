//! The shape of a plan: levels made flat, and what is wrong with it, named so that a planner can mend it.

use fixpoint_vocabulary::TaskId;
use fixpoint_vocabulary::documents::{ActionPlan, Subtask};

use crate::graph::{self, Edges};
use crate::prelude::*;

/// Levels deeper than this are refused: nobody plans so, and everything must be bounded.
const DEEPEST: usize = 8;

/// The limits a plan must keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds<'a> {
    /// Tasks, at most.
    pub(crate) max_tasks: u32,
    /// The tools a task may name; empty for any.
    pub(crate) tools: &'a [String],
}

/// Tasks with levels as tasks without: a task that is made of others waits for them, and they wait for what it waits
/// for. One that asks for nothing itself is left out, and whoever waited for it waits for its parts.
pub(crate) fn flattened(tasks: &[Subtask]) -> Vec<Subtask> {
    let mut flat = Vec::new();
    for task in tasks {
        flatten(task, &[], DEEPEST, &mut flat);
    }
    let mut parts: Vec<(TaskId, Vec<TaskId>)> = Vec::new();
    for task in tasks {
        collect_parts(task, DEEPEST, &mut parts);
    }
    for task in &mut flat {
        task.dependencies = resolved(&task.dependencies, &parts);
    }
    flat
}

/// Whether a task asks for something beside its parts.
fn has_own_work(task: &Subtask) -> bool {
    task.subtasks.is_empty() || !task.acceptance.is_empty() || !task.goals.is_empty()
}

fn flatten(task: &Subtask, inherited: &[TaskId], depth: usize, flat: &mut Vec<Subtask>) {
    let below: Vec<TaskId> = task.dependencies.iter().chain(inherited).cloned().collect();
    if let (Some(depth), false) = (depth.checked_sub(1), task.subtasks.is_empty()) {
        for part in &task.subtasks {
            flatten(part, &below, depth, flat);
        }
    }
    if has_own_work(task) {
        let parts = task.subtasks.iter().map(|part| part.id.clone());
        let dependencies = graph::without_repeats(below.iter().cloned().chain(parts));
        flat.push(Subtask { dependencies, subtasks: Vec::new(), ..task.clone() });
    }
}

/// The tasks that stand for one that has no work of its own.
fn collect_parts(task: &Subtask, depth: usize, parts: &mut Vec<(TaskId, Vec<TaskId>)>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    task.subtasks.iter().for_each(|part| collect_parts(part, depth, parts));
    if !has_own_work(task) {
        let own = task.subtasks.iter().map(|part| part.id.clone()).collect::<Vec<_>>();
        parts.push((task.id.clone(), resolved(&own, parts)));
    }
}

fn resolved(ids: &[TaskId], parts: &[(TaskId, Vec<TaskId>)]) -> Vec<TaskId> {
    let stands_for = |id: &TaskId| match parts.iter().find(|(whole, _)| whole == id) {
        Some((_, parts)) => parts.clone(),
        None => Vec::from([id.clone()]),
    };
    graph::without_repeats(ids.iter().flat_map(stands_for))
}

/// Tasks that are named where there are too many.
const MOST_NAMED: usize = 5;
/// No id of a task is longer.
const LONGEST_NAME: usize = 64;

/// Whether a text can name a task: it becomes part of the names of files and of references.
fn is_name(text: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
    text.len() <= LONGEST_NAME
        && text.starts_with(|letter: char| letter.is_ascii_alphanumeric())
        && text.chars().all(is_letter)
        && !text.contains("..")
        && !text.ends_with('.')
        && !text.ends_with(".lock")
}

/// Something of a task that is there and says nothing. An agent cannot do it, a judge cannot look for it, a command
/// without words passes whatever was done, and a scope without words holds no file.
fn blank(task: &Subtask) -> Option<String> {
    let is_blank = |text: &String| text.trim().is_empty();
    if is_blank(&task.description) {
        return Some(format!("`{}`: its description is empty: say what is to be done", task.id));
    }
    let lists =
        [("acceptance", &task.acceptance), ("goals", &task.goals), ("scope_paths", &task.scope_paths)];
    if let Some((field, _)) = lists.into_iter().find(|(_, items)| items.iter().any(is_blank)) {
        return Some(format!("`{}`: an item of {field} is empty: leave it out, or say something", task.id));
    }
    let vacuous = task.goals.iter().find(|command| is_vacuous(command))?;
    Some(format!(
        "`{}`: the goal `{vacuous}` passes whatever was done: name a command that looks, or leave it out",
        task.id
    ))
}

/// Whether a command can only succeed. Only the plainest are known: others are judged by what they show.
fn is_vacuous(command: &str) -> bool {
    let is_joined = command.contains(['|', '&', ';', '$', '`', '<', '>', '\n']);
    let mut words = command.split_whitespace();
    match (words.next(), words.next()) {
        (Some(first), _) if first.starts_with('#') => !command.contains('\n'),
        (Some("true" | ":" | "echo" | "printf"), _) | (Some("exit"), Some("0")) => !is_joined,
        (_, _) => false,
    }
}

/// What is wrong with a task by itself, whatever the others are; `None` where all are sound.
pub(crate) fn problem_of_each(tasks: &[Subtask]) -> Option<String> {
    tasks.iter().find_map(|task| if is_name(task.id.as_str()) { blank(task) } else { Some(misnamed(task)) })
}

fn misnamed(task: &Subtask) -> String {
    format!(
        "`{}` cannot be the id of a task: use letters, digits, `_`, `-` and `.`, at most {LONGEST_NAME}, and begin \
         with a letter or a digit",
        task.id
    )
}

/// What is wrong with the tasks of a plan, with the offending names; `None` where they are sound.
pub(crate) fn problem_of_tasks(tasks: &[Subtask], bounds: Bounds<'_>) -> Option<String> {
    if tasks.is_empty() {
        return Some("task_decomposition.subtasks: at least one task is needed".to_string());
    }
    if tasks.len() > bounds.max_tasks as usize {
        let found = tasks.len();
        let over = tasks.iter().skip(bounds.max_tasks as usize).take(MOST_NAMED);
        let over: Vec<String> = over.map(|task| format!("`{}`", task.id)).collect();
        return Some(format!(
            "task_decomposition.subtasks: {found} tasks are more than the {} allowed, from {} on; make fewer, larger ones",
            bounds.max_tasks,
            over.join(", ")
        ));
    }
    if let Some(problem) = problem_of_each(tasks) {
        return Some(problem);
    }
    if let Some(id) = graph::duplicates(tasks.iter().map(|task| &task.id)).first() {
        return Some(format!("several tasks are called `{id}`"));
    }
    let edges: Edges<TaskId> =
        tasks.iter().map(|task| (task.id.clone(), task.dependencies.clone())).collect();
    if let Some((task, missing)) = graph::unknown_dependencies(&edges).into_iter().next() {
        return Some(format!("`{task}` depends on `{missing}`, which does not exist"));
    }
    if let Some(circle) = graph::find_cycle(&edges) {
        let names: Vec<&str> = circle.iter().map(TaskId::as_str).collect();
        return Some(format!("circular dependency: {}", names.join(" → ")));
    }
    unknown_tool(
        tasks.iter().flat_map(|task| task.required_tools.iter().map(|tool| (&task.id, tool))),
        bounds,
    )
}

/// What is wrong with the order and the steps of a plan.
pub(crate) fn problem_of_actions(
    actions: &ActionPlan,
    tasks: &[Subtask],
    bounds: Bounds<'_>,
) -> Option<String> {
    let known: BTreeSet<&TaskId> = tasks.iter().map(|task| &task.id).collect();
    let named = actions.execution_order.iter().chain(actions.actions.iter().map(|action| &action.task_id));
    if let Some(unknown) = named.into_iter().find(|id| !known.contains(id)) {
        return Some(format!("action_plan: `{unknown}` is no task of the plan"));
    }
    let tools = actions.actions.iter().filter(|action| !action.tool.is_empty());
    unknown_tool(tools.map(|action| (&action.task_id, &action.tool)), bounds)
}

fn unknown_tool<'a>(
    mut named: impl Iterator<Item = (&'a TaskId, &'a String)>,
    bounds: Bounds<'_>,
) -> Option<String> {
    if bounds.tools.is_empty() {
        return None;
    }
    let (task, tool) = named.find(|(_, tool)| !bounds.tools.contains(tool))?;
    Some(format!(
        "`{task}` needs the tool `{tool}`, which does not exist; there are: {}",
        bounds.tools.join(", ")
    ))
}

#[cfg(test)]
mod tests;
