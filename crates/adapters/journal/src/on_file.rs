//! The journal on a file of the run's directory.
//!
//! Owns the names in the directory and the system calls. An append is one `write` and one `fdatasync`; beside them are
//! a lock, a look at the length and an unlock, which together take about a hundredth of the flush.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use fixpoint_ports::Seq;

use crate::durable::{create_directory, create_file, remove_if_there, sync_directory};
use crate::error::OpenError;
use crate::findings::Cut;
use crate::journal::{Inspection, OpenMode, Opened, StoredJournal, collect};
use crate::storage::Storage;

pub const JOURNAL_FILE: &str = "journal";
/// How long to wait for the append of another handle. One append takes a thousandth of it.
const LOCK_PATIENCE: Duration = Duration::from_secs(5);
const LOCK_PAUSE: Duration = Duration::from_millis(1);
/// A journal that needs more repairs cannot be helped by another one.
const MAX_KEPT: u32 = 1000;

/// The journal of a run, in its directory. Hold the run's lock before opening it for writing.
pub type FileJournal = StoredJournal<FileStorage>;

#[derive(Debug)]
pub struct FileStorage {
    file: File,
    directory: PathBuf,
}

impl StoredJournal<FileStorage> {
    /// Creates a missing directory.
    pub fn create(directory: &Path) -> Result<Self, OpenError> {
        create_directory(directory)?;
        let path = directory.join(JOURNAL_FILE);
        let file = match create_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(OpenError::Exists(path));
            }
            created => created?,
        };
        let begun = Self::begin(FileStorage { file, directory: directory.to_path_buf() });
        if begun.is_err() {
            // What is no journal yet must not be in the way of the next try. If it stays, opening it works too.
            drop(remove_if_there(&path));
        }
        sync_directory(directory)?;
        begun
    }

    /// Earlier writers cannot write any more.
    pub fn open(directory: &Path, mode: OpenMode) -> Result<Opened<FileStorage>, OpenError> {
        let mut records = Vec::new();
        let (journal, cut) = Self::open_with(directory, mode, collect(&mut records))?;
        Ok(Opened { journal, records, cut })
    }

    /// Passes the records to `sink` one by one instead of collecting them. If an error follows, they do not count.
    pub fn open_with(
        directory: &Path,
        mode: OpenMode,
        mut sink: impl FnMut(Seq, &[u8]),
    ) -> Result<(Self, Option<Cut>), OpenError> {
        let opened = Self::resume_with(open_for_writing(directory)?, mode, &mut sink)?;
        // The one who created it may have died before its name was durable.
        sync_directory(directory)?;
        Ok(opened)
    }

    /// Changes nothing; the run may go on.
    pub fn inspect(directory: &Path) -> Result<Inspection, OpenError> {
        Self::examine(open(directory, OpenOptions::new().read(true))?)
    }
}

fn open_for_writing(directory: &Path) -> Result<FileStorage, OpenError> {
    open(directory, OpenOptions::new().read(true).write(true))
}

fn open(directory: &Path, options: &OpenOptions) -> Result<FileStorage, OpenError> {
    let path = directory.join(JOURNAL_FILE);
    // A FIFO would block whoever opens it.
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        let problem = format!("{} is not a file", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, problem).into());
    }
    let file = match options.open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(OpenError::Missing(path)),
        opened => opened?,
    };
    Ok(FileStorage { file, directory: directory.to_path_buf() })
}

impl Storage for FileStorage {
    fn lock(&mut self) -> io::Result<()> {
        let deadline = Instant::now() + LOCK_PATIENCE;
        loop {
            match self.file.try_lock() {
                Ok(()) => return Ok(()),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => sleep(LOCK_PAUSE),
                Err(TryLockError::WouldBlock) => {
                    let message = "another process is writing to the journal and does not end";
                    return Err(io::Error::new(io::ErrorKind::TimedOut, message));
                }
            }
        }
    }

    fn unlock(&mut self) {
        // An error cannot be reported here; the kernel releases the lock with the handle at the latest.
        drop(self.file.unlock());
    }

    fn length(&mut self) -> io::Result<u64> {
        let metadata = self.file.metadata()?;
        if metadata.nlink() == 0 {
            // Writing to a file that no directory names would succeed, and be lost.
            return Err(io::Error::new(io::ErrorKind::NotFound, "the journal's file was removed"));
        }
        Ok(metadata.len())
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while let Some(room @ [_, ..]) = buffer.get_mut(filled..) {
            match self.file.read_at(room, offset.saturating_add(filled as u64)) {
                Ok(0) => break,
                Ok(read) => filled = filled.saturating_add(read),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, offset)
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn keep_aside(&mut self, bytes: &[u8]) -> io::Result<PathBuf> {
        for number in 1..=MAX_KEPT {
            let path = self.directory.join(format!("{JOURNAL_FILE}.cut-{number}"));
            match create_file(&path) {
                Ok(mut file) => {
                    file.write_all(bytes)?;
                    file.sync_all()?;
                    sync_directory(&self.directory)?;
                    return Ok(path);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::new(io::ErrorKind::AlreadyExists, "too many repairs of this journal are kept"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_handle_at_a_time_has_the_lock() {
        let directory = tempfile::tempdir().unwrap();
        drop(FileJournal::create(directory.path()).unwrap());
        let [mut one, mut two] = [(); 2].map(|()| open_for_writing(directory.path()).unwrap());
        one.lock().unwrap();
        assert!(matches!(two.file.try_lock(), Err(TryLockError::WouldBlock)));
        one.unlock();
        two.lock().unwrap();
        assert!(matches!(one.file.try_lock(), Err(TryLockError::WouldBlock)));
    }
}
