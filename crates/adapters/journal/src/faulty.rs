//! A disk in memory that tears writes, fills up, fails to flush and loses power, exactly when it is told to.
//!
//! Owns what a real disk may do to the bytes. Refuses chance: whoever simulates draws the place and says it here, so
//! that every failure can be repeated. Clones are handles to the same disk, as several processes would have.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::storage::Storage;

/// How long a handle waits for another's append: in memory it never takes long.
const LOCK_PATIENCE: Duration = Duration::from_secs(5);

/// What a write leaves when the power is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Residue {
    /// The bytes that were written.
    Short,
    /// The bytes that were written, and zeros up to the full length.
    Zeros,
}

/// A disk in memory with one file.
#[derive(Debug, Clone, Default)]
pub struct FaultyDisk {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    disk: Mutex<Disk>,
    released: Condvar,
}

#[derive(Debug, Default)]
struct Disk {
    contents: Vec<u8>,
    durable: Vec<u8>,
    /// Up to here `file` and `durable` are the same.
    clean: usize,
    kept: Vec<Vec<u8>>,
    space: Option<usize>,
    power: Power,
    failing_flushes: u32,
    failing_truncations: u32,
    written: u64,
    is_held: bool,
}

#[derive(Debug, Default, Clone, Copy)]
enum Power {
    #[default]
    On,
    OnFor {
        bytes: usize,
        residue: Residue,
    },
    Off,
}

impl FaultyDisk {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    #[must_use]
    pub fn holding(contents: Vec<u8>) -> Self {
        let disk = Self::new();
        disk.disk().replace(contents);
        disk
    }

    /// Durable or not.
    #[must_use]
    pub fn contents(&self) -> Vec<u8> {
        self.disk().contents.clone()
    }

    #[must_use]
    pub fn kept_aside(&self) -> Vec<Vec<u8>> {
        self.disk().kept.clone()
    }

