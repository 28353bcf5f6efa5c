//! From the bytes of a file to a tree: the bounds every text obeys and the errors it can have.
//!
//! Owns the limits on size, depth and number of values, and the choice of the reader. Refuses to know what
//! the values mean.
//!
//! Invariant: any bytes at all give a tree or an error, in bounded time and memory.

use thiserror::Error;

use crate::shape::excerpt;
use crate::tree::{Mark, Node};
use crate::{json, yaml};

/// The size of a text, at most.
pub const MAX_TEXT_BYTES: usize = 1024 * 1024;

/// Levels of lists and maps within each other, at most.
pub(crate) const MAX_DEPTH: usize = 64;

/// Values in one text, at most, counting what aliases repeat.
pub(crate) const MAX_NODES: usize = 100_000;

/// The language a text is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// YAML 1.2, core schema.
    Yaml,
    /// JSON.
    Json,
}

/// A text that is no tree of values.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{kind}{}", in_words(*.mark))]
pub struct TextError {
    /// Where.
    pub mark: Option<Mark>,
    /// Why.
    pub kind: TextErrorKind,
}

/// Why a text is no tree of values.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TextErrorKind {
    /// More bytes than a configuration can sensibly have.
    #[error("more than {MAX_TEXT_BYTES} bytes of text")]
    TooLarge,
    /// Not text at all.
    #[error("not valid UTF-8")]
    NotUtf8,
    /// Not the language it should be.
    #[error("{message}")]
    Syntax {
        /// What the reader stumbled over.
        message: String,
    },
    /// One map has a key twice.
    #[error("the key {} is given twice", excerpt(key))]
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// Lists and maps within each other without end.
    #[error("more than {MAX_DEPTH} levels of lists and maps within each other")]
    TooDeep,
    /// More values than a configuration can sensibly have, perhaps by aliases of aliases.
    #[error("more than {MAX_NODES} values, counting what aliases repeat")]
    TooManyValues,
    /// An alias of something that contains the alias.
    #[error("an alias cannot stand inside the value it repeats")]
    AliasOfItself,
    /// A tag such as `!!str`.
    #[error("tags such as `!!str` are not supported; quotes make a value text")]
    Tag,
    /// The merge key `<<`.
    #[error("the merge key `<<` is not supported; repeat the keys or give the whole map an alias")]
    MergeKey,
    /// A key that is empty, a list or a map.
    #[error("a key must be text")]
    KeyNotText,
    /// A second document after `---`.
    #[error("more than one document; only one is read")]
    SecondDocument,
    /// Infinite, not a number, or too large to be either.
    #[error("{} is not a finite number; quotes make it text", excerpt(written))]
    NotFinite {
        /// The number as written.
        written: String,
    },
}

impl TextErrorKind {
    /// This error at a place.
    pub(crate) fn at(self, mark: impl Into<Option<Mark>>) -> TextError {
        TextError { mark: mark.into(), kind: self }
    }
}

/// Reads a whole text. An empty one is null.
pub fn read_text(bytes: &[u8], format: Format) -> Result<Node, TextError> {
    if bytes.len() > MAX_TEXT_BYTES {
        return Err(TextErrorKind::TooLarge.at(None));
    }
    let text = core::str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        TextErrorKind::NotUtf8.at(end_of(&String::from_utf8_lossy(before)))
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match format {
        Format::Yaml => yaml::read(text),
        Format::Json => json::read(text),
    }
}

fn in_words(mark: Option<Mark>) -> String {
    mark.map(|mark| format!(" (line {}, column {})", mark.line, mark.column)).unwrap_or_default()
}

/// The place right after a text.
fn end_of(text: &str) -> Mark {
    let last_line = text.rsplit('\n').next().unwrap_or_default();
    Mark { line: text.matches('\n').count() + 1, column: last_line.chars().count() + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bytes_that_are_no_text_are_refused_with_their_place() {
        let error = read_text(b"a: 1\nb: \xff", Format::Yaml).unwrap_err();
        assert_eq!(error, TextErrorKind::NotUtf8.at(Mark { line: 2, column: 4 }));
        assert_eq!(error.to_string(), "not valid UTF-8 (line 2, column 4)");
        let large = vec![b' '; MAX_TEXT_BYTES + 1];
        assert_eq!(read_text(&large, Format::Json).unwrap_err().kind, TextErrorKind::TooLarge);
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_text() {
        for (text, format) in [("\u{feff}a: 1", Format::Yaml), ("\u{feff}{\"a\": 1}", Format::Json)] {
            assert!(read_text(text.as_bytes(), format).unwrap().get("a").is_some(), "{text}");
        }
    }

    /// Pieces that YAML gives a meaning to, so that random texts reach deep into the reader.
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
        fn no_bytes_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_text(&bytes, Format::Yaml);
            let _ = read_text(&bytes, Format::Json);
        }

        /// Catches: taking a key for granted when an alias, an empty value or an end stands in its place.
        #[test]
        fn no_yaml_makes_the_reader_panic(text in yaml_like()) {
            let _ = read_text(text.as_bytes(), Format::Yaml);
        }
    }
}
