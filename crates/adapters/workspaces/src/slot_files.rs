//! Files in the directory of a slot besides its two git directories: the marker of unfinished work, notes, and the reason
//! why a slot was set aside.
//!
//! Owns their names and formats. Refuses names that git or the file system would misread. Invariant: a marker is in the
//! directory of its slot, so that both move in one step, and it is on the disk before anybody uses the slot.
//!
//! A marker is three lines: `unfinished 1`, the commit that is checked out, the reference below `refs/fixpoint/`.

use std::path::{Path, PathBuf};

use fixpoint_ports::{CommitId, UnrecoveredSlot, WorkspaceError};

use crate::files::{create_directory, read_optional, remove, write, write_durably};

const MARKER: &str = "unfinished";
const REASON: &str = "why";
const NOTES: &str = "notes";
const MARKER_FORMAT: &str = "unfinished 1";

/// Says that the files of a slot are to be stored if nobody commits them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnfinishedMarker {
    /// The commit that is checked out.
    pub(crate) base: CommitId,
    /// Where to store the files.
    pub(crate) reference: String,
}

impl UnfinishedMarker {
    pub(crate) fn new(base: &CommitId, reference: &str) -> Result<Self, WorkspaceError> {
        if !is_reference(reference) {
            return Err(WorkspaceError::InvalidName(reference.to_string()));
        }
        Ok(Self { base: base.clone(), reference: reference.to_string() })
    }

    pub(crate) fn read(directory: &Path) -> Result<Option<Self>, WorkspaceError> {
        let path = directory.join(MARKER);
        let Some(bytes) = read_optional(&path)? else { return Ok(None) };
        let marker = Self::parse(&String::from_utf8_lossy(&bytes));
        marker.map(Some).ok_or_else(|| {
            let source = std::io::Error::new(std::io::ErrorKind::InvalidData, "cannot be parsed");
            WorkspaceError::Io { path, source }
        })
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.strip_suffix('\n')?.split('\n');
        let (format, base, reference) = (lines.next()?, lines.next()?, lines.next()?);
        // The base becomes an argument of git, so it must be nothing but a commit's name.
        let is_commit = matches!(base.len(), 40 | 64) && base.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_marker =
            format == MARKER_FORMAT && is_commit && is_reference(reference) && lines.next().is_none();
        is_marker.then(|| Self { base: CommitId(base.to_string()), reference: reference.to_string() })
    }

    fn text(&self) -> String {
        format!("{MARKER_FORMAT}\n{}\n{}\n", self.base, self.reference)
    }

    /// When this returns, a power failure does not undo it.
    pub(crate) fn write(&self, directory: &Path) -> Result<(), WorkspaceError> {
        write_durably(&directory.join(MARKER), self.text().as_bytes())
    }

    /// Whether there is a marker. Only who holds the lock of the slot can rely on it.
    pub(crate) fn exists(directory: &Path) -> bool {
        directory.join(MARKER).symlink_metadata().is_ok()
    }

    pub(crate) fn remove(directory: &Path) -> Result<(), WorkspaceError> {
        remove(&directory.join(MARKER))
    }
}

/// What `git check-ref-format` accepts behind a prefix.
fn is_reference(name: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    let is_forbidden = |letter: char| letter.is_ascii_control() || " ~^:?*[\\".contains(letter);
    name.split('/').all(is_part)
        && !name.contains(is_forbidden)
        && !name.contains("..")
        && !name.contains("@{")
        && !name.ends_with('.')
}

/// Writes why a slot was set aside. The time of this file is when that was.
pub(crate) fn write_reason(directory: &Path, reason: &str) -> Result<(), WorkspaceError> {
    write(&directory.join(REASON), reason.as_bytes())
}

pub(crate) fn reason_file(directory: &Path) -> PathBuf {
    directory.join(REASON)
}

