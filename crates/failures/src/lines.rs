//! Bytes in, lines out: one pass, bounded memory, whatever the sizes of the chunks.
//!
//! Owns where a line ends, how much of it is kept, and that it becomes text without escape sequences. In XML, which
//! tools like to write as a single line, a `>` ends a piece as well. Refuses to know what a line means.

use std::borrow::Cow;

use memchr::{memchr, memchr2, memchr3, memrchr};

/// The rest of a longer line is dropped.
pub(crate) const MAX_LINE: usize = 64 * 1024;

/// Bytes of a line that must be known before it can be recognised as XML.
const MARKUP_PROBE: usize = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Mode {
    #[default]
    Text,
    /// At line ends and after every `>`.
    Markup,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Line,
    Tag,
}

pub(crate) trait Sink {
    /// Returns how to split the rest.
    fn piece(&mut self, text: &str, ending: Ending, mode: Mode) -> Mode;
}

#[derive(Debug, Default)]
pub(crate) struct Lines {
    partial: Vec<u8>,
    /// Whether the current piece was too long.
    cut: bool,
    mode: Mode,
    long_lines: u64,
}

impl Lines {
    pub(crate) fn long_lines(&self) -> u64 {
        self.long_lines
    }

    pub(crate) fn push(&mut self, mut chunk: &[u8], sink: &mut impl Sink) {
        while !chunk.is_empty() {
            if self.partial.is_empty() && !self.cut && self.mode == Mode::Text && chunk.first() == Some(&b'<')
            {
                // Only a probe that is long enough can tell XML, so its bytes are gathered first.
                chunk = self.gather(chunk, MARKUP_PROBE, sink);
                continue;
            }
            if self.mode == Mode::Text
                && (1..MARKUP_PROBE).contains(&self.partial.len())
                && self.partial.first() == Some(&b'<')
                && !self.cut
            {
                chunk = self.gather(chunk, MARKUP_PROBE - self.partial.len(), sink);
                continue;
            }
            let end = match self.mode {
                Mode::Text => memchr(b'\n', chunk),
                Mode::Markup => memchr2(b'\n', b'>', chunk),
            };
            let Some(end) = end else {
                self.keep(chunk);
                return;
            };
            let (head, tail) = chunk.split_at_checked(end + 1).unwrap_or((chunk, &[]));
            self.complete(head, sink);
            chunk = tail;
        }
    }

    pub(crate) fn finish(&mut self, sink: &mut impl Sink) {
        if !self.partial.is_empty() || self.cut {
            self.complete(b"", sink);
        }
    }

    /// Takes up to `wanted` bytes, and decides whether they begin XML.
    fn gather<'a>(&mut self, chunk: &'a [u8], wanted: usize, sink: &mut impl Sink) -> &'a [u8] {
        let (head, tail) = chunk.split_at_checked(wanted).unwrap_or((chunk, &[]));
        if let Some(end) = memchr(b'\n', head) {
            let (head, tail) = chunk.split_at_checked(end + 1).unwrap_or((chunk, &[]));
            self.complete(head, sink);
            return tail;
        }
        self.partial.extend_from_slice(head);
        if [&b"<?xml "[..], b"<testsuite"].iter().any(|start| self.partial.starts_with(start)) {
            self.mode = Mode::Markup;
        }
        tail
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = MAX_LINE.saturating_sub(self.partial.len());
        match bytes.get(..room) {
            Some(kept) if bytes.len() > room => {
                self.partial.extend_from_slice(kept);
                self.cut = true;
            }
            Some(_) | None => self.partial.extend_from_slice(bytes),
        }
    }

    /// Emits a piece: what was buffered and `bytes`, which ends with its delimiter.
    fn complete(&mut self, bytes: &[u8], sink: &mut impl Sink) {
        let (body, ending) = match bytes.split_last() {
            Some((b'\n', body)) => (body, Ending::Line),
            Some((b'>', _)) if self.mode == Mode::Markup => (bytes, Ending::Tag),
            Some(_) | None => (bytes, Ending::Line),
        };
        if self.partial.is_empty() && !self.cut && body.len() <= MAX_LINE {
            self.mode = sink.piece(&text_of(body), ending, self.mode);
            return;
        }
        self.keep(body);
        self.long_lines += u64::from(self.cut);
        self.mode = sink.piece(&text_of(&self.partial), ending, self.mode);
        self.partial.clear();
        self.cut = false;
    }
}

/// A line as a person would see it: no escape sequences, no carriage return, and of what a carriage return was
/// overwritten with only the last. Bytes that are no text are replaced.
pub(crate) fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    // Nearly every line has none of the three.
    let first = memchr3(0x1b, 0x08, b'\r', bytes);
    let (bytes, first) = match first.and_then(|_| memrchr(b'\r', bytes)) {
        Some(at) => {
            let last = bytes.get(at + 1..).unwrap_or_default();
            (last, memchr2(0x1b, 0x08, last))
        }
        None => (bytes, first),
    };
    match first {
        // Nearly every line is valid, which is found out several times faster than what is wrong with one.
        None => match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(bytes),
        },
        Some(first) => Cow::Owned(String::from_utf8_lossy(&without_escapes(bytes, first)).into_owned()),
    }
}

