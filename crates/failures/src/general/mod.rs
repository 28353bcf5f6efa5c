//! Reads the output of tools without a reader of their own: `path:line: message`, and lines that complain.
//!
//! Owns which lines of such an output are failures, one for each. What a reader takes does not come here. Memory is limited:
//! what does not fit is counted. Wrappers ("exited with code 1") explain a failure only if nothing else does.

mod complaints;
mod places;
mod words;

use crate::collector::{MAX_FAILURES, append};
use fixpoint_vocabulary::EnvironmentProblem;

use crate::environment;
use crate::fingerprint::{FingerprintParts, Repeats};
use crate::itemised::Signs;
use crate::report::{Kind, Runner};
use crate::seen::{self, Seen};

pub(crate) use self::complaints::complains;
pub(crate) use self::places::is_of_linter;
use self::places::{Finding, Severity};

/// Distinct lines that complain.
const MOST_COMPLAINTS: usize = 1000;
/// Distinct lines of an output in which nothing complains. If there are more, its end alone is the failure.
const MOST_OTHERS: usize = 200;
/// Bytes that are kept of a line.
const MAX_LINE: usize = 512;
/// Lines below a finding that has no message of its own.
const LINES_BELOW: u8 = 2;

/// What was found in the lines that no reader took.
#[derive(Debug, Default)]
pub(crate) struct General {
    findings: Vec<FingerprintParts>,
    warnings: Vec<FingerprintParts>,
    /// The file that the indented positions below belong to.
    file: Option<String>,
    /// Lines below the last finding that belong to its message.
    open: u8,
    complaints: Vec<Complaint>,
    /// Lines that do not complain, until there are too many to mean anything.
    others: Vec<Complaint>,
    known_complaints: Seen,
    known_others: Seen,
    /// The last line that was not indented.
    header: String,
    omitted: u64,
    /// The first problem of the environment that a line tells of.
    environment: Option<EnvironmentProblem>,
    signs: Signs,
}

#[derive(Debug)]
struct Complaint {
    /// The line that it is indented below.
    header: String,
    line: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Complaint { is_indented: bool },
    Other { is_indented: bool },
}

/// What is known of the command when its output has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Failed,
    /// Its exit code is that of another program, such as the last one of a pipe.
    Unknown,
}

/// Failures in place of those that no reader found.
#[derive(Debug, Default)]
pub(crate) struct GeneralFailures {
    pub(crate) failures: Vec<FingerprintParts>,
    /// What was said without a complaint, if it is not much.
    pub(crate) others: Vec<FingerprintParts>,
    pub(crate) omitted: u64,
}

impl General {
    /// A line that may have a prefix before `rest`: it has one if a finding follows.
    pub(crate) fn line_or_rest(&mut self, line: &str, rest: &str) {
        let is_finding = places::read(rest, None).is_some() && places::read(line, None).is_none();
        self.line(if is_finding { rest } else { line });
    }

    pub(crate) fn line(&mut self, line: &str) {
        let text = line.trim_end();
        if text.is_empty() {
            self.open = 0;
            return;
        }
        let is_of_note = words::may_be_of_note(text);
        if is_of_note && self.environment.is_none() && environment::is_suspect(text) {
            self.environment = environment::in_line(text.trim_start());
        }
        let is_indented = line.starts_with([' ', '\t']);
        let file = self.file.take();
        let finding = places::read(text, file.as_deref().filter(|_| is_indented));
        let is_found = finding.as_ref().map(|finding| self.found(finding)).is_some();
        self.file = file;
        if is_found {
            return;
        }
        if self.open > 0 && is_indented {
            self.open -= 1;
            let message = text.trim_start();
            if let Some(draft) = self.findings.last_mut() {
                append(&mut draft.message, message);
                append(&mut draft.signature, message);
            }
            return;
        }
        self.open = 0;
        self.signs.add(text);
        if let Some(file) = places::table_of(text).filter(|_| is_indented) {
            self.file = Some(file);
            return;
        }
        if !is_indented {
            self.header.clear();
            self.header.push_str(beginning(text));
            self.file = places::file_alone(text);
        }
        if is_of_note && complaints::complains(text) {
            if !complaints::is_of_wrapper(text) {
                self.keep(text, Line::Complaint { is_indented });
            }
        } else if self.complaints.is_empty() && self.others.len() <= MOST_OTHERS {
            self.keep(text, Line::Other { is_indented });
        }
    }

