//! From pieces of output, as they come, to lines, to progress.
//!
//! Owns the cutting into lines. Invariant: no more than one line of [`LONGEST_LINE`] bytes is ever held.

use core::fmt::Debug;
use core::mem;

use crate::progress::Progress;
use crate::transcript::Transcript;

/// The longest line that is read as a whole. Agents print whole files and pictures on one line; of a longer one the
/// beginning is passed on.
pub const LONGEST_LINE: usize = 1 << 20;

/// Reads what one run of an agent prints.
pub trait Reader: Debug + Send {
    /// What a line says. Its end is not part of it; it may hold anything.
    fn line(&mut self, line: &[u8]) -> Vec<Progress>;

    /// What all of it came to.
    fn ended(self: Box<Self>) -> Transcript;
}

/// Reads output in pieces of any size.
#[derive(Debug)]
pub struct Stream {
    reader: Box<dyn Reader>,
    line: Vec<u8>,
}

impl Stream {
    /// For what `reader` understands.
    pub fn new(reader: Box<dyn Reader>) -> Self {
        Self { reader, line: Vec::new() }
    }

    /// What the lines say that end in this piece.
    pub fn push(&mut self, piece: &[u8]) -> Vec<Progress> {
        let mut progress = Vec::new();
        let mut parts = piece.split(|byte| *byte == b'\n');
        let mut part = parts.next().unwrap_or_default();
        for next in parts {
            self.add(part);
            progress.extend(self.finish_line());
            part = next;
        }
        self.add(part);
        progress
    }

    /// What the last line says, if it was left without an end, and what all of it came to.
    pub fn end(mut self) -> (Vec<Progress>, Transcript) {
        let progress = self.finish_line();
        (progress, self.reader.ended())
    }

    fn add(&mut self, part: &[u8]) {
        let room = LONGEST_LINE.saturating_sub(self.line.len());
        self.line.extend_from_slice(part.get(..room).unwrap_or(part));
    }

    fn finish_line(&mut self) -> Vec<Progress> {
        let mut line = mem::take(&mut self.line);
        let progress = self.reader.line(line.trim_ascii());
        line.clear();
        // The space is used again, but not kept for the sake of one large line.
        if line.capacity() <= LONGEST_LINE / 8 {
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

        fn ended(self: Box<Self>) -> Transcript {
            Transcript::default()
        }
    }

    fn lines(progress: Vec<Progress>) -> Vec<String> {
        let text = |progress| if let Progress::Line(line) = progress { Some(line) } else { None };
        progress.into_iter().filter_map(text).collect()
    }

    #[test]
    fn lines_are_whole_whatever_the_pieces() {
        let mut stream = Stream::new(Box::new(Echo));
        assert_eq!(lines(stream.push(b"on")), Vec::<String>::new());
        assert_eq!(lines(stream.push(b"e\r\ntwo\n\nth")), ["one", "two", ""]);
        assert_eq!(lines(stream.push(b"")), Vec::<String>::new());
        assert_eq!(lines(stream.end().0), ["th"]);
    }

    #[test]
    fn a_line_beyond_the_bound_is_cut_and_the_next_is_whole() {
        let mut stream = Stream::new(Box::new(Echo));
        for _ in 0..3 {
            stream.push(&vec![b'x'; LONGEST_LINE / 2]);
        }
        let seen = lines(stream.push(b"\nnext\n"));
        assert_eq!(seen.iter().map(String::len).collect::<Vec<_>>(), [LONGEST_LINE, 4]);
    }
}
