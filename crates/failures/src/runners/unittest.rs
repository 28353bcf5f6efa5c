//! Python's unittest: outcomes in verbose runs, and the block of each failure.
//!
//! Owns the separators and headers of unittest; what is raised is read as any traceback. A run that ends without its
//! closing count was cut short.

use super::python::Traceback;
use super::{Read, Step};
use crate::collector::Collector;
use crate::fingerprint::Draft;
use crate::report::{Kind, Runner};

/// Reads one unittest run.
#[derive(Debug, Default)]
pub(crate) struct Unittest {
    block: Option<Block>,
    /// A test named on the line before, whose description follows with the outcome.
    described: Option<String>,
    ended: bool,
    /// How many tests ran, until the line that says how many of them did not pass.
    ran: Option<u64>,
    /// Whether the line before was a rule.
    ruled: bool,
    /// Whether it is unittest for certain.
    begun: bool,
}

#[derive(Debug)]
struct Block {
    test: String,
    /// Whether the traceback has begun.
    below_rule: bool,
    unexpected_success: bool,
    traceback: Traceback,
}

/// Whether unittest begins here: a verbose outcome, the rule above the first failure, or the closing count where
/// nothing failed.
pub(crate) fn is_start(line: &str) -> bool {
    is_rule(line, b'=')
        || ran(line).is_some()
        || outcome(line).is_some_and(|(name, _)| test_name(name).is_some())
}

impl Read for Unittest {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        if is_rule(line, b'=') {
            self.hand_in(out);
            self.ended = false;
            self.ruled = true;
            return Step::Taken;
        }
        let below_rule = std::mem::take(&mut self.ruled);
        if let Some(block) = header(line) {
            self.hand_in(out);
            self.begun = true;
            self.block = Some(block);
            return Step::Taken;
        }
        if below_rule && !self.begun {
            // Anybody may draw a line.
            return Step::Refused;
        }
        self.begun = true;
        if is_rule(line, b'-') {
            match &mut self.block {
                Some(block) if !block.below_rule && !block.unexpected_success => block.below_rule = true,
                Some(_) | None => self.hand_in(out),
            }
            return Step::Taken;
        }
        if let Some(block) = &mut self.block {
            if block.below_rule {
                block.traceback.line(line);
            }
            return Step::Taken;
        }
        self.outside(line, out)
    }

    fn finish(&mut self, out: &mut Collector) {
        self.hand_in(out);
        if self.begun && !self.ended {
            out.masked();
        }
    }
}

impl Unittest {
    fn outside(&mut self, line: &str, out: &mut Collector) -> Step {
        if let Some(count) = ran(line) {
            if count > 0 {
                out.ran_unnamed();
            }
            self.ran = Some(count);
            self.ended = true;
        } else if let Some((name, result)) = outcome(line) {
            let named = test_name(name).or_else(|| self.described.take());
            if let Some(name) = named {
                match result {
                    "ok" | "expected failure" => out.passed(None, &name),
                    result if result.starts_with("skipped") => out.skipped(None, &name),
                    _ => {}
                }
            }
        } else {
            self.described = test_name(line);
            let closes = line.starts_with("FAILED (") || line.starts_with("OK");
            if let Some(ran) = self.ran.take_if(|_| closes) {
                out.counted(ran.saturating_sub(not_passed(line)));
            }
            if self.ended && !line.is_empty() && !closes {
                self.finish(out);
                return Step::Refused;
            }
        }
        Step::Taken
    }

    fn hand_in(&mut self, out: &mut Collector) {
        let Some(block) = self.block.take() else { return };
        let kind = if block.unexpected_success { Kind::Assertion } else { block.traceback.kind() };
        let mut draft = Draft::new(Runner::Unittest, kind).test(None, &block.test);
        block.traceback.describe(&mut draft);
        if block.unexpected_success {
            draft.message = "unexpected success".to_string();
        }
        out.failed(draft);
    }
}

fn is_rule(line: &str, sign: u8) -> bool {
    line.len() == 70 && line.bytes().all(|byte| byte == sign)
}

/// How many tests ran: `Ran 15 tests in 0.003s`.
fn ran(line: &str) -> Option<u64> {
    let (count, duration) = line.strip_prefix("Ran ")?.split_once(" in ")?;
    let count = count.strip_suffix(" tests").or_else(|| count.strip_suffix(" test"))?;
    duration.ends_with('s').then(|| count.parse().ok())?
}

/// How many of them did not pass: `FAILED (failures=7, errors=4, skipped=1, expected failures=1)`. A test that was
/// expected to fail, and did, passed.
fn not_passed(line: &str) -> u64 {
    let Some((_, inside)) = line.trim_end_matches(')').split_once('(') else { return 0 };
    let counts = inside.split(", ").filter_map(|part| part.split_once('='));
    counts
        .filter(|(name, _)| *name != "expected failures")
        .filter_map(|(_, count)| count.parse::<u64>().ok())
        .fold(0, u64::saturating_add)
}

/// `FAIL: test_equal (unit_calc.CalcTest.test_equal)`
fn header(line: &str) -> Option<Block> {
    let (word, rest) = line.split_once(": ")?;
    if !matches!(word, "FAIL" | "ERROR" | "UNEXPECTED SUCCESS") {
        return None;
    }
    let test = test_name(rest).unwrap_or_else(|| rest.trim().to_string());
    let unexpected_success = word == "UNEXPECTED SUCCESS";
    Some(Block { test, below_rule: false, unexpected_success, traceback: Traceback::default() })
}

/// `test_x (module.Class.test_x)` with a sub-test's parameters behind it, as one dotted name. Before Python 3.11 the
/// parentheses held the class alone.
fn test_name(text: &str) -> Option<String> {
    let (method, rest) = text.trim().split_once(" (")?;
    let (path, parameters) = rest.split_once(')')?;
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.<>".contains(&b))
    };
    if !is_name(method) || !is_name(path) || !path.is_ascii() {
        return None;
    }
    let full =
        if path.rsplit('.').next() == Some(method) { path.to_string() } else { format!("{path}.{method}") };
    let parameters = parameters.trim();
    Some(if parameters.is_empty() { full } else { format!("{full} {parameters}") })
}

/// A name and what came of it.
fn outcome(line: &str) -> Option<(&str, &str)> {
    let (name, result) = line.rsplit_once(" ... ")?;
    let known = ["ok", "FAIL", "ERROR", "expected failure", "unexpected success"];
    (known.contains(&result) || result.starts_with("skipped")).then_some((name, result))
}
