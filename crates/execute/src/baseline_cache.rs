//! The cache of baselines: a check need not run twice on the same tree in the same environment.
//!
//! Owns the key and the file. Refuses to cache what says nothing about the tree: a check that could not run, was not
//! found, crashed, timed out or waits runs again, and so does one that fails as if its environment were broken.
//! Invariants: one process at a time fills an entry; the others wait and read it. A damaged entry is none.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fixpoint_ports::Cancel;
use fixpoint_vocabulary::run_spec::PlacedCheck;
use fixpoint_vocabulary::settings::BaselineReuse;
use fixpoint_vocabulary::work::{CheckCall, CheckEnd, CheckReport, FailureId, Reuse};
use serde::{Deserialize, Serialize};

use crate::ExecutionContext;
use crate::error::ExecuteError;
use crate::named_lock::{LockOutcome, acquire};
use crate::progress::Progress;

/// The version of an entry; others are ignored.
const FORMAT: u32 = 5;
/// Tools are updated and services move without a change of the tree.
const OLDEST: Duration = Duration::from_secs(24 * 3600);

/// What output says when a program or a module is missing. Installing it is not a change of the tree.
const MISSING: [&str; 7] = [
    "ModuleNotFoundError",
    "No module named",
    "Cannot find module",
    "Cannot find package",
    "cannot load such file",
    "command not found",
    ": not found",
];

/// A report, with the list of the tests that passed: its blob belongs to a run.
#[derive(Debug, Serialize, Deserialize)]
struct CachedReport {
    format: u32,
    report: CheckReport,
    passed: Option<String>,
}

impl ExecutionContext {
    /// The cached report of a check at this base, or that of a run now, which is then cached.
    pub(crate) fn cached_baseline(
        &self,
        placed: &PlacedCheck,
        call: &CheckCall,
        reuse: &Reuse,
        cancel: &Cancel,
        run: impl FnOnce() -> Result<CheckReport, ExecuteError>,
    ) -> Result<CheckReport, ExecuteError> {
        let setting = self.spec.settings.baseline.reuse;
        if setting == BaselineReuse::Never {
            return run();
        }
        let key = self.key(placed, &call.only, reuse, cancel)?;
        let patience = Duration::from_secs(u64::from(placed.check.timeout));
        let _lock = match acquire(&self.paths.baselines, &key, patience, cancel) {
            Ok(LockOutcome::Acquired(file)) => Some(file),
            Ok(LockOutcome::Cancelled) => return Err(ExecuteError::Cancelled),
            // A cache that cannot be used costs time, nothing else.
            Ok(LockOutcome::TimedOut) | Err(_) => None,
        };
        let file = self.paths.baselines.join(format!("{key}.json"));
        let may_read = match setting {
            BaselineReuse::Day => true,
            // What this run took for another task is as fresh.
            BaselineReuse::Refresh => self.host.took_baseline(&key),
            BaselineReuse::Never => false,
        };
        let cached = if may_read { self.cached(&file, call)? } else { None };
        if let Some((report, age)) = cached {
            if reuse.run == 1 {
                self.deps.progress.report(Progress::CachedBaseline { check: &placed.check.name, age });
            }
            return Ok(report);
        }
        let report = run()?;
        if is_conclusive(&report, call) {
            let passed = report.passed_set.as_ref().map(|blob| self.deps.blobs.get(blob)).transpose()?;
            let passed = passed.and_then(|names| String::from_utf8(names).ok());
            store(&file, &CachedReport { format: FORMAT, report: report.clone(), passed });
            self.host.note_baseline(&key);
        } else {
            // The entry of an earlier run is no better.
            drop(fs::remove_file(&file));
        }
        Ok(report)
    }

