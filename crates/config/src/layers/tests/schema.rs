//! What is true of every setting.

use fixpoint_vocabulary::settings::Settings;
use serde_json::json;

use crate::parse::{Format, parse};
use crate::schema::names::camel_case;
use crate::schema::rule::{Rule, ValueType};
use crate::{Completeness, Node, Schema};

use super::*;

/// Every key that is not below a list or a map, with its rule.
fn keys(rule: &Rule, path: &[String]) -> Vec<(Vec<String>, Rule)> {
    let ValueType::Record(record) = &rule.kind else { return Vec::new() };
    let mut all = Vec::new();
    for (name, field) in &record.fields {
        let path: Vec<String> = path.iter().chain([name]).cloned().collect();
        all.extend(keys(&field.rule, &path));
        all.push((path, field.rule.clone()));
    }
    all
}

#[test]
fn every_key_has_a_default_and_a_description() {
    let schema = Schema::of::<Settings>();
    let keys = keys(schema.rule(), &[]);
    assert!(keys.len() > 80, "only {} keys were found", keys.len());
    for (path, rule) in keys {
        assert!(rule.default.is_some(), "{path:?} has no default");
        assert!(rule.description.ends_with('.'), "{path:?} is not described by a sentence");
    }
}

#[test]
fn the_defaults_are_acceptable_and_read_back() {
    let schema = Schema::of::<Settings>();
    let defaults = Node::from(serde_json::to_value(Settings::default()).unwrap());
    let canonical = schema.validate(&defaults, Completeness::Whole).unwrap();
    assert_eq!(canonical, Value::from(&defaults));
    assert_eq!(serde_json::from_value::<Settings>(canonical).unwrap(), Settings::default());
    for (path, rule) in keys(schema.rule(), &[]) {
        let built_in = path.iter().try_fold(&defaults, |node, key| node.get(key)).unwrap();
        let published = Node::from(rule.default.unwrap());
        assert_eq!(Value::from(built_in), Value::from(&published), "{path:?}");
    }
}

#[test]
fn every_key_is_accepted_in_camel_case_in_yaml_and_in_json() {
    let schema = Schema::of::<Settings>();
    for (path, rule) in keys(schema.rule(), &[]) {
        let nest = |spell: fn(&str) -> String| {
            path.iter().rev().fold(rule.default.clone().unwrap(), |value, key| json!({spell(key): value}))
        };
        let (camel, snake) = (nest(camel_case), nest(str::to_owned));
        let block: String = path
            .iter()
            .enumerate()
            .map(|(depth, key)| {
                format!(
                    "{}{}:{}",
                    "  ".repeat(depth),
                    camel_case(key),
                    if depth + 1 == path.len() { " " } else { "\n" }
                )
            })
            .collect();
        let yaml = format!("{block}{}\n", rule.default.as_ref().unwrap());
        for (text, format) in [(camel.to_string(), Format::Json), (yaml, Format::Yaml)] {
            let node = parse(text.as_bytes(), format).unwrap();
            let canonical =
                schema.validate(&node, Completeness::Partial).unwrap_or_else(|p| panic!("{text}: {p}"));
            assert_eq!(canonical, Value::from(&Node::from(snake.clone())), "{text}");
        }
    }
}

#[test]
fn no_key_outside_of_lists_is_required() {
    let published = Schema::of::<Settings>().as_json().clone();
    assert_eq!(published.get("required"), None);
    assert_eq!(published["properties"]["refinement"].get("required"), None);
    assert!(published["properties"]["refinement"]["properties"].get("noise_threshold").is_some());
}
