//! Files that git ignores, such as `.env`, copied from the user's tree into a slot.
//!
//! Owns which of them: those that match the patterns and are ignored both by the user's repository and by the slot's
//! commit. A link stays a link, as in a virtual environment; one into the user's tree leads into the slot instead. Refuses
//! patterns and links that leave the tree by `..`, and files that are reached through a link.
//! Invariant: what is copied is never taken for an agent's work, because the slot ignores it.

use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

use fixpoint_ports::{CopyRefusal, CopyReport, WorkspaceError};

use crate::files::{as_path, create_directory, io_error, remove};
use crate::git::parse;
use crate::private_git_dir::WorkTreeView;
use crate::workspaces::{GitWorkspaces, Inner};

impl GitWorkspaces {
    /// Whether git ignores a path of the user's tree. A directory ends in a slash.
    pub fn ignores(&self, path: &str) -> bool {
        let git = self.inner.repository.git("check-ignore").env("GIT_WORK_TREE", self.root());
        git.args(["--quiet", "--", path]).output().is_ok_and(|output| output.succeeded())
    }
}

impl Inner {
    /// Copies the files that match the patterns into the working files of a slot.
    pub(crate) fn copy_ignored(
        &self,
        slot: &Path,
        patterns: &[String],
    ) -> Result<CopyReport, WorkspaceError> {
        let mut report = CopyReport::default();
        let (inside, outside): (Vec<&String>, Vec<&String>) =
            patterns.iter().partition(|pattern| stays_inside(pattern));
        let refused = outside.into_iter().map(|pattern| (pattern.clone().into(), CopyRefusal::OutsideTree));
        report.refused.extend(refused);
        if inside.is_empty() {
            return Ok(report);
        }
        let mut found = self.users_ignored_files(&inside)?;
        found.retain(|path| match refusal(&self.repository.tree, slot, path) {
            None => true,
            Some(refusal) => {
                report.refused.push((path.clone(), refusal));
                false
            }
        });
        let ignored = self.ignored_in_slot(slot, &found)?;
        for path in found {
            if ignored.contains(&path) {
                copy(&self.repository.tree, slot, &path)?;
                report.copied.push(path);
            } else {
                report.refused.push((path, CopyRefusal::NotIgnored));
            }
        }
        Ok(report)
    }

    fn users_ignored_files(&self, patterns: &[&String]) -> Result<Vec<Vec<u8>>, WorkspaceError> {
        let scratch = self.scratch()?;
        let users = self.users_tree_view(scratch.path(), None)?;
        let arguments = ["-z", "--others", "--ignored", "--exclude-standard", "--"];
        let patterns = patterns.iter().map(|pattern| format!(":(top,glob){pattern}"));
        let listed = users.view.git("ls-files").args(arguments).args(patterns).run()?;
        Ok(parse::nul_separated(&listed).map(<[u8]>::to_vec).collect())
    }

    /// Those of the paths that the slot's commit ignores and does not contain.
    fn ignored_in_slot(&self, slot: &Path, paths: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, WorkspaceError> {
        let directory = slot.parent().unwrap_or(slot);
        let view = WorkTreeView {
            git_dir: directory.join("git"),
            tree: slot.to_path_buf(),
            objects: self.objects.clone(),
        };
        let git = view.git("check-ignore").args(["-z", "--stdin"]);
        let output = git.input(parse::nul_terminated(paths)).output()?;
        // The exit code is 1 if none is ignored.
        match output.code {
            Some(0 | 1) => Ok(parse::nul_separated(&output.stdout).map(<[u8]>::to_vec).collect()),
            Some(_) | None => Err(output.error()),
        }
    }
}

fn stays_inside(pattern: &str) -> bool {
    let is_inside = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    !pattern.is_empty() && Path::new(pattern).components().all(is_inside)
}

/// Why a path must not be copied, because of what is there on either side.
fn refusal(from: &Path, to: &Path, path: &[u8]) -> Option<CopyRefusal> {
    let source = from.join(as_path(path));
    let is_refused = match source.symlink_metadata() {
        Ok(metadata) if metadata.is_symlink() => link_target(from, to, path).is_none(),
        Ok(metadata) => !metadata.is_file(),
        Err(_) => true,
    };
    if is_refused {
        return Some(CopyRefusal::NotAFile);
    }
    let target = to.join(as_path(path));
    let mut directories = target.ancestors().skip(1).take_while(|directory| *directory != to);
    let is_link = |directory: &Path| directory.symlink_metadata().is_ok_and(|found| !found.is_dir());
    directories.any(is_link).then_some(CopyRefusal::BehindSymlink)
}

fn copy(from: &Path, to: &Path, path: &[u8]) -> Result<(), WorkspaceError> {
    let target = to.join(as_path(path));
    create_directory(target.parent().unwrap_or(to))?;
    // An earlier use may have left a link here, which a copy would follow.
    remove(&target)?;
    if let Some(leads_to) = link_target(from, to, path) {
        return symlink(leads_to, &target).map_err(io_error(&target));
    }
    std::fs::copy(from.join(as_path(path)), &target).map(drop).map_err(io_error(&target))
}

/// Where a link of the user's tree leads to in the slot. Nothing if it is no link, or leaves the tree by `..`.
fn link_target(from: &Path, to: &Path, path: &[u8]) -> Option<PathBuf> {
    let link = from.join(as_path(path));
    let target = std::fs::read_link(&link).ok()?;
    if target.is_absolute() {
        let inside = target.strip_prefix(from).map(Path::to_path_buf);
        return Some(inside.map_or(target, |below| to.join(below)));
    }
    let mut depth = Path::new(as_path(path)).components().count().checked_sub(1)?;
    for part in target.components() {
        depth = match part {
            Component::ParentDir => depth.checked_sub(1)?,
            Component::Normal(_) => depth + 1,
            Component::CurDir | Component::RootDir | Component::Prefix(_) => depth,
        };
    }
    Some(target)
}
