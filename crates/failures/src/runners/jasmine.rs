//! Jasmine: the numbered failures with their messages and stacks, the pending specs, and the closing count.
//!
//! Owns Jasmine's default report. A spec with several failed expectations is one failure.

use super::javascript::Thrown;
use super::{Read, Step, count_of, indentation, numbered};
use crate::collector::Collector;
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::search::Search;
use crate::tail::Tail;

#[derive(Debug, Default)]
pub(crate) struct Jasmine {
    block: Option<Block>,
    in_pending: bool,
    ended: bool,
}

#[derive(Debug, Default)]
struct Block {
    test: String,
    thrown: Thrown,
    /// How many messages were begun; the first one counts.
    messages: u32,
    in_stack: bool,
}

/// Whether a failure's message begins here; its name stands in the line above.
pub(crate) fn is_message(line: &str, tail: &Tail) -> bool {
    line == "  Message:" && tail.latest_first().next().is_some_and(|above| numbered(above).is_some())
}

/// The list of pending specs, or the closing count.
pub(crate) fn is_start(line: &str) -> bool {
    line == "Pending:" || summary(line).is_some()
}

impl Jasmine {
    /// A reader that knows the name in the line above.
    pub(crate) fn below(tail: &Tail) -> Self {
        let test = tail.latest_first().next().and_then(numbered).map(str::to_string);
        Self { block: test.map(|test| Block { test, ..Block::default() }), ..Self::default() }
    }
}

impl Read for Jasmine {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        if let Some((specs, failures, pending)) = summary(line) {
            self.report(out);
            out.counted(specs.saturating_sub(failures).saturating_sub(pending));
            out.summarised(Runner::Jasmine, failures);
            self.ended = true;
            return Step::Taken;
        }
        if line == "Pending:" {
            self.report(out);
            self.in_pending = true;
            return Step::Taken;
        }
        if line.starts_with("Suite error: ") || line == "Failures:" {
            self.report(out);
            self.in_pending = false;
            return Step::Taken;
        }
        if let Some(name) = numbered(line) {
            self.report(out);
            if self.in_pending {
                out.skipped(None, name);
            } else {
                self.block = Some(Block { test: name.to_string(), ..Block::default() });
            }
            return Step::Taken;
        }
        if self.ended {
            let is_end = line.is_empty()
                || ["Finished in ", "Randomized with seed ", "Incomplete: "]
                    .iter()
                    .any(|start| line.starts_with(start));
            if line.starts_with("Incomplete: ") {
                out.masked();
            }
            return if is_end { Step::Taken } else { Step::Refused };
        }
        match &mut self.block {
            Some(block) if indentation(line) > 0 || line.is_empty() => block.line(line),
            Some(_) | None if line.starts_with("Ran ") || line.is_empty() || indentation(line) > 0 => {}
            Some(_) | None => {
                self.report(out);
                return Step::Refused;
            }
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

impl Jasmine {
    fn report(&mut self, out: &mut Collector) {
        let Some(block) = self.block.take() else { return };
        let kind = block.thrown.kind();
        let kind = if kind == Kind::Error { Kind::Assertion } else { kind };
        let kind = if block.thrown.says("Error: Timeout - ") { Kind::Timeout } else { kind };
        let mut draft = FingerprintParts::new(Runner::Jasmine, kind);
        block.thrown.describe(&mut draft);
        out.failed(draft.test(None, &block.test));
    }
}

impl Block {
    fn line(&mut self, line: &str) {
        match line {
            "  Message:" => {
                self.messages += 1;
                self.in_stack = false;
            }
            "  Stack:" => self.in_stack = true,
            _ if self.messages > 1 || line.trim() == "at <Jasmine>" => {}
            _ if self.in_stack && !line.trim_start().starts_with("at ") => {}
            _ => self.thrown.line(line.trim_start()),
        }
    }
}

/// Specs, failures and pending specs: `16 specs, 11 failures, 2 pending specs`
fn summary(line: &str) -> Option<(u64, u64, u64)> {
    if !line.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    if !line.has("spec") {
        return None;
    }
    let count = |words: [&str; 2]| words.iter().find_map(|word| count_of(line, word));
    let pending = line.split(", ").find_map(|part| part.cut(" pending spec")?.0.parse().ok());
    let (specs, failures) = (count(["specs", "spec"])?, count(["failures", "failure"])?);
    Some((specs, failures, pending.unwrap_or_default()))
}
