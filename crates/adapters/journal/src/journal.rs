//! The journal over any storage: beginning one, opening one after a crash, and appending to it.
//!
//! Invariants: what precedes `end` is intact and was acknowledged; an append either returns with its records durable
//! or leaves nothing of them behind that a later append would not remove; a writer that another has followed writes
//! nothing any more. The last holds because every writer begins with a record of its own, under the storage's
//! lock, and because no writer appends without having seen, under the same lock, that the length is still its own.

use std::io;

use fixpoint_ports::{Journal, JournalError, Seq};

use crate::durable::is_full;
use crate::error::OpenError;
use crate::faulty::FaultyDisk;
use crate::findings::{Cut, Ending};
use crate::format::{FILE_HEADER_BYTES, Kind, MAX_RECORD_BYTES, encode, file_header};
use crate::scan::{MAX_JOURNAL_BYTES, Record, Scan, Sink, scan, scan_before};
use crate::storage::{Flush, Storage, read_between};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// Cut an interrupted append, refuse damage.
    Continue,
    /// Cut damage too, and store what is cut. [`StoredJournal::examine`] shows it beforehand.
    Repair,
    /// Also cut an intact record and all that follow, because its reader cannot use it.
    RepairFrom(Seq),
}

#[derive(Debug)]
pub struct Opened<S> {
    pub journal: StoredJournal<S>,
    pub records: Vec<Record>,
    pub cut: Option<Cut>,
}

/// A journal that is not changed. Another process may be writing to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    pub records: Vec<Record>,
    pub ending: Ending,
}

pub type MemoryJournal = StoredJournal<FaultyDisk>;

#[derive(Debug)]
pub struct StoredJournal<S> {
    storage: S,
    flush: Flush,
    end: u64,
    next: Seq,
    /// The last batch that was written, or whose write failed.
    frame: Vec<u8>,
    state: WriterState,
}

#[derive(Debug, Clone, Copy)]
enum WriterState {
    /// Nothing follows the end, unless another writer continued.
    Sound,
    /// Part of `frame` may follow the end: it could neither be written nor removed.
    Unclean,
    Deposed {
        actual: Seq,
    },
}

impl<S: Storage> StoredJournal<S> {
    /// The storage must be empty.
    pub fn begin(mut storage: S) -> Result<Self, OpenError> {
        storage.write_at(0, &file_header())?;
        storage.flush()?;
        Ok(Self::at(storage, FILE_HEADER_BYTES as u64, Seq(0)))
    }

    /// Earlier writers cannot write any more.
    pub fn resume(storage: S, mode: OpenMode) -> Result<Opened<S>, OpenError> {
        let mut records = Vec::new();
        let (journal, cut) = Self::resume_with(storage, mode, collect(&mut records))?;
        Ok(Opened { journal, records, cut })
    }

    /// Passes the records to `sink` one by one instead of collecting them. If an error follows, they do not count.
    pub fn resume_with(
        mut storage: S,
        mode: OpenMode,
        mut sink: impl FnMut(Seq, &[u8]),
    ) -> Result<(Self, Option<Cut>), OpenError> {
        storage.lock()?;
        let settled = settle(&mut storage, mode, &mut sink);
        storage.unlock();
        let (Scan { end, next, .. }, cut) = settled?;
        Ok((Self::at(storage, end, next), cut))
    }

    /// Does not wait for the writer. Damage is a result, not an error.
    pub fn examine(mut storage: S) -> Result<Inspection, OpenError> {
        let mut records = Vec::new();
        let Scan { ending, .. } = scan(&mut storage, &mut collect(&mut records))?;
        Ok(Inspection { records, ending })
    }

    #[must_use]
    pub fn with_flush(mut self, flush: Flush) -> Self {
        self.flush = flush;
        self
    }

    pub fn next(&self) -> Seq {
        self.next
    }

    fn at(storage: S, end: u64, next: Seq) -> Self {
        Self { storage, flush: Flush::Each, end, next, frame: Vec::new(), state: WriterState::Sound }
    }

