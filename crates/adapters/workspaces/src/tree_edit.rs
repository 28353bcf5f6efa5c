//! A tree with some of its entries replaced, made without an index: only the directories that differ are read and written.
//!
//! Invariant: every directory that is not above a replaced entry keeps its tree, by name.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::BufReader;
use std::sync::Arc;

use fixpoint_ports::{CommitId, TreeId, WorkspaceError};

use crate::contents::{Content, read_contents, unreadable};
use crate::git::parse::{EntryMode, TreeEntry};
use crate::listing::Listing;
use crate::workspaces::Inner;

/// A path and what is there afterwards; nothing if it is deleted.
pub(crate) type Edit = (Vec<u8>, Option<(EntryMode, String)>);

/// Names of trees by directory.
type Trees = HashMap<Vec<u8>, String>;

impl Inner {
    /// The tree of a commit with edits, and its entries.
    pub(crate) fn edited_tree(
        &self,
        onto: &CommitId,
        edits: &[Edit],
    ) -> Result<(TreeId, Listing), WorkspaceError> {
        let before = self.listing(onto)?;
        if edits.is_empty() {
            return Ok((self.known_tree_of(onto)?, before));
        }
        let after = edited(&before, edits);
        let affected: BTreeSet<&[u8]> = edits.iter().flat_map(|(path, _)| directories_above(path)).collect();
        let mut trees = self.trees_in(onto, &before, &affected)?;
        for directory in &affected {
            trees.remove(*directory);
        }
        let deepest = affected.iter().map(|directory| depth(directory)).max().unwrap_or(0);
        for level in (1..=deepest).rev() {
            let here = affected.iter().copied().filter(|directory| depth(directory) == level);
            let written: Vec<(&[u8], Vec<u8>)> = here
                .map(|directory| (directory, tree_input(&after, directory, &trees)))
                .filter(|(_, input)| !input.is_empty())
                .collect();
            let input: Vec<&[u8]> = written.iter().map(|(_, input)| input.as_slice()).collect();
            let names = self.make_trees(&["--batch"], input.join(&0))?;
            trees.extend(written.iter().map(|(directory, _)| directory.to_vec()).zip(names));
        }
        let root = self.make_trees(&[], tree_input(&after, b"", &trees))?.pop().unwrap_or_default();
        Ok((TreeId(root), Arc::new(after)))
    }

    /// Writes the trees that lines for `mktree -z` describe. An empty line separates two trees of a batch.
    fn make_trees(&self, arguments: &[&str], input: Vec<u8>) -> Result<Vec<String>, WorkspaceError> {
        if input.is_empty() && !arguments.is_empty() {
            return Ok(Vec::new());
        }
        // A partial clone lacks objects of files that were not changed.
        let git = self.object_git("mktree").args(["-z", "--missing"]).args(arguments).input(input);
        let printed = git.run()?;
        Ok(String::from_utf8_lossy(&printed).lines().map(ToString::to_string).collect())
    }

    /// The trees directly below those of some directories that a commit has.
    fn trees_in(
        &self,
        onto: &CommitId,
        listing: &[TreeEntry],
        directories: &BTreeSet<&[u8]>,
    ) -> Result<Trees, WorkspaceError> {
        let is_there = |directory: &&&[u8]| directory.is_empty() || !below(listing, directory).is_empty();
        let there: Vec<&[u8]> = directories.iter().filter(is_there).copied().collect();
        let mut names = Vec::new();
        for directory in &there {
            names.extend([onto.0.as_bytes(), b":", directory, b"\0"].concat());
        }
        let git = self.object_git("cat-file").args(["--batch", "-z"]).input(names);
        let read = git.run_through(|pipe| read_contents(BufReader::new(pipe), u64::MAX))?;
        let read = read.map_err(|error| unreadable(&error))?;
        let mut trees = Trees::new();
        for (directory, content) in there.iter().zip(read) {
            let Content::Whole(content) = content else { continue };
            let found = subtrees(&content, onto.0.len() / 2);
            let message = || format!("the tree of {} cannot be parsed", String::from_utf8_lossy(directory));
            let found = found
                .ok_or_else(|| WorkspaceError::Git { command: "cat-file".to_string(), message: message() })?;
            trees.extend(found.into_iter().map(|(name, object)| (joined(directory, name), object)));
        }
        Ok(trees)
    }
}

