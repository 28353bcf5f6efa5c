//! Catch2: failed assertions below the test case and its sections, and the closing counts.
//!
//! Owns the console reporter of versions 2 and 3, and the compact one, which names no tests. A test case that may fail
//! looks like one that must not, so nothing is a failure if the closing count knows of none.

use super::{Read, Step, count_of, place};
use crate::collector::{Collector, MAX_FAILURES, append};
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::search::Search;

#[derive(Debug, Default)]
pub(crate) struct Catch2 {
    /// Test case and sections.
    path: Vec<String>,
    state: State,
    block: Option<Block>,
    failed: Vec<FingerprintParts>,
    passed: Vec<String>,
    ended: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Outside,
    /// Between the two rules that enclose a name.
    Naming,
}

#[derive(Debug, Default)]
struct Block {
    file: String,
    line: u32,
    /// The heading of the lines that follow.
    part: String,
    expression: String,
    message: String,
    kind: Option<Kind>,
}

pub(crate) fn is_start(line: &str) -> bool {
    line.ends_with(" host application.") && line.has(" is a Catch")
        || line.starts_with("test cases: ") && line.contains('|')
        || line.starts_with("All tests passed (") && line.has("assertion")
        || line.starts_with("No test cases matched ")
        || compact_end(line).is_some()
}

/// `a.cpp:13: FAILED:` and, where every assertion has a line, `a.cpp:13: failed: …`
pub(crate) fn is_failure(line: &str) -> bool {
    heading(line).is_some_and(|(_, _, outcome)| outcome == "FAILED:") || compact(line).is_some()
}

impl Read for Catch2 {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        if let Some(summary) = summary(line) {
            self.end_block();
            self.end(summary, out);
            return Step::Taken;
        }
        if self.ended {
            let is_known = line.trim().is_empty() || line.starts_with("assertions: ") || is_rule(line, b'=');
            return if is_known { Step::Taken } else { Step::Refused };
        }
        if let Some(draft) = compact(line) {
            self.end_block();
            self.keep(draft);
        } else if is_rule(line, b'-') {
            self.end_block();
            self.state = if self.state == State::Naming { State::Outside } else { State::Naming };
            if self.state == State::Naming {
                self.path.clear();
            }
        } else if self.state == State::Naming {
            if !line.trim().is_empty() && self.path.len() < 64 {
                self.path.push(line.trim().to_string());
            }
        } else if let Some((file, number, outcome)) = heading(line) {
            self.end_block();
            if outcome == "FAILED:" {
                self.block = Some(Block { file: file.to_string(), line: number, ..Block::default() });
            } else if self.passed.len() < MAX_FAILURES && !self.path.is_empty() {
                self.passed.push(self.path.join(" > "));
            }
        } else if let Some(block) = &mut self.block {
            match line.trim().is_empty() && !block.part.is_empty() {
                true => self.end_block(),
                false => block.read(line),
            }
        }
        Step::Taken
    }

    fn finish(&mut self, out: &mut Collector) {
        self.end_block();
        if !self.ended {
            for draft in std::mem::take(&mut self.failed) {
                out.failed(draft);
            }
            out.masked();
        }
    }
}

impl Catch2 {
    fn keep(&mut self, draft: FingerprintParts) {
        if self.failed.len() < MAX_FAILURES {
            self.failed.push(draft);
        }
    }

    fn end_block(&mut self) {
        if let Some(block) = self.block.take() {
            let test = Some(self.path.join(" > ")).filter(|path| !path.is_empty());
            let draft = block.draft(test);
            self.keep(draft);
        }
    }

    fn end(&mut self, summary: Summary, out: &mut Collector) {
        self.ended = true;
        out.counted(summary.passed);
        out.summarised(Runner::Catch2, summary.failed);
        for name in std::mem::take(&mut self.passed) {
            out.passed(None, &name);
        }
        let failed = std::mem::take(&mut self.failed);
        if summary.failed > 0 {
            out.ran_unnamed();
            for draft in failed {
                out.failed(draft);
            }
        }
    }
}

