//! The JSON objects in a text.
//!
//! Owns where an object begins and ends among prose and fences, and what is mended in one that is not quite JSON. Refuses
//! to look inside an object, and to invent what is missing: an object without its end is broken.
//!
//! Invariant: each byte is looked at a fixed number of times.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::{MAX_ANSWER_DEPTH, MAX_ANSWER_OBJECTS, Problem};

/// Something in a text that begins like an object.
#[derive(Debug, PartialEq)]
pub(super) enum Found {
    /// It is one.
    Object(Value),
    /// It is none.
    Broken(Problem),
}

/// Everything in a text that begins like an object, in order.
pub(super) fn objects(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '[']) {
        let here = rest.get(at..).unwrap_or_default();
        if !begins_object(here) {
            rest = here.get(1..).unwrap_or_default();
            continue;
        }
        if found.len() >= MAX_ANSWER_OBJECTS {
            found.push(Found::Broken(Problem::TooManyObjects));
            break;
        }
        match extent(here) {
            Extent::Ends { at, depth } if depth <= MAX_ANSWER_DEPTH => {
                let (object, after) = here.split_at_checked(at).unwrap_or((here, ""));
                found.push(parsed(object));
                rest = after;
            }
            Extent::Ends { at, .. } => {
                found.push(Found::Broken(Problem::TooDeep));
                rest = here.get(at..).unwrap_or_default();
            }
            Extent::Open => {
                found.push(Found::Broken(Problem::CutOff));
                break;
            }
        }
    }
    found
}

/// Whether a bracket opens an object, or an array of objects, rather than a remark in prose.
fn begins_object(text: &str) -> bool {
    let inside = text.get(1..).unwrap_or_default().trim_start();
    match text.as_bytes().first() {
        Some(b'{') => inside.is_empty() || inside.starts_with(['"', '}']),
        Some(b'[') => inside.strip_prefix('{').is_some_and(|inner| inner.trim_start().starts_with('"')),
        Some(_) | None => false,
    }
}

enum Extent {
    /// Just before this byte, after so many levels.
    Ends { at: usize, depth: usize },
    /// Not in this text.
    Open,
}

fn extent(text: &str) -> Extent {
    let (mut level, mut deepest) = (0_usize, 0_usize);
    let mut place = Place::Outside;
    for (at, byte) in text.bytes().enumerate() {
        place = place.after(byte);
        match (&place, byte) {
            (Place::Outside, b'{' | b'[') => {
                level += 1;
                deepest = deepest.max(level);
            }
            (Place::Outside, b'}' | b']') => {
                level = level.saturating_sub(1);
                if level == 0 {
                    return Extent::Ends { at: at + 1, depth: deepest };
                }
            }
            (Place::Outside | Place::Inside | Place::Escaped, _) => {}
        }
    }
    Extent::Open
}

/// Where a byte stands with regard to quotes.
enum Place {
    Outside,
    Inside,
    Escaped,
}

impl Place {
    fn after(&self, byte: u8) -> Self {
        match (self, byte) {
            (Self::Outside, b'"') | (Self::Escaped, _) => Self::Inside,
            (Self::Inside, b'"') | (Self::Outside, _) => Self::Outside,
            (Self::Inside, b'\\') => Self::Escaped,
            (Self::Inside, _) => Self::Inside,
        }
    }
}

fn parsed(text: &str) -> Found {
    let tree = serde_json::from_str::<Tree>(text).or_else(|_| serde_json::from_str::<Tree>(&mended(text)));
    match tree {
        Ok(Tree(Value::Array(mut items))) => match (items.len(), items.pop()) {
            (1, Some(object @ Value::Object(_))) => Found::Object(object),
            (objects, _) => Found::Broken(Problem::Several { objects }),
        },
        Ok(Tree(object)) => Found::Object(object),
        Err(error) => Found::Broken(Problem::Malformed { problem: error.to_string() }),
    }
}

