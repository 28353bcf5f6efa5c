//! The tree every input is read into, whatever its format: values with the place they were written at.
//!
//! Owns what a value is before anything is known about its meaning. Refuses to know keys, types that are
//! expected, or formats.
//!
//! Invariant: every number is finite, and one with an integral value up to 2^53 is an integer, so that `1.0`
//! is as good as `1` wherever an integer is wanted, and `-0.0` is `0`.

use core::fmt;

use serde_json::{Map, Number, Value};

/// The largest magnitude up to which every integer has its own floating-point number.
const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;

/// A place in a text, both counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A value and where it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The value.
    pub content: Content,
    /// Where it begins, if it came from a text that is still known.
    pub mark: Option<Mark>,
    /// How an unquoted null, boolean or number was written. Where a value has no quotes of its own, as on a
    /// command line, this is what text is made of: `1.10` must not become `1.1`.
    pub(crate) spelling: Option<String>,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// No value.
    Null,
    /// True or false.
    Bool(bool),
    /// A finite number.
    Number(Number),
    /// Text.
    Text(String),
    /// Values in order.
    List(Vec<Node>),
    /// Values by key, in the order written, no key twice.
    Map(Vec<Entry>),
}

/// One key of a map with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key as written.
    pub key: String,
    /// Where the key begins.
    pub mark: Option<Mark>,
    /// The value.
    pub node: Node,
}

impl Node {
    /// A value that comes from nowhere in particular.
    pub fn new(content: Content) -> Self {
        Self { content, mark: None, spelling: None }
    }

    /// A value that was written at `mark`.
    pub fn marked(content: Content, mark: Mark) -> Self {
        Self { content, mark: Some(mark), spelling: None }
    }

    /// A map with this one key.
    pub(crate) fn nested(key: impl Into<String>, node: Node) -> Self {
        let mark = node.mark;
        Self {
            content: Content::Map(Vec::from([Entry { key: key.into(), mark, node }])),
            mark,
            spelling: None,
        }
    }

    /// The value under a key exactly as written, if this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.content {
            Content::Map(entries) => entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node),
            Content::Null | Content::Bool(_) | Content::Number(_) | Content::Text(_) | Content::List(_) => {
                None
            }
        }
    }

    /// The values of a list.
    pub fn as_list(&self) -> Option<&[Node]> {
        match &self.content {
            Content::List(items) => Some(items),
            Content::Null | Content::Bool(_) | Content::Number(_) | Content::Text(_) | Content::Map(_) => {
                None
            }
        }
    }
}

impl From<f64> for Content {
    /// A number, or null for what is not finite: a caller that can be given such a number refuses it first.
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
                    .map(|(key, value)| Entry { key, mark: None, node: Node::from(value) })
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
    fn a_value_keeps_its_meaning_on_the_way_through() {
        let value = json!({"a": [1, 2.5, null, true], "b": {"c": "text"}});
        assert_eq!(Value::from(&Node::from(value.clone())), value);
        assert_eq!(Node::from(value.clone()).get("b"), Some(&Node::from(value["b"].clone())));
        assert_eq!(Node::from(value.clone()).get("z"), None);
        assert_eq!(Node::from(json!([1])).as_list().map(<[_]>::len), Some(1));
    }

    proptest! {
        /// Catches: casting without the bound of 2^53, which would turn a large number into another one.
        #[test]
        fn no_number_changes_its_value(value in prop::num::f64::NORMAL | prop::num::f64::ZERO) {
            let Content::Number(number) = Content::from(value) else { panic!("{value} is lost") };
            prop_assert_eq!(number.as_f64(), Some(value));
        }
    }
}
