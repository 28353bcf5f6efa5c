//! The file that keeps a program's output: its first half and its last, and a line that says what is missing.
//!
//! Owns the file; refuses to hold output in memory. The file is written from its beginning. When more comes than is
//! kept, what follows the first half becomes a ring that always holds the last bytes, and is put in order at the end.
//! Invariant: the file is never longer than the bytes to be kept and one [marker line](MARKER).

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use fixpoint_ports::{CapturedOutput, ProcessError};

use crate::rotate::rotate_left;

/// Length of the line that says how much was left out: the longest number fits.
const MARKER: u64 = 64;

/// Output on its way into a file.
#[derive(Debug)]
pub(crate) struct Capture {
    file: File,
    path: PathBuf,
    written: u64,
    /// Bytes of the beginning that are kept.
    head: u64,
    /// Bytes of the end that are kept.
    tail: u64,
}

impl Capture {
    /// Begins the file anew, readable by its owner only: output may repeat secrets.
    pub(crate) fn create(path: &Path, kept: u64) -> Result<Self, ProcessError> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(true).mode(0o600).open(path);
        let file = file.map_err(|source| cannot_keep(path, source))?;
        // Half of the largest number is far beyond any disk, and leaves room for the marker without overflow.
        let kept = kept.min(u64::MAX / 2);
        Ok(Self { file, path: path.to_path_buf(), written: 0, head: kept / 2, tail: kept - kept / 2 })
    }

    /// Adds output.
    pub(crate) fn keep(&mut self, mut bytes: &[u8]) -> Result<(), ProcessError> {
        while !bytes.is_empty() {
            let (offset, room) = self.place();
            let length = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
            let (now, later) = bytes.split_at(length);
            if let Some(offset) = offset {
                self.file.write_all_at(now, offset).map_err(|source| cannot_keep(&self.path, source))?;
            }
            self.written += now.len() as u64;
            bytes = later;
        }
        Ok(())
    }

    /// Puts the file in order and says what is in it.
    pub(crate) fn finish(self) -> Result<CapturedOutput, ProcessError> {
        let omitted = self.put_in_order().map_err(|source| cannot_keep(&self.path, source))?;
        Ok(CapturedOutput { path: self.path, written: self.written, omitted })
    }

    /// Bytes that are kept without leaving anything out.
    fn capacity(&self) -> u64 {
        self.head + MARKER + self.tail
    }

    /// Where the next byte goes, and how many may follow it there; nowhere, when no end is kept.
    fn place(&self) -> (Option<u64>, u64) {
        match self.written.checked_sub(self.capacity()) {
            None => (Some(self.written), self.capacity() - self.written),
            Some(_) if self.tail == 0 => (None, u64::MAX),
            Some(beyond) => {
                let turn = beyond % self.tail;
                (Some(self.head + MARKER + turn), self.tail - turn)
            }
        }
    }

    fn put_in_order(&self) -> io::Result<u64> {
        let beyond = self.written.saturating_sub(self.capacity());
        if beyond == 0 {
            return Ok(0);
        }
        let omitted = self.written - self.head - self.tail;
        let first = beyond.checked_rem(self.tail).unwrap_or(0);
        rotate_left(&self.file, self.head + MARKER..self.capacity(), first)?;
        self.file.write_all_at(marker(omitted).as_bytes(), self.head)?;
        Ok(omitted)
    }
}

/// The line in the middle, on lines of its own and always [`MARKER`] bytes long.
fn marker(omitted: u64) -> String {
    let text = format!("[{omitted} bytes left out here]");
    format!("\n{text:-<width$}\n", width = MARKER as usize - 2)
}

fn cannot_keep(path: &Path, source: io::Error) -> ProcessError {
    ProcessError::Output { path: path.to_path_buf(), source }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Keeps `output` in pieces of the given lengths, over and over, and returns the file and what was said of it.
    fn kept(output: &[u8], pieces: &[usize], kept: u64) -> (Vec<u8>, CapturedOutput) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("output");
        let mut capture = Capture::create(&path, kept).unwrap();
        let mut rest = output;
        for length in pieces.iter().cycle() {
            let (piece, later) = rest.split_at((*length).min(rest.len()));
            capture.keep(piece).unwrap();
            assert!(path.metadata().unwrap().len() <= kept + MARKER);
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        let captured = capture.finish().unwrap();
        (std::fs::read(&path).unwrap(), captured)
    }

    fn expected(output: &[u8], kept: usize) -> (Vec<u8>, u64) {
        if output.len() <= kept + MARKER as usize {
            return (output.to_vec(), 0);
        }
        let omitted = (output.len() - kept) as u64;
        let (head, tail) = (&output[..kept / 2], &output[output.len() - (kept - kept / 2)..]);
        ([head, marker(omitted).as_bytes(), tail].concat(), omitted)
    }

    proptest! {
        /// Catches a beginning that is shorter than half of what is kept.
        #[test]
        fn the_file_is_the_beginning_the_marker_and_the_end(
            output in prop::collection::vec(any::<u8>(), 0..900),
            pieces in prop::collection::vec(1usize..200, 1..6),
            limit in 0usize..300,
        ) {
            let (file, captured) = kept(&output, &pieces, limit as u64);
            let (content, omitted) = expected(&output, limit);
            prop_assert_eq!(file, content);
            prop_assert_eq!((captured.written, captured.omitted), (output.len() as u64, omitted));
        }
    }

    #[test]
    fn the_marker_has_its_length_whatever_it_says() {
        assert_eq!(marker(0).len() as u64, MARKER);
        assert_eq!(marker(u64::MAX).len() as u64, MARKER);
        assert!(marker(u64::MAX).contains("[18446744073709551615 bytes left out here]"));
    }

    #[test]
    fn a_limit_beyond_any_disk_does_not_overflow() {
        assert_eq!(kept(b"all of it", &[4], u64::MAX - MARKER).0, b"all of it");
    }

    #[test]
    fn a_full_disk_is_an_error_that_names_the_file() {
        let mut capture = Capture::create(Path::new("/dev/full"), 100).unwrap();
        let error = capture.keep(b"x").unwrap_err();
        assert!(error.to_string().starts_with("cannot keep the output in /dev/full: "), "{error}");
    }
}