/// A text with the usual slips put right: commas before a closing bracket, line breaks in texts, numbers that are none.
fn mended(text: &str) -> String {
    let mut mended = String::with_capacity(text.len());
    let mut place = Place::Outside;
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let after = rest.get(letter.len_utf8()..).unwrap_or_default();
        // Only the first byte of a letter can be a quote or a backslash; any other stands for all the rest.
        place = place.after(u8::try_from(letter).unwrap_or(b'x'));
        rest = after;
        match (&place, letter) {
            (Place::Outside, ',') if after.trim_start().starts_with(['}', ']']) => {}
            (Place::Outside, 'N' | 'I' | '-' | '0'..='9') => {
                let ends = |other: char| !(other.is_ascii_alphanumeric() || matches!(other, '+' | '-' | '.'));
                let (word, after) =
                    after.split_at_checked(after.find(ends).unwrap_or(after.len())).unwrap_or((after, ""));
                let word = format!("{letter}{word}");
                let is_number = word.parse::<f64>().is_ok_and(f64::is_finite);
                mended.push_str(if is_number { &word } else { "null" });
                rest = after;
            }
            (Place::Inside, '\n') => mended.push_str("\\n"),
            (Place::Inside, '\t') => mended.push_str("\\t"),
            (Place::Inside, letter) if letter.is_ascii_control() => mended.push(' '),
            (Place::Outside | Place::Inside | Place::Escaped, letter) => mended.push(letter),
        }
    }
    mended
}

/// A value in which no field is given twice with different contents: the last of two verdicts must not win silently.
struct Tree(Value);

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor).map(Tree)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(Tree(item)) = items.next_element()? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((name, Tree(value))) = fields.next_entry::<String, Tree>()? {
            if object.get(&name).is_some_and(|other| other != &value) {
                return Err(de::Error::custom(format_args!("the field `{name}` is given twice")));
            }
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_are_found_among_anything() {
        let object = || Found::Object(json!({"a": 1}));
        for (text, expected) in [
            ("", vec![]),
            ("no braces, or {only, such} [ones]", vec![]),
            (r#"{"a": 1}"#, vec![object()]),
            ("\u{feff}```json\n{\"a\": 1}\n```\ndone", vec![object()]),
            (r#"So {x} gives [{"a": 1}]."#, vec![object()]),
            (r#"{"a": 1} and {"a": 1}"#, vec![object(), object()]),
            (r#"{"a": 1,}"#, vec![object()]),
            (
                r#"{"a": "x
y	",}"#,
                vec![Found::Object(json!({"a": "x\ny\t"}))],
            ),
            (
                r#"{"a": [NaN, -Infinity, 1e999, -1.5e2,]}"#,
                vec![Found::Object(json!({"a": [null, null, null, -150.0]}))],
            ),
            (r#"{"a": "}{\"", "b": {}}"#, vec![Found::Object(json!({"a": "}{\"", "b": {}}))]),
            (r#"{"a": {"b": 1}"#, vec![Found::Broken(Problem::CutOff)]),
            (r#"[{"a": 1}, {"a": 2}]"#, vec![Found::Broken(Problem::Several { objects: 2 })]),
            (r#"{"a": 1, "a": 1}"#, vec![object()]),
        ] {
            assert_eq!(objects(text), expected, "{text}");
        }
    }

    #[test]
    fn broken_objects_are_named_and_their_inside_is_left_alone() {
        let broken = objects(r#"{"a": {"ok": true} "b"} {"a": 1}"#);
        assert!(
            matches!(broken.as_slice(), [Found::Broken(Problem::Malformed { .. }), Found::Object(_)]),
            "{broken:?}"
        );
        let twice = objects(r#"{"success": false, "success": true}"#);
        let [Found::Broken(problem)] = twice.as_slice() else { panic!("{twice:?}") };
        assert!(problem.to_string().contains("`success` is given twice"), "{problem}");
        let deep = "{\"a\":".repeat(65) + "1" + &"}".repeat(65);
        assert_eq!(objects(&deep), vec![Found::Broken(Problem::TooDeep)]);
    }
}
