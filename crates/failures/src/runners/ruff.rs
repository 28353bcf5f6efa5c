//! Ruff's report on several lines: the rule, the place below it, and the source.
//!
//! Owns that report. One line for each finding is read as any linter's.

use super::{Read, Step, place};
use crate::collector::Collector;
use crate::fingerprint::{FingerprintParts, Repeats};
use crate::report::{Kind, Runner};
use crate::tail::Tail;

#[derive(Debug, Default)]
pub(crate) struct Ruff {
    draft: Option<FingerprintParts>,
    /// A line of source, in case a caret points at it.
    framed: String,
}

/// Whether the place of a finding is given here, and its rule in the line above.
pub(crate) fn is_start(line: &str, tail: &Tail) -> bool {
    line.trim_start().starts_with("--> ")
        && tail.latest_first().next().is_some_and(|above| finding(above).is_some())
}

impl Ruff {
    pub(crate) fn below(line: &str, tail: &Tail) -> Self {
        let above = tail.latest_first().next().and_then(finding);
        let position = line.trim_start().strip_prefix("--> ").and_then(place);
        let draft = above.zip(position).map(|((code, message), (file, number, _))| {
            let kind = if code == "invalid-syntax" { Kind::Compile } else { Kind::Lint };
            let message = format!("{code} {message}");
            let mut draft =
                FingerprintParts::new(Runner::Ruff, kind).message(message).at(Some((file, Some(number))));
            let column = line.rsplit(':').next().and_then(|column| column.trim().parse().ok());
            draft.repeats = Repeats::AtOtherPlaces(column.unwrap_or_default());
            draft
        });
        Self { draft, framed: String::new() }
    }
}

impl Read for Ruff {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        let text = line.trim();
        if text.is_empty() {
            self.finish(out);
            return Step::Ended;
        }
        let Some(draft) = &mut self.draft else { return Step::Refused };
        if let Some((gutter, source)) = line.split_once('|').filter(|_| draft.source.is_empty()) {
            if gutter.trim().is_empty() && source.trim_start().starts_with('^') {
                draft.source = std::mem::take(&mut self.framed);
            } else if gutter.trim().bytes().all(|byte| byte.is_ascii_digit()) {
                self.framed = source.trim().to_string();
            }
        }
        Step::Taken
    }

    fn finish(&mut self, out: &mut Collector) {
        if let Some(draft) = self.draft.take() {
            out.failed(draft);
        }
    }
}

/// Rule and message: `F401 [*] os imported but unused`, `invalid-syntax: Expected a name`
fn finding(line: &str) -> Option<(&str, &str)> {
    let (code, message) = line.split_once(' ')?;
    let letters = code.bytes().take_while(u8::is_ascii_uppercase).count();
    let digits = code.get(letters..)?;
    let is_code =
        (1..=6).contains(&letters) && digits.len() >= 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let named = code.strip_suffix(':').filter(|name| matches!(*name, "invalid-syntax" | "unformatted"));
    let code = named.or(is_code.then_some(code))?;
    Some((code, message.trim_start_matches("[*] ")))
}
