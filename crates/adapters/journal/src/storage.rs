//! What the journal needs of the place its bytes are in, so that the same code runs on a file and on a faulty disk.
//!
//! Owns no logic: encoding, recovery, rolling back and fencing are the journal's, whatever the storage.

use std::io;
use std::path::PathBuf;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Flush {
    /// Before the append returns. Only this survives a loss of power.
    #[default]
    Each,
    /// When the operating system decides: for simulations and benchmarks.
    Never,
}

/// Bytes that several handles may share. A handle notices by the length that another one has written.
pub trait Storage: Send {
    /// Waits for other handles, for a limited time. Reads need no lock.
    fn lock(&mut self) -> io::Result<()>;
    fn unlock(&mut self);
    /// An error if the name refers to another file by now.
    fn length(&mut self) -> io::Result<u64>;
    /// Returns how much was read; less than the buffer only at the end.
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;
    /// After an error, any part of it may be written.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;
    fn truncate(&mut self, length: u64) -> io::Result<()>;
    fn flush(&mut self) -> io::Result<()>;
    /// Stores bytes that are about to be cut off durably, and returns where.
    fn keep_aside(&mut self, bytes: &[u8]) -> io::Result<PathBuf>;
}

/// Fewer bytes if the storage ends before.
pub(crate) fn read_between<S: Storage>(storage: &mut S, from: u64, to: u64) -> io::Result<Vec<u8>> {
    let length = usize::try_from(to.saturating_sub(from)).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let mut bytes = vec![0; length];
    let read = storage.read_at(from, &mut bytes)?;
    bytes.truncate(read);
    Ok(bytes)
}
