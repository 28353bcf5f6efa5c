//! The bytes of a journal: the file's header, and a record between its own header and trailer. Little-endian.
//!
//! ```text
//! file    "FIXPTJNL"  version u32  crc u32 of the twelve bytes before
//! record  length u32  number u64  kind 4 letters  crc u32 of the sixteen bytes before
//!         payload
//!         crc u32 of the sixteen bytes and the payload   end mark 0xA5
//! ```
//!
//! The checksum is CRC-32C. It detects every error within 32 consecutive bits and every three flipped bits of a
//! record, by construction and not just most probably, and costs a twentieth of a cryptographic hash, which matters when
//! 100,000 records are read at a start. The header has its own so that a damaged length is not followed into the
//! next records, and is not mistaken for a record that was cut short. The second one leaves the first out: a checksum
//! that runs over data and its own checksum is the same for all data, and would not tie the payload to its number.
//!
//! The end mark is never zero and has several bits set, so that a whole record never ends in zeros, not even
//! after one flipped bit: what ends in zeros was never whole.

use fixpoint_ports::Seq;

/// Written, and the newest that is read.
pub const FORMAT_VERSION: u32 = 1;
/// Larger payloads are stored as blobs.
pub const MAX_RECORD_BYTES: usize = 1 << 20;
pub const RECORD_OVERHEAD_BYTES: usize = HEADER_BYTES + TRAILER_BYTES;

const MAGIC: [u8; 8] = *b"FIXPTJNL";
const END_MARK: u8 = 0xA5;
const HEADER_BYTES: usize = 20;
const TRAILER_BYTES: usize = 5;
pub(crate) const FILE_HEADER_BYTES: usize = 16;
/// The largest record on the disk, which is the most that one interrupted append can leave.
pub(crate) const MAX_FRAME_BYTES: usize = MAX_RECORD_BYTES + RECORD_OVERHEAD_BYTES;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It has a payload and a number.
    Entry,
    /// A writer began: earlier writers may not write any more. It has no payload and no number.
    TakeOver,
}

impl Kind {
    const fn letters(self) -> [u8; 4] {
        match self {
            Self::Entry => *b"ENTR",
            Self::TakeOver => *b"TAKE",
        }
    }

    fn from_letters(letters: [u8; 4]) -> Option<Self> {
        [Self::Entry, Self::TakeOver].into_iter().find(|kind| kind.letters() == letters)
    }

    pub(crate) const fn after(self, seq: Seq) -> Seq {
        match self {
            Self::Entry => seq.next(),
            Self::TakeOver => seq,
        }
    }
}

pub(crate) fn file_header() -> [u8; FILE_HEADER_BYTES] {
    sealed_file_header(FORMAT_VERSION)
}

fn sealed_file_header(version: u32) -> [u8; FILE_HEADER_BYTES] {
    let [a, b, c, d, e, f, g, h] = MAGIC;
    let [i, j, k, l] = version.to_le_bytes();
    let open = [a, b, c, d, e, f, g, h, i, j, k, l];
    let [m, n, o, p] = crc32c::crc32c(&open).to_le_bytes();
    [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
}

/// `None` if the header is damaged. The layout of the header is the same in every version.
pub(crate) fn file_version(header: &[u8; FILE_HEADER_BYTES]) -> Option<u32> {
    let version = u32::from_le_bytes(*header.get(8..)?.first_chunk()?);
    (*header == sealed_file_header(version)).then_some(version)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    pub(crate) seq: Seq,
    pub(crate) kind: Kind,
    pub(crate) payload: &'a [u8],
    pub(crate) rest: &'a [u8],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parsed<'a> {
    Whole(Frame<'a>),
    /// The bytes end within a record.
    Short,
    BadHeader {
        /// What follows the header.
        after: &'a [u8],
    },
    /// The payload does not match its checksum.
    BadPayload {
        stored: [u8; TRAILER_BYTES],
        expected: [u8; TRAILER_BYTES],
        /// What follows the record.
        rest: &'a [u8],
    },
}

impl Parsed<'_> {
    /// Whether one write that stopped before its end can have left this: the beginning of a record, and then nothing,
    /// or zeros to the end where the file had grown before its content was there.
    pub(crate) fn is_unfinished(&self) -> bool {
        match self {
            Self::Whole(_) => false,
            Self::Short => true,
            // A whole record has an end mark somewhere after its header, so with zeros only there was never one.
            Self::BadHeader { after } => is_zero(after),
            Self::BadPayload { stored, expected, rest } => {
                begins_and_is_zero(stored, expected) && is_zero(rest)
            }
        }
    }
}

/// `None`, and nothing is added, if the payload is too large.
pub(crate) fn encode(buffer: &mut Vec<u8>, kind: Kind, Seq(seq): Seq, payload: &[u8]) -> Option<()> {
    let length = u32::try_from(payload.len()).ok().filter(|_| payload.len() <= MAX_RECORD_BYTES)?;
    let start = buffer.len();
    buffer.extend_from_slice(&length.to_le_bytes());
    buffer.extend_from_slice(&seq.to_le_bytes());
    buffer.extend_from_slice(&kind.letters());
    let crc = crc32c::crc32c(buffer.get(start..)?);
    buffer.extend_from_slice(&crc.to_le_bytes());
    buffer.extend_from_slice(payload);
    buffer.extend_from_slice(&trailer(crc32c::crc32c_append(crc, payload)));
    Some(())
}

const fn trailer(crc: u32) -> [u8; TRAILER_BYTES] {
    let [a, b, c, d] = crc.to_le_bytes();
    [a, b, c, d, END_MARK]
}

struct Header {
    length: usize,
    seq: Seq,
    kind: Kind,
    /// Their checksum, with which that of the payload continues.
    crc: u32,
}

fn parse_header(bytes: &[u8; HEADER_BYTES]) -> Option<Header> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (seq, rest) = rest.split_first_chunk::<8>()?;
    let (letters, stored) = rest.split_first_chunk::<4>()?;
    let kind = Kind::from_letters(*letters)?;
    let crc = crc32c::crc32c(bytes.first_chunk::<16>()?);
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let is_intact = stored == crc.to_le_bytes() && length <= MAX_RECORD_BYTES;
    is_intact.then_some(Header { length, seq: Seq(u64::from_le_bytes(*seq)), kind, crc })
}

/// Reads the record at the beginning of bytes that reach to the end of the file.
pub(crate) fn parse(bytes: &[u8]) -> Parsed<'_> {
    let Some((header, after)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
        return Parsed::Short;
    };
    let Some(Header { length, seq, kind, crc }) = parse_header(header) else {
        return Parsed::BadHeader { after };
    };
    let split = after.split_at_checked(length);
    let Some((payload, (stored, rest))) =
        split.and_then(|(payload, after)| Some((payload, after.split_first_chunk::<TRAILER_BYTES>()?)))
    else {
        return Parsed::Short;
    };
    let expected = trailer(crc32c::crc32c_append(crc, payload));
    if *stored == expected {
        Parsed::Whole(Frame { seq, kind, payload, rest })
    } else {
        Parsed::BadPayload { stored: *stored, expected, rest }
    }
}

