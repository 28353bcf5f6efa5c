//! Python's doctest, and Sphinx's: failed examples, what passed, and the closing count.
//!
//! Owns the examples between lines of stars. An example belongs to the doctest of a function, class, module or file.

use super::python::{Traceback, frame};
use super::{Read, Step, count_of};
use crate::collector::{Collector, append};
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::search::Search;

#[derive(Debug, Default)]
pub(crate) struct Doctest {
    block: Option<Block>,
    part: Part,
    /// Whether it is certainly doctest.
    begun: bool,
    in_passed: bool,
}

#[derive(Debug, Default)]
struct Block {
    file: String,
    line: u32,
    test: String,
    example: String,
    expected: String,
    message: String,
    traceback: Option<Traceback>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Part {
    #[default]
    None,
    Example,
    Expected,
    Got,
    Raised,
}

/// The rule above an example, or the closing counts.
pub(crate) fn is_start(line: &str) -> bool {
    is_rule(line) || failures(line).is_some() || items(line).is_some()
}

impl Read for Doctest {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        if is_rule(line) || line == "Trying:" && self.begun {
            self.report(out);
            self.in_passed = false;
            return Step::Taken;
        }
        if let Some(count) = failures(line) {
            self.report(out);
            out.summarised(Runner::Doctest, count);
            return Step::Ended;
        }
        if line == "Test passed." && self.begun {
            return Step::Ended;
        }
        if let Some(block) = header(line) {
            self.report(out);
            self.begun = true;
            self.block = Some(block);
            return Step::Taken;
        }
        if let Some(has_passed) = items(line) {
            self.report(out);
            self.begun = true;
            self.in_passed = has_passed;
            return Step::Taken;
        }
        if !self.begun {
            return Step::Refused;
        }
        if self.in_passed
            && let Some((_, test)) = line.cut(" in ").filter(|_| line.starts_with(' '))
        {
            out.passed(None, test.trim());
            return Step::Taken;
        }
        if line.ends_with(" failed.") && line.has(" passed and ") {
            out.counted(count_of(line, "passed").unwrap_or_default());
            return Step::Taken;
        }
        self.part(line);
        Step::Taken
    }

    fn finish(&mut self, out: &mut Collector) {
        self.report(out);
    }
}

impl Doctest {
    fn part(&mut self, line: &str) {
        let Some(block) = &mut self.block else { return };
        self.part = match line {
            "Failed example:" => Part::Example,
            "Expected:" => Part::Expected,
            "Expected nothing" => {
                append(&mut block.message, line);
                Part::Expected
            }
            "Got:" | "Got nothing" => Part::Got,
            "Exception raised:" => {
                block.traceback = Some(Traceback::default());
                Part::Raised
            }
            _ => self.part,
        };
        let Some(text) = line.strip_prefix("    ") else {
            if matches!(self.part, Part::Expected | Part::Got) && !line.is_empty() {
                append(&mut block.message, line);
            }
            return;
        };
        match (self.part, &mut block.traceback) {
            (Part::Example, _) => append(&mut block.example, text),
            (Part::Expected, _) => {
                append(&mut block.expected, text);
                append(&mut block.message, line);
            }
            (Part::Got, _) => append(&mut block.message, line),
            (Part::Raised, Some(traceback)) => traceback.line(text),
            (Part::Raised | Part::None, _) => {}
        }
    }

    fn report(&mut self, out: &mut Collector) {
        self.part = Part::None;
        let Some(block) = self.block.take() else { return };
        let kind = block.traceback.as_ref().map_or(Kind::Assertion, Traceback::kind);
        let mut draft = FingerprintParts::new(Runner::Doctest, kind);
        draft.signature = "example".to_string();
        draft.message = format!("{}\n{}", block.example, block.message);
        if let Some(traceback) = &block.traceback {
            draft.signature = traceback.raised.lines().next().unwrap_or_default().to_string();
            draft.message = format!("{}\n{}", block.example, traceback.raised);
        }
        // Two examples of a doctest differ in what they do or in what they expect.
        draft.source = format!("{}\n{}", block.example, block.expected);
        out.failed(draft.test(None, &block.test).at(Some((&block.file, Some(block.line)))));
    }
}

fn is_rule(line: &str) -> bool {
    line.len() == 70 && line.bytes().all(|byte| byte == b'*')
}

/// `File "x.py", line 3, in calc.add`
fn header(line: &str) -> Option<Block> {
    let (file, number) = frame(line).filter(|_| line.starts_with("File "))?;
    let (_, test) = line.cut_last(", in ")?;
    Some(Block { file: file.to_string(), line: number, test: test.to_string(), ..Block::default() })
}

/// `***Test Failed*** 6 failures.`
fn failures(line: &str) -> Option<u64> {
    let rest = line.strip_prefix("***Test Failed*** ")?;
    rest.cut(" failure")?.0.parse().ok()
}

/// Whether the items that a list begins passed: `5 items had failures:`, `1 items passed all tests:`
fn items(line: &str) -> Option<bool> {
    let (count, rest) = line.cut(" item")?;
    count.parse::<u64>().ok()?;
    match rest.strip_prefix('s').unwrap_or(rest) {
        " had failures:" | " had no tests:" => Some(false),
        " passed all tests:" => Some(true),
        _ => None,
    }
}
