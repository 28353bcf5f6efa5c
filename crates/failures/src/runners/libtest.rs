//! `cargo test`: what libtest binaries print, and what cargo prints around them.
//!
//! Owns names, outcomes and details of Rust tests. A test that failed without details is still a failure. Refuses
//! compile errors, which are rustc's.

use std::collections::BTreeMap;

use super::panic::Panic;
use super::{Read, Step, count_of};
use crate::collector::{Collector, MAX_FAILURES, append};
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::search::Search;

/// Panics of tests whose outcome is not known yet.
const MAX_PENDING: usize = 256;

#[derive(Debug, Default)]
struct Details {
    panics: Vec<Panic>,
    /// Lines that explain a failure without a panic.
    notes: String,
    compile: bool,
}

/// The section of the output of a test binary.
#[derive(Debug, Default, PartialEq, Eq)]
enum Part {
    #[default]
    Outcomes,
    /// Between outputs of tests, or in the output of the named test.
    Outputs(Option<String>),
    Ended,
}

/// Reads one cargo invocation.
#[derive(Debug, Default)]
pub(crate) struct Libtest {
    package: Option<String>,
    part: Part,
    failed: Vec<String>,
    details: BTreeMap<String, Details>,
    /// A test whose outcome follows its own output.
    running: Option<String>,
    /// Whether a binary printed outcomes and has not ended.
    unfinished: bool,
    /// Whether cargo may have stopped before running every binary.
    stopped: bool,
}

impl Read for Libtest {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        if let Some(package) = binary(line) {
            self.end_binary(out);
            self.package = Some(package);
            self.part = Part::Ended;
            return Step::Taken;
        }
        if is_start(line) {
            self.end_binary(out);
            self.part = Part::Outcomes;
            self.unfinished = true;
            return Step::Taken;
        }
        if let Some(result) = line.strip_prefix("test result: ") {
            out.counted(count_of(result, "passed").unwrap_or(0));
            out.summarised(Runner::CargoTest, count_of(result, "failed").unwrap_or(0));
            if !line.has(" 0 passed; 0 failed;") {
                out.ran_unnamed();
            }
            self.unfinished = false;
            self.end_binary(out);
            self.part = Part::Ended;
            return Step::Taken;
        }
        match self.part {
            Part::Outcomes => self.outcome(line, out),
            Part::Outputs(_) => self.output(line),
            Part::Ended => self.between(line, out),
        }
    }

    fn finish(&mut self, out: &mut Collector) {
        if self.unfinished {
            out.masked();
        }
        self.end_binary(out);
        if self.stopped {
            out.masked();
        }
    }
}

impl Libtest {
    fn outcome(&mut self, line: &str, out: &mut Collector) -> Step {
        if line == "failures:" || line == "successes:" {
            self.part = Part::Outputs(None);
            return Step::Taken;
        }
        if let Some((name, outcome)) = line.strip_prefix("test ").and_then(|rest| rest.cut_last(" ... ")) {
            let outcome = outcome.trim();
            if ["ok", "FAILED", "ignored", "bench:"].iter().any(|word| outcome.starts_with(word)) {
                self.ended(&stable_name(name), outcome, out);
            } else {
                // What is not captured follows on the same line; the outcome comes behind it.
                self.running = Some(stable_name(name));
                self.loose(outcome);
            }
            return Step::Taken;
        }
        if let Some(name) = line.strip_suffix(" --- FAILED") {
            self.failed(&stable_name(name), out);
            return Step::Taken;
        }
        if matches!(line, "ok" | "FAILED" | "ignored")
            && let Some(name) = self.running.take()
        {
            self.ended(&name, line, out);
            return Step::Taken;
        }
        if crashed(line)
            || line.starts_with("error: test failed")
            || line.starts_with("error: doctest failed")
        {
            return self.between(line, out);
        }
        self.loose(line);
        Step::Taken
    }

