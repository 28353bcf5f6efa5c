//! The NUL-separated records of `status`, `diff-tree`, `ls-tree`, `config` and of plain lists.
//!
//! Owns their grammar, as pure functions of bytes. Refuses to guess: a record that does not have its fields makes the
//! whole answer unreadable, because a path that is left out would be a change that nobody sees. A path is bytes from
//! beginning to end.

use fixpoint_ports::WorkspaceError;

/// What is shown of a record that cannot be read.
const SHOWN_BYTES: usize = 200;

fn unreadable(command: &str, record: &[u8]) -> WorkspaceError {
    let shown = record.get(..record.len().min(SHOWN_BYTES)).unwrap_or_default();
    let message = format!("its output has a record that cannot be parsed: {}", shown.escape_ascii());
    WorkspaceError::Git { command: command.to_string(), message }
}

/// The pieces of an answer in which every record ends with a NUL; one that does not was cut off.
fn terminated<'a>(command: &str, bytes: &'a [u8]) -> Result<impl Iterator<Item = &'a [u8]>, WorkspaceError> {
    match bytes.last() {
        None | Some(0) => Ok(list(bytes)),
        Some(_) => Err(unreadable(command, list(bytes).last().unwrap_or_default())),
    }
}

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
pub(crate) fn dirty(bytes: &[u8]) -> Result<Vec<Dirty>, WorkspaceError> {
    let mut found = Vec::new();
    for record in terminated("status", bytes)? {
        match dirty_record(record).ok_or_else(|| unreadable("status", record))? {
            Told::File(dirty) => found.push(dirty),
            Told::Nothing => {}
        }
    }
    Ok(found)
}

/// What a record of `status` says about the working tree.
enum Told {
    File(Dirty),
    Nothing,
}

