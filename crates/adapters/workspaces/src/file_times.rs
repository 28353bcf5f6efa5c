//! Modification times that no earlier content of a slot had, to the second.
//!
//! Python, make and some bundlers take a file for unchanged if its size and the second of its modification time are those
//! they remember. Two checkouts within one second would fool them. Owns the second up to which files of a slot are dated.
//! Invariant: a file that a checkout wrote is dated later than everything that an earlier checkout wrote.

use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fixpoint_ports::WorkspaceError;

use crate::files::{as_path, io_error, read_optional, write};
use crate::git::parse;
use crate::index_file::{IndexFile, IndexedFile};
use crate::private_git_dir::WorkTreeView;

const LAST_SECOND: &str = "dated";
/// So many files are named to git; of more it looks at all files.
const FEW: usize = 100;

/// The present second.
pub(crate) fn present_second() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// Dates what was checked out since `began` later than everything before, if that is not so already. `index_before` is
/// the index from before the checkout.
pub(crate) fn date_after_earlier(
    slot: &Path,
    view: &WorkTreeView,
    began: u64,
    index_before: &[u8],
) -> Result<(), WorkspaceError> {
    let file = slot.join(LAST_SECOND);
    let read = read_optional(&file)?;
    let last: Option<u64> = read.and_then(|bytes| String::from_utf8(bytes).ok()?.trim().parse().ok());
    let second = match last {
        Some(last) if last >= began => last + 1,
        Some(_) | None => return write(&file, present_second().to_string().as_bytes()),
    };
    let dated = young_files(view, began, index_before)?;
    let time = UNIX_EPOCH + Duration::from_secs(second);
    for path in &dated {
        let path = view.tree.join(as_path(path));
        let opened = File::options().append(true).open(&path).or_else(|_| File::open(&path));
        opened.and_then(|file| file.set_modified(time)).map_err(io_error(&path))?;
    }
    // Git would read every dated file again. That it cannot be told matters to nobody but git.
    match dated.len() {
        0 => {}
        1..=FEW => {
            let git = view.git("add").args(["--refresh", "--pathspec-from-file=-", "--pathspec-file-nul"]);
            drop(git.env("GIT_LITERAL_PATHSPECS", "1").input(parse::nul_terminated(&dated)).output());
        }
        _ => drop(view.git("update-index").args(["-q", "--refresh"]).output()),
    }
    write(&file, second.to_string().as_bytes())
}

/// The files that were checked out and are dated `began` or later. Links are left out: nothing remembers them by their
/// time.
fn young_files(view: &WorkTreeView, began: u64, index_before: &[u8]) -> Result<Vec<Vec<u8>>, WorkspaceError> {
    // What git has just checked out or found unchanged has the time that the index says.
    let bytes = read_optional(&view.index())?.unwrap_or_default();
    let mut paths: Vec<Vec<u8>> = match IndexFile::parse(&bytes) {
        Some(index) => {
            let before = IndexFile::parse(index_before).map(|index| index.files).unwrap_or_default();
            // What was there before with the same times was not written now. It may be dated later than the present,
            // so that without this every file that was once dated would be dated again by each checkout.
            let is_new = |file: &IndexedFile<'_>| {
                let known = before.binary_search_by(|known| known.path.cmp(file.path)).ok();
                known.and_then(|position| before.get(position)) != Some(file)
            };
            let is_young = |file: &&IndexedFile<'_>| u64::from(file.modified()) >= began && is_new(file);
            index.files.iter().filter(is_young).map(|file| file.path.to_vec()).collect()
        }
        None => {
            let listed = view.git("ls-files").args(["-z"]).run()?;
            parse::nul_separated(&listed).map(<[u8]>::to_vec).collect()
        }
    };
    paths.retain(|path| {
        let found = view.tree.join(as_path(path)).symlink_metadata();
        let is_young = |found: &Metadata| u64::try_from(found.mtime()).is_ok_and(|second| second >= began);
        found.is_ok_and(|found| found.is_file() && is_young(&found))
    });
    Ok(paths)
}
