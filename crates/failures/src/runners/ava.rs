//! AVA: the marked results, the details of failures after the rule, and what ended a test file.
//!
//! Owns AVA's default report. Inline results may have the beginning of the message behind the name; the details tell where
//! the name ends.

use super::javascript::Thrown;
use super::{Read, Step, indentation, place};
use crate::collector::{Collector, MAX_FAILURES};
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::search::Search;
use crate::tail::Tail;

#[derive(Debug, Default)]
pub(crate) struct Ava {
    /// Passed tests above the line by which AVA was recognised, the last one first.
    above: Vec<String>,
    /// Failed tests whose details have not been read.
    open: Vec<String>,
    block: Option<Block>,
    in_details: bool,
    ended: bool,
}

#[derive(Debug, Default)]
struct Block {
    about: About,
    place: Option<(String, u32)>,
    thrown: Thrown,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum About {
    Test(String),
    /// What happened outside of any test of a file.
    File(String, Kind),
    #[default]
    Pending,
}

const FAILED: &str = "✘ [fail]: ";

/// A passed test, which looks the same in reports of other tools.
pub(crate) fn is_passed(line: &str) -> bool {
    line.starts_with(PASSED)
}

const PASSED: &str = "  ✔ ";

pub(crate) fn is_start(line: &str) -> bool {
    let Some(text) = line.strip_prefix("  ").filter(|text| !text.starts_with(' ')) else { return false };
    text.starts_with(FAILED)
        || text.starts_with("- [skip] ")
        || text.starts_with("- [todo] ")
        || text.starts_with("✔ ") && text.has(" › ")
        || outside(text).is_some()
        || text.starts_with("✘ Couldn’t find any ")
        || summary(text).is_some()
}

impl Read for Ava {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        for name in std::mem::take(&mut self.above).iter().rev() {
            out.passed(None, super::without_duration(name));
        }
        let text = line.trim();
        if indentation(line) == 2 {
            if let Some((count, word)) = summary(text) {
                self.report(out);
                match word {
                    "passed" => out.counted(count),
                    "failed" | "exception" | "rejection" => out.summarised(Runner::Ava, count),
                    _ => {}
                }
                self.ended = true;
                return Step::Taken;
            }
            if self.heading(text, out) {
                return Step::Taken;
            }
        }
        if self.ended && indentation(line) < 2 && !text.is_empty() {
            self.finish(out);
            return Step::Refused;
        }
        match &mut self.block {
            Some(Block { about: About::Pending, .. }) => {
                if let Some(test) = text.strip_prefix("◌ ") {
                    out.failed(
                        FingerprintParts::new(Runner::Ava, Kind::Timeout)
                            .test(None, test)
                            .message("pending after a timeout"),
                    );
                }
            }
            Some(block) => block.line(text),
            None => {}
        }
        Step::Taken
    }

    fn finish(&mut self, out: &mut Collector) {
        self.report(out);
        for test in std::mem::take(&mut self.open) {
            out.failed(FingerprintParts::new(Runner::Ava, Kind::Assertion).test(None, &test));
        }
        if !self.ended {
            out.masked();
        }
        self.ended = true;
    }
}

impl Ava {
    /// A reader that knows which tests passed just before.
    pub(crate) fn after(tail: &Tail) -> Self {
        let results = tail.latest_first().take_while(|line| line.is_empty() || is_passed(line));
        let above = results.filter_map(|line| line.strip_prefix(PASSED)).map(str::to_string).collect();
        Self { above, ..Self::default() }
    }

