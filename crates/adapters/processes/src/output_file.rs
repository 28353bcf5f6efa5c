//! The file with a program's output: its beginning, its end, and a line between them that says how much is missing.
//!
//! Owns the file; refuses to hold output in memory. When more is written than is kept, the part after the beginning
//! becomes a ring buffer that always holds the last bytes, and is put in order at the end. Invariant: the file is never
//! longer than the bytes to be kept and one [line](MARKER).

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use fixpoint_ports::{CapturedOutput, ProcessError};

use crate::rotate::rotate_left;

/// The length of the line that says how many bytes are missing: the longest number fits.
const MARKER: u64 = 64;

#[derive(Debug)]
pub(crate) struct OutputFile {
    file: File,
    path: PathBuf,
    written: u64,
    head: u64,
    tail: u64,
}

impl OutputFile {
    /// Creates or empties the file. Only its owner may read it, because output may repeat secrets.
    pub(crate) fn create(path: &Path, kept: u64) -> Result<Self, ProcessError> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(true).mode(0o600).open(path);
        let file = file.map_err(|source| cannot_write(path, source))?;
        // More than any disk holds, and small enough that adding the marker does not overflow.
        let kept = kept.min(u64::MAX / 2);
        Ok(Self { file, path: path.to_path_buf(), written: 0, head: kept / 2, tail: kept - kept / 2 })
    }

    pub(crate) fn write(&mut self, mut bytes: &[u8]) -> Result<(), ProcessError> {
        while !bytes.is_empty() {
            let (offset, space) = self.next_position();
            let length = usize::try_from(space).unwrap_or(usize::MAX).min(bytes.len());
            let (now, later) = bytes.split_at(length);
            if let Some(offset) = offset {
                self.file.write_all_at(now, offset).map_err(|source| cannot_write(&self.path, source))?;
            }
            self.written += now.len() as u64;
            bytes = later;
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<CapturedOutput, ProcessError> {
        let omitted = self.unroll().map_err(|source| cannot_write(&self.path, source))?;
        Ok(CapturedOutput { path: self.path, written: self.written, omitted })
    }

    /// Bytes that can be written before any is omitted.
    fn capacity(&self) -> u64 {
        self.head + MARKER + self.tail
    }

    /// The offset of the next byte, `None` if it is dropped, and how many bytes fit there.
    fn next_position(&self) -> (Option<u64>, u64) {
        match self.written.checked_sub(self.capacity()) {
            None => (Some(self.written), self.capacity() - self.written),
            Some(_) if self.tail == 0 => (None, u64::MAX),
            Some(beyond) => {
                let position = beyond % self.tail;
                (Some(self.head + MARKER + position), self.tail - position)
            }
        }
    }

    /// Turns the ring buffer into a sequence, and returns how many bytes are missing.
    fn unroll(&self) -> io::Result<u64> {
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

/// The line in the middle, with a newline before it, always [`MARKER`] bytes long.
fn marker(omitted: u64) -> String {
    let text = format!("[{omitted} bytes omitted]");
    format!("\n{text:-<width$}\n", width = MARKER as usize - 2)
}

fn cannot_write(path: &Path, source: io::Error) -> ProcessError {
    ProcessError::Output { path: path.to_path_buf(), source }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Writes `output` in chunks of the given lengths, over and over.
    fn written(output: &[u8], chunks: &[usize], kept: u64) -> (Vec<u8>, CapturedOutput) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("output");
        let mut file = OutputFile::create(&path, kept).unwrap();
        let mut rest = output;
        for length in chunks.iter().cycle() {
            let (chunk, later) = rest.split_at((*length).min(rest.len()));
            file.write(chunk).unwrap();
            assert!(path.metadata().unwrap().len() <= kept + MARKER);
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        let captured = file.finish().unwrap();
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
        fn the_file_has_the_beginning_the_marker_and_the_end(
            output in prop::collection::vec(any::<u8>(), 0..900),
            chunks in prop::collection::vec(1usize..200, 1..6),
            limit in 0usize..300,
        ) {
            let (file, captured) = written(&output, &chunks, limit as u64);
            let (content, omitted) = expected(&output, limit);
            prop_assert_eq!(file, content);
            prop_assert_eq!((captured.written, captured.omitted), (output.len() as u64, omitted));
        }
    }

    #[test]
    fn the_marker_always_has_the_same_length() {
        assert_eq!(marker(0).len() as u64, MARKER);
        assert_eq!(marker(u64::MAX).len() as u64, MARKER);
        assert!(marker(u64::MAX).contains("[18446744073709551615 bytes omitted]"));
    }

    #[test]
    fn the_largest_limit_does_not_overflow() {
        assert_eq!(written(b"all of it", &[4], u64::MAX - MARKER).0, b"all of it");
    }

    #[test]
    fn a_full_disk_is_an_error_that_names_the_file() {
        let mut file = OutputFile::create(Path::new("/dev/full"), 100).unwrap();
        let error = file.write(b"x").unwrap_err();
        assert!(error.to_string().starts_with("cannot write the output to /dev/full: "), "{error}");
    }
}
