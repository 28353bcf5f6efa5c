//! Server-sent events out of bytes as they come.
//!
//! Owns the lines and the events of a stream: any line ending, comments, a mark at the beginning, characters cut in two
//! by the network. Refuses to know what an event means, and to hold more than a bound of any one of them.
//!
//! Invariant: the events depend on the bytes and not on where the network cut them.

/// Bytes of one line, at most.
pub(crate) const MAX_LINE: usize = 4 << 20;
/// Bytes of the data of one event, at most.
pub(crate) const MAX_EVENT: usize = 8 << 20;

/// What a stream said at one go.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Event {
    /// What kind it is; empty where the stream did not say.
    pub(crate) kind: String,
    /// What it says; several lines are joined.
    pub(crate) data: String,
}

/// A line or an event that is larger than any honest one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a line or an event of the stream is too long")]
pub(crate) struct TooLong;

/// Reads events.
#[derive(Debug, Default)]
pub(crate) struct EventReader {
    line: Vec<u8>,
    event: Event,
    has_data: bool,
    /// The last byte was a carriage return, so that a line feed after it is no line of its own.
    after_return: bool,
    began: bool,
}

impl EventReader {
    /// Takes the next bytes and gives the events they complete.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Event>, TooLong> {
        let mut events = Vec::new();
        for &byte in bytes {
            let follows_return = std::mem::replace(&mut self.after_return, byte == b'\r');
            match byte {
                b'\n' if follows_return => {}
                b'\n' | b'\r' => events.extend(self.end_of_line()?),
                _ if self.line.len() >= MAX_LINE => return Err(TooLong),
                _ => self.line.push(byte),
            }
        }
        Ok(events)
    }

    /// The stream ended. An event without an empty line after it is given all the same: servers that leave it out
    /// exist, and whether the answer is complete is seen from what the events say.
    pub(crate) fn finish(&mut self) -> Result<Option<Event>, TooLong> {
        if !self.line.is_empty() {
            self.end_of_line()?;
        }
        Ok(self.end_of_event())
    }

    fn end_of_line(&mut self) -> Result<Option<Event>, TooLong> {
        let bytes = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&bytes);
        let first = !std::mem::replace(&mut self.began, true);
        let line = if first { text.strip_prefix('\u{feff}').unwrap_or(&text) } else { &text };
        if line.is_empty() {
            return Ok(self.end_of_event());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.event.kind = value.to_string(),
            "data" => {
                if self.event.data.len() + value.len() >= MAX_EVENT {
                    return Err(TooLong);
                }
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            // A comment has no field; ids and times to come back are of no use, since a stream is never taken up again.
            _ => {}
        }
        Ok(None)
    }

    fn end_of_event(&mut self) -> Option<Event> {
        let event = std::mem::take(&mut self.event);
        std::mem::take(&mut self.has_data).then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(chunks: &[&[u8]]) -> Result<Vec<Event>, TooLong> {
        let mut reader = EventReader::default();
        let mut events = Vec::new();
        for chunk in chunks {
            events.extend(reader.feed(chunk)?);
        }
        events.extend(reader.finish()?);
        Ok(events)
    }

    fn event(kind: &str, data: &str) -> Event {
        Event { kind: kind.to_string(), data: data.to_string() }
    }

    #[test]
    fn each_part_of_the_format_is_read() {
        for (text, events) in [
            ("data: a\n\ndata: b\n\n", vec![event("", "a"), event("", "b")]),
            ("data: a\r\n\r\ndata: b\r\n\r\n", vec![event("", "a"), event("", "b")]),
            ("data: a\r\rdata: b\r\r", vec![event("", "a"), event("", "b")]),
            ("event: ping\ndata: {}\n\n", vec![event("ping", "{}")]),
            ("data: one\ndata: two\n\n", vec![event("", "one\ntwo")]),
            ("data\n\n", vec![event("", "")]),
            ("data:  two spaces\n\n", vec![event("", " two spaces")]),
            (": a comment\n\n: another\ndata: a\n\n", vec![event("", "a")]),
            ("id: 7\nretry: 10\nunknown: x\ndata: a\n\n", vec![event("", "a")]),
            ("event: only\n\ndata: a\n\n", vec![event("", "a")]),
            ("\u{feff}data: a\n\n", vec![event("", "a")]),
            ("data: without an end", vec![event("", "without an end")]),
            ("", vec![]),
        ] {
            assert_eq!(read(&[text.as_bytes()]), Ok(events), "{text:?}");
        }
    }

    #[test]
    fn what_is_too_long_is_refused_with_bounded_memory() {
        let mut reader = EventReader::default();
        let chunk = [b'x'; 1 << 16];
        let fed = (0..).map(|_| reader.feed(&chunk)).take(MAX_LINE / chunk.len() + 1);
        assert_eq!(fed.last(), Some(Err(TooLong)));
        assert!(reader.line.len() <= MAX_LINE);

        let mut reader = EventReader::default();
        let mut line = b"data: ".to_vec();
        line.resize(1 << 20, b'y');
        line.push(b'\n');
        assert_eq!((0..9).map(|_| reader.feed(&line)).last(), Some(Err(TooLong)));
    }

    proptest! {
        /// Catches decoding characters per chunk, and forgetting between chunks that a carriage return came last.
        #[test]
        fn any_cutting_gives_the_same_events(
            text in "(data: [a-zé日🦀]{0,9}|event: x|: c|\n|\r\n|\r|data:){0,30}",
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let bytes = text.as_bytes();
            let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            places.extend([0, bytes.len()]);
            places.sort_unstable();
            let chunks: Vec<&[u8]> = places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            let bytewise: Vec<&[u8]> = bytes.chunks(1).collect();
            let whole = read(&[bytes]);
            prop_assert_eq!(read(&chunks), whole.clone());
            prop_assert_eq!(read(&bytewise), whole);
        }
    }
}
