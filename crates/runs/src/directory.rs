//! Where runs are, and how one is named, found and opened.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fixpoint_engine::RecordedRun;
use fixpoint_journal::{FileBlobs, JOURNAL_FILE, LOCK_FILE, LockError, RunLock};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::error::RunError;

/// How many runs the message about an unclear name lists.
const MOST_NAMED: usize = 5;

/// A run's name: when it began, and five letters that tell apart what began in the same second.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunId(pub String);

impl std::fmt::Display for RunId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl RunId {
    /// A name for a run that begins now.
    pub fn new(now_ms: u64, entropy: &[u8]) -> Self {
        let at = Timestamp::from_millisecond(i64::try_from(now_ms).unwrap_or(0)).unwrap_or_default();
        let letters = blake3::hash(&[&now_ms.to_le_bytes(), entropy].concat());
        let letter = |byte: &u8| char::from(b'a' + byte % 26);
        // Names are in the order of time, within a second too: the first two letters count it through.
        let part = now_ms % 1000 * 26 * 26 / 1000;
        let in_time = [part / 26, part % 26].map(|digit| u8::try_from(digit).unwrap_or(0));
        let suffix: String = in_time.iter().chain(letters.as_bytes().iter().take(3)).map(letter).collect();
        Self(format!("{}-{suffix}", at.to_zoned(TimeZone::UTC).strftime("%Y%m%d-%H%M%S")))
    }
}

/// The directory with the runs and caches of one repository.
#[derive(Debug, Clone)]
pub struct StateDirectory {
    state: PathBuf,
    repository: String,
}

impl StateDirectory {
    /// `state` is the directory for all repositories, `repository` the name of this one in it.
    pub fn new(state: &Path, repository: &str) -> Self {
        Self { state: state.to_path_buf(), repository: repository.to_string() }
    }

    pub fn runs(&self) -> PathBuf {
        self.state.join(&self.repository).join("runs")
    }

    /// Results of checks at a base, which later runs reuse.
    pub fn baselines(&self) -> PathBuf {
        self.state.join(&self.repository).join("baselines")
    }

    /// Cached plans, and how much the scores of judges vary.
    pub fn memory(&self) -> PathBuf {
        self.state.join(&self.repository).join("memory")
    }

    /// Locks that checks name; shared by all repositories.
    pub fn locks(&self) -> PathBuf {
        self.state.join("locks")
    }

    /// The directory of a run, whether it exists or not.
    pub fn run(&self, id: &RunId) -> RunDirectory {
        RunDirectory { id: id.clone(), path: self.runs().join(&id.0) }
    }

    /// All runs, the youngest first, including those that never began.
    pub fn list(&self) -> Result<Vec<RunDirectory>, RunError> {
        let runs = self.runs();
        let entries = match fs::read_dir(&runs) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(RunError::io(&runs, &error)),
        };
        let is_run = |entry: &fs::DirEntry| {
            [JOURNAL_FILE, LOCK_FILE].iter().any(|name| entry.path().join(name).symlink_metadata().is_ok())
        };
        let name = |entry: fs::DirEntry| entry.file_name().into_string().ok();
        let mut ids: Vec<String> = entries.flatten().filter(is_run).filter_map(name).collect();
        ids.sort_unstable_by(|a, b| b.cmp(a));
        Ok(ids.into_iter().map(|id| self.run(&RunId(id))).collect())
    }

    /// The run of a name, of a unique beginning or ending of one, or for `latest` the youngest that has begun.
    pub fn find(&self, name: &str) -> Result<RunDirectory, RunError> {
        let all = self.list()?;
        if name == "latest" || name == "@" {
            return all.into_iter().find(|run| !run.never_began()).ok_or(RunError::NoRuns);
        }
        let is_named = |run: &&RunDirectory| {
            !name.is_empty() && (run.id.0.starts_with(name) || run.id.0.ends_with(&format!("-{name}")))
        };
        let candidates: Vec<&RunDirectory> = all.iter().filter(is_named).collect();
        match candidates.as_slice() {
            [] if all.is_empty() => Err(RunError::NoRuns),
            [] => Err(RunError::NoSuchRun(name.to_string())),
            [one] => Ok((*one).clone()),
            several => match several.iter().find(|run| run.id.0 == name) {
                Some(exact) => Ok((*exact).clone()),
                None => Err(RunError::Ambiguous {
                    name: name.to_string(),
                    candidates: several.iter().take(MOST_NAMED).map(|run| run.id.0.clone()).collect(),
                }),
            },
        }
    }
}

/// One run's directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDirectory {
    pub id: RunId,
    pub path: PathBuf,
}

impl RunDirectory {
    /// Output of agents and checks.
    pub fn outputs(&self) -> PathBuf {
        self.path.join("output")
    }

    /// The planning history, in one directory with those of other runs.
    pub fn planning_history(&self) -> PathBuf {
        let home = self.path.parent().and_then(Path::parent).unwrap_or(&self.path);
        home.join("planning_history").join(format!("{}.jsonl", self.id))
    }

    /// Prompts of agents and models.
    pub fn prompts(&self) -> PathBuf {
        self.path.join("prompts")
    }

    /// The artifacts of a task.
    pub fn context(&self, task: &str) -> PathBuf {
        self.path.join("context").join(task)
    }

    /// Records that are too large for the journal.
    pub fn blobs(&self) -> Result<FileBlobs, RunError> {
        let opened = FileBlobs::open(&self.path.join("blobs"));
        opened.map_err(|error| RunError::unavailable(&self.id, &error))
    }

