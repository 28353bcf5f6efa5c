//! Robot Framework: the results on the console, the dotted results, and the counts of the suites.
//!
//! Owns both kinds of console output. A test that did not run because another one failed is no failure.

use super::python::kind_of;
use super::{Read, Step, count_of};
use crate::collector::{Collector, append};
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::search::Search;

#[derive(Debug, Default)]
pub(crate) struct Robot {
    /// The names of the suites, as they were printed.
    suites: Vec<String>,
    suite: String,
    ruled: bool,
    /// Whether it is certainly Robot Framework.
    begun: bool,
    block: Option<Block>,
    /// The counts of the suite that ended last: that of all suites comes at the end.
    counts: Option<(u64, u64)>,
    ended: bool,
}

#[derive(Debug, Default)]
struct Block {
    suite: String,
    test: String,
    message: String,
}

const NOT_RUN: &str = "Failure occurred and exit-on-failure mode is in use.";

/// Two rules, the results of a test, or the counts where only the end of the output is there.
pub(crate) fn is_start(line: &str) -> bool {
    is_rule(line, b'=') || counts(line).is_some() || is_dotted(line)
}

pub(crate) fn is_result(line: &str) -> bool {
    result(line).is_some()
}

impl Read for Robot {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        if is_rule(line, b'=') {
            self.report(out);
            self.ruled = true;
            return Step::Taken;
        }
        let below_rule = std::mem::take(&mut self.ruled);
        let is_ours = below_rule && line.len() >= 78
            || result(line).is_some()
            || counts(line).is_some()
            || is_dotted(line);
        if !self.begun && !is_ours {
            return Step::Refused;
        }
        self.begun = true;
        if let Some(found) = counts(line) {
            self.block = None;
            self.counts = Some(found);
            return Step::Taken;
        }
        if let Some((name, outcome)) = result(line) {
            self.result(name, outcome, out);
            return Step::Taken;
        }
        if is_rule(line, b'-') {
            self.report(out);
            return Step::Taken;
        }
        if let Some(name) = line.strip_prefix("FAIL: ").filter(|_| self.block.is_none()) {
            let (suite, test) = name.rsplit_once('.').unwrap_or(("", name));
            self.block =
                Some(Block { suite: suite.to_string(), test: test.to_string(), message: String::new() });
        } else if let Some(text) = line.strip_prefix("[ ERROR ] ") {
            invalid(text, out);
        } else if let Some(block) = &mut self.block {
            append(&mut block.message, line.trim_end());
        } else if ["Output:  ", "Log:     ", "Report:  ", "XUnit:   ", "Debug:   "]
            .iter()
            .any(|start| line.starts_with(start))
        {
            self.ended = true;
        } else if below_rule || line.len() >= 78 && line.ends_with("  ") {
            self.suite = name_of(line).to_string();
            self.suites.push(self.suite.clone());
        } else if self.ended && !line.trim().is_empty() {
            self.finish(out);
            return Step::Refused;
        }
        Step::Taken
    }

    fn finish(&mut self, out: &mut Collector) {
        self.report(out);
        if let Some((passed, failed)) = self.counts.take() {
            out.counted(passed);
            out.summarised(Runner::Robot, failed);
            self.ended = true;
        }
        if self.begun && !self.ended {
            out.masked();
        }
    }
}

impl Robot {
    fn result(&mut self, name: &str, outcome: &str, out: &mut Collector) {
        self.report(out);
        // The end of a suite.
        if self.suites.last().is_some_and(|suite| suite == name) {
            self.suites.pop();
            self.suite = self.suites.last().cloned().unwrap_or_default();
            return;
        }
        match outcome {
            "PASS" => out.passed(Some(&self.suite), name),
            "SKIP" => out.skipped(Some(&self.suite), name),
            _ => {
                let suite = self.suite.clone();
                self.block = Some(Block { suite, test: name.to_string(), message: String::new() });
            }
        }
    }

    fn report(&mut self, out: &mut Collector) {
        let Some(block) = self.block.take() else { return };
        let first = block.message.lines().next().unwrap_or_default();
        if first == NOT_RUN {
            out.masked();
            return;
        }
        let raised = first.split(':').next().unwrap_or_default();
        let kind = if raised.ends_with("Error") || raised.ends_with("Exception") {
            kind_of(first)
        } else if first.has("timeout") && first.ends_with("exceeded.") {
            Kind::Timeout
        } else if first.ends_with(" found.") || first.has("setup failed") {
            Kind::Error
        } else {
            Kind::Assertion
        };
        let package = Some(block.suite.as_str()).filter(|suite| !suite.is_empty());
        out.failed(
            FingerprintParts::new(Runner::Robot, kind).test(package, &block.test).message(block.message),
        );
    }
}

/// `Error in file '/w/a.robot' on line 2: Importing library 'X' failed`. Tests may pass all the same.
fn invalid(text: &str, out: &mut Collector) {
    let Some((file, rest)) = text.strip_prefix("Error in file '").and_then(|rest| rest.cut("' on line "))
    else {
        return;
    };
    let Some((number, message)) = rest.cut(": ") else { return };
    let place = Some((file, number.parse().ok()));
    out.failed(FingerprintParts::new(Runner::Linter, Kind::Compile).message(message).at(place));
}

/// `Adds some numbers :: documentation      | FAIL |`
fn result(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim_end().strip_suffix(" |")?;
    let (name, outcome) = rest.cut_last("| ")?;
    (matches!(outcome, "PASS" | "FAIL" | "SKIP") && name.ends_with(' ')).then(|| (name_of(name), outcome))
}

fn name_of(text: &str) -> &str {
    text.split(" :: ").next().unwrap_or(text).trim_end()
}

/// How many tests passed and failed: `12 tests, 2 passed, 9 failed, 1 skipped`
fn counts(line: &str) -> Option<(u64, u64)> {
    let (count, rest) = line.cut(" test")?;
    let rest = rest.strip_prefix('s').unwrap_or(rest).strip_prefix(", ")?;
    count.parse::<u64>().ok()?;
    Some((count_of(rest, "passed")?, count_of(rest, "failed")?))
}

/// `Running suite 'Calc' with 14 tests.`
fn is_dotted(line: &str) -> bool {
    line.starts_with("Running suite '") && line.has("' with ")
}

fn is_rule(line: &str, sign: u8) -> bool {
    line.len() == 78 && line.bytes().all(|byte| byte == sign)
}
