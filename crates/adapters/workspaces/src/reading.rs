//! Commits read without a slot: one file, or the differences of two as git writes them.
//!
//! Owns both over objects alone, with no setting or attribute of anybody's in force. Refuses links, directories and
//! submodules as files: what a link means depends on where it lies.

use std::path::Component;

use fixpoint_ports::{CommitId, DiffStyle, WorkspaceError};

use crate::files::as_path;
use crate::git::records::{self, Mode};
use crate::local::Inner;

const TYPE_BITS: u32 = 0o170_000;
const ORDINARY: u32 = 0o100_000;

impl Inner {
    pub(crate) fn read_file(
        &self,
        at: &CommitId,
        path: &[u8],
        limit: u64,
    ) -> Result<Option<Vec<u8>>, WorkspaceError> {
        self.fetch_promised(at)?;
        let mut parts = as_path(path).components();
        if path.is_empty() || path.contains(&0) || !parts.all(|part| matches!(part, Component::Normal(_))) {
            // No commit has such a path, but git would make another out of it.
            self.tree_of(at)?;
            return Ok(None);
        }
        let git = self.object_git("ls-tree").env("GIT_LITERAL_PATHSPECS", "1");
        let git = git.args(["-z", "--long", "--full-tree", "--end-of-options", &at.0, "--"]);
        let ended = git.arg(as_path(path)).end()?;
        if ended.code != Some(0) {
            self.tree_of(at)?;
            return Err(WorkspaceError::Git { command: "ls-tree".to_string(), message: ended.message });
        }
        let entries = records::entries(&ended.stdout)?;
        let Some(entry) = entries.into_iter().find(|entry| entry.path == path) else { return Ok(None) };
        match (entry.mode, entry.size) {
            (Mode::File(mode), Some(bytes)) if mode & TYPE_BITS == ORDINARY => {
                if bytes > limit {
                    let path = String::from_utf8_lossy(path).into_owned();
                    return Err(WorkspaceError::TooLarge { path, bytes, limit });
                }
                self.object_git("cat-file").arg("blob").arg(&entry.object).run().map(Some)
            }
            (Mode::Absent | Mode::File(_) | Mode::Link | Mode::Submodule, _) => Ok(None),
        }
    }

    pub(crate) fn diff(
        &self,
        from: &CommitId,
        to: &CommitId,
        style: DiffStyle,
    ) -> Result<Vec<u8>, WorkspaceError> {
        let style: &[&str] = match style {
            DiffStyle::Patch => &["--patch"],
            // A fixed width, or the answer would depend on the terminal of whoever asks.
            DiffStyle::Stat => &["--stat=80"],
            DiffStyle::Names => &["--name-only"],
        };
        self.diff_tree(from, to, &[&["--no-color"], style].concat())
    }

    pub(crate) fn files(&self, at: &CommitId) -> Result<Vec<Vec<u8>>, WorkspaceError> {
        let git = self.object_git("ls-tree").args(["-r", "-z", "--name-only", "--full-tree"]);
        let listed = git.args(["--end-of-options", &at.0]).run()?;
        Ok(records::list(&listed).map(<[u8]>::to_vec).collect())
    }

    pub(crate) fn recent(&self, at: &CommitId, most: u32) -> Result<Vec<String>, WorkspaceError> {
        let git = self.object_git("log").args(["-z", "--format=%s", "--no-show-signature"]);
        let listed = git.arg(format!("--max-count={most}")).args(["--end-of-options", &at.0]).run()?;
        Ok(records::list(&listed).map(|line| String::from_utf8_lossy(line).into_owned()).collect())
    }
}
