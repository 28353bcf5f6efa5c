//! Files that git ignores, such as `.env`, copied from the user's tree into a slot.
//!
//! Owns which of them: those the patterns name, that the user's repository ignores and the slot's commit ignores too.
//! Refuses patterns that leave the tree, and files that are links or are reached through one, on either side.
//! Invariant: what is copied can never be taken for an agent's work, because the slot ignores it.

use std::path::{Component, Path};

use fixpoint_ports::{Copied, NotCopied, WorkspaceError};

use crate::files::{as_path, io_error, make_directory, remove};
use crate::git::records;
use crate::local::LocalWorkspaces;
use crate::private::View;

impl LocalWorkspaces {
    /// Copies what the patterns name into the working files of a slot.
    pub(crate) fn copy_ignored_into(
        &self,
        slot: &Path,
        patterns: &[String],
    ) -> Result<Copied, WorkspaceError> {
        let mut outcome = Copied::default();
        let (inside, outside): (Vec<&String>, Vec<&String>) =
            patterns.iter().partition(|pattern| stays_inside(pattern));
        let left =
            outside.into_iter().map(|pattern| (pattern.clone().into_bytes(), NotCopied::LeavesTheTree));
        outcome.refused.extend(left);
        if inside.is_empty() {
            return Ok(outcome);
        }
        let mut found = self.ignored_files(&inside)?;
        found.retain(|path| match barred(self.tree(), slot, path) {
            None => true,
            Some(reason) => {
                outcome.refused.push((path.clone(), reason));
                false
            }
        });
        let ignored_there = self.ignored_in(slot, &found)?;
        for path in found {
            if ignored_there.contains(&path) {
                copy(self.tree(), slot, &path)?;
                outcome.copied.push(path);
            } else {
                outcome.refused.push((path, NotCopied::NotIgnoredThere));
            }
        }
        Ok(outcome)
    }

    /// Whether git ignores a path of the user's tree; a directory ends in a slash.
    pub fn ignores(&self, path: &str) -> bool {
        let git = self.inner.repository.git("check-ignore").env("GIT_WORK_TREE", self.tree());
        git.args(["--quiet", "--", path]).end().is_ok_and(|ended| ended.code == Some(0))
    }

    fn ignored_files(&self, patterns: &[&String]) -> Result<Vec<Vec<u8>>, WorkspaceError> {
        let scratch = self.inner.scratch()?;
        let users = self.inner.users_view(scratch.path(), None)?;
        let git =
            users.view.git("ls-files").args(["-z", "--others", "--ignored", "--exclude-standard", "--"]);
        let listed = git.args(patterns.iter().map(|pattern| format!(":(top,glob){pattern}"))).run()?;
        Ok(records::list(&listed).map(<[u8]>::to_vec).collect())
    }

    /// Which of the paths the slot's commit ignores and does not have.
    fn ignored_in(&self, slot: &Path, paths: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, WorkspaceError> {
        let directory = slot.parent().unwrap_or(slot);
        let view = View {
            git_dir: directory.join("git"),
            tree: slot.to_path_buf(),
            objects: self.inner.store.objects.clone(),
        };
        let ended = view.git("check-ignore").args(["-z", "--stdin"]).input(records::joined(paths)).end()?;
        // It ends with 1 when none is ignored.
        match ended.code {
            Some(0 | 1) => Ok(records::list(&ended.stdout).map(<[u8]>::to_vec).collect()),
            Some(_) | None => {
                Err(WorkspaceError::Git { command: "check-ignore".to_string(), message: ended.message })
            }
        }
    }
}

fn stays_inside(pattern: &str) -> bool {
    let inside = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    !pattern.is_empty() && Path::new(pattern).components().all(inside)
}

/// Why a path must not be followed, on either side.
fn barred(from: &Path, to: &Path, path: &[u8]) -> Option<NotCopied> {
    if !from.join(as_path(path)).symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Some(NotCopied::NoFile);
    }
    let target = to.join(as_path(path));
    let mut between = target.ancestors().skip(1).take_while(|directory| *directory != to);
    let is_link = |directory: &Path| directory.symlink_metadata().is_ok_and(|found| !found.is_dir());
    between.any(is_link).then_some(NotCopied::ThroughLink)
}

fn copy(from: &Path, to: &Path, path: &[u8]) -> Result<(), WorkspaceError> {
    let target = to.join(as_path(path));
    make_directory(target.parent().unwrap_or(to))?;
    // An earlier use may have left a link here, which a copy would follow.
    remove(&target)?;
    std::fs::copy(from.join(as_path(path)), &target).map(drop).map_err(io_error(&target))
}
