//! pytest, in any of its traceback styles.
//!
//! Owns the session's parts: progress, the blocks of failures and errors, the short summary. A failure is reported
//! only at the end, because the block has the details and the summary has the name.

pub(crate) mod block;

use self::block::{Block, blocks_name};
use super::{Read, Step, count_of};
use crate::collector::{Collector, MAX_FAILURES, append};
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::search::Search;

/// The section of the session.
#[derive(Debug, Default, PartialEq, Eq)]
enum Part {
    #[default]
    Progress,
    /// Blocks of failures.
    Blocks,
    Summary,
    /// Other sections, such as warnings.
    Other,
}

#[derive(Debug)]
struct Named {
    id: String,
    reason: String,
    used: bool,
}

/// Reads one session.
#[derive(Debug, Default)]
pub(crate) struct Pytest {
    part: Part,
    blocks: Vec<Block>,
    named: Vec<Named>,
    /// Failures named while running verbosely.
    failing: Vec<String>,
    /// The message of an interpreter that crashed.
    crash: Option<FingerprintParts>,
    /// Whether a block is open; the line style has none.
    in_block: bool,
    /// Whether a title was seen; a quiet session without failures has none.
    has_title: bool,
    ended: bool,
}

pub(crate) fn is_start(line: &str) -> bool {
    let is_title = |title: &str| {
        let known = ["test session starts", "FAILURES", "ERRORS", "short test summary info"];
        known.contains(&title) || (is_count(title) && has_outcome(title))
    };
    title(line, '=').is_some_and(is_title) || is_quiet_end(line)
}

/// The only line of a quiet session without failures, or the last of any: `4 passed, 1 skipped in 0.01s`.
pub(crate) fn is_quiet_end(line: &str) -> bool {
    // Many a log begins its lines with a time.
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    line.as_bytes().get(digits) == Some(&b' ') && is_count(line) && has_outcome(line) && {
        let counts = line.split(" in ").next().unwrap_or_default();
        counts.split(", ").all(|part| {
            part.split_once(' ').is_some_and(|(number, word)| {
                number.bytes().all(|byte| byte.is_ascii_digit()) && !word.contains(' ')
            })
        })
    }
}

/// A line of the short summary, which may be all that is left of the output: `FAILED tests/a.py::test_b - assert 1 == 2`.
pub(crate) fn is_short_summary(line: &str) -> bool {
    let named = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR "));
    named.is_some_and(|rest| rest.split(' ').next().is_some_and(|id| id.has(".py::")))
}

fn has_outcome(line: &str) -> bool {
    ["passed", "failed", "error", "errors"].iter().any(|word| count_of(line, word).is_some())
}

impl Read for Pytest {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        if let Some(title) = title(line, '=') {
            return self.titled(title, out);
        }
        if title(line, '!').is_some() {
            out.masked();
            return Step::Taken;
        }
        if self.part == Part::Progress && !self.has_title && is_short_summary(line) {
            self.part = Part::Summary;
        }
        match self.part {
            Part::Progress if !self.has_title && is_quiet_end(line) => return self.ended(line, out),
            Part::Progress => self.progress(line, out),
            Part::Blocks => self.in_blocks(line),
            Part::Summary => return self.summary(line, out),
            Part::Other => {}
        }
        Step::Taken
    }

    fn finish(&mut self, out: &mut Collector) {
        if !self.ended {
            out.masked();
        }
        self.report(out);
    }
}

impl Pytest {
    fn titled(&mut self, title: &str, out: &mut Collector) -> Step {
        self.in_block = false;
        self.has_title = true;
        self.part = match title {
            "test session starts" => Part::Progress,
            "FAILURES" | "ERRORS" => Part::Blocks,
            "short test summary info" => Part::Summary,
            title if is_count(title) => return self.ended(title, out),
            _ => Part::Other,
        };
        Step::Taken
    }

