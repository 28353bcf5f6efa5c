//! The entries of a commit, listed once although several parts of an attempt ask for them.
//!
//! Invariant: what is kept is named by an object, which never changes. Refuses to keep what is named otherwise, and
//! listings so large that keeping some would take much memory.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use fixpoint_ports::{CommitId, WorkspaceError};

use crate::git::parse::{self, TreeEntry};
use crate::workspaces::Inner;

/// The base of a task, an attempt, the one before it, and its proof tree.
const KEPT: usize = 4;
const LARGEST: usize = 20_000;
/// The length of the shortest complete name of an object.
const NAME_LENGTH: usize = 40;

pub(crate) type Listing = Arc<Vec<TreeEntry>>;

#[derive(Debug, Default)]
pub(crate) struct Listings {
    kept: Mutex<VecDeque<(CommitId, Listing)>>,
}

impl Listings {
    fn find(&self, at: &CommitId) -> Option<Listing> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|(commit, _)| commit == at).map(|(_, listing)| Arc::clone(listing))
    }

    fn keep(&self, at: &CommitId, listing: &Listing) {
        let is_object = at.0.len() >= NAME_LENGTH && at.0.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_object || listing.len() > LARGEST {
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
        let listing = Arc::new(parse::tree(&git.arg(&at.0).run()?)?);
        self.listings.keep(at, &listing);
        Ok(listing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::parse::EntryMode;

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
