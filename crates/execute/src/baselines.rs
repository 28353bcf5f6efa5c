//! What checks showed at a base, kept beyond one run: the same tree, check and environment need not be asked twice.
//!
//! Owns the key and the file. Refuses to keep what says nothing about the tree: a check that could not run, was not
//! found, crashed, hung or waits is asked again. Invariant: one process at a time fills an entry; the others wait and read it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fixpoint_ports::Cancel;
use fixpoint_vocabulary::brief::PlacedCheck;
use fixpoint_vocabulary::settings::BaselineReuse;
use fixpoint_vocabulary::work::{CheckCall, CheckEnd, CheckReport, FailureId, Reuse};
use serde::{Deserialize, Serialize};

use crate::Duty;
use crate::duty::Obstacle;
use crate::named_lock::{Asked, ask};
use crate::progress::Progress;

/// The version of what is kept; others are not looked at.
const FORMAT: u32 = 2;
/// The world outside the tree changes too: tools are updated, services move.
const OLDEST: Duration = Duration::from_secs(24 * 3600);

/// What is kept: the report, and the tests that passed, since blobs belong to a run.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    format: u32,
    report: CheckReport,
    passed: Option<Vec<u8>>,
}

impl Duty {
    /// What is known of a check at this base, or what is found out now and kept.
    pub(crate) fn at_base(
        &self,
        placed: &PlacedCheck,
        call: &CheckCall,
        reuse: &Reuse,
        cancel: &Cancel,
        find_out: impl FnOnce() -> Result<CheckReport, Obstacle>,
    ) -> Result<CheckReport, Obstacle> {
        if self.brief.settings.baseline.reuse == BaselineReuse::Never {
            return find_out();
        }
        let key = self.key(placed, &call.only, reuse);
        let patience = Duration::from_secs(u64::from(placed.check.timeout));
        let _held = match ask(&self.places.baselines, &key, patience, cancel) {
            Ok(Asked::Held(file)) => Some(file),
            Ok(Asked::Cancelled) => return Err(Obstacle::Cancelled),
            // A store that cannot be used costs time, nothing else.
            Ok(Asked::Busy) | Err(_) => None,
        };
        let file = self.places.baselines.join(format!("{key}.json"));
        if let Some((report, age)) = self.known(&file, call)? {
            if reuse.run == 1 {
                self.tools.watcher.see(Progress::CachedBaseline { check: &placed.check.name, age });
            }
            return Ok(report);
        }
        let report = find_out()?;
        if says_something(&report) {
            let passed = report.passed_set.as_ref().map(|blob| self.tools.blobs.get(blob)).transpose()?;
            keep(&file, &Kept { format: FORMAT, report: report.clone(), passed });
        }
        Ok(report)
    }

    /// The cached report with its age, if it is not too old.
    fn known(&self, file: &Path, call: &CheckCall) -> Result<Option<(CheckReport, Duration)>, Obstacle> {
        let modified = fs::metadata(file).and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|modified| modified.elapsed().ok());
        let Some(age) = age.filter(|age| *age < OLDEST) else { return Ok(None) };
        let kept = fs::read(file).ok().and_then(|content| serde_json::from_slice::<Kept>(&content).ok());
        let Some(kept) = kept.filter(|kept| kept.format == FORMAT) else { return Ok(None) };
        let passed_set = kept.passed.map(|names| self.tools.blobs.put(&names)).transpose()?;
        Ok(Some((CheckReport { check: call.check, passed_set, ..kept.report }, age)))
    }

    /// Everything the outcome of a check at a base depends on, as far as we can know.
    fn key(&self, placed: &PlacedCheck, only: &BTreeSet<FailureId>, reuse: &Reuse) -> String {
        let mut hasher = blake3::Hasher::new();
        let mut add = |part: &[u8]| {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        };
        let check = &placed.check;
        let runner = &check.runner;
        let kind = format!("{FORMAT} {:?} {:?} {} {runner}", check.kind, check.verdict, reuse.run);
        for part in [reuse.tree.0.as_str(), &check.command, &placed.directory, &kind] {
            add(part.as_bytes());
        }
        // Another version may read the same output in another way.
        add(env!("CARGO_PKG_VERSION").as_bytes());
        let settings = &self.brief.settings;
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
        hasher.finalize().to_hex().to_string()
    }

    /// Files that are copied as they are named; patterns are looked at by name only.
    fn copied_files(&self) -> Vec<PathBuf> {
        let root = Path::new(&self.brief.repository);
        let named = self.brief.settings.workspace.copy.iter().map(|pattern| root.join(pattern));
        named.filter(|path| path.is_file()).collect()
    }
}

fn says_something(report: &CheckReport) -> bool {
    match report.end {
        CheckEnd::Passed | CheckEnd::Failed => true,
        CheckEnd::Crashed
        | CheckEnd::TimedOut
        | CheckEnd::NotFound
        | CheckEnd::CouldNotRun
        | CheckEnd::Waiting => false,
    }
}

/// Keeps an entry whole or not at all. That it could not be kept is no reason to stop.
fn keep(file: &Path, kept: &Kept) {
    let Ok(content) = serde_json::to_vec(kept) else { return };
    let Some(directory) = file.parent() else { return };
    let written = tempfile::NamedTempFile::new_in(directory).and_then(|mut unfinished| {
        std::io::Write::write_all(&mut unfinished, &content)?;
        unfinished.persist(file).map_err(|error| error.error)
    });
    drop(written);
}
