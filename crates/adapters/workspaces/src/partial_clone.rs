//! Objects that a partial clone lacks, fetched before they are needed.
//!
//! Owns asking the user's own remote, with the user's own settings, for all missing objects of one commit at once: a
//! slot has no remote to ask. Refuses to move any reference.

use fixpoint_ports::{CommitId, WorkspaceError};

use crate::workspaces::Inner;

/// Trees can be missing too, and are found level by level.
const MAX_ROUNDS: usize = 64;

impl Inner {
    /// Makes sure that every object of a commit is here. Does nothing in a complete clone.
    pub(crate) fn fetch_missing_objects(&self, commit: &CommitId) -> Result<(), WorkspaceError> {
        let Some(remote) = self.repository.promisor_remote() else { return Ok(()) };
        for _ in 0..MAX_ROUNDS {
            let arguments = ["--objects", "--missing=print", "--no-walk", "--end-of-options"];
            let listed = self.repository.git("rev-list").args(arguments).arg(&commit.0).run()?;
            let missing: Vec<u8> = listed
                .split_inclusive(|byte| *byte == b'\n')
                .filter_map(|line| line.strip_prefix(b"?"))
                .flatten()
                .copied()
                .collect();
            if missing.is_empty() {
                return Ok(());
            }
            let arguments =
                ["--no-tags", "--no-write-fetch-head", "--recurse-submodules=no", "--filter=blob:none"];
            let fetch = self.repository.git("fetch").env("GIT_NO_LAZY_FETCH", "1").args(arguments);
            fetch.args(["--quiet", "--stdin"]).arg(&remote).input(missing).run()?;
        }
        let message = format!("objects of {commit} are still missing");
        Err(WorkspaceError::Git { command: "fetch".to_string(), message })
    }
}
