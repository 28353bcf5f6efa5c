//! Redaction of a text that comes piece by piece: a credential may begin in one piece and end in the next.
//!
//! Invariant: however a text is cut into pieces, what comes out is the text as it would be redacted whole, except that a
//! credential may leave several marks instead of one: a private key of which only the beginning is known, and one longer than
//! [`MOST_HELD`].

use crate::prelude::*;
use core::ops::Range;

use super::{Redactor, without};

/// Every credential with a mark of its own is shorter than this.
const HELD: usize = 4096;
/// The most that is held back: more than any private key.
const MOST_HELD: usize = 128 << 10;
/// What was handed out already is remembered this far: the beginning of a `.netrc` entry may be in it.
const CONTEXT: usize = 512;

/// A text under way.
#[derive(Debug, Clone)]
pub struct RedactionStream<'a> {
    redactor: &'a Redactor,
    /// What was handed out last, and what is held back.
    text: String,
    /// Where the second begins.
    handed_out: usize,
}

impl<'a> RedactionStream<'a> {
    pub const fn new(redactor: &'a Redactor) -> Self {
        Self { redactor, text: String::new(), handed_out: 0 }
    }

    /// Takes the next piece, and returns what is certain by now.
    pub fn push(&mut self, piece: &str) -> String {
        self.text.push_str(piece);
        let held = HELD.max(self.redactor.longest());
        let new = self.text.len() - self.handed_out;
        // Searching costs as much as is held back, so it is done once for as much that is new.
        if new <= held.saturating_mul(2) {
            return String::new();
        }
        let latest = self.text.len() - held;
        // A word is not cut in two.
        let before = self.text.as_bytes().get(self.handed_out..latest).unwrap_or_default();
        let cut = before.iter().rposition(|byte| byte.is_ascii_whitespace());
        let cut = cut.map_or(latest, |position| self.handed_out + position + 1);
        self.hand_out(cut)
    }

    /// Takes the next piece, and returns the lines that are certain by now. Only a line that may be part of a private key
    /// that goes on is held back longer than to its end.
    pub fn push_lines(&mut self, piece: &str) -> String {
        self.text.push_str(piece);
        let end = self.text.rfind('\n').map_or(0, |end| end + 1);
        self.hand_out(end.max(self.handed_out))
    }

    /// The rest, when nothing follows.
    pub fn finish(&mut self) -> String {
        let spans = self.redactor.spans(&self.text);
        let rest = without(&self.text, self.handed_out..self.text.len(), &spans);
        self.text.clear();
        self.handed_out = 0;
        rest
    }

    fn hand_out(&mut self, cut: usize) -> String {
        let spans = self.redactor.spans(&self.text);
        let cut = self.certain(cut, &spans);
        let clean = without(&self.text, self.handed_out..cut, &spans);
        let mut forgotten = cut.saturating_sub(CONTEXT);
        while !self.text.is_char_boundary(forgotten) {
            forgotten -= 1;
        }
        self.text.drain(..forgotten);
        self.handed_out = cut - forgotten;
        clean
    }

    /// Not inside of a credential, and not inside of a letter. One that reaches to the end may go on.
    fn certain(&self, mut cut: usize, spans: &[Range<usize>]) -> usize {
        while !self.text.is_char_boundary(cut) {
            cut -= 1;
        }
        let is_open =
            |span: &&Range<usize>| span.start < cut && (span.end > cut || span.end >= self.text.len());
        match spans.iter().find(is_open) {
            None => cut,
            Some(span) if self.text.len() - span.start > MOST_HELD => span.end.min(self.text.len()).max(cut),
            Some(span) => span.start.max(self.handed_out),
        }
    }
}
