//! The symbolic links of a tree, and the files that are reached through them.
//!
//! Owns where a link leads, and the names a file has besides its own. Refuses links that lead out of the tree. Invariant: a
//! chain of links is followed only so far, so that links in a circle end.

use std::collections::BTreeMap;

use crate::paths::{directory, join};
use crate::tree::{Tree, below};

/// Links in a chain that are followed.
const LONGEST_CHAIN: usize = 8;
/// Files that are listed a second time because links lead to their directories.
const MOST_FILES: usize = 3000;

/// Where each link of a tree leads.
#[derive(Debug, Default)]
pub(crate) struct Links(BTreeMap<String, String>);

impl Links {
    pub(crate) fn new(tree: &dyn Tree) -> Self {
        let target = |path: &String| join(directory(path), &tree.link_target(path)?);
        let links = tree.files().iter().filter_map(|path| Some((path.clone(), target(path)?)));
        Self(links.filter(|(_, target)| !target.is_empty()).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Some of the links, each with where it leads in the end.
    pub(crate) fn only(&self, is_wanted: impl Fn(&str) -> bool) -> Self {
        let wanted = self.0.keys().filter(|link| is_wanted(link));
        Self(wanted.map(|link| (link.clone(), self.followed(link).0)).collect())
    }

    /// The file that a path leads to, and the links on the way.
    pub(crate) fn followed(&self, path: &str) -> (String, Vec<String>) {
        let (mut here, mut passed) = (path.to_string(), Vec::new());
        while passed.len() < LONGEST_CHAIN {
            let ends = here.match_indices('/').map(|(at, _)| at).chain([here.len()]);
            let mut above = ends.filter_map(|end| self.0.get_key_value(here.get(..end)?));
            let next =
                above.find_map(|(link, target)| Some((link, format!("{target}{}", behind(&here, link)?))));
            let Some((link, next)) = next else { break };
            passed.push(link.clone());
            here = next;
        }
        (here, passed)
    }

    /// The names by which links lead to a file at once, each with its link.
    pub(crate) fn names<'a>(&'a self, path: &'a str) -> impl Iterator<Item = (&'a str, String)> {
        let name = |link: &str, target: &str| Some(format!("{link}{}", behind(path, target)?));
        self.0.iter().filter_map(move |(link, target)| Some((link.as_str(), name(link, target)?)))
    }
}

/// What stands behind a directory, or nothing more for the path itself.
fn behind<'a>(path: &'a str, above: &str) -> Option<&'a str> {
    path.strip_prefix(above).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A tree in which links are followed, as a shell does.
pub(crate) struct Followed<'a> {
    tree: &'a dyn Tree,
    links: &'a Links,
    paths: Vec<String>,
}

impl<'a> Followed<'a> {
    pub(crate) fn new(tree: &'a dyn Tree, links: &'a Links) -> Self {
        let mut paths = tree.files().to_vec();
        for link in links.0.keys() {
            let (target, _) = links.followed(link);
            let room = (tree.files().len() + MOST_FILES).saturating_sub(paths.len());
            let files = below(tree, &target).take(room);
            paths.extend(files.filter_map(|file| Some(format!("{link}{}", behind(file, &target)?))));
        }
        paths.sort();
        paths.dedup();
        Self { tree, links, paths }
    }
}

impl Tree for Followed<'_> {
    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.tree.read(path).or_else(|| self.tree.read(&self.links.followed(path).0))
    }

    fn is_file(&self, path: &str) -> bool {
        self.tree.is_file(path) || self.tree.is_file(&self.links.followed(path).0)
    }

    fn files(&self) -> &[String] {
        &self.paths
    }

    fn link_target(&self, path: &str) -> Option<String> {
        self.tree.link_target(path)
    }
}
