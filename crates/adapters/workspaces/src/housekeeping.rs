//! What is kept and for how long: results by age, slots by last use.
//!
//! Owns listing and removing. Refuses to remove a slot that somebody holds or whose unfinished work is not kept, and to
//! decide what is undelivered: the caller says which results may go.

use std::time::{Duration, SystemTime};

use fixpoint_ports::WorkspaceError;

use crate::files::remove;
use crate::local::{Inner, LocalWorkspaces};
use crate::marks::reason_file;
use crate::references::Kept;
use crate::rescue::rescue;

/// A directory of an operation is older than this only if its process was killed.
const ABANDONED: Duration = Duration::from_secs(24 * 3600);

impl LocalWorkspaces {
    /// Every commit kept under `refs/fixpoint/`, by name.
    pub fn kept(&self) -> Result<Vec<Kept>, WorkspaceError> {
        self.inner.kept()
    }

    /// Lets go of results. One that was moved since it was listed stops the whole removal.
    pub fn forget(&self, kept: &[Kept]) -> Result<(), WorkspaceError> {
        if kept.is_empty() {
            return Ok(());
        }
        self.inner.forget(kept)
    }

    /// Removes slots that nobody holds and nobody has used for some time, directories that were put aside that long
    /// ago, and what killed processes left. Answers with the names of the removed slots and directories.
    pub fn prune_slots(&self, unused_for: Duration) -> Result<Vec<String>, WorkspaceError> {
        let mut removed = Vec::new();
        let aside = self.inner.put_aside_directories();
        for name in self.inner.slot_names() {
            let Some(place) = self.inner.lock(&name)? else { continue };
            let used = place.lock.metadata().and_then(|metadata| metadata.modified());
            if place.directory.exists() && used.is_ok_and(|used| is_older(used, unused_for)) {
                // What this puts aside begins to age only now.
                rescue(&self.inner, &place)?;
                remove(&place.directory)?;
                removed.push(name);
            }
        }
        for directory in &aside {
            let dated = reason_file(directory).symlink_metadata().or_else(|_| directory.symlink_metadata());
            if dated.and_then(|found| found.modified()).is_ok_and(|made| is_older(made, unused_for)) {
                remove(directory)?;
                removed.extend(directory.file_name().map(|name| name.to_string_lossy().into_owned()));
            }
        }
        let abandoned = self.inner.pool.join("scratch").read_dir().into_iter().flatten().flatten();
        for entry in abandoned {
            let made = entry.metadata().and_then(|metadata| metadata.modified());
            if made.is_ok_and(|made| is_older(made, ABANDONED)) {
                remove(&entry.path())?;
            }
        }
        Ok(removed)
    }
}

impl Inner {
    /// The lock file of a removed slot stays: two processes must never lock two files of one name.
    pub(crate) fn slot_names(&self) -> Vec<String> {
        let entries = self.pool.read_dir().into_iter().flatten().flatten();
        let name = |entry: std::fs::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            Some(name.strip_suffix(".lock")?.to_string())
        };
        let mut names: Vec<String> = entries.filter_map(name).collect();
        names.sort();
        names
    }
}

fn is_older(than: SystemTime, age: Duration) -> bool {
    SystemTime::now().duration_since(than).is_ok_and(|elapsed| elapsed >= age)
}
