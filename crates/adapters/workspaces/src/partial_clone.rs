//! Objects that a partial clone lacks, fetched before they are needed.
//!
//! Owns asking the remote of the user's repository for all missing objects of one commit at once: a slot has no remote to
//! ask. Only the address is taken from the repository's configuration, which could name programs: the fetch runs in a git
//! directory of its own, with the user's global configuration. Refuses to move any reference.

use std::path::{Path, PathBuf};

use fixpoint_ports::{CommitId, WorkspaceError};

use crate::files::write;
use crate::git::{ConfigFiles, GitCommand};
use crate::private_git_dir::{Head, quoted_line, write_git_dir};
use crate::workspaces::Inner;

/// Trees can be missing too, and are found level by level.
const MAX_ROUNDS: usize = 64;

impl Inner {
    /// Makes sure that every object of a commit is here. Does nothing in a complete clone.
    pub(crate) fn fetch_missing_objects(&self, commit: &CommitId) -> Result<(), WorkspaceError> {
        let Some(remote) = self.repository.promisor_remote() else { return Ok(()) };
        let mut fetching: Option<(tempfile::TempDir, PathBuf)> = None;
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
            let (_, git_dir) = match &mut fetching {
                Some(ready) => ready,
                none @ None => {
                    let scratch = self.scratch()?;
                    let git_dir = scratch.path().join("git");
                    self.write_fetching_dir(&git_dir, &remote)?;
                    none.insert((scratch, git_dir))
                }
            };
            let arguments =
                ["--no-tags", "--no-write-fetch-head", "--recurse-submodules=no", "--filter=blob:none"];
            let fetch = GitCommand::new(ConfigFiles::Fetching, "fetch")
                .env("GIT_DIR", &git_dir)
                .env("GIT_OBJECT_DIRECTORY", &self.repository.objects)
                .current_dir(&self.repository.tree);
            fetch.args(arguments).args(["--quiet", "--stdin", "origin"]).input(missing).run()?;
        }
        let message = format!("objects of {commit} are still missing");
        Err(WorkspaceError::Git { command: "fetch".to_string(), message })
    }

    /// A git directory that knows one remote, with the address of the user's.
    fn write_fetching_dir(&self, git_dir: &Path, remote: &str) -> Result<(), WorkspaceError> {
        let key = format!("remote.{remote}.url");
        let mut url = self.repository.git("config").args(["-z", "--get", &key]).run()?;
        url.pop();
        write_git_dir(git_dir, &self.repository, &self.repository.objects, Head::Unborn)?;
        let format = &self.repository.object_format;
        let mut text = b"[core]\n\trepositoryformatversion = 1\n\tbare = true\n".to_vec();
        text.extend(b"[extensions]\n\tpartialclone = origin\n");
        if format != "sha1" {
            text.extend(format!("\tobjectformat = {format}\n").as_bytes());
        }
        text.extend(b"[remote \"origin\"]\n\tpromisor = true\n\tpartialclonefilter = blob:none\n\turl = ");
        text.extend(quoted_line(&url));
        write(&git_dir.join("config"), &text)
    }
}