    fn ended(&mut self, title: &str, out: &mut Collector) -> Step {
        if title.has(" passed") || title.has(" failed") {
            out.ran_unnamed();
        }
        out.counted(count_of(title, "passed").unwrap_or(0));
        let failed = ["failed", "error", "errors"].map(|word| count_of(title, word).unwrap_or(0));
        out.summarised(Runner::Pytest, failed.iter().sum());
        self.ended = true;
        self.finish(out);
        Step::Ended
    }

    /// Verbose progress names tests, and so does that of parallel workers.
    fn progress(&mut self, line: &str, out: &mut Collector) {
        if let Some(at) = line.position_of("Fatal Python error: ") {
            let message = line.get(at..).unwrap_or_default();
            self.crash = Some(FingerprintParts::new(Runner::Pytest, Kind::Crash).message(message));
            return;
        }
        if let Some(crash) = &mut self.crash {
            block::crash_line(crash, line);
            return;
        }
        let Some((id, outcome)) = named_outcome(line) else { return };
        match outcome {
            Outcome::Passed => out.passed(None, id),
            Outcome::Skipped => out.skipped(None, id),
            Outcome::Failed if self.failing.len() < MAX_FAILURES => self.failing.push(id.to_string()),
            Outcome::Failed => {}
        }
    }

    fn in_blocks(&mut self, line: &str) {
        if let Some(name) = blocks_name(line) {
            self.in_block = self.blocks.len() < MAX_FAILURES;
            if self.in_block {
                self.blocks.push(Block::new(name));
            }
        } else if let Some(block) = self.blocks.last_mut().filter(|_| self.in_block) {
            block.line(line);
        }
    }

    fn summary(&mut self, line: &str, out: &mut Collector) -> Step {
        let failing = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR "));
        if let Some(rest) = failing.filter(|_| self.named.len() < MAX_FAILURES) {
            let (id, reason) = id_and_reason(rest);
            self.named.push(Named { id: id.trim().to_string(), reason: reason.to_string(), used: false });
        } else if let Some(id) = line.strip_prefix("PASSED ") {
            out.passed(None, id);
        } else if is_count(line) {
            // Quiet sessions end without a rule.
            return self.ended(line, out);
        } else if let Some(last) = self.named.last_mut() {
            append(&mut last.reason, line);
        }
        Step::Taken
    }

    fn report(&mut self, out: &mut Collector) {
        for block in std::mem::take(&mut self.blocks) {
            let id = self.id_of(&block);
            out.failed(block.into_draft(id.as_deref()));
        }
        // Blocks can be turned off.
        for named in std::mem::take(&mut self.named).into_iter().filter(|named| !named.used) {
            let mut traceback = super::python::Traceback::default();
            append(&mut traceback.raised, &named.reason);
            let mut draft = FingerprintParts::new(Runner::Pytest, traceback.kind());
            if named.id.has("::") {
                draft.test = Some(named.id.clone());
            } else {
                // A file that could not be collected is no test.
                draft.kind = Kind::Compile;
            }
            traceback.describe(&mut draft);
            // The summary is cut to the width of the terminal, where it shows three dots.
            draft.signature = draft.signature.trim_end_matches("...").to_string();
            draft.file = named.id.split("::").next().map(str::to_string);
            self.failing.retain(|failing| *failing != named.id);
            out.failed(draft);
        }
        if let Some(crash) = self.crash.take() {
            out.failed(crash);
        }
        if !self.ended {
            for id in std::mem::take(&mut self.failing) {
                out.failed(FingerprintParts::new(Runner::Pytest, Kind::Error).test(None, &id));
            }
        }
    }

