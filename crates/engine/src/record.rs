//! What stands in a journal: an opening with everything that is fixed, then each event with its decision.
//!
//! Owns the form. What is larger than a few kilobytes is a blob, and the journal holds its name: the journal stays
//! small enough to be read whole, however much a check has to say.

use std::borrow::Cow;
use std::sync::Arc;

use fixpoint_decide::run::{Decision, Move, RunOrder};
use fixpoint_decide::task_run::Judged;
use fixpoint_ports::{BlobError, Blobs, Journal, Seq};
use fixpoint_vocabulary::Redacted;
use fixpoint_vocabulary::brief::Brief;
use fixpoint_vocabulary::work::{BlobId, Event, ReportedFailure};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{EngineError, legacy};

/// The version of what is written here. A newer one is refused, an older one is read.
pub const FORMAT: u32 = 2;

/// What is larger than this is a blob.
const LARGEST_INLINE: usize = 4096;

/// The first record of a journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    /// The version of the records.
    pub format: u32,
    /// When it was written, in milliseconds since 1970.
    pub at: u64,
    /// Everything that is fixed about the run's tasks.
    pub order: RunOrder,
    /// Everything that is fixed about the run beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brief: Option<Brief>,
}

/// One event with the decision it led to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// When it was written, in milliseconds since 1970.
    pub at: u64,
    /// Milliseconds since the record before, by a clock that does not jump.
    #[serde(default, skip_serializing_if = "is_none")]
    pub elapsed_ms: u64,
    /// What happened.
    pub event: Event,
    /// What follows.
    pub decision: Decision,
}

fn is_none(milliseconds: &u64) -> bool {
    *milliseconds == 0
}

/// The attempts that a decision judged.
fn judged(decision: &mut Decision) -> impl Iterator<Item = &mut Judged> {
    decision.moves.iter_mut().filter_map(|step| {
        if let Move::Task { decision, .. } = step { decision.judged.as_mut() } else { None }
    })
}

impl Record {
    /// As it is written: a failure that the event reports is not told twice.
    fn slim(&self) -> Cow<'_, Self> {
        let mut judged_now = self.decision.of_tasks().filter_map(|(_, decision)| decision.judged.as_ref());
        if judged_now.all(|judged| judged.failures.is_empty()) {
            return Cow::Borrowed(self);
        }
        let reported = self.event.failures();
        let mut slim = self.clone();
        for failure in judged(&mut slim.decision).flat_map(|judged| &mut judged.failures) {
            if reported.iter().any(|known| known == failure) {
                failure.message = Redacted::default();
                failure.place = None;
            }
        }
        Cow::Owned(slim)
    }

    /// As it was before it was written.
    pub(crate) fn whole(mut self) -> Self {
        let reported = self.event.failures();
        for failure in judged(&mut self.decision).flat_map(|judged| &mut judged.failures) {
            let is_same = |known: &&ReportedFailure| {
                known.id() == failure.id() && known.fingerprint() == failure.fingerprint()
            };
            let is_slim = failure.message.as_str().is_empty() && failure.place.is_none();
            if let Some(known) = reported.iter().find(is_same).filter(|_| is_slim) {
                failure.clone_from(known);
            }
        }
        self
    }
}

/// Stands in the journal for a record that is kept as a blob.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Elsewhere {
    blob: BlobId,
}

/// Why a journal's records cannot be taken up.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// There is no opening.
    #[error("the journal is empty: the run never began")]
    Empty,
    /// A newer version wrote it: use that one.
    #[error("the journal was written by a newer version (format {found}, this one reads up to {FORMAT})")]
    Newer {
        /// The format found.
        found: u32,
    },
    /// A record is not what this version, or any older one, writes.
    #[error("record {number} cannot be read: {message}")]
    Unreadable {
        /// Which one, from 0.
        number: u64,
        /// Why not.
        message: String,
    },
    /// A record is kept as a blob that is missing or damaged.
    #[error("record {number} cannot be read: {source}")]
    Blob {
        /// Which one, from 0.
        number: u64,
        /// What is wrong with it.
        source: BlobError,
    },
}

/// Writes records, one durable step each.
#[derive(Debug)]
pub(crate) struct Recorder<J> {
    pub(crate) journal: J,
    pub(crate) blobs: Arc<dyn Blobs>,
    pub(crate) next: Seq,
}

impl<J: Journal> Recorder<J> {
    /// Writes an event with its decision and answers the number they got.
    pub(crate) fn write_record(&mut self, record: &Record) -> Result<Seq, EngineError> {
        self.write(record.slim().as_ref())
    }

    /// Writes anything and answers the number it got.
    pub(crate) fn write(&mut self, record: &impl Serialize) -> Result<Seq, EngineError> {
        let mut payload = serde_json::to_vec(record).map_err(EngineError::Encoding)?;
        if payload.len() > LARGEST_INLINE {
            let blob = self.blobs.put(&payload)?;
            payload = serde_json::to_vec(&Elsewhere { blob }).map_err(EngineError::Encoding)?;
        }
        let at = self.next;
        self.next = self.journal.append(at, &payload)?;
        Ok(at)
    }
}

/// Everything a journal holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// Its first record.
    pub opening: Opening,
    /// The others.
    pub records: Vec<Record>,
}

impl Recorded {
    /// Reads all records of a journal.
    pub fn read<'a>(
        payloads: impl IntoIterator<Item = &'a [u8]>,
        blobs: &dyn Blobs,
    ) -> Result<Self, RecordError> {
        let mut payloads = payloads.into_iter();
        let first = payloads.next().ok_or(RecordError::Empty)?;
        if format_of(first, blobs)? == legacy::FORMAT {
            return legacy::read_all(first, payloads, blobs);
        }
        let records =
            (1u64..).zip(payloads).map(|(number, payload)| read(number, payload, blobs).map(Record::whole));
        let records = records.collect::<Result<Vec<Record>, RecordError>>()?;
        Ok(Self { opening: read(0, first, blobs)?, records })
    }
}

fn format_of(payload: &[u8], blobs: &dyn Blobs) -> Result<u32, RecordError> {
    /// Only the version, which must be understood before anything else is.
    #[derive(Deserialize)]
    struct Version {
        format: u32,
    }
    let Version { format } = read(0, payload, blobs)?;
    if format > FORMAT { Err(RecordError::Newer { found: format }) } else { Ok(format) }
}

pub(crate) fn read<T: DeserializeOwned>(
    number: u64,
    payload: &[u8],
    blobs: &dyn Blobs,
) -> Result<T, RecordError> {
    let unreadable =
        |error: serde_json::Error| RecordError::Unreadable { number, message: error.to_string() };
    if !payload.starts_with(b"{\"blob\":") {
        return serde_json::from_slice(payload).map_err(unreadable);
    }
    let Elsewhere { blob } = serde_json::from_slice(payload).map_err(unreadable)?;
    let content = blobs.get(&blob).map_err(|source| RecordError::Blob { number, source })?;
    serde_json::from_slice(&content).map_err(unreadable)
}
