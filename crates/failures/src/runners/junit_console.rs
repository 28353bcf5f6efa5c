//! The console launcher of JUnit: the tree of results, the list of failures, and the closing counts.
//!
//! Owns all ways in which the launcher shows details. Names are those of the list, without the engine. The tree names
//! passing tests; its failures count only if the list is missing. A run without its counts was cut short.

use super::java::Throwable;
use super::{Read, Step, count_of, indentation};
use crate::collector::{Collector, MAX_FAILURES};
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::search::Search;

#[derive(Debug, Default)]
pub(crate) struct JunitConsole {
    /// Names down to the last one, with the column they begin in.
    path: Vec<(usize, String)>,
    /// The last line of the tree: a test if nothing is below it.
    node: Option<Mark>,
    failed: Vec<(String, String)>,
    /// What a test with all its details threw.
    thrown: Option<Throwable>,
    is_listing: bool,
    block: Option<Block>,
    ended: bool,
}

#[derive(Debug)]
enum Mark {
    Passed,
    Failed(String),
    Skipped,
}

#[derive(Debug)]
struct Block {
    name: String,
    /// Not a test, but what is around some.
    is_container: bool,
    thrown: Throwable,
}

pub(crate) fn is_start(line: &str) -> bool {
    line == "╷"
        || (line.starts_with(['├', '└', '+', '\'']) && line.has("─ JUnit ") | line.has("-- JUnit "))
        || line.strip_prefix("Failures (").is_some_and(|rest| rest.ends_with("):"))
        || is_unmistakable(line)
}

/// Whether a line can be that of no other tool.
pub(crate) fn is_unmistakable(line: &str) -> bool {
    line.starts_with("Test run finished after ") && line.ends_with(" ms")
}

impl Read for JunitConsole {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        if let Some(count) = line.strip_prefix("[ ").and_then(|rest| rest.strip_suffix(']')) {
            return self.count(count, out);
        }
        if is_unmistakable(line) {
            self.end_block(out);
            self.end_node(1, out);
            self.ended = true;
        } else if line.starts_with("Failures (") {
            self.end_node(1, out);
            self.is_listing = true;
            self.failed.clear();
        } else if self.is_listing {
            self.listed(line, out);
        } else if self.ended && !line.trim().is_empty() {
            return Step::Refused;
        } else {
            self.tree(line, out);
        }
        Step::Taken
    }

    fn finish(&mut self, out: &mut Collector) {
        self.end_block(out);
        self.end_node(1, out);
        for (name, message) in std::mem::take(&mut self.failed) {
            let draft = FingerprintParts::new(Runner::JunitConsole, Kind::Assertion);
            out.failed(draft.test(None, &name).message(message));
        }
        if !self.ended {
            out.masked();
        }
    }
}

impl JunitConsole {
    /// `[         1 tests failed          ]`
    fn count(&mut self, text: &str, out: &mut Collector) -> Step {
        if let Some(passed) = count_of(text, "tests").filter(|_| text.has("tests successful")) {
            out.counted(passed);
        } else if let Some(failed) = count_of(text, "tests").filter(|_| text.has("tests failed")) {
            out.summarised(Runner::JunitConsole, failed);
            if failed > 0 {
                out.ran_unnamed();
            }
            self.finish(out);
            return Step::Ended;
        }
        Step::Taken
    }

