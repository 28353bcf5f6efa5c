//! Maven with Surefire and Failsafe: results of tests by class, compile errors, and why a build stopped.
//!
//! Owns the lines behind `[ERROR]` and its kin, and the stack traces between them. The list below `Results:` repeats
//! what was said before, so it counts only if the output begins later. What tests print is passed over.

use super::java::Throwable;
use super::{Read, Step};
use crate::collector::{Collector, append};
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::search::Search;

const LEVELS: [&str; 4] = ["[ERROR] ", "[INFO] ", "[WARNING] ", "[DEBUG] "];
/// A build ends with these where the failures were named before.
const SAID_BEFORE: [&str; 4] =
    ["There are test failures", "There was a test failure", "Compilation failure", "You have "];

#[derive(Debug, Default)]
pub(crate) struct Maven {
    phase: Phase,
    class: String,
    test: Option<Test>,
    compile: Option<FingerprintParts>,
    crash: Option<FingerprintParts>,
    /// Passed tests of the classes that no total has counted yet.
    passed: u64,
    /// Whether a failing test was named with its stack trace.
    is_detailed: bool,
    /// The next line names the class that was being run.
    names_crashed: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Phase {
    #[default]
    Building,
    Testing,
    Results,
}

#[derive(Debug)]
struct Test {
    name: String,
    thrown: Throwable,
}

pub(crate) fn is_start(line: &str) -> bool {
    let text = without_level(line).unwrap_or(line);
    if counts(text).is_some() {
        return true;
    }
    line.len() != text.len()
        && (text == "Scanning for projects..."
            || text.starts_with("Failed to execute goal ")
            || text.starts_with("COMPILATION ERROR")
            || text == " T E S T S"
            || text.starts_with("Running ")
            || text.starts_with("--- ") && text.has(" @ ")
            || text == "Results:"
            || test_of(text).is_some()
            || compile_error(line).is_some())
}

/// Whether a line can be that of no other tool.
pub(crate) fn is_unmistakable(line: &str) -> bool {
    line == "[INFO] Scanning for projects..." || counts(without_level(line).unwrap_or(line)).is_some()
}

impl Read for Maven {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        if let Some(draft) = compile_error(line) {
            self.end_blocks(out);
            self.compile = Some(draft);
            return Step::Taken;
        }
        let leveled = without_level(line);
        let text = leveled.unwrap_or(line);
        if let Some(draft) = &mut self.compile {
            if text.starts_with("  ") {
                append(&mut draft.message, &squeezed(text));
                append(&mut draft.source, &squeezed(text));
                return Step::Taken;
            }
            self.end_blocks(out);
        }
        if let Some(counts) = counts(text) {
            self.end_blocks(out);
            self.counted(text, counts, out);
        } else if let Some(name) = test_of(text) {
            self.end_blocks(out);
            self.is_detailed = true;
            self.test = Some(Test { name: name.to_string(), thrown: Throwable::default() });
        } else if leveled.is_some() {
            self.message(text, line.starts_with("[ERROR]"), out);
        } else if let Some(test) = &mut self.test {
            match text.is_empty() {
                true => self.end_blocks(out),
                false => test.thrown.line(text),
            }
        } else if self.phase == Phase::Building && !text.is_empty() {
            return Step::Refused;
        }
        Step::Taken
    }

    fn finish(&mut self, out: &mut Collector) {
        self.end_blocks(out);
        out.counted(std::mem::take(&mut self.passed));
        if let Some(draft) = self.crash.take() {
            out.failed(draft);
        }
    }
}

impl Maven {
    /// A line behind its level.
    fn message(&mut self, text: &str, is_error: bool, out: &mut Collector) {
        if self.test.is_some() && !text.starts_with("  ") {
            self.end_blocks(out);
        }
        if self.names_crashed {
            self.names_crashed = false;
            if let Some(mut draft) = self.crash.take() {
                draft.package = Some(text.trim().to_string());
                out.failed(draft);
            }
        } else if text.starts_with("Running ") || text == " T E S T S" {
            self.phase = Phase::Testing;
        } else if text.starts_with("Results:") || matches!(text.trim(), "Failures:" | "Errors:") {
            self.phase = Phase::Results;
        } else if text.starts_with("BUILD ") || text.starts_with("--- ") {
            self.phase = Phase::Building;
        } else if text.starts_with("The forked VM terminated without ")
            || text.starts_with("There was a timeout ")
        {
            let is_timeout = text.starts_with("There was a timeout ");
            let kind = if is_timeout { Kind::Timeout } else { Kind::Crash };
            self.crash = Some(FingerprintParts::new(Runner::Maven, kind).message(text.trim()));
            out.masked();
        } else if text == "Crashed tests:" {
            self.names_crashed = true;
        } else if let Some(reason) = text.strip_prefix("Failed to execute goal ") {
            stopped(reason, out);
        } else if text.ends_with(" SKIPPED") && text.has(" ....") {
            // A module that was not built because an earlier one failed.
            out.masked();
        } else if self.phase == Phase::Results && is_error && !self.is_detailed {
            listed(text, out);
        }
    }

    fn counted(&mut self, text: &str, counts: Counts, out: &mut Collector) {
        let passed = counts.run.saturating_sub(counts.failed + counts.skipped);
        if let Some((_, class)) = text.cut(" in ").filter(|_| text.has("Time elapsed: ")) {
            self.class = class.trim().to_string();
            self.phase = Phase::Testing;
            self.passed = self.passed.saturating_add(passed);
        } else if !text.has("Time elapsed: ") {
            self.passed = 0;
            out.counted(passed);
            out.summarised(Runner::Maven, counts.failed);
            if counts.failed > 0 {
                out.ran_unnamed();
            }
        }
    }

