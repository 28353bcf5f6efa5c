//! `fixpoint logs --follow`: prints output as it comes, until the process of the run ends.
//!
//! Only reads: the run does not notice that somebody follows. Invariant: a line is printed once, whole, and without
//! credentials.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

use fixpoint_journal::JOURNAL_FILE;
use fixpoint_runs::{LoadedRun, RunDirectory};
use fixpoint_vocabulary::{RedactionStream, Redactor};
use serde_json::json;

use super::{Log, finished_logs, require_intact, running_logs};
use crate::app_context::AppContext;
use crate::arguments::LogsArguments;
use crate::environment;
use crate::failure::Failure;
use crate::output::{Form, Output};
use crate::terminal_text::harmless_output;

/// How often files are looked at.
const POLL: Duration = Duration::from_millis(200);
/// The most that is read of a file before the others have their turn.
const BLOCK: u64 = 1 << 20;

/// A log that is being printed.
struct Tail<'a> {
    log: Log,
    /// Stays open while it is read: a finished log may be replaced by one without credentials, of another length.
    file: File,
    /// The beginning of a line whose end has not been printed yet.
    unfinished: Vec<u8>,
    stream: RedactionStream<'a>,
}

struct Follower<'a> {
    arguments: &'a LogsArguments,
    app: &'a AppContext,
    redactor: &'a Redactor,
    tails: Vec<Tail<'a>>,
    /// The logs that were opened.
    seen: BTreeSet<PathBuf>,
    /// The log whose lines were printed last.
    printing: Option<PathBuf>,
}

pub(super) fn follow(
    run: &LoadedRun,
    arguments: &LogsArguments,
    app: &AppContext,
    output: &mut Output,
) -> Result<(), Failure> {
    let models = run.header.spec.as_ref().map(|spec| spec.settings.models.clone()).unwrap_or_default();
    let redactor = environment::redactor(app.environment(), &models);
    let mut follower = Follower {
        arguments,
        app,
        redactor: &redactor,
        tails: Vec::new(),
        seen: BTreeSet::new(),
        printing: None,
    };
    let (mut now, mut recorded) = (run.clone(), None);
    loop {
        // Looked at first: what a process recorded that has ended meanwhile is read all the same.
        let is_running = run.directory.holder().is_some();
        let length = journal_length(&run.directory);
        if length != recorded || !is_running {
            recorded = length;
            now = run.directory.load()?;
        }
        let running = running_logs(&now);
        finished_logs(&now).iter().chain(&running).for_each(|log| follower.open(log));
        follower.print(&running, output)?;
        output.flush();
        if output.is_closed() {
            return Ok(());
        }
        if !is_running {
            follower.finish(output)?;
            now.require_whole()?;
            let logs = finished_logs(&now);
            return require_intact(logs.iter().filter(|log| log.is_wanted(arguments)));
        }
        std::thread::sleep(POLL);
    }
}

fn journal_length(run: &RunDirectory) -> Option<u64> {
    run.path.join(JOURNAL_FILE).metadata().ok().map(|metadata| metadata.len())
}

impl Follower<'_> {
    /// Begins with a log, if it is wanted and was not seen. One that cannot be opened is tried again.
    fn open(&mut self, log: &Log) {
        if !log.is_wanted(self.arguments) || self.seen.contains(&log.path) {
            return;
        }
        if let Ok(file) = File::open(&log.path) {
            self.seen.insert(log.path.clone());
            let stream = RedactionStream::new(self.redactor);
            self.tails.push(Tail { log: log.clone(), file, unfinished: Vec::new(), stream });
        }
    }

    /// Prints what is new; the logs of programs that have ended are closed.
    fn print(&mut self, running: &[Log], output: &mut Output) -> Result<(), Failure> {
        let mut tails = std::mem::take(&mut self.tails);
        for tail in &mut tails {
            let is_running = running.iter().any(|log| log.path == tail.log.path);
            self.print_tail(tail, output)?;
            if !is_running {
                self.print_unfinished(tail, output)?;
            }
        }
        tails.retain(|tail| running.iter().any(|log| log.path == tail.log.path));
        self.tails = tails;
        Ok(())
    }

    fn print_tail(&mut self, tail: &mut Tail<'_>, output: &mut Output) -> Result<(), Failure> {
        let unreadable = |source| Failure::Unreadable { path: tail.log.path.clone(), source };
        loop {
            let read =
                tail.file.by_ref().take(BLOCK).read_to_end(&mut tail.unfinished).map_err(unreadable)?;
            let end = tail.unfinished.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            let rest = tail.unfinished.split_off(end);
            let whole = std::mem::replace(&mut tail.unfinished, rest);
            let text = tail.stream.push_lines(&String::from_utf8_lossy(&whole));
            self.print_lines(&tail.log, &text, output)?;
            if read == 0 || output.is_closed() {
                return Ok(());
            }
        }
    }

    fn print_unfinished(&mut self, tail: &mut Tail<'_>, output: &mut Output) -> Result<(), Failure> {
        let rest = std::mem::take(&mut tail.unfinished);
        let text = tail.stream.push_lines(&String::from_utf8_lossy(&rest)) + &tail.stream.finish();
        self.print_lines(&tail.log, &text, output)
    }

    fn print_lines(&mut self, log: &Log, text: &str, output: &mut Output) -> Result<(), Failure> {
        if text.is_empty() {
            return Ok(());
        }
        if Form::from(self.arguments.target.json) == Form::Json {
            let line = |line: &str| json!({ "task": log.task, "attempt": log.attempt, "of": log.name(), "line": line });
            return text.lines().try_for_each(|text| output.json(&line(text)));
        }
        if self.printing.as_ref() != Some(&log.path) {
            output.line(&log.heading(self.app.lang))?;
            self.printing = Some(log.path.clone());
        }
        output.text(&harmless_output(text.as_bytes()))?;
        if text.ends_with('\n') { Ok(()) } else { output.line("") }
    }

    fn finish(mut self, output: &mut Output) -> Result<(), Failure> {
        for mut tail in std::mem::take(&mut self.tails) {
            self.print_tail(&mut tail, output)?;
            self.print_unfinished(&mut tail, output)?;
        }
        Ok(())
    }
}
