//! rustc, cargo and clippy, as text.
//!
//! Owns diagnostics with their place, label and source line. Warnings are no failures. What cargo only sums up
//! ("could not compile") is none either.

use super::{Read, Step, place};
use crate::collector::{Collector, append};
use crate::fingerprint::{FingerprintParts, Repeats};
use crate::report::{Kind, Runner};
use crate::search::Search;

#[derive(Debug, Default)]
pub(crate) struct Rustc {
    header: Option<Header>,
    file: Option<(String, u32)>,
    source: String,
    label: String,
    /// The line above a row of carets.
    above: String,
    lint: bool,
    message: String,
}

#[derive(Debug)]
struct Header {
    is_error: bool,
    code: String,
    text: String,
}

pub(crate) fn is_start(line: &str) -> bool {
    header(line).is_some()
}

impl Read for Rustc {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        if self.header.is_none() {
            self.header = header(line);
            append(&mut self.message, line);
            return if self.header.is_some() { Step::Taken } else { Step::Refused };
        }
        let trimmed = line.trim_start();
        if trimmed.is_empty() || header(line).is_some() {
            self.finish(out);
            return if trimmed.is_empty() { Step::Ended } else { Step::Refused };
        }
        let is_part = line.starts_with(' ')
            || line.starts_with(|c: char| c.is_ascii_digit())
            || ["help:", "note:", "...", "|", "Caused by:"].iter().any(|start| trimmed.starts_with(start));
        if !is_part {
            self.finish(out);
            return Step::Refused;
        }
        append(&mut self.message, line);
        self.part(trimmed);
        Step::Taken
    }

    fn finish(&mut self, out: &mut Collector) {
        let read = std::mem::take(self);
        let Some(header) = read.header.filter(|header| header.is_error && !is_sum(&header.text)) else {
            return;
        };
        let Some((file, line)) = read.file else {
            // Cargo itself complains, of a manifest or an argument, or it is another tool altogether; it explains a
            // failure that nothing else does.
            let mut draft = FingerprintParts::new(Runner::Generic, Kind::Error).message(read.message);
            draft.signature = header.text;
            draft.repeats = Repeats::WithOtherNumbers;
            return out.remarked(draft);
        };
        let mut draft = draft_of(&header.code, &header.text, &read.label, &read.source, read.lint);
        draft.message = read.message;
        out.failed(draft.at(Some((&file, Some(line)))));
    }
}

impl Rustc {
    fn part(&mut self, trimmed: &str) {
        if let Some(location) = trimmed.strip_prefix("--> ") {
            if self.file.is_none() {
                self.file = place(location).map(|(file, line, _)| (file.to_string(), line));
            }
            return;
        }
        self.lint |= trimmed.has("#[deny(") || trimmed.has("`-D ") || trimmed.has("#[forbid(");
        let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
        let Some(text) = trimmed.get(digits..).and_then(|rest| rest.trim_start().strip_prefix('|')) else {
            return;
        };
        if digits > 0 {
            self.above = text.trim().to_string();
        } else if let Some(at) = text.find('^') {
            // The primary place is underlined with carets.
            if self.source.is_empty() {
                self.source = std::mem::take(&mut self.above);
                self.label =
                    text.get(at..).unwrap_or_default().trim_start_matches(['^', '-', ' ']).to_string();
            }
        }
    }
}

pub(crate) fn draft_of(code: &str, text: &str, label: &str, source: &str, lint: bool) -> FingerprintParts {
    let is_lint = lint || code.starts_with("clippy::") || (!code.is_empty() && !code.starts_with('E'));
    let kind = if is_lint { Kind::Lint } else { Kind::Compile };
    let mut draft = FingerprintParts::new(Runner::Rustc, kind).message(text);
    draft.signature = format!("{text}\n{label}");
    draft.source = format!("{code}\n{source}");
    draft
}

/// `error[E0425]: text`, `error: text`, and the same with `warning`.
fn header(line: &str) -> Option<Header> {
    let (is_error, rest) = match line.strip_prefix("error") {
        Some(rest) => (true, rest),
        None => (false, line.strip_prefix("warning")?),
    };
    if let Some(text) = rest.strip_prefix(": ") {
        return Some(Header { is_error, code: String::new(), text: text.to_string() });
    }
    let (code, text) = rest.strip_prefix('[')?.cut("]: ")?;
    Some(Header { is_error, code: code.to_string(), text: text.to_string() })
}

/// Whether it only counts earlier diagnostics.
fn is_sum(text: &str) -> bool {
    [
        "could not compile",
        "aborting due to",
        "test failed",
        "doctest failed",
        "build failed",
        "test run failed",
        "warnings found and -Werror specified",
    ]
    .iter()
    .any(|start| text.starts_with(start))
        || text.has(" target failed:")
        || text.has(" targets failed:")
}
