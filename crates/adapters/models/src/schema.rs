//! JSON Schemas in the forms that providers accept.
//!
//! Owns whether a schema can be enforced strictly, its closed form, and its form as instructions. Refuses to validate
//! documents: the reader of the answer does.

use serde_json::{Map, Value, json};

/// Keywords that limit sizes and lengths; most providers that enforce a schema reject them.
const BOUNDS: [&str; 15] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "format",
    "default",
    "$schema",
];

/// Whether OpenAI's strict mode accepts a schema: every object is closed and every property required.
pub(crate) fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => {
            let properties = map.get("properties").and_then(Value::as_object);
            let is_object = properties.is_some() || map.get("type").is_some_and(|kind| kind == "object");
            let closed = map.get("additionalProperties") == Some(&Value::Bool(false));
            let required = map.get("required").and_then(Value::as_array);
            let all_required = properties.is_some_and(|properties| {
                properties.keys().all(|name| {
                    required.is_some_and(|required| required.iter().any(|other| other.as_str() == Some(name)))
                })
            });
            (!is_object || (closed && all_required)) && map.values().all(is_strict)
        }
        Value::Array(items) => items.iter().all(is_strict),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

/// The schema with every object closed and without limits; the limits are moved into the description.
pub(crate) fn closed(schema: &Value) -> Value {
    match schema {
        Value::Object(map) => Value::Object(closed_object(map)),
        Value::Array(items) => Value::Array(items.iter().map(closed).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => schema.clone(),
    }
}

fn closed_object(map: &Map<String, Value>) -> Map<String, Value> {
    let mut closed_map = Map::new();
    let mut bounds = Vec::new();
    for (keyword, value) in map {
        match keyword.as_str() {
            // The keys in here are names of properties, not keywords.
            "properties" | "$defs" | "definitions" => {
                let inner = value.as_object().map(|inner| {
                    inner.iter().map(|(name, schema)| (name.clone(), closed(schema))).collect::<Map<_, _>>()
                });
                closed_map.insert(keyword.clone(), inner.map_or_else(|| value.clone(), Value::Object));
            }
            "enum" | "const" | "required" | "examples" => {
                closed_map.insert(keyword.clone(), value.clone());
            }
            bound if BOUNDS.contains(&bound) => {
                if bound != "$schema" {
                    bounds.push(format!("{bound}: {value}"));
                }
            }
            _ => {
                closed_map.insert(keyword.clone(), closed(value));
            }
        }
    }
    if map.contains_key("properties") || map.get("type").is_some_and(|kind| kind == "object") {
        closed_map.insert("additionalProperties".to_string(), Value::Bool(false));
    }
    if !bounds.is_empty() {
        let description = map.get("description").and_then(Value::as_str).unwrap_or_default();
        let separator = if description.is_empty() { "" } else { " " };
        closed_map.insert(
            "description".to_string(),
            json!(format!("{description}{separator}({})", bounds.join(", "))),
        );
    }
    closed_map
}

/// The schema as instructions, for endpoints that cannot enforce it.
pub(crate) fn as_instructions(name: &str, schema: &Value) -> String {
    format!(
        "Answer with one JSON document named {name} and nothing else: no prose, no code fence. It must conform to this \
         JSON Schema:\n{schema}"
    )
}

/// A name that providers accept: letters, digits, `_` and `-`, at most 64.
pub(crate) fn safe_name(name: &str) -> String {
    let safe = |letter: char| {
        if letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-') { letter } else { '_' }
    };
    let name: String = name.chars().take(64).map(safe).collect();
    if name.is_empty() { "answer".to_string() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_schemas_are_recognised() {
        let strict = json!({"type": "object", "additionalProperties": false, "required": ["a"],
            "properties": {"a": {"type": "string"}}});
        assert!(is_strict(&strict));
        for (change, to) in [("additionalProperties", json!(true)), ("required", json!([]))] {
            let mut other = strict.clone();
            other[change] = to;
            assert!(!is_strict(&other), "{change}");
            assert!(!is_strict(&json!({"type": "array", "items": other})), "{change} within");
        }
        assert!(!is_strict(&json!({"type": "object"})));
    }

    #[test]
    fn a_closed_schema_keeps_its_limits_in_the_description() {
        let schema = json!({"$schema": "x", "type": "object", "required": ["format"], "properties": {
            "format": {"type": "integer", "minimum": 1, "maximum": 5, "description": "How many."},
            "kind": {"enum": ["a"]}}});
        assert_eq!(
            closed(&schema),
            json!({"type": "object", "additionalProperties": false, "required": ["format"], "properties": {
                "format": {"type": "integer", "description": "How many. (maximum: 5, minimum: 1)"},
                "kind": {"enum": ["a"]}}})
        );
    }

    #[test]
    fn names_are_made_safe() {
        assert_eq!(safe_name("plan judgement/計画"), "plan_judgement___");
        assert_eq!(safe_name(""), "answer");
        assert_eq!(safe_name(&"x".repeat(99)).len(), 64);
    }
}
