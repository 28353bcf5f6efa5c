//! The templates, by what is asked, and the version of all of them.
//!
//! Owns which file belongs to which question. The texts are compiled in: a prompt depends on no file at run time.
//!
//! Invariant: the version changes with every letter of a template and of a schema, so a plan or a judge's noise that
//! was learned with other words is never taken for one of these.

use std::sync::OnceLock;

use fixpoint_vocabulary::ask::{About, Role, TaskQuestion};
use fixpoint_vocabulary::settings::Strategy;
use fixpoint_vocabulary::work::CommitId;

use crate::schema::schema_for;

pub(crate) const TASK_FIELDS: &str = include_str!("../templates/task_fields.md");
pub(crate) const MANNER: &str = include_str!("../templates/manner.md");
pub(crate) const ASKING: &str = include_str!("../templates/asking.md");
pub(crate) const REPAIR: &str = include_str!("../templates/repair.md");

/// What every model of a role is told, the same for all its questions: worth caching.
pub fn instructions(role: Role) -> &'static str {
    match role {
        Role::Planner => include_str!("../templates/system_planner.md"),
        Role::Judge => include_str!("../templates/system_judge.md"),
        Role::Worker => include_str!("../templates/system_worker.md"),
        Role::Reflector => include_str!("../templates/system_reflector.md"),
    }
}

/// The template of a question.
pub(crate) const fn template(about: &About) -> &'static str {
    match about {
        About::Plan => include_str!("../templates/plan.md"),
        About::Understand => include_str!("../templates/goal_understanding.md"),
        About::Decompose => include_str!("../templates/task_decomposition.md"),
        About::Order => include_str!("../templates/action_plan.md"),
        About::JudgePlan { .. } => include_str!("../templates/plan_judgement.md"),
        About::Refine { .. } => include_str!("../templates/refinement.md"),
        About::JudgeTask { .. } => include_str!("../templates/task_judgement.md"),
        About::ReplanTask { .. } => include_str!("../templates/replan.md"),
        About::JudgeWhole { .. } => include_str!("../templates/whole_judgement.md"),
        About::Reflect { .. } => include_str!("../templates/reflection.md"),
    }
}

/// One question of each kind, for what is done with all of them.
pub(crate) fn one_of_each() -> Vec<About> {
    let commit = || CommitId(String::new());
    vec![
        About::Plan,
        About::Understand,
        About::Decompose,
        About::Order,
        About::JudgePlan { revision: 0, sample: 1 },
        About::Refine { revision: 1 },
        About::JudgeTask {
            task: "task".into(),
            commit: commit(),
            origin: commit(),
            question: TaskQuestion::Acceptance,
            sample: 1,
        },
        About::ReplanTask { task: "task".into() },
        About::JudgeWhole { commit: commit(), origin: commit() },
        About::Reflect { task: "task".into() },
    ]
}

/// The version of all prompts and schemas, in sixteen hexadecimal digits. Part of the key of the plan cache and of a
/// judge's name.
pub fn prompt_version() -> &'static str {
    static VERSION: OnceLock<String> = OnceLock::new();
    VERSION.get_or_init(|| {
        let mut hasher = blake3::Hasher::new();
        // Each text is preceded by its length, so that none can be moved from one template to the next unseen.
        let mut add = |text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        Role::ALL.iter().for_each(|role| add(instructions(*role)));
        [TASK_FIELDS, MANNER, ASKING, REPAIR].iter().for_each(|text| add(text));
        for about in one_of_each() {
            add(template(&about));
            for strategy in [Strategy::ChainOfThought, Strategy::Hierarchical, Strategy::Simple] {
                add(&schema_for(&about, strategy).to_string());
            }
        }
        hasher.finalize().to_hex().chars().take(16).collect()
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::render::{OWN, PARTS};
    use crate::template::names;

    #[test]
    fn every_placeholder_is_known_and_every_part_is_used() {
        let mut used = BTreeSet::new();
        let texts = one_of_each().iter().map(template).chain([MANNER, ASKING, REPAIR]).collect::<Vec<_>>();
        for text in texts {
            used.extend(names(text).unwrap_or_else(|problem| panic!("{problem} in {text}")));
        }
        let known: BTreeSet<String> =
            OWN.iter().copied().chain(PARTS.iter().map(|part| part.name)).map(str::to_string).collect();
        assert_eq!(used, known);
        for role in Role::ALL {
            assert_eq!(names(instructions(role)), Ok(BTreeSet::new()), "instructions are the same for all");
        }
    }

    /// What a prompt must hold whatever else changes: above all the user's goal, in each of them.
    #[test]
    fn every_template_holds_what_it_must() {
        for about in one_of_each() {
            let must: &[&str] = match about {
                About::Plan => &["draft", "task_fields", "manner", "asking", "tools", "checks", "context"],
                About::Understand => &["asking", "context"],
                About::Decompose => &["understanding", "draft", "task_fields", "manner", "asking", "context"],
                About::Order => &["tasks", "tools", "draft"],
                About::JudgePlan { .. } => &["tasks", "actions", "understanding"],
                About::Refine { .. } => &["tasks", "issues", "suggestions", "task_fields", "manner"],
                About::JudgeTask { .. } => &[
                    "task",
                    "diff",
                    "outcomes_of_checks",
                    "words",
                    "failures",
                    "ask_acceptance",
                    "ask_worth",
                ],
                About::ReplanTask { .. } => {
                    &["task", "tasks", "issues", "suggestions", "failures", "words", "previous", "max_tasks"]
                }
                About::JudgeWhole { .. } => &["outcomes", "diff", "task_fields", "max_tasks"],
                About::Reflect { .. } => {
                    &["task", "actions", "remarks", "result", "diff", "words", "deep", "shallow"]
                }
            };
            let used = names(template(&about)).unwrap();
            for name in must.iter().chain(&["goal", "repair"]) {
                assert!(used.contains(*name), "{} lacks {name}", about.name());
            }
        }
    }

    #[test]
    fn the_instructions_of_planning_execution_and_reflection_are_there() {
        let said = |text: &str, words: &[&str]| {
            for word in words {
                assert!(text.contains(word), "{word:?} is not in {text}");
            }
        };
        said(
            template(&About::Plan),
            &["main_objective", "success_criteria", "constraints", "fallback_strategy"],
        );
        said(instructions(Role::Planner), &["one task", "unclear_goal", "decomposition_failed"]);
        said(
            instructions(Role::Worker),
            &["order", "preconditions", "compare the result", "how it must change"],
        );
        said(
            template(&About::Reflect { task: "t".into() }),
            &["side effects", "preconditions", "root cause"],
        );
        let judge = one_of_each().into_iter().find(|about| about.name() == "task_judgement").unwrap();
        let criteria =
            ["too large", "contradictory", "fundamentally wrong", "external resource", "impossible"];
        said(template(&judge), &criteria);
    }

    #[test]
    fn the_version_is_short_and_stable() {
        assert_eq!(prompt_version().len(), 16);
        assert_eq!(prompt_version(), prompt_version());
    }
}
