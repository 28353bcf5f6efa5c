//! Python's tracebacks and exceptions, wherever they are printed.
//!
//! Owns frames, their source lines, and the exception at the end. Of the frames the last one of the project counts:
//! where a library gave up says less than where the project called it.

use super::{Read, Step};
use crate::collector::{Collector, append};
use crate::fingerprint::FingerprintParts;
use crate::report::{Kind, Runner};
use crate::search::Search;

const MAX_FRAMES: usize = 64;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) source: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Traceback {
    pub(crate) frames: Vec<Frame>,
    /// `Type: message`, and the lines that follow it.
    pub(crate) raised: String,
}

impl Traceback {
    pub(crate) fn frame(&mut self, file: &str, line: u32, source: &str) {
        if self.frames.len() >= MAX_FRAMES {
            // The innermost frames are the ones that matter.
            self.frames.remove(0);
        }
        self.frames.push(Frame { file: file.to_string(), line, source: source.trim().to_string() });
    }

    /// Adds a line of a traceback as the interpreter prints it.
    pub(crate) fn line(&mut self, line: &str) {
        let trimmed = line.trim();
        let is_marker = trimmed.starts_with("During handling of the above exception")
            || trimmed.starts_with("The above exception was the direct cause");
        if trimmed == "Traceback (most recent call last):" || is_marker {
            *self = Self::default();
        } else if let Some((file, number)) = frame(line) {
            self.frame(file, number, "");
        } else if line.starts_with([' ', '\t']) && self.raised.is_empty() {
            let is_underline =
                !trimmed.is_empty() && trimmed.bytes().all(|byte| matches!(byte, b'^' | b'~' | b' '));
            if let Some(last) = self.frames.last_mut()
                && last.source.is_empty()
                && !is_underline
            {
                last.source = trimmed.to_string();
            }
        } else if !trimmed.is_empty() || !self.raised.is_empty() {
            append(&mut self.raised, line.trim_end());
        }
    }

    /// The frame that explains the failure best.
    pub(crate) fn culprit(&self) -> Option<&Frame> {
        self.frames.iter().rev().find(|frame| !is_foreign(&frame.file)).or(self.frames.last())
    }

    pub(crate) fn kind(&self) -> Kind {
        kind_of(self.raised.lines().next().unwrap_or_default())
    }

    pub(crate) fn describe(&self, draft: &mut FingerprintParts) {
        draft.message = self.raised.trim().to_string();
        draft.signature = self.raised.lines().next().unwrap_or_default().to_string();
        if let Some(frame) = self.culprit() {
            draft.source.clone_from(&frame.source);
            draft.file = Some(frame.file.clone());
            draft.line = Some(frame.line);
        }
    }
}

/// `  File "x.py", line 12, in f`
pub(crate) fn frame(line: &str) -> Option<(&str, u32)> {
    let rest = line.trim_start().strip_prefix("File \"")?;
    let (file, rest) = rest.cut("\", line ")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    Some((file, rest.get(..digits)?.parse().ok()?))
}

/// Whether a file belongs to Python or to an installed package.
pub(crate) fn is_foreign(file: &str) -> bool {
    file.starts_with('<')
        || ["/site-packages/", "/dist-packages/", "/lib/python", "/lib64/python", "\\Lib\\"]
            .iter()
            .any(|part| file.contains(part))
}

pub(crate) fn kind_of(raised: &str) -> Kind {
    let end = raised.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.'))).unwrap_or(raised.len());
    let (name, rest) = raised.split_at_checked(end).unwrap_or((raised, ""));
    let name = name.rsplit('.').next().unwrap_or(name);
    let is_name = !name.is_empty() && (rest.is_empty() || rest.starts_with(':'));
    match name {
        "AssertionError" | "assert" => Kind::Assertion,
        "Failed" if rest.to_ascii_lowercase().has("timeout") => Kind::Timeout,
        "Failed" | "DID" => Kind::Assertion,
        "SyntaxError" | "IndentationError" | "TabError" | "ModuleNotFoundError" | "ImportError"
            if is_name =>
        {
            Kind::Compile
        }
        name if is_name => Kind::Exception(name.to_string()),
        _ => Kind::Error,
    }
}

/// An exception of a program that is not a test.
#[derive(Debug, Default)]
pub(crate) struct Stray {
    traceback: Traceback,
}

impl Read for Stray {
    fn line(&mut self, line: &str, out: &mut Collector) -> Step {
        let ended = !self.traceback.raised.is_empty();
        if ended {
            self.finish(out);
            return Step::Refused;
        }
        self.traceback.line(line);
        Step::Taken
    }

    fn finish(&mut self, out: &mut Collector) {
        let traceback = std::mem::take(&mut self.traceback);
        if traceback.raised.is_empty() {
            return;
        }
        let mut draft = FingerprintParts::new(Runner::Generic, traceback.kind());
        traceback.describe(&mut draft);
        out.suspect(draft);
    }
}
