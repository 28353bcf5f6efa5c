//! What recovery finds at the end of a journal, in words a person can act on.
//!
//! Owns the distinction between a torn tail and damage as types. Refuses to look at bytes: that is `scan`.

use core::fmt;
use std::path::PathBuf;

use fixpoint_ports::Seq;

/// What a crash in the middle of an append left behind: part of a record that nobody was told is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TornTail {
    /// Where it begins: the end of the last whole record.
    pub offset: u64,
    pub bytes: u64,
}

impl fmt::Display for TornTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, bytes } = self;
        write!(f, "an append was interrupted: {bytes} unfinished bytes at offset {offset}")
    }
}

/// Which part of the file is not what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    /// The first bytes of the file, which say that it is a journal and of which version.
    FileHeader,
    /// The header of a record: its length, number or kind.
    RecordHeader,
    /// The content of a record.
    Payload,
    /// A record is intact but is not the one that belongs here.
    Order,
    /// More zeros than one interrupted append can leave: records that were there are gone.
    Zeros,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FileHeader => "the file's header is not what was written",
            Self::RecordHeader => "the record's header is not what was written",
            Self::Payload => "the record's content is not what was written",
            Self::Order => "a record is out of order",
            Self::Zeros => "there are only zeros, more than an interrupted write can leave",
        })
    }
}

/// What a repair would cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loss {
    /// Bytes from the damage to the end of the file.
    pub bytes: u64,
    /// Intact records among them, that follow the damage and cannot be kept without it.
    pub intact_records: u64,
}

/// A journal that is not what was written. Nothing from here on may be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damage {
    /// Where the damaged part begins.
    pub offset: u64,
    /// The number the damaged record has or should have; every record before it is intact.
    pub record: Seq,
    /// What is wrong with it.
    pub broken: Broken,
    /// What a repair would cut off.
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
    /// With part of one: a crash, or a writer that is writing at this moment.
    Torn(TornTail),
    /// With something that was whole and is not any more.
    Damaged(Damage),
}

/// What was removed from a journal when it was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cut {
    /// Part of a record that was never acknowledged.
    Torn(TornTail),
    /// Records that were, because a repair was asked for.
    Damaged {
        damage: Damage,
        /// Where the bytes that were cut off are kept.
        kept: PathBuf,
    },
}