fn dirty_record(record: &[u8]) -> Option<Told> {
    let (kind, rest) = record.split_at_checked(2)?;
    let tracked = |fields: usize| {
        let mut pieces = rest.splitn(fields, |byte| *byte == b' ');
        let in_tree = pieces.next()?.get(1).copied()?;
        // Whatever follows the fixed fields is the path, spaces included.
        let path = pieces.nth(fields.checked_sub(2)?)?.to_vec();
        Some((path, in_tree))
    };
    let file = |path: &[u8], standing| Told::File(Dirty { path: path.to_vec(), standing });
    match kind {
        b"1 " => {
            let (path, in_tree) = tracked(8)?;
            match in_tree {
                b'.' => Some(Told::Nothing),
                b'D' => Some(file(&path, Standing::Gone)),
                b'M' | b'T' | b'A' | b'R' | b'C' | b'U' => Some(file(&path, Standing::Changed)),
                _ => None,
            }
        }
        // In a conflict both letters describe sides of a merge; the working file is what counts.
        b"u " => tracked(10).map(|(path, _)| file(&path, Standing::Changed)),
        b"? " => match rest.strip_suffix(b"/").unwrap_or(rest) {
            b"" => None,
            path if path.len() < rest.len() => Some(file(path, Standing::NestedRepository)),
            path => Some(file(path, Standing::Untracked)),
        },
        b"! " | b"# " => Some(Told::Nothing),
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
pub(crate) fn differing(bytes: &[u8]) -> Result<(Vec<Differing>, Vec<Counted>), WorkspaceError> {
    let mut raw = Vec::new();
    let mut counted = Vec::new();
    let mut pieces = terminated("diff-tree", bytes)?;
    while let Some(piece) = pieces.next() {
        let refusal = || unreadable("diff-tree", piece);
        match piece.strip_prefix(b":") {
            Some(header) => {
                let path = pieces.next().ok_or_else(refusal)?;
                raw.push(raw_record(header, path).ok_or_else(refusal)?);
            }
            None => counted.push(counted_record(piece).ok_or_else(refusal)?),
        }
    }
    Ok((raw, counted))
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
    let mut number = || number_or_dash(fields.next()?);
    let (added, removed) = (number()?, number()?);
    let lines = added.zip(removed).map(|(added, removed)| added.saturating_add(removed));
    Some((fields.next()?.to_vec(), lines))
}

/// A number, or the dash that git writes where there is none.
fn number_or_dash(text: &[u8]) -> Option<Option<u64>> {
    match text {
        b"-" => Some(None),
        digits => std::str::from_utf8(digits).ok()?.parse().ok().map(Some),
    }
}

/// One entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its mode.
    pub(crate) mode: Mode,
    /// The name of its content.
    pub(crate) object: String,
    /// The size of its content, where it was asked for and there is one.
    pub(crate) size: Option<u64>,
    /// Its path.
    pub(crate) path: Vec<u8>,
}

/// The records of `ls-tree -z`, with or without `--long`.
pub(crate) fn entries(bytes: &[u8]) -> Result<Vec<Entry>, WorkspaceError> {
    let record = |record| entry(record).ok_or_else(|| unreadable("ls-tree", record));
    terminated("ls-tree", bytes)?.map(record).collect()
}

fn entry(record: &[u8]) -> Option<Entry> {
    let mut halves = record.splitn(2, |byte| *byte == b'\t');
    // The size is set flush right, with spaces before it.
    let mut words = halves.next()?.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let mode = Mode::parse(words.next()?)?;
    let object = String::from_utf8(words.nth(1)?.to_vec()).ok()?;
    let size = words.next().map_or(Some(None), number_or_dash)?;
    Some(Entry { mode, object, size, path: halves.next()?.to_vec() })
}

/// The contents that `cat-file --batch` writes, in the order in which they were asked for.
pub(crate) fn contents(mut bytes: &[u8]) -> Result<Vec<&[u8]>, WorkspaceError> {
    let mut contents = Vec::new();
    while !bytes.is_empty() {
        let (content, rest) = content(bytes).ok_or_else(|| {
            let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
            unreadable("cat-file", line)
        })?;
        contents.push(content);
        bytes = rest;
    }
    Ok(contents)
}

/// The first content, after a line that ends with its size, and what follows it.
fn content(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let (head, rest) = bytes.split_at_checked(end)?;
    let size = head.rsplit(|byte| *byte == b' ').next()?;
    let size: usize = std::str::from_utf8(size).ok()?.parse().ok()?;
    let (content, rest) = rest.get(1..)?.split_at_checked(size)?;
    Some((content, rest.strip_prefix(b"\n")?))
}

/// The records of `config -z`: a key, and its value where it has one.
pub(crate) fn settings(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let setting = |piece: &[u8]| {
        let mut halves = piece.splitn(2, |byte| *byte == b'\n');
        let key = String::from_utf8_lossy(halves.next().unwrap_or_default()).into_owned();
        // A key without a value means true.
        (key, halves.next().unwrap_or(b"true").to_vec())
    };
    list(bytes).map(setting).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_told_apart_by_their_sizes_alone() {
        let said = b"aa blob 3\na\nb\nbb blob 0\n\ncc blob 4\n\x00 1\n\n";
        assert_eq!(contents(said).unwrap(), [&b"a\nb"[..], b"", b"\x00 1\n"]);
        for broken in [&b"aa missing\n"[..], b"aa blob 9\nshort\n", b"aa blob 1\nab\n"] {
            assert!(contents(broken).is_err(), "{}", broken.escape_ascii());
        }
    }

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
        let found = dirty(bytes).unwrap();
        let found: Vec<_> = found.iter().map(|dirty| (dirty.path.as_slice(), dirty.standing)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn differences_are_read_with_their_lines() {
        let bytes = b":100644 100755 aa bb M\0x y\0:000000 160000 00 cc A\0sub\0:120000 000000 dd 00 D\0-5\0\
            3\t4\tx y\0-\t-\tsub\x000\t1\t-5\0";
        let (raw, counted) = differing(bytes).unwrap();
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
    fn entries_of_a_tree_are_read_with_and_without_sizes() {
        let file = |size, path: &[u8]| Entry {
            mode: Mode::File(0o100_644),
            object: "aa".to_string(),
            size,
            path: path.to_vec(),
        };
        let read = entries(b"100644 blob aa      12\ta\tb\x00160000 commit bb       -\tsub\x00").unwrap();
        let submodule =
            Entry { mode: Mode::Submodule, object: "bb".to_string(), size: None, path: b"sub".to_vec() };
        assert_eq!(read, [file(Some(12), b"a\tb"), submodule]);
        assert_eq!(entries(b"100644 blob aa\tx y\0").unwrap(), [file(None, b"x y")]);
    }

    #[test]
    fn a_record_that_is_not_understood_makes_the_whole_answer_unreadable() {
        let refused = |answer: Result<(), WorkspaceError>| match answer {
            Err(WorkspaceError::Git { command, message }) => {
                let record = message.split_once(": ").map(|(_, record)| record.to_string());
                (command, record.expect("the message shows the record"))
            }
            other => panic!("{other:?}"),
        };
        let bad_status: [(&[u8], &str); 7] = [
            (b"? fine\x001 .M N... 1 2 3 a\0", "1 .M N... 1 2 3 a"),
            (b"1 .x N... 1 2 3 a b path\0", "1 .x N... 1 2 3 a b path"),
            (b"2 R. N... 1 2 3 a b R100 to\0from\0", "2 R. N... 1 2 3 a b R100 to"),
            (b"? \0", "? "),
            (b"? /\0", "? /"),
            (b"x\0", "x"),
            (b"? whole\0? cut o", "? cut o"),
        ];
        for (bytes, shown) in bad_status {
            assert_eq!(refused(dirty(bytes).map(drop)), ("status".to_string(), shown.to_string()));
        }
        let bad_differences: [&[u8]; 5] =
            [b":100644 100644 a b M\0", b":1 x a b M\0p\0", b":1 2\0p\0", b"1\tx\tp\0", b"1\t2\0"];
        for bytes in bad_differences {
            assert_eq!(refused(differing(bytes).map(drop)).0, "diff-tree", "{}", bytes.escape_ascii());
        }
        let bad_entries: [&[u8]; 4] =
            [b"100644 blob aa path\0", b"100644 blob\tp\0", b"9 blob aa\tp\0", b"100644 blob aa x\tp\0"];
        for bytes in bad_entries {
            assert_eq!(refused(entries(bytes).map(drop)).0, "ls-tree", "{}", bytes.escape_ascii());
        }
        let (_, shown) = refused(dirty(&[b'\xff'; 1000]).map(drop));
        assert_eq!(shown, "\\xff".repeat(SHOWN_BYTES));
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
            drop((dirty(&bytes), differing(&bytes), entries(&bytes), settings(&bytes)));
        }
    }
}