    /// Bytes written since the disk was created; power can be lost at any of them.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.disk().written
    }

    /// A write beyond this length fails.
    pub fn limit_space(&self, bytes: usize) {
        self.disk().space = Some(bytes);
    }

    pub fn make_space(&self) {
        self.disk().space = None;
    }

    /// The power fails when this many more bytes are written: in the middle of a write, or, if that write is whole,
    /// before it is flushed. Until [`FaultyDisk::restart`] nothing works.
    pub fn lose_power_after(&self, bytes: usize, residue: Residue) {
        self.disk().power = Power::OnFor { bytes, residue };
    }

    /// What was written stays.
    pub fn fail_flushes(&self, number: u32) {
        self.disk().failing_flushes = number;
    }

    pub fn fail_truncations(&self, number: u32) {
        self.disk().failing_truncations = number;
    }

    /// The power is back. Faults that did not occur yet remain.
    pub fn restart(&self) {
        self.disk().power = Power::On;
    }

    /// The power is lost and comes back: everything after the last flush is gone.
    pub fn crash(&self) {
        let mut disk = self.disk();
        let durable = disk.durable.clone();
        disk.replace(durable);
        disk.power = Power::On;
    }

    /// Flips the bits of a mask in one byte, durably. Does nothing beyond the end.
    pub fn flip(&self, offset: usize, mask: u8) {
        let mut disk = self.disk();
        let mut contents = disk.contents.clone();
        if let Some(byte) = contents.get_mut(offset) {
            *byte ^= mask;
        }
        disk.replace(contents);
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.shared.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Disk {
    fn replace(&mut self, contents: Vec<u8>) {
        self.clean = contents.len();
        self.durable.clone_from(&contents);
        self.contents = contents;
    }

    fn check_power(&self) -> io::Result<()> {
        match self.power {
            Power::On | Power::OnFor { .. } => Ok(()),
            Power::Off => Err(io::Error::other("the power is off")),
        }
    }

    fn put(&mut self, offset: usize, bytes: &[u8]) {
        self.clean = self.clean.min(offset);
        let end = offset.saturating_add(bytes.len());
        if self.contents.len() < end {
            self.contents.resize(end, 0);
        }
        if let Some(place) = self.contents.get_mut(offset..end) {
            place.copy_from_slice(bytes);
        }
        self.written = self.written.saturating_add(bytes.len() as u64);
    }

    fn lose_power(&mut self) {
        self.power = Power::Off;
        let contents = std::mem::take(&mut self.contents);
        self.replace(contents);
    }

    fn write(&mut self, offset: usize, bytes: &[u8]) -> io::Result<()> {
        let (fitting, _) = split(bytes, self.space.map_or(usize::MAX, |space| space.saturating_sub(offset)));
        if let Power::OnFor { bytes: left, residue } = self.power {
            let (written, lost) = split(fitting, left);
            self.put(offset, written);
            self.power = Power::OnFor { bytes: left.saturating_sub(written.len()), residue };
            if !lost.is_empty() {
                match residue {
                    Residue::Short => {}
                    Residue::Zeros => self.put(offset.saturating_add(written.len()), &vec![0; lost.len()]),
                }
                self.lose_power();
                return self.check_power();
            }
        } else {
            self.put(offset, fitting);
        }
        if fitting.len() < bytes.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

fn split(bytes: &[u8], at: usize) -> (&[u8], &[u8]) {
    bytes.split_at_checked(at).unwrap_or((bytes, &[]))
}

fn take_one(count: &mut u32) -> bool {
    let is_there = *count > 0;
    *count = count.saturating_sub(1);
    is_there
}

fn place(offset: u64) -> io::Result<usize> {
    usize::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge.into())
}

impl Storage for FaultyDisk {
    fn lock(&mut self) -> io::Result<()> {
        let waiting =
            self.shared.released.wait_timeout_while(self.disk(), LOCK_PATIENCE, |disk| disk.is_held);
        let (mut disk, waited) = waiting.unwrap_or_else(PoisonError::into_inner);
        disk.check_power()?;
        if waited.timed_out() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        disk.is_held = true;
        Ok(())
    }

    fn unlock(&mut self) {
        self.disk().is_held = false;
        self.shared.released.notify_one();
    }

    fn length(&mut self) -> io::Result<u64> {
        let disk = self.disk();
        disk.check_power()?;
        Ok(disk.contents.len() as u64)
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let disk = self.disk();
        disk.check_power()?;
        let mut there = disk.contents.get(place(offset)?..).unwrap_or_default();
        io::Read::read(&mut there, buffer)
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut disk = self.disk();
        disk.check_power()?;
        disk.write(place(offset)?, bytes)
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        let mut disk = self.disk();
        disk.check_power()?;
        if take_one(&mut disk.failing_truncations) {
            return Err(io::Error::other("the disk failed to cut the file"));
        }
        let length = place(length)?;
        disk.contents.resize(length, 0);
        disk.clean = disk.clean.min(length);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut disk = self.disk();
        if let Power::OnFor { bytes: 0, .. } = disk.power {
            disk.lose_power();
        }
        disk.check_power()?;
        if take_one(&mut disk.failing_flushes) {
            return Err(io::Error::other("the disk failed to flush"));
        }
        let Disk { contents, durable, clean, .. } = &mut *disk;
        durable.truncate(*clean);
        durable.extend_from_slice(contents.get(*clean..).unwrap_or_default());
        *clean = contents.len();
        Ok(())
    }

    fn keep_aside(&mut self, bytes: &[u8]) -> io::Result<PathBuf> {
        let mut disk = self.disk();
        disk.check_power()?;
        disk.kept.push(bytes.to_vec());
        Ok(PathBuf::from(format!("kept-{}", disk.kept.len())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_keeps_what_was_flushed() {
        let mut disk = FaultyDisk::new();
        disk.write_at(0, b"abcdef").unwrap();
        disk.flush().unwrap();
        disk.write_at(4, b"XYZ").unwrap();
        disk.truncate(6).unwrap();
        assert_eq!(disk.contents(), b"abcdXY");
        disk.crash();
        assert_eq!(disk.contents(), b"abcdef");
        disk.truncate(2).unwrap();
        disk.flush().unwrap();
        disk.crash();
        assert_eq!(disk.contents(), b"ab");
    }

    #[test]
    fn a_write_is_torn_where_it_was_said() {
        for (residue, expected) in [(Residue::Short, b"abc".as_slice()), (Residue::Zeros, b"abc\0\0")] {
            let mut disk = FaultyDisk::new();
            disk.lose_power_after(3, residue);
            disk.write_at(0, b"ab").unwrap();
            disk.flush().unwrap();
            disk.write_at(2, b"cde").unwrap_err();
            disk.flush().unwrap_err();
            disk.restart();
            assert_eq!(disk.contents(), expected);
        }
    }

    #[test]
    fn the_power_may_fail_between_a_write_and_its_flush() {
        let mut disk = FaultyDisk::new();
        disk.lose_power_after(2, Residue::Short);
        disk.write_at(0, b"ab").unwrap();
        disk.flush().unwrap_err();
        disk.restart();
        assert_eq!((disk.contents(), disk.written()), (b"ab".to_vec(), 2));
    }

    #[test]
    fn a_full_disk_takes_what_fits() {
        let mut disk = FaultyDisk::new();
        disk.limit_space(3);
        assert_eq!(disk.write_at(1, b"abcd").unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(disk.contents(), b"\0ab");
        disk.make_space();
        disk.write_at(1, b"abcd").unwrap();
    }
}
