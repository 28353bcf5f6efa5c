//! pytest, in any of its traceback styles.
//!
//! Owns the session's parts: progress, the blocks of failures and errors, the short summary. A failure is handed in
//! only at the end, because the block says what happened and the summary says to whom.

pub(crate) mod block;

use self::block::{Block, blocks_name};
use super::{Read, Step};
use crate::collector::{Collector, MAX_FAILURES, append};
use crate::fingerprint::Draft;
use crate::report::{Kind, Runner};

/// Where in the session the reader is.
#[derive(Debug, Default, PartialEq, Eq)]
enum Part {
    /// Tests run.
    #[default]
    Progress,
    /// Blocks of what failed.
    Blocks,
    /// The short summary.
    Summary,
    /// Other parts, such as warnings.
    Other,
}

/// A line of the summary.
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
    /// The interpreter died; what it said.
    crash: Option<Draft>,
    /// Whether a block is open; the line style has none.
    in_block: bool,
    ended: bool,
}

/// Whether a session begins here.
pub(crate) fn is_start(line: &str) -> bool {
    title(line, '=').is_some_and(|title| matches!(title, "test session starts" | "FAILURES" | "ERRORS"))
        || title(line, '=') == Some("short test summary info")
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
        match self.part {
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
        self.hand_in(out);
    }
}

impl Pytest {
    fn titled(&mut self, title: &str, out: &mut Collector) -> Step {
        self.in_block = false;
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
        if title.contains(" passed") || title.contains(" failed") {
            out.ran_unnamed();
        }
        self.ended = true;
        self.finish(out);
        Step::Ended
    }

    /// Verbose progress names tests; so does that of parallel workers.
    fn progress(&mut self, line: &str, out: &mut Collector) {
        if let Some(at) = line.find("Fatal Python error: ") {
            let message = line.get(at..).unwrap_or_default();
            self.crash = Some(Draft::new(Runner::Pytest, Kind::Crash).message(message));
            return;
        }
        if let Some(crash) = &mut self.crash {
            block::crash_line(crash, line);
            return;
        }
        let mut words =
            line.split_whitespace().filter(|word| !word.starts_with('[') && !word.ends_with("%]"));
        let (Some(first), Some(second)) = (words.next(), words.next()) else { return };
        let (id, outcome) = match outcome(first) {
            Some(outcome) => (second, outcome),
            None => match outcome(second) {
                Some(outcome) => (first, outcome),
                None => return,
            },
        };
        if !id.contains("::") {
            return;
        }
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
            let (id, reason) = rest.split_once(" - ").unwrap_or((rest, ""));
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

    fn hand_in(&mut self, out: &mut Collector) {
        for block in std::mem::take(&mut self.blocks) {
            let id = self.id_of(&block);
            out.failed(block.into_draft(id.as_deref()));
        }
        // What has no block was told not to show one.
        for named in std::mem::take(&mut self.named).into_iter().filter(|named| !named.used) {
            let mut traceback = super::python::Traceback::default();
            append(&mut traceback.raised, &named.reason);
            let mut draft = Draft::new(Runner::Pytest, traceback.kind()).test(None, &named.id);
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
                out.failed(Draft::new(Runner::Pytest, Kind::Error).test(None, &id));
            }
        }
    }

    /// The summary's name for a block, which itself only has `Class.test`.
    fn id_of(&mut self, block: &Block) -> Option<String> {
        let wanted = block.dotted();
        let fits = |named: &Named| {
            let (file, rest) = named.id.split_once("::").unwrap_or((&named.id, ""));
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

fn outcome(word: &str) -> Option<Outcome> {
    match word {
        "PASSED" | "XFAIL" => Some(Outcome::Passed),
        "FAILED" | "ERROR" | "XPASS(strict)" => Some(Outcome::Failed),
        "SKIPPED" => Some(Outcome::Skipped),
        _ => None,
    }
}

/// The words between two runs of a sign, as in `=== FAILURES ===`.
fn title(line: &str, sign: char) -> Option<&str> {
    let inner = line.trim_start_matches(sign);
    if line.len() - inner.len() < 3 {
        return None;
    }
    let title = inner.trim_end_matches(sign);
    (title.len() < inner.len() && title.starts_with(' '))
        .then(|| title.trim())
        .filter(|title| !title.is_empty())
}

/// `15 failed, 7 passed in 0.23s`
fn is_count(title: &str) -> bool {
    title.contains(" in ")
        && title.ends_with(['s', ')'])
        && (title.starts_with("no tests ran") || title.starts_with(|c: char| c.is_ascii_digit()))
}
