//! Vitest: outcomes, and the block of each failure.
//!
//! Owns the banner, the tree of results and the `FAIL` blocks. Names are as Vitest prints them: file and path.

use super::javascript::Thrown;
use super::{Read, Step, count_of, without_duration};
use crate::collector::Collector;
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::search::Search;

#[derive(Debug, Default)]
pub(crate) struct Vitest {
    block: Option<(String, Thrown)>,
    /// Whether the blocks are those of files and groups.
    suites: bool,
}

pub(crate) fn is_start(line: &str) -> bool {
    let trimmed = line.trim_start();
    trimmed.strip_prefix("RUN  v").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        || (line.starts_with(" FAIL  ") && line.has(" > "))
}

/// ` Test Files  1 failed (1)` or `      Tests  40 failed | 1 passed (41)`, where only the end of the output is there.
pub(crate) fn is_summary(line: &str) -> bool {
    let text = line.trim();
    let counts = text.strip_prefix("Test Files  ").or_else(|| text.strip_prefix("Tests  "));
    counts.is_some_and(|counts| {
        counts.ends_with(')') && ["failed", "passed"].iter().any(|word| count_of(counts, word).is_some())
    })
}

impl Read for Vitest {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        if let Some(title) = line.strip_prefix(" FAIL  ") {
            self.finish(out);
            self.block = Some((title.trim().to_string(), Thrown::default()));
            return Step::Taken;
        }
        if line.starts_with('⎯') {
            self.finish(out);
            if line.has(" Failed Suites ") || line.has(" Failed Tests ") {
                self.suites = line.has(" Failed Suites ");
            }
            return Step::Taken;
        }
        if let Some((_, thrown)) = &mut self.block {
            thrown.line(line);
            return Step::Taken;
        }
        let text = line.trim();
        if let Some(counts) = text.strip_prefix("Tests  ") {
            out.counted(count_of(counts, "passed").unwrap_or(0));
            out.summarised(Runner::Vitest, count_of(counts, "failed").unwrap_or(0));
            if counts.has("passed") || counts.has("failed") {
                out.ran_unnamed();
            }
            if stopped_early(counts) {
                out.masked();
            }
        } else if text.starts_with("Duration  ") {
            return Step::Ended;
        } else {
            Self::tree(text, out);
        }
        Step::Taken
    }

    fn finish(&mut self, out: &mut Collector) {
        let Some((title, thrown)) = self.block.take() else { return };
        let loading = title.strip_suffix(" ]").and_then(|rest| rest.cut(" [ "));
        let kind = match loading {
            Some(_) => Kind::Compile,
            // Where the same error was thrown in several tests, it is printed once below all of them.
            None if thrown.is_empty() => Kind::Error,
            None => thrown.kind(),
        };
        let mut draft = FingerprintParts::new(Runner::Vitest, kind);
        if !thrown.is_empty() {
            thrown.describe(&mut draft);
        }
        match loading {
            Some((file, _)) => draft.file = Some(file.to_string()),
            None if self.suites => {
                // What is done once for a group failed, and its tests may not have run. No group is seen passing.
                out.masked();
                draft.package = Some(title);
            }
            None => draft.test = Some(title),
        }
        out.failed(draft);
    }
}

impl Vitest {
    /// Only the verbose reporter prints whole names. Those of the default one lack the groups around a test, and are
    /// not printed at all where a file passes: a name that comes and goes would look like a test that does.
    fn tree(text: &str, out: &mut Collector) {
        let mark = text.chars().next().unwrap_or(' ');
        let name = text.get(mark.len_utf8()..).unwrap_or_default().trim();
        match mark {
            '✓' if name.has(" > ") => out.passed(None, without_duration(name)),
            '↓' if name.has(" > ") => out.skipped(None, without_duration(name)),
            _ => {}
        }
    }
}

/// `1 failed | 1 passed | 1 skipped (13)`: tests missing in the sum did not run.
fn stopped_early(counts: &str) -> bool {
    let Some((parts, total)) = counts.trim().strip_suffix(')').and_then(|rest| rest.rsplit_once('(')) else {
        return false;
    };
    let number =
        |text: &str| text.split_whitespace().next().and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
    parts.split('|').map(number).sum::<u64>() < number(total)
}
