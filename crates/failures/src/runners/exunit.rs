//! ExUnit of Elixir: the numbered failures, the names in a traced run, compile errors, and the closing counts.
//!
//! Owns the output of `mix test`. Values that were seen are not part of what identifies a failure: the code is. A run
//! without its closing count was cut short.

use super::{Read, Step, indentation, numbered, place, without_duration};
use crate::collector::{Collector, append};
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::search::Search;
use crate::tail::Tail;

#[derive(Debug, Default)]
pub(crate) struct ExUnit {
    /// The module whose tests are traced.
    module: String,
    block: Option<Block>,
    /// The file that did not compile.
    broken: Option<String>,
    /// An error of the compiler whose place follows.
    logged: Option<String>,
    /// Whether errors of the compiler were reported before it gave up.
    is_logged: bool,
    ended: bool,
}

#[derive(Debug, Default)]
struct Block {
    module: String,
    test: String,
    at: Option<(String, u32)>,
    frame: Option<(String, u32)>,
    message: String,
    code: String,
    part: Part,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Part {
    #[default]
    Place,
    Message,
    Values,
    Stack,
}

pub(crate) fn is_start(line: &str) -> bool {
    title(line).is_some()
        || line.starts_with("== Compilation error in file ") && line.ends_with(" ==")
        || line.starts_with("Finished in ") && line.ends_with(" sync)")
        || line.starts_with("Running ExUnit with seed: ")
        || is_no_match(line)
        || line.starts_with("Excluding tags: [")
        || line.starts_with("Including tags: [")
        || traced_module(line).is_some()
        || logged_at(line).is_some()
        || counts(line).is_some()
}

impl ExUnit {
    /// A reader that knows the error printed just before its place.
    pub(crate) fn after(line: &str, tail: &Tail) -> Self {
        let mut earlier = tail.latest_first().filter(|_| logged_at(line).is_some()).take(16);
        let is_head = |line: &&str| line.has("error: ") || line.has("warning: ");
        let logged = earlier.find(is_head).and_then(|line| line.trim_start().strip_prefix("error: "));
        Self { logged: logged.map(str::to_string), ..Self::default() }
    }
}

/// Whether a line can be that of no other tool.
pub(crate) fn is_unmistakable(line: &str) -> bool {
    line.starts_with("Running ExUnit with seed: ") || line.starts_with("== Compilation error in file ")
}

impl Read for ExUnit {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        if is_no_match(line) {
            out.suspect(FingerprintParts::new(Runner::ExUnit, Kind::Error).message(line));
            return Step::Ended;
        }
        if let Some((passed, failed)) = counts(line) {
            self.end_block(out);
            out.counted(passed);
            out.summarised(Runner::ExUnit, failed);
            if failed > 0 {
                out.ran_unnamed();
            }
            self.ended = true;
            return Step::Taken;
        }
        if self.ended {
            if line.starts_with("The --only option was given") {
                out.suspect(FingerprintParts::new(Runner::ExUnit, Kind::Error).message(line));
                return Step::Taken;
            }
            let is_known = line.trim().is_empty() || line.starts_with("Randomized with seed ");
            return if is_known { Step::Taken } else { Step::Refused };
        }
        if let Some(file) = self.broken.take() {
            if !(self.is_logged && line.has("errors have been logged")) {
                compile_error(&file, line, out);
            }
            self.ended = true;
        } else if let Some((test, module)) = title(line) {
            self.end_block(out);
            let (test, module) = (test.to_string(), module.to_string());
            self.block = Some(Block { module, test, ..Block::default() });
        } else if let Some(file) = line.strip_prefix("== Compilation error in file ") {
            self.end_block(out);
            self.broken = Some(file.trim_end_matches([' ', '=']).to_string());
        } else if let Some(error) = line.trim_start().strip_prefix("error: ").filter(|_| self.block.is_none())
        {
            self.logged = Some(error.to_string());
        } else if let Some((file, number)) = logged_at(line) {
            if let Some(error) = self.logged.take() {
                let draft = FingerprintParts::new(Runner::ExUnit, Kind::Compile).message(error);
                out.failed(draft.at(Some((file, Some(number)))));
                self.is_logged = true;
            }
        } else if line.starts_with("--max-failures reached") {
            self.end_block(out);
            out.masked();
        } else if line.starts_with("Finished in ") {
            self.end_block(out);
        } else if let Some((name, note)) = traced(line) {
            self.end_block(out);
            let module = Some(self.module.as_str()).filter(|module| !module.is_empty());
            match note {
                "skipped" | "excluded" => out.skipped(module, name),
                _ => out.passed(module, name),
            }
        } else if let Some(module) = traced_module(line) {
            self.module = module.to_string();
        } else if let Some(block) = self.block.as_mut().filter(|_| indentation(line) >= 5) {
            block.line(line.trim());
        }
        Step::Taken
    }

    fn finish(&mut self, out: &mut Collector) {
        self.end_block(out);
        if let Some(file) = self.broken.take() {
            compile_error(&file, "", out);
        } else if !self.ended {
            out.masked();
        }
    }
}

impl ExUnit {
    fn end_block(&mut self, out: &mut Collector) {
        if let Some(block) = self.block.take() {
            out.failed(block.draft());
        }
    }
}

