//! Copies of an index file, none of them newer than the original.
//!
//! Git treats a file as unchanged if its size and times are those in the index. That misses an edit of the same size in
//! the same second, so git also compares the content of every file that is not older than the index file. A copy with a
//! newer modification time would turn this comparison off, and the edit would be lost. Invariant: the modification time
//! of a copy, and of what git writes in its place, is at most that of the original.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::{Duration, SystemTime};

use fixpoint_ports::WorkspaceError;

use crate::files::io_error;

/// The coarsest timestamps of a file system in use are those of FAT.
const COARSEST: Duration = Duration::from_secs(2);

/// Copies an index with its modification time, and returns that; `None` where there is no index.
pub(crate) fn copy_index(from: &Path, to: &Path) -> Result<Option<SystemTime>, WorkspaceError> {
    // Git replaces an index as a whole, so the open file has the time and the content of one version.
    let original = match File::open(from) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io_error(from)(error)),
    };
    let modified = original.metadata().and_then(|found| found.modified()).map_err(io_error(from))?;
    let copied = || {
        let mut copy = File::create(to)?;
        io::copy(&mut &original, &mut copy)?;
        set_modified_at_most(&copy, modified)
    };
    copied().map_err(io_error(to))?;
    Ok(Some(modified))
}

/// Dates an index back, so that git compares the content of every file that is not older than `modified`.
pub(crate) fn date_back(index: &Path, modified: SystemTime) -> Result<(), WorkspaceError> {
    let dated = || set_modified_at_most(&File::options().append(true).open(index)?, modified);
    match dated() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        ended => ended.map_err(io_error(index)),
    }
}

fn set_modified_at_most(file: &File, modified: SystemTime) -> io::Result<()> {
    let is_newer = |found: Metadata| found.modified().map(|found| found > modified);
    file.set_modified(modified)?;
    // File systems with coarse timestamps round down, but nothing obliges them to.
    if is_newer(file.metadata()?)? {
        file.set_modified(modified.checked_sub(COARSEST).unwrap_or(modified))?;
    }
    if is_newer(file.metadata()?)? {
        return Err(io::Error::other("the file system does not keep modification times"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_copy_and_an_index_that_was_written_since_have_the_time_of_the_original() {
        let directory = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| directory.path().join(name));
        let modified = |path: &Path| path.metadata().unwrap().modified().unwrap();
        fs::write(&from, "index").unwrap();
        let past = SystemTime::UNIX_EPOCH + Duration::new(1_000_000_000, 123_456_700);
        File::options().append(true).open(&from).unwrap().set_modified(past).unwrap();
        assert_eq!(copy_index(&from, &to).unwrap(), Some(past));
        assert_eq!((fs::read(&to).unwrap(), modified(&to)), (b"index".to_vec(), past));
        fs::write(&to, "written by git").unwrap();
        date_back(&to, past).unwrap();
        assert_eq!(modified(&to), past);
    }

    #[test]
    fn an_index_that_does_not_exist_is_not_copied() {
        let directory = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| directory.path().join(name));
        assert_eq!(copy_index(&from, &to).unwrap(), None);
        date_back(&to, SystemTime::now()).unwrap();
        assert!(!to.exists());
    }
}
