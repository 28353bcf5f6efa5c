//! `dotnet test`: results of tests by VSTest and by the terminal logger, and the closing counts.
//!
//! Owns the lines of both loggers. Compilers print their errors themselves. The terminal logger names failing tests only.

use super::{Read, Step, indentation};
use crate::collector::{Collector, append};
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::search::Search;

#[derive(Debug, Default)]
pub(crate) struct Dotnet {
    block: Option<Block>,
    /// Passed and failed tests of a summary with one number to a line.
    is_totalling: bool,
}

#[derive(Debug, Default)]
struct Block {
    test: String,
    message: String,
    place: Option<(String, u32)>,
    part: Part,
    /// Of the terminal logger: everything below is indented deeper than this.
    depth: Option<usize>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Part {
    #[default]
    Head,
    Message,
    Stack,
    Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed,
    Skipped,
}

pub(crate) fn is_start(line: &str) -> bool {
    is_unmistakable(line)
        || line.starts_with("Starting test execution, please wait")
        || line.starts_with("Test summary: total: ")
        || line == "Test Run Failed."
        || line == "Test Run Successful."
}

/// Whether the terminal logger names a failed test.
pub(crate) fn is_failure(line: &str) -> bool {
    terminal(line).is_some()
}

/// `  Failed Sample.CalcTests.Equal [4 ms]`, and what precedes it.
pub(crate) fn is_indented_start(line: &str) -> bool {
    outcome(line).is_some() || line == "  Determining projects to restore..."
}

/// Whether a line can be that of no other tool.
pub(crate) fn is_unmistakable(line: &str) -> bool {
    line.starts_with("Test run for ") && line.has(".dll") || summary(line).is_some()
}

impl Read for Dotnet {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        if let Some((outcome, test)) = outcome(line) {
            self.finish(out);
            match outcome {
                Outcome::Passed => out.passed(None, test),
                Outcome::Skipped => out.skipped(None, test),
                Outcome::Failed => self.block = Some(Block { test: test.to_string(), ..Block::default() }),
            }
            return Step::Taken;
        }
        if let Some((place, text)) = terminal(line) {
            self.finish(out);
            let mut block = Block { place, depth: Some(indentation(line)), ..Block::default() };
            block.named(text);
            self.block = Some(block);
            return Step::Taken;
        }
        if let Some((passed, failed)) = summary(line) {
            self.finish(out);
            out.counted(passed);
            out.summarised(Runner::DotnetTest, failed);
            if failed > 0 {
                out.ran_unnamed();
            }
            return Step::Taken;
        }
        let text = line.trim();
        if let Some(block) = &mut self.block {
            let is_over = match block.depth {
                Some(depth) => indentation(line) <= depth && !text.is_empty(),
                None => block.part == Part::Stack && indentation(line) < 2 && !text.is_empty(),
            };
            if !is_over && !is_unmistakable(line) && !line.starts_with("Test Run ") {
                block.line(text);
                return Step::Taken;
            }
            self.finish(out);
        }
        self.between(line, out)
    }

    fn finish(&mut self, out: &mut Collector) {
        if let Some(block) = self.block.take() {
            out.failed(block.draft());
        }
    }
}

impl Dotnet {
    /// Lines of no test.
    fn between(&mut self, line: &str, out: &mut Collector) -> Step {
        let text = line.trim();
        if text.starts_with("Total tests: ") {
            self.is_totalling = true;
        } else if let Some(count) = text.strip_prefix("Passed: ").filter(|_| self.is_totalling) {
            out.counted(count.trim().parse().unwrap_or(0));
        } else if let Some(count) = text.strip_prefix("Failed: ").filter(|_| self.is_totalling) {
            out.summarised(Runner::DotnetTest, count.trim().parse().unwrap_or(0));
            out.ran_unnamed();
        } else if text.starts_with("The active test run was aborted.") {
            let reason = text.cut("Reason: ").map_or(text, |(_, reason)| reason);
            out.failed(FingerprintParts::new(Runner::DotnetTest, Kind::Crash).message(reason));
        } else if text.starts_with("No test matches the given testcase filter")
            || text.starts_with("No test is available in")
        {
            out.suspect(FingerprintParts::new(Runner::DotnetTest, Kind::Error).message(text));
        } else if text.has("): error ") || text.has(" : error ") {
            return Step::Refused;
        }
        Step::Taken
    }
}

