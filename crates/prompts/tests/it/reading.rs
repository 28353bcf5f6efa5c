//! Which answers are accepted, and which are rejected.

use fixpoint_prompts::{AnswerError, MAX_ANSWER_BYTES, read};
use fixpoint_vocabulary::ask::QuestionKind;
use fixpoint_vocabulary::documents::{Document, JudgeAnswer};
use proptest::prelude::*;
use serde_json::json;

use super::material::questions;

fn question(name: &str) -> QuestionKind {
    questions().into_iter().find(|about| about.name() == name).unwrap()
}

fn error(name: &str, answer: &str) -> String {
    read(&question(name), answer).expect_err(answer).to_string()
}

fn judged(success: bool) -> Document {
    Document::TaskJudgement(JudgeAnswer {
        success,
        should_continue: !success,
        should_replan: false,
        already_satisfied: false,
        reason: "r".into(),
        missing_requirements: vec![],
    })
}

const YES: &str = r#"{"success": true, "should_continue": false, "should_replan": false, "reason": "r"}"#;
const PLAN: &str = r#"{"phase": "planning", "goal_understanding": {"main_objective": "m", "constraints": ["c"]},
"task_decomposition": {"subtasks": [{"id": "a", "description": "d", "dependencies": ["b"], "subtasks": []}]},
"action_plan": {"execution_order": ["a"], "actions": [{"task_id": "a", "purpose": "p", "can_parallelize": true}]},
"error": {"type": "unclear_goal", "message": "m", "partial_plan": {"infeasible_subtasks": [1]}},
"reflection": {"action_evaluated": "a", "status": "partial"}, "plan_revision": {"changes": [{"type": "reorder"}]}}"#;
const NO: &str = r#"{"success": false, "should_continue": true, "should_replan": false, "reason": "r"}"#;

