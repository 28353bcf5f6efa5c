//! The Test Anything Protocol, with the YAML blocks of Node and others, or with plain lines below a failure.
//!
//! Owns `ok` and `not ok`, sub-tests, directives and diagnostics.

use super::javascript::{Thrown, kind_of};
use super::{Read, Step, TreePath, indentation, place};
use crate::collector::{Collector, append};
use crate::fingerprint::FingerprintParts;
use crate::lines::text_of;
use crate::report::{Kind, Runner};
use crate::search::Search;

#[derive(Debug, Default)]
pub(crate) struct Tap {
    /// Announced sub-tests, with their indentation.
    tree: TreePath,
    /// The comment above results without a dash: tape names its tests so.
    section: String,
    block: Option<Block>,
}

#[derive(Debug, Default)]
struct Block {
    depth: usize,
    test: String,
    thrown: Thrown,
    yaml: Option<Yaml>,
    place: Option<(String, u32)>,
}

/// The fields of a YAML block that matter.
#[derive(Debug, Default)]
struct Yaml {
    /// The indentation of the keys.
    depth: Option<usize>,
    key: String,
    error: String,
    name: String,
    expected: String,
    actual: String,
    operator: String,
    location: String,
    failure_type: String,
}

pub(crate) fn is_start(line: &str) -> bool {
    line.starts_with("TAP version ")
        || line.starts_with("#   Failed test '")
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
            block.line(line);
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
        } else if let Some(comment) = text.strip_prefix('#') {
            self.comment(comment, out);
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
        if yaml.failure_type.has("subtestsFailed") {
            return;
        }
        let mut draft = FingerprintParts::new(Runner::Tap, Kind::Error).test(None, &block.test);
        let location = location_of(&yaml.location).or(block.place);
        let yaml = yaml.with_message();
        if yaml.error.is_empty() {
            draft.kind = block.thrown.kind();
            if draft.kind == Kind::Error {
                draft.kind = Kind::Assertion;
            }
            block.thrown.describe(&mut draft);
        } else {
            let is_timeout = yaml.failure_type.has("imeout") || block.test.has(" timed out after ");
            let named = if yaml.name.is_empty() {
                yaml.error.clone()
            } else {
                format!("{}: {}", yaml.name, yaml.error)
            };
            let named = kind_of(&named);
            let is_assertion = named == Kind::Error && !yaml.operator.is_empty();
            let named = if is_assertion { Kind::Assertion } else { named };
            draft.kind = if is_timeout { Kind::Timeout } else { named };
            draft.message = yaml.error;
            draft.source = yaml.expected;
        }
        if let Some((file, line)) = &location {
            draft = draft.at(Some((file, Some(*line))));
        }
        out.failed(draft);
    }
}

impl Tap {
    fn result(&mut self, depth: usize, result: &Outcome<'_>, out: &mut Collector) {
        self.tree.leave(depth);
        let test = match result.is_dashed || self.section.is_empty() {
            true => self.tree.test(result.name),
            false => self.tree.test(&format!("{} > {}", self.section, result.name)),
        };
        if result.excused {
            out.skipped(None, &test);
        } else if result.passed {
            out.passed(None, &test);
        } else {
            self.block = Some(Block { depth, test, ..Block::default() });
        }
    }
}

impl Tap {
    /// A diagnosis of the failure above, the name of a test, or the failure itself where results are hidden.
    fn comment(&mut self, comment: &str, out: &mut Collector) {
        let text = comment.trim();
        let failed = text.strip_prefix("Failed test '").and_then(|rest| rest.strip_suffix('\''));
        match &mut self.block {
            Some(block) if block.yaml.is_none() && failed.is_none_or(|name| block.test.ends_with(name)) => {
                return block.line(comment);
            }
            Some(_) | None => {}
        }
        if let Some(name) = failed {
            self.finish(out);
            self.block = Some(Block { test: name.to_string(), ..Block::default() });
        } else if !is_count(text) {
            self.finish(out);
            self.section = text.trim_start_matches("SKIP ").trim_start_matches("TODO ").to_string();
        }
    }
}

impl Block {
    fn line(&mut self, line: &str) {
        let text = line.trim();
        match (&mut self.yaml, text) {
            (None, "---") => self.yaml = Some(Yaml::default()),
            (Some(yaml), _) => yaml.line(line),
            (None, text) => {
                if let Some(place) = said_place(text) {
                    self.place.get_or_insert(place);
                } else if !text.starts_with("Failed test") && !text.starts_with("Looks like you failed") {
                    self.thrown.line(text);
                }
            }
        }
    }
}

