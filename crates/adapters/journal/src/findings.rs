//! What recovery finds at the end of a journal, in words a person can act on.
//!
//! Owns the distinction between a torn tail and damage as types. Refuses to look at bytes: that is `scan`.

use core::fmt;
use std::path::PathBuf;

use fixpoint_ports::Seq;

/// Part of a record whose append was interrupted. The append was never acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TornTail {
    /// The end of the last whole record.
    pub offset: u64,
    pub bytes: u64,
}

impl fmt::Display for TornTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, bytes } = self;
        write!(f, "an append was interrupted: {bytes} unfinished bytes at offset {offset}")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    /// The magic number and the version at the beginning of the file.
    FileHeader,
    /// The length, number or kind of a record.
    RecordHeader,
    Payload,
    /// An intact record at the wrong position.
    Order,
    /// An intact record that its reader cannot use, because what it refers to is damaged.
    Unusable,
    /// More zeros than one interrupted append can leave: records are gone.
    Zeros,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FileHeader => "the file's header is not what was written",
            Self::RecordHeader => "the record's header is not what was written",
            Self::Payload => "the record's content is not what was written",
            Self::Order => "a record is out of order",
            Self::Unusable => "what the record refers to is not what was written",
            Self::Zeros => "there are only zeros, more than an interrupted write can leave",
        })
    }
}

/// What a repair would cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loss {
    pub bytes: u64,
    /// Intact records after the damage, which are lost with it.
    pub intact_records: u64,
}

/// A damaged journal. Nothing after this position can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damage {
    pub offset: u64,
    /// The number of the damaged record; every record before it is intact.
    pub record: Seq,
    pub broken: Broken,
    pub loss: Loss,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, record: Seq(record), broken, loss: Loss { bytes, intact_records } } = self;
        write!(
            f,
            "damaged at byte {offset}, in record {record}: {broken}; the records before it are intact"
        )?;
        write!(f, "; a repair would cut off {bytes} bytes (intact records among them: {intact_records})")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Whole,
    /// An interrupted append, or one that is being written now.
    Torn(TornTail),
    Damaged(Damage),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cut {
    Torn(TornTail),
    /// Acknowledged records, because a repair was requested.
    Damaged {
        damage: Damage,
        /// Where the removed bytes are stored.
        kept: PathBuf,
    },
}
