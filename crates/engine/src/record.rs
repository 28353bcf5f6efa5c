//! What stands in a journal: an opening with everything that is fixed, then each event with its decision.

use fixpoint_decide::task_run::{Decision, TaskOrder};
use fixpoint_vocabulary::work::Event;
use serde::{Deserialize, Serialize};

/// The version of what is written here. A newer one is refused, an older one is read.
pub const FORMAT: u32 = 1;

/// The first record of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    /// The version of the records.
    pub format: u32,
    /// Everything that is fixed about the task.
    pub order: TaskOrder,
}

/// One event with the decision it led to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// What happened.
    pub event: Event,
    /// What follows.
    pub decision: Decision,
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
}

/// Reads an opening.
pub(crate) fn opening(payload: &[u8]) -> Result<Opening, RecordError> {
    /// Only the version, which must be understood before anything else is.
    #[derive(Deserialize)]
    struct Version {
        format: u32,
    }
    let unreadable =
        |error: serde_json::Error| RecordError::Unreadable { number: 0, message: error.to_string() };
    let Version { format } = serde_json::from_slice(payload).map_err(unreadable)?;
    if format > FORMAT {
        return Err(RecordError::Newer { found: format });
    }
    serde_json::from_slice(payload).map_err(unreadable)
}

/// Reads a record that is not the opening.
pub(crate) fn record(number: u64, payload: &[u8]) -> Result<Record, RecordError> {
    serde_json::from_slice(payload)
        .map_err(|error| RecordError::Unreadable { number, message: error.to_string() })
}

/// Reads all records of a journal.
pub(crate) fn read_all<'a>(
    payloads: impl IntoIterator<Item = &'a [u8]>,
) -> Result<(Opening, Vec<Record>), RecordError> {
    let mut payloads = payloads.into_iter();
    let opening = opening(payloads.next().ok_or(RecordError::Empty)?)?;
    let records = (1u64..).zip(payloads).map(|(number, payload)| record(number, payload));
    Ok((opening, records.collect::<Result<Vec<Record>, RecordError>>()?))
}
