//! Lines of the four versions as numbers, so that they are compared once, and the words within a line.

use super::{FourVersions, Side};
use crate::prelude::*;
/// Marks git writes around the sides of a conflict.
const MARKS: [&[u8]; 3] = [b"<<<<<<<", b"|||||||", b">>>>>>>"];
const BETWEEN: &[u8] = b"=======";

/// What is shown of a line.
const SHOWN: usize = 160;

/// One version: its lines by number, without the blank ones, and how often it has each.
#[derive(Debug, Clone, Default)]
pub(super) struct Version {
    pub(super) lines: Vec<u32>,
    /// Where each line is in the file, from 1.
    pub(super) numbers: Vec<u32>,
    counts: BTreeMap<u32, usize>,
}

impl Version {
    pub(super) fn count(&self, line: u32) -> usize {
        self.counts.get(&line).copied().unwrap_or(0)
    }

    pub(super) fn line(&self, at: usize) -> Option<u32> {
        self.lines.get(at).copied()
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Versions<'a> {
    texts: Vec<&'a [u8]>,
    pub(super) base: Version,
    ours: Version,
    theirs: Version,
    pub(super) result: Version,
}

impl<'a> Versions<'a> {
    pub(super) fn new(four: &FourVersions<'a>) -> Self {
        let mut numbers = BTreeMap::new();
        let mut texts = Vec::new();
        let mut version = |content: Option<&'a [u8]>| {
            let mut version = Version::default();
            for (text, at) in content.unwrap_or_default().split(|byte| *byte == b'\n').zip(1u32..) {
                let text = text.trim_ascii_end();
                if text.is_empty() {
                    continue;
                }
                let line = *numbers.entry(text).or_insert_with(|| {
                    texts.push(text);
                    u32::try_from(texts.len()).unwrap_or(u32::MAX) - 1
                });
                version.lines.push(line);
                version.numbers.push(at);
                *version.counts.entry(line).or_default() += 1;
            }
            version
        };
        let base = version(four.base);
        // Who removed the file has no lines to compare: the file as a whole was looked at before.
        let ours = version(four.ours.or(four.base));
        let theirs = version(four.theirs.or(four.base));
        let result = version(four.result);
        Self { texts, base, ours, theirs, result }
    }

    pub(super) const fn side(&self, side: Side) -> &Version {
        match side {
            Side::Ours => &self.ours,
            Side::Theirs => &self.theirs,
        }
    }

    pub(super) fn text(&self, line: u32) -> &'a [u8] {
        self.texts.get(line as usize).copied().unwrap_or_default()
    }

    /// Whether nobody but whoever made the result has written the line.
    pub(super) fn is_novel(&self, line: u32) -> bool {
        self.base.count(line) == 0 && self.ours.count(line) == 0 && self.theirs.count(line) == 0
    }

    pub(super) fn has_word(&self, line: u32) -> bool {
        self.text(line).iter().copied().any(is_of_word)
    }

    pub(super) fn is_mark(&self, line: u32) -> bool {
        let text = self.text(line);
        let follows = |mark: &&[u8]| {
            text.strip_prefix(*mark).is_some_and(|rest| rest.is_empty() || rest.starts_with(b" "))
        };
        text == BETWEEN || MARKS.iter().any(follows)
    }

    pub(super) fn shown(&self, line: u32) -> String {
        let text = String::from_utf8_lossy(self.text(line).trim_ascii());
        let mut shown: String = text.chars().take(SHOWN).collect();
        if shown.len() < text.len() {
            shown.push('…');
        }
        shown
    }
}

const fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Words and signs, each with how often it is there.
pub(super) type Tokens<'a> = BTreeMap<&'a [u8], i64>;

/// Adds the words and signs of a line.
pub(super) fn count_tokens<'a>(text: &'a [u8], tokens: &mut Tokens<'a>) {
    let of_one = |one: &u8, other: &u8| is_of_word(*one) && is_of_word(*other);
    for token in text.chunk_by(of_one).filter(|token| !token.trim_ascii().is_empty()) {
        *tokens.entry(token).or_default() += 1;
    }
}

/// The words and signs of a line.
pub(super) fn tokens(text: &[u8]) -> Tokens<'_> {
    let mut found = Tokens::new();
    count_tokens(text, &mut found);
    found
}

pub(super) fn is_word(token: &[u8]) -> bool {
    token.first().copied().is_some_and(is_of_word)
}

/// Signs that only separate: who joins two lists writes them anew.
pub(super) fn is_separator(token: &[u8]) -> bool {
    matches!(token, b"," | b";" | b"(" | b")" | b"[" | b"]" | b"{" | b"}" | b"\"" | b"'")
}

/// The blanks a line begins with.
pub(super) fn indent(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    text.get(..blanks).unwrap_or_default()
}
