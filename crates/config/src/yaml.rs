//! YAML text to a tree with positions.
//!
//! Owns aliases, duplicate keys and the limits on what a text may expand to. Tags, merge keys, further documents and keys
//! that are not text are errors: each would be a second way to write the same.
//!
//! Invariant: the values of the tree, and the copies stored for aliases, are all counted against one limit before they
//! are created, so a small text can never expand into a large tree.

use std::collections::{HashMap, HashSet};

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError};

use crate::parse::{MAX_DEPTH, MAX_NODES, ParseError, duplicate_key};
use crate::tree::{Content, Entry, Node, Position};
use crate::yaml_scalar;

const TAG: &str = "tags such as `!!str` are not supported; remove the tag, and quote the value if it is text";
const MERGE_KEY: &str =
    "the merge key `<<` is not supported; write the keys out, or use an alias for the whole map";
const KEY_NOT_TEXT: &str = "a key must be text; quote it";
const SECOND_DOCUMENT: &str = "a second document begins here; only one is allowed";
const TAB: &str = "the line is indented with a tab; YAML allows only spaces";
const UNKNOWN_ALIAS: &str = "a value that begins with `*` is an alias, and there is no anchor of this name; quote the value if it is text";
const COLON: &str = "a second `: ` in this line is not valid YAML; quote a value that contains it";
const NEARBY: &str = "look at the indentation, quotes and brackets here and in the lines before";
const ALIAS_IN_ITSELF: &str = "an alias cannot be used inside the value it repeats";

/// Parses one document. An empty text is null.
pub(crate) fn parse(text: &str) -> Result<Node, ParseError> {
    let mut builder = Builder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| syntax_error(&error, text))?;
        builder.event(event, position(span.start))?;
    }
    Ok(builder.document.unwrap_or_else(|| Node::new(Content::Null)))
}

fn position(marker: Marker) -> Position {
    Position { line: marker.line(), column: marker.col() + 1 }
}

/// The parser's own words, or better ones for the mistakes that people make most often.
fn syntax_error(error: &ScanError, text: &str) -> ParseError {
    let position = position(*error.marker());
    let frequent = [("unknown anchor", UNKNOWN_ALIAS), ("mapping values are not allowed", COLON)];
    if let Some((_, message)) = frequent.iter().find(|(words, _)| error.info().contains(words)) {
        return ParseError::at(position, *message);
    }
    // The parser may stop at the end of the line before.
    let nearby = text.lines().enumerate().skip(position.line.saturating_sub(1)).take(2);
    let tab = nearby.filter_map(|(index, line)| Some((index + 1, leading_tab(line)?))).next();
    match tab {
        Some((line, column)) => ParseError::at(Position { line, column }, TAB),
        None => ParseError::at(position, format!("not valid YAML: {}; {NEARBY}", error.info())),
    }
}

/// The column of a tab that indents a line.
fn leading_tab(line: &str) -> Option<usize> {
    let spaces = line.chars().take_while(|c| *c == ' ').count();
    (line.chars().nth(spaces) == Some('\t')).then_some(spaces + 1)
}

/// A finished value, with the numbers an alias of it needs.
#[derive(Debug, Clone)]
struct Built {
    node: Node,
    /// Number of values in it, itself included.
    size: usize,
    /// Levels of lists and maps in it, itself included.
    height: usize,
}

/// A list or map whose end has not been read yet.
#[derive(Debug)]
struct Open {
    collection: Collection,
    position: Position,
    anchor: usize,
    size: usize,
    height: usize,
}

#[derive(Debug)]
enum Collection {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, seen: HashSet<String>, key: Option<(String, Position)> },
}

#[derive(Debug, Default)]
struct Builder {
    open: Vec<Open>,
    anchors: HashMap<usize, Built>,
    document: Option<Node>,
    counted: usize,
}

