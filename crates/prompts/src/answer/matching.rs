//! Bringing a JSON value into the form of a type, by the schema of the type.
//!
//! Owns the accepted spellings (camelCase, choices in any case, numbers for names, `null` for absent) and the messages
//! about mismatches. Refuses to drop anything but unknown fields. What it accepts, serde can read.
//!
//! Invariant: a value that already has the right form is not changed.

use serde_json::{Map, Value};

use super::AnswerError;
use crate::schema::{reference, variants};

/// Fields that accept any value.
const LOOSE: [&str; 4] =
    ["infeasible_subtasks", "alternative_approaches", "overall_score", "completion_score"];

/// Other names of fields, and our name for each.
const OTHER_NAMES: [(&str, &str); 3] =
    [("action_id", "action_evaluated"), ("action", "action_id"), ("order", "execution_order")];

/// How many characters of a value a message shows.
const SHOWN: usize = 80;

/// Matches values against one schema.
#[derive(Debug)]
pub(super) struct Matcher {
    schema: Value,
}

impl Matcher {
    pub(super) fn new(schema: Value) -> Self {
        Self { schema }
    }

    /// Whether a value has any field of the schema.
    pub(super) fn has_field_of(&self, value: &Value) -> bool {
        let properties = self.schema.get("properties").and_then(Value::as_object);
        let is_known = |name: &String| properties.is_some_and(|known| own_name(known, name).is_some());
        value.as_object().is_some_and(|object| object.keys().any(is_known))
    }

    /// The value in canonical form, or where it does not match.
    pub(super) fn canonical(&self, value: Value) -> Result<Value, AnswerError> {
        self.fit(value, &self.schema, "")
    }

    fn fit(&self, value: Value, schema: &Value, path: &str) -> Result<Value, AnswerError> {
        let Value::Object(schema) = schema else { return Ok(value) };
        if let Some(name) = reference(schema) {
            let target = self.schema.get("$defs").and_then(|defs| defs.get(name));
            return match target {
                Some(target) => self.fit(value, target, path),
                None => Ok(value),
            };
        }
        if let Some(variants) = variants(schema) {
            return self.fit_one_of(value, variants, path);
        }
        match (kind(schema), value) {
            (Some("object"), Value::Object(object)) => self.fit_object(object, schema, path),
            (Some("array"), Value::Array(items)) => {
                let each = |(at, item)| match schema.get("items") {
                    Some(items) => self.fit(item, items, &format!("{path}[{at}]")),
                    None => Ok(item),
                };
                items.into_iter().enumerate().map(each).collect::<Result<Vec<_>, _>>().map(Value::Array)
            }
            (Some("string"), Value::Number(number)) => Ok(Value::String(number.to_string())),
            (Some("string"), Value::String(text)) => {
                let too_short = schema.contains_key("minLength") && text.trim().is_empty();
                // An action may leave its task open; everything else needs a name.
                if too_short && !schema.contains_key("default") && !path.ends_with("task_id") {
                    return Err(mismatch(path, "a name".to_string(), &Value::String(text)));
                }
                Ok(Value::String(text))
            }
            (Some("boolean"), value @ Value::Bool(_)) => Ok(value),
            (Some("number" | "integer"), value @ Value::Number(_)) => Ok(value),
            (Some(_), value) => Err(mismatch(path, self.expected(schema), &value)),
            (None, value) => Ok(value),
        }
    }

