//! Writes the files about a run next to its journal while it goes on.
//!
//! All files can be made again from the journal. Invariants: a record changes only the files of its tasks; files are
//! replaced as a whole, and only if their content changes; the planning history only grows, and an incomplete last line is
//! removed before the next one is written.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use fixpoint_decide::run::TaskSource;
use fixpoint_engine::Record;
use fixpoint_vocabulary::{Lang, TaskId};

use crate::artifacts::{DIAGNOSIS, files};
use crate::directory::RunDirectory;
use crate::error::RunError;
use crate::planning_history::planning_lines;
use crate::view::{RunView, TaskView};

/// Writes the files about one run.
#[derive(Debug)]
pub struct ArtifactWriter {
    directory: RunDirectory,
    lang: Lang,
    planning_history: LineFile,
    files_written: u64,
}

impl ArtifactWriter {
    /// For a run of which nothing is written yet.
    pub fn new(directory: &RunDirectory, lang: Lang) -> Self {
        let planning_history = LineFile::new(directory.planning_history());
        Self { directory: directory.clone(), lang, planning_history, files_written: 0 }
    }

    /// How many files were written so far; one written again counts again.
    pub const fn files_written(&self) -> u64 {
        self.files_written
    }

    /// Notes a record that an earlier process wrote; `view` is the run after it. [`Self::catch_up`] follows.
    pub fn note(&mut self, record: &Record, view: RunView<'_>) {
        self.planning_history.pending.extend(self.lines(record, view));
    }

    /// Writes what is missing or differs after the noted records: an earlier process may have died between a record and
    /// the files about it.
    pub fn catch_up(&mut self, view: RunView<'_>) -> Result<(), RunError> {
        let has_files = |task: &TaskView<'_>| !task.history.iterations.is_empty() || task.cause().is_some();
        view.tasks().filter(has_files).try_for_each(|task| self.write_task(view, task))?;
        self.planning_history.repair()
    }

    /// Writes what a record changes; `view` is the run after it, `changed` what [`crate::RunHistory::add`] answered.
    pub fn record(
        &mut self,
        record: &Record,
        view: RunView<'_>,
        changed: &BTreeSet<TaskId>,
    ) -> Result<(), RunError> {
        let mut written = Ok(());
        for task in changed.iter().filter_map(|id| view.task(id)) {
            written = written.and(self.write_task(view, task));
        }
        let lines = self.lines(record, view);
        written.and(self.planning_history.append(&lines))
    }

    /// Only a run with a plan has a planning history.
    fn lines(&self, record: &Record, view: RunView<'_>) -> Vec<u8> {
        let mut text = Vec::new();
        match view.run.options().tasks {
            TaskSource::Given(_) => {}
            TaskSource::Planned(_) => {
                for line in planning_lines(record, view, self.lang) {
                    text.extend(serde_json::to_vec(&line).unwrap_or_default());
                    text.push(b'\n');
                }
            }
        }
        text
    }

    fn write_task(&mut self, view: RunView<'_>, task: TaskView<'_>) -> Result<(), RunError> {
        let files = files(&self.directory.id.0, view.run, task, self.lang);
        let context = self.directory.context(task.id().as_str());
        self.write_all(&context, &files)?;
        // A task that failed before and was started again must not seem to have failed now.
        for name in DIAGNOSIS.iter().filter(|name| !files.iter().any(|(written, _)| written == *name)) {
            remove(&context.join(name))?;
        }
        match task.history.iterations.last() {
            Some(last) => self.write_all(&context.join("iterations").join(last.number.to_string()), &files),
            None => Ok(()),
        }
    }

    fn write_all(&mut self, directory: &Path, files: &[(&'static str, Vec<u8>)]) -> Result<(), RunError> {
        fs::create_dir_all(directory).map_err(|error| RunError::io(directory, &error))?;
        for (name, content) in files {
            let path = directory.join(name);
            if fs::read(&path).is_ok_and(|written| written == *content) {
                continue;
            }
            replace(&path, content)?;
            self.files_written += 1;
        }
        Ok(())
    }
}

/// Replaces a file as a whole.
fn replace(path: &Path, content: &[u8]) -> Result<(), RunError> {
    let failed = |error: std::io::Error| RunError::io(path, &error);
    let mut unfinished = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(path)).map_err(failed)?;
    unfinished.write_all(content).map_err(failed)?;
    unfinished.persist(path).map(drop).map_err(|error| failed(error.error))
}

fn remove(path: &Path) -> Result<(), RunError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(RunError::io(path, &error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// A file that whole lines are appended to.
#[derive(Debug)]
struct LineFile {
    path: PathBuf,
    file: Option<File>,
    /// The length of what is known to be written whole; whatever follows it is cut off before the next line.
    length: u64,
    /// Lines that could not be written yet.
    pending: Vec<u8>,
}

impl LineFile {
    const fn new(path: PathBuf) -> Self {
        Self { path, file: None, length: 0, pending: Vec::new() }
    }

    /// Makes the file say what is pending and nothing else, writing only what is missing where that is possible.
    fn repair(&mut self) -> Result<(), RunError> {
        let present = match fs::read(&self.path) {
            Ok(present) => present,
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(RunError::io(&self.path, &error)),
        };
        let same =
            self.pending.iter().zip(&present).take_while(|(expected, found)| expected == found).count();
        let is_whole = same == present.len() && same == self.pending.len();
        self.pending.drain(..same);
        self.length = same as u64;
        if is_whole { Ok(()) } else { self.write_pending() }
    }

    fn append(&mut self, lines: &[u8]) -> Result<(), RunError> {
        self.pending.extend(lines);
        if self.pending.is_empty() { Ok(()) } else { self.write_pending() }
    }

    /// A file that could not be written is opened anew the next time, and what was written of it is cut off then.
    fn write_pending(&mut self) -> Result<(), RunError> {
        let failed = |error: std::io::Error| RunError::io(&self.path, &error);
        let mut file = match self.file.take() {
            Some(file) => file,
            None => {
                fs::create_dir_all(self.path.parent().unwrap_or(&self.path)).map_err(failed)?;
                let file = OpenOptions::new().append(true).create(true).open(&self.path).map_err(failed)?;
                file.set_len(self.length).map_err(failed)?;
                file
            }
        };
        file.write_all(&self.pending).map_err(failed)?;
        self.file = Some(file);
        self.length += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }
}
