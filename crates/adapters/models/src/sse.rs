//! A parser for server-sent events.
//!
//! Owns lines and events: any line ending, comments, a byte order mark, characters split between chunks. Refuses to
//! interpret events, and to buffer more than a limit.
//!
//! Invariant: the events do not depend on how the bytes were split into chunks.

pub(crate) const MAX_LINE: usize = 4 << 20;
pub(crate) const MAX_EVENT: usize = 8 << 20;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Event {
    /// Empty where the stream has no `event:` line.
    pub(crate) kind: String,
    /// Several `data:` lines are joined with newlines.
    pub(crate) data: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a line or an event of the stream is too long")]
pub(crate) struct TooLong;

#[derive(Debug, Default)]
pub(crate) struct EventReader {
    line: Vec<u8>,
    event: Event,
    has_data: bool,
    /// The last byte was a carriage return, so a line feed after it does not end another line.
    after_return: bool,
    started: bool,
}

impl EventReader {
    /// The events that these bytes complete.
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

    /// The stream ended. An event without an empty line after it is returned too, since some servers leave it out; whether
    /// the answer is complete is decided by the events themselves.
    pub(crate) fn finish(&mut self) -> Result<Option<Event>, TooLong> {
        if !self.line.is_empty() {
            self.end_of_line()?;
        }
        Ok(self.end_of_event())
    }

    fn end_of_line(&mut self) -> Result<Option<Event>, TooLong> {
        let bytes = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&bytes);
        let first = !std::mem::replace(&mut self.started, true);
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
            // Comments have no field; `id` and `retry` are of no use, since a stream is never resumed.
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
    fn each_part_of_the_format_is_parsed() {
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
    fn lines_and_events_that_are_too_long_are_rejected_within_bounded_memory() {
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
        /// Catches decoding characters per chunk, and forgetting a final carriage return between chunks.
        #[test]
        fn any_chunks_give_the_same_events(
            text in "(data: [a-zé日🦀]{0,9}|event: x|: c|\n|\r\n|\r|data:){0,30}",
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let bytes = text.as_bytes();
            let mut positions: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            positions.extend([0, bytes.len()]);
            positions.sort_unstable();
            let chunks: Vec<&[u8]> = positions.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            let bytewise: Vec<&[u8]> = bytes.chunks(1).collect();
            let whole = read(&[bytes]);
            prop_assert_eq!(read(&chunks), whole.clone());
            prop_assert_eq!(read(&bytewise), whole);
        }
    }
}
