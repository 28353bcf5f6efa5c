//! YAML text to a tree, with the line and column of every key and value.
//!
//! Owns aliases, duplicate keys and the bounds on what a text may unfold to. Refuses tags, merge keys,
//! further documents and keys that are not text: each would be a second way to say something.
//!
//! Invariant: the values a tree holds, and the copies kept for aliases, are all counted against one bound
//! before they are made, so a small text can never unfold into a large tree.

use std::collections::{HashMap, HashSet};

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError};

use crate::scalar;
use crate::text::{MAX_DEPTH, MAX_NODES, TextError, TextErrorKind};
use crate::tree::{Content, Entry, Mark, Node};

/// Reads one document. An empty text is null.
pub(crate) fn read(text: &str) -> Result<Node, TextError> {
    let mut builder = Builder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| syntax(&error))?;
        builder.event(event, mark(span.start))?;
    }
    Ok(builder.document.unwrap_or_else(|| Node::new(Content::Null)))
}

fn mark(marker: Marker) -> Mark {
    Mark { line: marker.line(), column: marker.col() + 1 }
}

fn syntax(error: &ScanError) -> TextError {
    let mut message = error.info().to_owned();
    // Globs are common values here, and the bare message about an anchor would not remind anyone of quotes.
    if message.contains("unknown anchor") {
        message = "unknown alias; a value that begins with `*` needs quotes".to_owned();
    }
    TextErrorKind::Syntax { message }.at(mark(*error.marker()))
}

/// A finished value with what it takes to repeat it.
#[derive(Debug, Clone)]
struct Built {
    node: Node,
    /// Values in it, itself included.
    size: usize,
    /// Levels of lists and maps in it, itself included.
    height: usize,
}

/// A list or map whose end has not come yet.
#[derive(Debug)]
struct Open {
    collection: Collection,
    mark: Mark,
    anchor: usize,
    size: usize,
    height: usize,
}

#[derive(Debug)]
enum Collection {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, seen: HashSet<String>, key: Option<(String, Mark)> },
}

#[derive(Debug, Default)]
struct Builder {
    open: Vec<Open>,
    anchors: HashMap<usize, Built>,
    document: Option<Node>,
    charged: usize,
}

impl Builder {
    fn event(&mut self, event: Event<'_>, mark: Mark) -> Result<(), TextError> {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) if self.document.is_some() => Err(TextErrorKind::SecondDocument.at(mark)),
            Event::DocumentStart(_) => Ok(()),
            Event::Alias(anchor) => self.alias(anchor, mark),
            Event::Scalar(_, _, _, Some(_))
            | Event::SequenceStart(_, Some(_))
            | Event::MappingStart(_, Some(_)) => Err(TextErrorKind::Tag.at(mark)),
            Event::Scalar(word, style, anchor, None) => self.scalar(&word, style, anchor, mark),
            Event::SequenceStart(anchor, None) => self.begin(Collection::List(Vec::new()), anchor, mark),
            Event::MappingStart(anchor, None) => {
                let empty = Collection::Map { entries: Vec::new(), seen: HashSet::new(), key: None };
                self.begin(empty, anchor, mark)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
        }
    }

    /// Counts values before they are made.
    fn charge(&mut self, values: usize, mark: Mark) -> Result<(), TextError> {
        self.charged = self.charged.saturating_add(values);
        if self.charged > MAX_NODES { Err(TextErrorKind::TooManyValues.at(mark)) } else { Ok(()) }
    }

    fn wants_key(&self) -> bool {
        matches!(self.open.last(), Some(Open { collection: Collection::Map { key: None, .. }, .. }))
    }

    fn scalar(&mut self, word: &str, style: ScalarStyle, anchor: usize, mark: Mark) -> Result<(), TextError> {
        if self.wants_key() {
            return self.key(word, style, mark);
        }
        self.charge(1, mark)?;
        let node = match style {
            ScalarStyle::Plain => {
                let content = scalar::resolve(word).map_err(|kind| kind.at(mark))?;
                let spelling = (!matches!(content, Content::Text(_))).then(|| word.to_owned());
                Node { content, mark: Some(mark), spelling }
            }
            ScalarStyle::SingleQuoted
            | ScalarStyle::DoubleQuoted
            | ScalarStyle::Literal
            | ScalarStyle::Folded => Node::marked(Content::Text(word.to_owned()), mark),
        };
        self.place(Built { node, size: 1, height: 0 }, anchor, mark)
    }

