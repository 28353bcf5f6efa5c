//! Biome: a line with place and rule, a message, and the source.
//!
//! Owns its blocks, of lints, formats and syntax errors. Warnings count if there are no errors.

use super::{Read, Step, indentation, place};
use crate::collector::{Collector, MAX_FAILURES};
use crate::fingerprint::{FingerprintParts, Repeats};
use crate::report::{Kind, Runner};

#[derive(Debug, Default)]
pub(crate) struct Biome {
    block: Option<Block>,
    warnings: Vec<FingerprintParts>,
    has_errors: bool,
}

#[derive(Debug)]
struct Block {
    draft: FingerprintParts,
    level: Level,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Unknown,
    Error,
    Warning,
    Information,
}

/// `lint.js:2:1 lint/style/useConst  FIXABLE  ━━━━`
pub(crate) fn is_start(line: &str) -> bool {
    line.ends_with("━━━") && header(line).is_some()
}

impl Read for Biome {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        if line.ends_with("━━━")
            && let Some(draft) = header(line)
        {
            self.close(out);
            self.block = Some(Block { draft, level: Level::Unknown });
            return Step::Taken;
        }
        let text = line.trim();
        if indentation(line) == 0 && !text.is_empty() {
            self.finish(out);
            return Step::Refused;
        }
        if let Some(block) = &mut self.block {
            block.line(text);
        }
        Step::Taken
    }

    fn finish(&mut self, out: &mut Collector) {
        self.close(out);
        for warning in std::mem::take(&mut self.warnings) {
            if !self.has_errors {
                out.failed(warning);
            }
        }
    }
}

impl Biome {
    fn close(&mut self, out: &mut Collector) {
        let Some(block) = self.block.take() else { return };
        // A summary that has no place.
        if block.draft.file.is_none() {
            return;
        }
        match block.level {
            Level::Error => {
                self.has_errors = true;
                out.failed(block.draft);
            }
            Level::Warning if self.warnings.len() < MAX_FAILURES => self.warnings.push(block.draft),
            Level::Warning | Level::Information | Level::Unknown => {}
        }
    }
}

impl Block {
    fn line(&mut self, text: &str) {
        let marks = [
            ("× ", Level::Error),
            ("✖ ", Level::Error),
            ("! ", Level::Warning),
            ("⚠ ", Level::Warning),
            ("i ", Level::Information),
            ("ℹ ", Level::Information),
        ];
        if self.level == Level::Unknown
            && let Some((level, message)) =
                marks.iter().find_map(|(mark, level)| Some((*level, text.strip_prefix(mark)?)))
        {
            self.level = level;
            self.draft.message = format!("{}: {message}", self.draft.message);
            return;
        }
        // `> 2 │ let never = 2;`
        if let Some((number, source)) = text.strip_prefix("> ").and_then(|rest| rest.split_once('│'))
            && self.draft.source.is_empty()
            && number.trim().bytes().all(|byte| byte.is_ascii_digit())
        {
            self.draft.source = source.trim().to_string();
        }
    }
}

/// What is known from the first line; the message is the rule.
fn header(line: &str) -> Option<FingerprintParts> {
    let text = line.trim_end_matches('━').trim_end();
    let (position, rest) = text.split_once(' ').unwrap_or((text, ""));
    let rule = rest.split_whitespace().next().unwrap_or(position);
    if position.ends_with(':') || position.starts_with('[') {
        return None;
    }
    let kind = if rule == "parse" { Kind::Compile } else { Kind::Lint };
    let draft = FingerprintParts::new(Runner::Biome, kind).message(rule);
    if rest.is_empty() {
        return Some(draft);
    }
    let Some((file, number, _)) = place(position) else {
        return Some(draft.at(Some((position, None))));
    };
    let column = position.rsplit(':').next().and_then(|column| column.parse().ok()).unwrap_or_default();
    Some(FingerprintParts { repeats: Repeats::AtOtherPlaces(column), ..draft.at(Some((file, Some(number)))) })
}
