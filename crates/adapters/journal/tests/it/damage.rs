//! Bytes that are not what was written: found, named, never believed, and cut only when that was asked for.

use fixpoint_journal::{Broken, Cut, Damage, Ending, FaultyDisk, FileJournal, Loss, OpenError, OpenMode};
use fixpoint_ports::{Journal, Seq};
use proptest::prelude::*;

use crate::samples::{self, FILE_HEADER, ends, inspect, payloads, payloads_of, resume};

#[test]
fn every_flipped_bit_is_damage() {
    let bytes = samples::disk().contents();
    for bit in 0..bytes.len() * 8 {
        let disk = samples::disk();
        disk.flip(bit / 8, 1 << (bit % 8));
        let error = resume(&disk, OpenMode::Continue).unwrap_err();
        let OpenError::Damaged(damage) = error else { panic!("bit {bit}: {error}") };
        let damaged = ends().iter().filter(|end| **end <= bit / 8).count();
        assert_eq!(damage.record, Seq(damaged.saturating_sub(1) as u64), "bit {bit}");
        let inspection = inspect(&disk);
        assert_eq!(inspection.ending, Ending::Damaged(damage));
        let records: Vec<Vec<u8>> = inspection.records.into_iter().map(|record| record.payload).collect();
        assert_eq!(records, payloads()[..records.len()], "bit {bit}");
    }
}

#[test]
fn every_replaced_byte_is_damage_or_a_torn_tail() {
    let bytes = samples::disk().contents();
    for (offset, byte) in bytes.iter().enumerate() {
        // It becomes zero, all ones, its complement, or something else.
        for mask in [*byte, !*byte, 0xff, 0x5a].into_iter().filter(|mask| *mask != 0) {
            let disk = FaultyDisk::holding(bytes.clone());
            disk.flip(offset, mask);
            match inspect_any(&disk) {
                Ok((records, Ending::Damaged(_))) => assert_eq!(records, payloads()[..records.len()]),
                // Only a zero in the very last byte looks like a write that stopped one byte early.
                Ok((records, Ending::Torn(_))) => {
                    assert_eq!((offset, records), (bytes.len() - 1, payloads()[..5].to_vec()));
                }
                Ok((_, Ending::Whole)) => panic!("byte {offset} ^ {mask} goes unnoticed"),
                Err(error) => panic!("byte {offset} ^ {mask}: {error}"),
            }
        }
    }
}

fn inspect_any(disk: &FaultyDisk) -> Result<(Vec<Vec<u8>>, Ending), OpenError> {
    let inspection = fixpoint_journal::MemoryJournal::examine(disk.clone())?;
    Ok((inspection.records.into_iter().map(|record| record.payload).collect(), inspection.ending))
}

#[test]
fn damage_is_named_with_what_a_repair_would_lose() {
    let [header_end, first_end, second_end] = [ends()[0], ends()[1], ends()[2]];
    let length = *ends().last().unwrap();
    let table = [
        (3, 0, 0, Broken::FileHeader, 0, 0),
        (header_end + 2, header_end, 0, Broken::RecordHeader, length - header_end, 5),
        (header_end + 21, header_end, 0, Broken::Payload, length - header_end, 5),
        (first_end - 1, header_end, 0, Broken::Payload, length - header_end, 5),
        (first_end + 5, first_end, 1, Broken::RecordHeader, length - first_end, 4),
        (second_end + 30, second_end, 2, Broken::Payload, length - second_end, 3),
        (length - 1, ends()[5], 5, Broken::Payload, length - ends()[5], 0),
    ];
    for (flipped, offset, record, broken, bytes, intact_records) in table {
        let disk = samples::disk();
        disk.flip(flipped, 0xff);
        let loss = Loss { bytes: bytes as u64, intact_records };
        let expected = Damage { offset: offset as u64, record: Seq(record), broken, loss };
        assert_eq!(inspect(&disk).ending, Ending::Damaged(expected), "byte {flipped}");
    }
}

#[test]
fn a_record_in_the_wrong_place_is_damage() {
    let bytes = samples::disk().contents();
    let first = &bytes[ends()[0]..ends()[1]];
    let twice = [&bytes[..ends()[1]], first].concat();
    let missing = [&bytes[..ends()[1]], &bytes[ends()[2]..]].concat();
    for bytes in [twice, missing] {
        let ending = inspect(&FaultyDisk::holding(bytes)).ending;
        let Ending::Damaged(damage) = ending else { panic!("{ending:?}") };
        assert_eq!((damage.broken, damage.record), (Broken::Order, Seq(1)));
    }
}

