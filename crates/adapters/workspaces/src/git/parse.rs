//! The NUL-separated output of `status`, `diff-tree`, `ls-tree` and `config`.
//!
//! Owns the formats, as pure functions of bytes. Refuses to guess: a record without all of its fields makes the whole
//! output an error, because a path that is left out would be a change that nobody sees. Paths are bytes throughout.

use fixpoint_ports::WorkspaceError;

/// What is shown of a record that cannot be parsed.
const SHOWN_BYTES: usize = 200;

fn unparsable(command: &str, record: &[u8]) -> WorkspaceError {
    let shown = record.get(..record.len().min(SHOWN_BYTES)).unwrap_or_default();
    let message = format!("its output has a record that cannot be parsed: {}", shown.escape_ascii());
    WorkspaceError::Git { command: command.to_string(), message }
}

/// The records of an output in which each ends with a NUL; a last one that does not was cut off.
fn terminated<'a>(command: &str, bytes: &'a [u8]) -> Result<impl Iterator<Item = &'a [u8]>, WorkspaceError> {
    match bytes.last() {
        None | Some(0) => Ok(nul_separated(bytes)),
        Some(_) => Err(unparsable(command, nul_separated(bytes).last().unwrap_or_default())),
    }
}

/// The non-empty pieces between NULs.
pub(crate) fn nul_separated(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == 0).filter(|piece| !piece.is_empty())
}

/// Paths as the standard input of a command with `-z`.
pub(crate) fn nul_terminated<'a>(paths: impl IntoIterator<Item = &'a Vec<u8>>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for path in paths {
        bytes.extend_from_slice(path);
        bytes.push(0);
    }
    bytes
}

/// How a working file differs from the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileStatus {
    /// It has another content or type, or a conflict.
    Modified,
    Deleted,
    Untracked,
    /// The root of another repository, which is not in the index.
    NestedRepository,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StatusEntry {
    /// From the root, without a slash at the end.
    pub(crate) path: Vec<u8>,
    pub(crate) status: FileStatus,
}

/// The working files that differ from the index, from `status --porcelain=v2 -z --no-renames`.
pub(crate) fn status(bytes: &[u8]) -> Result<Vec<StatusEntry>, WorkspaceError> {
    let mut entries = Vec::new();
    for record in terminated("status", bytes)? {
        entries.extend(status_record(record).ok_or_else(|| unparsable("status", record))?);
    }
    Ok(entries)
}

/// `None` if the record cannot be parsed, `Some(None)` if it is not about a working file.
fn status_record(record: &[u8]) -> Option<Option<StatusEntry>> {
    let (kind, rest) = record.split_at_checked(2)?;
    let tracked = |fields: usize| {
        let mut pieces = rest.splitn(fields, |byte| *byte == b' ');
        let worktree_letter = pieces.next()?.get(1).copied()?;
        // Whatever follows the fixed fields is the path, spaces included.
        let path = pieces.nth(fields.checked_sub(2)?)?.to_vec();
        Some((path, worktree_letter))
    };
    let entry = |path: &[u8], status| Some(StatusEntry { path: path.to_vec(), status });
    match kind {
        b"1 " => match tracked(8)? {
            (_, b'.') => Some(None),
            (path, b'D') => Some(entry(&path, FileStatus::Deleted)),
            (path, b'M' | b'T' | b'A' | b'R' | b'C' | b'U') => Some(entry(&path, FileStatus::Modified)),
            _ => None,
        },
        // In a conflict both letters are about the sides of the merge; the working file is what counts.
        b"u " => tracked(10).map(|(path, _)| entry(&path, FileStatus::Modified)),
        b"? " => match rest.strip_suffix(b"/").unwrap_or(rest) {
            b"" => None,
            path if path.len() < rest.len() => Some(entry(path, FileStatus::NestedRepository)),
            path => Some(entry(path, FileStatus::Untracked)),
        },
        b"! " | b"# " => Some(None),
        _ => None,
    }
}

/// The mode of a tree entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryMode {
    /// There is no entry.
    Absent,
    /// A file, executable or not.
    File(u32),
    Link,
    Submodule,
}

impl EntryMode {
    fn parse(octal: &[u8]) -> Option<Self> {
        let octal = std::str::from_utf8(octal).ok()?;
        Some(match u32::from_str_radix(octal, 8).ok()? {
            0 => Self::Absent,
            0o120_000 => Self::Link,
            0o160_000 => Self::Submodule,
            other => Self::File(other),
        })
    }

