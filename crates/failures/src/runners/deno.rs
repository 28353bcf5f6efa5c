//! `deno test`: the results of each file, the errors and the failures listed after them; and what its type check says.
//!
//! Owns Deno's default report. A run with fewer results than it announced was cut short.

use std::collections::BTreeSet;

use super::javascript::Thrown;
use super::{Read, Step, count_of, indentation, place, without_duration};
use crate::collector::{Collector, MAX_FAILURES, append};
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::search::Search;

#[derive(Debug, Default)]
pub(crate) struct Deno {
    file: Option<String>,
    section: Section,
    /// The test whose steps are read.
    parent: Option<String>,
    announced: u64,
    seen: u64,
    /// Failed tests without details so far, with their files.
    open: Vec<(Option<String>, String)>,
    reported: BTreeSet<String>,
    block: Option<Block>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Section {
    #[default]
    Results,
    /// What a test printed.
    Output,
    Errors,
    Failures,
    Ended,
}

#[derive(Debug, Default)]
struct Block {
    /// `None` if the file could not be loaded.
    test: Option<String>,
    file: String,
    line: Option<u32>,
    thrown: Thrown,
    /// A line, until a caret below it tells that it is source.
    held: String,
}

pub(crate) fn is_start(line: &str) -> bool {
    announced(line).is_some() || section(line).is_some() || summary(line).is_some()
}

impl Read for Deno {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        if let Some((passed, failed)) = summary(line) {
            self.report(out);
            out.counted(passed);
            out.summarised(Runner::Deno, failed);
            self.section = Section::Ended;
            return Step::Taken;
        }
        if let Some(section) = section(line) {
            self.report(out);
            self.section = section;
            return Step::Taken;
        }
        match self.section {
            Section::Results => self.result(line, out),
            Section::Output => {
                if line.trim() == "----- output end -----" {
                    self.section = Section::Results;
                }
            }
            Section::Errors => self.error(line, out),
            Section::Failures => {
                if let Some((test, file, number)) = header(line) {
                    self.report(out);
                    self.block = Some(Block { test, file, line: number, ..Block::default() });
                }
            }
            Section::Ended => {
                if line.is_empty() || line == "error: Test failed" {
                    return Step::Taken;
                }
                self.finish(out);
                return Step::Refused;
            }
        }
        Step::Taken
    }

    fn finish(&mut self, out: &mut Collector) {
        self.report(out);
        for (file, test) in std::mem::take(&mut self.open) {
            if !self.reported.contains(&test) {
                out.failed(FingerprintParts::new(Runner::Deno, Kind::Error).test(file.as_deref(), &test));
            }
        }
        if self.section != Section::Ended || self.seen < self.announced {
            out.masked();
        }
        *self = Self { section: Section::Ended, ..Self::default() };
    }
}

impl Deno {
    /// `adds ... FAILED (2ms)`; steps are indented below the name of their test.
    fn result(&mut self, line: &str, out: &mut Collector) {
        if let Some((count, file)) = announced(line) {
            self.announced += count;
            self.file = Some(file.to_string());
            return;
        }
        let text = line.trim();
        if text == "------- output -------" {
            self.section = Section::Output;
            return;
        }
        let is_step = indentation(line) > 0;
        let name = |name: &str| match &self.parent {
            Some(parent) if is_step => format!("{parent} > {name}"),
            Some(_) | None => name.to_string(),
        };
        if let Some(opened) = text.strip_suffix(" ...") {
            if !is_step {
                self.parent = Some(opened.to_string());
            }
            return;
        }
        let Some((test, outcome)) = text.cut_last(" ... ") else { return };
        let is_of_steps = outcome.starts_with("FAILED (due to ");
        let outcome = without_duration(outcome);
        let file = self.file.as_deref();
        match outcome {
            "ok" => out.passed(file, &name(test)),
            "ignored" => out.skipped(file, &name(test)),
            "FAILED" if self.open.len() < MAX_FAILURES => {
                let test = name(test);
                self.open.push((self.file.clone(), test));
            }
            _ if is_of_steps => out.ran_unnamed(),
            _ => return,
        }
        self.seen += u64::from(!is_step);
    }

