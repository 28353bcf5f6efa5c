//! Recording requests: counts that survive a restart, and a log of every request.
//!
//! Owns both files. Refuses to log times, so that two runs of a script give the same log, and headers, so that no key is
//! logged. Invariant: a request is counted and logged before it is answered.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tempfile::NamedTempFile;

use crate::matching::ReplyCounts;
use crate::question::Protocol;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogLine {
    /// Counted from 1.
    pub seq: u64,
    pub method: String,
    pub path: String,
    /// `None` where the request was not for a model.
    pub protocol: Option<Protocol>,
    pub streaming: bool,
    /// The name of the requested document.
    pub form: Option<String>,
    /// The number of tool results in the conversation.
    pub turn: usize,
    pub rule: Option<String>,
    /// `None` where nothing was answered.
    pub status: Option<u16>,
    /// `null` if there was none, and a text if it was not JSON.
    pub body: Value,
}

/// Counts that survive the process.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Counts {
    pub(crate) requests: u64,
    pub(crate) calls: u64,
    /// Those that no rule matched.
    pub(crate) unmatched: u64,
    pub(crate) by_rule: ReplyCounts,
}

pub(crate) struct Recorder {
    counts: Counts,
    counts_file: Option<PathBuf>,
    log: Option<File>,
}

impl Recorder {
    /// Continues with existing files.
    pub(crate) fn open(counts_file: Option<PathBuf>, log: Option<&Path>) -> io::Result<Self> {
        let counts = match counts_file.as_deref().map(std::fs::read) {
            None => Counts::default(),
            Some(Ok(text)) => serde_json::from_slice(&text)?,
            Some(Err(error)) if error.kind() == io::ErrorKind::NotFound => Counts::default(),
            Some(Err(error)) => return Err(error),
        };
        let log = log.map(|path| OpenOptions::new().create(true).append(true).open(path)).transpose()?;
        Ok(Self { counts, counts_file, log })
    }

    pub(crate) fn counts(&self) -> &Counts {
        &self.counts
    }

    pub(crate) fn next_number(&self) -> u64 {
        self.counts.requests.saturating_add(1)
    }

    pub(crate) fn add(&mut self, line: &LogLine, counts: Counts) -> io::Result<()> {
        if let Some(file) = &self.counts_file {
            replace(file, &serde_json::to_vec(&counts)?)?;
        }
        self.counts = counts;
        if let Some(log) = &mut self.log {
            // One write, so that a concurrent reader sees complete lines.
            let mut text = serde_json::to_vec(line)?;
            text.push(b'\n');
            log.write_all(&text)?;
        }
        Ok(())
    }
}

/// Atomic: a process that is killed leaves the old file or the new one.
fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = NamedTempFile::new_in(directory)?;
    file.write_all(content)?;
    file.persist(path)?;
    Ok(())
}
