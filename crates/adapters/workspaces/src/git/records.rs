//! The NUL-separated records of `status`, `diff-tree`, `config` and of plain lists.
//!
//! Owns their grammar, as pure functions of bytes. Refuses to guess: a record that does not have its fields is left
//! out by `Option`, never by a panic, and a path is bytes from beginning to end.

/// The non-empty pieces between NULs.
pub(crate) fn list(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == 0).filter(|piece| !piece.is_empty())
}

/// Joins paths for the standard input of a command with `-z`.
pub(crate) fn joined<'a>(paths: impl IntoIterator<Item = &'a Vec<u8>>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for path in paths {
        bytes.extend_from_slice(path);
        bytes.push(0);
    }
    bytes
}

/// How a working file stands to the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It is in the index with other content, another type, or in conflict.
    Changed,
    /// It is in the index and no longer there.
    Gone,
    /// The index does not know it.
    Untracked,
    /// The root of a repository of its own that the index does not know.
    NestedRepository,
}

/// One working file that is not as the index says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dirty {
    /// Its path from the root, without a slash at the end.
    pub(crate) path: Vec<u8>,
    /// How it stands.
    pub(crate) standing: Standing,
}

/// The records of `status --porcelain=v2 -z --no-renames` that concern the working tree.
pub(crate) fn dirty(bytes: &[u8]) -> Vec<Dirty> {
    list(bytes).filter_map(dirty_record).collect()
}

fn dirty_record(record: &[u8]) -> Option<Dirty> {
    let (kind, rest) = record.split_at_checked(2)?;
    let tracked = |fields: usize| {
        let mut pieces = rest.splitn(fields, |byte| *byte == b' ');
        let in_tree = pieces.next()?.get(1).copied()?;
        // Whatever follows the fixed fields is the path, spaces included.
        let path = pieces.nth(fields - 2)?.to_vec();
        let standing = match in_tree {
            b'.' => return None,
            b'D' => Standing::Gone,
            _ => Standing::Changed,
        };
        Some(Dirty { path, standing })
    };
    match kind {
        b"1 " => tracked(8),
        // In a conflict both letters describe sides of a merge; the working file is what counts.
        b"u " => tracked(10).map(|record| Dirty { standing: Standing::Changed, ..record }),
        b"? " => Some(match rest.strip_suffix(b"/") {
            Some(path) => Dirty { path: path.to_vec(), standing: Standing::NestedRepository },
            None => Dirty { path: rest.to_vec(), standing: Standing::Untracked },
        }),
        _ => None,
    }
}

/// The mode of an entry of a tree, as git writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// There is no entry.
    Absent,
    /// A file, executable or not.
    File(u32),
    /// A symbolic link.
    Link,
    /// A commit of another repository.
    Submodule,
}

impl Mode {
    fn parse(octal: &[u8]) -> Option<Self> {
        let octal = std::str::from_utf8(octal).ok()?;
        Some(match u32::from_str_radix(octal, 8).ok()? {
            0 => Self::Absent,
            0o120_000 => Self::Link,
            0o160_000 => Self::Submodule,
            other => Self::File(other),
        })
    }

    /// As git reads it.
    pub(crate) fn octal(self) -> String {
        match self {
            Self::Absent => "0".to_string(),
            Self::Link => "120000".to_string(),
            Self::Submodule => "160000".to_string(),
            Self::File(mode) => format!("{mode:o}"),
        }
    }
}

/// One entry that differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Differing {
    /// Its mode before.
    pub(crate) before: Mode,
    /// Its mode after.
    pub(crate) after: Mode,
    /// The name of its content after.
    pub(crate) object: String,
    /// Its path.
    pub(crate) path: Vec<u8>,
}

/// Lines added and removed at a path; `None` for what has no lines.
pub(crate) type Counted = (Vec<u8>, Option<u64>);

