//! Which accesses were refused, as far as a program's output tells.
//!
//! A program that is denied a file usually says so, with the path. That path is compared with what it could see: a complaint
//! about a file that the user has and the program does not see, or may not change, was caused by the sandbox.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use fixpoint_ports::{AccessKind, RefusedAccess};

use crate::places::{Place, Places};

/// Refusals that are kept.
const MOST: usize = 20;
/// A longer line is not read to its end.
const LONGEST_LINE: usize = 4096;

/// What programs print when an access fails: in the words of the C library, and of the languages that have their own.
const COMPLAINTS: [(&str, AccessKind); 8] = [
    ("Read-only file system", AccessKind::Write),
    ("EROFS", AccessKind::Write),
    ("read-only file system", AccessKind::Write),
    ("Permission denied", AccessKind::Write),
    ("permission denied", AccessKind::Write),
    ("EACCES", AccessKind::Write),
    ("No such file or directory", AccessKind::Read),
    ("ENOENT", AccessKind::Read),
];

#[derive(Debug)]
pub(crate) struct Refusals<'a> {
    places: &'a Places,
    home: Option<&'a Path>,
    line: Vec<u8>,
    found: BTreeSet<RefusedAccess>,
}

impl<'a> Refusals<'a> {
    pub(crate) fn new(places: &'a Places, home: Option<&'a Path>) -> Self {
        Self { places, home, line: Vec::new(), found: BTreeSet::new() }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = LONGEST_LINE.saturating_sub(self.line.len());
            self.line.extend(part.iter().take(room));
            if part.ends_with(b"\n") {
                self.read_line();
            }
        }
    }

    pub(crate) fn finish(mut self) -> Vec<RefusedAccess> {
        self.read_line();
        self.found.into_iter().collect()
    }

    fn read_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        if self.found.len() >= MOST {
            return;
        }
        let text = String::from_utf8_lossy(&line);
        let Some((_, kind)) = COMPLAINTS.iter().find(|(words, _)| text.contains(words)) else { return };
        let refused = paths_in(&text, self.home).into_iter().find_map(|path| self.refused(path, *kind));
        self.found.extend(refused);
    }

    /// Whether the sandbox is the reason.
    fn refused(&self, path: PathBuf, said: AccessKind) -> Option<RefusedAccess> {
        let is_hidden = match self.places.deciding(&path) {
            Some(Place::Hidden | Place::Private { .. }) | None => true,
            Some(Place::Read { .. } | Place::Write { .. } | Place::Layered { .. } | Place::Link(_)) => false,
        };
        // The user has it, and the program does not see it.
        if is_hidden && path.symlink_metadata().is_ok() {
            return Some(RefusedAccess { kind: AccessKind::Read, path });
        }
        let is_write = said == AccessKind::Write && !self.places.is_writable(&path);
        (is_write && path.parent().is_some_and(Path::exists))
            .then_some(RefusedAccess { kind: AccessKind::Write, path })
    }
}

/// The absolute paths in a line.
fn paths_in(line: &str, home: Option<&Path>) -> Vec<PathBuf> {
    let is_end = |letter: char| letter.is_whitespace() || "'\"`‘’()[]<>,;|".contains(letter);
    let words = line.split(is_end).map(|word| word.trim_end_matches([':', '.']));
    let path = |word: &str| {
        if let Some(below) = word.strip_prefix("~/") {
            return home.map(|home| home.join(below));
        }
        let start = word.find('/')?;
        // `file:/path` and `path=/path`, but no address.
        let before = word.get(..start)?;
        let is_start = before.is_empty() || (before.ends_with([':', '=']) && !word.contains("://"));
        is_start
            .then(|| word.get(start..).map(PathBuf::from))
            .flatten()
            .filter(|path| path.components().count() > 1)
    };
    words.filter_map(path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_user_has_and_the_program_does_not_see_was_refused() {
        let outside = tempfile::tempdir().unwrap();
        let file = outside.path().join("key");
        std::fs::write(&file, "").unwrap();
        let mut places = Places::default();
        places.add("/usr".into(), Place::Read { from: "/usr".into() });
        let told = |text: String| {
            let mut refusals = Refusals::new(&places, Some(outside.path()));
            for chunk in text.as_bytes().chunks(7) {
                refusals.push(chunk);
            }
            refusals.finish()
        };
        let read = |path: &Path| vec![RefusedAccess { kind: AccessKind::Read, path: path.to_path_buf() }];
        let shown = file.display();
        assert_eq!(told(format!("cat: {shown}: No such file or directory\n")), read(&file));
        assert_eq!(told(format!("open('{shown}'): ENOENT")), read(&file));
        assert_eq!(told("cat: ~/key: No such file or directory\n".to_string()), read(&file));
        assert_eq!(told(format!("cat: {shown}2: No such file or directory\n")), []);
        assert_eq!(told(format!("{shown} is fine\n")), []);
        let write = RefusedAccess { kind: AccessKind::Write, path: "/usr/x".into() };
        assert_eq!(told("touch: cannot touch '/usr/x': Read-only file system\n".to_string()), [write]);
    }
}
