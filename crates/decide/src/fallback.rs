//! What is used when a replanned plan is broken: the two plans merged task by task, or the plan before.
//!
//! A task's new version is taken where it still promises much the same; otherwise the old one stays. Tasks the
//! replan lost are kept, tasks it added are appended. The merged plan is checked again, and if it is broken
//! too, the previous plan is used as it was.

use fixpoint_vocabulary::TaskId;
use fixpoint_vocabulary::documents::Subtask;
use fixpoint_vocabulary::settings::RefinementSettings;

use crate::prelude::*;
use crate::structure;

/// Acceptance texts at least this alike promise the same thing.
const SAME_PROMISE: f64 = 0.7;

/// The two plans merged task by task; `None` where that is off or breaks the structure of the first plan, and the previous
/// plan is to be used.
pub(crate) fn decide(
    first: &[Subtask],
    previous: &[Subtask],
    broken: &[Subtask],
    settings: &RefinementSettings,
) -> Option<Vec<Subtask>> {
    if !settings.enable_individual_fallback {
        return None;
    }
    let merged = merge(previous, broken);
    let question = structure::Question {
        original: structure::outline(first),
        replanned: structure::outline(&merged),
        config: settings.clone(),
    };
    structure::decide(&question).is_valid.then_some(merged)
}

fn merge(previous: &[Subtask], replanned: &[Subtask]) -> Vec<Subtask> {
    let known: BTreeSet<&TaskId> = previous.iter().map(|task| &task.id).collect();
    let mut offered: BTreeMap<&TaskId, &Subtask> = BTreeMap::new();
    for task in replanned {
        offered.entry(&task.id).or_insert(task);
    }
    let kept = previous.iter().map(|old| match offered.get(&old.id) {
        Some(new) if promises_the_same(old, new) => (*new).clone(),
        Some(_) | None => old.clone(),
    });
    let mut appended = BTreeSet::new();
    let added = replanned.iter().filter(|task| !known.contains(&task.id) && appended.insert(&task.id));
    kept.chain(added.cloned()).collect()
}

fn promises_the_same(old: &Subtask, new: &Subtask) -> bool {
    let promise = |task: &Subtask| {
        if task.acceptance.is_empty() { task.description.clone() } else { task.acceptance.join("\n") }
    };
    let normal =
        |task: &Subtask| promise(task).split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    strsim::normalized_levenshtein(&normal(old), &normal(new)) >= SAME_PROMISE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, dependencies: &[&str], acceptance: &str) -> Subtask {
        let dependencies = dependencies.iter().map(|id| (*id).into()).collect();
        let acceptance = vec![acceptance.into()];
        Subtask { dependencies, acceptance, ..Subtask::new(id.into(), String::new()) }
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
        assert_eq!(decide(&previous, &previous, &broken, &settings()), Some(expected));
    }

    #[test]
    fn a_merge_that_is_broken_itself_is_not_used() {
        let previous = vec![task("a", &[], "one"), task("b", &["a"], "two")];
        let broken = vec![task("a", &["b"], "one"), task("b", &["a"], "two")];
        let used = decide(&previous, &previous, &broken, &settings());
        assert_eq!(used, None);
    }

    #[test]
    fn the_fallback_can_be_switched_off() {
        let previous = vec![task("a", &[], "one")];
        let off = RefinementSettings { enable_individual_fallback: false, ..settings() };
        assert_eq!(decide(&previous, &previous, &[], &off), None);
        assert_eq!(decide(&previous, &previous, &[], &settings()), Some(previous.clone()));
    }

    #[test]
    fn likeness_is_strict_at_its_limit() {
        let old = task("a", &[], "abcdefghij");
        assert!(promises_the_same(&old, &task("a", &[], "abcdefgxyz")), "exactly 0.7");
        assert!(!promises_the_same(&old, &task("a", &[], "abcdefwxyz")), "0.6");
        assert!(promises_the_same(&task("a", &[], ""), &task("a", &[], " ")), "two empty promises");
    }
}