    /// The name in the summary for a block, which itself only has `Class.test`.
    fn id_of(&mut self, block: &Block) -> Option<String> {
        let wanted = block.dotted();
        let fits = |named: &Named| {
            let (file, rest) = named.id.cut("::").unwrap_or((&named.id, ""));
            if rest.is_empty() { block.is_collecting(file) } else { rest.replace("::", ".") == wanted }
        };
        let of_file = |named: &Named| block.test_file().is_some_and(|file| named.id.starts_with(file));
        let candidates = || self.named.iter().enumerate().filter(|(_, named)| !named.used && fits(named));
        let found = candidates().find(|(_, named)| of_file(named)).or_else(|| candidates().next());
        let index = found.map(|(index, _)| index)?;
        let named = self.named.get_mut(index)?;
        named.used = true;
        self.failing.retain(|failing| *failing != named.id);
        Some(named.id.clone())
    }
}

enum Outcome {
    Passed,
    Failed,
    Skipped,
}

/// `test_calc.py::test_equal[a b] PASSED   [ 4%]`, or of a worker: `[gw0] [ 4%] PASSED test_calc.py::test_equal`.
fn named_outcome(line: &str) -> Option<(&str, Outcome)> {
    let mut rest = line.trim();
    if let Some(worker) = rest.strip_prefix("[gw") {
        rest = worker.split_once(']')?.1.trim_start();
        rest = rest.strip_prefix('[').and_then(|percent| percent.cut("%]")).map_or(rest, |(_, rest)| rest);
        let (word, id) = rest.trim().split_once(' ')?;
        return id.has("::").then_some((id.trim(), outcome(word)?));
    }
    // An id may hold blanks, so the outcome is the first word behind one that can be none of it.
    let mut from = 0;
    while let Some(blank) = rest.get(from..)?.find(' ').map(|at| at + from) {
        let (id, behind) = rest.split_at_checked(blank)?;
        let word = behind.split_whitespace().next().unwrap_or_default();
        if let Some(outcome) = outcome(word) {
            // Only parameters hold blanks; other words stand in what a test prints.
            let is_id = match id.split_once(' ') {
                Some((before, _)) => before.contains('[') && id.ends_with(']'),
                None => true,
            };
            return (is_id && id.has("::")).then_some((id, outcome));
        }
        from = blank + 1;
    }
    None
}

/// `test_calc.py::test_equal[a - b] - assert 4 == 5`; parameters may contain the dash that precedes the reason.
fn id_and_reason(rest: &str) -> (&str, &str) {
    let (id, reason) = rest.cut(" - ").unwrap_or((rest, ""));
    if !id.contains('[') || id.ends_with(']') {
        return (id, reason);
    }
    match rest.position_of("] - ") {
        Some(at) => (rest.get(..=at).unwrap_or(id), rest.get(at + 4..).unwrap_or(reason)),
        None if rest.ends_with(']') => (rest, ""),
        None => (id, reason),
    }
}

fn outcome(word: &str) -> Option<Outcome> {
    match word {
        "PASSED" => Some(Outcome::Passed),
        "FAILED" | "ERROR" | "XPASS(strict)" => Some(Outcome::Failed),
        // A test that was expected to fail, and did, shows nothing.
        "SKIPPED" | "XFAIL" => Some(Outcome::Skipped),
        _ => None,
    }
}

/// The words between two runs of a sign, as in `=== FAILURES ===`.
fn title(line: &str, sign: char) -> Option<&str> {
    if !line.starts_with(sign) {
        return None;
    }
    let inner = line.trim_start_matches(sign);
    let signs = line.len() - inner.len();
    let title = inner.trim_end_matches(sign);
    // A count with many parts fills the line and leaves room for one sign only.
    let is_rule = signs >= 3 || (signs > 0 && is_count(title.trim()));
    (is_rule && title.len() < inner.len() && title.starts_with(' '))
        .then(|| title.trim())
        .filter(|title| !title.is_empty())
}

/// `15 failed, 7 passed in 0.23s`
fn is_count(title: &str) -> bool {
    title.has(" in ")
        && title.ends_with(['s', ')'])
        && (title.starts_with("no tests ran") || title.starts_with(|c: char| c.is_ascii_digit()))
}
