//! JSON text to a tree with positions.
//!
//! A key that occurs twice in one object is an error; other JSON readers silently take one of the two.
//!
//! `serde_json` does not report positions of values, so a second pass over the text finds them. It runs only after the
//! first pass has read the text without an error, and follows the structure that the first pass found.

use core::fmt;
use core::iter::Peekable;
use core::str::Chars;
use std::collections::HashSet;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use crate::parse::{ParseError, duplicate_key};
use crate::tree::{Content, Entry, Node, Position};

/// Text of nothing but white space is null.
pub(crate) fn parse(text: &str) -> Result<Node, ParseError> {
    if text.trim().is_empty() {
        return Ok(Node::new(Content::Null));
    }
    let mut node: Node = serde_json::from_str(text).map_err(|error| syntax_error(&error))?;
    PositionPass::new(text).visit(&mut node);
    Ok(node)
}

fn syntax_error(error: &serde_json::Error) -> ParseError {
    let (line, column) = (error.line(), error.column());
    let mut message = error.to_string();
    // The position is reported separately.
    if let Some(end) = message.rfind(&format!(" at line {line} column {column}")) {
        message.truncate(end);
    }
    // A key that occurs twice is an error of ours: the text is JSON all the same.
    let message = if error.is_data() { message } else { format!("not valid JSON: {message}") };
    ParseError::at(Position { line, column }, message)
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
                return Err(A::Error::custom(duplicate_key(&key)));
            }
            entries.push(Entry { key, position: None, node: access.next_value()? });
        }
        Ok(Node::new(Content::Map(entries)))
    }
}

/// The second pass over the text, which sets the positions.
struct PositionPass<'text> {
    rest: Peekable<Chars<'text>>,
    position: Position,
}

impl<'text> PositionPass<'text> {
    fn new(text: &'text str) -> Self {
        Self { rest: text.chars().peekable(), position: Position { line: 1, column: 1 } }
    }

    /// Sets the positions of a value and everything in it.
    fn visit(&mut self, node: &mut Node) {
        self.skip_space();
        node.position = Some(self.position);
        match &mut node.content {
            Content::Null | Content::Bool(_) | Content::Number(_) => self.skip_word(),
            Content::Text(_) => self.skip_text(),
            Content::List(items) => {
                self.step();
                for item in items {
                    self.visit(item);
                    self.skip_if(',');
                }
                self.skip_if(']');
            }
            Content::Map(entries) => {
                self.step();
                for entry in entries {
                    self.skip_space();
                    entry.position = Some(self.position);
                    self.skip_text();
                    self.skip_if(':');
                    self.visit(&mut entry.node);
                    self.skip_if(',');
                }
                self.skip_if('}');
            }
        }
    }

    fn step(&mut self) -> Option<char> {
        let next = self.rest.next()?;
        self.position = match next {
            '\n' => Position { line: self.position.line + 1, column: 1 },
            _ => Position { column: self.position.column + 1, ..self.position },
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

    fn at(line: usize, column: usize) -> Position {
        Position { line, column }
    }

    #[test]
    fn every_key_and_value_has_its_position() {
        let text = "{\n\t\"a\": [1, {\"b\\\"]\": null}, []],\n\t\"c\": {} , \"d\":\n true\n}";
        let node = parse(text).unwrap();
        assert_eq!(Value::from(&node), json!({"a": [1, {"b\"]": null}, []], "c": {}, "d": true}));
        let Some(Content::List(list)) = node.get("a").map(|list| &list.content) else { panic!("{node:?}") };
        let Content::Map(inner) = &list[1].content else { panic!("{list:?}") };
        let Content::Map(outer) = &node.content else { panic!("{node:?}") };
        assert_eq!(node.get("a").unwrap().position, Some(at(2, 7)));
        assert_eq!(list[0].position, Some(at(2, 8)));
        assert_eq!((inner[0].position, inner[0].node.position), (Some(at(2, 12)), Some(at(2, 20))));
        assert_eq!(list[2].position, Some(at(2, 27)));
        assert_eq!((outer[1].position, outer[1].node.position), (Some(at(3, 2)), Some(at(3, 7))));
        assert_eq!((outer[2].position, outer[2].node.position), (Some(at(3, 12)), Some(at(4, 2))));
    }

    #[test]
    fn errors_have_a_position_and_name_the_key() {
        let twice = parse("{\"a\": 1,\n \"a\": 2}").unwrap_err();
        assert_eq!(twice.position.map(|position| position.line), Some(2));
        assert_eq!(twice.message, "the key \"a\" occurs twice; keep one of them");
        let broken = parse("{\n  \"a\": }").unwrap_err();
        assert_eq!(
            (broken.message.as_str(), broken.position),
            ("not valid JSON: expected value", Some(at(2, 8)))
        );
        assert!(parse(&"[".repeat(100_000)).is_err());
        assert!(parse("[1e999]").is_err());
        assert_eq!(parse(" \n").map(|node| node.content), Ok(Content::Null));
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
        /// Catches: the second pass taking a bracket inside a string for one of the structure.
        #[test]
        fn the_second_pass_ends_where_the_text_ends(value in any_json(), wide in any::<bool>()) {
            let write = if wide { serde_json::to_string_pretty } else { serde_json::to_string };
            let text = write(&value).unwrap();
            let mut node: Node = serde_json::from_str(&text).unwrap();
            let mut pass = PositionPass::new(&text);
            pass.visit(&mut node);
            prop_assert_eq!(pass.rest.next(), None);
            prop_assert_eq!(Value::from(&node), value);
        }
    }
}