/// Removes escape sequences and backspaces; `first` is the position of the first of them. Of what stands before and behind
/// a movement to another line, as progress bars make it, only the last is kept.
fn without_escapes(bytes: &[u8], first: usize) -> Vec<u8> {
    let mut kept = Vec::with_capacity(bytes.len());
    // Where the last text begins.
    let mut start = 0;
    let is_blank = |text: Option<&[u8]>| text.is_none_or(|text| text.iter().all(u8::is_ascii_whitespace));
    let (clean, mut rest) = bytes.split_at_checked(first).unwrap_or((bytes, &[]));
    kept.extend_from_slice(clean);
    while let Some((&byte, behind)) = rest.split_first() {
        match byte {
            0x1b => {
                if moves(behind) && !is_blank(kept.get(start..)) {
                    start = kept.len();
                }
                rest = behind_escape(behind);
            }
            0x08 => rest = behind,
            _ => {
                let next = memchr2(0x1b, 0x08, rest).unwrap_or(rest.len());
                let (clean, behind) = rest.split_at_checked(next).unwrap_or((rest, &[]));
                if start > 0 && start == kept.len() && !is_blank(Some(clean)) {
                    kept.clear();
                    start = 0;
                }
                kept.extend_from_slice(clean);
                rest = behind;
            }
        }
    }
    kept
}

/// Whether an escape sequence, given what follows its escape character, moves to another line or erases this one.
fn moves(bytes: &[u8]) -> bool {
    let Some(rest) = bytes.strip_prefix(b"[") else { return false };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b';').count();
    match rest.get(digits) {
        Some(b'A' | b'B' | b'E' | b'F' | b'H') => true,
        Some(b'K') => rest.starts_with(b"2"),
        Some(_) | None => false,
    }
}

/// What follows an escape sequence, given what follows its escape character.
fn behind_escape(bytes: &[u8]) -> &[u8] {
    match bytes.split_first() {
        // A control sequence ends with a byte from `@` to `~`.
        Some((b'[', rest)) => {
            let end = rest.iter().position(|byte| (0x40..=0x7e).contains(byte));
            end.and_then(|end| rest.get(end + 1..)).unwrap_or_default()
        }
        // An operating system command (titles, hyperlinks) ends with a bell or a string terminator.
        Some((b']' | b'P' | b'_' | b'^', rest)) => match memchr2(0x07, 0x1b, rest) {
            Some(end) => {
                let behind = rest.get(end..).unwrap_or_default();
                behind.strip_prefix(b"\x07").or_else(|| behind.strip_prefix(b"\x1b\\")).unwrap_or(behind)
            }
            None => &[],
        },
        Some((b'(' | b')' | b'#' | b'%', rest)) => rest.get(1..).unwrap_or_default(),
        Some((_, rest)) => rest,
        None => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Pieces(Vec<(String, Ending)>);

    impl Sink for Pieces {
        fn piece(&mut self, text: &str, ending: Ending, mode: Mode) -> Mode {
            self.0.push((text.to_string(), ending));
            if text.ends_with("</testsuite>") { Mode::Text } else { mode }
        }
    }

    fn split(chunks: &[&[u8]]) -> Vec<(String, Ending)> {
        let (mut lines, mut sink) = (Lines::default(), Pieces::default());
        for chunk in chunks {
            lines.push(chunk, &mut sink);
        }
        lines.finish(&mut sink);
        sink.0
    }

    #[test]
    fn chunks_make_no_difference() {
        let output =
            b"one\r\n\ntwo\rthree\n<testsuite a=\"1\"><testcase/>text\n<p>4\n</testsuite>a > b\n<tests>\nend";
        let whole = split(&[output]);
        for size in 1..=16 {
            let chunks: Vec<&[u8]> = output.chunks(size).collect();
            assert_eq!(whole, split(&chunks), "{size}");
        }
        let texts: Vec<&str> = whole.iter().map(|(text, _)| text.as_str()).collect();
        let expected = [
            "one",
            "",
            "three",
            "<testsuite a=\"1\">",
            "<testcase/>",
            "text",
            "<p>",
            "4",
            "</testsuite>",
            "a > b",
            "<tests>",
            "end",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn a_line_without_end_is_cut() {
        let (mut lines, mut sink) = (Lines::default(), Pieces::default());
        let megabyte = vec![b'x'; 1024 * 1024];
        for _ in 0..10 {
            lines.push(&megabyte, &mut sink);
            assert!(lines.partial.capacity() <= 2 * MAX_LINE);
        }
        lines.push(b"\nnext\n", &mut sink);
        let lengths: Vec<usize> = sink.0.iter().map(|(text, _)| text.len()).collect();
        assert_eq!((lengths, lines.long_lines()), (vec![MAX_LINE, 4], 1));
    }

    #[test]
    fn escape_sequences_vanish_and_odd_bytes_stay_visible() {
        let table: [(&[u8], &str); 10] = [
            (b"\x1b[2A<==--> 85%\x1b[35D\x1b[1B> :test\x1b[2A> x FAILED\x1b[0K\x1b[1B", "> x FAILED"),
            (b"\x1b[1A\x1b[2Kone", "one"),
            (b"50%\x1b[2K\x1b[1Gdone", "done"),
            (b"\x1b[31;1mred\x1b[0m", "red"),
            (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x07", "link"),
            (b"a\x1b(Bb", "ab"),
            (b"cut \x1b[3", "cut "),
            (b"lone \x1b", "lone "),
            (b"\xff\xfe text", "\u{fffd}\u{fffd} text"),
            ("日本\x1b[1m語".as_bytes(), "日本語"),
        ];
        for (bytes, expected) in table {
            assert_eq!(text_of(bytes), expected, "{bytes:?}");
        }
    }
}
