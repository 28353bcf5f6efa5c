//! ESLint's default report: a file, then its problems.
//!
//! Owns problems with their rule. Warnings are no failures.

use super::{Read, Step};
use crate::collector::Collector;
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::search::Search;

/// Reads the problems of one file.
#[derive(Debug, Default)]
pub(crate) struct Eslint {
    file: Option<String>,
}

/// Whether a line may be the name of a file with problems.
pub(crate) fn is_start(line: &str) -> bool {
    let extensions = [".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".vue", ".svelte", ".mts", ".cts"];
    extensions.iter().any(|extension| line.ends_with(extension)) && (line.starts_with('/') || line.has(":\\"))
}

impl Read for Eslint {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        let Some(file) = &self.file else {
            self.file = Some(line.to_string());
            return Step::Taken;
        };
        let Some((number, severity, text)) = problem(line) else {
            return if line.trim().is_empty() { Step::Ended } else { Step::Refused };
        };
        if severity == "error" {
            let (message, rule) =
                text.cut_last("  ").map_or((text, ""), |(message, rule)| (message.trim_end(), rule));
            let kind = if message.starts_with("Parsing error") { Kind::Compile } else { Kind::Lint };
            let mut draft =
                FingerprintParts::new(Runner::Eslint, kind).message(message).at(Some((file, Some(number))));
            draft.source = rule.to_string();
            out.failed(draft);
        }
        Step::Taken
    }

    fn finish(&mut self, _: &mut Collector) {}
}

/// `  2:12  error    Expected '===' and instead saw '=='          eqeqeq`
fn problem(line: &str) -> Option<(u32, &str, &str)> {
    let rest = line.strip_prefix("  ")?.trim_start();
    let (position, rest) = rest.split_once(' ')?;
    let (number, _) = position.split_once(':')?;
    let rest = rest.trim_start();
    let (severity, text) = rest.split_once(' ')?;
    matches!(severity, "error" | "warning").then_some((number.parse().ok()?, severity, text.trim()))
}
