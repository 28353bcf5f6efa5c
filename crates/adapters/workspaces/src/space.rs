//! Whether there is room for another slot.
//!
//! Owns the estimate: the size of all files of the commit, and a reserve for what is built there. Refuses to guess
//! when the file system does not answer: then the slot is tried.

use std::path::Path;

use fixpoint_ports::{CommitId, WorkspaceError};

use crate::git::records;
use crate::local::Inner;

impl Inner {
    /// Refuses a slot that would not fit.
    pub(crate) fn require_space(&self, commit: &CommitId) -> Result<(), WorkspaceError> {
        let Some(free) = free_bytes(&self.pool) else { return Ok(()) };
        let listing = ["-r", "-z", "--long", "--full-tree"];
        let listed = self.object_git("ls-tree").args(listing).arg("--end-of-options").arg(&commit.0).end()?;
        let entries = match listed.code {
            Some(0) => records::entries(&listed.stdout)?,
            // Without sizes the slot is tried, unless there is nothing to try.
            Some(_) | None => self.tree_of(commit).map(|_| Vec::new())?,
        };
        let sizes = entries.iter().filter_map(|entry| entry.size);
        let files = sizes.fold(0_u64, u64::saturating_add);
        let needed = files.saturating_add(self.options.spare_bytes);
        if free < needed {
            let megabytes = |bytes: u64| bytes >> 20;
            let text = format!(
                "{} MB are needed in {}, {} MB are free",
                megabytes(needed),
                self.pool.display(),
                megabytes(free)
            );
            return Err(WorkspaceError::NoSpace(text));
        }
        Ok(())
    }
}

/// What is free in a file system, if it answers.
pub(crate) fn free_bytes(path: &Path) -> Option<u64> {
    let room = nix::sys::statvfs::statvfs(path).ok()?;
    // The types of both differ between systems.
    #[allow(clippy::useless_conversion, reason = "the fields are narrower on macOS")]
    let (blocks, size) = (u64::from(room.blocks_available()), u64::from(room.fragment_size()));
    Some(blocks.saturating_mul(size))
}
