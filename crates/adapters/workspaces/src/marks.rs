//! What is written beside the files of a slot: that work in it is unfinished, why it was put aside, and notes.
//!
//! Owns the names and the formats of these files. Refuses names that git or the file system would read as something
//! else. Invariant: a mark lies in the directory of its slot, so that both move in one step, and it is on the disk
//! before anybody gets the slot.
//!
//! A mark is three lines: `unfinished 1`, the base, the reference below `refs/fixpoint/`.

use std::path::{Path, PathBuf};

use fixpoint_ports::{CommitId, Lost, WorkspaceError};

use crate::files::{make_directory, remove, write, write_durably};
use crate::repository::read_optional;

const MARK: &str = "unfinished";
const REASON: &str = "why";
const NOTES: &str = "notes";
const FORMAT: &str = "unfinished 1";

/// That work in a slot is to be kept if nobody takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The commit it is on top of.
    pub(crate) base: CommitId,
    /// Where to keep it.
    pub(crate) reference: String,
}

impl Mark {
    /// A mark that names a reference, if that can be one.
    pub(crate) fn new(base: &CommitId, reference: &str) -> Result<Self, WorkspaceError> {
        if !is_reference(reference) {
            return Err(WorkspaceError::InvalidName(reference.to_string()));
        }
        Ok(Self { base: base.clone(), reference: reference.to_string() })
    }

    /// The mark in the directory of a slot, if there is one.
    pub(crate) fn read(directory: &Path) -> Result<Option<Self>, WorkspaceError> {
        let path = directory.join(MARK);
        let Some(bytes) = read_optional(&path)? else { return Ok(None) };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        match Self::parse(&text) {
            Some(mark) => Ok(Some(mark)),
            None => {
                let source = std::io::Error::new(std::io::ErrorKind::InvalidData, "cannot be understood");
                Err(WorkspaceError::Io { path, source })
            }
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.strip_suffix('\n')?.split('\n');
        let (format, base, reference) = (lines.next()?, lines.next()?, lines.next()?);
        // The base becomes an argument of git, so it must be nothing but a commit's name.
        let is_commit = matches!(base.len(), 40 | 64) && base.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_mark = format == FORMAT && is_commit && is_reference(reference) && lines.next().is_none();
        is_mark.then(|| Self { base: CommitId(base.to_string()), reference: reference.to_string() })
    }

    fn text(&self) -> String {
        format!("{FORMAT}\n{}\n{}\n", self.base, self.reference)
    }

    /// Puts the mark on a slot. When this returns, no loss of power undoes it.
    pub(crate) fn write(&self, directory: &Path) -> Result<(), WorkspaceError> {
        write_durably(&directory.join(MARK), self.text().as_bytes())
    }

    /// Whether a slot seems to be marked, which costs no lock.
    pub(crate) fn is_on(directory: &Path) -> bool {
        directory.join(MARK).symlink_metadata().is_ok()
    }

    /// Takes the mark from a slot.
    pub(crate) fn remove(directory: &Path) -> Result<(), WorkspaceError> {
        remove(&directory.join(MARK))
    }
}

/// What `git check-ref-format` accepts behind a prefix.
fn is_reference(name: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    let is_barred = |letter: char| letter.is_ascii_control() || " ~^:?*[\\".contains(letter);
    name.split('/').all(is_part)
        && !name.contains(is_barred)
        && !name.contains("..")
        && !name.contains("@{")
        && !name.ends_with('.')
}

/// Says in a directory that was put aside why that was done. This also dates it.
pub(crate) fn write_reason(directory: &Path, why: &str) -> Result<(), WorkspaceError> {
    write(&directory.join(REASON), why.as_bytes())
}

/// The file that dates a directory that was put aside.
pub(crate) fn reason_file(directory: &Path) -> PathBuf {
    directory.join(REASON)
}

/// A directory that was put aside, as it describes itself.
pub(crate) fn describe(directory: PathBuf) -> Lost {
    let mark = Mark::read(&directory).ok().flatten();
    let why = std::fs::read_to_string(directory.join(REASON)).unwrap_or_default();
    Lost { directory, reference: mark.map(|mark| mark.reference), why }
}

/// What was noted under a name.
pub(crate) fn note(directory: &Path, name: &str) -> Option<Vec<u8>> {
    std::fs::read(note_path(directory, name).ok()?).ok()
}

/// Notes something under a name.
pub(crate) fn set_note(directory: &Path, name: &str, content: &[u8]) -> Result<(), WorkspaceError> {
    let path = note_path(directory, name)?;
    make_directory(&directory.join(NOTES))?;
    write(&path, content)
}

/// Forgets all notes.
pub(crate) fn forget_notes(directory: &Path) -> Result<(), WorkspaceError> {
    remove(&directory.join(NOTES))
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
    fn a_mark_is_read_as_it_was_written_and_nothing_else_is_a_mark() {
        let mark = Mark::new(&CommitId("ab".repeat(20)), "run-1/unfinished/3").unwrap();
        assert_eq!(Mark::parse(&mark.text()), Some(mark.clone()));
        let whole = mark.text();
        for length in 0..whole.len() {
            assert_eq!(Mark::parse(whole.get(..length).unwrap()), None, "{length}");
        }
        let base = "ab".repeat(20);
        let wrong = [
            format!("unfinished 2\n{base}\nr\n"),
            format!("{FORMAT}\n--help\nr\n"),
            format!("{FORMAT}\n{base}\n../r\n"),
            format!("{FORMAT}\n{base}\nr\nmore\n"),
        ];
        for text in wrong {
            assert_eq!(Mark::parse(&text), None, "{text}");
        }
    }

    #[test]
    fn the_rules_for_references_are_those_of_git() {
        let names = [
            "a", "a/b", "a-1.x", "a@b", "日本", "", "/a", "a/", "a//b", ".a", "a/.b", "a.lock", "a.lock/b",
            "a..b", "a b", "a~", "a^", "a:b", "a?", "a*", "a[", "a\\b", "a@{b", "a.", "a\nb", "a\u{7f}", "@",
            "a./b",
        ];
        for name in names {
            let mut git = std::process::Command::new("git");
            let theirs = git.args(["check-ref-format", &format!("refs/fixpoint/{name}")]).status().unwrap();
            assert_eq!(is_reference(name), theirs.success(), "{name:?}");
        }
    }

    #[test]
    fn a_note_stays_among_the_notes() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["", ".", "..", "a/b", "A", "a.b", "a b", "ä"] {
            assert!(matches!(set_note(directory.path(), name, b"x"), Err(WorkspaceError::InvalidName(_))));
            assert_eq!(note(directory.path(), name), None);
        }
        set_note(directory.path(), "set-up-2", b"x").unwrap();
        assert_eq!(note(directory.path(), "set-up-2"), Some(b"x".to_vec()));
        forget_notes(directory.path()).unwrap();
        assert_eq!(note(directory.path(), "set-up-2"), None);
    }
}