impl Block {
    fn read(&mut self, line: &str) {
        let text = line.trim();
        if !line.starts_with(' ') && text.ends_with(':') {
            self.part = text.to_string();
            if text.starts_with("due to unexpected exception") {
                self.kind = Some(Kind::Exception("std::exception".to_string()));
            } else if text.starts_with("due to a fatal error") {
                self.kind = Some(Kind::Crash);
            }
            append(&mut self.message, text);
        } else if self.part.is_empty() {
            append(&mut self.expression, text);
            append(&mut self.message, text);
        } else if !text.is_empty() {
            append(&mut self.message, text);
            // What was seen instead is not part of what was asked for.
            if self.part != "with expansion:" {
                append(&mut self.expression, text);
            }
        }
    }

    fn draft(self, test: Option<String>) -> FingerprintParts {
        let kind = self.kind.unwrap_or(Kind::Assertion);
        let mut draft = FingerprintParts::new(Runner::Catch2, kind)
            .message(self.message)
            .at(Some((&self.file, Some(self.line))));
        draft.signature = self.part.replace("with expansion:", "assertion");
        draft.source = self.expression;
        draft.test = test;
        draft
    }
}

/// `a.cpp:13: FAILED:`, `a.cpp(13): FAILED:`
fn heading(line: &str) -> Option<(&str, u32, &str)> {
    let outcome = ["FAILED:", "PASSED:"].into_iter().find(|outcome| line.ends_with(outcome))?;
    let before = line.strip_suffix(outcome)?.strip_suffix(": ")?;
    let (file, number) = position(before)?;
    Some((file, number, outcome))
}

fn position(text: &str) -> Option<(&str, u32)> {
    if let Some((file, line)) = text.strip_suffix(')').and_then(|rest| rest.rsplit_once('(')) {
        return Some((file, line.parse().ok()?));
    }
    place(text)
        .filter(|(file, _, rest)| rest.is_empty() && !file.contains(' '))
        .map(|(file, line, _)| (file, line))
}

/// `a.cpp:13: failed: add(2, 2) == 5 for: 4 == 5`
fn compact(line: &str) -> Option<FingerprintParts> {
    let (before, message) = line.cut(": failed: ")?;
    let (file, number) = position(before)?;
    let expression = message.split(" for: ").next().unwrap_or(message);
    let kind = if message.starts_with("unexpected exception ") {
        Kind::Exception("std::exception".to_string())
    } else if message.starts_with("fatal error condition") {
        Kind::Crash
    } else {
        Kind::Assertion
    };
    let mut draft =
        FingerprintParts::new(Runner::Catch2, kind).message(message).at(Some((file, Some(number))));
    draft.signature = "assertion".to_string();
    draft.source = expression.to_string();
    Some(draft)
}

struct Summary {
    passed: u64,
    failed: u64,
}

/// `test cases: 12 | 2 passed |  9 failed`, `All tests passed (1 assertion in 1 test case)`
fn summary(line: &str) -> Option<Summary> {
    if let Some(counts) = line.strip_prefix("test cases: ").filter(|counts| counts.contains('|')) {
        let count = |word: &str| {
            let found = counts.split('|').find_map(|part| part.trim().strip_suffix(word));
            found.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
        };
        return Some(Summary { passed: count("passed"), failed: count("failed") });
    }
    if let Some(rest) = line.strip_prefix("All tests passed (").filter(|rest| rest.has("assertion")) {
        let cases = rest.split(" in ").nth(1).and_then(|cases| cases.split(' ').next());
        return Some(Summary { passed: cases.and_then(|cases| cases.parse().ok()).unwrap_or(0), failed: 0 });
    }
    if line == "No tests ran" {
        return Some(Summary { passed: 0, failed: 0 });
    }
    compact_end(line)
}

/// `Failed 9 test cases, failed 11 assertions.`, `Passed 1 test case with 1 assertion.`
fn compact_end(line: &str) -> Option<Summary> {
    let is_end = line.ends_with(" assertion.") || line.ends_with(" assertions.");
    let (word, rest) = line.split_once(' ').filter(|_| is_end)?;
    let cases = count_of(rest, "test").or_else(|| rest.split(' ').next()?.parse().ok());
    match word {
        "Failed" => Some(Summary { passed: 0, failed: cases? }),
        "Passed" => Some(Summary { passed: cases?, failed: 0 }),
        _ => None,
    }
}

fn is_rule(line: &str, of: u8) -> bool {
    line.len() > 60 && line.bytes().all(|byte| byte == of)
}
