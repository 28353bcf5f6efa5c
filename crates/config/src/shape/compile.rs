//! From the keywords of a JSON Schema to rules.
//!
//! Owns which keywords mean something here. Refuses nothing: as in JSON Schema itself, a keyword without a
//! meaning is ignored, and the type that is read in the end has the last word. [`unenforced`] tells which
//! were, so that a test of every type in use can insist on none.
//!
//! Invariant: a rule never asks for more than its schema does.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Number, Value};

use super::rule::{Choice, Field, Kind, Length, Nullability, Others, Presence, Range, Record, Rule};

/// The name a property used to have.
const LEGACY_NAME: &str = "x-legacy-name";

/// Keywords that are enforced.
const ENFORCED: [&str; 18] = [
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
    LEGACY_NAME,
];

/// Keywords for people and editors.
const DESCRIPTIVE: [&str; 6] = ["$schema", "title", "description", "examples", "deprecated", "$comment"];

/// The rule a schema states.
pub(super) fn rule(schema: &Value) -> Rule {
    let Some(keywords) = schema.as_object() else { return Rule::anything() };
    let (kind, nullability) = kind(keywords);
    Rule {
        description: text(keywords, "description"),
        default: keywords.get("default").cloned(),
        nullability,
        kind,
    }
}

/// The keywords of a schema that nothing here enforces.
pub(super) fn unenforced(schema: &Value) -> BTreeSet<String> {
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

fn kind(keywords: &Map<String, Value>) -> (Kind, Nullability) {
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
        _ => (Kind::Anything, Nullability::Nullable),
    }
}

fn constant(value: &Value, description: String) -> (Kind, Nullability) {
    match value {
        Value::Null => (Kind::Either(Vec::new()), Nullability::Nullable),
        Value::String(spelling) => (
            Kind::Choice(Vec::from([Choice { spelling: spelling.clone(), description }])),
            Nullability::NotNull,
        ),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            (Kind::Exactly(value.clone()), Nullability::NotNull)
        }
    }
}

/// One rule out of several. Null is taken out, choices become one choice, and what is left alone stands
/// alone.
fn either(rules: impl Iterator<Item = Rule>) -> (Kind, Nullability) {
    let mut nullability = Nullability::NotNull;
    let mut choices = Vec::new();
    let mut others = Vec::new();
    for rule in rules {
        if rule.nullability == Nullability::Nullable {
            nullability = Nullability::Nullable;
        }
        match rule.kind {
            Kind::Choice(more) => choices.extend(more),
            Kind::Either(none) if none.is_empty() => {}
            Kind::Anything
            | Kind::Bool
            | Kind::Integer(_)
            | Kind::Number(_)
            | Kind::Text(_)
            | Kind::Exactly(_)
            | Kind::List(..)
            | Kind::Record(_)
            | Kind::Map(_)
            | Kind::Either(_) => others.push(Rule { nullability: Nullability::NotNull, ..rule }),
        }
    }
    if !choices.is_empty() {
        let choice =
            Rule { kind: Kind::Choice(choices), nullability: Nullability::NotNull, ..Rule::anything() };
        others.insert(0, choice);
    }
    match others.pop() {
        Some(only) if others.is_empty() => (only.kind, nullability),
        Some(last) => {
            others.push(last);
            (Kind::Either(others), nullability)
        }
        None => (Kind::Either(others), nullability),
    }
}

fn typed(name: &str, keywords: &Map<String, Value>) -> (Kind, Nullability) {
    let kind = match name {
        "null" => return (Kind::Either(Vec::new()), Nullability::Nullable),
        "boolean" => Kind::Bool,
        "integer" => Kind::Integer(range(keywords)),
        "number" => Kind::Number(range(keywords)),
        "string" => Kind::Text(length(keywords, "minLength", "maxLength")),
        "array" => {
            let items = keywords.get("items").map_or_else(Rule::anything, rule);
            Kind::List(Box::new(items), length(keywords, "minItems", "maxItems"))
        }
        "object" => object(keywords),
        _ => return (Kind::Anything, Nullability::Nullable),
    };
    (kind, Nullability::NotNull)
}

fn object(keywords: &Map<String, Value>) -> Kind {
    let additional = keywords.get("additionalProperties");
    let Some(properties) = keywords.get("properties").and_then(Value::as_object) else {
        return match additional {
            Some(Value::Bool(false)) => Kind::Record(Record::new(BTreeMap::new(), Others::Refused)),
            Some(values) => Kind::Map(Box::new(rule(values))),
            None => Kind::Map(Box::new(Rule::anything())),
        };
    };
    let required = keywords.get("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|names| names.iter().any(|required| required == name));
    let fields = properties
        .iter()
        .map(|(name, schema)| {
            let presence = if is_required(name) { Presence::Required } else { Presence::Optional };
            let legacy = schema.get(LEGACY_NAME).and_then(Value::as_str).map(str::to_owned);
            (name.clone(), Field { rule: rule(schema), presence, legacy })
        })
        .collect();
    let others = if additional == Some(&Value::Bool(false)) { Others::Refused } else { Others::Kept };
    Kind::Record(Record::new(fields, others))
}

/// The bounds as stated, and where none are, those of the machine type that will hold the number.
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

    fn choice(names: &[&str]) -> Kind {
        let choice = |name: &&str| Choice { spelling: (*name).to_owned(), description: String::new() };
        Kind::Choice(names.iter().map(choice).collect())
    }

    #[test]
    fn alternatives_become_one_rule_where_they_can() {
        for (schema, kind, nullability) in [
            (json!({"oneOf": [{"const": "a"}, {"const": "b"}]}), choice(&["a", "b"]), Nullability::NotNull),
            (json!({"enum": ["a", "b", null]}), choice(&["a", "b"]), Nullability::Nullable),
            (
                json!({"anyOf": [{"oneOf": [{"const": "a"}, {"enum": ["b"]}]}, {"type": "null"}]}),
                choice(&["a", "b"]),
                Nullability::Nullable,
            ),
            (json!({"type": ["boolean", "null"]}), Kind::Bool, Nullability::Nullable),
            (json!({}), Kind::Anything, Nullability::Nullable),
            (json!(true), Kind::Anything, Nullability::Nullable),
            (json!({"type": "null"}), Kind::Either(Vec::new()), Nullability::Nullable),
            (json!({"const": 5}), Kind::Exactly(json!(5)), Nullability::NotNull),
        ] {
            let rule = rule(&schema);
            assert_eq!((rule.kind, rule.nullability), (kind, nullability), "{schema}");
        }
    }

    #[test]
    fn machine_types_bound_what_nothing_else_bounds() {
        let bounds = |schema| {
            let Kind::Integer(range) = rule(&schema).kind else { panic!("{schema} is about integers") };
            (range.minimum, range.maximum)
        };
        let both = |minimum: i64, maximum: i64| (Some(minimum.into()), Some(maximum.into()));
        assert_eq!(bounds(json!({"type": "integer", "format": "int8"})), both(-128, 127));
        assert_eq!(bounds(json!({"type": "integer", "format": "uint8", "minimum": 1})), both(1, 255));
        assert_eq!(bounds(json!({"type": "integer"})), (None, None));
    }

    #[test]
    fn keywords_without_a_meaning_here_are_told() {
        let schema = json!({
            "title": "T",
            "properties": {"pattern": {"type": "string", "pattern": "x"}},
            "items": {"uniqueItems": true},
            "anyOf": [{"$ref": "#"}]
        });
        assert_eq!(unenforced(&schema).into_iter().collect::<Vec<_>>(), ["$ref", "pattern", "uniqueItems"]);
    }
}
