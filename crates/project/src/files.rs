//! Reads the files of a repository, within limits: no file larger than [`MAX_FILE_BYTES`], no more than `MAX_ENTRIES` names
//! of a directory. Only regular files are opened: a pipe would block.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The largest file that is read, in bytes. Manifests are far smaller.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// Entries of a directory that are listed, at most.
const MAX_ENTRIES: usize = 10_000;

/// The files of a repository. Paths are relative to its root, with `/` between names; the root is the empty path.
pub trait Files {
    /// Nothing if the file does not exist, is larger than [`MAX_FILE_BYTES`] or is not UTF-8.
    fn read(&self, path: &str) -> Option<String>;

    /// Whether a file or directory exists.
    fn exists(&self, path: &str) -> bool;

    /// The sorted names in a directory; names of directories end with `/`. Empty if the directory does not exist.
    fn list(&self, directory: &str) -> Vec<String>;
}

/// The files below a directory of this machine.
#[derive(Debug, Clone)]
pub struct Directory {
    root: PathBuf,
}

impl Directory {
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    fn path(&self, path: &str) -> PathBuf {
        // Joining an empty path would add a separator at the end.
        if path.is_empty() { self.root.clone() } else { self.root.join(path) }
    }
}

impl Files for Directory {
    fn read(&self, path: &str) -> Option<String> {
        read_bounded(&self.path(path))
    }

    fn exists(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    fn list(&self, directory: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path(directory)) else { return Vec::new() };
        let mut names: Vec<String> = entries
            .take(MAX_ENTRIES)
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let name = entry.file_name().into_string().ok()?;
                Some(if entry.path().is_dir() { format!("{name}/") } else { name })
            })
            .collect();
        names.sort_unstable();
        names
    }
}

fn read_bounded(path: &Path) -> Option<String> {
    // Asked before opening: opening a pipe would wait for a writer.
    let metadata = fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > MAX_FILE_BYTES {
        return None;
    }
    let mut text = String::new();
    // The file may have grown since, so the length is bounded once more while reading.
    File::open(path).ok()?.take(MAX_FILE_BYTES + 1).read_to_string(&mut text).ok()?;
    (u64::try_from(text.len()).ok()? <= MAX_FILE_BYTES).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_pipe_that_nobody_writes_to_is_not_waited_for() {
        let root = tempfile::tempdir().expect("a directory");
        let made =
            std::process::Command::new("mkfifo").arg(root.path().join("Makefile")).status().expect("mkfifo");
        assert!(made.success());
        let files = Directory::new(root.path());
        assert_eq!((files.read("Makefile"), files.exists("Makefile")), (None, true));
    }

    #[test]
    fn a_directory_is_read_listed_and_bounded() {
        let root = tempfile::tempdir().expect("a directory");
        let largest = usize::try_from(MAX_FILE_BYTES).expect("fits");
        fs::create_dir(root.path().join("web")).expect("made");
        fs::write(root.path().join("web/package.json"), "{}").expect("written");
        fs::write(root.path().join("largest"), "x".repeat(largest)).expect("written");
        fs::write(root.path().join("larger"), "x".repeat(largest + 1)).expect("written");
        fs::write(root.path().join("bytes"), [0xff, 0xfe]).expect("written");
        let files = Directory::new(root.path());

        assert_eq!(files.list(""), ["bytes", "larger", "largest", "web/"]);
        assert_eq!(files.list("web"), ["package.json"]);
        assert_eq!(files.list("absent"), Vec::<String>::new());
        assert_eq!(files.read("web/package.json").as_deref(), Some("{}"));
        assert_eq!(files.read("largest").map(|text| text.len()), Some(largest));
        for unread in ["larger", "bytes", "web", "absent"] {
            assert_eq!(files.read(unread), None, "{unread}");
        }
        assert!(files.exists("") && files.exists("web") && files.exists("larger") && !files.exists("absent"));
    }
}