    pub(crate) fn blobs_to_read(&self) -> FileBlobs {
        FileBlobs::to_read(&self.path.join("blobs"))
    }

    /// Locks the run for this process.
    pub fn lock(&self) -> Result<RunLock, RunError> {
        RunLock::acquire(&self.path).map_err(|error| match error {
            LockError::Held { pid: Some(pid), .. } => RunError::Held { run: self.id.clone(), pid },
            LockError::Held { .. } | LockError::NotAFile { .. } | LockError::Unavailable(_) => {
                RunError::unavailable(&self.id, &error)
            }
        })
    }

    /// The process that works on the run now. A lock that cannot be looked at counts as free.
    pub fn holder(&self) -> Option<u32> {
        self.checked_holder().unwrap_or_default()
    }

    /// The same; fails if something else than a file is in the place of the lock.
    pub fn checked_holder(&self) -> Result<Option<u32>, RunError> {
        match RunLock::look(&self.path) {
            Err(LockError::Held { pid, .. }) => Ok(Some(pid.unwrap_or(0))),
            Err(error @ LockError::NotAFile { .. }) => Err(RunError::unavailable(&self.id, &error)),
            Ok(()) | Err(LockError::Unavailable(_)) => Ok(None),
        }
    }

    /// Decodes the records of its journal.
    pub fn recorded<'a>(
        &self,
        payloads: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<RecordedRun, RunError> {
        RecordedRun::read(payloads, &self.blobs()?).map_err(|error| RunError::record(&self.id, &error))
    }

    /// How long ago something in its directory was made or removed, for a run whose journal cannot be read.
    pub fn untouched_for(&self) -> Duration {
        let modified = fs::metadata(&self.path).and_then(|metadata| metadata.modified());
        modified.ok().and_then(|modified| modified.elapsed().ok()).unwrap_or_default()
    }

    /// Removes the planning history and the directory with everything in it.
    pub fn remove(&self) -> Result<(), RunError> {
        let history = self.planning_history();
        match fs::remove_file(&history) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(RunError::io(&history, &error));
            }
            Ok(()) | Err(_) => {}
        }
        fs::remove_dir_all(&self.path).map_err(|error| RunError::io(&self.path, &error))
    }

    /// Bytes that its files take.
    pub fn size(&self) -> u64 {
        let mut left = vec![self.path.clone()];
        let mut bytes: u64 = 0;
        while let Some(directory) = left.pop() {
            for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
                match entry.metadata() {
                    Ok(found) if found.is_dir() => left.push(entry.path()),
                    Ok(found) => bytes = bytes.saturating_add(found.len()),
                    Err(_) => {}
                }
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use fixpoint_journal::FileJournal;
    use fixpoint_ports::{Journal, Seq};

    use super::*;

    fn home_with(ids: &[&str]) -> (tempfile::TempDir, StateDirectory) {
        let directory = tempfile::tempdir().unwrap();
        let home = StateDirectory::new(directory.path(), "r");
        for id in ids {
            let run = home.run(&RunId((*id).to_string()));
            FileJournal::create(&run.path).unwrap().append(Seq(0), b"{}").unwrap();
        }
        (directory, home)
    }

    #[test]
    fn names_are_sorted_by_time_and_differ() {
        let first = RunId::new(1_763_267_000_000, b"a");
        assert!(first.0.starts_with("20251116-042320-"), "{first}");
        assert!(first < RunId::new(1_763_267_001_000, b"a"));
        let within: Vec<RunId> = (0..500).map(|n| RunId::new(1_763_267_000_000 + 2 * n, b"a")).collect();
        assert!(within.is_sorted_by(|a, b| a < b), "also within a second");
        assert_ne!(first, RunId::new(1_763_267_000_000, b"b"));
    }

    #[test]
    fn a_run_is_found_by_a_part_of_its_name() {
        let (_directory, home) =
            home_with(&["20260101-000000-aaaa", "20260101-000001-bbbb", "20260202-000000-cccc"]);
        let found = |name: &str| home.find(name).map(|run| run.id.0).map_err(|error| error.to_string());
        let table = [
            ("the latest", "latest", Ok("20260202-000000-cccc")),
            ("a unique beginning", "202602", Ok("20260202-000000-cccc")),
            ("the letters", "bbbb", Ok("20260101-000001-bbbb")),
            ("an ambiguous beginning", "202601", Err("20260101-000000-aaaa")),
            ("an unknown name", "nothing", Err("fixpoint list")),
            ("no name", "", Err("no run")),
        ];
        for (name, typed, expected) in table {
            match (found(typed), expected) {
                (Ok(run), Ok(expected)) => assert_eq!(run, expected, "{name}"),
                (Err(error), Err(expected)) => assert!(error.contains(expected), "{name}: {error}"),
                (found, expected) => panic!("{name}: {found:?} instead of {expected:?}"),
            }
        }
        // One that died before its first record is not the latest, and can be named.
        drop(FileJournal::create(&home.run(&RunId("20260303-000000-dddd".into())).path).unwrap());
        assert_eq!(found("latest").unwrap(), "20260202-000000-cccc");
        assert_eq!(found("dddd").unwrap(), "20260303-000000-dddd");
        let (_directory, empty) = home_with(&[]);
        assert!(empty.find("latest").unwrap_err().to_string().contains("no runs yet"));
    }
}
