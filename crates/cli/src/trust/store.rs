//! Where agreements are stored: one file for each repository, in the user's state directory.
//!
//! Invariant: a file that is damaged, that others can change or that is about another repository is no agreement.

use std::fs::{self, DirBuilder, File};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use fixpoint_config::TrustRecord;

use crate::app_context::AppContext;
use crate::failure::Failure;

/// More than any record has: configuration files are at most 1 MiB each.
const LARGEST: u64 = 16 << 20;
/// Only the user may read and list the records.
const PRIVATE: u32 = 0o700;
/// Write permission for others.
const WRITABLE_BY_OTHERS: u32 = 0o022;

#[derive(Debug)]
pub(crate) struct TrustStore {
    directory: PathBuf,
}

/// What is stored about a repository.
#[derive(Debug)]
pub(crate) enum StoredTrust {
    None,
    Agreed(TrustRecord),
    /// Why it cannot be used.
    Damaged(String),
}

/// A file of the store.
#[derive(Debug)]
pub(crate) struct StoredFile {
    pub(crate) path: PathBuf,
    /// What it says, or why it cannot be used.
    pub(crate) record: Result<TrustRecord, String>,
}

impl TrustStore {
    pub(crate) fn of(app: &AppContext) -> Result<Self, Failure> {
        Ok(Self { directory: app.state_dir()?.join("trust") })
    }

    fn file(&self, root: &Path) -> PathBuf {
        let name = blake3::hash(root.as_os_str().as_bytes()).to_hex();
        self.directory.join(format!("{name}.json"))
    }

    pub(crate) fn read(&self, root: &Path) -> StoredTrust {
        let path = self.file(root);
        match read_record(&path) {
            Ok(None) => StoredTrust::None,
            Ok(Some(record)) if record.repository == root.to_string_lossy() => StoredTrust::Agreed(record),
            Ok(Some(record)) => {
                let (path, other) = (path.display(), &record.repository);
                StoredTrust::Damaged(format!("{path} is about another directory, {other}"))
            }
            Err(problem) => StoredTrust::Damaged(format!("{}: {problem}", path.display())),
        }
    }

    /// Replaces the record of a repository at once.
    pub(crate) fn write(&self, root: &Path, record: &TrustRecord) -> Result<(), Failure> {
        let path = self.file(root);
        let unwritable = |source| Failure::Unwritable { path: path.clone(), source };
        DirBuilder::new().recursive(true).mode(PRIVATE).create(&self.directory).map_err(unwritable)?;
        // A temporary file can be read and written by its owner only.
        let mut file = tempfile::NamedTempFile::new_in(&self.directory).map_err(unwritable)?;
        let text = serde_json::to_string_pretty(record)?;
        file.write_all(format!("{text}\n").as_bytes()).map_err(unwritable)?;
        file.as_file().sync_all().map_err(unwritable)?;
        file.persist(&path).map(drop).map_err(|error| unwritable(error.error))
    }

    /// Whether there was a record.
    pub(crate) fn remove(&self, root: &Path) -> Result<bool, Failure> {
        let path = self.file(root);
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(source) => Err(Failure::Unwritable { path, source }),
        }
    }

    /// Every file.
    pub(crate) fn all(&self) -> Result<Vec<StoredFile>, Failure> {
        let entries = match fs::read_dir(&self.directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(Failure::Unreadable { path: self.directory.clone(), source }),
        };
        let paths = entries.flatten().map(|entry| entry.path());
        let mut paths: Vec<PathBuf> =
            paths.filter(|path| path.extension().is_some_and(|ending| ending == "json")).collect();
        paths.sort();
        let read = |path: PathBuf| read_record(&path).transpose().map(|record| StoredFile { path, record });
        Ok(paths.into_iter().filter_map(read).collect())
    }
}

/// `None` if the file does not exist.
fn read_record(path: &Path) -> Result<Option<TrustRecord>, String> {
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    if !metadata.is_file() || metadata.len() > LARGEST {
        return Err("not a regular file of a usual size".to_string());
    }
    if metadata.mode() & WRITABLE_BY_OTHERS != 0 {
        return Err("other users can change it".to_string());
    }
    let mut text = String::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    file.take(LARGEST).read_to_string(&mut text).map_err(|error| error.to_string())?;
    let record: TrustRecord = serde_json::from_str(&text).map_err(|error| format!("damaged: {error}"))?;
    if record.is_intact() {
        Ok(Some(record))
    } else {
        Err("damaged: its content does not match its hash".to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use fixpoint_config::TrustRequest;

    use super::*;

    #[test]
    fn only_an_intact_record_is_an_agreement() {
        let directory = tempfile::tempdir().unwrap();
        let store = TrustStore { directory: directory.path().join("trust") };
        let root = Path::new("/some/where");
        assert!(matches!(store.read(root), StoredTrust::None));
        let record = TrustRecord::new(&TrustRequest::default(), "/some/where", 1, None);
        store.write(root, &record).unwrap();
        assert!(matches!(store.read(root), StoredTrust::Agreed(read) if read == record));
        let file = store.file(root);
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(store.directory.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        let written = fs::read_to_string(&file).unwrap();
        let damaged = |text: &str, mode: u32| {
            fs::write(&file, text).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            match store.read(root) {
                StoredTrust::Damaged(problem) => problem.replace(&file.display().to_string(), "FILE"),
                other @ (StoredTrust::None | StoredTrust::Agreed(_)) => panic!("{other:?}"),
            }
        };
        assert_eq!(
            damaged(&written.replace("\"at\": 1", "\"at\": 2"), 0o600),
            "FILE: damaged: its content does not match its hash"
        );
        assert_eq!(damaged(&written, 0o622), "FILE: other users can change it");
        assert!(damaged(written.trim_end().trim_end_matches('}'), 0o600).starts_with("FILE: damaged: EOF"));
        assert!(damaged("", 0o600).starts_with("FILE: damaged: EOF"));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        let other = Path::new("/else/where");
        fs::write(&file, &written).unwrap();
        fs::rename(&file, store.file(other)).unwrap();
        assert!(
            matches!(store.read(other), StoredTrust::Damaged(problem) if problem.contains("another directory"))
        );
        assert_eq!(store.all().unwrap().len(), 1);
        assert!(store.remove(other).unwrap() && !store.remove(other).unwrap());
    }
}
