//! behave: scenarios with their steps and errors, the lists of failing scenarios, and the counts.
//!
//! Owns the pretty, plain and progress formats. The closing lists tell which scenarios failed, and where they are; without
//! them the errors do.

use super::python::Traceback;
use super::{Read, Step, count_of, indentation, place};
use crate::collector::{Collector, MAX_FAILURES, append};
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::search::Search;

#[derive(Debug, Default)]
pub(crate) struct Behave {
    scenario: Option<Scenario>,
    /// Scenarios that failed, until a list says where they are.
    failed: Vec<Scenario>,
    /// Scenarios of which no step ran.
    idle: Vec<Scenario>,
    has_features: bool,
    in_list: bool,
    ended: bool,
}

#[derive(Debug, Default, Clone)]
struct Scenario {
    name: String,
    file: Option<String>,
    line: Option<u32>,
    step: String,
    steps: u32,
    /// Steps without a definition, or that did not run.
    missing: u32,
    error: Vec<String>,
    is_listed: bool,
}

const MAX_LINES: usize = 200;

pub(crate) fn is_start(line: &str) -> bool {
    is_banner(line) || line.starts_with("Feature: ") || is_list(line) || counts(line).is_some()
}

pub(crate) fn is_banner(line: &str) -> bool {
    line.starts_with("USING RUNNER: behave.")
}

impl Read for Behave {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        if self.ended {
            return Step::Refused;
        }
        let text = line.trim();
        if line.starts_with("Took ") && line.ends_with('s') && self.in_list {
            self.finish(out);
            return Step::Taken;
        }
        if is_list(line) {
            self.close(out);
            self.in_list = true;
        } else if let Some((passed, failed, untested)) = counts(line) {
            self.close(out);
            self.in_list = true;
            out.counted(passed);
            out.summarised(Runner::Behave, failed);
            if untested > 0 {
                out.masked();
            }
        } else if line.has(" passed, ") && line.has(" feature") {
            self.close(out);
            self.in_list = true;
        } else if self.in_list {
            self.listed(text);
        } else if line.starts_with("Feature: ") {
            self.close(out);
            self.has_features = true;
        } else if let Some(scenario) = scenario(line) {
            self.close(out);
            self.has_features = true;
            self.scenario = Some(scenario);
        } else if let Some(scenario) = &mut self.scenario {
            scenario.line(line);
        } else if !self.has_features && !text.is_empty() && !is_banner(line) && !is_progress(line) {
            self.finish(out);
            out.masked();
            return Step::Refused;
        }
        Step::Taken
    }

    fn finish(&mut self, out: &mut Collector) {
        self.close(out);
        for failed in std::mem::take(&mut self.failed) {
            out.failed(failed.into_draft());
        }
        for idle in std::mem::take(&mut self.idle) {
            out.skipped(None, &idle.name);
        }
        self.ended = true;
    }
}

impl Behave {
    fn close(&mut self, out: &mut Collector) {
        let Some(scenario) = self.scenario.take() else { return };
        if !scenario.error.iter().all(|line| line.trim().is_empty()) {
            if self.failed.len() < MAX_FAILURES {
                self.failed.push(scenario);
            }
        } else if scenario.steps > 0 && scenario.missing == 0 {
            out.passed(None, &scenario.name);
        } else if scenario.missing > 0 && self.idle.len() < MAX_FAILURES {
            self.idle.push(scenario);
        }
    }

    /// `features/calc.feature:7  equal`
    fn listed(&mut self, text: &str) {
        let Some((position, name)) = text.cut("  ") else { return };
        let Some((file, line, "")) = place(position) else { return };
        let name = name.trim();
        let is_it = |scenario: &&mut Scenario| {
            scenario.name == name
                && !scenario.is_listed
                && scenario.line.is_none_or(|known| known == line || scenario.file.as_deref() != Some(file))
        };
        if let Some(scenario) = self.failed.iter_mut().find(is_it) {
            scenario.is_listed = true;
            scenario.file = Some(file.to_string());
            scenario.line = Some(line);
        } else if self.failed.len() < MAX_FAILURES {
            let idle = self.idle.iter().position(|idle| idle.name == name).map(|at| self.idle.remove(at));
            self.failed.push(Scenario {
                name: name.to_string(),
                file: Some(file.to_string()),
                line: Some(line),
                is_listed: true,
                ..idle.unwrap_or_default()
            });
        }
    }
}

