//! What `apply` is about to move, on disk before the first move, so that it can be undone whenever it stops.
//!
//! Owns the file format and undoing. Refuses to overwrite what the user did after an interruption: a file that is
//! neither the new one nor missing stays as it is. Invariant: undoing twice is the same as undoing once.

use std::fs::{self, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use fixpoint_ports::{FileState, WorkspaceError};

use crate::files::{as_path, read_optional, remove, write_durably};
use crate::untracked::read_state;

const FIRST: &[u8] = b"fixpoint-apply 1";
const LAST: &[u8] = b"end";

/// Where a file is while it is not in its place. Relative, because a repository can be moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Location {
    /// In our own directory.
    Staging(Vec<u8>),
    /// In the working tree: its file system is another one than that of our directory.
    Tree(Vec<u8>),
}

/// One path that changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Move {
    pub(super) path: Vec<u8>,
    /// Where the former file goes, if there is one.
    pub(super) old: Option<Location>,
    /// Where the new file comes from, if there is one.
    pub(super) new: Option<Location>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Moves {
    pub(super) files: Vec<Move>,
    /// Directories to create, those above first.
    pub(super) created: Vec<Vec<u8>>,
    /// Directories to remove, those below first, with their permissions.
    pub(super) removed: Vec<(Vec<u8>, u32)>,
}

pub(super) struct Journal {
    pub(super) root: PathBuf,
    pub(super) directory: PathBuf,
}

impl Journal {
    pub(super) fn new(root: &Path, directory: &Path) -> Self {
        Self { root: root.to_path_buf(), directory: directory.to_path_buf() }
    }

    pub(super) fn locate(&self, location: &Location) -> PathBuf {
        match location {
            Location::Staging(path) => self.directory.join(as_path(path)),
            Location::Tree(path) => self.root.join(as_path(path)),
        }
    }

    pub(super) fn target(&self, path: &[u8]) -> PathBuf {
        self.root.join(as_path(path))
    }

    fn file(&self) -> PathBuf {
        self.directory.join("journal")
    }

    /// Records all moves with the new contents. From here on an interruption is undone.
    pub(super) fn write(&self, moves: &Moves) -> Result<(), WorkspaceError> {
        let mut fields: Vec<Vec<u8>> = vec![FIRST.to_vec()];
        for Move { path, old, new } in &moves.files {
            let state = new.as_ref().and_then(|new| content(&self.locate(new)));
            let location = |location: &Option<Location>| match location {
                None => b"-".to_vec(),
                Some(Location::Staging(path)) => [b"s", path.as_slice()].concat(),
                Some(Location::Tree(path)) => [b"t", path.as_slice()].concat(),
            };
            let state = state.unwrap_or_else(|| "-".to_string()).into_bytes();
            fields.extend([b"move".to_vec(), path.clone(), location(old), location(new), state]);
        }
        fields.extend(moves.created.iter().flat_map(|path| [b"create".to_vec(), path.clone()]));
        for (path, mode) in &moves.removed {
            fields.extend([b"remove".to_vec(), path.clone(), format!("{mode:o}").into_bytes()]);
        }
        fields.push(LAST.to_vec());
        write_durably(&self.file(), &fields.join(&0))
    }

    /// Says that all moves are done, and removes everything that is left of them.
    pub(super) fn finish(&self, moves: &Moves) -> Result<(), WorkspaceError> {
        remove(&self.file())?;
        for location in moves.files.iter().flat_map(|file| [&file.old, &file.new]).flatten() {
            remove(&self.locate(location))?;
        }
        remove(&self.directory)
    }

    /// Undoes the moves that are recorded, by whichever process. Without any, only leftovers are removed.
    pub(super) fn undo(&self) -> Result<(), WorkspaceError> {
        match read_optional(&self.file())? {
            // It stopped before the first move or after the last.
            None => remove(&self.directory),
            Some(bytes) => {
                let (moves, contents) = parse(&bytes).ok_or_else(|| WorkspaceError::Io {
                    path: self.file(),
                    source: io::Error::new(ErrorKind::InvalidData, "cannot be parsed"),
                })?;
                self.undo_moves(&moves, &contents)
            }
        }
    }

