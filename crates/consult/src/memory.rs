//! Plans kept for goals that come again, one file each.
//!
//! The same goal in the same state of the repository is an exact hit; a goal much like it is a near one, offered as a
//! draft and never used blindly. Entries go by age and, when there are too many, the least recently used first. A file
//! that cannot be read is no plan.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use fixpoint_vocabulary::Redacted;
use fixpoint_vocabulary::ask::Draft;
use fixpoint_vocabulary::settings::CacheSettings;
use fixpoint_vocabulary::work::Recalled;
use serde::{Deserialize, Serialize};

/// Goals are compared by their first letters: what is longer differs there already.
const COMPARED: usize = 4000;

/// What makes two plans the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanKey {
    /// The goal in the user's words.
    pub goal: Redacted,
    /// The tree the plan was made for.
    pub tree: String,
    /// The tools that could be named.
    pub tools: Vec<String>,
    /// The version of the prompts.
    pub prompts: String,
}

impl PlanKey {
    fn name(&self) -> String {
        let parts =
            [same(self.goal.as_str()), self.tree.clone(), self.tools.join("\n"), self.prompts.clone()];
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finalize().to_hex().chars().take(32).collect()
    }
}

/// The same for goals that differ only in their spacing and in how they begin. Case within a goal may be what it is
/// about: to rename `Id` to `ID` is not to rename `ID` to `Id`.
fn same(goal: &str) -> String {
    let spaced = goal.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut letters = spaced.chars();
    letters.next().into_iter().flat_map(char::to_lowercase).chain(letters).collect()
}

/// A goal as it is compared with others: without its spacing and case.
fn normal(goal: &str) -> String {
    same(goal).to_lowercase()
}

/// A plan that is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// What it was made for.
    pub key: PlanKey,
    /// The plan.
    pub plan: Draft,
}

/// What is kept, in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Statistics {
    /// Plans.
    pub plans: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Those that are too old to be used.
    pub expired: u64,
}

/// Why the plans cannot be used: look at the directory.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", .path.display())]
pub struct MemoryError {
    /// The file or directory.
    pub path: PathBuf,
    /// Why.
    pub source: std::io::Error,
}

/// The plans of one repository.
#[derive(Debug, Clone)]
pub struct PlanMemory {
    directory: PathBuf,
}

impl PlanMemory {
    /// Plans that are kept in a directory, made when it is needed.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// A plan for this goal, or for one like it.
    pub fn recall(&self, key: &PlanKey, settings: &CacheSettings) -> Recalled {
        let ttl = Duration::from_secs(u64::from(settings.ttl));
        let exact = self.directory.join(format!("{}.json", key.name()));
        if let Some(kept) =
            fresh(&exact, ttl).then(|| read(&exact)).flatten().filter(|kept| kept.key.name() == key.name())
        {
            touch(&exact);
            return Recalled::Exact(kept.plan);
        }
        let near = self
            .files()
            .into_iter()
            .filter(|path| fresh(path, ttl))
            .filter_map(|path| read(&path).map(|kept| (likeness(&kept.key.goal, &key.goal), path, kept)))
            .filter(|(likeness, ..)| *likeness >= settings.similarity)
            .max_by(|(one, ..), (other, ..)| one.total_cmp(other));
        match near {
            Some((_, path, kept)) => {
                touch(&path);
                Recalled::Near(kept.plan)
            }
            None => Recalled::Nothing,
        }
    }

    /// Keeps a plan, and lets go of what is too old or too much.
    pub fn keep(&self, key: &PlanKey, plan: &Draft, settings: &CacheSettings) -> Result<(), MemoryError> {
        let refused = |source| MemoryError { path: self.directory.clone(), source };
        std::fs::create_dir_all(&self.directory).map_err(refused)?;
        let kept = Kept { key: key.clone(), plan: plan.clone() };
        let text = serde_json::to_vec(&kept).unwrap_or_default();
        let mut file = tempfile::NamedTempFile::new_in(&self.directory).map_err(refused)?;
        file.write_all(&text).map_err(refused)?;
        let path = self.directory.join(format!("{}.json", key.name()));
        file.persist(&path).map_err(|error| refused(error.error))?;
        self.make_room(settings);
        Ok(())
    }

    /// What is kept.
    pub fn statistics(&self, settings: &CacheSettings) -> Statistics {
        let ttl = Duration::from_secs(u64::from(settings.ttl));
        let mut statistics = Statistics::default();
        for path in self.files() {
            statistics.plans += 1;
            statistics.bytes += path.metadata().map_or(0, |found| found.len());
            statistics.expired += u64::from(!fresh(&path, ttl));
        }
        statistics
    }

    /// Lets go of all plans, and says how many there were.
    pub fn clear(&self) -> Result<u64, MemoryError> {
        let mut cleared = 0;
        for path in self.files() {
            std::fs::remove_file(&path).map_err(|source| MemoryError { path, source })?;
            cleared += 1;
        }
        Ok(cleared)
    }

    fn make_room(&self, settings: &CacheSettings) {
        let ttl = Duration::from_secs(u64::from(settings.ttl));
        let (young, old): (Vec<PathBuf>, Vec<PathBuf>) =
            self.files().into_iter().partition(|path| fresh(path, ttl));
        let mut by_use: Vec<(SystemTime, PathBuf)> =
            young.into_iter().map(|path| (used(&path), path)).collect();
        by_use.sort();
        let surplus = by_use.len().saturating_sub(settings.max_entries as usize);
        let unused = by_use.into_iter().take(surplus).map(|(_, path)| path);
        // What cannot be removed now is tried again with the next plan.
        old.into_iter().chain(unused).for_each(|path| drop(std::fs::remove_file(path)));
    }

    fn files(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        let mut paths: Vec<PathBuf> =
            paths.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
        paths.sort();
        paths
    }
}

fn read(path: &Path) -> Option<Kept> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

fn used(path: &Path) -> SystemTime {
    path.metadata().and_then(|found| found.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
}

/// A use counts as new: the time of the last one is the file's.
fn touch(path: &Path) {
    if let Ok(file) = std::fs::File::options().append(true).open(path) {
        drop(file.set_modified(SystemTime::now()));
    }
}

fn fresh(path: &Path, ttl: Duration) -> bool {
    SystemTime::now().duration_since(used(path)).is_ok_and(|age| age <= ttl)
}

/// How alike two goals are: the weaker of letters in order and words in any order.
fn likeness(one: &Redacted, other: &Redacted) -> f64 {
    let cut = |text: &Redacted| normal(text.as_str()).chars().take(COMPARED).collect::<String>();
    let (one, other) = (cut(one), cut(other));
    strsim::normalized_levenshtein(&one, &other).min(cosine(&one, &other))
}

fn cosine(one: &str, other: &str) -> f64 {
    let counts = |text: &str| {
        let mut counts: BTreeMap<String, f64> = BTreeMap::new();
        text.split_whitespace().for_each(|word| *counts.entry(word.to_string()).or_default() += 1.0);
        counts
    };
    let (one, other) = (counts(one), counts(other));
    let product: f64 = one.iter().map(|(word, count)| count * other.get(word).copied().unwrap_or(0.0)).sum();
    let length =
        |counts: &BTreeMap<String, f64>| counts.values().map(|count| count * count).sum::<f64>().sqrt();
    let lengths = length(&one) * length(&other);
    if lengths > 0.0 { product / lengths } else { 0.0 }
}

#[cfg(test)]
mod tests;