impl Block {
    /// `Sample.CalcTests.Equal (4ms): Error Message: …`, on the line of the place or on the next.
    fn named(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let (name, rest) = text.cut("): ").unwrap_or((text, ""));
        let name = name.cut_last(" (").map_or(name, |(name, _)| name);
        self.test = name.trim().to_string();
        self.part = Part::Message;
        self.line(rest.strip_prefix("Error Message:").unwrap_or(rest).trim());
    }

    fn line(&mut self, text: &str) {
        if self.test.is_empty() {
            return self.named(text);
        }
        match text {
            "" => {}
            "Error Message:" => self.part = Part::Message,
            "Stack Trace:" => self.part = Part::Stack,
            _ if text.starts_with("Standard Output Messages:")
                || text.starts_with("Standard Error Messages:") =>
            {
                self.part = Part::Output;
            }
            _ => match self.part {
                Part::Message => append(&mut self.message, text),
                Part::Stack if self.place.is_none() => self.place = frame(text),
                Part::Head | Part::Stack | Part::Output => {}
            },
        }
    }

    fn draft(self) -> FingerprintParts {
        let first = self.message.lines().next().unwrap_or_default();
        let thrown = first.cut(" : ").or_else(|| first.cut(": ")).map(|(class, _)| class);
        let thrown = thrown.map(|class| class.trim_start_matches("Test method threw exception ").trim());
        let is_class = |class: &&str| class.ends_with("Exception") && !class.contains(' ');
        let kind = match thrown.filter(is_class).map(|class| class.rsplit('.').next().unwrap_or(class)) {
            Some(name) if name.has("Timeout") => Kind::Timeout,
            Some(name) if name.has("Assert") => Kind::Assertion,
            Some(name) => Kind::Exception(name.to_string()),
            None if first.has("exceeded execution timeout") => Kind::Timeout,
            None => Kind::Assertion,
        };
        let place = self.place.as_ref().map(|(file, line)| (file.as_str(), Some(*line)));
        FingerprintParts::new(Runner::DotnetTest, kind).test(None, &self.test).message(self.message).at(place)
    }
}

/// `  Failed Sample.CalcTests.Equal [4 ms]`
fn outcome(line: &str) -> Option<(Outcome, &str)> {
    let text = line.strip_prefix("  ").filter(|text| !text.starts_with(' '))?;
    let (word, rest) = text.split_once(' ')?;
    let outcome = match word {
        "Passed" => Outcome::Passed,
        "Failed" => Outcome::Failed,
        "Skipped" => Outcome::Skipped,
        _ => return None,
    };
    let (name, duration) = rest.trim_end().strip_suffix(']')?.cut_last(" [")?;
    let units = [" ms", " s", " m", " h", "ms"];
    units.iter().any(|unit| duration.ends_with(unit)).then_some((outcome, name))
}

type Place = (String, u32);

/// `    /w/CalcTests.cs(12): error TESTERROR: …`
fn terminal(line: &str) -> Option<(Option<Place>, &str)> {
    let (location, text) = line.cut("error TESTERROR:")?;
    let location = location.trim().trim_end_matches([':', ' ']);
    let place = location.strip_suffix(')').and_then(|rest| rest.rsplit_once('('));
    let place = place
        .and_then(|(file, position)| Some((file.to_string(), position.split(',').next()?.parse().ok()?)));
    Some((place, text.trim()))
}

/// `at Sample.CalcTests.Equal() in /w/CalcTests.cs:line 12`
fn frame(text: &str) -> Option<Place> {
    let (_, at) = text.strip_prefix("at ")?.cut_last(" in ")?;
    let (file, line) = at.cut_last(":line ")?;
    Some((file.to_string(), line.trim().parse().ok()?))
}

/// Passed and failed: `Failed!  - Failed:     1, Passed:     2, …`, `Test summary: total: 9, failed: 5, succeeded: 3, …`
fn summary(line: &str) -> Option<(u64, u64)> {
    let counts = line.strip_prefix("Test summary: ").or_else(|| {
        ["Failed!  - ", "Passed!  - ", "Skipped!  - "].iter().find_map(|start| line.strip_prefix(start))
    })?;
    let count = |names: [&str; 2]| {
        let parts = counts.split(", ").filter_map(|part| part.split_once(':'));
        parts
            .filter(|(name, _)| names.contains(&name.trim()))
            .find_map(|(_, count)| count.trim().parse().ok())
    };
    Some((count(["Passed", "succeeded"])?, count(["Failed", "failed"])?))
}