    /// `contents` describes the new file of each move.
    fn undo_moves(&self, moves: &Moves, contents: &[String]) -> Result<(), WorkspaceError> {
        for (file, expected) in moves.files.iter().zip(contents) {
            let Some(new) = &file.new else { continue };
            let was_moved = self.locate(new).symlink_metadata().is_err();
            let target = self.target(&file.path);
            if was_moved && content(&target).is_some_and(|found| found == *expected) {
                fs::remove_file(&target).map_err(failed(&file.path))?;
            }
        }
        for path in moves.created.iter().rev() {
            // One in which the user has put something stays.
            drop(fs::remove_dir(self.target(path)));
        }
        for (path, mode) in moves.removed.iter().rev() {
            let target = self.target(path);
            if target.symlink_metadata().is_err() {
                fs::create_dir(&target).map_err(failed(path))?;
                fs::set_permissions(&target, Permissions::from_mode(*mode)).map_err(failed(path))?;
            }
        }
        for file in &moves.files {
            let Some(old) = &file.old else { continue };
            let (old, target) = (self.locate(old), self.target(&file.path));
            if old.symlink_metadata().is_ok() && target.symlink_metadata().is_err() {
                fs::rename(&old, &target).map_err(failed(&file.path))?;
            }
        }
        self.finish(moves)
    }
}

/// What a file holds, in a form that can be compared.
fn content(path: &Path) -> Option<String> {
    Some(match read_state(path).ok()? {
        FileState::File { content, executable: _ } => blake3::Hash::from(content).to_hex().to_string(),
        FileState::Link(target) => format!("link {}", blake3::hash(&target).to_hex()),
        FileState::Special => return None,
    })
}

fn parse(bytes: &[u8]) -> Option<(Moves, Vec<String>)> {
    let mut fields = bytes.split(|byte| *byte == 0);
    if fields.next()? != FIRST {
        return None;
    }
    let (mut moves, mut contents) = (Moves::default(), Vec::new());
    loop {
        match fields.next()? {
            b"move" => {
                let path = fields.next()?.to_vec();
                let (old, new) = (location(fields.next()?)?, location(fields.next()?)?);
                contents.push(String::from_utf8(fields.next()?.to_vec()).ok()?);
                moves.files.push(Move { path, old, new });
            }
            b"create" => moves.created.push(fields.next()?.to_vec()),
            b"remove" => {
                let path = fields.next()?.to_vec();
                let mode = u32::from_str_radix(std::str::from_utf8(fields.next()?).ok()?, 8).ok()?;
                moves.removed.push((path, mode));
            }
            LAST => return Some((moves, contents)),
            _ => return None,
        }
    }
}

fn location(field: &[u8]) -> Option<Option<Location>> {
    match field.split_first()? {
        (b'-', _) => Some(None),
        (b's', path) => Some(Some(Location::Staging(path.to_vec()))),
        (b't', path) => Some(Some(Location::Tree(path.to_vec()))),
        _ => None,
    }
}