impl Builder {
    fn event(&mut self, event: Event<'_>, position: Position) -> Result<(), ParseError> {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) if self.document.is_some() => {
                Err(ParseError::at(position, SECOND_DOCUMENT))
            }
            Event::DocumentStart(_) => Ok(()),
            Event::Alias(anchor) => self.alias(anchor, position),
            Event::Scalar(_, _, _, Some(_))
            | Event::SequenceStart(_, Some(_))
            | Event::MappingStart(_, Some(_)) => Err(ParseError::at(position, TAG)),
            Event::Scalar(word, style, anchor, None) => self.scalar(&word, style, anchor, position),
            Event::SequenceStart(anchor, None) => self.begin(Collection::List(Vec::new()), anchor, position),
            Event::MappingStart(anchor, None) => {
                let empty = Collection::Map { entries: Vec::new(), seen: HashSet::new(), key: None };
                self.begin(empty, anchor, position)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
        }
    }

    /// Counts values before they are created.
    fn count(&mut self, values: usize, position: Position) -> Result<(), ParseError> {
        self.counted = self.counted.saturating_add(values);
        if self.counted > MAX_NODES {
            return Err(ParseError::at(
                position,
                format!("more than {MAX_NODES} values, counting what aliases repeat"),
            ));
        }
        Ok(())
    }

    fn wants_key(&self) -> bool {
        matches!(self.open.last(), Some(Open { collection: Collection::Map { key: None, .. }, .. }))
    }

    fn scalar(
        &mut self,
        word: &str,
        style: ScalarStyle,
        anchor: usize,
        position: Position,
    ) -> Result<(), ParseError> {
        if self.wants_key() {
            return self.key(word, style, position);
        }
        self.count(1, position)?;
        let node = match style {
            ScalarStyle::Plain => {
                let content =
                    yaml_scalar::resolve(word).map_err(|message| ParseError::at(position, message))?;
                let spelling = (!matches!(content, Content::Text(_))).then(|| word.to_owned());
                Node { content, position: Some(position), spelling }
            }
            ScalarStyle::SingleQuoted
            | ScalarStyle::DoubleQuoted
            | ScalarStyle::Literal
            | ScalarStyle::Folded => Node::at(Content::Text(word.to_owned()), position),
        };
        self.place(Built { node, size: 1, height: 0 }, anchor, position)
    }

    /// A key is text by its spelling, so that `on`, `1` and `1.10` are the keys they look like.
    fn key(&mut self, word: &str, style: ScalarStyle, position: Position) -> Result<(), ParseError> {
        if style == ScalarStyle::Plain && word.is_empty() {
            return Err(ParseError::at(position, KEY_NOT_TEXT));
        }
        if style == ScalarStyle::Plain && word == "<<" {
            return Err(ParseError::at(position, MERGE_KEY));
        }
        let Some(Open { collection: Collection::Map { seen, key, .. }, .. }) = self.open.last_mut() else {
            return Err(ParseError::at(position, KEY_NOT_TEXT));
        };
        if !seen.insert(word.to_owned()) {
            return Err(ParseError::at(position, duplicate_key(word)));
        }
        *key = Some((word.to_owned(), position));
        Ok(())
    }

    fn alias(&mut self, anchor: usize, position: Position) -> Result<(), ParseError> {
        if self.wants_key() {
            return Err(ParseError::at(position, KEY_NOT_TEXT));
        }
        // An anchor is only known once its value has ended.
        let Some(built) = self.anchors.get(&anchor) else {
            return Err(ParseError::at(position, ALIAS_IN_ITSELF));
        };
        let (size, height) = (built.size, built.height);
        self.count(size, position)?;
        if self.open.len() + height > MAX_DEPTH {
            return Err(too_deep(position));
        }
        match self.anchors.get(&anchor).cloned() {
            Some(built) => self.place(built, 0, position),
            None => Ok(()),
        }
    }

    fn begin(&mut self, collection: Collection, anchor: usize, position: Position) -> Result<(), ParseError> {
        if self.wants_key() {
            return Err(ParseError::at(position, KEY_NOT_TEXT));
        }
        self.count(1, position)?;
        if self.open.len() >= MAX_DEPTH {
            return Err(too_deep(position));
        }
        self.open.push(Open { collection, position, anchor, size: 1, height: 1 });
        Ok(())
    }

    fn end(&mut self) -> Result<(), ParseError> {
        let Some(Open { collection, position, anchor, size, height }) = self.open.pop() else {
            return Ok(());
        };
        let content = match collection {
            Collection::List(items) => Content::List(items),
            Collection::Map { entries, .. } => Content::Map(entries),
        };
        self.place(Built { node: Node::at(content, position), size, height }, anchor, position)
    }

    /// Adds a finished value to its parent, and stores a copy if it has an anchor.
    fn place(&mut self, built: Built, anchor: usize, position: Position) -> Result<(), ParseError> {
        if anchor != 0 {
            self.count(built.size, position)?;
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
                Some((key, position)) => {
                    entries.push(Entry { key, position: Some(position), node: built.node })
                }
                None => return Err(ParseError::at(position, KEY_NOT_TEXT)),
            },
        }
        Ok(())
    }
}

