//! An index file, read without git: which files it names, what each was like on the disk, and the tree of them all.
//!
//! Pure functions of bytes. Refuses to guess: a version, a flag or an entry that is not known here makes the whole file
//! unreadable, and the caller asks git instead.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

const SIGNATURE: &[u8] = b"DIRC";
/// Version 4 shortens paths. Ours never has it, because no setting of the user's that asks for it is taken over.
const VERSIONS: [u32; 2] = [2, 3];
/// Ten numbers of four bytes.
const STAT_BYTES: usize = 40;
const FLAGS_BYTES: usize = 2;
/// The part of the flags that is the length of the path. A path of this length or more is longer.
const LENGTH: u16 = 0x0fff;
const ALIGNED_TO: usize = 8;
const TREE_EXTENSION: &[u8] = b"TREE";

const TYPE_BITS: u32 = 0o170_000;
const REGULAR_FILE: u32 = 0o100_000;
const LINK: u32 = 0o120_000;
const OWNER_EXECUTES: u32 = 0o100;

const EMPTY_FILES: [&str; 2] = [
    "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
];

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct IndexFile<'a> {
    /// Sorted by path.
    pub(crate) files: Vec<IndexedFile<'a>>,
    /// The name of the tree that has exactly these files, if git has noted it.
    pub(crate) tree: Option<String>,
}

/// A file or a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IndexedFile<'a> {
    pub(crate) path: &'a [u8],
    object: &'a [u8],
    /// Change time, modification time (seconds and nanoseconds), device, inode, mode, user, group, size.
    stat: [u32; 10],
}

impl<'a> IndexFile<'a> {
    /// `None` if it is not as expected, or has an entry that stands for no file: a submodule, a conflict, one that git is
    /// told not to look at.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        // The last bytes are a checksum, as long as the name of an object.
        [20, 32].into_iter().find_map(|name_length| Self::parse_with(bytes, name_length))
    }

    fn parse_with(bytes: &'a [u8], name_length: usize) -> Option<Self> {
        let mut rest = bytes.strip_prefix(SIGNATURE)?;
        let version = take_number(&mut rest)?;
        let count = usize::try_from(take_number(&mut rest)?).ok()?;
        if !VERSIONS.contains(&version) {
            return None;
        }
        let mut files = Vec::with_capacity(count.min(bytes.len() / STAT_BYTES));
        for _ in 0..count {
            files.push(take_file(&mut rest, name_length)?);
        }
        let is_sorted = files.is_sorted_by(|one, next| one.path < next.path);
        let mut extensions = rest.split_at_checked(rest.len().checked_sub(name_length)?)?.0;
        let mut tree = None;
        while !extensions.is_empty() {
            let name = take(&mut extensions, 4)?;
            let length = usize::try_from(take_number(&mut extensions)?).ok()?;
            let content = take(&mut extensions, length)?;
            match name {
                TREE_EXTENSION => tree = root_tree(content, name_length, count),
                // A capital letter means that a reader may leave it out.
                [first, ..] if first.is_ascii_uppercase() => {}
                _ => return None,
            }
        }
        is_sorted.then_some(Self { files, tree })
    }
}

