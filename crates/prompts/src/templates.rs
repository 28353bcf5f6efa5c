//! The templates of all questions, and their version.
//!
//! Owns which file belongs to which question. The files are compiled in: a prompt depends on no file at run time.
//!
//! Invariant: the version changes with every character of a template or a schema, so that cached plans and measurements
//! of a judge's noise made with other prompts are not reused.

use std::sync::OnceLock;

use fixpoint_vocabulary::ask::{QuestionKind, Role, TaskQuestion};
use fixpoint_vocabulary::settings::Strategy;
use fixpoint_vocabulary::work::CommitId;

use crate::schema::schema_for;

pub(crate) const TASK_FIELDS: &str = include_str!("../templates/task_fields.md");
pub(crate) const STRATEGY: &str = include_str!("../templates/strategy.md");
pub(crate) const NO_QUESTIONS: &str = include_str!("../templates/no_questions.md");
pub(crate) const REPAIR: &str = include_str!("../templates/repair.md");

/// The system prompt of a role. It is the same for all its questions, so providers can cache it.
pub fn instructions(role: Role) -> &'static str {
    match role {
        Role::Planner => include_str!("../templates/system_planner.md"),
        Role::Judge => include_str!("../templates/system_judge.md"),
        Role::Worker => include_str!("../templates/system_worker.md"),
        Role::Reflector => include_str!("../templates/system_reflector.md"),
    }
}

pub(crate) const fn template(about: &QuestionKind) -> &'static str {
    match about {
        QuestionKind::Plan => include_str!("../templates/plan.md"),
        QuestionKind::Understand => include_str!("../templates/goal_understanding.md"),
        QuestionKind::Decompose => include_str!("../templates/task_decomposition.md"),
        QuestionKind::Order => include_str!("../templates/action_plan.md"),
        QuestionKind::JudgePlan { .. } => include_str!("../templates/plan_judgement.md"),
        QuestionKind::Refine { .. } => include_str!("../templates/refinement.md"),
        QuestionKind::JudgeTask { .. } => include_str!("../templates/task_judgement.md"),
        QuestionKind::ReplanTask { .. } => include_str!("../templates/replan.md"),
        QuestionKind::JudgeWhole { .. } => include_str!("../templates/whole_judgement.md"),
        QuestionKind::Reflect { .. } => include_str!("../templates/reflection.md"),
    }
}

/// One question of each kind.
pub(crate) fn one_of_each() -> Vec<QuestionKind> {
    let commit = || CommitId(String::new());
    vec![
        QuestionKind::Plan,
        QuestionKind::Understand,
        QuestionKind::Decompose,
        QuestionKind::Order,
        QuestionKind::JudgePlan { revision: 0, sample: 1 },
        QuestionKind::Refine { revision: 1 },
        QuestionKind::JudgeTask {
            task: "task".into(),
            commit: commit(),
            origin: commit(),
            question: TaskQuestion::Acceptance,
            sample: 1,
        },
        QuestionKind::ReplanTask { task: "task".into() },
        QuestionKind::JudgeWhole { commit: commit(), origin: commit() },
        QuestionKind::Reflect { task: "task".into() },
    ]
}

/// The version of all prompts and schemas, in sixteen hexadecimal digits. It is part of the key of a cached plan and of
/// a judge's measured noise.
pub fn prompt_version() -> &'static str {
    static VERSION: OnceLock<String> = OnceLock::new();
    VERSION.get_or_init(|| {
        let mut hasher = blake3::Hasher::new();
        // The length goes first, so that moving text from one template to the next changes the version.
        let mut add = |text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        Role::ALL.iter().for_each(|role| add(instructions(*role)));
        [TASK_FIELDS, STRATEGY, NO_QUESTIONS, REPAIR].iter().for_each(|text| add(text));
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
    use crate::render::{OWN, SECTIONS};
    use crate::template::names;

    #[test]
    fn every_placeholder_is_known_and_every_section_is_used() {
        let mut used = BTreeSet::new();
        let texts =
            one_of_each().iter().map(template).chain([STRATEGY, NO_QUESTIONS, REPAIR]).collect::<Vec<_>>();
        for text in texts {
            used.extend(names(text).unwrap_or_else(|problem| panic!("{problem} in {text}")));
        }
        let known: BTreeSet<String> = OWN
            .split_whitespace()
            .chain(SECTIONS.iter().map(|section| section.name))
            .map(str::to_string)
            .collect();
        assert_eq!(used, known);
        for role in Role::ALL {
            assert_eq!(names(instructions(role)), Ok(BTreeSet::new()), "system prompts have no placeholders");
        }
    }

    /// What every prompt must contain, above all the user's goal.
    #[test]
    fn every_template_has_its_required_placeholders() {
        for about in one_of_each() {
            let must: &[&str] = match about {
                QuestionKind::Plan => {
                    &["draft", "task_fields", "strategy", "no_questions", "tools", "checks", "context"]
                }
                QuestionKind::Understand => &["no_questions", "context"],
                QuestionKind::Decompose => {
                    &["understanding", "draft", "task_fields", "strategy", "no_questions", "context"]
                }
                QuestionKind::Order => &["tasks", "tools", "draft"],
                QuestionKind::JudgePlan { .. } => &["tasks", "actions", "understanding"],
                QuestionKind::Refine { .. } => &["tasks", "issues", "suggestions", "task_fields", "strategy"],
                QuestionKind::JudgeTask { .. } => &[
                    "task",
                    "diff",
                    "check_results",
                    "agent_text",
                    "failures",
                    "ask_acceptance",
                    "ask_worth",
                ],
                QuestionKind::ReplanTask { .. } => &[
                    "task",
                    "tasks",
                    "issues",
                    "suggestions",
                    "failures",
                    "agent_text",
                    "last_judgement",
                    "max_tasks",
                ],
                QuestionKind::JudgeWhole { .. } => &["task_results", "diff", "task_fields", "max_tasks"],
                QuestionKind::Reflect { .. } => {
                    &["task", "actions", "remarks", "result", "diff", "agent_text", "deep", "shallow"]
                }
            };
            let used = names(template(&about)).unwrap();
            for name in must.iter().chain(&["goal", "repair"]) {
                assert!(used.contains(*name), "{} lacks {name}", about.name());
            }
        }
    }

    #[test]
    fn the_required_instructions_are_there() {
        let check = |text: &str, words: &[&str]| {
            for word in words {
                assert!(text.contains(word), "{word:?} is not in {text}");
            }
        };
        check(
            template(&QuestionKind::Plan),
            &["main_objective", "success_criteria", "constraints", "fallback_strategy"],
        );
        check(instructions(Role::Planner), &["one task", "unclear_goal", "decomposition_failed"]);
        check(
            instructions(Role::Worker),
            &["order", "preconditions", "compare the result", "how it must change"],
        );
        check(
            template(&QuestionKind::Reflect { task: "t".into() }),
            &["side effects", "preconditions", "root cause"],
        );
        let judge = one_of_each().into_iter().find(|about| about.name() == "task_judgement").unwrap();
        let criteria =
            ["too large", "contradictory", "fundamentally wrong", "external resource", "impossible"];
        check(template(&judge), &criteria);
    }

    #[test]
    fn the_version_is_short_and_stable() {
        assert_eq!(prompt_version().len(), 16);
        assert_eq!(prompt_version(), prompt_version());
    }
}
