//! Makes rules from the keywords of a JSON Schema.
//!
//! As in JSON Schema itself, unknown keywords are ignored. [`unenforced_keywords`] lists those that were, so that a test of
//! every type in use can insist on none.
//!
//! Invariant: a rule never asks for more than its schema does.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Number, Value};

use super::rule::{
    Choice, Field, Length, Nullability, Presence, Range, Record, Rule, UnknownKeys, ValueType,
};

/// Our own keywords: the name a property used to have; the keys of an object and the choices of a value that are not
/// available yet, each with what to do instead.
const OLD_NAME: &str = "x-legacy-name";
const UNAVAILABLE_KEYS: &str = "x-unavailable-keys";
const UNAVAILABLE_VALUES: &str = "x-unavailable-values";

const ENFORCED: [&str; 20] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "format",
    "enum",
    "const",
    "oneOf",
    "anyOf",
    "default",
    OLD_NAME,
    UNAVAILABLE_KEYS,
    UNAVAILABLE_VALUES,
];

/// Keywords that only describe.
const DESCRIPTIVE: [&str; 6] = ["$schema", "title", "description", "examples", "deprecated", "$comment"];

pub(super) fn rule(schema: &Value) -> Rule {
    let Some(keywords) = schema.as_object() else { return Rule::anything() };
    let (kind, nullability) = kind(keywords);
    Rule {
        description: text(keywords, "description"),
        default: keywords.get("default").cloned(),
        nullability,
        kind,
        unavailable_keys: texts(keywords, UNAVAILABLE_KEYS),
        unavailable_values: texts(keywords, UNAVAILABLE_VALUES),
    }
}

pub(super) fn unenforced_keywords(schema: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect_unenforced(schema, &mut found);
    found
}

fn collect_unenforced(schema: &Value, found: &mut BTreeSet<String>) {
    let Some(keywords) = schema.as_object() else { return };
    for (keyword, value) in keywords {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                properties.values().for_each(|property| collect_unenforced(property, found));
            }
            ("oneOf" | "anyOf", Value::Array(alternatives)) => {
                alternatives.iter().for_each(|alternative| collect_unenforced(alternative, found));
            }
            ("items" | "additionalProperties", _) => collect_unenforced(value, found),
            (other, _) if !ENFORCED.contains(&other) && !DESCRIPTIVE.contains(&other) => {
                found.insert(other.to_owned());
            }
            _ => {}
        }
    }
}

