//! From the bytes of a file to a tree of values, within limits on size, depth and number of values.
//!
//! Knows nothing about the meaning of the values.
//!
//! Invariant: any bytes at all give a tree or an error, in bounded time and memory.

use thiserror::Error;

use crate::schema::excerpt;
use crate::tree::{Node, Position};
use crate::{json, yaml};

/// The largest text that is read, in bytes.
pub(crate) const MAX_TEXT_BYTES: usize = 1024 * 1024;

/// How deep lists and maps may be nested.
pub(crate) const MAX_DEPTH: usize = 64;

/// Values in one text, at most, counting what aliases repeat.
pub(crate) const MAX_NODES: usize = 100_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// YAML 1.2, core schema.
    Yaml,
    Json,
}

/// The message is for people.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub(crate) struct ParseError {
    pub(crate) message: String,
    pub(crate) position: Option<Position>,
}

impl ParseError {
    pub(crate) fn at(position: impl Into<Option<Position>>, message: impl Into<String>) -> Self {
        Self { message: message.into(), position: position.into() }
    }
}

/// An empty text is null.
pub(crate) fn parse(bytes: &[u8], format: Format) -> Result<Node, ParseError> {
    if bytes.len() > MAX_TEXT_BYTES {
        let message = format!("too large: {MAX_TEXT_BYTES} bytes are the limit");
        return Err(ParseError::at(None, message));
    }
    let text = core::str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        ParseError::at(end_of(&String::from_utf8_lossy(before)), "not valid UTF-8; save the file as UTF-8")
    })?;
    // Some editors begin a file with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match format {
        Format::Yaml => yaml::parse(text),
        Format::Json => json::parse(text),
    }
}

pub(crate) fn duplicate_key(key: &str) -> String {
    format!("the key {} occurs twice; keep one of them", excerpt(key))
}

fn end_of(text: &str) -> Position {
    let last_line = text.rsplit('\n').next().unwrap_or_default();
    Position { line: text.matches('\n').count() + 1, column: last_line.chars().count() + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bytes_that_are_not_text_are_refused_with_their_position() {
        let error = parse(b"a: 1\nb: \xff", Format::Yaml).unwrap_err();
        let expected =
            ParseError::at(Position { line: 2, column: 4 }, "not valid UTF-8; save the file as UTF-8");
        assert_eq!(error, expected);
        let large = vec![b' '; MAX_TEXT_BYTES + 1];
        let error = parse(&large, Format::Json).unwrap_err();
        assert_eq!(error, ParseError::at(None, "too large: 1048576 bytes are the limit"));
    }

    #[test]
    fn a_byte_order_mark_is_skipped() {
        for (text, format) in [("\u{feff}a: 1", Format::Yaml), ("\u{feff}{\"a\": 1}", Format::Json)] {
            assert!(parse(text.as_bytes(), format).unwrap().get("a").is_some(), "{text}");
        }
    }

    /// Pieces that mean something in YAML, so that random texts reach deep into the parser.
    fn yaml_like() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "a",
            "b: ",
            ": ",
            "- ",
            "? ",
            "\n",
            "\n  ",
            "\n\t",
            " ",
            "{",
            "}",
            "[",
            "]",
            ", ",
            "&x ",
            "*x",
            "!!str ",
            "!",
            "|",
            ">",
            "\"",
            "'",
            "#",
            "<<: ",
            "---\n",
            "...\n",
            "%YAML 1.2\n",
            "%TAG ! a\n",
            "0x1F",
            "1e9",
            ".nan",
            "~",
            "\\x",
            "\u{3042}",
            "\u{0}",
            "\r",
            "@",
            "`",
            "-",
            "|2-\n",
            "\u{85}",
            "\u{2028}",
        ]);
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// Catches: an unchecked slice or cast anywhere on the way from bytes to tree.
        #[test]
        fn no_bytes_make_a_parser_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes, Format::Yaml);
            let _ = parse(&bytes, Format::Json);
        }

        /// Catches: taking a key for granted when an alias, an empty value or an end stands in its place.
        #[test]
        fn no_yaml_makes_the_parser_panic(text in yaml_like()) {
            let _ = parse(text.as_bytes(), Format::Yaml);
        }
    }
}