    fn error(&mut self, line: &str, out: &mut Collector) {
        if let Some((test, file, number)) = header(line) {
            self.report(out);
            self.block = Some(Block { test, file, line: number, ..Block::default() });
        } else if let Some(block) = &mut self.block {
            block.line(line);
        }
    }

    fn report(&mut self, out: &mut Collector) {
        let Some(mut block) = self.block.take() else { return };
        block.flush();
        let name = block.test.as_deref().unwrap_or(&block.file).to_string();
        if !self.reported.insert(name) {
            return;
        }
        let kind = if block.test.is_none() { Kind::Compile } else { block.thrown.kind() };
        let mut draft = FingerprintParts::new(Runner::Deno, kind);
        block.thrown.describe(&mut draft);
        if draft.file.is_none() {
            draft = draft.at(Some((&block.file, block.line)));
        }
        draft.package = Some(block.file);
        draft.test = block.test;
        out.failed(draft);
    }
}

impl Block {
    fn line(&mut self, line: &str) {
        let text = line.trim_end();
        if text.trim_start() == "^" {
            let source = std::mem::take(&mut self.held);
            self.thrown.line(&format!("> 1 | {}", source.trim()));
            return;
        }
        self.flush();
        self.held = text.strip_prefix("error: ").unwrap_or(text).to_string();
    }

    fn flush(&mut self) {
        let held = std::mem::take(&mut self.held);
        self.thrown.line(&held);
    }
}

/// `running 11 tests from ./deno/calc.test.ts`
fn announced(line: &str) -> Option<(u64, &str)> {
    let (count, file) = line.strip_prefix("running ")?.cut(" from ")?;
    let count = count.strip_suffix(" tests").or_else(|| count.strip_suffix(" test"))?;
    Some((count.parse().ok()?, file))
}

fn section(line: &str) -> Option<Section> {
    match line {
        " ERRORS " => Some(Section::Errors),
        " FAILURES " => Some(Section::Failures),
        _ => None,
    }
}

/// `steps ... second => ./deno/calc.test.ts:39:13`, `./deno/calc.test.ts (uncaught error)`
fn header(line: &str) -> Option<(Option<String>, String, Option<u32>)> {
    if let Some(file) = line.strip_suffix(" (uncaught error)") {
        return Some((None, file.to_string(), None));
    }
    let (test, position) = line.cut_last(" => ")?;
    let (file, number, rest) = place(position)?;
    rest.is_empty().then(|| (Some(test.replace(" ... ", " > ")), file.to_string(), Some(number)))
}

/// How many tests passed and failed: `FAILED | 4 passed (1 step) | 8 failed (1 step) | 1 ignored (696ms)`
fn summary(line: &str) -> Option<(u64, u64)> {
    let rest = line.strip_prefix("FAILED | ").or_else(|| line.strip_prefix("ok | "))?;
    Some((count_of(rest, "passed")?, count_of(rest, "failed")?))
}

/// A complaint of Deno's type check.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    message: String,
    source: String,
}

/// `TS2322 [ERROR]: Type 'string' is not assignable to type 'number'.`
pub(crate) fn is_check(line: &str) -> bool {
    line.strip_prefix("TS").is_some_and(|rest| {
        rest.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(" [ERROR]: ")
            && !rest.starts_with(' ')
    })
}

impl Read for Checked {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        let text = line.trim();
        if self.message.is_empty() {
            self.message = text.replacen(" [ERROR]: ", ": ", 1);
            return Step::Taken;
        }
        let location = text.strip_prefix("at ").and_then(place);
        if let Some((file, number, _)) = location {
            let mut draft = FingerprintParts::new(Runner::Tsc, Kind::Compile)
                .message(std::mem::take(&mut self.message))
                .at(Some((file, Some(number))));
            draft.source = std::mem::take(&mut self.source);
            out.failed(draft);
            return Step::Ended;
        }
        if text.is_empty() || indentation(line) == 0 {
            self.finish(out);
            return Step::Refused;
        }
        if !text.bytes().all(|byte| matches!(byte, b'~' | b'^' | b' ')) {
            append(&mut self.source, text);
        }
        Step::Taken
    }

    fn finish(&mut self, out: &mut Collector) {
        if !self.message.is_empty() {
            let message = std::mem::take(&mut self.message);
            out.failed(FingerprintParts::new(Runner::Tsc, Kind::Compile).message(message));
        }
    }
}