    /// Output of a test that is not captured: only panics matter, and they name their thread.
    fn loose(&mut self, line: &str) {
        if let Some(panic) = Panic::begin(line) {
            let name = self.running.clone().unwrap_or_else(|| panic.thread.clone());
            if self.details.len() < MAX_PENDING || self.details.contains_key(&name) {
                self.details.entry(name.clone()).or_default().panics.push(panic);
                self.running.get_or_insert(name);
            }
            return;
        }
        let Some(name) = &self.running else { return };
        match self.details.get_mut(name) {
            Some(details) => details.add(line),
            None if line.starts_with("Error: ") => self.details.entry(name.clone()).or_default().add(line),
            None => {}
        }
    }

    fn ended(&mut self, name: &str, outcome: &str, out: &mut Collector) {
        self.running = None;
        if outcome.starts_with("FAILED") {
            self.failed(name, out);
        } else if outcome.starts_with("ignored") {
            out.skipped(self.package.as_deref(), name);
        } else if outcome.starts_with("ok") || outcome.starts_with("bench:") {
            self.details.remove(name);
            out.passed(self.package.as_deref(), name);
        }
    }

    /// The details come later, unless there are too many to wait for.
    fn failed(&mut self, name: &str, out: &mut Collector) {
        if self.failed.len() < MAX_FAILURES {
            self.failed.push(name.to_string());
        } else {
            out.failed(
                FingerprintParts::new(Runner::CargoTest, Kind::Error).test(self.package.as_deref(), name),
            );
        }
    }

    fn output(&mut self, line: &str) -> Step {
        if let Some(name) = header(line) {
            let name = stable_name(name);
            // What was printed loosely before is printed again here, in order.
            if self.details.len() < MAX_FAILURES {
                self.details.insert(name.clone(), Details::default());
            }
            self.part = Part::Outputs(Some(name));
            return Step::Taken;
        }
        if line == "failures:" || line == "successes:" {
            self.part = Part::Outputs(None);
            return Step::Taken;
        }
        let Part::Outputs(Some(name)) = &self.part else { return Step::Taken };
        if let Some(details) = self.details.get_mut(name) {
            details.add(line);
        }
        Step::Taken
    }

    fn between(&mut self, line: &str, out: &mut Collector) -> Step {
        if line.starts_with("error: test failed") || line.starts_with("error: doctest failed") {
            self.stopped = true;
        } else if line.starts_with("error: ") && (line.has(" target failed:") || line.has(" targets failed:"))
        {
            self.stopped = false;
        } else if crashed(line) {
            let (_, signal) = line.cut_last(" (").unwrap_or_default();
            let mut draft = FingerprintParts::new(Runner::CargoTest, Kind::Crash).message(line.trim());
            draft.package.clone_from(&self.package);
            draft.test = self.running.take();
            draft.source = signal.trim_end_matches(')').to_string();
            draft.signature = "process did not exit successfully".to_string();
            self.unfinished = false;
            out.failed(draft);
        } else if !line.starts_with([' ', '\t']) && !line.is_empty() && line != "Caused by:" {
            self.finish(out);
            return Step::Refused;
        }
        Step::Taken
    }

    fn end_binary(&mut self, out: &mut Collector) {
        let mut details = std::mem::take(&mut self.details);
        for name in std::mem::take(&mut self.failed) {
            let found = details.remove(&name).unwrap_or_default();
            out.failed(found.into_draft(Runner::CargoTest, self.package.as_deref(), &name));
        }
        self.running = None;
    }
}

impl Details {
    fn add(&mut self, line: &str) {
        if let Some(panic) = Panic::begin(line) {
            self.panics.push(panic);
        } else if self.is_note(line) {
            append(&mut self.notes, line);
        } else if let Some(panic) = self.panics.last_mut() {
            panic.add(line);
        } else if line.starts_with("error[") || line.starts_with("error: ") {
            self.compile = true;
            append(&mut self.notes, line);
        }
    }

