//! The tree and the entries of a commit, asked for once although several parts of an attempt need them.
//!
//! Invariant: what is kept is named by an object, which never changes. Refuses to keep what is named otherwise, and
//! listings so large that keeping some would take much memory.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use fixpoint_ports::{CommitId, TreeId, WorkspaceError};

use crate::git::parse::{self, DiffEntry, EntryMode, TreeEntry};
use crate::workspaces::Inner;

/// The base of a task, an attempt, the one before it, and its proof tree.
const KEPT: usize = 4;
const LARGEST: usize = 20_000;
const KEPT_TREES: usize = 64;
/// The length of the shortest complete name of an object.
const NAME_LENGTH: usize = 40;

pub(crate) type Listing = Arc<Vec<TreeEntry>>;

#[derive(Debug, Default)]
pub(crate) struct Listings {
    /// The one that was used last is the first.
    kept: Mutex<VecDeque<(CommitId, Listing)>>,
    trees: Mutex<VecDeque<(CommitId, TreeId)>>,
}

fn is_object(at: &CommitId) -> bool {
    at.0.len() >= NAME_LENGTH && at.0.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl Listings {
    fn find(&self, at: &CommitId) -> Option<Listing> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let position = kept.iter().position(|(commit, _)| commit == at)?;
        let found = kept.remove(position)?;
        let listing = Arc::clone(&found.1);
        kept.push_front(found);
        Some(listing)
    }

    pub(crate) fn tree(&self, at: &CommitId) -> Option<TreeId> {
        let trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        trees.iter().find(|(commit, _)| commit == at).map(|(_, tree)| tree.clone())
    }

    pub(crate) fn keep_tree(&self, at: &CommitId, tree: &TreeId) {
        if is_object(at) && self.tree(at).is_none() {
            let mut trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
            trees.truncate(KEPT_TREES - 1);
            trees.push_front((at.clone(), tree.clone()));
        }
    }

    pub(crate) fn keep(&self, at: &CommitId, listing: &Listing) {
        if !is_object(at) || listing.len() > LARGEST {
            return;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.truncate(KEPT - 1);
        kept.push_front((at.clone(), Arc::clone(listing)));
    }
}

impl Inner {
    /// All files, links and submodules of a commit, sorted by path.
    pub(crate) fn listing(&self, at: &CommitId) -> Result<Listing, WorkspaceError> {
        if let Some(listing) = self.listings.find(at) {
            return Ok(listing);
        }
        let git = self.object_git("ls-tree").args(["-r", "-z", "--full-tree", "--end-of-options"]);
        let output = git.arg(&at.0).output()?;
        if !output.succeeded() {
            self.tree_of(at)?;
        }
        let listing = Arc::new(parse::tree(&output.checked()?)?);
        self.listings.keep(at, &listing);
        Ok(listing)
    }

    /// All entries of a commit, if they were listed lately.
    pub(crate) fn kept_listing(&self, at: &CommitId) -> Option<Listing> {
        self.listings.find(at)
    }

    /// Keeps the listing of a commit, if that of another is kept and it is known how they differ.
    pub(crate) fn derive_listing(&self, from: &CommitId, to: &CommitId, differences: &[DiffEntry]) {
        let Some(before) = self.listings.find(from).filter(|_| self.listings.find(to).is_none()) else {
            return;
        };
        let changed: HashSet<&[u8]> = differences.iter().map(|entry| entry.path.as_slice()).collect();
        let mut entries: Vec<TreeEntry> =
            before.iter().filter(|entry| !changed.contains(entry.path.as_slice())).cloned().collect();
        let there = differences.iter().filter(|entry| entry.after != EntryMode::Absent);
        entries.extend(there.map(|entry| TreeEntry {
            mode: entry.after,
            object: entry.object.clone(),
            size: None,
            path: entry.path.clone(),
        }));
        entries.sort_by(|one, other| one.path.cmp(&other.path));
        self.listings.keep(to, &Arc::new(entries));
    }

    /// The tree of a commit, remembered.
    pub(crate) fn known_tree_of(&self, at: &CommitId) -> Result<TreeId, WorkspaceError> {
        if let Some(tree) = self.listings.tree(at) {
            return Ok(tree);
        }
        let tree = self.tree_of(at)?;
        self.listings.keep_tree(at, &tree);
        Ok(tree)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a listing that is kept for a name which may mean another commit later, and a list that grows.
    #[test]
    fn only_a_few_listings_of_objects_are_kept() {
        let entry =
            TreeEntry { mode: EntryMode::Link, object: String::new(), size: None, path: b"l".to_vec() };
        let (one, many) = (Arc::new(vec![entry.clone()]), Arc::new(vec![entry; LARGEST + 1]));
        let listings = Listings::default();
        let commit = |number: usize| CommitId(format!("{number:040x}"));
        for number in 0..=KEPT {
            listings.keep(&commit(number), &one);
        }
        listings.keep(&CommitId("HEAD".to_string()), &one);
        listings.keep(&commit(KEPT + 1), &many);
        let found: Vec<usize> =
            (0..KEPT + 2).filter(|number| listings.find(&commit(*number)).is_some()).collect();
        assert_eq!(found, (1..=KEPT).collect::<Vec<_>>());
        assert_eq!(listings.find(&CommitId("HEAD".to_string())), None);
    }
}
