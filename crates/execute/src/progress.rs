//! What is shown while a command runs. It is never recorded.

use std::sync::Arc;
use std::time::Duration;

use fixpoint_vocabulary::usage::Usage;
use fixpoint_vocabulary::{Redactor, TaskId, Text};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress<'a> {
    /// The base contains uncommitted changes.
    UncommittedWork,
    /// These submodules are empty in workspaces.
    SubmodulesLeftOut(&'a str),
    /// These untracked repositories are not part of the base.
    NestedRepositoriesLeftOut(&'a str),
    /// This set-up command runs.
    SettingUp(&'a str),
    /// This check runs.
    Checking(&'a str),
    /// The baseline of a check comes from the cache of another task or run.
    CachedBaseline {
        check: &'a str,
        age: Duration,
    },
    AgentStarts,
    /// The last line a program printed, or what an agent says or does.
    Line(&'a str),
    /// All the agent used in this turn so far.
    Usage(Usage),
    /// Something unexpected happened, and work goes on.
    Notice(&'a Text),
    /// A notice of the agent itself, in its own words.
    AgentNotice(&'a str),
}

pub trait ProgressListener: std::fmt::Debug + Send + Sync {
    fn report(&self, progress: Progress<'_>);

    /// The listener for one of several tasks, where it has its own.
    fn for_task(&self, _: &TaskId) -> Option<Arc<dyn ProgressListener>> {
        None
    }
}

/// Shows nothing.
impl ProgressListener for () {
    fn report(&self, _: Progress<'_>) {}
}

/// Splits output into lines for a listener, without credentials and in bounded memory.
#[derive(Debug)]
pub(crate) struct LineSplitter<'a> {
    listener: &'a dyn ProgressListener,
    redactor: &'a Redactor,
    line: Vec<u8>,
}

/// No terminal shows more of a line than this.
const LONGEST: usize = 400;

impl<'a> LineSplitter<'a> {
    pub(crate) fn new(listener: &'a dyn ProgressListener, redactor: &'a Redactor) -> Self {
        Self { listener, redactor, line: Vec::new() }
    }

    /// Takes a piece of output. Of the lines that end in it only the last is shown: a program may print faster than
    /// anybody reads.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let (ended, rest) = match bytes.iter().rposition(is_end) {
            Some(end) => (bytes.get(..end), bytes.get(end + 1..).unwrap_or_default()),
            None => (None, bytes),
        };
        if let Some(ended) = ended {
            let mut pieces = ended.rsplit(is_end);
            let last = pieces.next().unwrap_or_default();
            if pieces.next().is_some() {
                self.line.clear();
            }
            self.add(last);
            self.show();
        }
        self.add(rest);
    }

    fn add(&mut self, bytes: &[u8]) {
        let room = LONGEST.saturating_sub(self.line.len());
        self.line.extend(bytes.iter().take(room));
    }

    fn show(&mut self) {
        let text = String::from_utf8_lossy(&self.line);
        if !text.trim().is_empty() {
            self.listener.report(Progress::Line(self.redactor.redact(text.trim_end()).as_str()));
        }
        self.line.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Debug, Default)]
    struct ShownLines(Mutex<Vec<String>>);

    impl ProgressListener for ShownLines {
        fn report(&self, progress: Progress<'_>) {
            if let Progress::Line(line) = progress {
                self.0.lock().unwrap().push(line.to_string());
            }
        }
    }

    #[test]
    fn lines_are_whole_bounded_and_never_empty() {
        let seen = ShownLines::default();
        let redactor = Redactor::default();
        let mut lines = LineSplitter::new(&seen, &redactor);
        lines.push(b"zero\none\ntw");
        lines.push(b"o\r");
        lines.push(b"\n\n  \nthree\r");
        lines.push(&[b'x'; 10_000]);
        lines.push(b"\nunfinished");
        let seen = seen.0.lock().unwrap();
        assert_eq!(seen.iter().map(String::len).collect::<Vec<_>>(), [3, 3, 5, LONGEST]);
        assert_eq!(seen[..3], ["one", "two", "three"]);
    }
}
