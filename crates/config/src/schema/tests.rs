//! What schemas accept, the canonical form they give it, and how they refuse the rest.

use proptest::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::*;
use crate::parse::{Format, parse};

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only the schema is used")]
struct Sample {
    attempt_count: u32,
    #[serde(default)]
    #[schemars(range(min = 1, max = 10))]
    noise_threshold: f64,
    #[serde(default)]
    mode: Mode,
    target: Option<u8>,
    #[serde(default)]
    #[schemars(length(max = 3))]
    tasks: Vec<Task>,
    #[serde(default)]
    #[schemars(extend("x-legacy-name" = "old_name"))]
    new_name: u8,
    #[serde(default)]
    free: std::collections::BTreeMap<String, bool>,
    #[serde(default)]
    rule: Option<Either>,
    #[serde(default)]
    anything: serde_json::Value,
    #[serde(default)]
    tagged: Option<Tagged>,
    #[serde(default)]
    total: u64,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(extend("x-unavailable-values" = {"tree_of_thought": "use `chain_of_thought`"}))]
enum Mode {
    #[default]
    Auto,
    ChainOfThought,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("x-unavailable-keys" = {"depends_on": "remove it"}))]
#[expect(dead_code, reason = "only the schema is used")]
struct Task {
    #[schemars(length(min = 1))]
    id: String,
    #[serde(default)]
    scope_paths: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only the schema is used")]
enum Either {
    Glob(String),
    Conditional { tool: String },
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(dead_code, reason = "only the schema is used")]
enum Tagged {
    Circle { radius: u8 },
    Square { side: u8 },
}

fn validated(value: Value) -> Result<Value, String> {
    Schema::of::<Sample>()
        .validate(&Node::from(value), Completeness::Whole)
        .map_err(|problem| problem.to_string())
}

/// The sample with one more field.
fn with(key: &str, value: Value) -> Value {
    json!({"attempt_count": 1, key: value})
}

#[test]
fn accepted_values_take_their_canonical_form() {
    for (given, canonical) in [
        (with("noiseThreshold", json!(2.0)), with("noise_threshold", json!(2))),
        (with("mode", json!("AUTO")), with("mode", json!("auto"))),
        (with("mode", json!("chain-of-thought")), with("mode", json!("chain_of_thought"))),
        (with("mode", json!("chainOfThought")), with("mode", json!("chain_of_thought"))),
        (with("target", json!(null)), with("target", json!(null))),
        (with("mode", json!(null)), json!({"attempt_count": 1})),
        (
            with("tasks", json!([{"id": "a", "scopePaths": ["x"]}])),
            with("tasks", json!([{"id": "a", "scope_paths": ["x"]}])),
        ),
        (with("old_name", json!(3)), with("new_name", json!(3))),
        (with("oldName", json!(3)), with("new_name", json!(3))),
        (json!({"attempt_count": 1, "old_name": 3, "new_name": 4}), with("new_name", json!(4))),
        (json!({"attempt_count": 1, "old_name": 3, "new_name": null}), with("new_name", json!(3))),
        (with("free", json!({"camelCase": true})), with("free", json!({"camelCase": true}))),
        (with("rule", json!("*x*")), with("rule", json!("*x*"))),
        (with("rule", json!({"tool": "x"})), with("rule", json!({"tool": "x"}))),
        (with("anything", json!({"keptAs": [1, null]})), with("anything", json!({"keptAs": [1, null]}))),
        (
            with("tagged", json!({"kind": "Square", "side": 2})),
            with("tagged", json!({"kind": "square", "side": 2})),
        ),
        (json!({"attemptCount": 1.0}), json!({"attempt_count": 1})),
    ] {
        assert_eq!(validated(given.clone()), Ok(canonical), "{given}");
    }
}

#[test]
fn refused_values_are_named_with_what_is_expected() {
    for (given, message) in [
        (json!(5), "expected a map with `attempt_count`, found number 5"),
        (json!({"attempt_count": "x"}), "attempt_count: expected an integer, found text \"x\""),
        (
            json!({"attempt_count": "7"}),
            "attempt_count: expected an integer, found text \"7\"; remove the quotes",
        ),
        (
            with("tasks", json!([{"id": "a", "scope_paths": "src"}])),
            "tasks[0].scope_paths: expected a list, found text \"src\"; put it in brackets: [ ]",
        ),
        (json!({"attempt_count": null}), "attempt_count: expected an integer, found null"),
        (json!({"attempt_count": 1.5}), "attempt_count: expected an integer, found number 1.5"),
        (
            json!({"attempt_count": -1}),
            "attempt_count: -1 is out of range: expected an integer from 0 to 4294967295",
        ),
        (with("total", json!(1e19)), "total: expected an integer, found number 1e+19"),
        (
            with("noise_threshold", json!(11)),
            "noise_threshold: 11 is out of range: expected a number from 1 to 10",
        ),
        (
            with("mode", json!("aut")),
            "mode: \"aut\" is not one of `auto`, `chain_of_thought`; did you mean `auto`?",
        ),
        (with("mode", json!("x")), "mode: \"x\" is not one of `auto`, `chain_of_thought`"),
        (with("mode", json!(1)), "mode: expected one of `auto`, `chain_of_thought`, found number 1"),
        (with("target", json!(256)), "target: 256 is out of range: expected an integer from 0 to 255"),
        (with("tasks", json!([{"id": "a"}, {"id": 5}])), "tasks[1].id: expected text, found number 5"),
        (
            with("tasks", json!([{"id": ""}])),
            "tasks[0].id: a length of 0 characters is out of range: expected at least 1 character",
        ),
        (
            with("tasks", json!([1, 2, 3, 4])),
            "tasks: a length of 4 items is out of range: expected at most 3 items",
        ),
        (with("old_name", json!(300)), "old_name: 300 is out of range: expected an integer from 0 to 255"),
        (with("free", json!({"a.b": 1})), "free.\"a.b\": expected true or false, found number 1"),
        (with("rule", json!(5)), "rule: expected text or a map with `tool`, found number 5"),
    ] {
        assert_eq!(validated(given.clone()), Err(message.to_owned()), "{given}");
    }
}

#[test]
fn refused_keys_are_named_with_what_to_do() {
    for (given, message) in [
        (json!({}), "missing field `attempt_count`"),
        (
            with("attempt", json!({"total": 1})),
            "attempt: unknown key; the keys here are `anything`, `attempt_count`, `free`, `mode`, `new_name`, `noise_threshold`, `rule`, `tagged`, `target`, `tasks`, `total`",
        ),
        (
            with("tasks", json!([{"id": "a", "total": 1}])),
            "tasks[0].total: unknown key; did you mean `total`?",
        ),
        (
            with("tasks", json!([{"id": "a", "depends_on": []}])),
            "tasks[0].depends_on: not available yet; remove it",
        ),
        (
            with("tasks", json!([{"id": "a", "dependsOn": null}])),
            "tasks[0].depends_on: not available yet; remove it",
        ),
        (
            with("mode", json!("TreeOfThought")),
            "mode: `tree_of_thought` is not available yet; use `chain_of_thought`",
        ),
        (with("noise_treshold", json!(1)), "noise_treshold: unknown key; did you mean `noise_threshold`?"),
        (with("tasks", json!([{}])), "tasks[0]: missing field `id`"),
        (with("rule", json!({"tol": "x"})), "rule.tol: unknown key; did you mean `tool`?"),
        (
            with("tagged", json!({"kind": "square", "radius": 1})),
            "tagged.radius: unknown key; the keys here are `kind`, `side`",
        ),
        (
            json!({"attempt_count": 1, "noiseThreshold": 3, "noise_threshold": 2}),
            "noise_threshold: given twice, as `noiseThreshold` and as `noise_threshold`; keep one of them",
        ),
    ] {
        assert_eq!(validated(given.clone()), Err(message.to_owned()), "{given}");
    }
}

#[test]
fn all_problems_are_reported_in_the_order_they_were_written() {
    let node = parse(b"noise_threshold: 99\nattempt_count: x\nfoo: 1\n", Format::Yaml).unwrap();
    let (_, problems) = Schema::of::<Sample>().check(&node, Completeness::Whole, Typing::Strict);
    let reported: Vec<_> =
        problems.iter().map(|problem| (problem.position.unwrap().line, problem.path.as_str())).collect();
    assert_eq!(reported, [(1, "noise_threshold"), (2, "attempt_count"), (3, "foo")]);
}

#[test]
fn a_layer_may_lack_required_keys_but_an_item_of_a_list_may_not() {
    let schema = Schema::of::<Sample>();
    assert_eq!(schema.validate(&Node::from(json!({})), Completeness::Partial), Ok(json!({})));
    let item = Node::from(json!({"tasks": [{}]}));
    assert!(schema.validate(&item, Completeness::Partial).is_err());
}

#[test]
fn unquoted_values_get_the_expected_type() {
    let schema = Schema::of::<Sample>();
    let read = |text: &str| {
        let node = parse(text.as_bytes(), Format::Yaml).unwrap();
        let (canonical, problems) = schema.check(&node, Completeness::Partial, Typing::Lenient);
        assert_eq!(problems, [], "{text}");
        Value::from(&canonical)
    };
    assert_eq!(
        read("free: {a: yes, b: OFF, c: 1, d: 0, e: true}"),
        json!({"free": {"a": true, "b": false, "c": true, "d": false, "e": true}})
    );
    assert_eq!(read("tasks: [{id: 1.10}]"), json!({"tasks": [{"id": "1.10"}]}));
    assert_eq!(read("rule: 007"), json!({"rule": "007"}));
    let strict = parse(b"free: {a: yes}", Format::Yaml).unwrap();
    assert!(schema.validate(&strict, Completeness::Partial).is_err());
}

#[test]
fn the_published_schema_forbids_unknown_keys() {
    let schema = Schema::of::<Sample>();
    assert_eq!(schema.as_json()["additionalProperties"], json!(false));
    assert_eq!(schema.as_json()["properties"]["tasks"]["items"]["additionalProperties"], json!(false));
    assert_eq!(schema.as_json()["properties"]["free"]["additionalProperties"], json!({"type": "boolean"}));
    assert_eq!(schema.unenforced_keywords(), BTreeSet::new());
    assert!(Schema::of::<fixpoint_vocabulary::settings::Settings>().unenforced_keywords().is_empty());
}

proptest! {
    /// Catches: a canonical form that depends on the spelling it was made from.
    #[test]
    fn the_canonical_form_is_its_own_canonical_form(
        attempts in 0u32..,
        noise in 1.0..10.0f64,
        target in prop::option::of(0u8..),
        ids in prop::collection::vec("[a-z]{1,5}", 0..3),
    ) {
        let tasks: Vec<Value> = ids.iter().map(|id| json!({"id": id})).collect();
        let given = json!({
            "attemptCount": attempts, "noiseThreshold": noise, "target": target, "tasks": tasks, "oldName": 1
        });
        let once = validated(given).unwrap();
        prop_assert_eq!(validated(once.clone()), Ok(once));
    }
}
