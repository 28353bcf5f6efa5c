//! One look at every working file of a slot, without git: which of them may differ from the index, and what else is there.
//!
//! Owns when git need not be asked about a file: its kind, size, owner, inode and both times are those that git noted, and
//! it is older than the index. Refuses to call anything unchanged otherwise, to follow a link, and to judge an index with
//! entries that stand for no file. Invariant: a file that is not a suspect has the content that the index says, and a path
//! that is neither in the index nor above one of its files is among the others or below one of them.

use std::collections::{HashMap, HashSet};
use std::num::NonZero;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::thread::{self, available_parallelism};
use std::{fs, io};

use crate::files::{as_path, read_optional};
use crate::index_file::{IndexFile, IndexedFile};
use crate::private_git_dir::WorkTreeView;

/// More paths than this are not named to git: it looks at all files instead.
const FEW: usize = 100;

/// Fewer files than this are looked at sooner than a thread is started.
const MANY: usize = 1000;
const MOST_THREADS: usize = 4;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Sweep {
    /// Files of the index that may have another content now, or are gone. Sorted.
    pub(crate) suspects: Vec<Vec<u8>>,
    /// What is in the working tree and not in the index. What is below a directory of these is not listed.
    pub(crate) others: Vec<Vec<u8>>,
    /// The tree that the index stands for, if that is known.
    pub(crate) tree: Option<String>,
}

impl Sweep {
    /// `None` if the files cannot be judged without git.
    pub(crate) fn of(view: &WorkTreeView) -> Option<Self> {
        let path = view.index();
        // The time is read first: if anybody writes the index in between, fewer files are older than it.
        let index_second = path.metadata().ok()?.mtime();
        let bytes = read_optional(&path).ok()??;
        let index = IndexFile::parse(&bytes)?;
        let walk = Walk::new(&index, index_second);
        let mut found = Found::default();
        let mut open = vec![Vec::new()];
        while !open.is_empty() {
            found.add(walk.enter_all(view, &open).ok()?);
            open = std::mem::take(&mut found.open);
        }
        let Found { seen, mut suspects, mut others, .. } = found;
        let seen: HashSet<&[u8]> = seen.into_iter().collect();
        let gone = index.files.iter().map(|file| file.path).filter(|path| !seen.contains(path));
        suspects.extend(gone.map(<[u8]>::to_vec));
        suspects.sort_unstable();
        others.sort_unstable();
        Some(Self { suspects, others, tree: index.tree })
    }

    /// All paths about which only git can tell how they differ from the index, if they are few.
    pub(crate) fn few_doubts(self) -> Option<Vec<Vec<u8>>> {
        let doubts = [self.suspects, self.others].concat();
        (doubts.len() <= FEW).then_some(doubts)
    }

    /// Whether the suspects are so few that naming them to git is worth it.
    pub(crate) const fn has_few_suspects(&self) -> bool {
        self.suspects.len() <= FEW
    }
}

/// What was found in some directories.
#[derive(Default)]
struct Found<'a> {
    /// Files of the index.
    seen: Vec<&'a [u8]>,
    suspects: Vec<Vec<u8>>,
    others: Vec<Vec<u8>>,
    /// Directories with files of the index.
    open: Vec<Vec<u8>>,
}

impl Found<'_> {
    fn add(&mut self, mut other: Self) {
        self.seen.append(&mut other.seen);
        self.suspects.append(&mut other.suspects);
        self.others.append(&mut other.others);
        self.open.append(&mut other.open);
    }
}

struct Walk<'a> {
    files: HashMap<&'a [u8], IndexedFile<'a>>,
    /// The directories of all files.
    directories: HashSet<&'a [u8]>,
    index_second: i64,
}

impl<'a> Walk<'a> {
    fn new(index: &IndexFile<'a>, index_second: i64) -> Self {
        let mut directories = HashSet::new();
        for file in &index.files {
            let mut path = file.path;
            while let Some(end) = path.iter().rposition(|byte| *byte == b'/') {
                path = path.get(..end).unwrap_or_default();
                // Those above one that is in there already are, too.
                if !directories.insert(path) {
                    break;
                }
            }
        }
        let files = index.files.iter().map(|file| (file.path, *file)).collect();
        Self { files, directories, index_second }
    }

