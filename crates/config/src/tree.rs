//! The tree that every input is parsed into, whatever its format: values with the position they were written at.
//!
//! Knows nothing about keys, expected types or formats.
//!
//! Invariant: every number is finite, and one with an integral value up to 2^53 is an integer, so that `1.0`
//! is as good as `1` wherever an integer is wanted, and `-0.0` is `0`.

use core::fmt;

use serde_json::{Map, Number, Value};

/// The largest magnitude up to which every integer has its own floating-point number.
const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;

/// A position in a text. Line and column count from 1, the column in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A value and where it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    pub content: Content,
    /// Where the value begins; nothing if it does not come from a file.
    pub position: Option<Position>,
    /// How an unquoted null, boolean or number was written. On a command line, without quotes, text is made from this:
    /// `1.10` must not become `1.1`.
    pub(crate) spelling: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    Null,
    Bool(bool),
    /// A finite number.
    Number(Number),
    Text(String),
    List(Vec<Node>),
    /// In the order written, no key twice.
    Map(Vec<Entry>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub key: String,
    pub position: Option<Position>,
    pub node: Node,
}

impl Node {
    pub fn new(content: Content) -> Self {
        Self { content, position: None, spelling: None }
    }

    pub(crate) fn at(content: Content, position: Position) -> Self {
        Self { content, position: Some(position), spelling: None }
    }

    pub(crate) fn nested(key: impl Into<String>, node: Node) -> Self {
        let position = node.position;
        Self {
            content: Content::Map(Vec::from([Entry { key: key.into(), position, node }])),
            position,
            spelling: None,
        }
    }

    /// The value of a key, spelled exactly like this; nothing if this is not a map that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.content {
            Content::Map(entries) => entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node),
            Content::Null | Content::Bool(_) | Content::Number(_) | Content::Text(_) | Content::List(_) => {
                None
            }
        }
    }
}

impl From<f64> for Content {
    /// A value that is not finite becomes null; callers refuse such values first.
    fn from(value: f64) -> Self {
        if value.fract() == 0.0 && value.abs() <= LARGEST_EXACT {
            return Content::Number(Number::from(value as i64));
        }
        Number::from_f64(value).map_or(Content::Null, Content::Number)
    }
}

impl From<&Node> for Value {
    fn from(node: &Node) -> Self {
        match &node.content {
            Content::Null => Value::Null,
            Content::Bool(value) => Value::Bool(*value),
            Content::Number(value) => Value::Number(value.clone()),
            Content::Text(value) => Value::String(value.clone()),
            Content::List(items) => Value::Array(items.iter().map(Value::from).collect()),
            Content::Map(entries) => Value::Object(
                entries
                    .iter()
                    .map(|entry| (entry.key.clone(), Value::from(&entry.node)))
                    .collect::<Map<_, _>>(),
            ),
        }
    }
}

impl From<Value> for Node {
    fn from(value: Value) -> Self {
        let content = match value {
            Value::Null => Content::Null,
            Value::Bool(value) => Content::Bool(value),
            Value::Number(number) => match number.as_f64() {
                Some(value) if number.is_f64() => Content::from(value),
                Some(_) | None => Content::Number(number),
            },
            Value::String(value) => Content::Text(value),
            Value::Array(items) => Content::List(items.into_iter().map(Node::from).collect()),
            Value::Object(map) => Content::Map(
                map.into_iter()
                    .map(|(key, value)| Entry { key, position: None, node: Node::from(value) })
                    .collect(),
            ),
        };
        Node::new(content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn integral_numbers_are_integers() {
        for (value, expected) in [
            (1.0, json!(1)),
            (-0.0, json!(0)),
            (-3.0, json!(-3)),
            (0.5, json!(0.5)),
            (9_007_199_254_740_992.0, json!(9_007_199_254_740_992_i64)),
            (1e300, json!(1e300)),
        ] {
            assert_eq!(Value::from(&Node::new(Content::from(value))), expected, "{value}");
        }
    }

    #[test]
    fn json_survives_the_conversion_to_a_tree_and_back() {
        let value = json!({"a": [1, 2.5, null, true], "b": {"c": "text"}});
        assert_eq!(Value::from(&Node::from(value.clone())), value);
        assert_eq!(Node::from(value.clone()).get("b"), Some(&Node::from(value["b"].clone())));
        assert_eq!(Node::from(value.clone()).get("z"), None);
    }

    proptest! {
        /// Catches: casting without the bound of 2^53, which would turn a large number into another one.
        #[test]
        fn no_number_changes_its_value(value in prop::num::f64::NORMAL | prop::num::f64::ZERO) {
            let Content::Number(number) = Content::from(value) else { panic!("{value} became null") };
            prop_assert_eq!(number.as_f64(), Some(value));
        }
    }
}