impl Block {
    fn line(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if text == "stacktrace:" {
            self.part = Part::Stack;
            return;
        }
        if let Some(code) = text.strip_prefix("code:").filter(|_| self.part != Part::Stack) {
            self.part = Part::Values;
            append(&mut self.message, text);
            self.code = code.trim().to_string();
            return;
        }
        match self.part {
            Part::Place => {
                self.part = Part::Message;
                self.at = place(text)
                    .filter(|(.., rest)| rest.is_empty())
                    .map(|(file, line, _)| (file.to_string(), line));
                if self.at.is_none() {
                    append(&mut self.message, text);
                }
            }
            Part::Message | Part::Values => append(&mut self.message, text),
            // Frames of libraries begin with the name of the library.
            Part::Stack if self.frame.is_none() && !text.starts_with('(') => {
                self.frame = place(text).map(|(file, line, _)| (file.to_string(), line));
            }
            Part::Stack => {}
        }
    }

    fn draft(self) -> FingerprintParts {
        let first = self.message.lines().next().unwrap_or_default();
        let raised = first.strip_prefix("** (").and_then(|rest| rest.split_once(')'));
        let kind = match raised {
            Some((name, _)) if name.ends_with("TimeoutError") => Kind::Timeout,
            Some((name, _)) if name.starts_with("EXIT from ") => Kind::Crash,
            Some((name, _)) => Kind::Exception(name.to_string()),
            None => Kind::Assertion,
        };
        let signature = match (&kind, raised) {
            (Kind::Timeout, _) => "test timed out".to_string(),
            (_, Some((_, message))) => message.trim().to_string(),
            // What was asked for stands in the code.
            (_, None) => self
                .message
                .lines()
                .take_while(|line| !line.starts_with("code:"))
                .collect::<Vec<_>>()
                .join("\n"),
        };
        let place = self.frame.or(self.at);
        let place = place.as_ref().map(|(file, line)| (file.as_str(), Some(*line)));
        let mut draft = FingerprintParts::new(Runner::ExUnit, kind)
            .test(Some(&self.module), &self.test)
            .message(self.message)
            .at(place);
        draft.signature = signature;
        draft.source = self.code;
        draft
    }
}

/// `** (CompileError) lib/other.ex:2: undefined function b/0`
fn compile_error(file: &str, line: &str, out: &mut Collector) {
    let message =
        line.strip_prefix("** (").and_then(|rest| rest.cut(") ")).map_or(line, |(_, message)| message);
    let found = place(message).filter(|(at, ..)| !at.contains(' '));
    let (at, number, message) = match found {
        Some((at, number, rest)) => (at, Some(number), rest.trim_start_matches([':', ' '])),
        None => (file, None, message),
    };
    let draft = FingerprintParts::new(Runner::ExUnit, Kind::Compile).message(message);
    out.failed(draft.at(Some((at, number))));
}

/// `    └─ test/broken_test.exs:5:5: BrokenTest."test never"/1`, of Elixir 1.16 and newer.
fn logged_at(line: &str) -> Option<(&str, u32)> {
    let (file, number, _) = place(line.trim_start().strip_prefix("└─ ")?)?;
    (file.ends_with(".ex") || file.ends_with(".exs")).then_some((file, number))
}

/// `  1) test equal (CalcTest)`: the name and the module.
fn title(line: &str) -> Option<(&str, &str)> {
    (1..=3).contains(&indentation(line)).then_some(())?;
    let title = numbered(line.trim_start())?;
    let is_test = ["test ", "doctest ", "property ", "feature "].iter().any(|kind| title.starts_with(kind));
    let (test, module) = title.trim_end().strip_suffix(')')?.cut_last(" (").filter(|_| is_test)?;
    module.starts_with(|letter: char| letter.is_uppercase()).then_some((test, module))
}

/// `  * test passes (0.00ms) [L#5]`: the name and the note.
fn traced(line: &str) -> Option<(&str, &str)> {
    let text = line.strip_prefix("  * ")?;
    let (text, _) = text.cut_last(" [L#")?;
    let note = text.strip_suffix(')').and_then(|rest| rest.cut_last(" ("));
    match note {
        Some((name, note @ ("skipped" | "excluded"))) => Some((name, note)),
        _ => {
            let name = without_duration(text);
            (name.len() < text.trim_end().len()).then_some((name, ""))
        }
    }
}

fn is_no_match(line: &str) -> bool {
    line.starts_with("Paths given to \"mix test\" did not match")
}

/// `CalcTest [test/calc_test.exs]`
fn traced_module(line: &str) -> Option<&str> {
    let (module, file) = line.strip_suffix(".exs]")?.cut(" [")?;
    (!module.contains(' ') && !file.contains(' ')).then_some(module)
}

/// `1 doctest, 16 tests, 1 failure, 16 excluded`: passed and failed.
fn counts(line: &str) -> Option<(u64, u64)> {
    let (mut all, mut failed, mut others) = (0_u64, None, 0_u64);
    if !line.starts_with(|letter: char| letter.is_ascii_digit()) {
        return None;
    }
    let mut has_tests = false;
    for part in line.split(", ") {
        let (count, word) = part.split_once(' ')?;
        let count: u64 = count.parse().ok()?;
        match word.trim() {
            "test" | "tests" | "doctest" | "doctests" | "property" | "properties" | "feature"
            | "features" => {
                has_tests = true;
                all = all.saturating_add(count);
            }
            "failure" | "failures" => failed = Some(count),
            "excluded" | "skipped" | "invalid" => others = others.saturating_add(count),
            _ => return None,
        }
    }
    let failed = failed.filter(|_| has_tests)?;
    Some((all.saturating_sub(failed).saturating_sub(others), failed))
}