    pub(crate) fn octal(self) -> String {
        match self {
            Self::Absent => "0".to_string(),
            Self::Link => "120000".to_string(),
            Self::Submodule => "160000".to_string(),
            Self::File(mode) => format!("{mode:o}"),
        }
    }
}

/// An entry that differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DiffEntry {
    pub(crate) before: EntryMode,
    pub(crate) after: EntryMode,
    /// The object's name before the change.
    pub(crate) object_before: String,
    /// The object's name after the change.
    pub(crate) object: String,
    pub(crate) path: Vec<u8>,
}

/// Lines added and removed at a path; `None` for a binary file.
pub(crate) type LineCount = (Vec<u8>, Option<u64>);

/// The output of `diff-tree -r -z --raw --numstat --no-renames`: the raw records, then the line counts of the same
/// paths in any order.
pub(crate) fn diff(bytes: &[u8]) -> Result<(Vec<DiffEntry>, Vec<LineCount>), WorkspaceError> {
    let mut entries = Vec::new();
    let mut counts = Vec::new();
    let mut pieces = terminated("diff-tree", bytes)?;
    while let Some(piece) = pieces.next() {
        let error = || unparsable("diff-tree", piece);
        match piece.strip_prefix(b":") {
            Some(header) => {
                let path = pieces.next().ok_or_else(error)?;
                entries.push(diff_entry(header, path).ok_or_else(error)?);
            }
            None => counts.push(line_count(piece).ok_or_else(error)?),
        }
    }
    Ok((entries, counts))
}

fn diff_entry(header: &[u8], path: &[u8]) -> Option<DiffEntry> {
    let mut fields = header.split(|byte| *byte == b' ');
    let before = EntryMode::parse(fields.next()?)?;
    let after = EntryMode::parse(fields.next()?)?;
    let mut object = || String::from_utf8(fields.next()?.to_vec()).ok();
    let (object_before, object) = (object()?, object()?);
    Some(DiffEntry { before, after, object_before, object, path: path.to_vec() })
}

fn line_count(record: &[u8]) -> Option<LineCount> {
    let mut fields = record.splitn(3, |byte| *byte == b'\t');
    let mut number = || number_or_dash(fields.next()?);
    let (added, removed) = (number()?, number()?);
    let lines = added.zip(removed).map(|(added, removed)| added.saturating_add(removed));
    Some((fields.next()?.to_vec(), lines))
}

/// A number, or the dash that git prints where there is none.
fn number_or_dash(text: &[u8]) -> Option<Option<u64>> {
    match text {
        b"-" => Some(None),
        digits => std::str::from_utf8(digits).ok()?.parse().ok().map(Some),
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TreeEntry {
    pub(crate) mode: EntryMode,
    pub(crate) object: String,
    /// Only with `--long`, and only for files and links.
    pub(crate) size: Option<u64>,
    pub(crate) path: Vec<u8>,
}

/// The output of `ls-tree -z`, with or without `--long`.
pub(crate) fn tree(bytes: &[u8]) -> Result<Vec<TreeEntry>, WorkspaceError> {
    let parsed = |record| tree_entry(record).ok_or_else(|| unparsable("ls-tree", record));
    terminated("ls-tree", bytes)?.map(parsed).collect()
}

fn tree_entry(record: &[u8]) -> Option<TreeEntry> {
    let mut halves = record.splitn(2, |byte| *byte == b'\t');
    // The size is right-aligned, with spaces before it.
    let mut words = halves.next()?.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let mode = EntryMode::parse(words.next()?)?;
    let object = String::from_utf8(words.nth(1)?.to_vec()).ok()?;
    let size = words.next().map_or(Some(None), number_or_dash)?;
    Some(TreeEntry { mode, object, size, path: halves.next()?.to_vec() })
}

/// Why git does not look at the working file of an index entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IndexMark {
    /// It does look at it.
    None,
    AssumeUnchanged,
    SkipWorktree,
    /// One of the sides of a conflict.
    Conflict,
}

/// An entry of an index with its times, in seconds and nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IndexEntry<'a> {
    pub(crate) mode: EntryMode,
    pub(crate) object: &'a str,
    pub(crate) mark: IndexMark,
    pub(crate) changed: (i64, i64),
    pub(crate) modified: (i64, i64),
    pub(crate) path: &'a [u8],
}

/// Lines of stat data after each entry.
const DEBUG_LINES: usize = 5;

