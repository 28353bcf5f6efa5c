//! A crash in the middle of a write: what was acknowledged is there, what was not is cut, and the journal goes on.

use fixpoint_journal::{
    Cut, Ending, FaultyDisk, Flush, MAX_RECORD_BYTES, MemoryJournal, OpenError, OpenMode,
    RECORD_OVERHEAD_BYTES, Residue, TornTail,
};
use fixpoint_ports::{Journal, JournalError, Seq};

use crate::samples::{self, FILE_HEADER, ends, payloads, payloads_of, resume};

/// Opens, checks what was cut, appends, and reads it all again.
#[track_caller]
fn goes_on(disk: &FaultyDisk, whole: &[Vec<u8>], expected: Option<Cut>) {
    let mut opened = resume(disk, OpenMode::Continue).unwrap();
    assert_eq!((payloads_of(&opened), &opened.cut), (whole.to_vec(), &expected));
    opened.journal.append(Seq(whole.len() as u64), b"after").unwrap();
    let mut after = whole.to_vec();
    after.push(b"after".to_vec());
    assert_eq!(samples::read(disk), after);
}

fn torn(from: usize, to: usize) -> Option<Cut> {
    Some(Cut::Torn(TornTail { offset: from as u64, bytes: (to - from) as u64 }))
}

/// The end of the last whole record before an offset, and the number of records up to there.
fn whole_before(offset: usize) -> (usize, usize) {
    let ends = ends();
    let records = ends.iter().filter(|end| **end <= offset).count();
    records.checked_sub(1).map_or((0, 0), |last| (ends[last], last))
}

#[test]
fn cut_at_every_byte_it_opens_with_the_whole_records() {
    let bytes = samples::disk().contents();
    for length in 0..=bytes.len() {
        let disk = FaultyDisk::holding(bytes[..length].to_vec());
        let (end, records) = whole_before(length);
        let cut = if length == end && end > 0 { None } else { torn(end, length) };
        goes_on(&disk, &payloads()[..records], cut);
    }
}

#[test]
fn filled_with_zeros_from_every_byte_it_opens_with_the_whole_records() {
    let bytes = samples::disk().contents();
    for length in FILE_HEADER..bytes.len() {
        let (end, records) = whole_before(length);
        let record_end = ends()[records + 1];
        for filled in [record_end, record_end + 1, record_end + 5000] {
            let mut zeros = bytes[..length].to_vec();
            zeros.resize(filled, 0);
            goes_on(&FaultyDisk::holding(zeros), &payloads()[..records], torn(end, filled));
        }
    }
    for length in 0..FILE_HEADER {
        let mut zeros = bytes[..length].to_vec();
        zeros.resize(FILE_HEADER, 0);
        goes_on(&FaultyDisk::holding(zeros), &[], torn(0, FILE_HEADER));
    }
}

#[test]
fn more_zeros_than_a_record_can_have_are_damage() {
    let mut bytes = samples::disk().contents();
    let end = bytes.len();
    bytes.resize(end + MAX_RECORD_BYTES + 100, 0);
    let error = resume(&FaultyDisk::holding(bytes), OpenMode::Continue).unwrap_err();
    assert!(matches!(error, OpenError::Damaged(damage) if damage.offset == end as u64), "{error}");
    let all = FaultyDisk::holding(vec![0; FILE_HEADER + 1]);
    assert!(matches!(resume(&all, OpenMode::Continue), Err(OpenError::Damaged(_))));
}

/// A journal is read in pieces; a record may be larger than a piece, and begin or end anywhere in one.
#[test]
fn records_of_every_size_are_read_whole_or_cut() {
    let piece = 256 << 10;
    let sizes = [1, piece - 66, 7, piece - 25, piece, 3, MAX_RECORD_BYTES, piece + 1, 0, MAX_RECORD_BYTES];
    let written: Vec<Vec<u8>> = sizes.iter().zip(1..).map(|(size, byte)| vec![byte; *size]).collect();
    let disk = FaultyDisk::new();
    let mut journal = MemoryJournal::begin(disk.clone()).unwrap();
    for (seq, payload) in written.iter().enumerate() {
        journal.append(Seq(seq as u64), payload).unwrap();
    }
    let bytes = disk.contents();
    let last = bytes.len() - MAX_RECORD_BYTES - RECORD_OVERHEAD_BYTES;
    for length in [last + 1, last + 20, last + piece, bytes.len() - 1] {
        let disk = FaultyDisk::holding(bytes[..length].to_vec());
        goes_on(&disk, &written[..9], torn(last, length));
    }
    goes_on(&disk, &written, None);
}

