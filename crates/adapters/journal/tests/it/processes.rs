//! Other processes: one holds the run's lock, one writes to the journal, and both are killed without warning.
//!
//! The other process is this test binary, asked to run one of the tests below that do nothing otherwise.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::{env, fs};

use fixpoint_journal::{FileJournal, LockError, OpenMode, RunLock};
use fixpoint_ports::{Journal, Seq};

/// Says to a child which directory to work in.
const DIRECTORY: &str = "FIXPOINT_TEST_DIRECTORY";

/// A process that runs one test of this binary, and is gone when this is dropped.
struct Other {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Other {
    fn run(test: &str, directory: &Path) -> Self {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", test, "--nocapture", "--test-threads", "1"]).env(DIRECTORY, directory);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    /// The next line that the test prints, without those of the harness.
    fn line(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the other process ended");
            // The harness prints the name of the test without ending the line.
            if let Some((_, said)) = line.trim_end().split_once("other: ") {
                return said.to_string();
            }
        }
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn say(text: &str) {
    let mut output = std::io::stdout().lock();
    writeln!(output, "other: {text}").unwrap();
    output.flush().unwrap();
}

#[test]
fn in_another_process_holds_the_lock() {
    let Some(directory) = env::var_os(DIRECTORY) else { return };
    let _lock = RunLock::acquire(Path::new(&directory)).unwrap();
    say("held");
    // It ends when it is killed, or when the process that started it is gone.
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

#[test]
fn in_another_process_appends_for_ever() {
    let Some(directory) = env::var_os(DIRECTORY) else { return };
    let mut journal = FileJournal::open(Path::new(&directory), OpenMode::Continue).unwrap().journal;
    loop {
        let seq = journal.next();
        journal.append(seq, &vec![7; 3000]).unwrap();
        say(&seq.0.to_string());
    }
}

#[track_caller]
fn holder(directory: &Path) -> Option<u32> {
    match RunLock::acquire(directory).unwrap_err() {
        LockError::Held { pid, since } => {
            assert_eq!(pid.is_some(), since.is_some());
            pid
        }
        error @ (LockError::NotAFile { .. } | LockError::Unavailable(_)) => panic!("{error}"),
    }
}

#[test]
fn a_second_process_is_refused_with_the_first_ones_number() {
    let directory = tempfile::tempdir().unwrap();
    let mut other = Other::run("processes::in_another_process_holds_the_lock", directory.path());
    assert_eq!(other.line(), "held");
    let error = RunLock::acquire(directory.path()).unwrap_err();
    assert_eq!(error.to_string(), format!("another process has this run: process {}", other.child.id()));
    assert_eq!(holder(directory.path()), Some(other.child.id()));
    other.kill();
    let lock = RunLock::acquire(directory.path()).unwrap();
    assert_eq!(holder(directory.path()), Some(std::process::id()));
    drop(lock);
    drop(RunLock::acquire(directory.path()).unwrap());
}

#[test]
fn what_the_lock_file_says_is_not_believed_over_the_kernel() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lock");
    // Free, whatever it says.
    for stale in [format!("{} 1\n", std::process::id()), "1 1\n".to_string(), "garbage\0\u{ff}".to_string()] {
        fs::write(&path, stale).unwrap();
        drop(RunLock::acquire(directory.path()).unwrap());
    }
    // Held, whatever it says, and a process that is dead is not named.
    let lock = RunLock::acquire(directory.path()).unwrap();
    for stale in ["2147483647 1\n", "0 1\n", "garbage", ""] {
        fs::write(&path, stale).unwrap();
        assert_eq!(holder(directory.path()), None, "{stale:?}");
    }
    drop(lock);
}

#[test]
fn a_writer_that_is_killed_has_lost_nothing_it_acknowledged() {
    let directory = tempfile::tempdir().unwrap();
    drop(FileJournal::create(directory.path()).unwrap());
    let mut before = 0;
    for round in 0..20 {
        let mut other = Other::run("processes::in_another_process_appends_for_ever", directory.path());
        let mut acknowledged = before;
        for _ in 0..=round {
            acknowledged = other.line().parse::<u64>().unwrap();
        }
        other.kill();
        let opened = FileJournal::open(directory.path(), OpenMode::Continue).unwrap();
        assert!(opened.records.len() as u64 > acknowledged, "record {acknowledged} is gone");
        assert!(opened.records.iter().all(|record| record.payload == vec![7; 3000]));
        before = opened.journal.next().0;
        assert_eq!(opened.records.last().unwrap().seq.next(), Seq(before));
    }
}
