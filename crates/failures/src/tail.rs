//! The last lines of an output.
//!
//! Owns the failure of a command whose output contains no readable one, and the lines before those by which a reader is
//! recognised. Keeps a fixed number of lines of limited length.

use crate::collector::append;
use crate::fingerprint::FingerprintParts;
use crate::general::complains;
use crate::report::{Kind, Runner};

const LINES: usize = 32;
/// Bytes of each line.
const MAX_LINE: usize = 1024;
/// Lines in the signature of an unexplained failure.
const SIGNATURE_LINES: usize = 10;

/// A ring buffer.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    lines: Vec<String>,
    next: usize,
}

impl Tail {
    pub(crate) fn add(&mut self, line: &str) {
        let line = line.get(..line.floor_char_boundary(MAX_LINE)).unwrap_or(line);
        match self.lines.get_mut(self.next) {
            Some(slot) => {
                slot.clear();
                slot.push_str(line);
            }
            None => self.lines.push(line.to_string()),
        }
        self.next = (self.next + 1) % LINES;
    }

    pub(crate) fn latest_first(&self) -> impl Iterator<Item = &str> {
        let count = self.lines.len();
        let newest = self.next + count;
        (1..=count).filter_map(move |back| self.lines.get((newest - back) % count.max(1)).map(String::as_str))
    }

    /// The failure of a command whose output contains no readable one.
    pub(crate) fn into_draft(self, exit_code: Option<i32>) -> FingerprintParts {
        let said: Vec<&str> = self.latest_first().filter(|line| !line.trim().is_empty()).collect();
        let mut complaints: Vec<&str> = said.iter().copied().filter(|line| complains(line)).collect();
        if complaints.is_empty() {
            complaints.clone_from(&said);
        }
        complaints.truncate(SIGNATURE_LINES);
        // The order in which processes happened to write is not part of what went wrong.
        complaints.sort_unstable();
        complaints.dedup();
        let mut message = String::new();
        for line in said.iter().take(SIGNATURE_LINES).rev() {
            append(&mut message, line);
        }
        let kind = kind_of(exit_code);
        if message.is_empty() {
            message = match exit_code {
                Some(code) => format!("exit code {code}, no output"),
                None => "no output".to_string(),
            };
        }
        let mut draft = FingerprintParts::new(Runner::Generic, kind).message(message);
        draft.signature = complaints.join("\n");
        draft
    }
}

/// What an exit code means by itself: shells use 128 plus the number of the signal.
fn kind_of(exit_code: Option<i32>) -> Kind {
    match exit_code {
        Some(124) => Kind::Timeout,
        Some(132 | 133 | 134 | 135 | 136 | 137 | 139) => Kind::Crash,
        Some(code) if code < 0 => Kind::Crash,
        Some(code) => Kind::Exit(code),
        None => Kind::Error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept_latest_first() {
        let mut tail = Tail::default();
        assert_eq!(tail.latest_first().count(), 0);
        for number in 0..100 {
            tail.add(&number.to_string());
        }
        let lines: Vec<String> = tail.latest_first().map(str::to_string).collect();
        let expected: Vec<String> = (68..100).rev().map(|number| number.to_string()).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn complaints_outweigh_chatter() {
        let mut tail = Tail::default();
        for line in ["step 1", "error: no disk", "step 2"] {
            tail.add(line);
        }
        let draft = tail.into_draft(Some(3));
        assert_eq!((draft.kind, draft.signature.as_str()), (Kind::Exit(3), "error: no disk"));
        assert_eq!(draft.message, "step 1\nerror: no disk\nstep 2");
    }
}
