//! Jest: outcomes in verbose runs, and the block of each failure.
//!
//! Owns suites, the tree of names, and the bullets that begin a failure. A test is named by its file and its path in
//! it, as Vitest names it too.

use super::javascript::Thrown;
use super::{Read, Step, TreeMarks, TreePath, count_of, without_duration};
use crate::collector::Collector;
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::search::Search;

#[derive(Debug, Default)]
pub(crate) struct Jest {
    tree: TreePath,
    block: Option<(String, Thrown)>,
    /// After the summary, failures are repeated.
    repeated: bool,
}

const MARKS: TreeMarks = TreeMarks {
    passed: ["✓ ", "√ "],
    skipped: &["○ skipped ", "✎ todo "],
    is_failed: |text| text.starts_with(['✕', '×']),
};

pub(crate) fn is_start(line: &str) -> bool {
    suite(line).is_some()
        || line.starts_with("  ● ") && line.has(" › ")
        || line.starts_with("Test Suites: ")
        || line.starts_with("Tests: ") && line.ends_with(" total")
}

impl Read for Jest {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        if let Some(suite) = suite(line) {
            self.finish(out);
            self.tree = TreePath { file: suite.to_string(), ..TreePath::default() };
            return Step::Taken;
        }
        if let Some(title) = line.strip_prefix("  ● ") {
            self.finish(out);
            let is_failure = title != "Console" && !self.repeated;
            self.block = is_failure.then(|| (title.trim().to_string(), Thrown::default()));
            return Step::Taken;
        }
        if let Some(rest) = line.strip_prefix("Summary of all failing tests") {
            self.finish(out);
            self.repeated = rest.is_empty();
            return Step::Taken;
        }
        if let Some(counts) = line.strip_prefix("Test Suites: ") {
            self.finish(out);
            self.repeated = false;
            // With `--bail` not every suite ran: "1 of 2 total".
            if counts.has(" of ") {
                out.masked();
            }
            return Step::Taken;
        }
        if let Some(counts) = line.strip_prefix("Tests: ") {
            out.counted(count_of(counts, "passed").unwrap_or(0));
            out.summarised(Runner::Jest, count_of(counts, "failed").unwrap_or(0));
            if counts.has("passed") || counts.has("failed") {
                out.ran_unnamed();
            }
            return Step::Taken;
        }
        if line.starts_with("Ran all test suites") {
            return Step::Ended;
        }
        match &mut self.block {
            Some((_, thrown)) => thrown.line(line),
            None => self.tree.read(line, &MARKS, out),
        }
        Step::Taken
    }

    fn finish(&mut self, out: &mut Collector) {
        let Some((title, thrown)) = self.block.take() else { return };
        let is_loading = title == "Test suite failed to run";
        let kind = if is_loading { Kind::Compile } else { thrown.kind() };
        let mut draft = FingerprintParts::new(Runner::Jest, kind);
        thrown.describe(&mut draft);
        if is_loading {
            draft.file = Some(self.tree.file.clone()).filter(|file| !file.is_empty());
            draft.signature = loading_error(&draft.message).to_string();
        } else {
            let path = title.replace(" › ", " > ");
            let named = if self.tree.file.is_empty() { path } else { format!("{} > {path}", self.tree.file) };
            draft.test = Some(named);
        }
        out.failed(draft);
    }
}

/// The error when a file was loaded, without the advice around it.
fn loading_error(message: &str) -> &str {
    let mut lines = message.lines().map(str::trim);
    lines.find(|line| line.has("Error: ") || line.starts_with("Cannot find ")).unwrap_or(message)
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
