//! Recovery: from the bytes of a journal to its records and how it ends.
//!
//! Owns the judgement between an interrupted append and damage. Refuses to change anything, and to skip anything:
//! the records it hands over are those before the first thing that is wrong, in order and without a gap.
//!
//! A journal is read through a window, because memory that is touched for the first time costs more than reading and
//! checking what is in it. Only what is wrong is read as a whole, to be judged.

use std::io;

use fixpoint_ports::Seq;

use crate::error::OpenError;
use crate::findings::{Broken, Damage, Ending, Loss, TornTail};
use crate::format::{
    FILE_HEADER_BYTES, FORMAT_VERSION, Kind, MAX_FRAME_BYTES, Parsed, begins_and_is_zero, file_header,
    file_version, parse,
};
use crate::storage::{Storage, read_between};

/// A start reads all of it.
pub const MAX_JOURNAL_BYTES: u64 = 1 << 30;
/// Large enough for fast reads, and small enough for the processor's cache.
const WINDOW_BYTES: usize = 256 << 10;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub seq: Seq,
    pub payload: Vec<u8>,
}

pub(crate) type Sink<'a> = &'a mut dyn FnMut(Seq, &[u8]);

#[derive(Debug)]
pub(crate) struct Scan {
    /// Where the next record belongs: after the last intact one; 0 if the file's header is damaged.
    pub(crate) end: u64,
    pub(crate) next: Seq,
    pub(crate) length: u64,
    /// What follows `end`.
    pub(crate) ending: Ending,
}

pub(crate) fn scan<S: Storage>(storage: &mut S, sink: Sink<'_>) -> Result<Scan, OpenError> {
    scan_before(storage, None, sink)
}

/// The same; a record that its reader cannot use is taken for damage, with all that follow.
pub(crate) fn scan_before<S: Storage>(
    storage: &mut S,
    unusable: Option<Seq>,
    sink: Sink<'_>,
) -> Result<Scan, OpenError> {
    let length = storage.length()?;
    if length > MAX_JOURNAL_BYTES {
        return Err(OpenError::TooLarge { bytes: length, limit: MAX_JOURNAL_BYTES });
    }
    let head = read_between(storage, 0, length.min(FILE_HEADER_BYTES as u64))?;
    match head.first_chunk().and_then(file_version) {
        Some(FORMAT_VERSION) => return Ok(scan_records(storage, length, unusable, sink)?),
        Some(found) => return Err(OpenError::Newer { found, known: FORMAT_VERSION }),
        None => {}
    }
    let ending = if is_begun(&head, length) {
        Ending::Torn(TornTail { offset: 0, bytes: length })
    } else {
        header_damage(storage, length)?
    };
    Ok(Scan { end: 0, next: Seq(0), length, ending })
}

/// Whether the creation of this file was interrupted. Its header was flushed before any record was written, so
/// whatever is longer than the header had a whole one.
fn is_begun(head: &[u8], length: u64) -> bool {
    length == head.len() as u64 && begins_and_is_zero(head, &file_header())
}

/// Nothing is lost by writing the header again, apart from damage after it.
fn header_damage<S: Storage>(storage: &mut S, length: u64) -> io::Result<Ending> {
    let loss = match scan_records(storage, length, None, &mut |_, _| {})?.ending {
        Ending::Whole if length <= FILE_HEADER_BYTES as u64 => Loss { bytes: length, intact_records: 0 },
        Ending::Whole => Loss { bytes: 0, intact_records: 0 },
        Ending::Torn(TornTail { bytes, .. }) => Loss { bytes, intact_records: 0 },
        Ending::Damaged(damage) => damage.loss,
    };
    Ok(Ending::Damaged(Damage { offset: 0, record: Seq(0), broken: Broken::FileHeader, loss }))
}

/// The part of a journal that is in memory.
struct Window {
    buffer: Vec<u8>,
    /// The part of the buffer that was read and not processed.
    begin: usize,
    filled: usize,
    /// Where the file continues.
    offset: u64,
    length: u64,
}

impl Window {
    fn at(offset: u64, length: u64) -> Self {
        Self { buffer: vec![0; WINDOW_BYTES], begin: 0, filled: 0, offset, length }
    }

    fn bytes(&self) -> &[u8] {
        self.buffer.get(self.begin..self.filled).unwrap_or_default()
    }

