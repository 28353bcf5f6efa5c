//! One look at every working file of a slot, without git: which of them may differ from the index, and what else is there.
//!
//! Owns when git need not be asked about a file: its kind, size, owner, inode and both times are those that git noted, and
//! it is older than the index. Refuses to call anything unchanged otherwise, to follow a link, and to judge an index with
//! entries that stand for no file. Invariant: a file that is not a suspect has the content that the index says, and a path
//! that is neither in the index nor above one of its files is among the others or below one of them.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;

use crate::files::{as_path, read_optional};
use crate::index_file::{IndexFile, IndexedFile};
use crate::private_git_dir::WorkTreeView;

/// More paths than this are not named to git: it looks at all files instead.
const FEW: usize = 100;

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
        let mut walk = Walk::new(&index, index_second);
        while let Some(directory) = walk.open.pop() {
            walk.enter(view, &directory).ok()?;
        }
        let Walk { files, mut suspects, mut others, .. } = walk;
        suspects.extend(files.into_keys().map(<[u8]>::to_vec));
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

struct Walk<'a> {
    /// Those that were not found yet.
    files: HashMap<&'a [u8], IndexedFile<'a>>,
    /// The directories of all files.
    directories: HashSet<&'a [u8]>,
    index_second: i64,
    open: Vec<Vec<u8>>,
    suspects: Vec<Vec<u8>>,
    others: Vec<Vec<u8>>,
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
        Self {
            files: index.files.iter().map(|file| (file.path, *file)).collect(),
            directories,
            index_second,
            open: vec![Vec::new()],
            suspects: Vec::new(),
            others: Vec::new(),
        }
    }

    fn enter(&mut self, view: &WorkTreeView, directory: &[u8]) -> std::io::Result<()> {
        for entry in fs::read_dir(view.tree.join(as_path(directory)))? {
            let entry = entry?;
            let name = entry.file_name();
            let path = match directory {
                // The repository of the slot's user.
                [] if name == ".git" => continue,
                [] => name.as_bytes().to_vec(),
                above => [above, b"/", name.as_bytes()].concat(),
            };
            if let Some(file) = self.files.remove(path.as_slice()) {
                if !file.is_unchanged(&entry.metadata()?, self.index_second) {
                    self.suspects.push(path);
                }
            } else if self.directories.contains(path.as_slice()) && entry.file_type()?.is_dir() {
                self.open.push(path);
            } else {
                self.others.push(path);
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
