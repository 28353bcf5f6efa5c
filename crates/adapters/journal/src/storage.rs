//! What the journal needs of the place its bytes are in, so that the same code runs on a file and on a faulty disk.
//!
//! Owns no logic: encoding, recovery, rolling back and fencing are the journal's, whatever the storage.

use std::io;
use std::path::PathBuf;

/// When a record is on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Flush {
    /// Before the append returns. The only one that survives a loss of power.
    #[default]
    Each,
    /// When the operating system likes: for simulations and benchmarks.
    Never,
}

/// A sequence of bytes that several handles may share. A handle that was left behind finds out by its length.
pub trait Storage: Send {
    /// Keeps every other handle's [`Storage::lock`] waiting, for a bounded time. Reads need no lock.
    fn lock(&mut self) -> io::Result<()>;
    /// Lets the others go on.
    fn unlock(&mut self);
    /// The number of bytes; an error if the storage is no longer what its name refers to.
    fn length(&mut self) -> io::Result<u64>;
    /// Fills a buffer from an offset on, less of it only at the end, and says how much.
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;
    /// Writes at an offset. After an error any part of it may be there.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// Cuts off everything from a length on.
    fn truncate(&mut self, length: u64) -> io::Result<()>;
    /// Makes everything that was written durable.
    fn flush(&mut self) -> io::Result<()>;
    /// Puts bytes that are about to be cut off durably beside the storage, and says where.
    fn keep_aside(&mut self, bytes: &[u8]) -> io::Result<PathBuf>;
}

/// All bytes between two offsets, or fewer if there are fewer.
pub(crate) fn read_between<S: Storage>(storage: &mut S, from: u64, to: u64) -> io::Result<Vec<u8>> {
    let length = usize::try_from(to.saturating_sub(from)).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let mut bytes = vec![0; length];
    let read = storage.read_at(from, &mut bytes)?;
    bytes.truncate(read);
    Ok(bytes)
}