impl Scenario {
    fn line(&mut self, line: &str) {
        let text = line.trim();
        let words = ["Given ", "When ", "Then ", "And ", "But ", "* "];
        let is_step = indentation(line) == 4 && words.iter().any(|word| text.starts_with(word));
        if is_step && (text.has(" # ") || text.has(" ... ")) {
            let plain = text.cut_last(" ... ");
            let (step, outcome) = plain.or_else(|| text.cut_last(" # ")).unwrap_or((text, ""));
            if self.error.is_empty() && self.missing == 0 {
                self.step = step.trim().to_string();
            }
            self.steps += 1;
            self.missing += u32::from(
                outcome == "None" || outcome.starts_with("undefined") || outcome.starts_with("skipped"),
            );
        } else if self.error.len() < MAX_LINES
            && !(self.error.is_empty() && text.is_empty())
            && !is_frame_of_report(text)
        {
            self.error.push(line.to_string());
        }
    }

    fn into_draft(self) -> FingerprintParts {
        let depth = self.error.first().map_or(0, |line| indentation(line));
        let mut message = String::new();
        let mut traceback = None;
        for line in &self.error {
            let line = line.get(depth.min(indentation(line))..).unwrap_or(line);
            if line == "Traceback (most recent call last):" {
                traceback = Some(Traceback::default());
            }
            match &mut traceback {
                Some(traceback) => traceback.line(line),
                None => append(&mut message, line.trim_end()),
            }
        }
        let said =
            ["ASSERT FAILED:", "Assertion Failed:"].iter().find_map(|start| message.strip_prefix(start));
        let kind = match (&traceback, said) {
            (Some(traceback), _) => traceback.kind(),
            (None, Some(_)) => Kind::Assertion,
            (None, None) => Kind::Error,
        };
        let said = match traceback {
            Some(traceback) => traceback.raised,
            None => said.unwrap_or(&message).trim().to_string(),
        };
        let mut draft = FingerprintParts::new(Runner::Behave, kind).test(None, &self.name);
        draft.signature.clone_from(&said);
        draft.message = format!("{}\n{said}", self.step);
        draft.source = self.step;
        draft.at(self.file.as_deref().map(|file| (file, self.line)))
    }
}

/// `  Scenario: adds            # features/calc.feature:3`, and `  adds  ..F`
fn scenario(line: &str) -> Option<Scenario> {
    if indentation(line) != 2 {
        return None;
    }
    let text = line.trim();
    let named =
        ["Scenario: ", "Scenario Outline: ", "Example: "].iter().find_map(|word| text.strip_prefix(word));
    let Some(named) = named else {
        let (name, dots) = text.cut_last("  ")?;
        let is_dots = !dots.is_empty() && dots.bytes().all(|byte| b".FEUSPx_".contains(&byte));
        return is_dots.then(|| Scenario { name: name.trim().to_string(), steps: 1, ..Scenario::default() });
    };
    let (name, position) = named.cut_last(" # ").unwrap_or((named, ""));
    let found = place(position);
    Some(Scenario {
        name: name.trim().to_string(),
        file: found.map(|(file, ..)| file.to_string()),
        line: found.map(|(_, line, _)| line),
        ..Scenario::default()
    })
}

/// Tags, rules, and `FAILURE in step 'the sum is 5' (features/calc.feature:9):`
fn is_frame_of_report(text: &str) -> bool {
    text.starts_with('@')
        || text.starts_with("FAILURE in step '")
        || text.starts_with("ERROR in step '")
        || text.len() > 70 && text.bytes().all(|byte| byte == b'-')
        || text.has("    # ") && text.ends_with(".feature")
}

/// `features/calc.feature  .FEEF.FFF`, `Calculator    # features/calc.feature`
fn is_progress(line: &str) -> bool {
    line.has(".feature  ") || line.has("    # ")
}

fn is_list(line: &str) -> bool {
    matches!(line, "Failing scenarios:" | "Errored scenarios:")
}

/// Scenarios that passed, that did not, and that were not run: `3 scenarios passed, 6 failed, 2 error, 0 skipped`
fn counts(line: &str) -> Option<(u64, u64, u64)> {
    let (count, rest) = line.cut(" scenario")?;
    let passed = count.parse().ok()?;
    let rest = rest.strip_prefix('s').unwrap_or(rest).strip_prefix(" passed, ")?;
    let failed = count_of(rest, "failed")?;
    let errors = count_of(rest, "error").unwrap_or_default();
    Some((passed, failed.saturating_add(errors), count_of(rest, "untested").unwrap_or_default()))
}
