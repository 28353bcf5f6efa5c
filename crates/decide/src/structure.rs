//! Whether a replanned plan is still the same undertaking, and whether it can be carried out at all.
//!
//! Compared with the first plan: too many tasks more or fewer, by share **and** by number, is a break. So are
//! dependencies on tasks that do not exist, circles, and two tasks of one name, whatever the first plan was.

use fixpoint_vocabulary::documents::Subtask;
use fixpoint_vocabulary::settings::RefinementSettings;
use fixpoint_vocabulary::{Lang, Localize, TaskId, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::graph::{self, Edges};
use crate::prelude::*;

/// A task as far as structure goes. Other fields are allowed and not looked at.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
pub struct PlannedTask {
    /// Its name.
    pub id: TaskId,
    /// The tasks it waits for.
    #[serde(default)]
    pub dependencies: Vec<TaskId>,
}

pub(crate) fn outline(tasks: &[Subtask]) -> Vec<PlannedTask> {
    let outline = |task: &Subtask| (task.id.clone(), task.dependencies.clone());
    tasks.iter().map(outline).map(|(id, dependencies)| PlannedTask { id, dependencies }).collect()
}

/// Two plans to be compared.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct Question {
    /// The first plan.
    pub original: Vec<PlannedTask>,
    /// The plan that is to take its place.
    pub replanned: Vec<PlannedTask>,
    /// The `refinement` section of the configuration.
    #[serde(default)]
    pub config: RefinementSettings,
}

/// What is wrong with the replanned plan, if anything.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// Whether the plan may be used.
    pub is_valid: bool,
    /// The change in the number of tasks as a share of the original number; 0 where that was 0.
    pub task_count_change: f64,
    /// The change in the number of tasks.
    pub absolute_task_count_diff: u64,
    /// Whether a dependency names no task.
    pub has_dependency_issues: bool,
    /// Whether tasks wait for each other in a circle, or for themselves.
    pub has_cyclic_dependency: bool,
    /// Whether two tasks share a name.
    pub has_duplicate_ids: bool,
    /// A sentence for each thing that is wrong.
    pub details: Vec<Text>,
}

impl Localize for Answer {
    fn localize(&mut self, lang: Lang) {
        self.details.localize(lang);
    }
}

pub fn decide(question: &Question) -> Answer {
    let counts = TaskCounts::of(question);
    let edges = edges_of(&question.replanned);
    let unknown = graph::unknown_dependencies(&edges);
    let cycle = graph::find_cycle(&edges);
    let ids: Vec<&TaskId> = question.replanned.iter().map(|task| &task.id).collect();
    let duplicates = graph::duplicates(ids.iter().copied());

    let mut details = Vec::new();
    details.extend(counts.broken(&question.config));
    details.extend(unknown.iter().map(|(task, missing)| {
        Text::new(
            format!("task {task} depends on {missing}, which does not exist"),
            format!("タスク {task} が存在しないタスク {missing} に依存しています"),
        )
    }));
    details.extend(cycle.as_ref().map(|circle| {
        let circle = arrows(circle);
        Text::new(format!("circular dependency: {circle}"), format!("循環依存: {circle}"))
    }));
    details.extend(
        duplicates
            .iter()
            .map(|id| Text::new(format!("several tasks are called {id}"), format!("タスクIDの重複: {id}"))),
    );
    Answer {
        is_valid: details.is_empty(),
        task_count_change: counts.rate(),
        absolute_task_count_diff: counts.difference(),
        has_dependency_issues: !unknown.is_empty(),
        has_cyclic_dependency: cycle.is_some(),
        has_duplicate_ids: !duplicates.is_empty(),
        details,
    }
}

/// The dependencies by task. Tasks of one name are taken together, so that a circle through either is seen.
fn edges_of(tasks: &[PlannedTask]) -> Edges<TaskId> {
    let mut edges: Edges<TaskId> = Edges::new();
    for task in tasks {
        edges.entry(task.id.clone()).or_default().extend(task.dependencies.iter().cloned());
    }
    edges
}

fn arrows(circle: &[TaskId]) -> String {
    let names: Vec<&str> = circle.iter().chain(circle.first()).map(TaskId::as_str).collect();
    names.join(" → ")
}

struct TaskCounts {
    original: usize,
    replanned: usize,
}

impl TaskCounts {
    fn of(question: &Question) -> Self {
        Self { original: question.original.len(), replanned: question.replanned.len() }
    }

    fn difference(&self) -> u64 {
        self.original.abs_diff(self.replanned) as u64
    }

    #[expect(clippy::cast_precision_loss, reason = "plans have far fewer than 2^53 tasks")]
    fn rate(&self) -> f64 {
        if self.original == 0 { 0.0 } else { self.difference() as f64 / self.original as f64 }
    }

    fn broken(&self, settings: &RefinementSettings) -> Option<Text> {
        let is_broken = self.rate() > settings.task_count_change_threshold
            && self.difference() > u64::from(settings.task_count_change_min_absolute);
        let (original, replanned) = (self.original, self.replanned);
        is_broken.then(|| {
            Text::new(
                format!("the number of tasks went from {original} to {replanned}"),
                format!("タスク数が {original} から {replanned} に変化しました"),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(tasks: &[(&str, &[&str])]) -> Vec<PlannedTask> {
        let planned = |(id, dependencies): &(&str, &[&str])| PlannedTask {
            id: (*id).into(),
            dependencies: dependencies.iter().map(|id| (*id).into()).collect(),
        };
        tasks.iter().map(planned).collect()
    }

    fn of_size(tasks: usize) -> Vec<PlannedTask> {
        (0..tasks).map(|n| PlannedTask { id: n.to_string().into(), dependencies: vec![] }).collect()
    }

    fn check(original: Vec<PlannedTask>, replanned: Vec<PlannedTask>) -> Answer {
        decide(&Question { original, replanned, config: RefinementSettings::default() })
    }

    #[test]
    fn the_number_of_tasks_breaks_only_by_share_and_by_number() {
        let table = [
            (10, 13, true),  // exactly 30 %
            (10, 14, false), // 40 % and 4
            (4, 6, true),    // 50 %, but only 2
            (4, 7, false),
            (10, 6, false),
            (0, 9, true), // nothing to compare with
        ];
        for (original, replanned, is_valid) in table {
            let answer = check(of_size(original), of_size(replanned));
            assert_eq!(answer.is_valid, is_valid, "{original} → {replanned}");
        }
        assert_eq!(check(of_size(0), of_size(9)).task_count_change, 0.0);
        assert_eq!(check(of_size(10), of_size(6)).absolute_task_count_diff, 4);
    }

    #[test]
    fn defects_of_the_graph_are_told_apart() {
        let flags = |tasks: &[(&str, &[&str])]| {
            let answer = check(plan(tasks), plan(tasks));
            assert_eq!(answer.is_valid, answer.details.is_empty());
            (answer.has_dependency_issues, answer.has_cyclic_dependency, answer.has_duplicate_ids)
        };
        assert_eq!(flags(&[("a", &[]), ("b", &["a"])]), (false, false, false));
        assert_eq!(flags(&[("a", &["x"])]), (true, false, false));
        assert_eq!(flags(&[("a", &["a"])]), (false, true, false));
        assert_eq!(flags(&[("a", &["b"]), ("b", &["a"])]), (false, true, false));
        assert_eq!(flags(&[("a", &[]), ("a", &[])]), (false, false, true));
        let circle = check(vec![], plan(&[("a", &["b"]), ("b", &["a"])]));
        assert_eq!(circle.details[0].in_lang(Lang::En), "circular dependency: a → b → a");
    }
}
