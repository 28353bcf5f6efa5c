//! Questions and material for the tests.

use fixpoint_vocabulary::ask::{
    Ask, CheckOutcome, Material, PlanningStyle, QuestionKind, Remark, Repair, SavedPlan, TaskMaterial,
    TaskQuestion,
};
use fixpoint_vocabulary::documents::{ActionPlan, GoalUnderstanding, Subtask};
use fixpoint_vocabulary::work::{CommitId, ReportedFailure};
use fixpoint_vocabulary::{Redacted, Redactor, TaskState};
use serde_json::json;

pub(crate) fn redacted(text: &str) -> Redacted {
    Redactor::default().redact(text)
}

pub(crate) fn commit() -> CommitId {
    CommitId("0".repeat(40))
}

/// One question of each kind, and both questions to the judge of a task.
pub(crate) fn questions() -> Vec<QuestionKind> {
    let judge = |question| QuestionKind::JudgeTask {
        task: "parse".into(),
        commit: commit(),
        origin: commit(),
        question,
        sample: 1,
    };
    vec![
        QuestionKind::Plan,
        QuestionKind::Understand,
        QuestionKind::Decompose,
        QuestionKind::Order,
        QuestionKind::JudgePlan { revision: 0, sample: 1 },
        QuestionKind::Refine { revision: 1 },
        judge(TaskQuestion::Acceptance),
        judge(TaskQuestion::WorthGoingOn),
        QuestionKind::ReplanTask { task: "parse".into() },
        QuestionKind::JudgeWhole { commit: commit(), origin: commit() },
        QuestionKind::Reflect { task: "parse".into() },
    ]
}

pub(crate) fn task(id: &str, word: &str) -> Subtask {
    serde_json::from_value(json!({
        "id": id,
        "description": format!("description {word}"),
        "dependencies": ["first"],
        "acceptance": [format!("handles hours {word}"), format!("refuses src/duration.rs nonsense {word}")],
        "scope_paths": ["src/**", format!("scope {word}")],
        "goals": [format!("cargo test {word}")],
        "context": format!("context {word}"),
    }))
    .unwrap()
}

/// Complete material, with a word in each part of it.
pub(crate) fn material(word: &str) -> Material {
    let test = format!("tests::hours {word}");
    let failure = ReportedFailure::of_test(test.into(), "f".into(), redacted(&format!("left: 90 {word}")))
        .at(Some(format!("src/duration.rs:12 {word}")));
    let of_task = TaskMaterial {
        task: task("parse", word),
        state: TaskState::NeedsContinuation,
        attempts: 4,
        failures: vec![(failure, 3)],
        outside: vec![format!("Makefile {word}")],
        checks: vec![CheckOutcome {
            command: format!("cargo test {word}"),
            outcome: format!("1 fails {word}"),
        }],
        reason: redacted(&format!("hours are missing {word}")),
        missing: vec![format!("A2 {word}")],
        last_attempt: None,
        commits: None,
    };
    let understanding =
        GoalUnderstanding { main_objective: format!("objective {word}"), ..Default::default() };
    Material {
        goal: redacted(&format!("the original goal {word}")),
        remarks: vec![Remark {
            by: redacted(&format!("mia {word}")),
            text: redacted(&format!("mind DST {word}")),
        }],
        understanding: Some(understanding.clone()),
        tasks: vec![task("current", word)],
        actions: ActionPlan {
            execution_order: vec![format!("order {word}").as_str().into()],
            actions: vec![],
        },
        draft: Some(SavedPlan {
            goal: redacted(&format!("a similar goal {word}")),
            understanding,
            tasks: vec![task("drafted", word)],
            actions: ActionPlan::default(),
        }),
        issues: vec![format!("an issue {word}")],
        suggestions: vec![format!("a suggestion {word}")],
        tools: vec![format!("edit_file {word}")],
        checks: vec![format!("make check {word}")],
        max_tasks: 5,
        task: Some(of_task.clone()),
        outcomes: vec![of_task],
        style: PlanningStyle::default(),
        ..Material::default()
    }
}

/// A question with complete material, asked for the second time.
pub(crate) fn ask(about: QuestionKind, word: &str) -> Ask {
    let repair = Repair {
        tries: 1,
        problem: redacted(&format!("success: expected true or false {word}")),
        answer: redacted(&format!("my last answer {word}")),
    };
    Ask { about, repair: Some(repair), material: material(word) }
}
