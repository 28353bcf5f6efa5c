//! Entries of the user's index that git would believe without reading the file.
//!
//! Git compares times by the second and believes an entry whose size and times match, and one that is marked as "assume
//! unchanged" or "skip worktree" without looking. Owns finding those that may hide an edit, and taking their stat data and
//! their marks out of our copy of the index, so that git reads these files and no others. Refuses to take a file that a
//! sparse checkout leaves out for a deleted one.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fixpoint_ports::WorkspaceError;

use crate::files::as_path;
use crate::git::parse::{self, EntryMode, IndexEntry, IndexMark};
use crate::private_git_dir::WorkTreeView;
use crate::repository::Repository;

/// A file that was changed this shortly before the index was written, or later, may have changed again with the same
/// times: those of a file system have steps, of two seconds at most.
const COARSEST: Duration = Duration::from_secs(2);

/// Makes git read the files whose entries cannot be believed. Returns the paths of submodules.
pub(crate) fn distrust_entries(
    view: &WorkTreeView,
    repository: &Repository,
    index_modified: SystemTime,
) -> Result<Vec<Vec<u8>>, WorkspaceError> {
    if !view.index().exists() {
        return Ok(Vec::new());
    }
    let listed = view.git("ls-files").args(["-z", "--stage", "-v", "--debug"]).run()?;
    let Some(entries) = parse::index_entries(&listed) else {
        // The format is not promised to stay. Then all files are read.
        let all = view.git("ls-files").args(["-z", "--stage"]).run()?;
        forget(view, all)?;
        return submodules_in_index(view);
    };
    let since = index_modified.checked_sub(COARSEST).unwrap_or(UNIX_EPOCH);
    let since = since.duration_since(UNIX_EPOCH).map_or((0, 0), in_parts);
    let (mut lines, mut submodules, mut is_sparse) = (Vec::new(), Vec::new(), None);
    for entry in entries.iter().filter(|entry| entry.mark != IndexMark::Conflict) {
        if entry.mode == EntryMode::Submodule {
            submodules.push(entry.path.to_vec());
            continue;
        }
        let is_doubtful = match (view.tree.join(as_path(entry.path)).symlink_metadata(), entry.mark) {
            (Ok(metadata), IndexMark::None) => may_have_changed(entry, &metadata, since),
            (Err(_), IndexMark::None) => false,
            (Ok(_), _) | (Err(_), IndexMark::AssumeUnchanged) => true,
            (Err(_), IndexMark::SkipWorktree) => {
                !*is_sparse.get_or_insert_with(|| repository.has_sparse_checkout())
            }
            (Err(_), IndexMark::Conflict) => false,
        };
        if is_doubtful {
            let header = format!("{} {} 0\t", entry.mode.octal(), entry.object);
            lines.extend([header.as_bytes(), entry.path, b"\0"].concat());
        }
    }
    if !lines.is_empty() {
        forget(view, lines)?;
    }
    Ok(submodules)
}

/// Seconds and nanoseconds since 1970.
type Time = (i64, i64);

fn in_parts(time: Duration) -> Time {
    (i64::try_from(time.as_secs()).unwrap_or(i64::MAX), i64::from(time.subsec_nanos()))
}

fn may_have_changed(entry: &IndexEntry<'_>, metadata: &Metadata, since: Time) -> bool {
    let changed = (metadata.ctime(), metadata.ctime_nsec());
    let modified = (metadata.mtime(), metadata.mtime_nsec());
    changed != entry.changed || modified != entry.modified || changed >= since
}

/// Replaces entries by ones without stat data and marks.
fn forget(view: &WorkTreeView, lines: Vec<u8>) -> Result<(), WorkspaceError> {
    view.git("update-index").args(["-z", "--index-info"]).input(lines).run().map(drop)
}

fn submodules_in_index(view: &WorkTreeView) -> Result<Vec<Vec<u8>>, WorkspaceError> {
    let listed = view.git("ls-files").args(["-z", "--stage"]).run()?;
    let path = |record: &[u8]| {
        let path = record.strip_prefix(b"160000 ")?.splitn(2, |byte| *byte == b'\t').nth(1)?;
        Some(path.to_vec())
    };
    Ok(parse::nul_separated(&listed).filter_map(path).collect())
}
