//! Python's unittest: outcomes in verbose runs, and the block of each failure.
//!
//! Owns the separators and headers of unittest; what is raised is read as any traceback. A run that ends without its
//! closing count was cut short. A module that could not be loaded, or a class that could not be prepared, is not a
//! test: it is reported without one, since it can never pass.

mod name;
mod progress;
pub(crate) mod unpickled;

use self::name::{Heading, Subject};
use self::progress::{Progress, Said};
use super::python::Traceback;
use super::{Read, Step};
use crate::collector::Collector;
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::search::Search;

#[derive(Debug, Default)]
pub(crate) struct Unittest {
    block: Option<Block>,
    progress: Progress,
    ended: bool,
    /// How many tests ran, until the line that says how many of them did not pass.
    ran: Option<u64>,
    /// Modules that could not be loaded, which unittest counts as tests.
    not_loaded: u64,
    /// Whether the line before was a rule.
    ruled: bool,
    /// Whether it is certainly unittest.
    begun: bool,
    /// Whether only a line that may be the name of a test was read.
    announced: bool,
}

#[derive(Debug)]
struct Block {
    subject: Subject,
    /// The parameters of the sub-test that failed; empty if the whole test did.
    part: String,
    /// Whether the traceback has begun.
    below_rule: bool,
    unexpected_success: bool,
    traceback: Traceback,
}

/// Whether unittest begins here: a test of a verbose run, the rule above the first failure, or the closing count where
/// nothing failed.
pub(crate) fn is_start(line: &str) -> bool {
    is_rule(line, b'=') || ran(line).is_some() || progress::is_start(line)
}

impl Read for Unittest {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        if is_rule(line, b'=') {
            self.report(out);
            self.ended = false;
            self.ruled = true;
            return Step::Taken;
        }
        let below_rule = std::mem::take(&mut self.ruled);
        // Tests may print such lines as well. Unexpected successes share a rule.
        if (below_rule || self.block.as_ref().is_some_and(|block| block.unexpected_success))
            && let Some(block) = header(line)
        {
            self.report(out);
            self.progress.close(out);
            self.begun = true;
            self.block = Some(block);
            return Step::Taken;
        }
        if !self.begun {
            let is_confirmed = std::mem::take(&mut self.announced) && progress::is_description(line);
            self.announced = !is_confirmed && progress::is_announcement(line);
            // Anybody may draw a line, or write a name.
            if below_rule || !(self.announced || is_confirmed || is_start(line)) {
                return Step::Refused;
            }
            self.begun = !self.announced;
        }
        if is_rule(line, b'-') {
            match &mut self.block {
                Some(block) if !block.below_rule && !block.unexpected_success => block.below_rule = true,
                Some(_) | None => self.report(out),
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
        self.report(out);
        if self.begun && !self.ended {
            out.masked();
        }
    }
}

impl Unittest {
    fn outside(&mut self, line: &str, out: &mut Collector) -> Step {
        if let Some(count) = ran(line) {
            self.progress.close(out);
            if count > std::mem::take(&mut self.not_loaded) {
                out.ran_unnamed();
            }
            self.ran = Some(count);
            self.ended = true;
            return Step::Taken;
        }
        match self.progress.line(line, out) {
            Said::Test => self.ended = false,
            Said::Name => {}
            Said::Nothing => {
                let closes = line.starts_with("FAILED (") || line.starts_with("OK");
                if let Some(ran) = self.ran.take_if(|_| closes) {
                    out.counted(ran.saturating_sub(not_passed(line)));
                }
                if self.ended && !line.is_empty() && !closes {
                    self.finish(out);
                    return Step::Refused;
                }
            }
        }
        Step::Taken
    }

    fn report(&mut self, out: &mut Collector) {
        let Some(block) = self.block.take() else { return };
        match &block.subject {
            Subject::Module(_) => {
                self.not_loaded += 1;
                out.masked();
            }
            // Its tests did not run.
            Subject::Fixture { hook, .. } if hook.starts_with("setUp") => out.masked(),
            Subject::Fixture { .. } | Subject::Test(_) => {}
        }
        out.failed(block.into_draft());
    }
}

impl Block {
    fn into_draft(self) -> FingerprintParts {
        let kind = match &self.subject {
            Subject::Module(_) => Kind::Compile,
            Subject::Test(_) if self.unexpected_success => Kind::Assertion,
            Subject::Test(_) | Subject::Fixture { .. } => self.traceback.kind(),
        };
        let mut draft = FingerprintParts::new(Runner::Unittest, kind);
        self.traceback.describe(&mut draft);
        if self.unexpected_success {
            draft.message = "unexpected success".to_string();
        }
        match self.subject {
            Subject::Test(name) => draft.test = Some(name),
            Subject::Module(name) => draft.package = Some(name),
            Subject::Fixture { hook, of } => {
                draft.package = Some(of);
                draft.message = format!("{hook}: {}", draft.message);
                draft.signature = format!("{hook}: {}", draft.signature);
            }
        }
        if !self.part.is_empty() {
            // Only the whole test is ever seen passing. The numbers of its parts tell them apart, as in a source.
            draft.message = format!("{} {}", self.part, draft.message);
            draft.source = format!("{} {}", self.part, draft.source);
        }
        draft
    }
}

fn is_rule(line: &str, sign: u8) -> bool {
    line.len() == 70 && line.bytes().all(|byte| byte == sign)
}

/// `Ran 15 tests in 0.003s`
fn ran(line: &str) -> Option<u64> {
    let (count, duration) = line.strip_prefix("Ran ")?.cut(" in ")?;
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
    let (word, rest) = line.cut(": ")?;
    if !matches!(word, "FAIL" | "ERROR" | "UNEXPECTED SUCCESS") {
        return None;
    }
    let unexpected_success = word == "UNEXPECTED SUCCESS";
    let (subject, part) = match Heading::of(rest) {
        Some(heading) => (heading.subject(), heading.behind.trim().to_string()),
        None => (Subject::Test(rest.trim().to_string()), String::new()),
    };
    Some(Block { subject, part, below_rule: false, unexpected_success, traceback: Traceback::default() })
}
