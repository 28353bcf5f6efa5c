//! PHPUnit: the numbered failures, the tree of `--testdox`, and the closing counts.
//!
//! Owns the output of PHPUnit 9 and newer. A run without its closing count was cut short.

use super::{Read, Step, indentation, numbered, place};
use crate::collector::{Collector, append};
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::search::Search;

#[derive(Debug, Default)]
pub(crate) struct PhpUnit {
    /// The class that a tree of results is of.
    class: String,
    block: Option<Block>,
    /// Failures of the list are named by class and method, those of a tree by words.
    has_tree: bool,
    ended: bool,
}

#[derive(Debug, Default)]
struct Block {
    test: String,
    message: String,
    place: Option<(String, u32)>,
}

pub(crate) fn is_start(line: &str) -> bool {
    line.starts_with("PHPUnit ") && line.has(" by Sebastian Bergmann") || summary(line).is_some()
}

impl Read for PhpUnit {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        if let Some(passed) = summary(line) {
            self.report(out);
            out.counted(passed);
            self.ended = true;
            return Step::Taken;
        }
        if self.ended && !line.trim().is_empty() {
            return Step::Refused;
        }
        let text = line.trim();
        // `1) GoalTest::testAdds`
        if let Some(test) = numbered(line).filter(|test| test.has("::")) {
            self.report(out);
            self.block = Some(Block { test: test.trim().to_string(), ..Block::default() });
            return Step::Taken;
        }
        if indentation(line) == 1 && self.tree(text, out) {
            return Step::Taken;
        }
        match &mut self.block {
            Some(block) => block.line(text),
            None if indentation(line) == 0 && is_class(text) => self.class = class(text).to_string(),
            None => {}
        }
        if matches!(text, "FAILURES!" | "ERRORS!") || line.starts_with("Time: ") {
            self.report(out);
        }
        Step::Taken
    }

    fn finish(&mut self, out: &mut Collector) {
        self.report(out);
        if !self.ended {
            out.masked();
        }
    }
}

impl PhpUnit {
    /// ` ✔ Adds` and ` ✘ Adds`, below the name of a class.
    fn tree(&mut self, text: &str, out: &mut Collector) -> bool {
        let Some((mark, name)) = text.split_once(' ') else { return false };
        let name = if self.class.is_empty() { name.to_string() } else { format!("{} > {name}", self.class) };
        match mark {
            "✔" => {
                self.report(out);
                out.passed(None, &name);
            }
            "✘" | "☢" | "✗" => {
                self.report(out);
                self.has_tree = true;
                self.block = Some(Block { test: name, ..Block::default() });
            }
            "↩" | "∅" => {
                self.report(out);
                out.skipped(None, &name);
            }
            _ => return false,
        }
        true
    }

    fn report(&mut self, out: &mut Collector) {
        let Some(block) = self.block.take() else { return };
        // Below a tree the list says the same again.
        if self.has_tree && block.test.has("::") {
            return;
        }
        let is_assertion = block.message.starts_with("Failed asserting") || block.message.is_empty();
        let kind = if is_assertion { Kind::Assertion } else { Kind::Error };
        let place = block.place.as_ref().map(|(file, line)| (file.as_str(), Some(*line)));
        let draft = FingerprintParts::new(Runner::PhpUnit, kind).test(None, &block.test);
        out.failed(draft.message(block.message).at(place));
    }
}

impl Block {
    fn line(&mut self, text: &str) {
        let text = text.trim_start_matches(['│', '├', '┴', '┐', ' ']).trim();
        match place(text) {
            Some((file, line, "")) if file.contains('/') => {
                self.place.get_or_insert((file.to_string(), line));
            }
            Some(_) | None if !text.is_empty() && self.place.is_none() => append(&mut self.message, text),
            Some(_) | None => {}
        }
    }
}

/// `Goal` and `Goal (Tests\Goal)`
fn is_class(text: &str) -> bool {
    let name = class(text);
    !text.is_empty() && name.starts_with(char::is_uppercase) && !text.contains([':', '.', '!', '/', '%'])
}

fn class(text: &str) -> &str {
    text.cut(" (").map_or(text, |(name, _)| name)
}

/// How many tests passed: `OK (2 tests, 3 assertions)`, `Tests: 4, Assertions: 4, Failures: 2, Skipped: 1.`
fn summary(line: &str) -> Option<u64> {
    if let Some(rest) = line.strip_prefix("OK (") {
        let (count, rest) = rest.split_once(' ')?;
        return rest.starts_with("test").then(|| count.parse().ok())?;
    }
    if line.starts_with("No tests executed!") {
        return Some(0);
    }
    let rest = line.strip_prefix("Tests: ")?.trim_end_matches('.');
    rest.has("Assertions: ").then_some(())?;
    let mut parts = rest.split(", ");
    let all: u64 = parts.next()?.parse().ok()?;
    let not_passed = ["Failures", "Errors", "Skipped", "Incomplete", "Risky"];
    let others = parts.filter_map(|part| part.cut(": "));
    let others =
        others.filter(|(name, _)| not_passed.contains(name)).filter_map(|(_, count)| count.parse().ok());
    Some(others.fold(all, u64::saturating_sub))
}