/// `tests 11`, `pass  3`. A test of tape may be called `item 3`.
fn is_count(text: &str) -> bool {
    let counted =
        ["tests", "pass", "fail", "failed", "skip", "skipped", "todo", "suites", "cancelled", "duration_ms"];
    let mut words = text.split_whitespace();
    let Some(first) = words.next() else { return true };
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    text == "ok" || counted.contains(&first) && words.next().is_some_and(is_number) && words.next().is_none()
}

/// `at t/a.t line 3.` of Perl, `(in test file t/a.bats, line 3)` of Bats.
fn said_place(text: &str) -> Option<(String, u32)> {
    let perl = text.strip_prefix("at ").and_then(|rest| rest.strip_suffix('.')?.cut_last(" line "));
    let bats = || text.strip_prefix("(in test file ")?.strip_suffix([')', ','])?.cut_last(", line ");
    let (file, line) = perl.or_else(bats)?;
    Some((file.to_string(), line.parse().ok()?))
}

/// The first place of the project in what may be frames of a stack.
fn location_of(text: &str) -> Option<(String, u32)> {
    text.lines().find_map(|line| {
        let line = line.trim().trim_start_matches("at ");
        let inside = line.rsplit_once('(').map_or(line, |(_, inside)| inside).trim_end_matches(')');
        let (file, number, _) = place(inside)?;
        let is_foreign = file.has("node_modules/") || file.starts_with("node:") || file.starts_with("ext:");
        (!is_foreign).then(|| (file.to_string(), number))
    })
}

impl Yaml {
    fn line(&mut self, line: &str) {
        let text = line.trim();
        if text.starts_with("{\"message\":") {
            return self.json(text);
        }
        let depth = indentation(line);
        let is_key = |key: &str| key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let is_at_keys = *self.depth.get_or_insert(depth) >= depth;
        let field = text.split_once(':').filter(|(key, _)| is_at_keys && is_key(key));
        let value = match field {
            Some((key, value)) => {
                self.key = key.to_string();
                value.trim().trim_matches(['\'', '"'])
            }
            None => text,
        };
        let value = if matches!(value, "|-" | ">-" | "..." | "|") { "" } else { value };
        let into = match self.key.as_str() {
            "error" | "message" => &mut self.error,
            "name" => &mut self.name,
            "expected" => &mut self.expected,
            "actual" => &mut self.actual,
            "operator" | "assertion" => &mut self.operator,
            // Of a difference the expected side counts.
            "details" | "values" if value.starts_with('+') => &mut self.expected,
            "details" | "values" => &mut self.actual,
            "location" | "at" => &mut self.location,
            "failureType" => &mut self.failure_type,
            _ => return,
        };
        if !value.is_empty() {
            append(into, value);
        }
    }

    /// Deno writes the block as JSON.
    fn json(&mut self, text: &str) {
        let Ok(value) = serde_json::from_str::<serde_json::Value>(text) else { return };
        let message = value.get("message").and_then(serde_json::Value::as_str).unwrap_or_default();
        let (first, stack) = message.split_once('\n').unwrap_or((message, ""));
        let (first, stack) = (text_of(first.as_bytes()), text_of(stack.as_bytes()));
        self.error = first.to_string();
        if first.ends_with(" test step failed.") || first.ends_with(" test steps failed.") {
            self.failure_type = "subtestsFailed".to_string();
        }
        self.location = stack.to_string();
        self.key = String::new();
    }

    /// Without a message the operator and both values make one.
    fn with_message(mut self) -> Self {
        if self.error.is_empty() && !self.operator.is_empty() {
            self.error = format!("{}\nexpected: {}\nactual: {}", self.operator, self.expected, self.actual);
        }
        self
    }
}

struct Outcome<'a> {
    name: &'a str,
    passed: bool,
    excused: bool,
    is_dashed: bool,
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
    let (name, directive) = name.cut(" # ").unwrap_or((name, ""));
    let directive = directive.to_ascii_uppercase();
    let excused = directive.starts_with("SKIP") || directive.starts_with("TODO");
    let is_dashed = described.starts_with("- ");
    let is_certain = digits > 0 && (!passed || number == "1" || name.len() < described.len());
    Some(Outcome { name: name.trim(), passed, excused, is_dashed, is_certain })
}
