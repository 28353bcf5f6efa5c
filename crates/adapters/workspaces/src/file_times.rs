//! Modification times that no earlier content of a slot had, to the second.
//!
//! Python, make and some bundlers take a file for unchanged if its size and the second of its modification time are those
//! they remember. Two checkouts within one second would fool them. Owns the second up to which files of a slot are dated.
//! Invariant: a file that a checkout wrote is dated later than everything that an earlier checkout wrote.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fixpoint_ports::WorkspaceError;

use crate::files::{as_path, io_error, read_optional, write};
use crate::git::parse;
use crate::private_git_dir::WorkTreeView;

const LAST_SECOND: &str = "dated";

/// The present second.
pub(crate) fn present_second() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// Dates what was checked out since `began` later than everything before, if that is not so already.
pub(crate) fn date_after_earlier(slot: &Path, view: &WorkTreeView, began: u64) -> Result<(), WorkspaceError> {
    let file = slot.join(LAST_SECOND);
    let read = read_optional(&file)?;
    let last: Option<u64> = read.and_then(|bytes| String::from_utf8(bytes).ok()?.trim().parse().ok());
    let second = match last {
        Some(last) if last >= began => last + 1,
        Some(_) | None => return write(&file, present_second().to_string().as_bytes()),
    };
    let listed = view.git("ls-files").args(["-z"]).run()?;
    let mut is_dated = false;
    for path in parse::nul_separated(&listed) {
        let path = view.tree.join(as_path(path));
        let Ok(found) = path.symlink_metadata() else { continue };
        // Links are not dated: nothing remembers them by their time.
        if found.is_file() && u64::try_from(found.mtime()).is_ok_and(|modified| modified >= began) {
            let opened = File::options().append(true).open(&path).or_else(|_| File::open(&path));
            let time = UNIX_EPOCH + Duration::from_secs(second);
            opened.and_then(|file| file.set_modified(time)).map_err(io_error(&path))?;
            is_dated = true;
        }
    }
    if is_dated {
        // Git would read every dated file again. That it cannot be told matters to nobody but git.
        drop(view.git("update-index").args(["-q", "--refresh"]).output());
    }
    write(&file, second.to_string().as_bytes())
}