    fn found(&mut self, finding: &Finding<'_>) {
        self.open = if finding.message.is_empty() { LINES_BELOW } else { 0 };
        let list = match finding.severity {
            Severity::Note => return,
            Severity::Warning => &mut self.warnings,
            Severity::Error => &mut self.findings,
        };
        if list.len() >= MAX_FAILURES {
            self.omitted += 1;
            return;
        }
        let kind = if finding.message.starts_with("Parse error:") { Kind::Compile } else { Kind::Lint };
        let mut draft = FingerprintParts::new(Runner::Linter, kind)
            .message(finding.message)
            .at(Some((finding.file, Some(finding.line))));
        draft.repeats = Repeats::AtOtherPlaces(finding.column);
        list.push(draft);
    }

    fn keep(&mut self, text: &str, kind: Line) {
        let (list, known, most, is_indented) = match kind {
            Line::Complaint { is_indented } => {
                (&mut self.complaints, &mut self.known_complaints, MOST_COMPLAINTS, is_indented)
            }
            Line::Other { is_indented } => {
                (&mut self.others, &mut self.known_others, MOST_OTHERS + 1, is_indented)
            }
        };
        if list.len() >= most {
            self.omitted += 1;
            return;
        }
        let line = beginning(text.trim_start());
        let header = if is_indented { self.header.as_str() } else { "" };
        let is_same = |at: usize| list.get(at).is_some_and(|one| one.line == line && one.header == header);
        if known.is_new(seen::hash_of([Some(line), Some(header)]), list.len(), is_same) {
            list.push(Complaint { header: header.to_string(), line: line.to_string() });
        }
    }

    pub(crate) fn take_environment(&mut self) -> Option<EnvironmentProblem> {
        self.environment.take()
    }

    /// The signs of an early end, in lines that are no finding.
    pub(crate) fn signs(&self) -> Signs {
        self.signs
    }

    /// The failures, if no reader found any. `remarks` are complaints that a reader knew, such as an uncaught exception.
    pub(crate) fn failures(self, outcome: Outcome, remarks: Vec<FingerprintParts>) -> GeneralFailures {
        let Self { mut findings, mut warnings, complaints, others, omitted, .. } = self;
        if outcome == Outcome::Unknown {
            // A search prints such lines, too.
            for list in [&mut findings, &mut warnings] {
                list.retain(|draft| places::is_of_linter(&draft.message));
            }
        }
        let failures: Vec<FingerprintParts> = match (remarks.is_empty(), findings.is_empty()) {
            (false, _) => remarks.into_iter().chain(findings).collect(),
            (true, false) => findings,
            (true, true) if !warnings.is_empty() => warnings,
            (true, true) => match outcome {
                Outcome::Unknown => Vec::new(),
                Outcome::Failed => complaints.into_iter().map(Complaint::into_draft).collect(),
            },
        };
        let is_said = |line: &str| !complaints::is_chatter(line) && !complaints::is_of_wrapper(line);
        let said = others.into_iter().filter(|other| is_said(&other.line)).map(Complaint::into_draft);
        let others: Vec<FingerprintParts> = said.collect();
        GeneralFailures {
            failures,
            others: if others.len() <= MOST_OTHERS { others } else { Vec::new() },
            omitted,
        }
    }
}

impl Complaint {
    fn into_draft(self) -> FingerprintParts {
        let mut draft = FingerprintParts::new(Runner::Generic, Kind::Error);
        draft.signature.clone_from(&self.line);
        draft.source = self.header.clone();
        draft.message =
            if self.header.is_empty() { self.line } else { format!("{}\n{}", self.header, self.line) };
        draft.repeats = Repeats::WithOtherNumbers;
        draft
    }
}

fn beginning(line: &str) -> &str {
    line.get(..line.floor_char_boundary(MAX_LINE)).unwrap_or(line)
}
