//! Node's own test runner, with its `spec` reporter.
//!
//! Owns the tree of results and the list of failing tests behind it. Errors are read from the list, which newer
//! versions print alone; the tree says in which group a test is.

use super::javascript::{Thrown, kind_of};
use super::{Read, Step, TreePath, indentation, place, without_duration};
use crate::collector::{Collector, MAX_FAILURES};
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::search::Search;
use crate::tail::Tail;

#[derive(Debug, Default)]
pub(crate) struct Node {
    tree: TreePath,
    /// Tests marked as failed in the tree: their own name, and the full one.
    failed: Vec<(String, String)>,
    listing: bool,
    /// The file of the next test in the list.
    file: Option<(String, u32)>,
    block: Option<Block>,
    /// The error before the first result, when a file could not be loaded.
    thrown_before: Option<String>,
}

#[derive(Debug)]
struct Block {
    test: String,
    file: Option<(String, u32)>,
    thrown: Thrown,
}

pub(crate) fn is_start(line: &str) -> bool {
    let mark = line.chars().next().unwrap_or(' ');
    let rest = line.get(mark.len_utf8()..).unwrap_or_default();
    match mark {
        '▶' => rest.starts_with(' '),
        '✔' | '✖' | '﹣' => rest.has("ms)") || rest == " failing tests:",
        _ => false,
    }
}

impl Read for Node {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        if line.trim() == "✖ failing tests:" {
            self.listing = true;
            return Step::Taken;
        }
        if self.listing {
            let is_over = self.block.as_ref().is_some_and(|block| block.thrown.is_over());
            let is_listed =
                line.starts_with([' ', '✖', '}']) || line.is_empty() || line.starts_with("test at ");
            if is_over && !is_listed {
                self.finish(out);
                return Step::Refused;
            }
            self.list(line, out);
        } else {
            self.read_tree(line, out);
        }
        Step::Taken
    }

    fn finish(&mut self, out: &mut Collector) {
        self.report(out);
        // What the list does not show failed all the same.
        for (_, test) in std::mem::take(&mut self.failed) {
            out.failed(FingerprintParts::new(Runner::NodeTest, Kind::Error).test(None, &test));
        }
        if !self.listing && self.tree.groups.iter().any(|(depth, _)| *depth > 0) {
            out.masked();
        }
    }
}

impl Node {
    /// A reader that knows the error printed just before.
    pub(crate) fn after(tail: &Tail) -> Self {
        let is_error = |line: &&str| kind_of(line) != Kind::Error;
        Self { thrown_before: tail.latest_first().find(is_error).map(str::to_string), ..Self::default() }
    }

    fn read_tree(&mut self, line: &str, out: &mut Collector) {
        let depth = indentation(line);
        let text = line.trim();
        let mark = text.chars().next().unwrap_or(' ');
        if let Some(count) = line.strip_prefix("ℹ pass ").and_then(|count| count.trim().parse().ok()) {
            out.counted(count);
        }
        if !matches!(mark, '▶' | '✔' | '✖' | '﹣') {
            return;
        }
        let name = text.get(mark.len_utf8()..).unwrap_or_default().trim();
        let (name, directive) = name.cut(" # ").unwrap_or((name, ""));
        let name = without_duration(name);
        let is_group_end =
            self.tree.groups.last().is_some_and(|(indented, group)| *indented == depth && group == name);
        self.tree.leave(depth);
        if mark == '▶' {
            // Once closed with a duration, a group is a result of its own.
            self.tree.enter(depth, name);
            return;
        }
        if is_group_end {
            return;
        }
        let path = self.tree.test(name);
        match mark {
            '﹣' => out.skipped(None, &path),
            _ if directive.starts_with("TODO") || directive.starts_with("SKIP") => out.skipped(None, &path),
            '✔' => out.passed(None, &path),
            _ if self.failed.len() < MAX_FAILURES => self.failed.push((name.to_string(), path)),
            _ => {}
        }
    }

    fn list(&mut self, line: &str, out: &mut Collector) {
        if let Some(location) = line.strip_prefix("test at ") {
            self.report(out);
            self.file = place(location).map(|(file, line, _)| (file.to_string(), line));
            return;
        }
        if let Some(title) = line.strip_prefix("✖ ") {
            self.report(out);
            let (name, directive) = title.cut(" # ").unwrap_or((title, ""));
            let name = without_duration(name);
            if directive.starts_with("TODO") {
                return;
            }
            let known = self.failed.iter().position(|(own, _)| own == name);
            let test = known.map_or_else(|| name.to_string(), |index| self.failed.remove(index).1);
            self.block = Some(Block { test, file: self.file.take(), thrown: Thrown::default() });
            return;
        }
        if let Some(block) = &mut self.block {
            block.thrown.line(line);
        }
    }

    fn report(&mut self, out: &mut Collector) {
        let Some(block) = self.block.take() else { return };
        // A file that cannot be loaded is reported as a test of its name.
        let is_file = block.file.as_ref().is_some_and(|(file, _)| block.test.ends_with(file.as_str()));
        let kind = if is_file { Kind::Compile } else { block.thrown.kind() };
        let mut draft = FingerprintParts::new(Runner::NodeTest, kind);
        block.thrown.describe(&mut draft);
        if is_file {
            draft.message = self.thrown_before.take().unwrap_or(draft.message);
            draft.signature.clear();
        } else {
            draft.test = Some(block.test);
        }
        if draft.file.is_none()
            && let Some((file, line)) = block.file
        {
            draft = draft.at(Some((&file, Some(line))));
        }
        out.failed(draft);
    }
}
