//! Ruby: the numbered failures of Minitest and RSpec, and their closing counts.
//!
//! Owns the default output of both, and the names in a verbose run of Minitest. Passing tests are counted, not named. A run
//! without its closing count was cut short.

use super::{Read, Step, indentation, numbered, place};
use crate::collector::{Collector, append};
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::search::Search;

#[derive(Debug)]
pub(crate) struct Ruby {
    runner: Runner,
    block: Option<Block>,
    /// Whether it is certainly Ruby: anybody may write `Failures:`.
    is_certain: bool,
    ended: bool,
}

#[derive(Debug, Default)]
struct Block {
    test: String,
    /// Outside of every test, as when a file cannot be loaded.
    is_loading: bool,
    is_error: bool,
    message: String,
    place: Option<(String, u32)>,
}

/// The reader that begins with a line.
pub(crate) fn begin(line: &str) -> Option<Ruby> {
    let is_minitest = line.starts_with("Run options:") && line.has("--seed")
        || line == "# Running:"
        || line.starts_with("Finished in ") && line.has(" runs/s");
    let is_rspec = line == "Failures:"
        || line.starts_with("An error occurred while loading ./")
        || line.starts_with("Finished in ") && line.has("(files took ")
        || line.starts_with("Randomized with seed ");
    let runner = match summary(line) {
        Some(Summary { runner, .. }) => runner,
        None if is_minitest => Runner::Minitest,
        None if is_rspec => Runner::Rspec,
        None => return None,
    };
    Some(Ruby { runner, block: None, is_certain: line != "Failures:", ended: false })
}

impl Ruby {
    pub(crate) fn runner(&self) -> Runner {
        self.runner
    }
}

impl Read for Ruby {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        if let Some(summary) = summary(line) {
            self.report(out);
            out.counted(summary.passed);
            out.summarised(self.runner, summary.failed);
            if summary.failed > 0 {
                out.ran_unnamed();
            }
            self.ended = true;
            return Step::Taken;
        }
        let text = line.trim();
        if !self.is_certain && !text.is_empty() && line != "Failures:" {
            self.is_certain = title(line).is_some();
            if !self.is_certain {
                return Step::Refused;
            }
        }
        if self.ended {
            // RSpec lists the failures again, and how it was started.
            let is_known =
                text.is_empty() || line.starts_with("rspec ./") || line.starts_with("Failed examples:");
            let is_seed = line.starts_with("Randomized with seed ");
            return if is_known || is_seed { Step::Taken } else { Step::Refused };
        }
        if let Some(file) = line.strip_prefix("An error occurred while loading ") {
            self.report(out);
            self.block = Some(Block { test: file.to_string(), is_loading: true, ..Block::default() });
        } else if let Some(title) = title(line) {
            self.report(out);
            let is_error = self.runner == Runner::Minitest && title == "Error:";
            let test = if self.runner == Runner::Rspec { title.to_string() } else { String::new() };
            self.block = Some(Block { test, is_error, ..Block::default() });
        } else if let Some(test) = verbose(line) {
            out.passed(None, test);
        } else if line.starts_with("Finished in ") || line == "Top" {
            self.report(out);
        } else if let Some(block) = &mut self.block {
            block.line(text);
        }
        Step::Taken
    }

    fn finish(&mut self, out: &mut Collector) {
        self.report(out);
        if self.is_certain && !self.ended {
            out.masked();
        }
    }
}

impl Ruby {
    fn report(&mut self, out: &mut Collector) {
        let Some(block) = self.block.take().filter(|block| !block.test.is_empty()) else { return };
        let kind = match &block {
            Block { is_loading: true, .. } => Kind::Compile,
            Block { is_error: true, .. } => Kind::Error,
            Block { .. } => Kind::Assertion,
        };
        let mut draft = FingerprintParts::new(self.runner, kind);
        if block.is_loading {
            draft.package = Some(block.test);
            out.masked();
        } else {
            draft = draft.test(None, &block.test);
        }
        let place = block.place.as_ref().map(|(file, line)| (file.as_str(), Some(*line)));
        out.failed(draft.message(block.message).at(place));
    }
}

impl Block {
    fn line(&mut self, text: &str) {
        if self.test.is_empty() {
            // `GoalTest#test_adds [test/goal_test.rb:5]:`
            let text = text.trim_end_matches(':');
            let (test, at) = text.cut(" [").unwrap_or((text, ""));
            self.test = test.to_string();
            self.place = place(at.trim_end_matches(']')).map(|(file, line, _)| (file.to_string(), line));
            return;
        }
        match place(text.trim_start_matches("# ")) {
            Some((file, line, _)) if text.starts_with("# ./") => {
                self.place.get_or_insert((file.to_string(), line));
            }
            Some(_) | None if !text.is_empty() && !text.starts_with("# ") => append(&mut self.message, text),
            Some(_) | None => {}
        }
    }
}

/// `  1) Failure:` of Minitest, `  1) Calc adds` of RSpec.
fn title(line: &str) -> Option<&str> {
    let title = numbered(line.trim_start()).filter(|_| (1..=4).contains(&indentation(line)))?;
    Some(title.trim())
}

/// `GoalTest#test_adds = 0.00 s = .`
fn verbose(line: &str) -> Option<&str> {
    let (test, rest) = line.cut(" = ")?;
    (test.contains('#') && rest.ends_with(" s = .")).then_some(test)
}

struct Summary {
    runner: Runner,
    passed: u64,
    failed: u64,
}

/// `2 runs, 2 assertions, 1 failures, 0 errors, 0 skips`, `2 examples, 1 failure, 1 pending`
fn summary(line: &str) -> Option<Summary> {
    let mut parts = line.split(", ");
    let (count, word) = parts.next()?.split_once(' ')?;
    let all: u64 = count.parse().ok()?;
    let runner = match word {
        // ExUnit counts tests without assertions.
        "runs" | "tests" if line.has(" assertions, ") => Runner::Minitest,
        "example" | "examples" => Runner::Rspec,
        _ => return None,
    };
    let mut failed = 0;
    let mut left_out = 0;
    let mut has_failures = false;
    for (count, word) in parts.filter_map(|part| part.split_once(' ')) {
        let Ok(count) = count.parse::<u64>() else { continue };
        match word {
            "failure" | "failures" => {
                failed += count;
                has_failures = true;
            }
            "errors" => failed += count,
            "skips" | "pending" => left_out += count,
            _ => {}
        }
    }
    has_failures.then_some(Summary {
        runner,
        passed: all.saturating_sub(failed).saturating_sub(left_out),
        failed,
    })
}