    fn fit_object(
        &self,
        object: Map<String, Value>,
        schema: &Map<String, Value>,
        path: &str,
    ) -> Result<Value, AnswerError> {
        let nothing = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&nothing);
        let mut fitted = Map::new();
        // Own names come first: another name counts only where the own name is missing.
        let (own, others): (Vec<_>, Vec<_>) =
            object.into_iter().partition(|(name, _)| own_name(properties, name).is_some());
        for (name, value) in own.into_iter().chain(others) {
            let own = own_name(properties, &name);
            let Some((name, schema)) = own.or_else(|| other_name(properties, &name)) else { continue };
            if value.is_null() || (own.is_none() && fitted.contains_key(name)) {
                continue;
            }
            let path = below(path, name);
            let is_loose =
                LOOSE.contains(&name.as_str()) && (value.is_array() || schema.get("items").is_none());
            let value = if is_loose { value } else { self.fit(value, schema, &path)? };
            if fitted.get(name).is_some_and(|other| other != &value) {
                return Err(mismatch(
                    &path,
                    "one value".to_string(),
                    &Value::String("two that differ".into()),
                ));
            }
            fitted.insert(name.clone(), value);
        }
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let mut required = required.filter_map(Value::as_str);
        if let Some(name) = required.find(|name| !fitted.contains_key(*name)) {
            let expected = properties.get(name).map(|schema| self.expected_of(schema)).unwrap_or_default();
            return Err(AnswerError::Mismatch {
                path: below(path, name),
                expected,
                found: "nothing".to_string(),
            });
        }
        Ok(Value::Object(fitted))
    }

    /// One of several alternatives: strings, objects with a `type`, a text or something else, a value or null.
    fn fit_one_of(&self, value: Value, variants: &[Value], path: &str) -> Result<Value, AnswerError> {
        let is_text = |variant: &Value| {
            variant.get("type").is_some_and(|kind| kind == "string") && variant.get("const").is_none()
        };
        let words: Vec<&str> =
            variants.iter().filter_map(|variant| variant.get("const").and_then(Value::as_str)).collect();
        let takes_text = variants.iter().any(is_text);
        match value {
            Value::String(text) => match words.iter().find(|word| folded(word) == folded(&text)) {
                Some(word) => Ok(Value::String((*word).to_string())),
                None if takes_text => Ok(Value::String(text)),
                None => Err(mismatch(path, self.expected_one(variants), &Value::String(text))),
            },
            Value::Object(object) if words.is_empty() => self.fit_variant(object, variants, path),
            value
            @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                Err(mismatch(path, self.expected_one(variants), &value))
            }
        }
    }

    fn fit_variant(
        &self,
        mut object: Map<String, Value>,
        variants: &[Value],
        path: &str,
    ) -> Result<Value, AnswerError> {
        let tag = |variant: &Value| {
            Some(variant.get("properties")?.get("type")?.get("const")?.as_str()?.to_string())
        };
        let tags: Vec<String> = variants.iter().filter_map(tag).collect();
        if tags.is_empty() {
            let other = variants.iter().find(|variant| variant.get("$ref").is_some());
            return match other {
                Some(other) => self.fit(Value::Object(object), other, path),
                None => Ok(Value::Object(object)),
            };
        }
        let given = object.remove("type").unwrap_or_default();
        let known = tags.iter().find(|tag| given.as_str().is_some_and(|given| folded(tag) == folded(given)));
        let Some((known, variant)) = known.and_then(|known| {
            Some((known, variants.iter().find(|other| tag(other).as_ref() == Some(known))?))
        }) else {
            return Err(mismatch(&below(path, "type"), format!("one of {}", tags.join(", ")), &given));
        };
        object.insert("type".to_string(), Value::String(known.clone()));
        self.fit(Value::Object(object), variant, path)
    }

    fn expected_of(&self, schema: &Value) -> String {
        schema.as_object().map(|schema| self.expected(schema)).unwrap_or_default()
    }

    /// A description of what a schema expects.
    fn expected(&self, schema: &Map<String, Value>) -> String {
        if let Some(name) = reference(schema) {
            let target = self.schema.get("$defs").and_then(|defs| defs.get(name));
            return target.map(|target| self.expected_of(target)).unwrap_or_default();
        }
        if let Some(variants) = variants(schema) {
            return self.expected_one(variants);
        }
        match kind(schema) {
            Some("array") => {
                let items = schema.get("items").map(|items| self.expected_of(items)).unwrap_or_default();
                format!("an array of {}", plural(&items))
            }
            Some("string") if schema.contains_key("minLength") => "a name".to_string(),
            Some("string") => "a text".to_string(),
            Some("boolean") => "true or false".to_string(),
            Some("object") => "an object".to_string(),
            Some("number" | "integer") => "a number".to_string(),
            Some(_) | None => "another value".to_string(),
        }
    }

    fn expected_one(&self, variants: &[Value]) -> String {
        let words: Vec<&str> =
            variants.iter().filter_map(|variant| variant.get("const").and_then(Value::as_str)).collect();
        match (words.as_slice(), variants.first()) {
            ([word], _) => format!("\"{word}\""),
            ([_, ..], _) => format!("one of {}", words.join(", ")),
            ([], Some(first)) if first.get("properties").is_some() => "an object".to_string(),
            ([], Some(first)) => self.expected_of(first),
            ([], None) => "another value".to_string(),
        }
    }
}

fn plural(noun: &str) -> String {
    let bare = noun.trim_start_matches("an ").trim_start_matches("a ");
    format!("{bare}s")
}

/// The field with this name, in any spelling.
fn own_name<'p>(properties: &'p Map<String, Value>, name: &str) -> Option<(&'p String, &'p Value)> {
    let spelled = || properties.iter().find(|(known, _)| folded(known) == folded(name));
    properties.get_key_value(name).or_else(spelled)
}

/// The type that a schema names, or the first of several.
fn kind(schema: &Map<String, Value>) -> Option<&str> {
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.first(),
        kind => kind,
    };
    kind.and_then(Value::as_str)
}

/// The field that is also known by this name.
fn other_name<'p>(properties: &'p Map<String, Value>, name: &str) -> Option<(&'p String, &'p Value)> {
    let mut meant = OTHER_NAMES.iter().filter(|(other, _)| folded(other) == folded(name));
    meant.find_map(|(_, here)| properties.get_key_value(*here))
}

/// A name without the differences between spellings: case, `_`, `-` and spaces.
fn folded(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).map(|c| c.to_ascii_lowercase()).collect()
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_string() } else { format!("{path}.{name}") }
}

/// A mismatch that shows the start of what was found.
pub(super) fn mismatch(path: &str, expected: String, found: &Value) -> AnswerError {
    let whole = found.to_string();
    let mut shown: String = whole.chars().take(SHOWN).collect();
    if shown.len() < whole.len() {
        shown.push('…');
    }
    let path = if path.is_empty() { "the answer".to_string() } else { path.to_string() };
    AnswerError::Mismatch { path, expected, found: shown }
}
