//! What is used when a replanned plan is broken: the two plans merged task by task, or the plan before.
//!
//! A task's new version is taken where it still promises much the same; otherwise the old one stays. Tasks the
//! replan lost are kept, tasks it added are appended. The merged plan is checked again, and if it is broken
//! too, the previous plan is used as it was.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use fixpoint_vocabulary::TaskId;
use fixpoint_vocabulary::settings::RefinementSettings;

use crate::structure::{self, PlannedTask};

/// Acceptance texts at least this alike promise the same thing.
const SAME_PROMISE: f64 = 0.7;

/// What the merge must know of a task.
pub trait Mergeable: Clone {
    fn id(&self) -> &TaskId;
    /// The tasks it waits for.
    fn dependencies(&self) -> &[TaskId];
    /// What it promises, as one text.
    fn acceptance(&self) -> String;
}

/// Which plan is used after a break, so that the user can be told.
#[derive(Debug, Clone, PartialEq)]
pub enum Fallback<Task> {
    /// The two plans, task by task.
    Merged(Vec<Task>),
    /// The plan before the replan.
    Previous(Vec<Task>),
}

/// Chooses what is used in place of a broken replan. `first` is the first plan, by which structure is judged.
pub fn decide<Task: Mergeable>(
    first: &[Task],
    previous: &[Task],
    broken: &[Task],
    settings: &RefinementSettings,
) -> Fallback<Task> {
    if settings.enable_individual_fallback {
        let merged = merge(previous, broken);
        let question = structure::Question {
            original: outline(first),
            replanned: outline(&merged),
            config: settings.clone(),
        };
        if structure::decide(&question).is_valid {
            return Fallback::Merged(merged);
        }
    }
    Fallback::Previous(previous.to_vec())
}

fn merge<Task: Mergeable>(previous: &[Task], replanned: &[Task]) -> Vec<Task> {
    let known: BTreeSet<&TaskId> = previous.iter().map(Mergeable::id).collect();
    let mut offered: BTreeMap<&TaskId, &Task> = BTreeMap::new();
    for task in replanned {
        offered.entry(task.id()).or_insert(task);
    }
    let kept = previous.iter().map(|old| match offered.get(old.id()) {
        Some(new) if promises_the_same(old, *new) => (*new).clone(),
        Some(_) | None => old.clone(),
    });
    let mut appended = BTreeSet::new();
    let added = replanned.iter().filter(|task| !known.contains(task.id()) && appended.insert(task.id()));
    kept.chain(added.cloned()).collect()
}

fn promises_the_same<Task: Mergeable>(old: &Task, new: &Task) -> bool {
    let normal = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    strsim::normalized_levenshtein(&normal(old.acceptance()), &normal(new.acceptance())) >= SAME_PROMISE
}

fn outline<Task: Mergeable>(tasks: &[Task]) -> Vec<PlannedTask> {
    let outline =
        |task: &Task| PlannedTask { id: task.id().clone(), dependencies: task.dependencies().to_vec() };
    tasks.iter().map(outline).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec;

    #[derive(Debug, Clone, PartialEq)]
    struct Task {
        id: TaskId,
        dependencies: Vec<TaskId>,
        acceptance: &'static str,
    }

    impl Mergeable for Task {
        fn id(&self) -> &TaskId {
            &self.id
        }
        fn dependencies(&self) -> &[TaskId] {
            &self.dependencies
        }
        fn acceptance(&self) -> String {
            self.acceptance.to_string()
        }
    }

    fn task(id: &str, dependencies: &[&str], acceptance: &'static str) -> Task {
        let dependencies = dependencies.iter().map(|id| (*id).into()).collect();
        Task { id: id.into(), dependencies, acceptance }
    }

    fn settings() -> RefinementSettings {
        RefinementSettings::default()
    }

    #[test]
    fn each_task_is_taken_from_where_it_is_better_known() {
        let previous = vec![
            task("a", &[], "the parser reads empty files"),
            task("b", &["a"], "the printer is documented"),
            task("c", &[], "kept although the replan lost it"),
        ];
        let broken = vec![
            task("a", &[], "The parser reads  empty files!"),
            task("b", &["nowhere"], "rewrite everything in another language"),
            task("d", &[], "added"),
            task("d", &[], "added twice"),
        ];
        let expected = vec![broken[0].clone(), previous[1].clone(), previous[2].clone(), broken[2].clone()];
        assert_eq!(decide(&previous, &previous, &broken, &settings()), Fallback::Merged(expected));
    }

    #[test]
    fn a_merge_that_is_broken_itself_is_not_used() {
        let previous = vec![task("a", &[], "one"), task("b", &["a"], "two")];
        let broken = vec![task("a", &["b"], "one"), task("b", &["a"], "two")];
        let used = decide(&previous, &previous, &broken, &settings());
        assert_eq!(used, Fallback::Previous(previous));
    }

    #[test]
    fn the_fallback_can_be_switched_off() {
        let previous = vec![task("a", &[], "one")];
        let off = RefinementSettings { enable_individual_fallback: false, ..settings() };
        assert_eq!(decide(&previous, &previous, &[], &off), Fallback::Previous(previous.clone()));
        assert_eq!(decide(&previous, &previous, &[], &settings()), Fallback::Merged(previous.clone()));
    }

    #[test]
    fn likeness_is_strict_at_its_limit() {
        let old = task("a", &[], "abcdefghij");
        assert!(promises_the_same(&old, &task("a", &[], "abcdefgxyz")), "exactly 0.7");
        assert!(!promises_the_same(&old, &task("a", &[], "abcdefwxyz")), "0.6");
        assert!(promises_the_same(&task("a", &[], ""), &task("a", &[], " ")), "two empty promises");
    }
}
