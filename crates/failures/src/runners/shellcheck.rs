//! ShellCheck: a place, a line of source, and the findings that point at it.
//!
//! Owns its report for people. Every finding counts, whatever its level: ShellCheck fails by any.

use super::{Read, Step};
use crate::collector::Collector;
use crate::fingerprint::{FingerprintParts, Repeats};
use crate::report::{Kind, Runner};
use crate::search::Search;

#[derive(Debug, Default)]
pub(crate) struct Shellcheck {
    file: String,
    line: Option<u32>,
    source: Option<String>,
}

pub(crate) fn is_start(line: &str) -> bool {
    header(line).is_some()
}

impl Read for Shellcheck {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        if let Some((file, number)) = header(line) {
            *self = Self { file: file.to_string(), line: Some(number), source: None };
            return Step::Taken;
        }
        let Some(source) = &self.source else {
            self.source = Some(line.trim().to_string());
            return Step::Taken;
        };
        let Some((column, code, message)) = finding(line) else {
            let is_end = line.starts_with("For more information:");
            return if is_end { Step::Ended } else { Step::Taken };
        };
        let kind = if code.starts_with("SC10") { Kind::Compile } else { Kind::Lint };
        let mut draft = FingerprintParts::new(Runner::Shellcheck, kind)
            .message(format!("{code} {message}"))
            .at(Some((&self.file, self.line)));
        draft.source.clone_from(source);
        draft.repeats = Repeats::AtOtherPlaces(column);
        out.failed(draft);
        Step::Taken
    }

    fn finish(&mut self, _: &mut Collector) {}
}

/// `In lint.sh line 3:`
fn header(line: &str) -> Option<(&str, u32)> {
    let (file, number) = line.strip_prefix("In ")?.strip_suffix(':')?.cut_last(" line ")?;
    Some((file, number.parse().ok()?))
}

/// `     ^---^ SC2086 (info): Double quote to prevent globbing.`
fn finding(line: &str) -> Option<(u32, &str, &str)> {
    let text = line.trim_start();
    let (carets, rest) = text.cut(" SC")?;
    if !carets.starts_with('^') || !carets.bytes().all(|byte| matches!(byte, b'^' | b'-')) {
        return None;
    }
    let rest = text.get(carets.len() + 1..).unwrap_or(rest);
    let (code, message) = rest.split_once(' ')?;
    let message = message.cut("): ").map_or(message, |(_, message)| message);
    Some((u32::try_from(line.len() - text.len()).ok()?, code, message))
}
