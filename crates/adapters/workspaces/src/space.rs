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
        if listed.code != Some(0) {
            self.tree_of(commit)?;
        }
        let files: u64 = records::list(&listed.stdout).filter_map(size).sum();
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

/// The size in a record of `ls-tree --long`: the last word before the tab.
fn size(record: &[u8]) -> Option<u64> {
    let header = record.split(|byte| *byte == b'\t').next()?;
    let last = header.rsplit(|byte| *byte == b' ').next()?;
    std::str::from_utf8(last).ok()?.parse().ok()
}

fn free_bytes(path: &Path) -> Option<u64> {
    let room = nix::sys::statvfs::statvfs(path).ok()?;
    // The types of both differ between systems.
    #[allow(clippy::useless_conversion, reason = "the fields are narrower on macOS")]
    let (blocks, size) = (u64::from(room.blocks_available()), u64::from(room.fragment_size()));
    Some(blocks.saturating_mul(size))
}