    /// The cached report with its age, if it is not too old.
    fn cached(&self, file: &Path, call: &CheckCall) -> Result<Option<(CheckReport, Duration)>, ExecuteError> {
        let modified = fs::metadata(file).and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|modified| modified.elapsed().ok());
        let Some(age) = age.filter(|age| *age < OLDEST) else { return Ok(None) };
        let cached = fs::read(file).ok().and_then(|content| undamaged(&content));
        let Some(cached) = cached.filter(|cached| cached.format == FORMAT) else { return Ok(None) };
        let passed_set = cached.passed.map(|names| self.deps.blobs.put(names.as_bytes())).transpose()?;
        Ok(Some((CheckReport { check: call.check, passed_set, ..cached.report }, age)))
    }

    /// Everything a report depends on, as far as we can know.
    fn key(
        &self,
        placed: &PlacedCheck,
        only: &BTreeSet<FailureId>,
        reuse: &Reuse,
        cancel: &Cancel,
    ) -> Result<String, ExecuteError> {
        let environment = self.environment_key(&placed.check.command, cancel)?;
        let mut hasher = blake3::Hasher::new();
        let mut add = |part: &[u8]| {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        };
        add(environment.as_bytes());
        let check = &placed.check;
        let runner = &check.runner;
        let kind = format!("{FORMAT} {:?} {:?} {} {runner}", check.kind, check.verdict, reuse.run);
        // Failures of the check as a whole are told apart by its name.
        for part in [reuse.tree.as_str(), &check.name, &check.command, &placed.directory, &kind] {
            add(part.as_bytes());
        }
        // Another version may read the same output in another way.
        add(env!("CARGO_PKG_VERSION").as_bytes());
        let settings = &self.spec.settings;
        for part in settings.workspace.setup.iter().chain(&settings.workspace.copy) {
            add(part.as_bytes());
        }
        add(format!("{only:?}").as_bytes());
        add(format!("{:?}", settings.fingerprint).as_bytes());
        for path in self.copied_files() {
            add(&fs::read(path).unwrap_or_default());
        }
        for (name, value) in &self.check_environment {
            add(name.as_encoded_bytes());
            add(value.as_encoded_bytes());
        }
        Ok(hasher.finalize().to_hex().to_string())
    }

    /// Files that are copied as they are named; patterns are looked at by name only.
    fn copied_files(&self) -> Vec<PathBuf> {
        let root = Path::new(&self.spec.repository);
        let named = self.spec.settings.workspace.copy.iter().map(|pattern| root.join(pattern));
        named.filter(|path| path.is_file()).collect()
    }
}

fn is_conclusive(report: &CheckReport, call: &CheckCall) -> bool {
    let is_missing = |text: &str| MISSING.iter().any(|missing| text.contains(missing));
    match report.end {
        CheckEnd::Passed => true,
        // Where only what failed was asked for, nothing can pass. Otherwise the environment may be broken.
        CheckEnd::Failed if report.counted == 0 && call.only.is_empty() => false,
        CheckEnd::Failed => !report.failures.iter().any(|failure| is_missing(failure.message.as_str())),
        CheckEnd::Crashed
        | CheckEnd::TimedOut
        | CheckEnd::NotFound
        | CheckEnd::Environment
        | CheckEnd::CouldNotRun
        | CheckEnd::Waiting => false,
    }
}

/// Writes an entry whole or not at all. That it cannot be written is no reason to stop.
fn store(file: &Path, report: &CachedReport) {
    let Ok(report) = serde_json::to_vec(report) else { return };
    let content = [blake3::hash(&report).to_hex().as_bytes(), b"\n", &report].concat();
    let Some(directory) = file.parent() else { return };
    let written = tempfile::NamedTempFile::new_in(directory).and_then(|mut unfinished| {
        std::io::Write::write_all(&mut unfinished, &content)?;
        unfinished.persist(file).map_err(|error| error.error)
    });
    drop(written);
}

/// An entry whose checksum, its first line, is right.
fn undamaged(content: &[u8]) -> Option<CachedReport> {
    let end = content.iter().position(|byte| *byte == b'\n')?;
    let (checksum, report) = (content.get(..end)?, content.get(end + 1..)?);
    let is_right = blake3::hash(report).to_hex().as_bytes() == checksum;
    is_right.then(|| serde_json::from_slice(report).ok()).flatten()
}
