//! The pattern language: from the bytes a person wrote to the program that is run.
//!
//! Owns every rule of notation: comments, negation, escapes, trailing spaces, what a slash anchors, when `**`
//! is special. Refuses to guess: a pattern that is malformed is said to be so, and matches nothing.

use super::bytes::ByteSet;
use super::class::read_class;
use super::program::{Program, Token};
use crate::prelude::*;
#[derive(Debug, Clone)]
pub(super) enum Line {
    /// A comment, or nothing but notation: it matches nothing.
    Nothing,
    /// A bracket is not closed, a class has no such name, or an escape escapes nothing: it matches nothing.
    Malformed,
    Pattern(Pattern),
}

/// One pattern, ready to be run on a path from its first byte on.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    pub(super) program: Program,
    pub(super) effect: Effect,
    pub(super) target: Target,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// It takes the path in.
    Cover,
    /// Written with `!`: it takes the path out again.
    Exempt,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Anything,
    /// Written with a `/` at its end: directories only.
    Directories,
}

impl Line {
    /// Reads one line as git does.
    pub(super) fn read(line: &[u8]) -> Self {
        if line.first() == Some(&b'#') {
            return Self::Nothing;
        }
        let (effect, body) = match without_trailing_spaces(line) {
            [b'!', body @ ..] => (Effect::Exempt, body),
            body => (Effect::Cover, body),
        };
        let (target, body) = match body {
            [body @ .., b'/'] => (Target::Directories, body),
            body => (Target::Anything, body),
        };
        if body.is_empty() {
            return Self::Nothing;
        }
        // Any other slash, escaped or inside brackets as it may be, ties the pattern to the root; otherwise
        // it is about the last part of a path, at any depth.
        let (mut tokens, dialect) = if body.contains(&b'/') {
            (Vec::new(), Dialect::Path)
        } else {
            (Token::any_directories().into(), Dialect::LastPart)
        };
        match compile(body.strip_prefix(b"/").unwrap_or(body), dialect) {
            None => Self::Malformed,
            Some(compiled) => {
                tokens.extend(compiled);
                Self::Pattern(Pattern { program: Program::new(tokens), effect, target })
            }
        }
    }
}

/// Cuts the spaces at the end of a line, except one that is escaped and what stands before it.
fn without_trailing_spaces(line: &[u8]) -> &[u8] {
    let mut kept = 0;
    let mut cursor = Cursor::new(line);
    while let Some(byte) = cursor.take() {
        if byte == b'\\' {
            cursor.take();
        }
        if byte != b' ' {
            kept = cursor.at;
        }
    }
    line.get(..kept).unwrap_or(line)
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Dialect {
    /// Of a whole path: wildcards and classes stop at slashes, and `**` crosses them.
    Path,
    /// Of the last part of a path, in which there is no slash.
    LastPart,
    /// A slash is a byte like any other.
    Name,
}

impl Dialect {
    /// What one `?` matches, and each byte of a `*`.
    fn wildcard(self) -> ByteSet {
        match self {
            Self::Path | Self::LastPart => ByteSet::NOT_SLASH,
            Self::Name => ByteSet::ALL,
        }
    }
}

/// Compiles a glob without the notation around it. `None` means that it is malformed.
pub(super) fn compile(glob: &[u8], dialect: Dialect) -> Option<Vec<Token>> {
    let mut cursor = Cursor::new(glob);
    let mut tokens = Vec::new();
    while let Some(byte) = cursor.take() {
        match byte {
            b'\\' => tokens.push(Token::One(ByteSet::of(cursor.take()?))),
            b'?' => tokens.push(Token::One(dialect.wildcard())),
            b'[' => {
                let class = read_class(&mut cursor)?;
                tokens.push(Token::One(class.intersection(dialect.wildcard())));
            }
            b'*' => read_stars(&mut cursor, dialect, &mut tokens),
            literal => tokens.push(Token::One(ByteSet::of(literal))),
        }
    }
    Some(tokens)
}

/// Reads a run of stars whose first has been taken.
fn read_stars(cursor: &mut Cursor<'_>, dialect: Dialect, tokens: &mut Vec<Token>) {
    let opens = match dialect {
        // Git looks at what stands before the first wildcard by itself, and at the wildcard as if the pattern began
        // there. So stars open a pattern after plain bytes, too, although its manual has them do so after a slash only.
        Dialect::Path => cursor.before_taken() == Some(b'/') || cursor.is_plain_before_taken(),
        Dialect::LastPart => cursor.before_taken().is_none(),
        Dialect::Name => false,
    };
    let mut several = false;
    while cursor.take_if(b'*') {
        several = true;
    }
    let crosses_slashes = several && opens;
    match cursor.rest() {
        [b'/', ..] if crosses_slashes => {
            cursor.take();
            tokens.extend(Token::any_directories());
        }
        // Git sees that an escaped slash bounds the stars, yet lets only a plain one be left out with them.
        [] | [b'\\', b'/', ..] if crosses_slashes => tokens.push(Token::Many(ByteSet::ALL)),
        _ => tokens.push(Token::Many(dialect.wildcard())),
    }
}

/// A place in a pattern that is being read.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    pub(super) fn take(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    /// Takes the next byte if it is this one, and says whether it did.
    pub(super) fn take_if(&mut self, wanted: u8) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    pub(super) fn skip(&mut self, count: usize) {
        self.at = self.at.saturating_add(count).min(self.bytes.len());
    }

    /// Whether there is no wildcard, class or escape before the byte taken last.
    fn is_plain_before_taken(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|taken| self.bytes.get(..taken)).unwrap_or_default();
        !before.iter().any(|byte| b"*?[\\".contains(byte))
    }

    /// The byte before the one taken last.
    fn before_taken(&self) -> Option<u8> {
        self.at.checked_sub(2).and_then(|before| self.bytes.get(before)).copied()
    }
}