/// Describes a slot that was set aside by the files in its directory.
pub(crate) fn describe(directory: PathBuf) -> UnrecoveredSlot {
    let marker = UnfinishedMarker::read(&directory).ok().flatten();
    let reason = std::fs::read_to_string(reason_file(&directory)).unwrap_or_default();
    UnrecoveredSlot { directory, reference: marker.map(|marker| marker.reference), reason }
}

pub(crate) fn note(directory: &Path, name: &str) -> Option<Vec<u8>> {
    std::fs::read(note_path(directory, name).ok()?).ok()
}

pub(crate) fn set_note(directory: &Path, name: &str, content: &[u8]) -> Result<(), WorkspaceError> {
    let path = note_path(directory, name)?;
    create_directory(&directory.join(NOTES))?;
    write(&path, content)
}

pub(crate) fn delete_notes(directory: &Path) -> Result<(), WorkspaceError> {
    remove(&directory.join(NOTES))
}

/// Replaces the notes in one directory by those in another.
pub(crate) fn copy_notes(from: &Path, to: &Path) -> Result<(), WorkspaceError> {
    delete_notes(to)?;
    let Ok(notes) = from.join(NOTES).read_dir() else { return Ok(()) };
    create_directory(&to.join(NOTES))?;
    for note in notes.flatten() {
        if let Some(content) = read_optional(&note.path())? {
            write(&to.join(NOTES).join(note.file_name()), &content)?;
        }
    }
    Ok(())
}

fn note_path(directory: &Path, name: &str) -> Result<PathBuf, WorkspaceError> {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if name.is_empty() || !name.bytes().all(is_allowed) {
        return Err(WorkspaceError::InvalidName(name.to_string()));
    }
    Ok(directory.join(NOTES).join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_marker_is_parsed() {
        let marker = UnfinishedMarker::new(&CommitId("ab".repeat(20)), "run-1/unfinished/3").unwrap();
        let whole = marker.text();
        assert_eq!(UnfinishedMarker::parse(&whole), Some(marker));
        for length in 0..whole.len() {
            assert_eq!(UnfinishedMarker::parse(whole.get(..length).unwrap()), None, "cut at {length}");
        }
        let base = "ab".repeat(20);
        let rows = [
            ("another format", format!("unfinished 2\n{base}\nr\n")),
            ("an option as the base", format!("{MARKER_FORMAT}\n--help\nr\n")),
            ("a reference that leads out", format!("{MARKER_FORMAT}\n{base}\n../r\n")),
            ("a fourth line", format!("{MARKER_FORMAT}\n{base}\nr\nmore\n")),
        ];
        for (row, text) in rows {
            assert_eq!(UnfinishedMarker::parse(&text), None, "{row}");
        }
    }

    #[test]
    fn references_are_accepted_as_git_does() {
        let names = [
            "a", "a/b", "a-1.x", "a@b", "日本", "", "/a", "a/", "a//b", ".a", "a/.b", "a.lock", "a.lock/b",
            "a..b", "a b", "a~", "a^", "a:b", "a?", "a*", "a[", "a\\b", "a@{b", "a.", "a\nb", "a\u{7f}", "@",
            "a./b",
        ];
        for name in names {
            let mut git = std::process::Command::new("git");
            let gits = git.args(["check-ref-format", &format!("refs/fixpoint/{name}")]).status().unwrap();
            assert_eq!(is_reference(name), gits.success(), "{name:?}");
        }
    }

    #[test]
    fn the_name_of_a_note_cannot_lead_out_of_the_notes() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["", ".", "..", "a/b", "A", "a.b", "a b", "ä"] {
            let set = set_note(directory.path(), name, b"x");
            assert!(matches!(set, Err(WorkspaceError::InvalidName(_))), "{name:?}");
            assert_eq!(note(directory.path(), name), None, "{name:?}");
        }
        set_note(directory.path(), "set-up-2", b"x").unwrap();
        assert_eq!(note(directory.path(), "set-up-2"), Some(b"x".to_vec()));
        delete_notes(directory.path()).unwrap();
        assert_eq!(note(directory.path(), "set-up-2"), None);
    }
}
