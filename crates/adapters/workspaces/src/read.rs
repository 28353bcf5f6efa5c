//! Files, diffs and messages of commits, read without a slot.
//!
//! Only objects are read, so no setting and no attribute has any effect. Refuses links, directories and submodules as
//! files: what a link points to depends on where it is.

use std::collections::HashMap;
use std::path::Component;
use std::sync::Arc;

use fixpoint_ports::{CommitId, DiffStyle, SymbolicLink, WorkspaceError};

use crate::contents::Content;
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
        let path = [path];
        let Some((path, content)) = self.regular_files(at, &path, limit)?.pop() else { return Ok(None) };
        match content {
            Content::Whole(bytes) => Ok(Some(Arc::unwrap_or_clone(bytes))),
            Content::TooLarge(bytes) => {
                let path = String::from_utf8_lossy(path).into_owned();
                Err(WorkspaceError::TooLarge { path, bytes, limit })
            }
        }
    }

    /// At most two processes, however many files there are.
    pub(crate) fn read_files(
        &self,
        at: &CommitId,
        paths: &[&[u8]],
        limit: u64,
    ) -> Result<Vec<Option<Vec<u8>>>, WorkspaceError> {
        let found: HashMap<&[u8], Content> = self.regular_files(at, paths, limit)?.into_iter().collect();
        let content_of = |path: &&[u8]| match found.get(*path)? {
            Content::Whole(bytes) => Some(bytes.to_vec()),
            Content::TooLarge(_) => None,
        };
        Ok(paths.iter().map(content_of).collect())
    }

    /// Those of the paths that are regular files in a commit, with their contents.
    fn regular_files<'a>(
        &self,
        at: &CommitId,
        paths: &[&'a [u8]],
        limit: u64,
    ) -> Result<Vec<(&'a [u8], Content)>, WorkspaceError> {
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
        let listing = match self.kept_listing(at) {
            Some(listing) => listing,
            None => Arc::new(self.entries_of(at, &plain)?),
        };
        let object_of = |path: &'a [u8]| {
            let position = listing.binary_search_by(|entry| entry.path.as_slice().cmp(path)).ok()?;
            let entry = listing.get(position)?;
            let is_file = matches!(entry.mode, EntryMode::File(mode) if mode & TYPE_BITS == REGULAR_FILE);
            is_file.then_some((path, entry.object.as_str()))
        };
        let (paths, objects): (Vec<&[u8]>, Vec<&str>) =
            paths.iter().copied().filter(|path| plain.contains(path)).filter_map(object_of).unzip();
        Ok(paths.into_iter().zip(self.contents(&objects, limit)?).collect())
    }

    /// The entries at some paths of a commit, sorted by path.
    fn entries_of(&self, at: &CommitId, paths: &[&[u8]]) -> Result<Vec<TreeEntry>, WorkspaceError> {
        let git = self.object_git("ls-tree").env("GIT_LITERAL_PATHSPECS", "1");
        let git = git.args(["-z", "--full-tree", "--end-of-options", &at.0, "--"]);
        let output = git.args(paths.iter().copied().map(as_path)).output()?;
        if !output.succeeded() {
            self.tree_of(at)?;
            return Err(output.error());
        }
        let mut entries = parse::tree(&output.stdout)?;
        entries.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(entries)
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
        let objects: Vec<&str> = links.iter().map(|entry| entry.object.as_str()).collect();
        let link = |(entry, target): (&TreeEntry, Content)| match target {
            Content::Whole(target) => {
                Some(SymbolicLink { path: entry.path.clone(), target: Arc::unwrap_or_clone(target) })
            }
            Content::TooLarge(_) => None,
        };
        Ok(links.into_iter().zip(self.contents(&objects, u64::MAX)?).filter_map(link).collect())
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