/// The output of `ls-files -z --stage -v --debug`; `None` if it is not in the expected format.
pub(crate) fn index_entries(mut bytes: &[u8]) -> Option<Vec<IndexEntry<'_>>> {
    let mut entries = Vec::new();
    while !bytes.is_empty() {
        let end = bytes.iter().position(|byte| *byte == 0)?;
        let (record, rest) = (bytes.get(..end)?, bytes.get(end.checked_add(1)?..)?);
        let ends = rest.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let (debug_end, _) = ends.into_iter().nth(DEBUG_LINES.checked_sub(1)?)?;
        let (debug, rest) = rest.split_at_checked(debug_end.checked_add(1)?)?;
        entries.push(index_entry(record, std::str::from_utf8(debug).ok()?)?);
        bytes = rest;
    }
    Some(entries)
}

fn index_entry<'a>(record: &'a [u8], debug: &str) -> Option<IndexEntry<'a>> {
    let tab = record.iter().position(|byte| *byte == b'\t')?;
    let mut words = std::str::from_utf8(record.get(..tab)?).ok()?.split(' ');
    let tag = words.next()?;
    let mode = EntryMode::parse(words.next()?.as_bytes())?;
    let (object, stage) = (words.next()?, words.next()?);
    let mark = match (tag, stage) {
        (_, "1" | "2" | "3") => IndexMark::Conflict,
        ("S" | "s", "0") => IndexMark::SkipWorktree,
        ("H", "0") => IndexMark::None,
        ("h", "0") => IndexMark::AssumeUnchanged,
        _ => return None,
    };
    let mut lines = debug.lines();
    let mut time = |name: &str| {
        let (seconds, nanoseconds) = lines.next()?.trim_start().strip_prefix(name)?.split_once(':')?;
        Some((seconds.trim().parse().ok()?, nanoseconds.parse().ok()?))
    };
    let (changed, modified) = (time("ctime:")?, time("mtime:")?);
    Some(IndexEntry { mode, object, mark, changed, modified, path: record.get(tab.checked_add(1)?..)? })
}