    /// Whether the line is a result, or the name that details stand below.
    fn heading(&mut self, text: &str, out: &mut Collector) -> bool {
        if text == "─" {
            self.report(out);
            self.in_details = true;
        } else if let Some(name) = text.strip_prefix(FAILED) {
            out.ran_unnamed();
            if self.open.len() < MAX_FAILURES {
                self.open.push(name.to_string());
            }
        } else if let Some(name) = text.strip_prefix("✔ ") {
            out.passed(None, super::without_duration(name));
        } else if let Some(name) = text.strip_prefix("- [skip] ").or_else(|| text.strip_prefix("- [todo] ")) {
            out.skipped(None, name);
        } else if text.starts_with("`--fail-fast` is on.") {
            out.masked();
        } else if let Some(about) = outside(text) {
            self.report(out);
            out.masked();
            self.block = Some(Block { about, ..Block::default() });
        } else if text.starts_with("✘ ") && text.has(" exited with a non-zero exit code") {
            self.report(out);
        } else if text.starts_with("✘ ") {
            self.report(out);
            out.suspect(
                FingerprintParts::new(Runner::Ava, Kind::Error).message(text.trim_start_matches("✘ ")),
            );
        } else if let Some(at) = self.detailed(text) {
            self.report(out);
            self.open.remove(at);
            self.block = Some(Block { about: About::Test(text.to_string()), ..Block::default() });
        } else {
            return false;
        }
        true
    }

    /// The failed test that has this name.
    fn detailed(&self, text: &str) -> Option<usize> {
        if !self.in_details {
            return None;
        }
        let begins = |open: &String| open.strip_prefix(text).is_some_and(|rest| rest.starts_with(' '));
        self.open.iter().position(|open| open == text).or_else(|| self.open.iter().position(begins))
    }

    fn report(&mut self, out: &mut Collector) {
        let Some(block) = self.block.take() else { return };
        let kind = match (&block.about, block.thrown.kind()) {
            (About::Pending, _) => return,
            (About::File(_, kind), _) => kind.clone(),
            (About::Test(_), Kind::Error) => Kind::Assertion,
            (About::Test(_), kind) => kind,
        };
        let mut draft = FingerprintParts::new(Runner::Ava, kind);
        block.thrown.describe(&mut draft);
        if let Some((file, line)) = &block.place {
            draft = draft.at(Some((file, Some(*line))));
        }
        match block.about {
            About::Test(test) => draft.test = Some(test),
            About::File(file, _) => draft.package = Some(file),
            About::Pending => {}
        }
        out.failed(draft);
    }
}

impl Block {
    fn line(&mut self, text: &str) {
        if self.place.is_none()
            && self.thrown.is_empty()
            && let Some((file, line, "")) = place(text)
            && !text.contains(' ')
        {
            self.place = Some((file.to_string(), line));
            return;
        }
        // `9:     t.is(add(2, 2), 5);`
        if let (Some((_, line)), Some((number, source))) = (&self.place, text.cut(": "))
            && self.thrown.is_empty()
            && let Ok(number) = number.parse::<u32>()
        {
            if number == *line {
                self.thrown.line(&format!("> {number} | {}", source.trim()));
            }
            return;
        }
        if !text.starts_with("› ") {
            self.thrown.line(text);
        }
    }
}

/// What happened outside of any test.
fn outside(text: &str) -> Option<About> {
    if text == "✘ Timed out while running tests" {
        return Some(About::Pending);
    }
    let file = |text: &str| text.split_whitespace().next_back().unwrap_or_default().to_string();
    if text.starts_with("Uncaught exception in ") || text.starts_with("Unhandled rejection in ") {
        return Some(About::File(file(text), Kind::Compile));
    }
    text.starts_with("✘ Exiting due to process.exit()").then(|| About::File(file(text), Kind::Crash))
}

/// `10 tests failed`, `1 uncaught exception`
fn summary(text: &str) -> Option<(u64, &str)> {
    let (count, rest) = text.split_once(' ')?;
    let count = count.parse().ok()?;
    let (what, word) = rest.split_once(' ')?;
    match (what, word) {
        ("test" | "tests", "passed" | "failed" | "skipped" | "todo") => Some((count, word)),
        ("test" | "tests", word) if word.starts_with("remained pending") => Some((count, "pending")),
        ("known", "failure" | "failures") => Some((count, "known")),
        ("uncaught", "exception" | "exceptions") => Some((count, "exception")),
        ("unhandled", "rejection" | "rejections") => Some((count, "rejection")),
        _ => None,
    }
}