    /// A key is text by its spelling, so that `on`, `1` and `1.10` are the keys they look like.
    fn key(&mut self, word: &str, style: ScalarStyle, mark: Mark) -> Result<(), TextError> {
        if style == ScalarStyle::Plain && word.is_empty() {
            return Err(TextErrorKind::KeyNotText.at(mark));
        }
        if style == ScalarStyle::Plain && word == "<<" {
            return Err(TextErrorKind::MergeKey.at(mark));
        }
        let Some(Open { collection: Collection::Map { seen, key, .. }, .. }) = self.open.last_mut() else {
            return Err(TextErrorKind::KeyNotText.at(mark));
        };
        if !seen.insert(word.to_owned()) {
            return Err(TextErrorKind::DuplicateKey { key: word.to_owned() }.at(mark));
        }
        *key = Some((word.to_owned(), mark));
        Ok(())
    }

    fn alias(&mut self, anchor: usize, mark: Mark) -> Result<(), TextError> {
        if self.wants_key() {
            return Err(TextErrorKind::KeyNotText.at(mark));
        }
        // An anchor is only known once its value has ended.
        let Some(built) = self.anchors.get(&anchor) else {
            return Err(TextErrorKind::AliasOfItself.at(mark));
        };
        let (size, height) = (built.size, built.height);
        self.charge(size, mark)?;
        if self.open.len() + height > MAX_DEPTH {
            return Err(TextErrorKind::TooDeep.at(mark));
        }
        match self.anchors.get(&anchor).cloned() {
            Some(built) => self.place(built, 0, mark),
            None => Ok(()),
        }
    }

    fn begin(&mut self, collection: Collection, anchor: usize, mark: Mark) -> Result<(), TextError> {
        if self.wants_key() {
            return Err(TextErrorKind::KeyNotText.at(mark));
        }
        self.charge(1, mark)?;
        if self.open.len() >= MAX_DEPTH {
            return Err(TextErrorKind::TooDeep.at(mark));
        }
        self.open.push(Open { collection, mark, anchor, size: 1, height: 1 });
        Ok(())
    }

    fn end(&mut self) -> Result<(), TextError> {
        let Some(Open { collection, mark, anchor, size, height }) = self.open.pop() else { return Ok(()) };
        let content = match collection {
            Collection::List(items) => Content::List(items),
            Collection::Map { entries, .. } => Content::Map(entries),
        };
        self.place(Built { node: Node::marked(content, mark), size, height }, anchor, mark)
    }