/// The output of `config -z`: keys and values. A key without a value means true.
pub(crate) fn config(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let setting = |piece: &[u8]| {
        let mut halves = piece.splitn(2, |byte| *byte == b'\n');
        let key = String::from_utf8_lossy(halves.next().unwrap_or_default()).into_owned();
        (key, halves.next().unwrap_or(b"true").to_vec())
    };
    nul_separated(bytes).map(setting).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_status_keeps_its_spaces_newlines_and_bytes() {
        let bytes = b"1 .M N... 100644 100644 100644 aa bb a file\nwith \xff\x001 M. N... 1 2 3 a b staged only\0\
            1 .D N... 1 2 3 a b gone\0u UU N... 1 2 3 4 a b c in conflict\0? new\0? nested/\0! ignored\0# header\0";
        let expected = [
            (&b"a file\nwith \xff"[..], FileStatus::Modified),
            (b"gone", FileStatus::Deleted),
            (b"in conflict", FileStatus::Modified),
            (b"new", FileStatus::Untracked),
            (b"nested", FileStatus::NestedRepository),
        ];
        let found = status(bytes).unwrap();
        let found: Vec<_> = found.iter().map(|entry| (entry.path.as_slice(), entry.status)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn diff_entries_are_parsed_with_their_line_counts() {
        let bytes = b":100644 100755 aa bb M\0x y\0:000000 160000 00 cc A\0sub\0:120000 000000 dd 00 D\0-5\0\
            3\t4\tx y\0-\t-\tsub\x000\t1\t-5\0";
        let (entries, counts) = diff(bytes).unwrap();
        let modes: Vec<_> = entries.iter().map(|entry| (entry.before, entry.after, &*entry.object)).collect();
        assert_eq!(
            modes,
            [
                (EntryMode::File(0o100_644), EntryMode::File(0o100_755), "bb"),
                (EntryMode::Absent, EntryMode::Submodule, "cc"),
                (EntryMode::Link, EntryMode::Absent, "00"),
            ]
        );
        let lines: Vec<_> = counts.iter().map(|(path, lines)| (path.as_slice(), *lines)).collect();
        assert_eq!(lines, [(&b"x y"[..], Some(7)), (b"sub", None), (b"-5", Some(1))]);
    }

    #[test]
    fn tree_entries_are_parsed_with_and_without_sizes() {
        let file = |size, path: &[u8]| TreeEntry {
            mode: EntryMode::File(0o100_644),
            object: "aa".to_string(),
            size,
            path: path.to_vec(),
        };
        let parsed = tree(b"100644 blob aa      12\ta\tb\x00160000 commit bb       -\tsub\x00").unwrap();
        let submodule = TreeEntry {
            mode: EntryMode::Submodule,
            object: "bb".to_string(),
            size: None,
            path: b"sub".to_vec(),
        };
        assert_eq!(parsed, [file(Some(12), b"a\tb"), submodule]);
        assert_eq!(tree(b"100644 blob aa\tx y\0").unwrap(), [file(None, b"x y")]);
    }

    /// The command and the record that an error names.
    fn named<T: std::fmt::Debug>(parsed: Result<T, WorkspaceError>) -> (String, String) {
        match parsed {
            Err(WorkspaceError::Git { command, message }) => {
                let (_, record) = message.split_once(": ").expect("the message shows the record");
                (command, record.to_string())
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn one_record_that_cannot_be_parsed_makes_the_whole_output_an_error() {
        let rows: [(&str, &[u8], &str); 7] = [
            ("a field is missing", b"? fine\x001 .M N... 1 2 3 a\0", "1 .M N... 1 2 3 a"),
            ("unknown letter", b"1 .x N... 1 2 3 a b path\0", "1 .x N... 1 2 3 a b path"),
            ("rename", b"2 R. N... 1 2 3 a b R100 to\0from\0", "2 R. N... 1 2 3 a b R100 to"),
            ("empty path", b"? \0", "? "),
            ("root as path", b"? /\0", "? /"),
            ("unknown kind", b"x\0", "x"),
            ("cut off", b"? whole\0? cut o", "? cut o"),
        ];
        for (row, bytes, shown) in rows {
            assert_eq!(named(status(bytes)), ("status".to_string(), shown.to_string()), "{row}");
        }
        let rows: [(&str, &[u8]); 5] = [
            ("path is missing", b":100644 100644 a b M\0"),
            ("mode is not octal", b":1 x a b M\0p\0"),
            ("object is missing", b":1 2\0p\0"),
            ("count is no number", b"1\tx\tp\0"),
            ("count without path", b"1\t2\0"),
        ];
        for (row, bytes) in rows {
            assert_eq!(named(diff(bytes)).0, "diff-tree", "{row}");
        }
        let rows: [(&str, &[u8]); 4] = [
            ("no tab", b"100644 blob aa path\0"),
            ("object is missing", b"100644 blob\tp\0"),
            ("mode is not octal", b"9 blob aa\tp\0"),
            ("size is no number", b"100644 blob aa x\tp\0"),
        ];
        for (row, bytes) in rows {
            assert_eq!(named(tree(bytes)).0, "ls-tree", "{row}");
        }
    }

    #[test]
    fn only_the_beginning_of_a_long_record_is_shown() {
        assert_eq!(named(status(&[b'\xff'; 1000])).1, "\\xff".repeat(SHOWN_BYTES));
    }

    #[test]
    fn config_values_may_have_newlines_or_be_missing() {
        let parsed = config(b"core.a\nx\ny\0core.b\0");
        assert_eq!(
            parsed,
            [("core.a".to_string(), b"x\ny".to_vec()), ("core.b".to_string(), b"true".to_vec())]
        );
    }

    proptest::proptest! {
        /// Catches a record split where it may be too short.
        #[test]
        fn no_bytes_make_a_parser_panic(bytes in proptest::collection::vec(0_u8..128, 0..200)) {
            drop((status(&bytes), diff(&bytes), tree(&bytes), config(&bytes)));
        }
    }

    #[test]
    fn index_entries_have_their_marks_and_times_and_another_format_is_refused() {
        let debug = "  ctime: 12:34\n  mtime: 5:6\n  dev: 1\tino: 2\n  uid: 0\tgid: 0\n  size: 2\tflags: 0\n";
        let entry = |tag: &str, path: &str| format!("{tag} 100644 aa 0\t{path}\0{debug}");
        let rows = [
            ("H", IndexMark::None),
            ("h", IndexMark::AssumeUnchanged),
            ("S", IndexMark::SkipWorktree),
            ("s", IndexMark::SkipWorktree),
        ];
        for (tag, mark) in rows {
            let path = b"a\nb\tc".as_slice();
            let (mode, changed, modified) = (EntryMode::File(0o100_644), (12, 34), (5, 6));
            let expected = IndexEntry { mode, object: "aa", mark, changed, modified, path };
            let both = entry(tag, "a\nb\tc").repeat(2);
            assert_eq!(index_entries(both.as_bytes()), Some(vec![expected.clone(), expected]), "{tag}");
        }
        for wrong in
            [entry("?", "x"), entry("H", "x").replace("mtime", "time"), entry("H", "x").replace('\0', "")]
        {
            assert_eq!(index_entries(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