    /// False at the end of the file.
    fn move_on<S: Storage>(&mut self, storage: &mut S) -> io::Result<bool> {
        self.buffer.copy_within(self.begin..self.filled, 0);
        self.filled = self.filled.saturating_sub(self.begin);
        self.begin = 0;
        if self.filled == self.buffer.len() {
            self.buffer.resize(MAX_FRAME_BYTES.max(self.filled), 0);
        }
        let room = self.buffer.get_mut(self.filled..).unwrap_or_default();
        let wanted = usize::try_from(self.length.saturating_sub(self.offset)).unwrap_or(usize::MAX);
        let room = if wanted < room.len() { room.get_mut(..wanted).unwrap_or_default() } else { room };
        let read = storage.read_at(self.offset, room)?;
        self.filled = self.filled.saturating_add(read);
        self.offset = self.offset.saturating_add(read as u64);
        Ok(read > 0)
    }
}

enum Step {
    Over(usize),
    More,
    Stop,
}

fn scan_records<S: Storage>(
    storage: &mut S,
    length: u64,
    unusable: Option<Seq>,
    sink: Sink<'_>,
) -> io::Result<Scan> {
    let mut end = FILE_HEADER_BYTES as u64;
    let mut window = Window::at(end, length);
    let mut next = Seq(0);
    loop {
        let bytes = window.bytes();
        let step = match parse(bytes) {
            Parsed::Whole(frame) if frame.kind == Kind::Entry && unusable == Some(frame.seq) => Step::Stop,
            Parsed::Whole(frame) if frame.seq == next => {
                match frame.kind {
                    Kind::Entry => sink(frame.seq, frame.payload),
                    Kind::TakeOver => {}
                }
                next = frame.kind.after(next);
                Step::Over(bytes.len() - frame.rest.len())
            }
            Parsed::Short => Step::More,
            Parsed::Whole(_) | Parsed::BadHeader { .. } | Parsed::BadPayload { .. } => Step::Stop,
        };
        match step {
            Step::Over(bytes) => {
                window.begin = window.begin.saturating_add(bytes);
                end = end.saturating_add(bytes as u64);
            }
            Step::More if window.move_on(storage)? => {}
            Step::More | Step::Stop => break,
        }
    }
    let rest = read_between(storage, end, length)?;
    let ending = if unusable == Some(next) && !rest.is_empty() {
        let loss = Loss { bytes: rest.len() as u64, intact_records: intact_records(&rest) };
        Ending::Damaged(Damage { offset: end, record: next, broken: Broken::Unusable, loss })
    } else {
        judge(&rest, end, next)
    };
    Ok(Scan { end, next, length, ending })
}

/// What follows the last intact record.
fn judge(rest: &[u8], offset: u64, next: Seq) -> Ending {
    let bytes = rest.len() as u64;
    let torn = Ending::Torn(TornTail { offset, bytes });
    let damaged = |broken| {
        let loss = Loss { bytes, intact_records: intact_records(rest) };
        Ending::Damaged(Damage { offset, record: next, broken, loss })
    };
    let parsed = parse(rest);
    let is_unfinished = parsed.is_unfinished();
    match parsed {
        _ if rest.is_empty() => Ending::Whole,
        // It was incomplete a moment ago: another process is writing it.
        Parsed::Whole(frame) if frame.seq == next => torn,
        Parsed::Whole(_) => damaged(Broken::Order),
        Parsed::Short => torn,
        Parsed::BadHeader { .. } | Parsed::BadPayload { .. }
            if is_unfinished && rest.len() <= MAX_FRAME_BYTES =>
        {
            torn
        }
        Parsed::BadHeader { .. } if is_unfinished => damaged(Broken::Zeros),
        Parsed::BadHeader { .. } => damaged(Broken::RecordHeader),
        Parsed::BadPayload { .. } => damaged(Broken::Payload),
    }
}

/// Counts the records that can still be read after damage, at any offset.
fn intact_records(damaged: &[u8]) -> u64 {
    let mut count = 0;
    let mut rest = damaged;
    while let Some((_, after)) = rest.split_first() {
        rest = match parse(rest) {
            Parsed::Whole(frame) => {
                count += u64::from(frame.kind == Kind::Entry);
                frame.rest
            }
            Parsed::Short | Parsed::BadHeader { .. } | Parsed::BadPayload { .. } => after,
        };
    }
    count
}
