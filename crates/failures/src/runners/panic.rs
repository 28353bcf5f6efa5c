//! Rust's panics, wherever they are printed.
//!
//! Owns the shape of a panic: its thread, its place, and its message up to the backtrace. Refuses to know what ran.

use super::{Read, Step, place};
use crate::collector::{Collector, append};
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::search::Search;

/// Lines of a message in its signature.
const SIGNATURE_LINES: usize = 12;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Panic {
    pub(crate) thread: String,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u32>,
    pub(crate) message: String,
    /// Whether following lines belong to its message.
    open: bool,
    /// Whether its message is in quotes that are still open, with the position after them.
    quoted: bool,
}

impl Panic {
    pub(crate) fn begin(line: &str) -> Option<Self> {
        let rest = line.trim_start().strip_prefix("thread '")?;
        let (thread, rest) = rest.split_once('\'')?;
        let (_, location) = rest.cut("panicked at ")?;
        // Until Rust 1.72 the message stood in quotes before the place.
        let (message, location, quoted) = match location.strip_prefix('\'') {
            Some(quoted) => match quoted.cut_last("', ") {
                Some((message, location)) => (message, location, false),
                None => (quoted, "", true),
            },
            None => ("", location, false),
        };
        let place = place(location);
        Some(Self {
            thread: thread.to_string(),
            file: place.map(|(file, ..)| file.to_string()),
            line: place.map(|(_, line, _)| line),
            message: message.to_string(),
            open: true,
            quoted,
        })
    }

    /// Adds a line that may belong to the message.
    pub(crate) fn add(&mut self, line: &str) {
        let closed = line.cut_last("', ").filter(|_| self.quoted);
        if let Some((last, (file, number, _))) = closed.and_then(|(last, at)| Some((last, place(at)?))) {
            append(&mut self.message, last);
            self.file = Some(file.to_string());
            self.line = Some(number);
            self.quoted = false;
            return;
        }
        let trimmed = line.trim();
        let ends = trimmed == "stack backtrace:"
            || trimmed.starts_with("note: run with `RUST_BACKTRACE")
            || trimmed.starts_with("note: Some details are omitted");
        self.open &= !ends;
        if self.open && !(trimmed.is_empty() && self.message.is_empty()) {
            append(&mut self.message, line.trim_end());
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        if self.message.trim_start().starts_with("assertion") { Kind::Assertion } else { Kind::Panic }
    }

    pub(crate) fn describe(&self, draft: &mut FingerprintParts) {
        let is_diff = self.message.has("< left / right >");
        let lines = self.message.lines().filter(|line| !line.trim().is_empty());
        for line in lines.take(SIGNATURE_LINES) {
            let line = line.trim();
            match line.strip_prefix("assertion failed: ") {
                // What follows is the source of the condition itself, unless it is a macro's own comparison.
                Some(source) if !source.starts_with('`') => append(&mut draft.source, source),
                Some(_) | None if is_diff && line.starts_with('>') => append(&mut draft.source, line),
                Some(_) | None => append(&mut draft.signature, line),
            }
        }
    }
}

/// A panic of a program that is not a test.
#[derive(Debug, Default)]
pub(crate) struct Stray {
    panic: Option<Panic>,
}

impl Read for Stray {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        match &mut self.panic {
            None => {
                self.panic = Panic::begin(line);
                Step::Taken
            }
            Some(panic) if panic.open && !line.trim().is_empty() => {
                panic.add(line);
                Step::Taken
            }
            Some(_) => {
                self.finish(out);
                Step::Refused
            }
        }
    }

    fn finish(&mut self, out: &mut Collector) {
        let Some(panic) = self.panic.take() else { return };
        let mut draft = FingerprintParts::new(Runner::Generic, panic.kind()).message(panic.message.clone());
        panic.describe(&mut draft);
        out.suspect(draft.at(panic.file.as_deref().map(|file| (file, panic.line))));
    }
}
