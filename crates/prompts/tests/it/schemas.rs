//! The schemas of answers: small, self-contained, with the fields that are asked for.

use fixpoint_prompts::{estimate_tokens, schema_for, schema_of};
use fixpoint_vocabulary::settings::Strategy;
use serde_json::Value;

use super::material::questions;

/// Visits a schema and every schema inside it.
fn each(schema: &Value, look: &mut impl FnMut(&Value)) {
    look(schema);
    for inner in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        each(inner.1, look);
    }
    schema.get("items").into_iter().for_each(|items| each(items, look));
}

fn fields(schema: &Value, path: &[&str]) -> Vec<String> {
    let mut here = schema;
    for name in path {
        here = here.get("items").unwrap_or(here).get("properties").and_then(|all| all.get(*name)).unwrap();
    }
    let here = here.get("items").unwrap_or(here);
    here["properties"].as_object().unwrap().keys().cloned().collect()
}

#[test]
fn schemas_contain_what_they_must_and_no_more() {
    for about in questions() {
        let schema = schema_of(&about);
        each(&schema, &mut |inner| {
            let words: Vec<&String> = inner.as_object().unwrap().keys().collect();
            let known = ["type", "properties", "required", "items", "enum", "minimum", "maximum"];
            assert!(words.iter().all(|word| known.contains(&word.as_str())), "{}: {words:?}", about.name());
            assert!(inner.get("type").is_some_and(Value::is_string), "{}: {inner}", about.name());
            let has_fields =
                inner.get("properties").and_then(Value::as_object).is_some_and(|all| !all.is_empty());
            assert_eq!(inner["type"] == "object", has_fields, "{}: {inner}", about.name());
            for name in inner.get("required").and_then(Value::as_array).into_iter().flatten() {
                assert!(inner["properties"].get(name.as_str().unwrap()).is_some(), "{name} in {inner}");
            }
        });
        assert!(estimate_tokens(&schema.to_string()) < 900, "{}", about.name());
    }
}

#[test]
fn each_question_asks_for_its_part() {
    let planning =
        ["plan", "goal_understanding", "task_decomposition", "action_plan", "refinement", "replan"];
    for about in questions() {
        let fields = fields(&schema_of(&about), &[]);
        let has = |name: &str| fields.iter().any(|field| field == name);
        assert_eq!(has("error"), planning.contains(&about.name()), "{fields:?}");
        match about.name() {
            "plan" => assert!(has("goal_understanding") && has("task_decomposition") && has("action_plan")),
            "goal_understanding" => assert!(has("goal_understanding") && !has("task_decomposition")),
            "task_decomposition" | "replan" => assert!(has("task_decomposition") && !has("action_plan")),
            "action_plan" => assert!(has("action_plan") && !has("task_decomposition")),
            "refinement" => assert!(has("task_decomposition") && has("action_plan")),
            "plan_judgement" => assert!(has("is_acceptable") && has("overall_score")),
            "task_judgement" => assert!(has("success") && has("missing_requirements")),
            "whole_judgement" => assert!(has("is_complete") && has("additional_tasks")),
            "reflection" => assert!(has("reflection") && has("plan_revision")),
            other => panic!("{other} is not tested"),
        }
    }
}

#[test]
fn only_the_hierarchical_strategy_has_nested_tasks() {
    let plan = &questions()[0];
    let tasks = ["task_decomposition", "subtasks"];
    let of = |strategy| schema_for(plan, strategy);
    assert!(!fields(&of(Strategy::ChainOfThought), &tasks).contains(&"subtasks".to_string()));
    let nested = of(Strategy::Hierarchical);
    assert!(fields(&nested, &tasks).contains(&"subtasks".to_string()));
    let within = fields(&nested, &["task_decomposition", "subtasks", "subtasks"]);
    assert!(
        within.contains(&"acceptance".to_string()) && !within.contains(&"subtasks".to_string()),
        "{within:?}"
    );
    assert!(!fields(&of(Strategy::Simple), &["task_decomposition"]).contains(&"reasoning".to_string()));
}

#[test]
fn verdicts_are_required() {
    for (name, verdict) in [
        ("plan_judgement", "is_acceptable"),
        ("task_judgement", "success"),
        ("whole_judgement", "is_complete"),
    ] {
        let about = questions().into_iter().find(|about| about.name() == name).unwrap();
        let required = schema_of(&about)["required"].clone();
        assert!(required.as_array().unwrap().contains(&verdict.into()), "{name}: {required}");
    }
}
