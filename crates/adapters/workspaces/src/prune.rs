//! Deleting what is no longer needed: results by name, slots by their last use.
//!
//! Refuses to delete a slot that somebody holds or whose unfinished work is not stored, and to decide which results are
//! undelivered: the caller names those to delete.

use std::time::{Duration, SystemTime};

use fixpoint_ports::WorkspaceError;

use crate::files::remove;
use crate::recovery::recover;
use crate::refs::StoredRef;
use crate::slot_files::reason_file;
use crate::workspaces::GitWorkspaces;

/// A scratch directory older than this is from a process that was killed.
const ABANDONED: Duration = Duration::from_secs(24 * 3600);

impl GitWorkspaces {
    /// Everything below `refs/fixpoint/`, sorted by name.
    pub fn stored_refs(&self) -> Result<Vec<StoredRef>, WorkspaceError> {
        self.inner.stored_refs()
    }

    /// Deletes results. If one was moved since it was listed, none is deleted.
    pub fn delete_refs(&self, refs: &[StoredRef]) -> Result<(), WorkspaceError> {
        if refs.is_empty() {
            return Ok(());
        }
        self.inner.delete_refs(refs)
    }

    /// Deletes slots that nobody holds and that were not used for some time, directories that were set aside that long
    /// ago, and scratch directories of killed processes. Returns the names of the deleted slots and directories.
    pub fn prune_slots(&self, unused_for: Duration) -> Result<Vec<String>, WorkspaceError> {
        let mut deleted = Vec::new();
        // Listed first: what is set aside below has its whole time ahead of it.
        let set_aside = self.inner.set_aside_directories();
        for name in self.inner.slot_names() {
            let Some(slot) = self.inner.lock(&name)? else { continue };
            let used = slot.lock.metadata().and_then(|metadata| metadata.modified());
            if slot.directory.exists() && used.is_ok_and(|used| is_older(used, unused_for)) {
                recover(&self.inner, &slot)?;
                remove(&slot.directory)?;
                deleted.push(name);
            }
        }
        for directory in &set_aside {
            let dated = reason_file(directory).symlink_metadata().or_else(|_| directory.symlink_metadata());
            if dated.and_then(|found| found.modified()).is_ok_and(|time| is_older(time, unused_for)) {
                remove(directory)?;
                deleted.extend(directory.file_name().map(|name| name.to_string_lossy().into_owned()));
            }
        }
        let scratch = self.inner.pool.join("scratch").read_dir().into_iter().flatten().flatten();
        for entry in scratch {
            let created = entry.metadata().and_then(|metadata| metadata.modified());
            if created.is_ok_and(|created| is_older(created, ABANDONED)) {
                remove(&entry.path())?;
            }
        }
        Ok(deleted)
    }
}

fn is_older(time: SystemTime, age: Duration) -> bool {
    SystemTime::now().duration_since(time).is_ok_and(|elapsed| elapsed >= age)
}