    /// Whether a line explains a failure that is no panic: an error that was returned, or a panic that was declared
    /// and did not come.
    fn is_note(&self, line: &str) -> bool {
        let continues = line.has("panic message:") || line.has("expected substring:");
        line.starts_with("note: test did not panic")
            || line.starts_with("note: panic did not contain")
            || (continues && !self.notes.is_empty())
            || (line.starts_with("Error: ") && self.panics.is_empty())
    }

    fn into_draft(self, runner: Runner, package: Option<&str>, name: &str) -> FingerprintParts {
        let own = self.panics.iter().find(|panic| panic.thread == name).or(self.panics.first());
        let kind = match own {
            None if self.compile => Kind::Compile,
            None if self.notes.starts_with("Error: ") => Kind::Error,
            None if self.notes.is_empty() => Kind::Error,
            Some(panic) if self.notes.is_empty() => panic.kind(),
            // The test panicked, or did not, against what it declares.
            Some(_) | None => Kind::Assertion,
        };
        let mut draft = FingerprintParts::new(runner, kind).test(package, name);
        for panic in &self.panics {
            append(&mut draft.message, panic.message.trim());
        }
        append(&mut draft.message, &self.notes);
        // The first panic is often the cause, that of the test's own thread only its echo.
        for panic in self.panics.first().into_iter().chain(own.filter(|own| self.panics.first() != Some(own)))
        {
            panic.describe(&mut draft);
        }
        append(&mut draft.signature, &self.notes);
        let at_note = self
            .notes
            .lines()
            .find_map(|note| note.cut("as expected at "))
            .and_then(|(_, at)| super::place(at));
        let place = own.and_then(|panic| panic.file.as_deref().map(|file| (file, panic.line)));
        draft.at(place.or(at_note.map(|(file, line, _)| (file, Some(line)))))
    }
}

/// Reads the whole output of one failed test, as nextest and JSON give it.
pub(crate) fn details_of(
    runner: Runner,
    package: Option<&str>,
    name: &str,
    output: &str,
) -> FingerprintParts {
    let mut details = Details::default();
    output.lines().for_each(|line| details.add(line));
    details.into_draft(runner, package, name)
}

/// The name of the binary that cargo runs, used as the name of its package.
pub(crate) fn binary(line: &str) -> Option<String> {
    let trimmed = line.trim_start();
    if let Some(name) = trimmed.strip_prefix("Doc-tests ") {
        return line.starts_with(' ').then(|| name.trim().to_string());
    }
    let path = trimmed.strip_prefix("Running ")?.strip_suffix(')')?.rsplit_once('(')?.1;
    let name = path.rsplit(['/', '\\']).next()?;
    let name = name.strip_suffix(".exe").unwrap_or(name);
    Some(name.rsplit_once('-').map_or(name, |(name, _)| name).to_string())
}

/// `test result: FAILED. 1 passed; 40 failed; …`, where only the end of the output is there.
pub(crate) fn is_end(line: &str) -> bool {
    line.starts_with("test result: ") && line.contains(" passed; ") && line.contains(" failed; ")
}

pub(crate) fn is_start(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("running ") else { return false };
    let Some(count) = rest.strip_suffix(" tests").or_else(|| rest.strip_suffix(" test")) else {
        return false;
    };
    !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit())
}

fn header(line: &str) -> Option<&str> {
    let inner = line.strip_prefix("---- ")?.strip_suffix(" ----")?;
    inner.strip_suffix(" stdout").or_else(|| inner.strip_suffix(" stderr"))
}

fn crashed(line: &str) -> bool {
    line.trim_start().starts_with("process didn't exit successfully: ")
        && (line.has("(signal: ") || line.has("(exit code: 0xc"))
}

/// The name of a test without what unrelated edits change: a documentation test contains its line.
fn stable_name(name: &str) -> String {
    let name = name.trim_end().strip_suffix(" - should panic").unwrap_or(name.trim_end());
    match name.position_of(" (line ") {
        Some(at) => name.get(..at).unwrap_or(name).to_string(),
        None => name.to_string(),
    }
}