/// What `diff-tree -r -z --raw --numstat --no-renames` wrote: the raw records, then for the same paths in any order
/// the lines.
pub(crate) fn differing(bytes: &[u8]) -> (Vec<Differing>, Vec<Counted>) {
    let mut raw = Vec::new();
    let mut counted = Vec::new();
    let mut pieces = list(bytes);
    while let Some(piece) = pieces.next() {
        match piece.strip_prefix(b":") {
            Some(header) => raw.extend(pieces.next().and_then(|path| raw_record(header, path))),
            None => counted.extend(counted_record(piece)),
        }
    }
    (raw, counted)
}

fn raw_record(header: &[u8], path: &[u8]) -> Option<Differing> {
    let mut fields = header.split(|byte| *byte == b' ');
    let before = Mode::parse(fields.next()?)?;
    let after = Mode::parse(fields.next()?)?;
    let object = String::from_utf8(fields.nth(1)?.to_vec()).ok()?;
    Some(Differing { before, after, object, path: path.to_vec() })
}

fn counted_record(record: &[u8]) -> Option<Counted> {
    let mut fields = record.splitn(3, |byte| *byte == b'\t');
    let mut number = || -> Option<Option<u64>> {
        let text = std::str::from_utf8(fields.next()?).ok()?;
        Some(text.parse::<u64>().ok())
    };
    let (added, removed) = (number()?, number()?);
    let lines = added.zip(removed).map(|(added, removed)| added.saturating_add(removed));
    Some((fields.next()?.to_vec(), lines))
}

/// The records of `config -z`: a key, and its value where it has one.
pub(crate) fn settings(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let setting = |piece: &[u8]| {
        let mut halves = piece.splitn(2, |byte| *byte == b'\n');
        let key = String::from_utf8(halves.next()?.to_vec()).ok()?;
        // A key without a value means true.
        Some((key, halves.next().unwrap_or(b"true").to_vec()))
    };
    list(bytes).filter_map(setting).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_records_keep_spaces_newlines_and_bytes_of_a_path() {
        let bytes = b"1 .M N... 100644 100644 100644 aa bb a file\nwith \xff\x001 M. N... 1 2 3 a b staged only\0\
            1 .D N... 1 2 3 a b gone\0u UU N... 1 2 3 4 a b c in conflict\0? new\0? nested/\0! ignored\0# header\0";
        let expected = [
            (&b"a file\nwith \xff"[..], Standing::Changed),
            (b"gone", Standing::Gone),
            (b"in conflict", Standing::Changed),
            (b"new", Standing::Untracked),
            (b"nested", Standing::NestedRepository),
        ];
        let found = dirty(bytes);
        let found: Vec<_> = found.iter().map(|dirty| (dirty.path.as_slice(), dirty.standing)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn differences_are_read_with_their_lines() {
        let bytes = b":100644 100755 aa bb M\0x y\0:000000 160000 00 cc A\0sub\0:120000 000000 dd 00 D\0-5\0\
            3\t4\tx y\0-\t-\tsub\x000\t1\t-5\0";
        let (raw, counted) = differing(bytes);
        let modes: Vec<_> = raw.iter().map(|entry| (entry.before, entry.after, &*entry.object)).collect();
        assert_eq!(
            modes,
            [
                (Mode::File(0o100_644), Mode::File(0o100_755), "bb"),
                (Mode::Absent, Mode::Submodule, "cc"),
                (Mode::Link, Mode::Absent, "00"),
            ]
        );
        let lines: Vec<_> = counted.iter().map(|(path, lines)| (path.as_slice(), *lines)).collect();
        assert_eq!(lines, [(&b"x y"[..], Some(7)), (b"sub", None), (b"-5", Some(1))]);
    }

    #[test]
    fn settings_have_values_with_newlines_or_none() {
        let read = settings(b"core.a\nx\ny\0core.b\0");
        assert_eq!(
            read,
            [("core.a".to_string(), b"x\ny".to_vec()), ("core.b".to_string(), b"true".to_vec())]
        );
    }

    proptest::proptest! {
        /// Catches a record split where it may be too short.
        #[test]
        fn no_bytes_make_a_parser_fail(bytes in proptest::collection::vec(0_u8..128, 0..200)) {
            drop((dirty(&bytes), differing(&bytes), settings(&bytes)));
        }
    }
}