#[test]
fn answers_are_read_in_many_forms() {
    for answer in [
        YES.to_string(),
        format!("\u{feff}{YES}"),
        format!("```json\n{YES}\n```"),
        format!("I looked at {{everything}} in [the diff].\n\n{YES}\n\nThat is all."),
        format!("[{YES}]"),
        YES.replace("}", ",}"),
        YES.replace("should_continue", "shouldContinue").replace("success", "Success"),
        YES.replace("}", r#", "confidence": "high", "missing_requirements": null}"#),
        format!("First: {YES} and, to be sure, {YES}"),
        format!("{YES}\nRun it with {{\"verbose\": true}}."),
    ] {
        assert_eq!(read(&question("task_judgement"), &answer), Ok(judged(true)), "{answer}");
    }
}

#[test]
fn a_yes_is_never_guessed() {
    for (name, answer, expected) in [
        (
            "task_judgement",
            r#"{"should_continue": false, "should_replan": false, "reason": "all good"}"#,
            "success: expected true or false, found nothing",
        ),
        (
            "task_judgement",
            r#"{"success": "true", "should_continue": false, "should_replan": false, "reason": "r"}"#,
            "success: expected true or false, found \"true\"",
        ),
        (
            "task_judgement",
            r#"{"success": null, "should_continue": false, "should_replan": false, "reason": "r"}"#,
            "success: expected true or false, found nothing",
        ),
        (
            "plan_judgement",
            r#"{"overall_score": 95, "issues": []}"#,
            "is_acceptable: expected true or false, found nothing",
        ),
        (
            "whole_judgement",
            r#"{"completion_score": 100}"#,
            "is_complete: expected true or false, found nothing",
        ),
        ("plan_judgement", "Looks good to me!", "the answer contains no JSON object"),
        (
            "plan_judgement",
            r#"{"is_acceptable": true, "isAcceptable": false}"#,
            "is_acceptable: expected one value, found \"two that differ\"",
        ),
        (
            "plan_judgement",
            r#"{"is_acceptable": true, "is_acceptable": false}"#,
            "`is_acceptable` is given twice",
        ),
    ] {
        let found = error(name, answer);
        assert!(found.contains(expected), "{answer}: {found}");
    }
}

#[test]
fn the_last_of_several_objects_counts_unless_they_contradict() {
    assert_eq!(
        read(&question("task_judgement"), &format!("{YES} no: {NO}")),
        Err(AnswerError::Contradiction)
    );
    let several = error("task_judgement", &format!("[{NO}, {YES}]"));
    assert_eq!(several, "the answer: expected one JSON object, found an array of 2");
    let later = NO.replace("\"r\"", "\"r\", \"missing_requirements\": [\"A1\"]");
    let Ok(Document::TaskJudgement(read)) = read(&question("task_judgement"), &format!("{NO} or {later}"))
    else {
        panic!("the last is read")
    };
    assert_eq!(read.missing_requirements, ["A1"]);
}

/// Catches reading an earlier object where the last one cannot be read, and an example quoted inside it.
#[test]
fn a_last_object_that_cannot_be_read_is_not_skipped() {
    let cut = format!("{YES} but on reflection {{\"success\": false, \"reason\": \"");
    assert_eq!(read(&question("task_judgement"), &cut), Err(AnswerError::CutOff));
    let meant = format!("{YES} {{\"success\": \"no\"}}");
    assert!(error("task_judgement", &meant).starts_with("success: expected true or false"), "{meant}");
    let nested = format!("{{\"example\": {YES}, \"success\": ");
    assert_eq!(read(&question("task_judgement"), &nested), Err(AnswerError::CutOff));
    let within = format!("{{\"answer\": {YES}}}");
    assert!(error("task_judgement", &within).starts_with("success: expected"), "{within}");
}

#[test]
fn errors_say_where_what_was_expected_and_what_was_found() {
    let plan = |dependencies: serde_json::Value, id: serde_json::Value| {
        let task = |id: serde_json::Value, dependencies: serde_json::Value| json!({"id": id, "description": "d", "dependencies": dependencies});
        let tasks = json!([task(json!("a"), json!([])), task(json!("b"), json!([])), task(id, dependencies)]);
        json!({"phase": "planning", "task_decomposition": {"subtasks": tasks}}).to_string()
    };
    for (answer, expected) in [
        (
            plan(json!("task_1"), json!("c")),
            "task_decomposition.subtasks[2].dependencies: expected an array of names, found \"task_1\"",
        ),
        (plan(json!([]), json!("")), "task_decomposition.subtasks[2].id: expected a name, found \"\""),
        (plan(json!([]), json!({})), "task_decomposition.subtasks[2].id: expected a name, found {}"),
        (plan(json!([null]), json!("c")), "task_decomposition.subtasks[2].dependencies[0]: expected a name, found null"),
        (json!({"phase": "reflection"}).to_string(), "phase: expected \"planning\", found \"reflection\""),
        (json!({"phase": "planning"}).to_string(), "task_decomposition: expected an object with subtasks, or error, found nothing"),
        (
            json!({"task_decomposition": {"subtasks": []}}).to_string(),
            "task_decomposition.subtasks: expected at least one task, found nothing",
        ),
        (
            json!({"task_decomposition": {"subtasks": [{"id": "a", "description": "d", "estimated_complexity": "huge"}]}}).to_string(),
            "task_decomposition.subtasks[0].estimated_complexity: expected one of low, medium, high, found \"huge\"",
        ),
        (json!({"plan": {"task_decomposition": {}}}).to_string(), "task_decomposition: expected an object with subtasks"),
        (json!({"error": {"type": "unclear_goal"}}).to_string(), "error.message: expected a description of the problem, found nothing"),
        (json!({"error": "unclear"}).to_string(), "error: expected an object, found \"unclear\""),
    ] {
        let found = error("task_decomposition", &answer);
        assert!(found.starts_with(expected), "{answer}\nfound:    {found}\nexpected: {expected}");
    }
    assert!(
        error("goal_understanding", r#"{"comment": "fine"}"#).starts_with("goal_understanding: expected")
    );
    assert!(error("action_plan", r#"{"comment": "fine"}"#).starts_with("action_plan: expected"));
}

#[test]
fn an_invalid_score_is_no_score() {
    for (score, read_as) in
        [("72", Some(72.0)), ("0", Some(0.0)), ("100.0", Some(100.0)), ("101", None), ("-1", None)]
            .into_iter()
            .chain(["\"90\"", "null", "NaN", "1e999", "-Infinity", "[80]", "true"].map(|score| (score, None)))
    {
        let answer = format!("{{\"is_acceptable\": true, \"overall_score\": {score}}}");
        let Ok(Document::PlanJudgement(judgement)) = read(&question("plan_judgement"), &answer) else {
            panic!("{answer}: {:?}", read(&question("plan_judgement"), &answer))
        };
        assert_eq!(judgement.overall_score.map(|score| score.get()), read_as, "{answer}");
    }
}

#[test]
fn a_revision_that_is_only_text_is_rejected() {
    let answer = |needed: bool, revision: serde_json::Value| {
        json!({
            "phase": "reflection",
            "reflection": {"action_evaluated": "a", "status": "failure", "plan_revision_needed": needed},
            "plan_revision": revision,
        })
        .to_string()
    };
    let reflect = question("reflection");
    let text = json!({"reason": "r", "changes": ["look elsewhere"]});
    assert!(
        error("reflection", &answer(true, text.clone()))
            .starts_with("plan_revision: expected changes with a type")
    );
    assert!(error("reflection", &answer(true, json!(null))).ends_with("found nothing"));
    assert!(read(&reflect, &answer(false, text)).is_ok());
    let whole = json!({"changes": ["look elsewhere"], "updated_action_plan": {"execution_order": ["a"]}});
    assert!(read(&reflect, &answer(true, whole)).is_ok());
    let typed = |change: serde_json::Value| answer(true, json!({ "changes": [change] }));
    assert!(read(&reflect, &typed(json!({"type": "removeAction", "action": "a_action_1"}))).is_ok());
    assert!(read(&reflect, &typed(json!({"type": "reorder", "order": ["a"]}))).is_ok());
    let both = json!({"type": "remove_action", "action_id": "a_action_1", "action": {"purpose": "the step"}});
    assert!(read(&reflect, &typed(both)).is_ok(), "another name counts only where the own name is missing");
    assert!(
        error("reflection", &typed(json!({"type": "explode"})))
            .contains("changes[0].type: expected one of add_action")
    );
    assert!(
        error("reflection", &typed(json!({"type": "add_action"})))
            .contains("changes[0].action: expected an object")
    );
    let top = json!({
        "reflection": {"action_evaluated": "a", "status": "SUCCESS"}, "plan_revision_needed": true,
    });
    assert!(error("reflection", &top.to_string()).starts_with("plan_revision:"), "also at the top level");
}

#[test]
fn answers_that_are_too_large_are_rejected() {
    let plan = question("task_decomposition");
    let spaces = " ".repeat(MAX_ANSWER_BYTES + 1);
    let too_large = |text: &str| Err(AnswerError::TooLarge(text.to_string()));
    assert_eq!(read(&plan, &spaces), too_large("16,777,217 bytes, the limit is 16,777,216"));
    let deep = format!("{{\"task_decomposition\": {}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(read(&plan, &deep), too_large("objects nested deeper than 64 levels"));
    assert_eq!(read(&question("task_judgement"), &YES.repeat(201)), too_large("more than 200 JSON objects"));
    let tasks: Vec<_> = (0..10_001).map(|n| json!({"id": n, "description": "d"})).collect();
    let many = json!({"task_decomposition": {"subtasks": tasks}}).to_string();
    assert_eq!(read(&plan, &many), too_large("10,001 tasks, the limit is 10,000"));
}

/// Texts made to be slow to parse: each byte is read a fixed number of times, so these are fast.
#[test]
fn no_text_takes_long() {
    for piece in [
        "{",
        "[{",
        "{\"a\":",
        "{\"a\":\"",
        "}",
        "\"",
        "{\"a\":[1,1,1,",
        "[{\"",
        "\\",
        "{\"\":{}}",
        "1,",
        "{ ",
    ] {
        let text = piece.repeat((4 << 20) / piece.len());
        assert!(read(&question("plan_judgement"), &text).is_err(), "{piece}");
    }
}

proptest! {
    /// Catches slicing inside a character, arithmetic overflow, and endless recursion.
    #[test]
    fn nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..400), text in "[{}\\[\\]\",:\\\\ a-zé語\\n0-9.eE-]{0,120}") {
        for about in questions() {
            let _ = read(&about, &String::from_utf8_lossy(&bytes));
            let _ = read(&about, &text);
        }
    }

    /// Catches the same deeper inside, where a document is almost valid.
    #[test]
    fn no_damaged_plan_panics(at in 0..PLAN.len(), length in 0_usize..20, put in "[{}\\[\\]\",: a-z0-9\\\\]{0,6}") {
        let mut damaged = PLAN.to_string();
        let end = (at + length).min(damaged.len());
        damaged.replace_range(at..end, &put);
        for about in questions() {
            let _ = read(&about, &damaged);
        }
    }

    /// Catches a damaged "no" that is read as a yes.
    #[test]
    fn a_damaged_no_is_never_a_yes(at in 0..NO.len(), length in 0_usize..12, put in "[{}\\[\\]\",: a-z]{0,6}") {
        let mut damaged = NO.to_string();
        let end = (at + length).min(damaged.len());
        damaged.replace_range(at..end, &put);
        if let Ok(Document::TaskJudgement(judgement)) = read(&question("task_judgement"), &damaged) {
            prop_assert!(!judgement.success, "{}", damaged);
        }
    }
}
