//! Files that git ignores and that an attempt's changes name: they are in the agent's workspace, and in no commit.
//!
//! Owns which of them are worth a word. They are only named, never put back: a check never sees them, so what works for the
//! agent fails there without a reason that anybody can see.

use std::collections::BTreeSet;

use fixpoint_decide::glob::PatternSet;
use fixpoint_ports::{ChangeKind, CommitId, FileChange, Slot};
use fixpoint_vocabulary::work::{ProtectedChange, ProtectedEdit, ProtectedRole, RestoredPath};

use crate::ExecutionContext;
use crate::error::ExecuteError;
use crate::path_text::path_text;

/// Changed files that are read, and how large they may be.
const MOST_FILES: usize = 200;
const LARGEST: u64 = 1 << 20;
const MOST_NAMED: usize = 20;

impl ExecutionContext {
    /// What an attempt's changes name and git ignores, unless it is copied into every workspace.
    pub(crate) fn left_out(
        &self,
        slot: &dyn Slot,
        commit: &CommitId,
        changed: &[FileChange],
    ) -> Result<Vec<ProtectedChange>, ExecuteError> {
        let there = changed.iter().filter(|change| change.kind != ChangeKind::Deleted).take(MOST_FILES);
        let mut texts = Vec::new();
        for change in there {
            let read = self.deps.workspaces.read_file(commit, &change.path, LARGEST);
            texts.extend(read.ok().flatten());
        }
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let files: BTreeSet<Vec<u8>> = self.deps.workspaces.files(commit)?.into_iter().collect();
        let tracked: BTreeSet<&[u8]> = files.iter().map(|path| directory(path)).collect();
        let copied = PatternSet::new(&self.spec.settings.workspace.copy);
        let is_copied = |path: &[u8]| !copied.is_empty() && copied.matches_file(path).covering().is_some();
        let is_in_texts = |name: &[u8]| {
            name.len() > 3 && texts.iter().any(|text| text.windows(name.len()).any(|part| part == name))
        };
        let is_named = |path: &[u8]| {
            let own = directory(path);
            if own.is_empty() || tracked.contains(own) {
                return is_in_texts(path.rsplit(|byte| *byte == b'/').next().unwrap_or(path));
            }
            // A directory of its own may hold a cache or installed packages: only a complete path names it.
            let spellings = complete_names(path);
            spellings.iter().any(|name| is_in_texts(name))
        };
        // What the attempt added is in the commit, though the workspace does not track it.
        let wanted = |path: &[u8]| !files.contains(path) && is_named(path) && !is_copied(path);
        let found = slot.untracked_files(&wanted)?;
        Ok(found.iter().take(MOST_NAMED).map(|file| named(&path_text(&file.path))).collect())
    }
}

/// A path without the ending of its name, as in `require("./build/code")` and in `import build.code`.
fn complete_names(path: &[u8]) -> [Vec<u8>; 2] {
    let own = directory(path).len();
    let dot = path.iter().rposition(|byte| *byte == b'.').filter(|dot| *dot > own + 1);
    let stem = path.get(..dot.unwrap_or(path.len())).unwrap_or(path).to_vec();
    let dotted = stem.iter().map(|byte| if *byte == b'/' { b'.' } else { *byte }).collect();
    [stem, dotted]
}

fn directory(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|byte| *byte == b'/').unwrap_or_default();
    path.get(..end).unwrap_or_default()
}

fn named(path: &str) -> ProtectedChange {
    ProtectedChange {
        path: RestoredPath::File(path.to_string()),
        role: ProtectedRole::LeftOut,
        edit: ProtectedEdit::Added,
        what: "git ignores it, so it is no part of the result".to_string(),
        is_permitted: true,
    }
}

#[cfg(test)]
mod tests {
    use super::complete_names;

    #[test]
    fn files_in_directories_are_named_by_complete_paths() {
        let names = |path: &str| {
            complete_names(path.as_bytes()).map(|name| String::from_utf8(name).unwrap_or_default())
        };
        assert_eq!(names("build/code.js"), ["build/code", "build.code"]);
        assert_eq!(names("out.d/x/y"), ["out.d/x/y", "out.d.x.y"]);
        assert_eq!(names("out/.env"), ["out/.env", "out..env"]);
    }
}
