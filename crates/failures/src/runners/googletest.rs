//! GoogleTest: failures of tests with what was expected, and the closing list.
//!
//! Owns every line with a mark in brackets and the text between them. The closing list repeats names, so it counts only
//! for tests whose end was not read. A test that began and never ended has crashed.

use std::collections::BTreeSet;

use super::{Read, Step, place, without_duration};
use crate::collector::{Collector, MAX_FAILURES, append};
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::search::Search;

#[derive(Debug, Default)]
pub(crate) struct GoogleTest {
    current: Option<String>,
    blocks: Vec<Block>,
    /// Whether the lines belong to the last block.
    is_open: bool,
    reported: BTreeSet<String>,
    /// Whether the closing list has begun.
    is_closing: bool,
    ended: bool,
}

#[derive(Debug, Default)]
struct Block {
    place: Option<(String, u32)>,
    message: String,
    /// What was compared, without the values that were seen.
    source: String,
}

pub(crate) fn is_start(line: &str) -> bool {
    marked(line).is_some() || line.starts_with("Running main() from ") && line.has("gtest")
}

/// `a.cpp:12: Failure`, where only failures are printed.
pub(crate) fn is_failure(line: &str) -> bool {
    line.strip_suffix(": Failure").is_some_and(|before| before == "unknown file" || at(before).is_some())
}

/// Whether a line can be that of no other tool.
pub(crate) fn is_unmistakable(line: &str) -> bool {
    line.starts_with("[==========] Running ") || line.starts_with("[  FAILED  ] ")
}

impl Read for GoogleTest {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        if let Some((mark, text)) = marked(line) {
            self.mark(mark, text, out);
            return Step::Taken;
        }
        if is_failure(line) {
            let before = line.strip_suffix(": Failure").unwrap_or(line);
            self.is_open = self.blocks.len() < MAX_FAILURES;
            if self.is_open {
                self.blocks.push(Block { place: at(before), ..Block::default() });
            }
            return Step::Taken;
        }
        if self.is_closing || self.ended {
            let text = line.trim();
            let is_known = text.is_empty()
                || text.has(" FAILED TEST")
                || text.starts_with("YOU HAVE ")
                || text.starts_with("Repeating all tests ")
                || text.starts_with("Note: ");
            return if is_known { Step::Taken } else { Step::Refused };
        }
        if line.ends_with(": Skipped") {
            self.is_open = false;
        } else if let Some(block) = self.blocks.last_mut().filter(|_| self.is_open) {
            block.line(line);
        }
        Step::Taken
    }

    fn finish(&mut self, out: &mut Collector) {
        let blocks = std::mem::take(&mut self.blocks);
        let current = self.current.take();
        for block in blocks {
            out.failed(block.draft(current.as_deref()));
        }
        if let Some(test) = current {
            let draft = FingerprintParts::new(Runner::GoogleTest, Kind::Crash).test(None, &test);
            out.failed(draft.message("the program ended while this test was running"));
        }
        if !self.ended {
            out.masked();
        }
    }
}

impl GoogleTest {
    fn mark(&mut self, mark: &str, text: &str, out: &mut Collector) {
        self.is_open = false;
        let is_counted = text.starts_with(|letter: char| letter.is_ascii_digit());
        match mark {
            "RUN" => {
                self.current = Some(text.to_string());
                self.blocks.clear();
            }
            "OK" => {
                out.passed(None, name(text));
                self.current = None;
            }
            "PASSED" => {
                out.counted(leading_number(text));
                self.ended = true;
            }
            "SKIPPED" | "DISABLED" if !is_counted => {
                out.skipped(None, name(text));
                self.current = None;
            }
            "FAILED" if is_counted => {
                out.summarised(Runner::GoogleTest, leading_number(text));
                out.ran_unnamed();
                self.is_closing = true;
                self.ended = true;
            }
            "FAILED" => self.failed(name(text), out),
            "==========" if text.starts_with("Running ") => {
                if self.current.is_some() {
                    self.finish(out);
                }
                self.is_closing = false;
                self.ended = false;
            }
            _ => {}
        }
    }

    fn failed(&mut self, name: &str, out: &mut Collector) {
        let blocks = std::mem::take(&mut self.blocks);
        self.current = None;
        if self.is_closing && self.reported.contains(name) {
            return;
        }
        if self.reported.len() < MAX_FAILURES {
            self.reported.insert(name.to_string());
        }
        if blocks.is_empty() {
            out.failed(FingerprintParts::new(Runner::GoogleTest, Kind::Error).test(None, name));
        }
        for block in blocks {
            out.failed(block.draft(Some(name)));
        }
    }
}

impl Block {
    fn line(&mut self, line: &str) {
        let text = line.trim();
        if text.is_empty() {
            return;
        }
        let (compared, _) = text.cut(", actual: ").unwrap_or((text, ""));
        let is_seen = ["Which is: ", "Actual: "].iter().any(|seen| text.starts_with(seen));
        let is_in_diff = self.message.has("With diff:");
        append(&mut self.message, text);
        if !is_seen && !is_in_diff {
            append(&mut self.source, compared);
        }
    }

    fn draft(self, test: Option<&str>) -> FingerprintParts {
        let kind = if self.message.starts_with("C++ exception with description ") {
            Kind::Exception("std::exception".to_string())
        } else if self.message.starts_with("Unknown C++ exception ") {
            Kind::Exception("unknown".to_string())
        } else {
            Kind::Assertion
        };
        let place = self.place.as_ref().map(|(file, line)| (file.as_str(), Some(*line)));
        let mut draft = FingerprintParts::new(Runner::GoogleTest, kind).message(self.message).at(place);
        draft.signature = draft.message.lines().next().unwrap_or_default().to_string();
        draft.source = self.source;
        draft.test = test.map(str::to_string);
        draft
    }
}

/// `[  FAILED  ] Calc.Equal (0 ms)`: the mark and the text.
fn marked(line: &str) -> Option<(&str, &str)> {
    let inside = line.strip_prefix('[')?;
    let (mark, text) = (inside.get(..10)?, inside.get(10..)?.strip_prefix(']')?);
    let mark = mark.trim();
    let marks = ["RUN", "OK", "FAILED", "PASSED", "SKIPPED", "DISABLED", "==========", "----------"];
    marks.contains(&mark).then_some((mark, text.trim()))
}

/// `a.cpp:12`, `a.cpp(12)`
fn at(text: &str) -> Option<(String, u32)> {
    if let Some((file, line)) = text.strip_suffix(')').and_then(|rest| rest.rsplit_once('(')) {
        return Some((file.to_string(), line.parse().ok()?));
    }
    place(text)
        .filter(|(file, _, rest)| rest.is_empty() && !file.contains(' '))
        .map(|(file, line, _)| (file.to_string(), line))
}

/// A name without its parameter and its duration.
fn name(text: &str) -> &str {
    let text = without_duration(text);
    text.split(", where ").next().unwrap_or(text).trim()
}

fn leading_number(text: &str) -> u64 {
    text.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}