fn joined(directory: &[u8], name: &[u8]) -> Vec<u8> {
    if directory.is_empty() { name.to_vec() } else { [directory, b"/", name].concat() }
}

/// How many directories a directory is below the root.
fn depth(directory: &[u8]) -> usize {
    if directory.is_empty() { 0 } else { 1 + directory.iter().filter(|byte| **byte == b'/').count() }
}

fn directories_above(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    std::iter::once(0).chain(ends).filter_map(|end| path.get(..end))
}

/// The entries below a directory, however deep.
fn below<'a>(listing: &'a [TreeEntry], directory: &[u8]) -> &'a [TreeEntry] {
    if directory.is_empty() {
        return listing;
    }
    let start = [directory, b"/"].concat();
    let from = listing.partition_point(|entry| entry.path < start);
    let rest = listing.get(from..).unwrap_or_default();
    let length = rest.partition_point(|entry| entry.path.starts_with(&start));
    rest.get(..length).unwrap_or_default()
}

/// The entries after the edits: deletions first, and what is new takes the place of a directory or of a file above it.
fn edited(before: &[TreeEntry], edits: &[Edit]) -> Vec<TreeEntry> {
    let new: BTreeMap<&[u8], &(EntryMode, String)> =
        edits.iter().filter_map(|(path, new)| Some((path.as_slice(), new.as_ref()?))).collect();
    let deleted: BTreeSet<&[u8]> = edits.iter().map(|(path, _)| path.as_slice()).collect();
    let new_directories: BTreeSet<&[u8]> = new.keys().flat_map(|path| directories_above(path)).collect();
    let stays = |entry: &&TreeEntry| {
        let path = entry.path.as_slice();
        !deleted.contains(path)
            && !new_directories.contains(path)
            && !directories_above(path).any(|above| new.contains_key(above))
    };
    let mut after: Vec<TreeEntry> = before.iter().filter(stays).cloned().collect();
    after.extend(new.into_iter().map(|(path, (mode, object))| TreeEntry {
        mode: *mode,
        object: object.clone(),
        size: None,
        path: path.to_vec(),
    }));
    after.sort_by(|one, other| one.path.cmp(&other.path));
    after
}

/// The tree of a directory as `mktree -z` reads it. A directory without files is in no tree.
fn tree_input(listing: &[TreeEntry], directory: &[u8], trees: &Trees) -> Vec<u8> {
    let skipped = if directory.is_empty() { 0 } else { directory.len() + 1 };
    let mut input = Vec::new();
    let mut last: &[u8] = b"";
    for entry in below(listing, directory) {
        let rest = entry.path.get(skipped..).unwrap_or_default();
        let end = rest.iter().position(|byte| *byte == b'/');
        let name = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        let header = match end {
            // Entries of one directory are next to each other.
            Some(_) if name == last => continue,
            Some(_) => trees.get(&joined(directory, name)).map(|tree| format!("040000 tree {tree}\t")),
            None => Some(match entry.mode {
                EntryMode::Submodule => format!("{} commit {}\t", entry.mode.octal(), entry.object),
                EntryMode::Absent | EntryMode::File(_) | EntryMode::Link => {
                    format!("{} blob {}\t", entry.mode.octal(), entry.object)
                }
            }),
        };
        last = name;
        // Git refuses a name that is in no tree, as it must.
        let header = header.unwrap_or_else(|| "040000 tree unknown\t".to_string());
        input.extend([header.as_bytes(), name, b"\0"].concat());
    }
    input
}

/// The directories in a tree object: a mode, a space, a name, a zero, and the bytes of the object's name.
fn subtrees(mut bytes: &[u8], name_length: usize) -> Option<Vec<(&[u8], String)>> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let space = bytes.iter().position(|byte| *byte == b' ')?;
        let (mode, rest) = bytes.split_at_checked(space)?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        let (name, object) = (rest.get(1..end)?, rest.get(end.checked_add(1)?..)?);
        let (object, rest) = object.split_at_checked(name_length)?;
        if matches!(mode, b"40000" | b"040000") {
            found.push((name, object.iter().map(|byte| format!("{byte:02x}")).collect()));
        }
        bytes = rest;
    }
    Some(found)
}
