//! Splitting output into lines as it arrives.
//!
//! Invariant: at most one line of [`MAX_LINE`] bytes is buffered.

use core::fmt::Debug;
use core::mem;

use crate::progress::Progress;
use crate::transcript::Transcript;

/// The longest line that is read completely, in bytes. Agents print whole files and images on one line; of a longer line
/// the start is read.
pub const MAX_LINE: usize = 1 << 20;

pub trait Reader: Debug + Send {
    /// The progress that a line reports. The line has no line break and may contain any bytes.
    fn line(&mut self, line: &[u8]) -> Vec<Progress>;

    fn finish(self: Box<Self>) -> Transcript;
}

#[derive(Debug)]
pub struct OutputStream {
    reader: Box<dyn Reader>,
    line: Vec<u8>,
}

impl OutputStream {
    pub fn new(reader: Box<dyn Reader>) -> Self {
        Self { reader, line: Vec::new() }
    }

    /// The progress of the lines that end in this chunk.
    pub fn push(&mut self, chunk: &[u8]) -> Vec<Progress> {
        let mut progress = Vec::new();
        let mut parts = chunk.split(|byte| *byte == b'\n');
        let mut part = parts.next().unwrap_or_default();
        for next in parts {
            self.add(part);
            progress.extend(self.finish_line());
            part = next;
        }
        self.add(part);
        progress
    }

    /// The progress of the last line, if it had no line break, and everything that was read.
    pub fn finish(mut self) -> (Vec<Progress>, Transcript) {
        let progress = self.finish_line();
        (progress, self.reader.finish())
    }

    fn add(&mut self, part: &[u8]) {
        let room = MAX_LINE.saturating_sub(self.line.len());
        self.line.extend_from_slice(part.get(..room).unwrap_or(part));
    }

    fn finish_line(&mut self) -> Vec<Progress> {
        let mut line = mem::take(&mut self.line);
        let progress = self.reader.line(line.trim_ascii());
        line.clear();
        // The buffer is reused, unless one large line made it grow.
        if line.capacity() <= MAX_LINE / 8 {
            self.line = line;
        }
        progress
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default)]
    struct Echo;

    impl Reader for Echo {
        fn line(&mut self, line: &[u8]) -> Vec<Progress> {
            vec![Progress::Line(String::from_utf8_lossy(line).into_owned())]
        }

        fn finish(self: Box<Self>) -> Transcript {
            Transcript::default()
        }
    }

    fn lines(progress: Vec<Progress>) -> Vec<String> {
        let text = |progress| if let Progress::Line(line) = progress { Some(line) } else { None };
        progress.into_iter().filter_map(text).collect()
    }

    #[test]
    fn lines_are_complete_in_chunks_of_any_size() {
        let mut stream = OutputStream::new(Box::new(Echo));
        assert_eq!(lines(stream.push(b"on")), Vec::<String>::new());
        assert_eq!(lines(stream.push(b"e\r\ntwo\n\nth")), ["one", "two", ""]);
        assert_eq!(lines(stream.push(b"")), Vec::<String>::new());
        assert_eq!(lines(stream.finish().0), ["th"]);
    }

    #[test]
    fn a_line_over_the_limit_is_cut_and_the_next_is_complete() {
        let mut stream = OutputStream::new(Box::new(Echo));
        for _ in 0..3 {
            stream.push(&vec![b'x'; MAX_LINE / 2]);
        }
        let seen = lines(stream.push(b"\nnext\n"));
        assert_eq!(seen.iter().map(String::len).collect::<Vec<_>>(), [MAX_LINE, 4]);
    }
}
