//! Playwright: the results of the list reporter, the numbered failures, and the closing lists.
//!
//! Owns the terminal reporters. A test that passed when it was tried again is no failure: only the closing lists tell.

use super::javascript::Thrown;
use super::{Read, Step, indentation, numbered, place, without_duration};
use crate::collector::{Collector, MAX_FAILURES};
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::search::Search;

#[derive(Debug, Default)]
pub(crate) struct Playwright {
    /// Numbered failures, until the closing lists say which of them count.
    blocks: Vec<Block>,
    /// Which closing list is read.
    list: List,
    in_block: bool,
    ended: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum List {
    #[default]
    None,
    Failed,
    Flaky,
    Other,
}

#[derive(Debug, Default)]
struct Block {
    name: Name,
    thrown: Thrown,
    /// Whether the first attempt has been read.
    is_over: bool,
    is_flaky: bool,
}

/// `[chromium] › a.spec.ts:3:1 › calc › adds`
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Name {
    package: String,
    test: String,
    file: String,
    line: u32,
}

pub(crate) fn is_start(line: &str) -> bool {
    is_banner(line) || heading(line).is_some() || result(line).is_some()
}

/// `Running 2 tests using 1 worker`
pub(crate) fn is_banner(line: &str) -> bool {
    line.strip_prefix("Running ")
        .is_some_and(|rest| rest.has(" using ") && (rest.ends_with(" worker") || rest.ends_with(" workers")))
}

/// `  2 failed`, where only the end of the output is there.
pub(crate) fn is_summary(line: &str) -> bool {
    matches!(summary(line), Some((_, "failed" | "flaky")))
}

impl Read for Playwright {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        if let Some(name) = heading(line) {
            self.in_block = self.blocks.len() < MAX_FAILURES;
            if self.in_block && !self.blocks.iter().any(|block| block.name == name) {
                self.blocks.push(Block { name, ..Block::default() });
            }
            return Step::Taken;
        }
        if let Some((count, word)) = summary(line) {
            self.in_block = false;
            self.count(count, word, out);
            return Step::Taken;
        }
        if self.list != List::None
            && indentation(line) == 4
            && let Some(name) = name(line.trim())
        {
            self.listed(name);
            return Step::Taken;
        }
        if self.in_block {
            if let Some(block) = self.blocks.last_mut() {
                block.line(line);
            }
            return Step::Taken;
        }
        if let Some((mark, name)) = result(line) {
            match mark {
                "✓" | "ok" => out.passed(Some(&name.package), &name.test),
                "-" => out.skipped(Some(&name.package), &name.test),
                _ => out.ran_unnamed(),
            }
            return Step::Taken;
        }
        if self.ended && indentation(line) == 0 && !line.trim().is_empty() {
            self.finish(out);
            return Step::Refused;
        }
        Step::Taken
    }

    fn finish(&mut self, out: &mut Collector) {
        for block in std::mem::take(&mut self.blocks) {
            if block.is_flaky {
                out.passed(Some(&block.name.package), &block.name.test);
            } else {
                out.failed(block.into_draft());
            }
        }
        if !self.ended {
            out.masked();
        }
        self.ended = true;
    }
}

impl Playwright {
    fn count(&mut self, count: u64, word: &str, out: &mut Collector) {
        self.ended = true;
        self.list = match word {
            "failed" => List::Failed,
            "flaky" => List::Flaky,
            _ => List::Other,
        };
        match word {
            "passed" | "flaky" => out.counted(count),
            "failed" => out.summarised(Runner::Playwright, count),
            "interrupted" | "did not run" => out.masked(),
            _ => {}
        }
    }

    fn listed(&mut self, name: Name) {
        let has_room = self.blocks.len() < MAX_FAILURES;
        let known = self.blocks.iter_mut().find(|block| block.name == name);
        match (self.list, known) {
            (List::Flaky, Some(block)) => block.is_flaky = true,
            (List::Flaky | List::Failed, None) if has_room => {
                self.blocks.push(Block { name, is_flaky: self.list == List::Flaky, ..Block::default() });
            }
            (List::Failed | List::Flaky | List::Other | List::None, _) => {}
        }
    }
}

impl Block {
    fn line(&mut self, line: &str) {
        let text = line.trim();
        // Another attempt says the same; attachments say nothing.
        self.is_over |= text.starts_with("Retry #")
            || text.starts_with("Error Context: ")
            || text.starts_with("attachment #");
        if !self.is_over {
            self.thrown.line(line.trim_start());
        }
    }

    fn into_draft(self) -> FingerprintParts {
        let mut draft = FingerprintParts::new(Runner::Playwright, self.kind());
        self.thrown.describe(&mut draft);
        if draft.file.is_none() {
            draft = draft.at(Some((&self.name.file, Some(self.name.line))));
        }
        draft.test(Some(&self.name.package), &self.name.test)
    }

    /// Playwright's matchers throw errors whose message begins with what was expected.
    fn kind(&self) -> Kind {
        if self.thrown.says("Error: expect(") { Kind::Assertion } else { self.thrown.kind() }
    }
}

/// `  1) [chromium] › a.spec.ts:3:1 › adds ────`
fn heading(line: &str) -> Option<Name> {
    (indentation(line) == 2).then(|| numbered(line.trim())).flatten().and_then(name)
}

/// `  ✘  1 [chromium] › a.spec.ts:3:1 › adds (12ms)`
fn result(line: &str) -> Option<(&str, Name)> {
    if !line.starts_with("  ") || !line.has(" › ") {
        return None;
    }
    let (mark, rest) = line.trim().split_once(' ')?;
    let (number, rest) = rest.trim_start().split_once(' ')?;
    let is_result =
        ["✓", "✘", "-", "ok", "x"].contains(&mark) && number.bytes().all(|byte| byte.is_ascii_digit());
    is_result.then(|| name(without_duration(rest))).flatten().map(|name| (mark, name))
}

fn name(text: &str) -> Option<Name> {
    let text = text.trim_end_matches(['─', ' ']);
    let mut parts = text.split(" › ");
    let first = parts.next()?;
    let (project, position) = match first.starts_with('[') {
        true => (format!("{first} "), parts.next()?),
        false => (String::new(), first),
    };
    let (file, line, rest) = place(position)?;
    let test = parts.collect::<Vec<_>>().join(" > ");
    let is_name = rest.is_empty() && !test.is_empty() && !file.contains(' ');
    is_name.then(|| Name { package: format!("{project}{file}"), test, file: file.to_string(), line })
}

/// `  2 failed`, `  3 passed (2.1s)`
fn summary(line: &str) -> Option<(u64, &str)> {
    if indentation(line) != 2 {
        return None;
    }
    let (count, word) = line.trim().split_once(' ')?;
    let word = word.cut(" (").map_or(word, |(word, _)| word);
    let known = ["failed", "flaky", "skipped", "passed", "interrupted", "did not run"];
    known.contains(&word).then_some((count.parse().ok()?, word))
}
