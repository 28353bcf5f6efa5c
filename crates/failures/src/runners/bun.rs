//! `bun test`: marked results with what was thrown above them, errors between tests, and the closing counts.
//!
//! Owns Bun's own report. What a test prints above its result is no failure. A run without its closing line was cut short.

use super::javascript::Thrown;
use super::{Read, Step};
use crate::collector::Collector;
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::search::Search;
use crate::tail::Tail;

#[derive(Debug, Default)]
pub(crate) struct Bun {
    file: Option<String>,
    /// What was printed above the next result.
    above: Thrown,
    /// A line that a file may be named in.
    below_blank: bool,
    /// A failure, until the line below it says whether it took too long.
    failed: Option<FingerprintParts>,
    between: Between,
    /// Whether a failure was read with what was thrown.
    has_failed: bool,
    /// Whether the failed tests are listed again, below the results.
    in_list: bool,
    ended: bool,
}

/// Where the rules around an error between tests are.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Between {
    #[default]
    Outside,
    Announced,
    Inside,
}

pub(crate) fn is_start(line: &str) -> bool {
    is_banner(line) || line.starts_with('(') && result(line).is_some() || is_end(line)
}

pub(crate) fn is_banner(line: &str) -> bool {
    line.strip_prefix("bun test v").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// ` 11 fail`, where only the end of the output is there.
pub(crate) fn is_count(line: &str) -> bool {
    line.strip_prefix(' ').is_some_and(|text| !text.starts_with(' ') && count(text).is_some())
}

impl Bun {
    /// A reader that knows what was printed just before.
    pub(crate) fn below(line: &str, tail: &Tail) -> Self {
        let mut bun = Self::default();
        if line.starts_with("(fail) ") {
            let is_above = |line: &&str| result(line).is_none() && !is_banner(line) && file(line).is_none();
            let lines: Vec<&str> = tail.latest_first().take_while(is_above).collect();
            for earlier in lines.into_iter().rev() {
                bun.thrown(earlier);
            }
        }
        bun
    }

    /// A line of an error, or of what a test printed before it.
    fn thrown(&mut self, line: &str) {
        let trimmed = line.trim();
        let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
        let is_frame = digits > 0 && trimmed.get(digits..).is_some_and(|rest| rest.starts_with(" |"));
        let error = trimmed.strip_prefix("error: ");
        if (is_frame || error.is_some())
            && !self.above.is_over()
            && !self.above.is_empty()
            && !self.above.has_frame()
        {
            self.above = Thrown::default();
        }
        match error {
            _ if trimmed == "^" => self.above.line("| ^"),
            Some(error) => self.above.line(error),
            None => self.above.line(line),
        }
    }

    fn result(&mut self, mark: Mark, name: &str, out: &mut Collector) {
        self.report(out);
        let thrown = std::mem::take(&mut self.above);
        match mark {
            Mark::Passed => out.passed(self.file.as_deref(), name),
            Mark::Skipped => out.skipped(self.file.as_deref(), name),
            Mark::Failed if self.in_list && self.has_failed => {}
            Mark::Failed => {
                self.has_failed |= !self.in_list;
                let mut draft = FingerprintParts::new(Runner::Bun, thrown.kind());
                thrown.describe(&mut draft);
                self.failed = Some(draft.test(self.file.as_deref(), name));
            }
        }
    }

    fn report(&mut self, out: &mut Collector) {
        if let Some(draft) = self.failed.take() {
            out.failed(draft);
        }
    }

    /// The lines between the rules around errors that no test is to blame for.
    fn between(&mut self, line: &str, out: &mut Collector) {
        let is_rule = line.len() >= 20 && line.bytes().all(|byte| byte == b'-');
        match self.between {
            Between::Announced if is_rule => self.between = Between::Inside,
            Between::Inside if is_rule || line.is_empty() && self.above.is_over() => {
                self.report_between(out);
                if is_rule {
                    self.between = Between::Outside;
                }
            }
            Between::Inside => self.thrown(line),
            Between::Announced | Between::Outside => {}
        }
    }

    fn report_between(&mut self, out: &mut Collector) {
        let thrown = std::mem::take(&mut self.above);
        if !thrown.is_empty() {
            let mut draft = FingerprintParts::new(Runner::Bun, Kind::Compile);
            thrown.describe(&mut draft);
            draft.package.clone_from(&self.file);
            out.failed(draft);
        }
    }

    fn count(&mut self, text: &str, out: &mut Collector) -> bool {
        let Some((number, word)) = count(text) else { return false };
        self.report(out);
        match word {
            "pass" => out.counted(number),
            "fail" => out.summarised(Runner::Bun, number),
            _ => {}
        }
        true
    }
}

impl Read for Bun {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        if self.between != Between::Outside {
            self.between(line, out);
            return Step::Taken;
        }
        let text = line.trim();
        if self.ended {
            if text.starts_with("Bailed out after") {
                out.masked();
                return Step::Taken;
            }
            return if text.is_empty() { Step::Taken } else { Step::Refused };
        }
        if let (Some(draft), Some(said)) = (&mut self.failed, text.strip_prefix("^ this test ")) {
            if said.starts_with("timed out") {
                draft.kind = Kind::Timeout;
            }
            if draft.message.is_empty() {
                draft.message = format!("this test {said}");
            }
            return Step::Taken;
        }
        let below_blank = std::mem::replace(&mut self.below_blank, text.is_empty() || is_banner(line));
        if let Some((mark, name)) = result(line) {
            self.result(mark, name, out);
        } else if text == "# Unhandled error between tests" {
            self.report(out);
            self.above = Thrown::default();
            self.between = Between::Announced;
        } else if is_list(text) && below_blank {
            self.report(out);
            self.above = Thrown::default();
            self.in_list = true;
        } else if let Some(file) = file(line).filter(|_| below_blank) {
            self.report(out);
            self.above = Thrown::default();
            self.file = Some(file.to_string());
        } else if is_end(line) {
            self.report(out);
            self.ended = true;
        } else if !(is_banner(line) || is_dots(text) || self.above.is_empty() && self.count(text, out)) {
            self.thrown(line);
        }
        Step::Taken
    }

    fn finish(&mut self, out: &mut Collector) {
        self.report(out);
        if self.between != Between::Outside {
            self.report_between(out);
        }
        if !self.ended {
            out.masked();
            let thrown = std::mem::take(&mut self.above);
            if !thrown.is_empty() {
                let mut draft = FingerprintParts::new(Runner::Bun, Kind::Error);
                thrown.describe(&mut draft);
                out.suspect(draft);
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Passed,
    Failed,
    Skipped,
}

/// `(fail) calc > adds [0.23ms]`, or `✗ calc > adds [0.23ms]` on a terminal.
fn result(line: &str) -> Option<(Mark, &str)> {
    let marks = [
        ("(pass) ", Mark::Passed),
        ("(fail) ", Mark::Failed),
        ("(skip) ", Mark::Skipped),
        ("(todo) ", Mark::Skipped),
        ("✓ ", Mark::Passed),
        ("✗ ", Mark::Failed),
        ("» ", Mark::Skipped),
        ("✎ ", Mark::Skipped),
    ];
    let (mark, name) = marks.iter().find_map(|(start, mark)| Some((*mark, line.strip_prefix(start)?)))?;
    let timed = name.cut_last(" [");
    let timed =
        timed.filter(|(_, time)| time.ends_with("s]") && time.starts_with(|c: char| c.is_ascii_digit()));
    Some((mark, timed.map_or(name, |(name, _)| name).trim_end()))
}

/// `bun/calc.test.js:`
fn file(line: &str) -> Option<&str> {
    let path = line.strip_suffix(':')?;
    let name = path.rsplit(['/', '\\']).next()?;
    (name.contains('.') && !path.contains(' ')).then_some(path)
}

/// `19 tests failed:`
fn is_list(text: &str) -> bool {
    let count = text.strip_suffix(" tests failed:").or_else(|| text.strip_suffix(" test failed:"));
    count.is_some_and(|count| !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The results of `--dots`.
fn is_dots(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte == b'.')
}

fn count(text: &str) -> Option<(u64, &str)> {
    let (number, word) = text.split_once(' ')?;
    let known =
        ["pass", "fail", "skip", "todo", "errors", "error", "filtered out", "expect() calls", "snapshots"];
    known.contains(&word).then_some((number.parse().ok()?, word))
}

/// `Ran 16 tests across 2 files. [31.00ms]`
fn is_end(line: &str) -> bool {
    line.starts_with("Ran ") && line.has(" across ") && line.has(" file")
}