fn text(keywords: &Map<String, Value>, keyword: &str) -> String {
    keywords.get(keyword).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn texts(keywords: &Map<String, Value>, keyword: &str) -> BTreeMap<String, String> {
    let entries = keywords.get(keyword).and_then(Value::as_object).into_iter().flatten();
    entries.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

fn kind(keywords: &Map<String, Value>) -> (ValueType, Nullability) {
    if let Some(value) = keywords.get("const") {
        return constant(value, text(keywords, "description"));
    }
    if let Some(values) = keywords.get("enum").and_then(Value::as_array) {
        return either(values.iter().map(|value| {
            let (kind, nullability) = constant(value, String::new());
            Rule { kind, nullability, ..Rule::anything() }
        }));
    }
    let alternatives = ["oneOf", "anyOf"].iter().find_map(|keyword| keywords.get(*keyword)?.as_array());
    if let Some(alternatives) = alternatives.filter(|_| !keywords.contains_key("properties")) {
        return either(alternatives.iter().map(rule));
    }
    match keywords.get("type") {
        Some(Value::String(name)) => typed(name, keywords),
        Some(Value::Array(names)) => either(names.iter().filter_map(Value::as_str).map(|name| {
            let (kind, nullability) = typed(name, keywords);
            Rule { kind, nullability, ..Rule::anything() }
        })),
        _ => (ValueType::Anything, Nullability::Nullable),
    }
}

fn constant(value: &Value, description: String) -> (ValueType, Nullability) {
    match value {
        Value::Null => (ValueType::Either(Vec::new()), Nullability::Nullable),
        Value::String(spelling) => (
            ValueType::Choice(Vec::from([Choice { spelling: spelling.clone(), description }])),
            Nullability::NotNull,
        ),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            (ValueType::Exactly(value.clone()), Nullability::NotNull)
        }
    }
}

/// One rule out of several alternatives: null becomes nullability, all choices become one list of choices.
fn either(rules: impl Iterator<Item = Rule>) -> (ValueType, Nullability) {
    let mut nullability = Nullability::NotNull;
    let mut choices = Vec::new();
    let mut alternatives = Vec::new();
    for rule in rules {
        if rule.nullability == Nullability::Nullable {
            nullability = Nullability::Nullable;
        }
        match rule.kind {
            ValueType::Choice(more) => choices.extend(more),
            ValueType::Either(none) if none.is_empty() => {}
            ValueType::Anything
            | ValueType::Bool
            | ValueType::Integer(_)
            | ValueType::Number(_)
            | ValueType::Text(_)
            | ValueType::Exactly(_)
            | ValueType::List(..)
            | ValueType::Record(_)
            | ValueType::Map(_)
            | ValueType::Either(_) => alternatives.push(Rule { nullability: Nullability::NotNull, ..rule }),
        }
    }
    if !choices.is_empty() {
        let choice =
            Rule { kind: ValueType::Choice(choices), nullability: Nullability::NotNull, ..Rule::anything() };
        alternatives.insert(0, choice);
    }
    match <[Rule; 1]>::try_from(alternatives) {
        Ok([only]) => (only.kind, nullability),
        Err(several) => (ValueType::Either(several), nullability),
    }
}

fn typed(name: &str, keywords: &Map<String, Value>) -> (ValueType, Nullability) {
    let kind = match name {
        "null" => return (ValueType::Either(Vec::new()), Nullability::Nullable),
        "boolean" => ValueType::Bool,
        "integer" => ValueType::Integer(range(keywords)),
        "number" => ValueType::Number(range(keywords)),
        "string" => ValueType::Text(length(keywords, "minLength", "maxLength")),
        "array" => {
            let items = keywords.get("items").map_or_else(Rule::anything, rule);
            ValueType::List(Box::new(items), length(keywords, "minItems", "maxItems"))
        }
        "object" => object(keywords),
        _ => return (ValueType::Anything, Nullability::Nullable),
    };
    (kind, Nullability::NotNull)
}

fn object(keywords: &Map<String, Value>) -> ValueType {
    let additional = keywords.get("additionalProperties");
    let Some(properties) = keywords.get("properties").and_then(Value::as_object) else {
        return match additional {
            Some(Value::Bool(false)) => ValueType::Record(Record::new(BTreeMap::new(), UnknownKeys::Refused)),
            Some(values) => ValueType::Map(Box::new(rule(values))),
            None => ValueType::Map(Box::new(Rule::anything())),
        };
    };
    let required = keywords.get("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|names| names.iter().any(|required| required == name));
    let fields = properties
        .iter()
        .map(|(name, schema)| {
            let presence = if is_required(name) { Presence::Required } else { Presence::Optional };
            let old_name = schema.get(OLD_NAME).and_then(Value::as_str).map(str::to_owned);
            (name.clone(), Field { rule: rule(schema), presence, old_name })
        })
        .collect();
    let unknown_keys =
        if additional == Some(&Value::Bool(false)) { UnknownKeys::Refused } else { UnknownKeys::Kept };
    ValueType::Record(Record::new(fields, unknown_keys))
}

/// The limits of the schema, or else those of the integer type that holds the number.
fn range(keywords: &Map<String, Value>) -> Range {
    let (minimum, maximum): (Option<Number>, Option<Number>) =
        match keywords.get("format").and_then(Value::as_str) {
            Some("uint8") => (Some(0.into()), Some(u8::MAX.into())),
            Some("uint16") => (Some(0.into()), Some(u16::MAX.into())),
            Some("uint32") => (Some(0.into()), Some(u32::MAX.into())),
            Some("uint64" | "uint") => (Some(0.into()), Some(u64::MAX.into())),
            Some("int8") => (Some(i8::MIN.into()), Some(i8::MAX.into())),
            Some("int16") => (Some(i16::MIN.into()), Some(i16::MAX.into())),
            Some("int32") => (Some(i32::MIN.into()), Some(i32::MAX.into())),
            Some("int64" | "int") => (Some(i64::MIN.into()), Some(i64::MAX.into())),
            Some(_) | None => (None, None),
        };
    let stated = |keyword: &str| keywords.get(keyword).and_then(Value::as_number).cloned();
    Range { minimum: stated("minimum").or(minimum), maximum: stated("maximum").or(maximum) }
}

fn length(keywords: &Map<String, Value>, minimum: &str, maximum: &str) -> Length {
    let stated = |keyword: &str| keywords.get(keyword).and_then(Value::as_u64);
    Length { minimum: stated(minimum), maximum: stated(maximum) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn choice(names: &[&str]) -> ValueType {
        let choice = |name: &&str| Choice { spelling: (*name).to_owned(), description: String::new() };
        ValueType::Choice(names.iter().map(choice).collect())
    }

    #[test]
    fn alternatives_become_one_rule_if_possible() {
        for (schema, kind, nullability) in [
            (json!({"oneOf": [{"const": "a"}, {"const": "b"}]}), choice(&["a", "b"]), Nullability::NotNull),
            (json!({"enum": ["a", "b", null]}), choice(&["a", "b"]), Nullability::Nullable),
            (
                json!({"anyOf": [{"oneOf": [{"const": "a"}, {"enum": ["b"]}]}, {"type": "null"}]}),
                choice(&["a", "b"]),
                Nullability::Nullable,
            ),
            (json!({"type": ["boolean", "null"]}), ValueType::Bool, Nullability::Nullable),
            (json!({}), ValueType::Anything, Nullability::Nullable),
            (json!(true), ValueType::Anything, Nullability::Nullable),
            (json!({"type": "null"}), ValueType::Either(Vec::new()), Nullability::Nullable),
            (json!({"const": 5}), ValueType::Exactly(json!(5)), Nullability::NotNull),
        ] {
            let rule = rule(&schema);
            assert_eq!((rule.kind, rule.nullability), (kind, nullability), "{schema}");
        }
    }

    #[test]
    fn integer_types_limit_what_the_schema_does_not() {
        let bounds = |schema| {
            let ValueType::Integer(range) = rule(&schema).kind else { panic!("{schema} is about integers") };
            (range.minimum, range.maximum)
        };
        let both = |minimum: i64, maximum: i64| (Some(minimum.into()), Some(maximum.into()));
        assert_eq!(bounds(json!({"type": "integer", "format": "int8"})), both(-128, 127));
        assert_eq!(bounds(json!({"type": "integer", "format": "uint8", "minimum": 1})), both(1, 255));
        assert_eq!(bounds(json!({"type": "integer"})), (None, None));
    }

    #[test]
    fn ignored_keywords_are_listed() {
        let schema = json!({
            "title": "T",
            "properties": {"pattern": {"type": "string", "pattern": "x"}},
            "items": {"uniqueItems": true},
            "anyOf": [{"$ref": "#"}]
        });
        assert_eq!(
            unenforced_keywords(&schema).into_iter().collect::<Vec<_>>(),
            ["$ref", "pattern", "uniqueItems"]
        );
    }
}
