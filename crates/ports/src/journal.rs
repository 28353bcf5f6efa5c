//! The run's durable record. State is the fold of it and nothing else.

/// The number of records in a journal; the next record gets this number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Seq(pub u64);

impl core::fmt::Display for Seq {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl Seq {
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// Why a record was not written. After any of these nothing may be done that the record was to permit.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Another writer has gone on; this one must stop.
    #[error(
        "another process has taken over this run: record {expected} was to be written here, and the journal is at {actual}"
    )]
    Fenced {
        /// What this writer expected to write.
        expected: Seq,
        actual: Seq,
    },
    /// The disk is full: make space and resume.
    #[error("no space left to write the journal: {0}")]
    NoSpace(std::io::Error),
    /// The record is larger than any record may be.
    #[error("a record of {bytes} bytes is larger than the {limit} allowed")]
    TooLarge { bytes: usize, limit: usize },
    /// Anything else the disk says; resume when it is mended.
    #[error("cannot write the journal: {0}")]
    Unwritable(std::io::Error),
}

/// An append-only record that survives a crash at any instant.
pub trait Journal: Send {
    /// Appends records as one durable step: when this returns, all of them are on the disk; if it does not return, a
    /// part of them may be there, in order and each of them whole. Answers the number the next record will have.
    fn append_all(&mut self, expected: Seq, records: &[&[u8]]) -> Result<Seq, JournalError>;

    fn append(&mut self, expected: Seq, record: &[u8]) -> Result<Seq, JournalError> {
        self.append_all(expected, &[record])
    }
}
