//! Pyright: findings below the name of their file, on one line or several.
//!
//! Owns its report. Warnings count if there are no errors.

use super::{Read, Step, indentation, place};
use crate::collector::{Collector, MAX_FAILURES, append};
use crate::fingerprint::{FingerprintParts, Repeats};
use crate::report::{Kind, Runner};
use crate::search::Search;

#[derive(Debug, Default)]
pub(crate) struct Pyright {
    draft: Option<(FingerprintParts, Level)>,
    warnings: Vec<FingerprintParts>,
    has_errors: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Error,
    Warning,
    Information,
}

/// `  /w/a.py:3:5 - error: "x" is not defined (reportUndefinedVariable)`
pub(crate) fn is_start(line: &str) -> bool {
    indentation(line) == 2 && line.has(" - ") && finding(line).is_some()
}

impl Read for Pyright {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        if let Some((file, number, column, level, message)) = finding(line) {
            self.close(out);
            let draft = FingerprintParts::new(Runner::Pyright, Kind::Lint)
                .message(message)
                .at(Some((file, Some(number))));
            self.draft = Some((FingerprintParts { repeats: Repeats::AtOtherPlaces(column), ..draft }, level));
            return Step::Taken;
        }
        if indentation(line) >= 4
            && let Some((draft, _)) = &mut self.draft
        {
            append(&mut draft.message, line.trim());
            return Step::Taken;
        }
        self.close(out);
        // The name of the next file.
        if line.starts_with('/') && !line.contains(' ') {
            return Step::Taken;
        }
        self.finish(out);
        Step::Refused
    }

    fn finish(&mut self, out: &mut Collector) {
        self.close(out);
        for warning in std::mem::take(&mut self.warnings) {
            if !self.has_errors {
                out.failed(warning);
            }
        }
    }
}

impl Pyright {
    fn close(&mut self, out: &mut Collector) {
        match self.draft.take() {
            Some((draft, Level::Error)) => {
                self.has_errors = true;
                out.failed(draft);
            }
            Some((draft, Level::Warning)) if self.warnings.len() < MAX_FAILURES => self.warnings.push(draft),
            Some((_, Level::Warning | Level::Information)) | None => {}
        }
    }
}

fn finding(line: &str) -> Option<(&str, u32, u32, Level, &str)> {
    let text = line.strip_prefix("  ").filter(|text| !text.starts_with(' '))?;
    let (position, rest) = text.cut(" - ")?;
    let (level, message) = rest.cut(": ")?;
    let level = match level {
        "error" => Level::Error,
        "warning" => Level::Warning,
        "information" => Level::Information,
        _ => return None,
    };
    let (file, number, "") = place(position)? else { return None };
    let column = position.rsplit(':').next().and_then(|column| column.parse().ok());
    Some((file, number, column.unwrap_or_default(), level, message))
}
