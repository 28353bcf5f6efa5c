//! What a journal holds: a header with everything that is fixed, then each event with its decision.
//!
//! Owns the format. A record larger than a few kilobytes is stored as a blob, and the journal holds its name: the journal
//! stays small enough to be read whole, however much a check prints.

use std::borrow::Cow;
use std::sync::Arc;

use fixpoint_decide::run::{Change, Decision, RunOptions, TaskChange};
use fixpoint_decide::task_run::JudgedAttempt;
use fixpoint_ports::{Blobs, Journal, Seq};
use fixpoint_vocabulary::Redacted;
use fixpoint_vocabulary::run_spec::RunSpec;
use fixpoint_vocabulary::work::{BlobId, Event, ReportedFailure};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::EngineError;

/// The version of what is written here. Others are refused.
pub const FORMAT: u32 = 3;

/// What is larger than this is a blob.
const LARGEST_INLINE: usize = 4096;

/// The first record of a journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JournalHeader {
    pub format: u32,
    /// When it was written, in milliseconds since 1970.
    pub at: u64,
    /// Everything that is fixed about the run's tasks.
    #[serde(rename = "order")]
    pub options: RunOptions,
    /// Everything that is fixed about the run beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<RunSpec>,
}

/// One event with the decision it led to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// When it was written, in milliseconds since 1970.
    pub at: u64,
    /// Milliseconds since the record before, by a clock that does not jump.
    #[serde(default, skip_serializing_if = "is_none")]
    pub elapsed_ms: u64,
    pub event: Event,
    pub decision: Decision,
}

fn is_none(milliseconds: &u64) -> bool {
    *milliseconds == 0
}

/// The attempts that a decision judged.
fn judged(decision: &mut Decision) -> impl Iterator<Item = &mut JudgedAttempt> {
    decision.changes.iter_mut().filter_map(|change| {
        if let Change::Task(TaskChange::Decided { decision, .. }) = change {
            decision.judged.as_mut()
        } else {
            None
        }
    })
}

impl Record {
    /// As it is written: a failure that the event reports is not told twice.
    fn slim(&self) -> Cow<'_, Self> {
        let mut judged_now =
            self.decision.task_decisions().filter_map(|(_, decision)| decision.judged.as_ref());
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

/// Stands in the journal for a record that is stored as a blob.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BlobRef {
    blob: BlobId,
}

/// Why a journal's records cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// There is no header: the run never began.
    #[error("the journal is empty: the run never began")]
    Empty,
    /// Another version wrote it: use that one.
    #[error(
        "the journal was written by another version of Fixpoint (format {found}, this one reads {FORMAT})"
    )]
    OtherFormat { found: u32 },
    /// A record is not what this version writes, or is stored as a blob that is missing or damaged.
    #[error("record {number} cannot be read: {message}")]
    Unreadable {
        /// Which one, from 0.
        number: u64,
        message: String,
    },
}

/// Writes records, one durable batch at a time.
#[derive(Debug)]
pub(crate) struct RecordWriter<J> {
    pub(crate) journal: J,
    pub(crate) blobs: Arc<dyn Blobs>,
    pub(crate) next: Seq,
}

impl<J: Journal> RecordWriter<J> {
    pub(crate) fn write_header(&mut self, header: &JournalHeader) -> Result<(), EngineError> {
        let payload = self.payload(encode(header)?)?;
        self.append(&[payload])
    }

    pub(crate) fn write_records(&mut self, records: &[Record]) -> Result<(), EngineError> {
        let payloads: Result<Vec<Vec<u8>>, EngineError> =
            records.iter().map(|record| self.payload(encode(record.slim().as_ref())?)).collect();
        self.append(&payloads?)
    }

    /// What goes into the journal: the record, or the name of the blob that holds it.
    fn payload(&self, record: Vec<u8>) -> Result<Vec<u8>, EngineError> {
        if record.len() <= LARGEST_INLINE {
            return Ok(record);
        }
        encode(&BlobRef { blob: self.blobs.put(&record)? })
    }

    fn append(&mut self, payloads: &[Vec<u8>]) -> Result<(), EngineError> {
        if !payloads.is_empty() {
            let payloads: Vec<&[u8]> = payloads.iter().map(Vec::as_slice).collect();
            self.next = self.journal.append_all(self.next, &payloads)?;
        }
        Ok(())
    }
}

fn encode(record: &impl Serialize) -> Result<Vec<u8>, EngineError> {
    serde_json::to_vec(record)
        .map_err(|error| EngineError::Defect(format!("cannot encode a record: {error}")))
}

#[derive(Debug, Clone, PartialEq)]
pub struct RecordedRun {
    pub header: JournalHeader,
    pub records: Vec<Record>,
}

impl RecordedRun {
    /// Reads all records of a journal.
    pub fn read<'a>(
        payloads: impl IntoIterator<Item = &'a [u8]>,
        blobs: &dyn Blobs,
    ) -> Result<Self, RecordError> {
        match Self::read_intact(payloads, blobs)? {
            (recorded, None) => Ok(recorded),
            (_, Some(error)) => Err(error),
        }
    }

    /// Reads the records before the first one that cannot be read, and why it cannot. Fails if that is the header.
    pub fn read_intact<'a>(
        payloads: impl IntoIterator<Item = &'a [u8]>,
        blobs: &dyn Blobs,
    ) -> Result<(Self, Option<RecordError>), RecordError> {
        let mut payloads = (0u64..).zip(payloads);
        let (number, first) = payloads.next().ok_or(RecordError::Empty)?;
        let first = whole_payload(number, first, blobs)?;
        let Version { format } = decode(number, &first)?;
        if format != FORMAT {
            return Err(RecordError::OtherFormat { found: format });
        }
        let header = decode(number, &first)?;
        let read = |(number, payload)| {
            let payload = whole_payload(number, payload, blobs)?;
            decode::<Record>(number, &payload).map(Record::whole)
        };
        let mut error = None;
        let intact = payloads.map(read).map_while(|read| read.map_err(|found| error = Some(found)).ok());
        let records = intact.collect();
        Ok((Self { header, records }, error))
    }
}

/// Only the version, which must be understood before anything else is.
#[derive(Deserialize)]
struct Version {
    format: u32,
}

/// A record as it was encoded, wherever it is stored.
fn whole_payload<'a>(
    number: u64,
    payload: &'a [u8],
    blobs: &dyn Blobs,
) -> Result<Cow<'a, [u8]>, RecordError> {
    if !payload.starts_with(b"{\"blob\":") {
        return Ok(Cow::Borrowed(payload));
    }
    let BlobRef { blob } = decode(number, payload)?;
    let content = blobs.get(&blob);
    content.map(Cow::Owned).map_err(|error| RecordError::Unreadable { number, message: error.to_string() })
}

fn decode<T: DeserializeOwned>(number: u64, payload: &[u8]) -> Result<T, RecordError> {
    let unreadable =
        |error: serde_json::Error| RecordError::Unreadable { number, message: error.to_string() };
    serde_json::from_slice(payload).map_err(unreadable)
}