/// An error about a path of the working tree.
pub(super) fn failed(path: &[u8]) -> impl FnOnce(io::Error) -> WorkspaceError + '_ {
    move |source| {
        let shown = String::from_utf8_lossy(path).into_owned();
        if matches!(source.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) {
            return WorkspaceError::NoSpace(shown);
        }
        if matches!(source.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) {
            return WorkspaceError::PermissionDenied(shown);
        }
        WorkspaceError::Io { path: as_path(path).to_path_buf(), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moves() -> Moves {
        Moves {
            files: vec![
                Move {
                    path: b"a b\n".to_vec(),
                    old: Some(Location::Staging(b"old/0".to_vec())),
                    new: Some(Location::Staging(b"new/a b\n".to_vec())),
                },
                Move { path: b"gone".to_vec(), old: Some(Location::Tree(b".x".to_vec())), new: None },
            ],
            created: vec![b"d".to_vec(), b"d/e".to_vec()],
            removed: vec![(b"f".to_vec(), 0o750)],
        }
    }

    #[test]
    fn a_journal_is_read_as_it_was_written_and_a_cut_one_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let journal = Journal::new(root.path(), root.path());
        journal.write(&moves()).unwrap();
        let bytes = fs::read(journal.file()).unwrap();
        assert_eq!(parse(&bytes), Some((moves(), vec!["-".to_string(), "-".to_string()])));
        for end in 0..bytes.len() {
            assert_eq!(parse(bytes.get(..end).unwrap()), None, "{end}");
        }
    }

    /// Catches an `undo_moves` that restores former files before it removes the new ones.
    #[test]
    fn an_exchange_that_stops_after_any_step_is_undone() {
        let rename = |journal: &Journal, from: &str, to: &str| {
            fs::rename(journal.root.join(from), journal.root.join(to)).unwrap();
        };
        let steps: [&dyn Fn(&Journal); 6] = [
            &|journal| rename(journal, "d/x", ".git/a/old/0"),
            &|journal| rename(journal, "f", ".git/a/old/1"),
            &|journal| fs::remove_dir(journal.root.join("d")).unwrap(),
            &|journal| fs::create_dir(journal.root.join("f")).unwrap(),
            &|journal| rename(journal, ".git/a/new/d", "d"),
            &|journal| rename(journal, ".git/a/new/f/y", "f/y"),
        ];
        let file = |path: &str, old: Option<&str>, new: Option<&str>| {
            let location = |path: &str| Location::Staging(path.as_bytes().to_vec());
            Move { path: path.as_bytes().to_vec(), old: old.map(location), new: new.map(location) }
        };
        let moves = Moves {
            files: vec![
                file("d/x", Some("old/0"), None),
                file("f", Some("old/1"), None),
                file("d", None, Some("new/d")),
                file("f/y", None, Some("new/f/y")),
            ],
            created: vec![b"f".to_vec()],
            removed: vec![(b"d".to_vec(), 0o750)],
        };
        for done in 0..=steps.len() {
            let root = tempfile::tempdir().unwrap();
            let journal = Journal::new(root.path(), &root.path().join(".git/a"));
            for (path, content) in [
                ("d/x", "x"),
                ("f", "f"),
                (".git/a/new/d", "new"),
                (".git/a/new/f/y", "y"),
                (".git/a/old/-", ""),
            ] {
                let path = root.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, content).unwrap();
            }
            journal.write(&moves).unwrap();
            steps.iter().take(done).for_each(|step| step(&journal));
            journal.undo().unwrap();
            let read = |path: &str| fs::read_to_string(root.path().join(path)).unwrap();
            assert_eq!((read("d/x"), read("f")), ("x".to_string(), "f".to_string()), "{done} steps");
            assert!(!journal.directory.exists(), "{done} steps");
        }
    }

    #[test]
    fn an_edit_after_an_interruption_is_not_overwritten() {
        let root = tempfile::tempdir().unwrap();
        let journal = Journal::new(root.path(), &root.path().join("a"));
        fs::create_dir_all(root.path().join("a/old")).unwrap();
        fs::write(root.path().join("f"), "before").unwrap();
        fs::write(root.path().join("a/new"), "after").unwrap();
        let location = |path: &[u8]| Some(Location::Staging(path.to_vec()));
        let files = vec![Move { path: b"f".to_vec(), old: location(b"old/0"), new: location(b"new") }];
        journal.write(&Moves { files, ..Moves::default() }).unwrap();
        fs::rename(root.path().join("f"), root.path().join("a/old/0")).unwrap();
        fs::rename(root.path().join("a/new"), root.path().join("f")).unwrap();
        fs::write(root.path().join("f"), "after, edited").unwrap();
        journal.undo().unwrap();
        assert_eq!(fs::read_to_string(root.path().join("f")).unwrap(), "after, edited");
    }
}
