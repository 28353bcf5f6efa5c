//! Journals to be mistreated, and what is read from them.

use fixpoint_journal::{
    FaultyDisk, Inspection, MemoryJournal, OpenError, OpenMode, Opened, RECORD_OVERHEAD_BYTES,
};
use fixpoint_ports::{Journal, Seq};

/// The length of the header of a file.
pub(crate) const FILE_HEADER: usize = 16;

/// Payloads of several shapes: empty, all zeros, ending in zeros, longer than a disk sector.
pub(crate) fn payloads() -> Vec<Vec<u8>> {
    let long = (0..700_u32).map(|number| number.to_le_bytes()[0]).collect();
    vec![
        b"first".to_vec(),
        vec![],
        vec![0; 40],
        b"ends in zeros\0\0\0\0\0\0\0\0".to_vec(),
        long,
        b"last".to_vec(),
    ]
}

/// A journal of those payloads, by one writer.
pub(crate) fn disk() -> FaultyDisk {
    let disk = FaultyDisk::new();
    let mut journal = MemoryJournal::begin(disk.clone()).unwrap();
    for (seq, payload) in payloads().iter().enumerate() {
        journal.append(Seq(seq as u64), payload).unwrap();
    }
    disk
}

/// Where each of its records ends, and before the first of them, the header of the file.
pub(crate) fn ends() -> Vec<usize> {
    let mut ends = vec![FILE_HEADER];
    for payload in payloads() {
        ends.push(ends.last().unwrap() + RECORD_OVERHEAD_BYTES + payload.len());
    }
    ends
}

pub(crate) fn resume(disk: &FaultyDisk, mode: OpenMode) -> Result<Opened<FaultyDisk>, OpenError> {
    MemoryJournal::resume(disk.clone(), mode)
}

pub(crate) fn inspect(disk: &FaultyDisk) -> Inspection {
    MemoryJournal::examine(disk.clone()).unwrap()
}

/// The payloads on a disk that must be whole.
pub(crate) fn read(disk: &FaultyDisk) -> Vec<Vec<u8>> {
    let opened = resume(disk, OpenMode::Continue).unwrap();
    assert_eq!(opened.cut, None);
    payloads_of(&opened)
}

pub(crate) fn payloads_of<S>(opened: &Opened<S>) -> Vec<Vec<u8>> {
    let numbered: Vec<u64> = opened.records.iter().map(|record| record.seq.0).collect();
    assert_eq!(numbered, (0..opened.records.len() as u64).collect::<Vec<_>>());
    opened.records.iter().map(|record| record.payload.clone()).collect()
}
