//! How a repository is looked at: a few questions about its files, and the answers of a real directory.
//!
//! Owns the bounds: no file larger than [`MAX_FILE_BYTES`] is read, no directory is listed further than
//! `MAX_ENTRIES`. Refuses to write and to wait: what is not a regular file, such as a pipe, is not opened.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The largest file that is read, in bytes. A manifest is far smaller.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// How many entries of a directory are listed, at most.
const MAX_ENTRIES: usize = 10_000;

/// A repository's files, by paths from its root with `/` between names. The root itself is the empty path.
pub trait Files {
    /// The text of a regular file. Nothing if there is none, or if it is larger than [`MAX_FILE_BYTES`] or no text.
    fn read(&self, path: &str) -> Option<String>;

    /// Whether there is a file or a directory.
    fn exists(&self, path: &str) -> bool;

    /// The names in a directory in a fixed order, directories with a `/` at their end. Nothing if there is none.
    fn list(&self, directory: &str) -> Vec<String>;
}

/// The files below a directory of this machine.
#[derive(Debug, Clone)]
pub struct Directory {
    root: PathBuf,
}

impl Directory {
    /// Looks at the files below this directory.
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
    // Asked before opening: opening a pipe would wait for somebody who writes.
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