#[test]
fn a_repair_cuts_there_keeps_the_bytes_and_goes_on() {
    for flipped in FILE_HEADER..samples::disk().contents().len() {
        let disk = samples::disk();
        disk.flip(flipped, 0x10);
        let before = disk.contents();
        let mut opened = resume(&disk, OpenMode::Repair).unwrap();
        let Some(Cut::Damaged { damage, .. }) = opened.cut.clone() else { panic!("{:?}", opened.cut) };
        let cut = usize::try_from(damage.offset).unwrap();
        let records = usize::try_from(damage.record.0).unwrap();
        assert_eq!(payloads_of(&opened), payloads()[..records]);
        assert_eq!(disk.kept_aside(), [before[cut..].to_vec()]);
        opened.journal.append(damage.record, b"after").unwrap();
        assert_eq!(samples::read(&disk).len(), records + 1);
    }
}

#[test]
fn a_damaged_file_header_costs_no_record() {
    for flipped in 0..FILE_HEADER {
        let disk = samples::disk();
        disk.flip(flipped, 0x10);
        let opened = resume(&disk, OpenMode::Repair).unwrap();
        assert_eq!(payloads_of(&opened), payloads());
        assert_eq!(samples::read(&disk), payloads());
    }
}

#[test]
fn a_refused_journal_is_left_as_it_is() {
    let disk = samples::disk();
    disk.flip(100, 1);
    let before = disk.contents();
    resume(&disk, OpenMode::Continue).unwrap_err();
    assert_eq!((disk.contents(), disk.kept_aside()), (before, vec![]));
}

#[test]
fn a_newer_format_is_refused_even_for_repair() {
    let mut header = b"FIXPTJNL\x02\0\0\0".to_vec();
    header.extend(crc32c::crc32c(&header).to_le_bytes());
    header.extend(b"whatever the future holds");
    for mode in [OpenMode::Continue, OpenMode::Repair] {
        let error = resume(&FaultyDisk::holding(header.clone()), mode).unwrap_err();
        let message = "the journal has format version 2, and this version reads up to 1: use a newer one";
        assert_eq!(error.to_string(), message);
    }
}

proptest! {
    /// Catches a record that is taken for whole by the last byte of its trailer alone.
    #[test]
    fn garbage_is_never_a_record(garbage in proptest::collection::vec(any::<u8>(), 0..3000), keep in 0_usize..900) {
        let mut bytes = samples::disk().contents();
        bytes.truncate(keep);
        bytes.extend(&garbage);
        let disk = FaultyDisk::holding(bytes);
        if let Ok((records, _)) = inspect_any(&disk) {
            prop_assert_eq!(&records[..], &payloads()[..records.len()]);
        }
        if let Ok(opened) = resume(&disk, OpenMode::Repair) {
            prop_assert_eq!(&payloads_of(&opened)[..], &payloads()[..opened.records.len()]);
        }
    }

    /// Catches the same where only a few bytes are other than they were.
    #[test]
    fn several_changes_never_make_another_record(
        changes in proptest::collection::vec((0_usize..1100, any::<u8>()), 1..6),
    ) {
        let disk = samples::disk();
        for (offset, mask) in changes {
            disk.flip(offset, mask);
        }
        if let Ok((records, _)) = inspect_any(&disk) {
            prop_assert_eq!(&records[..], &payloads()[..records.len()]);
        }
    }
}

/// The reader of a record finds that it cannot use it: it is cut like damage, and what was cut is kept.
#[test]
fn an_unusable_record_is_cut_with_all_that_follow() {
    let directory = tempfile::tempdir().unwrap();
    let mut journal = FileJournal::create(directory.path()).unwrap();
    journal.append_all(Seq(0), &[b"a", b"b", b"c"]).unwrap();
    drop(journal);
    let mut opened = FileJournal::open(directory.path(), OpenMode::RepairFrom(Seq(1))).unwrap();
    let records: Vec<&[u8]> = opened.records.iter().map(|record| record.payload.as_slice()).collect();
    assert_eq!(records, [b"a"]);
    let Some(Cut::Damaged { damage, kept }) = opened.cut else { panic!("{:?}", opened.cut) };
    assert_eq!((damage.record, damage.broken, damage.loss.intact_records), (Seq(1), Broken::Unusable, 2));
    assert!(std::fs::metadata(kept).unwrap().len() > 0);
    opened.journal.append(Seq(1), b"d").unwrap();
    let again = FileJournal::inspect(directory.path()).unwrap();
    assert_eq!((again.records.len(), again.ending), (2, Ending::Whole));
}
