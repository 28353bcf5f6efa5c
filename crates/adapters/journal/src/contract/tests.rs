//! Both journals of this crate keep the promises, and a journal that breaks one is found.

use tempfile::TempDir;

use super::*;
use crate::{FaultyDisk, FileJournal, MemoryJournal, OpenMode, Opened, Storage};

fn handed<S: Storage>(opened: Opened<S>) -> (crate::StoredJournal<S>, Vec<Vec<u8>>) {
    let payloads = opened.records.into_iter().map(|record| record.payload);
    (opened.journal, payloads.collect())
}

impl Medium for TempDir {
    type Journal = FileJournal;

    fn create(&mut self) -> Result<FileJournal, String> {
        FileJournal::create(self.path()).map_err(|error| error.to_string())
    }

    fn reopen(&mut self) -> Result<(FileJournal, Vec<Vec<u8>>), String> {
        FileJournal::open(self.path(), OpenMode::Continue).map(handed).map_err(|error| error.to_string())
    }
}

impl Medium for FaultyDisk {
    type Journal = MemoryJournal;

    fn create(&mut self) -> Result<MemoryJournal, String> {
        MemoryJournal::begin(self.clone()).map_err(|error| error.to_string())
    }

    fn reopen(&mut self) -> Result<(MemoryJournal, Vec<Vec<u8>>), String> {
        MemoryJournal::resume(self.clone(), OpenMode::Continue).map(handed).map_err(|error| error.to_string())
    }
}

/// Keeps records, and nobody out.
#[derive(Default, Clone)]
struct Careless(std::sync::Arc<std::sync::Mutex<Vec<Vec<u8>>>>);

impl Journal for Careless {
    fn append_all(&mut self, _: Seq, batch: &[&[u8]]) -> Result<Seq, JournalError> {
        let mut records = self.0.lock().unwrap();
        if let Some(record) = batch.iter().find(|record| record.len() > 1 << 20) {
            return Err(JournalError::TooLarge { bytes: record.len(), limit: 1 << 20 });
        }
        records.extend(batch.iter().map(|record| record.to_vec()));
        Ok(Seq(records.len() as u64))
    }
}

impl Medium for Careless {
    type Journal = Self;

    fn create(&mut self) -> Result<Self, String> {
        Ok(self.clone())
    }

    fn reopen(&mut self) -> Result<(Self, Vec<Vec<u8>>), String> {
        Ok((self.clone(), self.0.lock().unwrap().clone()))
    }
}

#[test]
fn the_journal_on_files_keeps_the_promises() {
    uphold(|| tempfile::tempdir().unwrap()).unwrap();
}

#[test]
fn the_journal_in_memory_keeps_the_promises() {
    uphold(FaultyDisk::new).unwrap();
}

#[test]
fn a_careless_journal_does_not() {
    let violation = uphold(Careless::default).unwrap_err();
    assert_eq!(violation.promise, "a record with another number than the next is refused and not written");
}