/// Writes until the power fails, and says how many records were acknowledged.
fn write_until_dark(disk: &FaultyDisk) -> usize {
    let Ok(mut journal) = MemoryJournal::begin(disk.clone()) else { return 0 };
    let written = |(seq, payload): &(usize, Vec<u8>)| journal.append(Seq(*seq as u64), payload).is_ok();
    payloads().into_iter().enumerate().take_while(written).count()
}

#[test]
fn power_lost_after_every_byte_loses_nothing_that_was_acknowledged() {
    let total = samples::disk().contents().len();
    for residue in [Residue::Short, Residue::Zeros] {
        for bytes in 0..=total {
            let disk = FaultyDisk::new();
            disk.lose_power_after(bytes, residue);
            let acknowledged = write_until_dark(&disk);
            disk.restart();
            let opened = resume(&disk, OpenMode::Continue).unwrap();
            let there = payloads_of(&opened);
            // The record in flight may be whole, when only its flush is missing.
            assert!((acknowledged..=acknowledged + 1).contains(&there.len()), "{bytes} {residue:?}");
            assert_eq!(there, payloads()[..there.len()], "{bytes} {residue:?}");
        }
    }
}

/// Catches a batch of which later records are taken for acknowledged although an earlier one is torn, and a batch that is
/// acknowledged before all of it is flushed.
#[test]
fn power_lost_inside_a_batch_leaves_a_beginning_of_it() {
    let batch = payloads();
    let records: Vec<&[u8]> = batch.iter().map(Vec::as_slice).collect();
    let total = samples::disk().contents().len();
    for residue in [Residue::Short, Residue::Zeros] {
        for bytes in 0..=total {
            let disk = FaultyDisk::new();
            disk.lose_power_after(bytes, residue);
            let written = MemoryJournal::begin(disk.clone())
                .is_ok_and(|mut journal| journal.append_all(Seq(0), &records).is_ok());
            disk.restart();
            let there = payloads_of(&resume(&disk, OpenMode::Continue).unwrap());
            assert_eq!(there, batch[..there.len()], "{bytes} {residue:?}");
            assert!(!written || there.len() == batch.len(), "{bytes} {residue:?}");
        }
    }
}

#[test]
fn power_lost_while_taking_over_is_one_more_torn_tail() {
    let whole = samples::disk().contents();
    for bytes in 0..=RECORD_OVERHEAD_BYTES {
        for residue in [Residue::Short, Residue::Zeros] {
            let disk = FaultyDisk::holding(whole.clone());
            disk.lose_power_after(bytes, residue);
            resume(&disk, OpenMode::Continue).unwrap_err();
            disk.restart();
            let opened = resume(&disk, OpenMode::Continue).unwrap();
            assert_eq!(payloads_of(&opened), payloads());
        }
    }
}

#[test]
fn without_flushes_a_crash_loses_the_records_and_not_the_journal() {
    let disk = FaultyDisk::new();
    let mut journal = MemoryJournal::begin(disk.clone()).unwrap();
    journal.append(Seq(0), b"flushed").unwrap();
    let mut journal = journal.with_flush(Flush::Never);
    journal.append(Seq(1), b"not flushed").unwrap();
    disk.crash();
    assert_eq!(samples::read(&disk), [b"flushed"]);
    let error = journal.append(Seq(2), b"of a process that died").unwrap_err();
    assert!(matches!(error, JournalError::Fenced { actual: Seq(1), .. }), "{error}");
}

#[test]
fn a_failed_flush_is_not_an_acknowledgement_and_can_be_tried_again() {
    let disk = samples::disk();
    let mut journal = resume(&disk, OpenMode::Continue).unwrap().journal;
    let before = disk.contents();
    disk.fail_flushes(1);
    let error = journal.append(Seq(6), b"again").unwrap_err();
    assert!(matches!(error, JournalError::Unwritable(_)), "{error}");
    assert_eq!(disk.contents(), before);
    assert_eq!(journal.append(Seq(6), b"again").unwrap(), Seq(7));
    assert_eq!(samples::read(&disk).last().unwrap(), b"again");
}

#[test]
fn reading_a_journal_changes_nothing() {
    let bytes = samples::disk().contents();
    let disk = FaultyDisk::holding(bytes[..bytes.len() - 3].to_vec());
    let inspection = samples::inspect(&disk);
    assert_eq!(inspection.records.len(), 5);
    assert!(matches!(inspection.ending, Ending::Torn(_)));
    assert_eq!(disk.contents(), bytes[..bytes.len() - 3]);
}
