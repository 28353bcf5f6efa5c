//! The files of one commit, as this crate sees them.
//!
//! Owns the trait that callers implement over git, and one in memory for tests. A path is opaque text with `/` between its
//! parts. Refuses to know where the content comes from.

use std::collections::BTreeMap;

/// All files of a commit.
pub trait Tree {
    /// The content of a file; of a symbolic link, nothing.
    fn read(&self, path: &str) -> Option<Vec<u8>>;
    fn is_file(&self, path: &str) -> bool;
    /// The paths of all files and links, sorted.
    fn files(&self) -> &[String];
    /// What a symbolic link points to, as it is written there; nothing for a regular file.
    fn link_target(&self, _path: &str) -> Option<String> {
        None
    }
}

/// A tree in memory.
#[derive(Debug, Clone, Default)]
pub struct MemoryTree {
    contents: BTreeMap<String, Vec<u8>>,
    links: BTreeMap<String, String>,
    paths: Vec<String>,
}

impl MemoryTree {
    #[must_use]
    pub fn new<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut tree = Self::default();
        for (path, content) in files {
            tree.insert(path, content.as_bytes());
        }
        tree
    }

    pub fn insert(&mut self, path: &str, content: &[u8]) {
        self.links.remove(path);
        self.contents.insert(path.to_string(), content.to_vec());
        self.list();
    }

    pub fn insert_link(&mut self, path: &str, target: &str) {
        self.contents.remove(path);
        self.links.insert(path.to_string(), target.to_string());
        self.list();
    }

    pub fn remove(&mut self, path: &str) {
        self.contents.remove(path);
        self.links.remove(path);
        self.list();
    }

    fn list(&mut self) {
        self.paths = self.contents.keys().chain(self.links.keys()).cloned().collect();
        self.paths.sort();
    }
}

impl Tree for MemoryTree {
    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.contents.get(path).cloned()
    }

    fn is_file(&self, path: &str) -> bool {
        self.contents.contains_key(path) || self.links.contains_key(path)
    }

    fn files(&self) -> &[String] {
        &self.paths
    }

    fn link_target(&self, path: &str) -> Option<String> {
        self.links.get(path).cloned()
    }
}

/// A file as text; bytes that are no UTF-8 become replacement characters.
pub(crate) fn text(tree: &dyn Tree, path: &str) -> Option<String> {
    tree.read(path).map(|content| String::from_utf8_lossy(&content).into_owned())
}

/// The files below a directory; all of them for the empty one.
pub(crate) fn below<'a>(tree: &'a dyn Tree, directory: &str) -> impl Iterator<Item = &'a str> {
    let prefix = if directory.is_empty() { String::new() } else { format!("{directory}/") };
    let files = tree.files();
    let first = files.partition_point(|path| path.as_str() < prefix.as_str());
    files.iter().skip(first).map(String::as_str).take_while(move |path| path.starts_with(&prefix))
}

pub(crate) fn is_directory(tree: &dyn Tree, path: &str) -> bool {
    !path.is_empty() && below(tree, path).next().is_some()
}