    fn append_locked(&mut self, expected: Seq, records: &[&[u8]]) -> Result<Seq, JournalError> {
        match self.state {
            WriterState::Deposed { actual } => return Err(JournalError::Fenced { expected, actual }),
            WriterState::Unclean => self.clean_up().map_err(unwritten)?,
            WriterState::Sound => {}
        }
        if self.storage.length().map_err(unwritten)? != self.end {
            let actual = self.records_there();
            self.state = WriterState::Deposed { actual };
            return Err(JournalError::Fenced { expected, actual });
        }
        if expected != self.next {
            return Err(JournalError::Fenced { expected, actual: self.next });
        }
        self.frame.clear();
        let mut next = expected;
        for record in records {
            let too_large = JournalError::TooLarge { bytes: record.len(), limit: MAX_RECORD_BYTES };
            encode(&mut self.frame, Kind::Entry, next, record).ok_or(too_large)?;
            next = next.next();
        }
        let end = self.end.saturating_add(self.frame.len() as u64);
        if end > MAX_JOURNAL_BYTES {
            return Err(JournalError::Unwritable(io::ErrorKind::FileTooLarge.into()));
        }
        if let Err(error) = write(&mut self.storage, self.flush, self.end, &self.frame) {
            self.state = match self.storage.truncate(self.end) {
                Ok(()) => WriterState::Sound,
                Err(_) => WriterState::Unclean,
            };
            return Err(unwritten(error));
        }
        self.end = end;
        self.next = next;
        Ok(next)
    }

    /// Removes what is left of the batch that failed. Anything else after the end belongs to another writer.
    fn clean_up(&mut self) -> io::Result<()> {
        let length = self.storage.length()?;
        let longest = self.end.saturating_add(self.frame.len() as u64);
        if (self.end..=longest).contains(&length) {
            let left = read_between(&mut self.storage, self.end, length)?;
            if self.frame.starts_with(&left) {
                self.storage.truncate(self.end)?;
            }
        }
        self.state = WriterState::Sound;
        Ok(())
    }

    /// How many records the journal of the other writer has, as far as that is known.
    fn records_there(&mut self) -> Seq {
        scan(&mut self.storage, &mut |_, _| {}).map_or(self.next, |found| found.next)
    }
}

pub(crate) fn collect(records: &mut Vec<Record>) -> impl FnMut(Seq, &[u8]) {
    |seq, payload| records.push(Record { seq, payload: payload.to_vec() })
}

impl<S: Storage> Journal for StoredJournal<S> {
    fn append_all(&mut self, expected: Seq, records: &[&[u8]]) -> Result<Seq, JournalError> {
        self.storage.lock().map_err(unwritten)?;
        let appended = self.append_locked(expected, records);
        self.storage.unlock();
        appended
    }
}

/// Prepares a journal for its next record: removes an interrupted append or damage, and writes the take-over.
fn settle<S: Storage>(
    storage: &mut S,
    mode: OpenMode,
    sink: Sink<'_>,
) -> Result<(Scan, Option<Cut>), OpenError> {
    let unusable = match mode {
        OpenMode::Continue | OpenMode::Repair => None,
        OpenMode::RepairFrom(record) => Some(record),
    };
    let mut found = scan_before(storage, unusable, sink)?;
    let cut = match (found.ending, mode) {
        (Ending::Whole, _) => None,
        (Ending::Torn(tail), _) => Some(Cut::Torn(tail)),
        (Ending::Damaged(damage), OpenMode::Continue) => return Err(OpenError::Damaged(damage)),
        (Ending::Damaged(damage), OpenMode::Repair | OpenMode::RepairFrom(_)) => {
            let kept = read_between(storage, found.end, found.length)?;
            Some(Cut::Damaged { damage, kept: storage.keep_aside(&kept)? })
        }
    };
    if found.end == 0 {
        // There is no header, and no record was handed over: the file was just begun, or only its header is damaged.
        storage.write_at(0, &file_header())?;
        found = scan(storage, sink)?;
    }
    if cut.is_some() {
        storage.truncate(found.end)?;
    }
    let mut take_over = Vec::new();
    let too_large = OpenError::Unavailable(io::ErrorKind::FileTooLarge.into());
    encode(&mut take_over, Kind::TakeOver, found.next, &[]).ok_or(too_large)?;
    if let Err(error) = write(storage, Flush::Each, found.end, &take_over) {
        // The next to open this journal cuts whatever stays, so that this may fail as well.
        drop(storage.truncate(found.end));
        return Err(error.into());
    }
    found.end = found.end.saturating_add(take_over.len() as u64);
    Ok((found, cut))
}

fn write<S: Storage>(storage: &mut S, flush: Flush, offset: u64, bytes: &[u8]) -> io::Result<()> {
    storage.write_at(offset, bytes)?;
    match flush {
        Flush::Each => storage.flush(),
        Flush::Never => Ok(()),
    }
}

fn unwritten(error: io::Error) -> JournalError {
    if is_full(&error) { JournalError::NoSpace(error) } else { JournalError::Unwritable(error) }
}