fn too_deep(position: Position) -> ParseError {
    ParseError::at(position, format!("nested more than {MAX_DEPTH} levels deep"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn value(text: &str) -> Value {
        Value::from(&parse(text).unwrap_or_else(|error| panic!("{text}: {error}")))
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
    fn what_is_refused_has_a_position() {
        let twice = duplicate_key("a");
        for (text, message, line, column) in [
            ("a: 1\nb: 2\na: 3\n", twice.as_str(), 3, 1),
            ("{a: 1, 'a': 2}", &twice, 1, 8),
            ("a: !!str 5", TAG, 1, 4),
            ("<<: {a: 1}", MERGE_KEY, 1, 1),
            ("a: 1\n---\nb: 2\n", SECOND_DOCUMENT, 2, 1),
            ("a: &x [*x]", ALIAS_IN_ITSELF, 1, 8),
            ("? [a]\n: 1", KEY_NOT_TEXT, 1, 3),
            ("a: &x b\n*x : 1", KEY_NOT_TEXT, 2, 1),
            (": 1", KEY_NOT_TEXT, 1, 1),
            ("a: .inf", "the number \".inf\" is too large or not finite; quote it if it is text", 1, 4),
        ] {
            assert_eq!(parse(text), Err(ParseError::at(Position { line, column }, message)), "{text}");
        }
        for text in ["a: [1", "a: 'x", "{a: 1}}", "@a"] {
            let message = parse(text).unwrap_err().message;
            assert!(message.starts_with("not valid YAML: "), "{text}: {message}");
        }
        for (text, line, column) in [("a:\n\tb: 1", 2, 1), ("a:\n  b: 1\n\tc: 2", 3, 1)] {
            assert_eq!(parse(text), Err(ParseError::at(Position { line, column }, TAB)), "{text}");
        }
        assert_eq!(parse("a: *delete*").unwrap_err().message, UNKNOWN_ALIAS);
        assert_eq!(parse("a: b: c").unwrap_err().message, COLON);
    }

    #[test]
    fn marks_are_where_keys_and_values_begin() {
        let node = parse("a:\n  key: 5\n").unwrap();
        let Some(Node { content: Content::Map(entries), .. }) = node.get("a") else { panic!("{node:?}") };
        assert_eq!(entries[0].position, Some(Position { line: 2, column: 3 }));
        assert_eq!(entries[0].node.position, Some(Position { line: 2, column: 8 }));
        assert_eq!(entries[0].node.spelling.as_deref(), Some("5"));
    }

    #[test]
    fn aliases_of_aliases_do_not_explode() {
        let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for level in 1..10 {
            let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
            text.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
        }
        assert!(parse(&text).unwrap_err().message.starts_with("more than 100000 values"));
    }

    #[test]
    fn what_aliases_repeat_and_what_is_kept_for_them_are_both_counted() {
        let wide = "x, ".repeat(1_000);
        let repeated = format!("a: &a [{wide}]\nb: [{}]\n", "*a, ".repeat(200));
        assert!(parse(&repeated).unwrap_err().message.starts_with("more than 100000 values"));
        let kept: String = (0..60).map(|level| format!("&a{level} [")).collect();
        let kept = format!("{kept}{wide}{wide}{}", "]".repeat(60));
        assert!(parse(&kept).unwrap_err().message.starts_with("more than 100000 values"));
    }

    #[test]
    fn depth_is_bounded_in_the_text_and_through_aliases() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(parse(&nested(MAX_DEPTH)).is_ok());
        assert_eq!(parse(&nested(MAX_DEPTH + 1)).unwrap_err().message, "nested more than 64 levels deep");
        let repeated = format!("a: &x {}\nb: {}*x{}", nested(40), "[".repeat(40), "]".repeat(40));
        assert_eq!(parse(&repeated).unwrap_err().message, "nested more than 64 levels deep");
    }
}
