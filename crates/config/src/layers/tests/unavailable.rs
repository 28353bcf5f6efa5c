//! Keys and values that are planned and not implemented: known, and refused wherever they are set.

use serde_json::json;

use super::*;
use crate::schema::names::camel_case;
use crate::unavailable_keys;

/// What is refused, with a value of the right type, down to one key below a section.
const SET: [(&str, &str); 11] = [
    ("agent.kind", "acp"),
    ("agent.kind", "builtin"),
    ("mcp_servers", "{}"),
    ("mcp_servers.github.command", "npx"),
    ("models.worker", "auto"),
    ("planning.execution.action_timeout", "60"),
    ("planning.execution.early_termination.enabled", "true"),
    ("planning.security.allowed_tools", "[]"),
    ("planning.security.require_approval", "['*delete*']"),
    ("workspace.max_bytes", "1GB"),
    ("workspace.max_files", "50000"),
];

/// The key as a YAML document, one level on each line.
fn yaml(path: &str, value: &str, spell: fn(&str) -> String) -> String {
    let keys: Vec<String> = path.split('.').map(spell).collect();
    let lines = keys.iter().enumerate().map(|(depth, key)| format!("{}{key}:", "  ".repeat(depth)));
    format!("{} {value}\n", lines.collect::<Vec<_>>().join("\n"))
}

fn variable(path: &str) -> String {
    format!("FIXPOINT_{}", path.to_uppercase().replace('.', "__"))
}

#[test]
fn they_are_refused_in_every_layer_even_with_their_default() {
    for (path, value) in SET {
        let (snake, camel) = (yaml(path, value, str::to_owned), yaml(path, value, camel_case));
        let variable = variable(path);
        for (layer, fixture, place) in [
            ("user file", Fixture::new().user(&snake), "user/config.yaml:"),
            ("project file", Fixture::new().project(&camel), "project/.fixpoint/config.yaml:"),
            ("local file", Fixture::new().local(&snake), "project/.fixpoint/config.local.yaml:"),
            ("environment", Fixture::new().variable(&variable, value), &format!("${variable}: ")),
            ("command line", Fixture::new().set(&format!("{path}={value}")), &format!("--set {path}: ")),
        ] {
            let errors = fixture.errors();
            let is_refused = errors[0].starts_with(place) && errors[0].contains("not available yet; ");
            assert!(is_refused && errors.len() == 1, "{path} in the {layer}: {errors:?}");
        }
    }
    let service = Fixture::new().user_config_api(json!({"models": {"worker": "auto"}}));
    assert!(service.errors()[0].starts_with("user config API: models.worker: not available yet; "));
}

#[test]
fn the_error_says_where_what_and_what_to_do() {
    for (text, expected) in [
        (
            "models:\n  planner: auto\n  worker: auto\n",
            ":3:3: models.worker: not available yet; set the model of the coding agent with `agent.model` instead",
        ),
        (
            "agent: {kind: ACP}\n",
            ":1:15: agent.kind: `acp` is not available yet; use `command` with `agent.command` instead",
        ),
    ] {
        let errors = Fixture::new().project(text).errors();
        assert_eq!(errors, [format!("project/.fixpoint/config.yaml{expected}")], "{text}");
    }
}

#[test]
fn all_of_them_are_tried_here() {
    for unavailable in unavailable_keys() {
        let is_it = |(path, value): &(&str, &str)| match &unavailable.value {
            Some(choice) => *path == unavailable.path && value == choice,
            None => *path == unavailable.path || path.starts_with(&format!("{}.", unavailable.path)),
        };
        assert!(SET.iter().any(is_it), "{unavailable:?} is not in the list");
    }
}

#[test]
fn no_available_key_is_refused_as_unavailable() {
    let keys: Vec<String> = crate::reference_keys().into_iter().map(|key| key.path).collect();
    for unavailable in unavailable_keys().into_iter().filter(|unavailable| unavailable.value.is_none()) {
        assert!(!keys.contains(&unavailable.path), "{unavailable:?} is in the reference");
    }
}
