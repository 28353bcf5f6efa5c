//! The run's durable record on files: the journal, large payloads named by their hash, and the run's lock.
//!
//! Owns the format on the disk, recovery after a crash at any instant, and the refusal of anything that was damaged.
//! Refuses to know what a record means: it returns the bytes that were written, or an error.
//!
//! A **torn tail** is what an interrupted append leaves: the record was never acknowledged, so it is cut and reported.
//! **Damage** is an acknowledged record that has changed: it is refused, and only [`OpenMode::Repair`] cuts it and stores
//! the bytes.
//!
//! [`FileJournal`] and [`MemoryJournal`] are the same code over another [`Storage`], so that what is simulated with
//! [`FaultyDisk`] is what runs on a real disk.

mod blobs;
#[cfg(any(test, feature = "contract"))]
pub mod contract;
mod durable;
mod error;
mod faulty;
mod findings;
mod format;
mod journal;
mod lock;
mod memory_blobs;
mod on_file;
mod scan;
mod storage;

pub use blobs::{FileBlobs, MAX_BLOB_BYTES};
pub use error::OpenError;
pub use faulty::{FaultyDisk, Residue};
pub use findings::{Broken, Cut, Damage, Ending, Loss, TornTail};
pub use format::{FORMAT_VERSION, MAX_RECORD_BYTES, RECORD_OVERHEAD_BYTES};
pub use journal::{Inspection, MemoryJournal, OpenMode, Opened, StoredJournal};
pub use lock::{LOCK_FILE, LockError, RunLock};
pub use memory_blobs::MemoryBlobs;
pub use on_file::{FileJournal, FileStorage, JOURNAL_FILE};
pub use scan::{MAX_JOURNAL_BYTES, Record};
pub use storage::{Flush, Storage};
