//! Variables and flags.

use serde_json::json;

use super::*;

#[test]
fn variables_by_their_short_names() {
    for (name, value, path, expected) in [
        ("PLANNING_ENABLED", "no", "planning.enabled", json!(false)),
        ("PLANNING_STRATEGY", "Hierarchical", "planning.strategy", json!("hierarchical")),
        ("PLANNING_MAX_SUBTASKS", "7", "planning.max_subtasks", json!(7)),
        ("REFLECTION_ENABLED", "0", "planning.reflection.enabled", json!(false)),
        ("REFLECTION_INTERVAL", " 5 ", "planning.reflection.trigger_interval", json!(5)),
        ("MAX_PLAN_REVISIONS", "1", "planning.revision.max_revisions", json!(1)),
    ] {
        let fixture = Fixture::new().variable(name, value);
        assert_eq!(fixture.value(path), (expected, Layer::Environment), "{name}");
        assert_eq!(fixture.load().origins[path].origin, Origin::Environment { variable: name.into() });
    }
    let other_case = Fixture::new().variable("planning_enabled", "no");
    assert_eq!(other_case.value("planning.enabled"), (json!(true), Layer::Default));
}

#[test]
fn variables_by_their_full_names() {
    for (name, value, path, expected) in [
        ("FIXPOINT_MAX_WORKERS", "4", "max_workers", json!(4)),
        ("fixpoint_max_workers", "4.0", "max_workers", json!(4)),
        (
            "FIXPOINT_PLANNING__REFLECTION__TRIGGER_INTERVAL",
            "5",
            "planning.reflection.trigger_interval",
            json!(5),
        ),
        ("FIXPOINT_PLANNING", "{enabled: off, cache: {ttl: 1}}", "planning.cache.ttl", json!(1)),
        ("FIXPOINT_PLANNING", "{enabled: off}", "planning.enabled", json!(false)),
        ("FIXPOINT_BUDGET__TOKENS", "null", "budget.tokens", json!(null)),
        ("FIXPOINT_SANDBOX", "off", "sandbox.mode", json!("off")),
        ("FIXPOINT_MODELS__PLANNER", "1.10", "models.planner", json!("1.10")),
        ("FIXPOINT_MODELS__PLANNER", "null", "models.planner", json!("null")),
        ("FIXPOINT_MODELS__PLANNER", "vendor: a # b", "models.planner", json!("vendor: a # b")),
        ("FIXPOINT_MODELS__PLANNER", "'quoted'", "models.planner", json!("quoted")),
        ("FIXPOINT_MODELS__PLANNER", "'tis", "models.planner", json!("'tis")),
        ("FIXPOINT_USER_CONFIG_API__URL", "null", "user_config_api.url", json!(null)),
        ("FIXPOINT_USER_CONFIG_API__URL", "http://x:1/", "user_config_api.url", json!("http://x:1/")),
        ("FIXPOINT_SCOPE__ALLOWED_PATHS", "[a, 1, yes]", "scope.allowed_paths", json!(["a", "1", "yes"])),
        ("FIXPOINT_MODELS__ENDPOINTS__OFFICE__URL", "x", "models.endpoints.office.url", json!("x")),
    ] {
        assert_eq!(
            Fixture::new().variable(name, value).value(path),
            (expected, Layer::Environment),
            "{name}={value}"
        );
    }
}

#[test]
fn booleans_of_the_environment() {
    for (word, expected) in [
        ("1", true),
        ("yes", true),
        ("On", true),
        ("TRUE", true),
        ("0", false),
        ("no", false),
        ("off", false),
    ] {
        let fixture = Fixture::new().variable("FIXPOINT_PLANNING__ENABLED", word);
        assert_eq!(fixture.value("planning.enabled"), (json!(expected), Layer::Environment), "{word}");
    }
    assert_eq!(
        Fixture::new().variable("PLANNING_ENABLED", "maybe").errors(),
        ["$PLANNING_ENABLED: planning.enabled: expected true or false, found text \"maybe\""]
    );
}

#[test]
fn the_longer_variable_name_wins() {
    let fixture = Fixture::new()
        .variable("FIXPOINT_PLANNING__ENABLED", "true")
        .variable("PLANNING_ENABLED", "false")
        .variable("FIXPOINT_PLANNING", "{enabled: false, max_subtasks: 9}");
    assert_eq!(fixture.value("planning.enabled"), (json!(true), Layer::Environment));
    assert_eq!(fixture.value("planning.max_subtasks"), (json!(9), Layer::Environment));
}

