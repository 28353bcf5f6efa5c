//! Whether there is enough disk space for another slot: for all files of the commit, and a reserve for what is built.
//!
//! If the file system does not say how much is free, the slot is tried.

use std::path::Path;

use fixpoint_ports::{CommitId, WorkspaceError};

use crate::git::parse;
use crate::workspaces::Inner;

impl Inner {
    pub(crate) fn require_space(&self, commit: &CommitId) -> Result<(), WorkspaceError> {
        let Some(free) = free_bytes(&self.pool) else { return Ok(()) };
        let arguments = ["-r", "-z", "--long", "--full-tree", "--end-of-options"];
        let listed = self.object_git("ls-tree").args(arguments).arg(&commit.0).output()?;
        let entries = if listed.succeeded() {
            parse::tree(&listed.stdout)?
        } else {
            // Without sizes the slot is tried, if there is such a commit.
            self.tree_of(commit).map(|_| Vec::new())?
        };
        let sizes = entries.iter().filter_map(|entry| entry.size);
        let files = sizes.fold(0_u64, u64::saturating_add);
        let needed = files.saturating_add(self.options.spare_bytes);
        if free < needed {
            let (needed, free, pool) = (needed >> 20, free >> 20, self.pool.display());
            let message = format!("a workspace in {pool} needs {needed} MiB, and {free} MiB are free");
            return Err(WorkspaceError::NoSpace(message));
        }
        Ok(())
    }
}

/// The free space in the file system of a path; `None` if that is unknown.
pub(crate) fn free_bytes(path: &Path) -> Option<u64> {
    let found = nix::sys::statvfs::statvfs(path).ok()?;
    #[allow(clippy::useless_conversion, reason = "the fields are narrower on macOS")]
    let (blocks, size) = (u64::from(found.blocks_available()), u64::from(found.fragment_size()));
    Some(blocks.saturating_mul(size))
}
