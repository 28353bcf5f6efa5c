//! JavaScript's errors, wherever they are printed: name, message, differences, code frame, stack.
//!
//! Owns how an error looks; its readers own where it begins and ends. Of a difference only the expected side is kept
//! with its numbers. Of the stack the first frame of the project counts.

use super::place;
use crate::collector::append;
use crate::fingerprint::FingerprintParts;
use crate::report::Kind;
use crate::search::Search;

/// Lines of a message in its signature.
const SIGNATURE_LINES: usize = 24;

/// Which lines of a diff show the expected value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Difference {
    #[default]
    None,
    MinusExpected,
    PlusExpected,
}

/// One error, read line by line.
#[derive(Debug, Default)]
pub(crate) struct Thrown {
    message: String,
    signature: String,
    /// The expected value, and the source line that failed.
    source: String,
    difference: Difference,
    lines: usize,
    file: Option<(String, u32)>,
    /// A line of a code frame, in case a caret points at it.
    framed: String,
    has_frame: bool,
    in_stack: bool,
}

impl Thrown {
    pub(crate) fn line(&mut self, line: &str) {
        let trimmed = line.trim();
        if self.code_frame(trimmed) || self.stack(trimmed) {
            return;
        }
        if self.in_stack {
            // Behind a stack come properties of the error, which repeat what is known.
            return;
        }
        if self.message.is_empty() && trimmed.is_empty() {
            return;
        }
        append(&mut self.message, line.trim_end());
        if trimmed.is_empty() || self.lines >= SIGNATURE_LINES {
            return;
        }
        self.lines += 1;
        self.difference = match trimmed {
            "+ actual - expected" | "- Expected" => Difference::MinusExpected,
            "+ expected - actual" | "Difference (- actual, + expected):" => Difference::PlusExpected,
            _ if trimmed.starts_with("- Expected") => Difference::MinusExpected,
            _ => self.difference,
        };
        if trimmed.starts_with("+ Received") || trimmed.starts_with("- Expected") {
            return;
        }
        match (self.difference, trimmed.get(..1)) {
            (Difference::MinusExpected, Some("-")) | (Difference::PlusExpected, Some("+")) => {
                append(&mut self.source, trimmed);
            }
            (Difference::MinusExpected, Some("+")) | (Difference::PlusExpected, Some("-")) => {}
            (Difference::None | Difference::MinusExpected | Difference::PlusExpected, _) => {
                append(&mut self.signature, trimmed);
            }
        }
    }

    /// `> 9 |     expect(x)` in Jest; `10|     expect(x)` above a caret in Vitest. Whether the line is part of a frame.
    fn code_frame(&mut self, trimmed: &str) -> bool {
        let (marked, rest) = match trimmed.strip_prefix("> ") {
            Some(rest) => (true, rest.trim_start()),
            None => (false, trimmed),
        };
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let Some(source) = rest.get(digits..).and_then(|rest| rest.trim_start().strip_prefix('|')) else {
            return false;
        };
        let is_caret = digits == 0 && source.trim_start().starts_with('^');
        if digits == 0 && !is_caret {
            return false;
        }
        if marked && !self.has_frame {
            self.pin(source);
        } else if is_caret && !self.has_frame {
            let framed = std::mem::take(&mut self.framed);
            self.pin(&framed);
        } else if digits > 0 {
            self.framed = source.trim().to_string();
        }
        true
    }

    fn pin(&mut self, source: &str) {
        self.has_frame = true;
        append(&mut self.source, source.trim());
    }

    /// Whether the line is a stack frame.
    fn stack(&mut self, trimmed: &str) -> bool {
        let frame = trimmed.strip_prefix("at ").or_else(|| trimmed.strip_prefix("❯ "));
        let Some(frame) = frame else { return false };
        let location = match frame.rsplit_once('(') {
            Some((_, inside)) => inside.trim_end_matches([')', '{', ' ']),
            None => frame.split_whitespace().next_back().unwrap_or(frame),
        };
        let Some((file, line, _)) = place(location) else {
            return self.in_stack || frame.has("<anonymous>");
        };
        self.in_stack = true;
        let is_foreign = file.has("node_modules/")
            || ["node:", "internal/", "ext:", "https://"].iter().any(|start| file.starts_with(start));
        // The same shape of stack is Java's, where the first frames are the assertion's own.
        let libraries =
            ["org.junit.", "junit.", "org.opentest4j.", "org.assertj.", "org.hamcrest.", "java.", "jdk."];
        let is_foreign = is_foreign || libraries.iter().any(|library| frame.starts_with(library));
        if self.file.is_none() && !is_foreign {
            self.file = Some((file.to_string(), line));
        }
        true
    }

    /// Whether the stack was read, which ends the error.
    pub(crate) fn is_over(&self) -> bool {
        self.in_stack
    }

    /// Whether the message begins so.
    pub(crate) fn says(&self, start: &str) -> bool {
        self.message.trim_start().starts_with(start)
    }

    /// Whether the source line that failed is known.
    pub(crate) fn has_frame(&self) -> bool {
        self.has_frame
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.message.trim().is_empty()
    }

    pub(crate) fn kind(&self) -> Kind {
        // Some reporters print the bare message above the error itself.
        let lines = self.message.lines().map(str::trim).take(SIGNATURE_LINES);
        // Node wraps what was thrown into an error of its own.
        let lines = lines
            .map(|line| line.trim_start_matches("cause: "))
            .filter(|line| !line.has("[ERR_TEST_FAILURE]"));
        lines.map(kind_of).find(|kind| *kind != Kind::Error).unwrap_or(Kind::Error)
    }

    pub(crate) fn describe(self, draft: &mut FingerprintParts) {
        draft.message = self.message.trim().to_string();
        // With the failing line at hand the first words suffice; what was seen may come in any shape.
        draft.signature = match self.has_frame {
            true => self
                .signature
                .lines()
                .take(1)
                .chain(self.signature.lines().skip(1).filter(|line| line.starts_with("Expected")))
                .collect::<Vec<_>>()
                .join("\n"),
            false => self.signature,
        };
        draft.source = self.source;
        if let Some((file, line)) = self.file {
            draft.file = Some(file);
            draft.line = Some(line);
        }
    }
}

pub(crate) fn kind_of(first: &str) -> Kind {
    let lower = first.to_ascii_lowercase();
    let timeouts = ["test timed out", "exceeded timeout", "timeout of ", "timed out after", "timed out in"];
    if timeouts.iter().any(|words| lower.contains(words)) {
        return Kind::Timeout;
    }
    if first.starts_with("expect(") || first.starts_with("AssertionError") {
        return Kind::Assertion;
    }
    let name_length = first.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let (name, rest) = first.split_at_checked(name_length).unwrap_or((first, ""));
    let is_name = name.starts_with(|c: char| c.is_ascii_uppercase())
        && (name.ends_with("Error") || name.ends_with("Exception"))
        && (rest.is_empty() || rest.starts_with(':') || rest.starts_with(" ["));
    if is_name { Kind::Exception(name.to_string()) } else { Kind::Error }
}
