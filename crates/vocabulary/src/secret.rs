//! Credentials in texts: whether there are any, and texts without them.
//!
//! Owns [`Redacted`], the only kind of foreign text that may be written down, and [`Redactor`], which makes it. What looks
//! like a credential by itself is in `words`, what is one because of where it stands in `places`, how a known value may be
//! encoded in `forms`. Refuses to guess from entropy: a text may hold hashes and long names, and those must stay.
//!
//! Invariant: no error and no output of this file shows what it took for a credential.

mod forms;
mod places;
mod stream;
mod words;

use crate::prelude::*;
use core::fmt;
use core::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::forms::{Form, forms};
pub use self::stream::RedactionStream;

/// What stands where a credential stood.
const REMOVED: &str = "[removed]";

/// A value shorter than this is no secret anybody would guard, and taking it out would spoil ordinary words.
const SHORTEST_SECRET: usize = 8;

/// A text of somebody else's from which credentials were taken out. Whatever a program printed, and whatever a person
/// wrote, is recorded in this form only.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Redacted(String);

impl Redacted {
    /// A sentence of our own, which holds nothing foreign.
    pub fn ours(text: &'static str) -> Self {
        Self(text.to_string())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Redacted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Takes credentials out of texts: those that look like one, and those whose very value is known.
#[derive(Clone, Default)]
pub struct Redactor {
    /// The known values in each of their forms.
    known: Vec<(String, Form)>,
    /// Finds all of them in one pass; `None` if there are none.
    finder: Option<AhoCorasick>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Redactor({} known forms of values)", self.known.len())
    }
}

impl Redactor {
    /// Knows these values as well, such as those of environment variables that hold keys, also encoded.
    pub fn knowing(values: impl IntoIterator<Item = String>) -> Self {
        let secrets: BTreeSet<String> =
            values.into_iter().filter(|value| value.len() >= SHORTEST_SECRET).collect();
        let known: BTreeMap<String, Form> = secrets.iter().flat_map(|secret| forms(secret)).collect();
        let known: Vec<(String, Form)> = known.into_iter().collect();
        // The longest wins, so that a secret that is part of another does not leave the rest of it behind.
        let finder = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(known.iter().map(|(value, _)| value));
        let finder = finder.ok().filter(|_| !known.is_empty());
        Self { known, finder }
    }

    /// Whether an environment variable of this name is likely to hold a credential.
    pub fn is_secret_name(name: &str) -> bool {
        let name = name.to_ascii_uppercase();
        let parts = ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "APIKEY", "CREDENTIAL"];
        let endings = ["_KEY", "_PAT", "_DSN", "_PASS", "_AUTH"];
        parts.iter().any(|part| name.contains(part)) || endings.iter().any(|ending| name.ends_with(ending))
    }

    /// The credential in an address, as in `postgres://user:password@host`.
    pub fn password_in(address: &str) -> Option<&str> {
        let (_, rest) = address.split_once("://")?;
        let (person, _) = rest.split_once('@').filter(|(person, _)| !person.contains('/'))?;
        person.split_once(':').map(|(_, password)| password)
    }

    /// The passwords in the text of a `.netrc` file.
    pub fn netrc_passwords(text: &str) -> Vec<String> {
        let mut words = text.split_whitespace();
        let mut passwords = Vec::new();
        while let Some(word) = words.next() {
            if word == "password" {
                passwords.extend(words.next().map(ToString::to_string));
            }
        }
        passwords
    }

    pub fn redact(&self, text: &str) -> Redacted {
        Redacted(without(text, 0..text.len(), &self.spans(text)))
    }

    /// Where credentials are: sorted, and not overlapping.
    fn spans(&self, text: &str) -> Vec<Range<usize>> {
        let mut spans = Vec::new();
        self.find_known(text, &mut spans);
        words::find(text, &mut spans);
        places::find(text, &mut spans);
        spans.sort_unstable_by_key(|span| (span.start, span.end));
        let mut merged: Vec<Range<usize>> = Vec::with_capacity(spans.len());
        for mut span in spans {
            // A search that ended at its bound may have ended within a letter.
            span.end = text.ceil_char_boundary(span.end);
            match merged.last_mut() {
                Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
                Some(_) | None => merged.push(span),
            }
        }
        merged
    }

    fn find_known(&self, text: &str, spans: &mut Vec<Range<usize>>) {
        let Some(finder) = &self.finder else {
            // Too many to be searched for together: one by one.
            for (value, form) in &self.known {
                spans.extend(text.match_indices(value).map(|(at, _)| form.span(text, at..at + value.len())));
            }
            return;
        };
        for found in finder.find_iter(text) {
            if let Some((_, form)) = self.known.get(found.pattern().as_usize()) {
                spans.push(form.span(text, found.range()));
            }
        }
    }

    /// Bytes of the longest form of a known value.
    fn longest(&self) -> usize {
        self.known.iter().map(|(value, _)| value.len()).max().unwrap_or(0)
    }
}

/// A part of a text, with a mark instead of each span.
fn without(text: &str, part: Range<usize>, spans: &[Range<usize>]) -> String {
    let mut clean = String::with_capacity(part.len());
    let mut at = part.start;
    for span in spans.iter().filter(|span| span.end > part.start && span.start < part.end) {
        clean.push_str(text.get(at..span.start.max(at)).unwrap_or_default());
        clean.push_str(REMOVED);
        at = span.end.min(part.end);
    }
    clean.push_str(text.get(at..part.end).unwrap_or_default());
    clean
}

/// Whether any word of a text looks like a credential.
pub fn is_in(text: &str) -> bool {
    let mut spans = Vec::new();
    words::find(text, &mut spans);
    !spans.is_empty()
}

/// How many of the first bytes are of a kind.
fn run_length(bytes: &[u8], is_of_kind: impl Fn(u8) -> bool) -> usize {
    bytes.iter().take_while(|byte| is_of_kind(**byte)).count()
}

/// The bytes from a place on; none after the end.
fn from(text: &str, at: usize) -> &[u8] {
    text.as_bytes().get(at..).unwrap_or_default()
}

#[cfg(test)]
mod tests;
