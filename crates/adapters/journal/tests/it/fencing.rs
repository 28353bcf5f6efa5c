//! Two writers of one journal: the second is obeyed, the first finds out before it writes anything.

use std::path::PathBuf;
use std::{fs, io, thread};

use fixpoint_journal::{FaultyDisk, FileJournal, JOURNAL_FILE, OpenError, OpenMode, Storage, StoredJournal};
use fixpoint_ports::{Journal, JournalError, Seq};

use crate::samples;

#[test]
fn the_first_is_fenced_as_soon_as_the_second_has_opened() {
    let directory = tempfile::tempdir().unwrap();
    let mut first = FileJournal::create(directory.path()).unwrap();
    first.append(Seq(0), b"first").unwrap();
    let mut second = FileJournal::open(directory.path(), OpenMode::Continue).unwrap().journal;
    for _ in 0..2 {
        let error = first.append(Seq(1), b"late").unwrap_err();
        assert!(matches!(error, JournalError::Fenced { expected: Seq(1), actual: Seq(1) }), "{error}");
    }
    assert_eq!(second.append(Seq(1), b"second").unwrap(), Seq(2));
    let records = FileJournal::inspect(directory.path()).unwrap().records;
    assert_eq!(
        records.iter().map(|record| &record.payload[..]).collect::<Vec<_>>(),
        [&b"first"[..], b"second"]
    );
}

/// Writers that take the journal from each other as fast as they can never lose or repeat an acknowledged record.
#[test]
fn writers_that_compete_leave_one_history() {
    let directory = tempfile::tempdir().unwrap();
    drop(FileJournal::create(directory.path()).unwrap());
    let write = |writer: u8| {
        let mut acknowledged = Vec::new();
        for _ in 0..15 {
            let mut journal = FileJournal::open(directory.path(), OpenMode::Continue).unwrap().journal;
            for _ in 0..5 {
                let seq = journal.next();
                match journal.append(seq, &[writer]) {
                    Ok(_) => acknowledged.push((seq, writer)),
                    Err(error) => assert!(matches!(error, JournalError::Fenced { .. }), "{error}"),
                }
            }
        }
        acknowledged
    };
    let mut acknowledged: Vec<(Seq, u8)> = thread::scope(|scope| {
        let writers: Vec<_> = (0..4).map(|writer| scope.spawn(move || write(writer))).collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    acknowledged.sort_unstable();
    let records = FileJournal::inspect(directory.path()).unwrap().records;
    let there: Vec<(Seq, u8)> = records.iter().map(|record| (record.seq, record.payload[0])).collect();
    assert_eq!(there, acknowledged);
}

/// A disk that notices who changes it without its lock.
struct Watched {
    disk: FaultyDisk,
    is_locked: bool,
}

impl Watched {
    fn changed(&mut self) -> &mut FaultyDisk {
        assert!(self.is_locked, "changed without the lock");
        &mut self.disk
    }
}

impl Storage for Watched {
    fn lock(&mut self) -> io::Result<()> {
        self.is_locked = true;
        self.disk.lock()
    }

    fn unlock(&mut self) {
        self.is_locked = false;
        self.disk.unlock();
    }

    fn length(&mut self) -> io::Result<u64> {
        self.changed().length()
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.disk.read_at(offset, buffer)
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.changed().write_at(offset, bytes)
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.changed().truncate(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.changed().flush()
    }

    fn keep_aside(&mut self, bytes: &[u8]) -> io::Result<PathBuf> {
        self.changed().keep_aside(bytes)
    }
}

#[test]
fn the_length_is_looked_at_and_the_file_is_changed_under_one_lock() {
    for damaged in [0, 30, 60] {
        let disk = samples::disk();
        disk.flip(damaged, 1);
        let watched = Watched { disk: disk.clone(), is_locked: false };
        let mut journal = StoredJournal::resume(watched, OpenMode::Repair).unwrap().journal;
        let next = journal.next();
        disk.limit_space(disk.contents().len() + 10);
        disk.fail_truncations(1);
        journal.append(next, b"does not fit").unwrap_err();
        disk.make_space();
        journal.append(next, b"fits").unwrap();
        journal.append(next, b"not the next").unwrap_err();
        // Every path has let the others go on.
        drop(samples::resume(&disk, OpenMode::Continue).unwrap());
    }
}

#[test]
fn a_journal_whose_file_was_removed_is_not_written_to() {
    let directory = tempfile::tempdir().unwrap();
    let mut journal = FileJournal::create(directory.path()).unwrap();
    fs::remove_file(directory.path().join(JOURNAL_FILE)).unwrap();
    let error = journal.append(Seq(0), b"lost").unwrap_err();
    assert!(matches!(error, JournalError::Unwritable(_)), "{error}");
}

#[test]
fn a_journal_is_created_once_and_opened_where_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let run = directory.path().join("a/b/run");
    assert!(matches!(FileJournal::open(&run, OpenMode::Continue), Err(OpenError::Missing(_))));
    drop(FileJournal::create(&run).unwrap());
    assert!(matches!(FileJournal::create(&run), Err(OpenError::Exists(_))));
    assert!(FileJournal::open(&run, OpenMode::Continue).unwrap().records.is_empty());
}

#[test]
fn a_repair_keeps_what_it_cuts_in_a_file_beside_the_journal() {
    let directory = tempfile::tempdir().unwrap();
    let mut journal = FileJournal::create(directory.path()).unwrap();
    journal.append(Seq(0), b"first").unwrap();
    journal.append(Seq(1), b"second").unwrap();
    let path = directory.path().join(JOURNAL_FILE);
    for number in 1..=2 {
        let mut bytes = fs::read(&path).unwrap();
        bytes[16 + 30 + 22] ^= 1;
        fs::write(&path, &bytes).unwrap();
        assert!(matches!(
            FileJournal::open(directory.path(), OpenMode::Continue),
            Err(OpenError::Damaged(_))
        ));
        let opened = FileJournal::open(directory.path(), OpenMode::Repair).unwrap();
        assert_eq!(opened.records.len(), 1);
        let kept = fs::read(directory.path().join(format!("{JOURNAL_FILE}.cut-{number}"))).unwrap();
        assert_eq!(kept, bytes[16 + 30..]);
    }
}