#[test]
fn unknown_variables() {
    for (name, message) in [
        (
            "FIXPOINT_MAX_WORKRES",
            "$FIXPOINT_MAX_WORKRES: unknown setting; did you mean `FIXPOINT_MAX_WORKERS`?",
        ),
        (
            "FIXPOINT_REFINEMENT_NOISE_THRESHOLD",
            "$FIXPOINT_REFINEMENT_NOISE_THRESHOLD: unknown setting; \
             did you mean `FIXPOINT_REFINEMENT__NOISE_THRESHOLD`?",
        ),
        ("FIXPOINT_", "$FIXPOINT_: unknown setting; unset it, or rename it if it is not meant for Fixpoint"),
        (
            "FIXPOINT_NOISE_THRESHOLD",
            "$FIXPOINT_NOISE_THRESHOLD: unknown setting; did you mean `FIXPOINT_REFINEMENT__NOISE_THRESHOLD`?",
        ),
        (
            "FIXPOINT_SOMETHING_ELSE_ENTIRELY",
            "$FIXPOINT_SOMETHING_ELSE_ENTIRELY: unknown setting; unset it, or rename it if it is not meant for Fixpoint",
        ),
    ] {
        assert_eq!(Fixture::new().variable(name, "1").errors(), [message]);
        Fixture::new().variable(name, "").load();
    }
    for name in RESERVED_VARIABLES {
        Fixture::new().variable(name, "anything").load();
    }
    Fixture::new().variable("PATH", "/bin").variable("FIXPOINTS", "x").load();
}

#[test]
fn variables_that_the_settings_name_are_not_misspelt_settings() {
    let fixture = Fixture::new()
        .user(
            "user_config_api: {api_key_env: FIXPOINT_KEY}\nworkspace: {env: [\"FIXPOINT_CI*\"]}\n\
                  models: {endpoints: {a: {url: x, api_key_env: FIXPOINT_TOKEN}}}",
        )
        .variable("FIXPOINT_KEY", "x")
        .variable("FIXPOINT_TOKEN", "x")
        .variable("FIXPOINT_CI_ID", "x");
    fixture.load();
    assert_eq!(
        fixture.variable("FIXPOINT_OTHER", "x").errors(),
        ["$FIXPOINT_OTHER: unknown setting; unset it, or rename it if it is not meant for Fixpoint"]
    );
}

#[test]
fn flags() {
    for (text, path, expected) in [
        ("planning.reflection.trigger_interval=5", "planning.reflection.trigger_interval", json!(5)),
        ("planning.reflection.triggerInterval = 5", "planning.reflection.trigger_interval", json!(5)),
        ("maxWorkers=4", "max_workers", json!(4)),
        ("refinement.noise_threshold=2.5", "refinement.noise_threshold", json!(2.5)),
        (
            "checks=[{name: test, command: \"cargo test\"}]",
            "checks",
            json!([{"name": "test", "command": "cargo test"}]),
        ),
        ("models.planner=a=b", "models.planner", json!("a=b")),
        ("models.planner=", "models.planner", json!("")),
        ("planning.enabled=off", "planning.enabled", json!(false)),
        ("budget.usd=null", "budget.usd", json!(null)),
        ("models.prices.\"gpt-4.1\".per_attempt=2", "models.prices.\"gpt-4.1\".per_attempt", json!(2)),
    ] {
        assert_eq!(Fixture::new().set(text).value(path), (expected, Layer::CommandLine), "{text}");
    }
    let twice = Fixture::new().set("max_workers=4").set("maxWorkers=5");
    assert_eq!(twice.value("max_workers"), (json!(5), Layer::CommandLine));
}

#[test]
fn flags_that_are_refused() {
    const FORM: &str = "expected KEY=VALUE, such as `--set planning.reflection.trigger_interval=5`";
    for (text, message) in [
        ("foo", format!("--set \"foo\": {FORM}")),
        ("=5", format!("--set \"=5\": {FORM}")),
        ("a..b=5", format!("--set \"a..b=5\": {FORM}")),
        (
            "planning.reflexion.depth=deep",
            "--set planning.reflexion.depth: planning.reflexion: unknown key; did you mean `reflection`?"
                .to_owned(),
        ),
        ("max_workers.x=1", "--set max_workers.x: unknown key".to_owned()),
        (
            "max_workers=100",
            "--set max_workers: 100 is out of range: expected an integer from 1 to 64"
                .to_owned(),
        ),
        (
            "scope.allowed_paths=[*.rs]",
            "--set scope.allowed_paths: a value that begins with `*` is an alias, and there is no anchor of this name; quote \
             the value if it is text".to_owned(),
        ),
    ] {
        assert_eq!(Fixture::new().set(text).errors(), [message], "{text}");
    }
}