/// Whether some bytes are what a write that stopped before its end leaves of those that were meant: the first of
/// them, and then zeros.
pub(crate) fn begins_and_is_zero(there: &[u8], meant: &[u8]) -> bool {
    let written = there.iter().zip(meant).take_while(|(there, meant)| there == meant).count();
    is_zero(there.get(written..).unwrap_or_default())
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let mut buffer = Vec::new();
        for (kind, payload) in [(Kind::Entry, b"abc".as_slice()), (Kind::TakeOver, b""), (Kind::Entry, b"")] {
            buffer.clear();
            encode(&mut buffer, kind, Seq(7), payload).unwrap();
            assert_eq!(buffer.len(), payload.len() + RECORD_OVERHEAD_BYTES);
            buffer.extend_from_slice(b"next");
            let frame = Frame { seq: Seq(7), kind, payload, rest: b"next" };
            assert_eq!(parse(&buffer), Parsed::Whole(frame));
        }
    }

    /// The bytes are a promise to every journal that exists: a change of them is a new version.
    #[test]
    fn the_bytes_of_version_one_do_not_change() {
        assert_eq!(file_header(), *b"FIXPTJNL\x01\0\0\0\x1e\x5c\x11\x61");
        let mut buffer = Vec::new();
        encode(&mut buffer, Kind::Entry, Seq(1), b"hi").unwrap();
        let expected = b"\x02\0\0\0\x01\0\0\0\0\0\0\0ENTR\x0d\x53\xf7\x8fhi\x01\x45\xd4\x77\xa5";
        assert_eq!(buffer, expected);
    }

    #[test]
    fn a_payload_belongs_to_its_header() {
        let frame = |seq| {
            let mut buffer = Vec::new();
            encode(&mut buffer, Kind::Entry, seq, b"same length").unwrap();
            buffer
        };
        let (one, two) = (frame(Seq(1)), frame(Seq(2)));
        let mixed = [&one[..HEADER_BYTES], &two[HEADER_BYTES..]].concat();
        assert!(matches!(parse(&mixed), Parsed::BadPayload { .. }));
    }

    #[test]
    fn what_is_too_large_is_not_written() {
        let mut buffer = Vec::new();
        assert_eq!(encode(&mut buffer, Kind::Entry, Seq(0), &vec![1; MAX_RECORD_BYTES]), Some(()));
        assert_eq!(encode(&mut buffer, Kind::Entry, Seq(0), &vec![1; MAX_RECORD_BYTES + 1]), None);
    }

    #[test]
    fn another_version_is_recognised_and_a_damaged_header_is_not() {
        assert_eq!(file_version(&sealed_file_header(9)), Some(9));
        for bit in 0..FILE_HEADER_BYTES * 8 {
            let mut header = file_header();
            header[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(file_version(&header), None, "bit {bit}");
        }
    }
}
