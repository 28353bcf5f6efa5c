//! Jest: outcomes in verbose runs, and the block of each failure.
//!
//! Owns suites, the tree of names, and the bullets that begin a failure. A test is named by its file and its path in
//! it, as Vitest names it too.

use super::javascript::Thrown;
use super::{Read, Step, count_of, indentation, without_duration};
use crate::collector::Collector;
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};

/// Reads one run.
#[derive(Debug, Default)]
pub(crate) struct Jest {
    /// The test file whose results follow.
    suite: String,
    /// The groups around the next test, with their indentation.
    groups: Vec<(usize, String)>,
    block: Option<(String, Thrown)>,
    /// Behind the summary, failures are repeated.
    repeated: bool,
}

/// Whether Jest speaks here.
pub(crate) fn is_start(line: &str) -> bool {
    suite(line).is_some()
        || line.starts_with("  ● ") && line.contains(" › ")
        || line.starts_with("Test Suites: ")
}

impl Read for Jest {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        if let Some(suite) = suite(line) {
            self.hand_in(out);
            self.suite = suite.to_string();
            self.groups.clear();
            return Step::Taken;
        }
        if let Some(title) = line.strip_prefix("  ● ") {
            self.hand_in(out);
            let is_failure = title != "Console" && !self.repeated;
            self.block = is_failure.then(|| (title.trim().to_string(), Thrown::default()));
            return Step::Taken;
        }
        if let Some(rest) = line.strip_prefix("Summary of all failing tests") {
            self.hand_in(out);
            self.repeated = rest.is_empty();
            return Step::Taken;
        }
        if let Some(counts) = line.strip_prefix("Test Suites: ") {
            self.hand_in(out);
            self.repeated = false;
            // With `--bail` not every suite ran: "1 of 2 total".
            if counts.contains(" of ") {
                out.masked();
            }
            return Step::Taken;
        }
        if let Some(counts) = line.strip_prefix("Tests: ") {
            out.counted(count_of(counts, "passed").unwrap_or(0));
            if counts.contains("passed") || counts.contains("failed") {
                out.ran_unnamed();
            }
            return Step::Taken;
        }
        if line.starts_with("Ran all test suites") {
            return Step::Ended;
        }
        match &mut self.block {
            Some((_, thrown)) => thrown.line(line),
            None => self.tree(line, out),
        }
        Step::Taken
    }

    fn finish(&mut self, out: &mut Collector) {
        self.hand_in(out);
    }
}

impl Jest {
    /// A line of the tree of results: a group, or a test with its mark.
    fn tree(&mut self, line: &str, out: &mut Collector) {
        let depth = indentation(line);
        let text = line.trim();
        if depth < 2 || text.is_empty() {
            return;
        }
        self.groups.retain(|(indented, _)| *indented < depth);
        if let Some(name) = text.strip_prefix("✓ ").or_else(|| text.strip_prefix("√ ")) {
            let name = self.path(without_duration(name));
            out.passed(None, &name);
        } else if let Some(name) = text.strip_prefix("○ skipped ").or_else(|| text.strip_prefix("✎ todo "))
        {
            let name = self.path(name);
            out.skipped(None, &name);
        } else if !text.starts_with(['✕', '×']) {
            self.groups.push((depth, text.to_string()));
        }
    }

    fn path(&self, name: &str) -> String {
        let parts = std::iter::once(self.suite.as_str()).filter(|suite| !suite.is_empty());
        let groups = self.groups.iter().map(|(_, group)| group.as_str());
        parts.chain(groups).chain([name]).collect::<Vec<_>>().join(" > ")
    }

    fn hand_in(&mut self, out: &mut Collector) {
        let Some((title, thrown)) = self.block.take() else { return };
        let is_loading = title == "Test suite failed to run";
        let kind = if is_loading { Kind::Compile } else { thrown.kind() };
        let mut draft = FingerprintParts::new(Runner::Jest, kind);
        thrown.describe(&mut draft);
        if is_loading {
            draft.file = Some(self.suite.clone()).filter(|suite| !suite.is_empty());
            draft.signature = loading_error(&draft.message).to_string();
        } else {
            let path = title.replace(" › ", " > ");
            let named = if self.suite.is_empty() { path } else { format!("{} > {path}", self.suite) };
            draft.test = Some(named);
        }
        out.failed(draft);
    }
}

/// What went wrong when a file was loaded, without the advice around it.
fn loading_error(message: &str) -> &str {
    let mut lines = message.lines().map(str::trim);
    lines.find(|line| line.contains("Error: ") || line.starts_with("Cannot find ")).unwrap_or(message)
}

/// `FAIL jest/calc.test.js` or `PASS …`, with or without a duration or a project before the file.
fn suite(line: &str) -> Option<&str> {
    // In colours the word is a badge, with a blank on either side.
    let line = line.strip_prefix(' ').unwrap_or(line);
    let rest = line.strip_prefix("FAIL ").or_else(|| line.strip_prefix("PASS "))?;
    let file = without_duration(rest).split_whitespace().next_back()?;
    let is_script = [".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte"];
    is_script.iter().any(|extension| file.ends_with(extension)).then_some(file)
}
