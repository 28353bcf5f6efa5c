//! A full disk: an error that says so, nothing left of the record that did not fit, and going on when there is space.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use fixpoint_journal::{FileBlobs, FileJournal, JOURNAL_FILE, OpenError, OpenMode};
use fixpoint_ports::{BlobError, Blobs, Journal, JournalError, Seq};

use crate::samples::{self, payloads, resume};

#[test]
fn at_every_number_of_free_bytes_the_record_is_there_or_nothing_of_it() {
    for free in 0..60 {
        let disk = samples::disk();
        let mut journal = resume(&disk, OpenMode::Continue).unwrap().journal;
        let before = disk.contents();
        disk.limit_space(before.len() + free);
        for _ in 0..2 {
            let error = journal.append(Seq(6), &[7; 60]).unwrap_err();
            assert!(matches!(error, JournalError::NoSpace(_)), "{error}");
            assert_eq!(disk.contents(), before);
        }
        disk.make_space();
        journal.append(Seq(6), &[8; 60]).unwrap();
        let mut expected = payloads();
        expected.push(vec![8; 60]);
        assert_eq!(samples::read(&disk), expected);
    }
}

#[test]
fn what_cannot_be_removed_at_once_is_removed_later() {
    let disk = samples::disk();
    let mut journal = resume(&disk, OpenMode::Continue).unwrap().journal;
    let before = disk.contents();
    disk.limit_space(before.len() + 10);
    disk.fail_truncations(2);
    for _ in 0..2 {
        journal.append(Seq(6), b"too much").unwrap_err();
        assert_eq!(disk.contents().len(), before.len() + 10);
    }
    disk.make_space();
    journal.append(Seq(6), b"fits").unwrap();
    assert_eq!(samples::read(&disk).last().unwrap(), b"fits");
}

#[test]
fn what_cannot_be_removed_is_not_a_reason_to_touch_a_successor() {
    for written in 0..3 {
        let disk = samples::disk();
        let mut old = resume(&disk, OpenMode::Continue).unwrap().journal;
        disk.limit_space(disk.contents().len() + 10);
        disk.fail_truncations(1);
        old.append(Seq(6), &[7; 100]).unwrap_err();
        disk.make_space();
        let mut new = resume(&disk, OpenMode::Continue).unwrap().journal;
        for seq in 6..6 + written {
            new.append(Seq(seq), b"new").unwrap();
        }
        let before = disk.contents();
        let error = old.append(Seq(6), b"old").unwrap_err();
        assert!(matches!(error, JournalError::Fenced { actual, .. } if actual == new.next()), "{error}");
        assert_eq!(disk.contents(), before);
        new.append(Seq(6 + written), b"newer").unwrap();
    }
}

#[test]
fn a_full_disk_can_be_opened_when_there_is_space() {
    let disk = samples::disk();
    let before = disk.contents();
    disk.limit_space(before.len() + 3);
    let error = resume(&disk, OpenMode::Continue).unwrap_err();
    assert!(matches!(error, OpenError::NoSpace(_)), "{error}");
    assert_eq!(disk.contents(), before);
    disk.make_space();
    assert_eq!(samples::read(&disk), payloads());
}

/// A file system of its own that is unmounted at the end.
struct Mounted(tempfile::TempDir);

impl Mounted {
    fn tiny(options: &str) -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(directory.path()).stderr(Stdio::null());
        if !mount.status().is_ok_and(|status| status.success()) {
            // Past the harness, which keeps what passing tests print to itself.
            let _ = writeln!(std::io::stderr(), "SKIPPED: mounting a small file system needs root");
            return None;
        }
        Some(Self(directory))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        drop(Command::new("umount").arg(self.path()).status());
    }
}

#[test]
fn on_a_real_file_system_that_fills_up() {
    let Some(mounted) = Mounted::tiny("size=64k") else { return };
    let run = mounted.path().join("run");
    let mut journal = FileJournal::create(&run).unwrap();
    let ballast = mounted.path().join("ballast");
    fs::write(&ballast, [0; 16 << 10]).unwrap();
    let mut written = 0;
    let error = loop {
        match journal.append(Seq(written), &[7; 1500]) {
            Ok(next) => written = next.0,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, JournalError::NoSpace(_)), "{error}");
    assert!(written > 5);
    let length = run.join(JOURNAL_FILE).metadata().unwrap().len();
    assert_eq!(length, 16 + written * 1525, "nothing of the record that did not fit stays");
    let blobs = FileBlobs::open(&run.join("blobs"));
    let error = blobs.and_then(|blobs| blobs.put(&[7; 32 << 10])).unwrap_err();
    assert!(matches!(error, BlobError::NoSpace(_)), "{error}");
    fs::remove_file(ballast).unwrap();
    assert_eq!(journal.append(Seq(written), &[8; 1500]).unwrap(), Seq(written + 1));
    let opened = FileJournal::open(&run, OpenMode::Continue).unwrap();
    assert_eq!((opened.records.len() as u64, opened.cut), (written + 1, None));
}

#[test]
fn on_a_real_file_system_that_becomes_read_only() {
    let Some(mounted) = Mounted::tiny("size=64k") else { return };
    let mut journal = FileJournal::create(mounted.path()).unwrap();
    journal.append(Seq(0), b"first").unwrap();
    drop(journal);
    let remount = |mode: &str| {
        let options = format!("remount,{mode}");
        assert!(Command::new("mount").args(["-o", &options]).arg(mounted.path()).status().unwrap().success());
    };
    remount("ro");
    let error = FileJournal::open(mounted.path(), OpenMode::Continue).unwrap_err();
    assert!(matches!(error, OpenError::Unavailable(_)), "{error}");
    assert_eq!(FileJournal::inspect(mounted.path()).unwrap().records.len(), 1);
    remount("rw");
    let mut opened = FileJournal::open(mounted.path(), OpenMode::Continue).unwrap();
    assert_eq!(opened.journal.append(Seq(1), b"second").unwrap(), Seq(2));
}