impl IndexedFile<'_> {
    /// The second of its modification time.
    pub(crate) const fn modified(&self) -> u32 {
        let [_, _, modified, ..] = self.stat;
        modified
    }

    /// Whether what is on the disk now is what git has seen there. `index_second` is that of the index itself: a file
    /// that is not older may have been written again since, without a trace.
    pub(crate) fn is_unchanged(&self, found: &Metadata, index_second: i64) -> bool {
        let [changed, changed_nanos, modified, modified_nanos, _, inode, mode, user, group, size] = self.stat;
        let is_same_kind = match mode & TYPE_BITS {
            REGULAR_FILE => found.is_file() && (found.mode() ^ mode) & OWNER_EXECUTES == 0,
            LINK => found.is_symlink(),
            _ => false,
        };
        // Git sets a size of zero for files that it must read again.
        let is_settled = size != 0 || EMPTY_FILES.contains(&hex(self.object).as_str());
        is_same_kind
            && is_settled
            && i64::from(modified) < index_second
            && [
                (found.ctime(), changed),
                (found.ctime_nsec(), changed_nanos),
                (found.mtime(), modified),
                (found.mtime_nsec(), modified_nanos),
            ]
            .into_iter()
            .all(|(found, noted)| found == i64::from(noted))
            // The index has only the lower half of these.
            && [(found.ino(), inode), (found.len(), size)]
                .into_iter()
                .all(|(found, noted)| found & u64::from(u32::MAX) == u64::from(noted))
            && (found.uid(), found.gid()) == (user, group)
    }
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(length)?;
    *rest = left;
    Some(taken)
}

fn take_number(rest: &mut &[u8]) -> Option<u32> {
    take(rest, 4).and_then(number)
}

fn number(bytes: &[u8]) -> Option<u32> {
    bytes.try_into().ok().map(u32::from_be_bytes)
}

fn take_file<'a>(rest: &mut &'a [u8], name_length: usize) -> Option<IndexedFile<'a>> {
    let before = rest.len();
    let mut stat = [0; 10];
    for (field, bytes) in stat.iter_mut().zip(take(rest, STAT_BYTES)?.chunks(4)) {
        *field = number(bytes)?;
    }
    let object = take(rest, name_length)?;
    let flags = u16::from_be_bytes(take(rest, FLAGS_BYTES)?.try_into().ok()?);
    // Any other bit means that the entry does not say what the working file is.
    if flags & !LENGTH != 0 {
        return None;
    }
    let length = match flags & LENGTH {
        LENGTH => rest.iter().position(|byte| *byte == 0)?,
        length => usize::from(length),
    };
    let path = take(rest, length)?;
    let read = before.checked_sub(rest.len())?;
    // One to eight zeros.
    let padding = take(rest, ALIGNED_TO - read % ALIGNED_TO)?;
    let is_path = !path.is_empty() && !path.contains(&0) && padding.iter().all(|byte| *byte == 0);
    let [.., mode, _, _, _] = stat;
    (is_path && matches!(mode & TYPE_BITS, REGULAR_FILE | LINK)).then_some(IndexedFile { path, object, stat })
}

