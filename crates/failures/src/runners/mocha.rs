//! Mocha: the tree of results, and the numbered failures after the summary.
//!
//! Owns Mocha's default reporter. Names are the groups and the test, joined as Jest and Vitest join them.

use super::javascript::Thrown;
use super::{Read, Step, TreeMarks, TreePath, count_of, indentation, numbered};
use crate::collector::Collector;
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::search::Search;
use crate::tail::Tail;

#[derive(Debug, Default)]
pub(crate) struct Mocha {
    tree: TreePath,
    summarised: bool,
    /// A failure whose name or error is being read.
    block: Option<Block>,
}

#[derive(Debug)]
struct Block {
    path: Vec<String>,
    named: bool,
    loading: bool,
    thrown: Thrown,
}

const MARKS: TreeMarks =
    TreeMarks { passed: ["✔ ", "✓ "], skipped: &["- "], is_failed: |text| numbered(text).is_some() };

pub(crate) fn is_start(line: &str) -> bool {
    let text = line.trim_start();
    let depth = indentation(line);
    let is_result = text.starts_with("✔ ") || text.starts_with("✓ ") || numbered(text).is_some();
    (depth >= 4 && is_result)
        || (depth == 2 && is_passing(text))
        || line.starts_with(" Exception during run: ")
}

impl Mocha {
    /// A reader that knows the groups printed just before.
    pub(crate) fn below(line: &str, tail: &Tail) -> Self {
        let mut depth = indentation(line);
        let mut groups = Vec::new();
        for earlier in
            tail.latest_first().take_while(|earlier| earlier.is_empty() || earlier.starts_with(' '))
        {
            let indented = indentation(earlier);
            if !earlier.trim().is_empty() && indented < depth {
                groups.push((indented, earlier.trim().to_string()));
                depth = indented;
            }
        }
        groups.reverse();
        Self { tree: TreePath { groups, ..TreePath::default() }, ..Self::default() }
    }
}

impl Read for Mocha {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        if let Some(error) = line.strip_prefix(" Exception during run: ") {
            let mut thrown = Thrown::default();
            thrown.line(error);
            self.block = Some(Block { path: Vec::new(), named: true, loading: true, thrown });
            return Step::Taken;
        }
        let text = line.trim();
        if !self.summarised && self.block.is_none() {
            if indentation(line) == 2 && is_passing(text) {
                self.summarised = true;
                out.counted(count_of(text, "passing").unwrap_or(0));
            } else {
                self.tree.read(line, &MARKS, out);
            }
            return Step::Taken;
        }
        if indentation(line) == 2
            && let Some(title) = numbered(text)
        {
            self.finish(out);
            let named = title.ends_with(':');
            let path = vec![title.trim_end_matches(':').to_string()];
            self.block = Some(Block { path, named, loading: false, thrown: Thrown::default() });
            return Step::Taken;
        }
        match &mut self.block {
            Some(block)
                if block.thrown.is_over() && indentation(line) == 0 && !text.is_empty() && !block.loading =>
            {
                self.finish(out);
                return Step::Refused;
            }
            Some(block) if block.named => block.thrown.line(line),
            Some(block) => {
                block.named = text.ends_with(':');
                block.path.push(text.trim_end_matches(':').to_string());
            }
            None if !text.is_empty() && indentation(line) < 2 => return Step::Refused,
            None => {}
        }
        Step::Taken
    }

    fn finish(&mut self, out: &mut Collector) {
        let Some(block) = self.block.take() else { return };
        let kind = if block.loading { Kind::Compile } else { block.thrown.kind() };
        let mut draft = FingerprintParts::new(Runner::Mocha, kind);
        block.thrown.describe(&mut draft);
        let name = block.path.join(" > ");
        match block.path.last().and_then(|last| hook(last)) {
            Some(_) | None if block.loading => {}
            // It is not a test, and never passes. After any but the last hook the tests of the group do not run.
            Some(hook) => {
                draft.package = Some(name);
                if hook != "after all" {
                    out.masked();
                }
            }
            None => draft.test = Some(name),
        }
        out.failed(draft);
    }
}

/// The hook that a name refers to: `"before each" hook for "adds"`.
fn hook(name: &str) -> Option<&str> {
    let (hook, rest) = name.strip_prefix('"')?.split_once('"')?;
    let is_hook = matches!(hook, "before all" | "before each" | "after each" | "after all");
    (is_hook && rest.starts_with(" hook")).then_some(hook)
}

/// `2 passing (13ms)`
fn is_passing(text: &str) -> bool {
    text.cut(" passing (").is_some_and(|(count, _)| count.bytes().all(|byte| byte.is_ascii_digit()))
}