    fn end_blocks(&mut self, out: &mut Collector) {
        if let Some(draft) = self.compile.take() {
            out.failed(draft);
        }
        let Some(test) = self.test.take() else { return };
        let (class, name) = test.names(&self.class);
        let draft = FingerprintParts::new(Runner::Maven, Kind::Error).test(class, name);
        out.failed(test.thrown.clone().describe(draft));
    }
}

impl Test {
    /// `equal`, `equal(sample.CalcTest)`, `sample.CalcTest.equal`: the class and the method.
    fn names<'a>(&'a self, class: &'a str) -> (Option<&'a str>, &'a str) {
        let name = self.name.as_str();
        let known = Some(class).filter(|class| !class.is_empty());
        if let Some(method) = name.strip_prefix(class).and_then(|rest| rest.strip_prefix('.')) {
            return (known, method);
        }
        if let Some((method, inside)) = name.strip_suffix(')').and_then(|rest| rest.rsplit_once('('))
            && inside.contains('.')
            && !inside.contains([',', ' '])
        {
            return (Some(inside), method);
        }
        (known, name)
    }
}

/// Why the build stopped: a failure if nothing else was named.
fn stopped(reason: &str, out: &mut Collector) {
    let reason = reason.cut(": ").filter(|_| reason.has("on project ")).map_or(reason, |(goal, rest)| {
        // A goal has colons itself, but no blanks behind them.
        if goal.has("on project ") { rest } else { reason }
    });
    let reason = reason.split(" -> [Help").next().unwrap_or(reason).trim();
    if !SAID_BEFORE.iter().any(|said| reason.starts_with(said)) {
        out.suspect(FingerprintParts::new(Runner::Maven, Kind::Error).message(reason));
    }
}

/// `  CalcTest.equal:25 expected: <5> but was: <4>`, `  CalcTest.exception:53 » Arithmetic / by zero`
fn listed(text: &str, out: &mut Collector) {
    let Some(text) = text.strip_prefix("  ").filter(|text| !text.starts_with(' ')) else { return };
    let (name, message) = text.split_once(' ').unwrap_or((text, ""));
    let (name, line) = name.split_once(':').unwrap_or((name, ""));
    let name = name.split("->").next().unwrap_or(name);
    if !name.contains('.') {
        return;
    }
    let message = message.trim_start_matches("» ").trim();
    let mut draft = FingerprintParts::new(Runner::Maven, Kind::Assertion).test(None, name).message(message);
    draft.line = line.split("->").next().and_then(|line| line.parse().ok());
    if text.has(" » ") {
        let class = message.split(' ').next().unwrap_or_default();
        draft.kind = Kind::Exception(format!("{class}Exception"));
    }
    out.failed(draft);
}

fn without_level(line: &str) -> Option<&str> {
    if !line.starts_with('[') {
        return None;
    }
    let padded = LEVELS.iter().find_map(|level| line.strip_prefix(level));
    padded.or_else(|| LEVELS.iter().any(|level| level.trim_end() == line).then_some(""))
}

#[derive(Debug, Clone, Copy)]
struct Counts {
    run: u64,
    failed: u64,
    skipped: u64,
}

/// `Tests run: 20, Failures: 11, Errors: 3, Skipped: 1`
fn counts(text: &str) -> Option<Counts> {
    let rest = text.strip_prefix("Tests run: ")?;
    let mut parts = rest.split(", ");
    let mut next = |name: &str| -> Option<u64> {
        let part = parts.next()?;
        let number = if name.is_empty() { part } else { part.strip_prefix(name)? };
        number.split([' ', '\t']).next()?.parse().ok()
    };
    let run = next("")?;
    let failed = next("Failures: ")?.saturating_add(next("Errors: ")?);
    Some(Counts { run, failed, skipped: next("Skipped: ").unwrap_or(0) })
}

/// `equal  Time elapsed: 0.067 s  <<< FAILURE!`
fn test_of(text: &str) -> Option<&str> {
    let is_failed = text.ends_with("<<< FAILURE!") || text.ends_with("<<< ERROR!");
    let name = text.split("Time elapsed: ").next().filter(|name| is_failed && name.len() < text.len())?;
    let name = name.trim_end().trim_end_matches(" --").trim();
    (!name.is_empty() && !name.starts_with("Tests run:")).then_some(name)
}

/// `[ERROR] /w/A.java:[3,5] cannot find symbol`
fn compile_error(line: &str) -> Option<FingerprintParts> {
    let text = line.strip_prefix("[ERROR] ")?;
    let (file, rest) = text.cut(":[")?;
    let (position, message) = rest.cut("] ")?;
    let number = position.split(',').next()?.parse().ok()?;
    if file.is_empty() || file.contains(' ') {
        return None;
    }
    // Checkstyle names its module first.
    let is_lint = message.starts_with('(');
    let (runner, kind) = if is_lint { (Runner::Linter, Kind::Lint) } else { (Runner::Javac, Kind::Compile) };
    let message = message.strip_prefix("error: ").unwrap_or(message);
    Some(FingerprintParts::new(runner, kind).message(message).at(Some((file, Some(number)))))
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
