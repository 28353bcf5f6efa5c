//! The Test Anything Protocol, with the YAML blocks of Node and others, or with plain lines below a failure.
//!
//! Owns `ok` and `not ok`, sub-tests, directives and diagnostics.

use super::javascript::{Thrown, kind_of};
use super::{Read, Step, TreePath, indentation, place};
use crate::collector::{Collector, append};
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};

#[derive(Debug, Default)]
pub(crate) struct Tap {
    /// Announced sub-tests, with their indentation.
    tree: TreePath,
    block: Option<Block>,
}

#[derive(Debug, Default)]
struct Block {
    depth: usize,
    test: String,
    thrown: Thrown,
    yaml: Option<Yaml>,
}

/// The fields of a YAML block that matter.
#[derive(Debug, Default)]
struct Yaml {
    key: String,
    error: String,
    name: String,
    expected: String,
    location: String,
    failure_type: String,
}

pub(crate) fn is_start(line: &str) -> bool {
    line.starts_with("TAP version ")
        || line
            .strip_prefix("1..")
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
        || result(line).is_some_and(|result| result.is_certain)
}

impl Read for Tap {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        let depth = indentation(line);
        let text = line.trim();
        if let Some(block) = &mut self.block
            && depth > block.depth
        {
            block.line(text);
            return Step::Taken;
        }
        if let Some(count) = line.strip_prefix("# pass ").and_then(|count| count.trim().parse().ok()) {
            out.counted(count);
        }
        if let Some(count) = line.strip_prefix("# fail ").and_then(|count| count.trim().parse().ok()) {
            out.summarised(Runner::Tap, count);
        }
        if let Some(result) = result(text) {
            self.finish(out);
            self.result(depth, &result, out);
        } else if let Some(name) = text.strip_prefix("# Subtest: ") {
            self.finish(out);
            self.tree.enter(depth, name);
        } else if let (Some(comment), Some(block)) = (text.strip_prefix('#'), &mut self.block) {
            block.line(comment);
        } else if text.starts_with("Bail out!") {
            out.masked();
        } else if depth == 0 && !text.is_empty() && !text.starts_with('#') && !is_start(line) {
            // Anything may stand between results, and the next one begins anew.
            self.finish(out);
            return Step::Refused;
        }
        Step::Taken
    }

    fn finish(&mut self, out: &mut Collector) {
        let Some(block) = self.block.take() else { return };
        let yaml = block.yaml.unwrap_or_default();
        if yaml.failure_type.contains("subtestsFailed") {
            return;
        }
        let mut draft = FingerprintParts::new(Runner::Tap, Kind::Error).test(None, &block.test);
        let location = (!yaml.location.is_empty()).then(|| yaml.location.clone());
        if yaml.error.is_empty() {
            draft.kind = block.thrown.kind();
            if draft.kind == Kind::Error {
                draft.kind = Kind::Assertion;
            }
            block.thrown.describe(&mut draft);
        } else {
            let is_timeout = yaml.failure_type.contains("imeout");
            let named = kind_of(&format!("{}: {}", yaml.name, yaml.error));
            draft.kind = if is_timeout { Kind::Timeout } else { named };
            draft.message = yaml.error;
            draft.source = yaml.expected;
        }
        if let Some((file, line, _)) = location.as_deref().and_then(place) {
            draft = draft.at(Some((file, Some(line))));
        }
        out.failed(draft);
    }
}

impl Tap {
    fn result(&mut self, depth: usize, result: &Outcome<'_>, out: &mut Collector) {
        self.tree.leave(depth);
        let test = self.tree.test(result.name);
        if result.excused {
            out.skipped(None, &test);
        } else if result.passed {
            out.passed(None, &test);
        } else {
            self.block = Some(Block { depth, test, ..Block::default() });
        }
    }
}

impl Block {
    fn line(&mut self, text: &str) {
        match (&mut self.yaml, text) {
            (None, "---") => self.yaml = Some(Yaml::default()),
            (Some(yaml), text) => yaml.line(text),
            (None, text) => self.thrown.line(text),
        }
    }
}

impl Yaml {
    fn line(&mut self, text: &str) {
        let known = ["error", "name", "expected", "location", "failureType", "message", "at"];
        let field = text.split_once(':').filter(|(key, _)| {
            known.contains(key)
                || ["actual", "stack", "code", "operator", "type", "duration_ms", "severity"].contains(key)
        });
        let value = match field {
            Some((key, value)) => {
                self.key = key.to_string();
                value.trim().trim_matches(['\'', '"'])
            }
            None => text,
        };
        let value = if value == "|-" || value == "..." { "" } else { value };
        let into = match self.key.as_str() {
            "error" | "message" => &mut self.error,
            "name" => &mut self.name,
            "expected" => &mut self.expected,
            "location" | "at" => &mut self.location,
            "failureType" => &mut self.failure_type,
            _ => return,
        };
        if !value.is_empty() {
            append(into, value);
        }
    }
}

struct Outcome<'a> {
    name: &'a str,
    passed: bool,
    excused: bool,
    /// Whether no other tool is likely to print this.
    is_certain: bool,
}

/// `not ok 2 - equal # TODO later`
fn result(line: &str) -> Option<Outcome<'_>> {
    let (passed, rest) = match line.strip_prefix("not ok") {
        Some(rest) => (false, rest),
        None => (true, line.strip_prefix("ok")?),
    };
    let rest = rest.strip_prefix(' ')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let number = rest.get(..digits)?;
    let described = rest.get(digits..)?.trim_start();
    let name = described.strip_prefix("- ").unwrap_or(described);
    let (name, directive) = name.split_once(" # ").unwrap_or((name, ""));
    let directive = directive.to_ascii_uppercase();
    let excused = directive.starts_with("SKIP") || directive.starts_with("TODO");
    let is_certain = digits > 0 && (!passed || number == "1" || name.len() < described.len());
    Some(Outcome { name: name.trim(), passed, excused, is_certain })
}
