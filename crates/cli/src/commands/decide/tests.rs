//! Every decision asked through its JSON border.

use clap::ValueEnum;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn ask(kind: Kind, question: &Value) -> Result<Value, String> {
    answer(kind, question.to_string().as_bytes(), Lang::En)
}

#[test]
fn many_values_are_refused_before_they_are_read() {
    assert_eq!(values(br#"{"a": [1, "x,y:\"[z"], "b": {}}"#), 5);
    let many = format!("[{}1]", "1,".repeat(MAX_VALUES));
    let refused = answer(Kind::Direction, many.as_bytes(), Lang::En).unwrap_err();
    assert!(refused.contains("split the batch"), "{refused}");
}

#[test]
fn every_example_is_answered_in_the_published_shape() {
    for kind in Kind::value_variants() {
        let found = answer(*kind, kind.example().as_bytes(), Lang::En);
        assert!(found.is_ok_and(|answer| answer.is_object()), "{kind:?}");
    }
}

/// Catches a question whose schema says something that is not enforced, such as a pattern.
#[test]
fn what_is_published_is_what_is_checked() {
    for kind in Kind::value_variants() {
        let schema = fixpoint_config::Schema::from_json(kind.decider().question_schema);
        let unenforced = schema.unenforced_keywords();
        assert!(unenforced.is_empty(), "{kind:?}: {unenforced:?}");
    }
}

#[test]
fn both_spellings_and_a_batch() {
    let snake = json!({"is_acceptable": true, "score": 73, "previous_score": 70, "attempt_count": 1,
        "suggestion_replan_count": 0, "config": {"noise_threshold": 5}});
    let camel = json!({"isAcceptable": true, "score": 73, "previousScore": 70, "attemptCount": 1,
        "suggestionReplanCount": 0, "config": {"noiseThreshold": 5}});
    let single = ask(Kind::Refinement, &snake).unwrap();
    assert_eq!(single["reason"]["code"], "stagnated_in_noise");
    assert_eq!(ask(Kind::Refinement, &json!([camel, snake])).unwrap(), json!([single, single]));
    assert_eq!(ask(Kind::Refinement, &json!([])).unwrap(), json!([]));
}

/// Catches a language picked by the shape of the JSON: what a user wrote looks like a sentence here and is none.
#[test]
fn what_a_user_wrote_is_carried_along_untouched() {
    let title = json!({"en": "Upload", "ja": "アップロード"});
    let question = json!({"tasks": [{"id": "t", "state": "RUNNING", "title": title}], "task": "t",
        "children": [{"id": "x", "title": title}], "lineage_iteration": 0});
    let rewired = ask(Kind::Replan, &question).unwrap();
    assert_eq!((&rewired["tasks"][0]["title"], &rewired["tasks"][1]["title"]), (&title, &title));
}

#[test]
fn what_is_wrong_is_named_in_one_line() {
    let table = [
        (Kind::Direction, json!({"current_score": 101}), "current_score"),
        (Kind::Direction, json!({"currentScore": "72"}), "current_score"),
        (Kind::Direction, json!({"noise_threshold": 0.5}), "noise_threshold"),
        (Kind::Direction, json!({"curent_score": 1}), "did you mean `current_score`"),
        (Kind::Direction, json!(7), "expected an object"),
        (Kind::Refinement, json!({"attempt_count": 0, "suggestion_replan_count": 0}), "is_acceptable"),
        (Kind::Refinement, json!({"is_acceptable": true, "attempt_count": -1}), "attempt_count"),
        (Kind::Schedule, json!({"tasks": []}), "max_workers"),
        (
            Kind::Schedule,
            json!({"tasks": [{"id": "a", "state": "ASLEEP"}], "max_workers": 1}),
            "tasks[0].state",
        ),
        (Kind::Convergence, json!({"iterations": [{"outcome": "incomplete"}]}), "iterations[0].fingerprints"),
        (Kind::Convergence, json!({"iterations": [], "config": {"max_stage": 1}}), "config.max_stage"),
        (Kind::Scope, json!({"changed": []}), "allowed_paths"),
        (
            Kind::Replan,
            json!([{"tasks": [], "task": "a", "children": [{"id": "b"}], "lineage_iteration": 0}]),
            "[0].task",
        ),
        (Kind::Bounds, json!({"tasks": 1, "config": {"max_worker": 1}}), "config.max_worker"),
    ];
    for (kind, question, named) in table {
        let problem = ask(kind, &question).unwrap_err();
        assert!(problem.contains(named) && !problem.contains('\n'), "{kind:?} {question}: {problem}");
    }
}

#[test]
fn deep_nesting_is_refused_and_not_a_crash() {
    for opening in ["[", "{\"a\":"] {
        let input = opening.repeat(1024 * 1024 / opening.len());
        let problem = answer(Kind::Verdict, input.as_bytes(), Lang::En).unwrap_err();
        assert!(problem.contains("invalid JSON"), "{problem}");
    }
}

fn any_kind() -> impl Strategy<Value = Kind> {
    prop::sample::select(Kind::value_variants())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Catches a reader or a decision that panics on bytes nobody would write.
    #[test]
    fn no_bytes_cause_a_panic(kind in any_kind(), input in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = answer(kind, &input, Lang::Ja);
    }

    /// The same with input that gets further: an example with some bytes replaced. Catches a reader that slices or
    /// indexes what it only believes to be there.
    #[test]
    fn no_damaged_question_causes_a_panic(
        kind in any_kind(), damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)
    ) {
        let mut input = kind.example().as_bytes().to_vec();
        for (place, byte) in damage {
            let place = place.index(input.len());
            input[place] = byte;
        }
        if let Err(problem) = answer(kind, &input, Lang::Ja) {
            prop_assert!(!problem.contains('\n'), "{}", problem);
        }
    }
}

/// Catches the default budget of `fixpoint run` as the worst case of a question that names no limit.
#[test]
fn the_worst_case_is_limited_only_by_a_budget_that_was_written() {
    let money = |config: &str| {
        let question = format!(
            r#"{{"tasks": 3, {config} "prices": {{"input_per_million": 3, "output_per_million": 15}}}}"#
        );
        answer(Kind::Bounds, question.as_bytes(), Lang::En).unwrap()["money"].as_f64().unwrap()
    };
    for unlimited in ["", r#""config": {},"#, r#""config": {"budget": {"attempts": 9000}},"#] {
        assert!(money(unlimited) > 1000.0, "{unlimited}");
    }
    assert_eq!(money(r#""config": {"budget": {"usd": 2}},"#), 2.0);
    assert_eq!(money(r#""config": {"budget": {"usd": 20}},"#), 20.0);
}
