//! JSON text to a tree, and trees from any deserialiser.
//!
//! Owns the places of keys and values in a JSON text. Refuses a key that is given twice in one object, which
//! readers elsewhere settle silently and differently.
//!
//! Invariant: places are only looked for in a text that was read without an error, so the second walk follows
//! a structure that is known to be there.

use core::fmt;
use core::iter::Peekable;
use core::str::Chars;
use std::collections::HashSet;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use crate::text::{TextError, TextErrorKind};
use crate::tree::{Content, Entry, Mark, Node};

/// Reads a JSON text. One of only white space is null.
pub(crate) fn read(text: &str) -> Result<Node, TextError> {
    if text.trim().is_empty() {
        return Ok(Node::new(Content::Null));
    }
    let mut node: Node = serde_json::from_str(text).map_err(|error| syntax(&error))?;
    Places { rest: text.chars().peekable(), mark: Mark { line: 1, column: 1 } }.give(&mut node);
    Ok(node)
}

fn syntax(error: &serde_json::Error) -> TextError {
    let (line, column) = (error.line(), error.column());
    let mut message = error.to_string();
    // The place is told apart from the message, so it must not be in there as well.
    if let Some(end) = message.rfind(&format!(" at line {line} column {column}")) {
        message.truncate(end);
    }
    TextErrorKind::Syntax { message }.at(Mark { line, column })
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Node, E> {
        Ok(Node::new(Content::Null))
    }

    fn visit_none<E: Error>(self) -> Result<Node, E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        Node::deserialize(deserializer)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Node, E> {
        Ok(Node::new(Content::Bool(value)))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Node, E> {
        Ok(Node::new(Content::Number(Number::from(value))))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Node, E> {
        Ok(Node::new(Content::Number(Number::from(value))))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Node, E> {
        if value.is_finite() {
            Ok(Node::new(Content::from(value)))
        } else {
            Err(E::custom("not a finite number"))
        }
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Node, E> {
        Ok(Node::new(Content::Text(value.to_owned())))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Node, E> {
        Ok(Node::new(Content::Text(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Node::new(Content::List(items)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        let mut seen = HashSet::new();
        while let Some(key) = access.next_key::<String>()? {
            if !seen.insert(key.clone()) {
                return Err(A::Error::custom(TextErrorKind::DuplicateKey { key }));
            }
            entries.push(Entry { key, mark: None, node: access.next_value()? });
        }
        Ok(Node::new(Content::Map(entries)))
    }
}

/// A second walk through a text that is known to be JSON.
struct Places<'text> {
    rest: Peekable<Chars<'text>>,
    mark: Mark,
}

impl Places<'_> {
    /// Gives a value and all in it the places they begin at.
    fn give(&mut self, node: &mut Node) {
        self.skip_space();
        node.mark = Some(self.mark);
        match &mut node.content {
            Content::Null | Content::Bool(_) | Content::Number(_) => self.skip_word(),
            Content::Text(_) => self.skip_text(),
            Content::List(items) => {
                self.step();
                for item in items {
                    self.give(item);
                    self.skip_if(',');
                }
                self.skip_if(']');
            }
            Content::Map(entries) => {
                self.step();
                for entry in entries {
                    self.skip_space();
                    entry.mark = Some(self.mark);
                    self.skip_text();
                    self.skip_if(':');
                    self.give(&mut entry.node);
                    self.skip_if(',');
                }
                self.skip_if('}');
            }
        }
    }

    fn step(&mut self) -> Option<char> {
        let next = self.rest.next()?;
        self.mark = match next {
            '\n' => Mark { line: self.mark.line + 1, column: 1 },
            _ => Mark { column: self.mark.column + 1, ..self.mark },
        };
        Some(next)
    }

    fn skip_while(&mut self, wanted: impl Fn(char) -> bool) {
        while self.rest.peek().copied().is_some_and(&wanted) {
            self.step();
        }
    }

    fn skip_space(&mut self) {
        self.skip_while(|c| matches!(c, ' ' | '\t' | '\r' | '\n'));
    }

    fn skip_word(&mut self) {
        self.skip_while(|c| !matches!(c, ' ' | '\t' | '\r' | '\n' | ',' | ']' | '}'));
    }

    fn skip_if(&mut self, punctuation: char) {
        self.skip_space();
        if self.rest.peek() == Some(&punctuation) {
            self.step();
        }
    }

    fn skip_text(&mut self) {
        self.step();
        while let Some(c) = self.step() {
            match c {
                '"' => return,
                '\\' => drop(self.step()),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn mark(line: usize, column: usize) -> Mark {
        Mark { line, column }
    }

    #[test]
    fn every_key_and_value_knows_its_place() {
        let text = "{\n\t\"a\": [1, {\"b\\\"]\": null}, []],\n\t\"c\": {} , \"d\":\n true\n}";
        let node = read(text).unwrap();
        assert_eq!(Value::from(&node), json!({"a": [1, {"b\"]": null}, []], "c": {}, "d": true}));
        let list = node.get("a").and_then(Node::as_list).unwrap();
        let Content::Map(inner) = &list[1].content else { panic!("{list:?}") };
        let Content::Map(outer) = &node.content else { panic!("{node:?}") };
        assert_eq!(node.get("a").unwrap().mark, Some(mark(2, 7)));
        assert_eq!(list[0].mark, Some(mark(2, 8)));
        assert_eq!((inner[0].mark, inner[0].node.mark), (Some(mark(2, 12)), Some(mark(2, 20))));
        assert_eq!(list[2].mark, Some(mark(2, 27)));
        assert_eq!((outer[1].mark, outer[1].node.mark), (Some(mark(3, 2)), Some(mark(3, 7))));
        assert_eq!((outer[2].mark, outer[2].node.mark), (Some(mark(3, 12)), Some(mark(4, 2))));
    }

    #[test]
    fn errors_name_place_and_key() {
        let twice = read("{\"a\": 1,\n \"a\": 2}").unwrap_err();
        assert_eq!(twice.mark.map(|mark| mark.line), Some(2));
        assert_eq!(twice.kind, TextErrorKind::Syntax { message: "the key \"a\" is given twice".into() });
        let broken = read("{\n  \"a\": }").unwrap_err();
        assert_eq!(broken.to_string(), "expected value (line 2, column 8)");
        assert!(read(&"[".repeat(100_000)).is_err());
        assert!(read("[1e999]").is_err());
        assert_eq!(read(" \n").map(|node| node.content), Ok(Content::Null));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a-z\"\\\\{}\\[\\],: \u{3042}\n]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map("[a-z\"{}]{0,4}", inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// Catches: the walk over places taking a bracket inside a text for one of the structure.
        #[test]
        fn the_walk_over_places_ends_where_the_text_ends(value in any_json(), wide in any::<bool>()) {
            let write = if wide { serde_json::to_string_pretty } else { serde_json::to_string };
            let text = write(&value).unwrap();
            let mut node: Node = serde_json::from_str(&text).unwrap();
            let mut places = Places { rest: text.chars().peekable(), mark: mark(1, 1) };
            places.give(&mut node);
            prop_assert_eq!(places.rest.next(), None);
            prop_assert_eq!(Value::from(&node), value);
        }
    }
}