    /// `│  ├─ equal() ✘ expected: <5> but was: <4>`, `| '-- skipped() [S] slow`
    fn tree(&mut self, line: &str, out: &mut Collector) {
        let text = line.trim_start_matches(['│', '├', '└', '─', '|', '+', '\'', '-', ' ']);
        let column = line.chars().count() - text.chars().count();
        if text.is_empty() || column < 3 {
            return;
        }
        if self.detail(text, out) {
            return;
        }
        let is_node = line.has("─ ") && !text.has(" finished after ");
        let marks = [" ✔", " [OK]", " ✘", " [X]", " ↷", " [S]", " [A]", " ■"];
        let Some((at, mark)) =
            marks.iter().filter_map(|mark| Some((text.find(mark)?, *mark))).min_by_key(|(at, _)| *at)
        else {
            // With all details the mark comes later.
            if is_node {
                self.end_node(column, out);
                self.path.push((column, text.trim().to_string()));
            }
            return;
        };
        let (name, rest) = (text.get(..at).unwrap_or(text), text.get(at + mark.len()..).unwrap_or_default());
        self.end_node(column, out);
        self.path.push((column, name.trim().to_string()));
        self.node = Some(match mark {
            " ✔" | " [OK]" => Mark::Passed,
            " ✘" | " [X]" => Mark::Failed(rest.trim().to_string()),
            _ => Mark::Skipped,
        });
    }

    /// `caught: org.opentest4j.AssertionFailedError: …` and `status: ✘ FAILED`, below the name of a test.
    fn detail(&mut self, text: &str, out: &mut Collector) -> bool {
        if let Some(thrown) = text.strip_prefix("caught: ") {
            self.thrown = Some(Throwable::default());
            self.caught(thrown);
        } else if let Some(status) = text.strip_prefix("status: ") {
            let name = self.name();
            let thrown = self.thrown.take().unwrap_or_default();
            match status.split(' ').nth(1) {
                Some("SUCCESSFUL") => out.passed(None, &name),
                Some("FAILED") => {
                    let draft = FingerprintParts::new(Runner::JunitConsole, Kind::Error).test(None, &name);
                    out.failed(thrown.describe(draft));
                }
                _ => out.skipped(None, &name),
            }
        } else if text.starts_with("duration: ") || self.thrown.is_none() {
            return text.starts_with("duration: ");
        } else {
            self.caught(text);
        }
        true
    }

    fn caught(&mut self, text: &str) {
        if let Some(thrown) = &mut self.thrown {
            thrown.line(text);
        }
    }

    /// The path without the engine.
    fn name(&self) -> String {
        self.path.iter().skip(1).map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(":")
    }

    /// The last line of the tree is a test unless the next one, in this column, is below it.
    fn end_node(&mut self, column: usize, out: &mut Collector) {
        let is_container = self.path.last().is_some_and(|(last, _)| *last < column);
        if let Some(mark) = self.node.take().filter(|_| !is_container && self.path.len() > 2) {
            let name = self.name();
            match mark {
                Mark::Passed => out.passed(None, &name),
                Mark::Skipped => out.skipped(None, &name),
                Mark::Failed(message) if self.failed.len() < MAX_FAILURES => {
                    self.failed.push((name, message))
                }
                Mark::Failed(_) => {}
            }
        }
        self.path.retain(|(last, _)| *last < column);
    }

    fn listed(&mut self, line: &str, out: &mut Collector) {
        let text = line.trim();
        match indentation(line) {
            2 => {
                self.end_block(out);
                let name = text.split_once(':').map_or(text, |(_, name)| name).to_string();
                self.block = Some(Block { name, is_container: false, thrown: Throwable::default() });
            }
            _ => {
                let Some(block) = &mut self.block else { return };
                if let Some(thrown) = text.strip_prefix("=> ") {
                    block.thrown.line(thrown);
                } else if text.starts_with("ClassSource [") {
                    block.is_container = true;
                } else if !text.starts_with("MethodSource [") {
                    block.thrown.line(text);
                }
            }
        }
    }

    fn end_block(&mut self, out: &mut Collector) {
        let Some(block) = self.block.take() else { return };
        let mut draft = FingerprintParts::new(Runner::JunitConsole, Kind::Error);
        if block.is_container {
            draft.package = Some(block.name);
            out.masked();
        } else {
            draft.test = Some(block.name);
        }
        out.failed(block.thrown.describe(draft));
    }
}
