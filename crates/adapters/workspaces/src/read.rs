//! Files, diffs and messages of commits, read without a slot.
//!
//! Only objects are read, so no setting and no attribute has any effect. Refuses links, directories and submodules as
//! files: what a link points to depends on where it is.

use std::path::Component;

use fixpoint_ports::{CommitId, DiffStyle, SymbolicLink, WorkspaceError};

use crate::files::as_path;
use crate::git::parse::{self, EntryMode, TreeEntry};
use crate::workspaces::Inner;

const TYPE_BITS: u32 = 0o170_000;
const REGULAR_FILE: u32 = 0o100_000;

impl Inner {
    pub(crate) fn read_file(
        &self,
        at: &CommitId,
        path: &[u8],
        limit: u64,
    ) -> Result<Option<Vec<u8>>, WorkspaceError> {
        match self.regular_files(at, &[path])?.pop() {
            Some((entry, bytes)) if bytes > limit => {
                let path = String::from_utf8_lossy(&entry.path).into_owned();
                Err(WorkspaceError::TooLarge { path, bytes, limit })
            }
            Some((entry, _)) => self.object_git("cat-file").arg("blob").arg(&entry.object).run().map(Some),
            None => Ok(None),
        }
    }

    /// Two processes, however many files there are.
    pub(crate) fn read_files(
        &self,
        at: &CommitId,
        paths: &[&[u8]],
        limit: u64,
    ) -> Result<Vec<Option<Vec<u8>>>, WorkspaceError> {
        let found = self.regular_files(at, paths)?;
        let wanted: Vec<&TreeEntry> =
            found.iter().filter(|(_, bytes)| *bytes <= limit).map(|(entry, _)| entry).collect();
        if wanted.is_empty() {
            return Ok(paths.iter().map(|_| None).collect());
        }
        let names: String = wanted.iter().map(|entry| format!("{}\n", entry.object)).collect();
        let printed = self.object_git("cat-file").arg("--batch").input(names.into_bytes()).run()?;
        let contents = parse::contents(&printed)?;
        let content_of = |path: &&[u8]| {
            let position = wanted.iter().position(|entry| entry.path == **path)?;
            contents.get(position).map(|content| content.to_vec())
        };
        Ok(paths.iter().map(content_of).collect())
    }

    /// Those of the paths that are regular files in a commit, with their sizes.
    fn regular_files(&self, at: &CommitId, paths: &[&[u8]]) -> Result<Vec<(TreeEntry, u64)>, WorkspaceError> {
        self.fetch_missing_objects(at)?;
        let is_plain = |path: &&&[u8]| {
            let mut parts = as_path(path).components();
            !path.is_empty() && !path.contains(&0) && parts.all(|part| matches!(part, Component::Normal(_)))
        };
        let plain: Vec<&[u8]> = paths.iter().filter(is_plain).copied().collect();
        if plain.is_empty() {
            // No commit has such a path, but git would normalize it to another.
            self.tree_of(at)?;
            return Ok(Vec::new());
        }
        let git = self.object_git("ls-tree").env("GIT_LITERAL_PATHSPECS", "1");
        let git = git.args(["-z", "--long", "--full-tree", "--end-of-options", &at.0, "--"]);
        let output = git.args(plain.iter().copied().map(as_path)).output()?;
        if !output.succeeded() {
            self.tree_of(at)?;
            return Err(output.error());
        }
        let with_size = |entry: TreeEntry| match (&entry.mode, entry.size) {
            (EntryMode::File(mode), Some(bytes)) if mode & TYPE_BITS == REGULAR_FILE => Some((entry, bytes)),
            (EntryMode::Absent | EntryMode::File(_) | EntryMode::Link | EntryMode::Submodule, _) => None,
        };
        let entries = parse::tree(&output.stdout)?.into_iter();
        Ok(entries.filter(|entry| plain.contains(&entry.path.as_slice())).filter_map(with_size).collect())
    }

    pub(crate) fn diff(
        &self,
        from: &CommitId,
        to: &CommitId,
        style: DiffStyle,
    ) -> Result<Vec<u8>, WorkspaceError> {
        let style: &[&str] = match style {
            DiffStyle::Patch => &["--patch"],
            DiffStyle::CompletePatch => &["--patch", "--binary", "--full-index"],
            // Without a width the output would depend on the terminal.
            DiffStyle::Stat => &["--stat=80"],
            DiffStyle::Names => &["--name-only"],
        };
        self.diff_tree(from, to, &[&["--no-color"], style].concat())
    }

    pub(crate) fn files(&self, at: &CommitId) -> Result<Vec<Vec<u8>>, WorkspaceError> {
        Ok(self.listing(at)?.iter().map(|entry| entry.path.clone()).collect())
    }

    /// The symbolic links of a commit with what each points to, sorted by path.
    pub(crate) fn links(&self, at: &CommitId) -> Result<Vec<SymbolicLink>, WorkspaceError> {
        let listing = self.listing(at)?;
        let links: Vec<&TreeEntry> = listing.iter().filter(|entry| entry.mode == EntryMode::Link).collect();
        if links.is_empty() {
            return Ok(Vec::new());
        }
        let names: String = links.iter().map(|entry| format!("{}\n", entry.object)).collect();
        let printed = self.object_git("cat-file").arg("--batch").input(names.into_bytes()).run()?;
        let targets = parse::contents(&printed)?;
        let link = |(entry, target): (&TreeEntry, &[u8])| SymbolicLink {
            path: entry.path.clone(),
            target: target.to_vec(),
        };
        Ok(links.into_iter().zip(targets).map(link).collect())
    }

    /// The paths of the submodules in a commit.
    pub(crate) fn submodules_of(&self, at: &CommitId) -> Result<Vec<Vec<u8>>, WorkspaceError> {
        let listing = self.listing(at)?;
        let submodules = listing.iter().filter(|entry| entry.mode == EntryMode::Submodule);
        Ok(submodules.map(|entry| entry.path.clone()).collect())
    }

    pub(crate) fn recent_subjects(&self, at: &CommitId, limit: u32) -> Result<Vec<String>, WorkspaceError> {
        let git = self.object_git("log").args(["-z", "--format=%s", "--no-show-signature"]);
        let listed = git.arg(format!("--max-count={limit}")).args(["--end-of-options", &at.0]).run()?;
        Ok(parse::nul_separated(&listed).map(|line| String::from_utf8_lossy(line).into_owned()).collect())
    }
}