    /// Puts a finished value where it belongs, and keeps a copy if something may refer to it.
    fn place(&mut self, built: Built, anchor: usize, mark: Mark) -> Result<(), TextError> {
        if anchor != 0 {
            self.charge(built.size, mark)?;
            self.anchors.insert(anchor, built.clone());
        }
        let Some(parent) = self.open.last_mut() else {
            self.document = Some(built.node);
            return Ok(());
        };
        parent.size = parent.size.saturating_add(built.size);
        parent.height = parent.height.max(built.height + 1);
        match &mut parent.collection {
            Collection::List(items) => items.push(built.node),
            Collection::Map { entries, key, .. } => match key.take() {
                Some((key, mark)) => entries.push(Entry { key, mark: Some(mark), node: built.node }),
                None => return Err(TextErrorKind::KeyNotText.at(mark)),
            },
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn value(text: &str) -> Value {
        Value::from(&read(text).unwrap_or_else(|error| panic!("{text}: {error}")))
    }

    #[test]
    fn documents_and_their_values() {
        for (text, expected) in [
            ("", json!(null)),
            ("# nothing\n", json!(null)),
            ("---\n", json!(null)),
            ("5", json!(5)),
            ("a: 1\nb:\n  - x\n  - 'y'\n", json!({"a": 1, "b": ["x", "y"]})),
            ("a:\nb: ~\n", json!({"a": null, "b": null})),
            ("{a: '5', b: \"no\", c: no, d: 1.10}", json!({"a": "5", "b": "no", "c": "no", "d": 1.1})),
            ("{\"a\": {\"b\": [1, 2]}}", json!({"a": {"b": [1, 2]}})),
            ("a: |\n  one\n  two\n", json!({"a": "one\ntwo\n"})),
            ("a: &x [1]\nb: *x\n", json!({"a": [1], "b": [1]})),
            ("1: a\non: b\n", json!({"1": "a", "on": "b"})),
            ("'<<': 1\n'': 2", json!({"<<": 1, "": 2})),
            ("a: b # comment\n...\n", json!({"a": "b"})),
        ] {
            assert_eq!(value(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_refused_says_where() {
        let key = |key: &str| TextErrorKind::DuplicateKey { key: key.to_owned() };
        for (text, kind, line, column) in [
            ("a: 1\nb: 2\na: 3\n", key("a"), 3, 1),
            ("{a: 1, 'a': 2}", key("a"), 1, 8),
            ("a: !!str 5", TextErrorKind::Tag, 1, 4),
            ("<<: {a: 1}", TextErrorKind::MergeKey, 1, 1),
            ("a: 1\n---\nb: 2\n", TextErrorKind::SecondDocument, 2, 1),
            ("a: &x [*x]", TextErrorKind::AliasOfItself, 1, 8),
            ("? [a]\n: 1", TextErrorKind::KeyNotText, 1, 3),
            ("a: &x b\n*x : 1", TextErrorKind::KeyNotText, 2, 1),
            (": 1", TextErrorKind::KeyNotText, 1, 1),
            ("a: .inf", TextErrorKind::NotFinite { written: ".inf".into() }, 1, 4),
        ] {
            assert_eq!(read(text), Err(kind.at(Mark { line, column })), "{text}");
        }
        for text in ["a: [1", "a: b: c", "a:\n\tb: 1", "a: *x", "a: 'x", "{a: 1}}", "@a"] {
            assert!(matches!(read(text).unwrap_err().kind, TextErrorKind::Syntax { .. }), "{text}");
        }
        assert!(read("a: *delete*").unwrap_err().to_string().contains("needs quotes"));
    }

    #[test]
    fn marks_are_where_keys_and_values_begin() {
        let node = read("a:\n  key: 5\n").unwrap();
        let Some(Node { content: Content::Map(entries), .. }) = node.get("a") else { panic!("{node:?}") };
        assert_eq!(entries[0].mark, Some(Mark { line: 2, column: 3 }));
        assert_eq!(entries[0].node.mark, Some(Mark { line: 2, column: 8 }));
        assert_eq!(entries[0].node.spelling.as_deref(), Some("5"));
    }

    #[test]
    fn aliases_of_aliases_do_not_explode() {
        let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for level in 1..10 {
            let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
            text.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
        }
        assert_eq!(read(&text).unwrap_err().kind, TextErrorKind::TooManyValues);
    }

    #[test]
    fn what_aliases_repeat_and_what_is_kept_for_them_are_both_counted() {
        let wide = "x, ".repeat(1_000);
        let repeated = format!("a: &a [{wide}]\nb: [{}]\n", "*a, ".repeat(200));
        assert_eq!(read(&repeated).unwrap_err().kind, TextErrorKind::TooManyValues);
        let kept: String = (0..60).map(|level| format!("&a{level} [")).collect();
        let kept = format!("{kept}{wide}{wide}{}", "]".repeat(60));
        assert_eq!(read(&kept).unwrap_err().kind, TextErrorKind::TooManyValues);
    }

    #[test]
    fn depth_is_bounded_in_the_text_and_through_aliases() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(read(&nested(MAX_DEPTH)).is_ok());
        assert_eq!(read(&nested(MAX_DEPTH + 1)).unwrap_err().kind, TextErrorKind::TooDeep);
        let repeated = format!("a: &x {}\nb: {}*x{}", nested(40), "[".repeat(40), "]".repeat(40));
        assert_eq!(read(&repeated).unwrap_err().kind, TextErrorKind::TooDeep);
    }
}
