//! Commits read without a slot: files, or the differences of two as git writes them.
//!
//! Owns both over objects alone, with no setting or attribute of anybody's in force. Refuses links, directories and
//! submodules as files: what a link means depends on where it lies.

use std::path::Component;

use fixpoint_ports::{CommitId, DiffStyle, WorkspaceError};

use crate::files::as_path;
use crate::git::records::{self, Entry, Mode};
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
        match self.ordinary_files(at, &[path])?.pop() {
            Some((entry, bytes)) if bytes > limit => {
                let path = String::from_utf8_lossy(&entry.path).into_owned();
                Err(WorkspaceError::TooLarge { path, bytes, limit })
            }
            Some((entry, _)) => self.object_git("cat-file").arg("blob").arg(&entry.object).run().map(Some),
            None => Ok(None),
        }
    }

    /// Several files by two processes, however many they are.
    pub(crate) fn read_files(
        &self,
        at: &CommitId,
        paths: &[&[u8]],
        limit: u64,
    ) -> Result<Vec<Option<Vec<u8>>>, WorkspaceError> {
        let found = self.ordinary_files(at, paths)?;
        let wanted: Vec<&Entry> =
            found.iter().filter(|(_, bytes)| *bytes <= limit).map(|(entry, _)| entry).collect();
        if wanted.is_empty() {
            return Ok(paths.iter().map(|_| None).collect());
        }
        let names: String = wanted.iter().map(|entry| format!("{}\n", entry.object)).collect();
        let said = self.object_git("cat-file").arg("--batch").input(names.into_bytes()).run()?;
        let contents = records::contents(&said)?;
        let content_of = |path: &&[u8]| {
            let place = wanted.iter().position(|entry| entry.path == **path)?;
            contents.get(place).map(|content| content.to_vec())
        };
        Ok(paths.iter().map(content_of).collect())
    }

    /// Those of some paths that are ordinary files of a commit, with their sizes.
    fn ordinary_files(&self, at: &CommitId, paths: &[&[u8]]) -> Result<Vec<(Entry, u64)>, WorkspaceError> {
        self.fetch_promised(at)?;
        let is_plain = |path: &&&[u8]| {
            let mut parts = as_path(path).components();
            !path.is_empty() && !path.contains(&0) && parts.all(|part| matches!(part, Component::Normal(_)))
        };
        let plain: Vec<&[u8]> = paths.iter().filter(is_plain).copied().collect();
        if plain.is_empty() {
            // No commit has such a path, but git would make another out of it.
            self.tree_of(at)?;
            return Ok(Vec::new());
        }
        let git = self.object_git("ls-tree").env("GIT_LITERAL_PATHSPECS", "1");
        let git = git.args(["-z", "--long", "--full-tree", "--end-of-options", &at.0, "--"]);
        let ended = git.args(plain.iter().copied().map(as_path)).end()?;
        if ended.code != Some(0) {
            self.tree_of(at)?;
            return Err(WorkspaceError::Git { command: "ls-tree".to_string(), message: ended.message });
        }
        let is_ordinary = |entry: Entry| match (&entry.mode, entry.size) {
            (Mode::File(mode), Some(bytes)) if mode & TYPE_BITS == ORDINARY => Some((entry, bytes)),
            (Mode::Absent | Mode::File(_) | Mode::Link | Mode::Submodule, _) => None,
        };
        let entries = records::entries(&ended.stdout)?.into_iter();
        Ok(entries.filter(|entry| plain.contains(&entry.path.as_slice())).filter_map(is_ordinary).collect())
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