    /// Several threads share many directories: nearly all the time is the kernel's.
    fn enter_all(&self, view: &WorkTreeView, directories: &[Vec<u8>]) -> io::Result<Found<'a>> {
        let is_small = self.files.len() < MANY || directories.len() < MOST_THREADS;
        let threads =
            if is_small { 1 } else { available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS) };
        if threads == 1 {
            return self.enter(view, directories);
        }
        let mut found = Found::default();
        for part in thread::scope(|scope| {
            let parts = directories.chunks(directories.len().div_ceil(threads));
            let running: Vec<_> = parts.map(|part| scope.spawn(|| self.enter(view, part))).collect();
            running.into_iter().map(thread::ScopedJoinHandle::join).collect::<Vec<_>>()
        }) {
            found.add(part.unwrap_or_else(|_| Err(io::Error::other("a thread ended early")))?);
        }
        Ok(found)
    }

    fn enter(&self, view: &WorkTreeView, directories: &[Vec<u8>]) -> io::Result<Found<'a>> {
        let mut found = Found::default();
        for directory in directories {
            self.enter_one(view, directory, &mut found)?;
        }
        Ok(found)
    }

    fn enter_one(&self, view: &WorkTreeView, directory: &[u8], found: &mut Found<'a>) -> io::Result<()> {
        for entry in fs::read_dir(view.tree.join(as_path(directory)))? {
            let entry = entry?;
            let name = entry.file_name();
            let path = match directory {
                // The repository of the slot's user.
                [] if name == ".git" => continue,
                [] => name.as_bytes().to_vec(),
                above => [above, b"/", name.as_bytes()].concat(),
            };
            if let Some((known, file)) = self.files.get_key_value(path.as_slice()) {
                found.seen.push(known);
                if !file.is_unchanged(&entry.metadata()?, self.index_second) {
                    found.suspects.push(path);
                }
            } else if self.directories.contains(path.as_slice()) && entry.file_type()?.is_dir() {
                found.open.push(path);
            } else {
                found.others.push(path);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::path::Path;
    use std::process::Command;
    use std::time::{Duration, SystemTime};

    use super::*;

    struct Place {
        _directory: tempfile::TempDir,
        view: WorkTreeView,
    }

    /// Files that were committed a while ago.
    fn place() -> Place {
        let directory = tempfile::tempdir().unwrap();
        let tree = directory.path().to_path_buf();
        let past = SystemTime::now() - Duration::from_secs(100);
        fs::create_dir_all(tree.join("a/b")).unwrap();
        for path in ["a/b/x", "a/y", "z"] {
            fs::write(tree.join(path), path).unwrap();
            File::open(tree.join(path)).unwrap().set_modified(past).unwrap();
        }
        git(&tree, &["init", "-q"]);
        git(&tree, &["add", "-A"]);
        let view = WorkTreeView { git_dir: tree.join(".git"), objects: tree.join(".git/objects"), tree };
        Place { _directory: directory, view }
    }

    fn git(directory: &Path, arguments: &[&str]) {
        assert!(Command::new("git").current_dir(directory).args(arguments).status().unwrap().success());
    }

    fn shell(place: &Place, script: &str) {
        let mut shell = Command::new("sh");
        assert!(shell.current_dir(&place.view.tree).args(["-c", script]).status().unwrap().success());
    }

    #[test]
    fn whatever_was_done_to_a_file_is_seen() {
        let rows: [(&str, &str, &[&str], &[&str]); 13] = [
            ("nothing", "true", &[], &[]),
            ("an edit", "echo more >> a/y", &["a/y"], &[]),
            (
                "an edit that hides its times",
                "t=$(stat -c %y z); printf Z > z; touch -d \"$t\" z",
                &["z"],
                &[],
            ),
            ("a rename over a file", "cp -p z n; mv n z", &["z"], &[]),
            ("a new mode", "chmod +x z", &["z"], &[]),
            ("a link in place of a file", "rm z; ln -s a/y z", &["z"], &[]),
            ("a directory in place of a file", "rm z; mkdir z; touch z/n", &["z"], &[]),
            ("a link in place of a directory", "mv a/b ../b$$; ln -s ../../b$$ a/b", &["a/b/x"], &["a/b"]),
            ("a file in place of a directory", "rm -r a; touch a", &["a/b/x", "a/y"], &["a"]),
            ("a deletion", "rm -r a/b", &["a/b/x"], &[]),
            ("a new file", "touch a/b/new", &[], &["a/b/new"]),
            ("a new directory, empty or not", "mkdir -p e f/g; touch f/g/h", &[], &["e", "f"]),
            ("a repository below", "mkdir a/.git", &[], &["a/.git"]),
        ];
        for (row, script, suspects, others) in rows {
            let place = place();
            shell(&place, script);
            let owned =
                |paths: &[&str]| paths.iter().map(|path| path.as_bytes().to_vec()).collect::<Vec<_>>();
            let expected = Sweep { suspects: owned(suspects), others: owned(others), tree: None };
            assert_eq!(Sweep::of(&place.view), Some(expected), "{row}");
        }
    }

    #[test]
    fn a_file_as_young_as_the_index_is_a_suspect() {
        let place = place();
        let second = fs::metadata(place.view.tree.join("z")).unwrap().modified().unwrap();
        File::open(place.view.index()).unwrap().set_modified(second).unwrap();
        assert_eq!(Sweep::of(&place.view).unwrap().suspects.len(), 3);
    }

    #[test]
    fn without_an_index_nothing_is_judged() {
        let place = place();
        fs::remove_file(place.view.index()).unwrap();
        assert_eq!(Sweep::of(&place.view), None);
        fs::write(place.view.index(), "DIRC").unwrap();
        assert_eq!(Sweep::of(&place.view), None);
    }
}
