//! Finding the JSON objects in a text.
//!
//! Owns where an object starts and ends between prose and fences, and which small errors are repaired. Refuses to look
//! inside an object, and to invent what is missing: an object without its end is broken.
//!
//! Invariant: each byte is read a fixed number of times.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::{AnswerError, MAX_ANSWER_DEPTH, MAX_ANSWER_OBJECTS};

/// Something in a text that starts like an object.
#[derive(Debug, PartialEq)]
pub(super) enum Found {
    Object(Value),
    Broken(AnswerError),
}

/// Everything in a text that starts like an object, in order.
pub(super) fn objects(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '[']) {
        let here = rest.get(at..).unwrap_or_default();
        if !starts_object(here) {
            rest = here.get(1..).unwrap_or_default();
            continue;
        }
        if found.len() >= MAX_ANSWER_OBJECTS {
            found.push(Found::Broken(AnswerError::TooLarge(format!(
                "more than {MAX_ANSWER_OBJECTS} JSON objects"
            ))));
            break;
        }
        match extent(here) {
            Extent::Ends { at, depth } if depth <= MAX_ANSWER_DEPTH => {
                let (object, after) = here.split_at_checked(at).unwrap_or((here, ""));
                found.push(parsed(object));
                rest = after;
            }
            Extent::Ends { at, .. } => {
                found.push(Found::Broken(too_deep()));
                rest = here.get(at..).unwrap_or_default();
            }
            Extent::Open => {
                found.push(Found::Broken(AnswerError::CutOff));
                break;
            }
        }
    }
    found
}

/// Whether a bracket opens an object or an array of objects, not a remark in prose.
fn starts_object(text: &str) -> bool {
    let inside = text.get(1..).unwrap_or_default().trim_start();
    match text.as_bytes().first() {
        Some(b'{') => inside.is_empty() || inside.starts_with(['"', '}']),
        Some(b'[') => inside.strip_prefix('{').is_some_and(|inner| inner.trim_start().starts_with('"')),
        Some(_) | None => false,
    }
}

fn several(objects: usize) -> AnswerError {
    AnswerError::Mismatch {
        path: "the answer".to_string(),
        expected: "one JSON object".to_string(),
        found: format!("an array of {objects}"),
    }
}

fn too_deep() -> AnswerError {
    AnswerError::TooLarge(format!("objects nested deeper than {MAX_ANSWER_DEPTH} levels"))
}

enum Extent {
    /// It ends before this byte; `depth` is the deepest nesting.
    Ends { at: usize, depth: usize },
    /// It does not end in this text.
    Open,
}

fn extent(text: &str) -> Extent {
    let (mut level, mut deepest) = (0_usize, 0_usize);
    let mut state = QuoteState::Outside;
    for (at, byte) in text.bytes().enumerate() {
        state = state.after(byte);
        match (&state, byte) {
            (QuoteState::Outside, b'{' | b'[') => {
                level += 1;
                deepest = deepest.max(level);
            }
            (QuoteState::Outside, b'}' | b']') => {
                level = level.saturating_sub(1);
                if level == 0 {
                    return Extent::Ends { at: at + 1, depth: deepest };
                }
            }
            (QuoteState::Outside | QuoteState::Inside | QuoteState::Escaped, _) => {}
        }
    }
    Extent::Open
}

/// Whether a byte is inside a string.
enum QuoteState {
    Outside,
    Inside,
    Escaped,
}

impl QuoteState {
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
    let tree = serde_json::from_str::<Tree>(text).or_else(|_| serde_json::from_str::<Tree>(&repaired(text)));
    match tree {
        Ok(Tree(Value::Array(mut items))) => match (items.len(), items.pop()) {
            (1, Some(object @ Value::Object(_))) => Found::Object(object),
            (objects, _) => Found::Broken(several(objects)),
        },
        Ok(Tree(object)) => Found::Object(object),
        Err(error) => Found::Broken(AnswerError::Malformed(error.to_string())),
    }
}

/// A text with common errors repaired: commas before a closing bracket, line breaks in strings, `NaN` and the like.
fn repaired(text: &str) -> String {
    let mut repaired = String::with_capacity(text.len());
    let mut state = QuoteState::Outside;
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let after = rest.get(letter.len_utf8()..).unwrap_or_default();
        // Only ASCII characters can be quotes or backslashes; all others are treated alike.
        state = state.after(u8::try_from(letter).unwrap_or(b'x'));
        rest = after;
        match (&state, letter) {
            (QuoteState::Outside, ',') if after.trim_start().starts_with(['}', ']']) => {}
            (QuoteState::Outside, 'N' | 'I' | '-' | '0'..='9') => {
                let ends = |other: char| !(other.is_ascii_alphanumeric() || matches!(other, '+' | '-' | '.'));
                let (word, after) =
                    after.split_at_checked(after.find(ends).unwrap_or(after.len())).unwrap_or((after, ""));
                let word = format!("{letter}{word}");
                let is_number = word.parse::<f64>().is_ok_and(f64::is_finite);
                repaired.push_str(if is_number { &word } else { "null" });
                rest = after;
            }
            (QuoteState::Inside, '\n') => repaired.push_str("\\n"),
            (QuoteState::Inside, '\t') => repaired.push_str("\\t"),
            (QuoteState::Inside, letter) if letter.is_ascii_control() => repaired.push(' '),
            (QuoteState::Outside | QuoteState::Inside | QuoteState::Escaped, letter) => repaired.push(letter),
        }
    }
    repaired
}

/// A value without duplicate fields of different content: the last of two verdicts must not win silently.
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
    fn objects_are_found_in_any_text() {
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
            (r#"{"a": {"b": 1}"#, vec![Found::Broken(AnswerError::CutOff)]),
            (r#"[{"a": 1}, {"a": 2}]"#, vec![Found::Broken(several(2))]),
            (r#"{"a": 1, "a": 1}"#, vec![object()]),
        ] {
            assert_eq!(objects(text), expected, "{text}");
        }
    }

    #[test]
    fn broken_objects_are_reported_and_not_searched() {
        let broken = objects(r#"{"a": {"ok": true} "b"} {"a": 1}"#);
        assert!(
            matches!(broken.as_slice(), [Found::Broken(AnswerError::Malformed(_)), Found::Object(_)]),
            "{broken:?}"
        );
        let twice = objects(r#"{"success": false, "success": true}"#);
        let [Found::Broken(problem)] = twice.as_slice() else { panic!("{twice:?}") };
        assert!(problem.to_string().contains("`success` is given twice"), "{problem}");
        let deep = "{\"a\":".repeat(65) + "1" + &"}".repeat(65);
        assert_eq!(objects(&deep), vec![Found::Broken(too_deep())]);
    }
}
