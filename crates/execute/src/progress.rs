//! What can be seen while a command is under way. It is shown and forgotten, never recorded.

use std::sync::Arc;
use std::time::Duration;

use fixpoint_vocabulary::TaskId;
use fixpoint_vocabulary::usage::Usage;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress<'a> {
    /// The base holds work that is not committed.
    UncommittedWork,
    /// A workspace is being prepared with this command.
    SettingUp(&'a str),
    Checking(&'a str),
    /// The baseline of a check comes from the cache of another task or run.
    CachedBaseline {
        check: &'a str,
        age: Duration,
    },
    AgentStarts,
    /// The last line somebody printed, or what an agent says or does.
    Line(&'a str),
    /// All the agent used in this turn so far.
    Used(Usage),
    /// Something went otherwise than a person would expect, and work goes on.
    Notice(&'a str),
}

pub trait Watcher: std::fmt::Debug + Send + Sync {
    fn see(&self, progress: Progress<'_>);

    /// The one to be shown what is done for a task of several, where that is another.
    fn of(&self, _: &TaskId) -> Option<Arc<dyn Watcher>> {
        None
    }
}

impl Watcher for () {
    fn see(&self, _: Progress<'_>) {}
}

/// Cuts output into lines for a watcher, in bounded memory.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    watcher: &'a dyn Watcher,
    line: Vec<u8>,
}

/// No terminal shows more of a line than this.
const LONGEST: usize = 400;

impl<'a> Lines<'a> {
    pub(crate) fn new(watcher: &'a dyn Watcher) -> Self {
        Self { watcher, line: Vec::new() }
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
            self.watcher.see(Progress::Line(text.trim_end()));
        }
        self.line.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Debug, Default)]
    struct Seen(Mutex<Vec<String>>);

    impl Watcher for Seen {
        fn see(&self, progress: Progress<'_>) {
            if let Progress::Line(line) = progress {
                self.0.lock().unwrap().push(line.to_string());
            }
        }
    }

    #[test]
    fn lines_are_whole_bounded_and_never_empty() {
        let seen = Seen::default();
        let mut lines = Lines::new(&seen);
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