/// The tree in the first record: an empty path, how many entries are below, how many trees, its name.
fn root_tree(content: &[u8], name_length: usize, count: usize) -> Option<String> {
    let end = content.iter().position(|byte| *byte == b'\n')?;
    let counts = str::from_utf8(content.get(..end)?.strip_prefix(b"\0")?).ok()?;
    // It is negative where the tree is not known.
    let entries: usize = counts.split_once(' ')?.0.parse().ok()?;
    let name = content.get(end.checked_add(1)?..)?.get(..name_length)?;
    (entries == count).then(|| hex(name))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    use super::*;

    fn git(directory: &Path, arguments: &[&str]) -> String {
        let output = Command::new("git").current_dir(directory).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_string()
    }

    fn repository(format: &str) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        git(directory.path(), &["init", "-q", &format!("--object-format={format}")]);
        fs::create_dir_all(directory.path().join("a/b")).unwrap();
        let long = "l".repeat(200);
        for path in ["a/b/empty", "a/b/x", "a.txt", "executable", &long] {
            fs::write(directory.path().join(path), if path.ends_with("empty") { "" } else { path }).unwrap();
        }
        std::os::unix::fs::symlink("a.txt", directory.path().join("link")).unwrap();
        directory
    }

    #[test]
    fn what_git_wrote_is_read() {
        for format in ["sha1", "sha256"] {
            let directory = repository(format);
            git(directory.path(), &["add", "-A"]);
            let bytes = fs::read(directory.path().join(".git/index")).unwrap();
            assert_eq!(IndexFile::parse(&bytes).unwrap().tree, None, "no tree was written yet");
            let tree = git(directory.path(), &["write-tree"]);
            let bytes = fs::read(directory.path().join(".git/index")).unwrap();
            let index = IndexFile::parse(&bytes).unwrap();
            assert_eq!(index.tree, Some(tree), "{format}");
            let listed = git(directory.path(), &["ls-files"]);
            let paths: Vec<&str> =
                index.files.iter().map(|file| str::from_utf8(file.path).unwrap()).collect();
            assert_eq!(paths, listed.lines().collect::<Vec<_>>(), "{format}");
            for file in &index.files {
                let path = directory.path().join(str::from_utf8(file.path).unwrap());
                let found = path.symlink_metadata().unwrap();
                assert!(file.is_unchanged(&found, found.mtime() + 1), "{}", path.display());
                assert!(
                    !file.is_unchanged(&found, found.mtime()),
                    "as young as the index: {}",
                    path.display()
                );
            }
        }
    }

    #[test]
    fn a_file_that_was_touched_is_changed() {
        let directory = repository("sha1");
        git(directory.path(), &["add", "-A"]);
        let bytes = fs::read(directory.path().join(".git/index")).unwrap();
        let index = IndexFile::parse(&bytes).unwrap();
        let file = index.files.iter().find(|file| file.path == b"a.txt").unwrap();
        let path = directory.path().join("a.txt");
        let before = path.metadata().unwrap();
        let is_unchanged = || file.is_unchanged(&path.metadata().unwrap(), i64::MAX);
        assert!(is_unchanged());
        // The times of the edit are set back, which changes the change time.
        loop {
            fs::write(&path, "A.txt").unwrap();
            fs::File::open(&path).unwrap().set_modified(before.modified().unwrap()).unwrap();
            let now = path.metadata().unwrap();
            if (now.ctime(), now.ctime_nsec()) != (before.ctime(), before.ctime_nsec()) {
                break;
            }
        }
        assert!(!is_unchanged());
    }

    #[test]
    fn an_entry_that_stands_for_no_working_file_makes_the_index_unreadable() {
        let rows: [(&str, &[&str]); 4] = [
            ("not looked at", &["update-index", "--assume-unchanged", "a.txt"]),
            ("left out", &["update-index", "--skip-worktree", "a.txt"]),
            ("shortened paths", &["update-index", "--index-version", "4"]),
            (
                "submodule",
                &[
                    "update-index",
                    "--add",
                    "--cacheinfo",
                    "160000,e69de29bb2d1d6434b8b29ae775ad8c2e48c5391,s",
                ],
            ),
        ];
        for (row, arguments) in rows {
            let directory = repository("sha1");
            git(directory.path(), &["add", "-A"]);
            git(directory.path(), arguments);
            let bytes = fs::read(directory.path().join(".git/index")).unwrap();
            assert_eq!(IndexFile::parse(&bytes), None, "{row}");
        }
    }

    #[test]
    fn a_size_of_zero_is_believed_only_of_an_empty_file() {
        let directory = repository("sha1");
        git(directory.path(), &["add", "-A"]);
        let bytes = fs::read(directory.path().join(".git/index")).unwrap();
        let mut index = IndexFile::parse(&bytes).unwrap();
        let path = directory.path().join("a/b/empty");
        let empty = index.files.iter_mut().find(|file| file.path == b"a/b/empty").unwrap();
        let is_unchanged = |file: &IndexedFile<'_>| file.is_unchanged(&path.metadata().unwrap(), i64::MAX);
        assert!(is_unchanged(empty));
        empty.object = &[0x11; 20];
        assert!(!is_unchanged(empty));
    }

    proptest::proptest! {
        /// Catches a length that is trusted.
        #[test]
        fn no_bytes_make_it_panic(mut bytes in proptest::collection::vec(0_u8..4, 0..200)) {
            bytes.splice(0..0, *b"DIRC\0\0\0\x02\0\0\0\x01");
            drop(IndexFile::parse(&bytes));
        }
    }
}
