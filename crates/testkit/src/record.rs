//! What was asked so far: counts that a restart can take up, and a log of every request.
//!
//! Owns both files. Refuses times, so that two runs of a script leave the same log, and headers, so that no key gets
//! into it. Invariant: a request is counted and logged before it is answered.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tempfile::NamedTempFile;

use crate::asked::Protocol;
use crate::play::Played;

/// One request, as it is logged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogLine {
    /// Its number, from 1.
    pub seq: u64,
    /// `GET`, `POST` and so on.
    pub method: String,
    /// The path asked for.
    pub path: String,
    /// The protocol; absent where no model was asked.
    pub protocol: Option<Protocol>,
    /// Whether the answer was wanted as a stream.
    pub streaming: bool,
    /// The document asked for.
    pub form: Option<String>,
    /// The tool results in the conversation.
    pub turn: usize,
    /// The rule that answers.
    pub rule: Option<String>,
    /// The status of the answer; absent where there is none.
    pub status: Option<u16>,
    /// The body, `null` if there was none, and a text if it was no JSON.
    pub body: Value,
}

/// Numbers that outlive the process.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Counts {
    /// Requests of any kind.
    pub(crate) requests: u64,
    /// Questions to a model.
    pub(crate) calls: u64,
    /// Those of them that no rule was made for.
    pub(crate) unmatched: u64,
    /// Replies played, by rule.
    pub(crate) by_rule: Played,
}

/// The two files.
pub(crate) struct Record {
    counts: Counts,
    counts_file: Option<PathBuf>,
    log: Option<File>,
}

impl Record {
    /// Takes up what is there.
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

    /// The numbers so far.
    pub(crate) fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The number of the request that is being answered.
    pub(crate) fn next_number(&self) -> u64 {
        self.counts.requests.saturating_add(1)
    }

    /// Takes a request down in both files.
    pub(crate) fn add(&mut self, line: &LogLine, counts: Counts) -> io::Result<()> {
        if let Some(file) = &self.counts_file {
            replace(file, &serde_json::to_vec(&counts)?)?;
        }
        self.counts = counts;
        if let Some(log) = &mut self.log {
            // One write, so that whoever reads meanwhile sees whole lines.
            let mut text = serde_json::to_vec(line)?;
            text.push(b'\n');
            log.write_all(&text)?;
        }
        Ok(())
    }
}

/// Whoever is killed in the middle leaves the old file or the new one.
fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = NamedTempFile::new_in(directory)?;
    file.write_all(content)?;
    file.persist(path)?;
    Ok(())
}
