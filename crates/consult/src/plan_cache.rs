//! The plan cache: one file for each plan.
//!
//! Owns lookup and eviction. The same goal in the same tree is an exact hit; a similar goal is a near hit, which is offered
//! to the planner as a draft and never used as it is. Entries expire by age, and above the limit the least recently used
//! goes first. A file that cannot be read is not a plan.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use fixpoint_vocabulary::Redacted;
use fixpoint_vocabulary::ask::SavedPlan;
use fixpoint_vocabulary::settings::CacheSettings;
use fixpoint_vocabulary::work::CachedPlanMatch;
use serde::{Deserialize, Serialize};

/// Goals are compared by their first characters.
const COMPARED_CHARACTERS: usize = 4000;

/// What identifies a cached plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanKey {
    pub goal: Redacted,
    /// The git tree the plan was made for.
    pub tree: String,
    /// The tools that tasks may name.
    pub tools: Vec<String>,
    /// The version of the prompts.
    pub prompts: String,
}

impl PlanKey {
    /// The name of the entry's file, without its extension.
    fn file_name(&self) -> String {
        let parts =
            [normalized(self.goal.as_str()), self.tree.clone(), self.tools.join("\n"), self.prompts.clone()];
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finalize().to_hex().chars().take(32).collect()
    }
}

/// The same for goals that differ only in spacing and in the case of the first letter. Other letters keep their case:
/// renaming `Id` to `ID` is not renaming `ID` to `Id`.
fn normalized(goal: &str) -> String {
    let spaced = goal.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut letters = spaced.chars();
    letters.next().into_iter().flat_map(char::to_lowercase).chain(letters).collect()
}

/// An entry of the cache.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CachedPlan {
    pub key: PlanKey,
    pub plan: SavedPlan,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct CacheStats {
    pub plans: u64,
    pub bytes: u64,
    pub expired: u64,
}

/// A file or directory of the cache cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", .path.display())]
pub struct PlanCacheError {
    pub path: PathBuf,
    pub source: std::io::Error,
}

/// The cached plans of one repository.
#[derive(Debug, Clone)]
pub struct PlanCache {
    directory: PathBuf,
}

impl PlanCache {
    /// The directory is created when the first plan is stored.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// A cached plan for this goal or for a similar one.
    pub fn find(&self, key: &PlanKey, settings: &CacheSettings) -> CachedPlanMatch {
        let exact = self.directory.join(format!("{}.json", key.file_name()));
        if let Some(entry) = is_fresh(&exact, settings)
            .then(|| read(&exact))
            .flatten()
            .filter(|entry| entry.key.file_name() == key.file_name())
        {
            touch(&exact);
            return CachedPlanMatch::Exact(entry.plan);
        }
        let near = self
            .files()
            .into_iter()
            .filter(|path| is_fresh(path, settings))
            .filter_map(|path| read(&path).map(|entry| (similarity(&entry.key.goal, &key.goal), path, entry)))
            .filter(|(similarity, ..)| *similarity >= settings.similarity)
            .max_by(|(one, ..), (other, ..)| one.total_cmp(other));
        match near {
            Some((_, path, entry)) => {
                touch(&path);
                CachedPlanMatch::Near(entry.plan)
            }
            None => CachedPlanMatch::Nothing,
        }
    }

    /// Stores a plan, and removes expired and surplus entries.
    pub fn store(
        &self,
        key: &PlanKey,
        plan: &SavedPlan,
        settings: &CacheSettings,
    ) -> Result<(), PlanCacheError> {
        let failed = |source| PlanCacheError { path: self.directory.clone(), source };
        std::fs::create_dir_all(&self.directory).map_err(failed)?;
        let entry = CachedPlan { key: key.clone(), plan: plan.clone() };
        let text = serde_json::to_vec(&entry).unwrap_or_default();
        let mut file = tempfile::NamedTempFile::new_in(&self.directory).map_err(failed)?;
        file.write_all(&text).map_err(failed)?;
        let path = self.directory.join(format!("{}.json", key.file_name()));
        file.persist(&path).map_err(|error| failed(error.error))?;
        self.evict(settings);
        Ok(())
    }

    pub fn stats(&self, settings: &CacheSettings) -> CacheStats {
        let mut stats = CacheStats::default();
        for path in self.files() {
            stats.plans += 1;
            stats.bytes += path.metadata().map_or(0, |found| found.len());
            stats.expired += u64::from(!is_fresh(&path, settings));
        }
        stats
    }

    /// Removes all plans, and returns how many there were.
    pub fn clear(&self) -> Result<u64, PlanCacheError> {
        let mut removed = 0;
        for path in self.files() {
            std::fs::remove_file(&path).map_err(|source| PlanCacheError { path, source })?;
            removed += 1;
        }
        Ok(removed)
    }

    fn evict(&self, settings: &CacheSettings) {
        let (fresh, expired): (Vec<PathBuf>, Vec<PathBuf>) =
            self.files().into_iter().partition(|path| is_fresh(path, settings));
        let mut by_use: Vec<(SystemTime, PathBuf)> =
            fresh.into_iter().map(|path| (last_used(&path), path)).collect();
        by_use.sort();
        let surplus = by_use.len().saturating_sub(settings.max_entries as usize);
        let surplus = by_use.into_iter().take(surplus).map(|(_, path)| path);
        // A file that cannot be removed now is tried again with the next plan.
        expired.into_iter().chain(surplus).for_each(|path| drop(std::fs::remove_file(path)));
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

fn read(path: &Path) -> Option<CachedPlan> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

fn last_used(path: &Path) -> SystemTime {
    path.metadata().and_then(|found| found.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
}

/// The modification time of the file is the time of the last use.
fn touch(path: &Path) {
    if let Ok(file) = std::fs::File::options().append(true).open(path) {
        drop(file.set_modified(SystemTime::now()));
    }
}

fn is_fresh(path: &Path, settings: &CacheSettings) -> bool {
    let ttl = Duration::from_secs(u64::from(settings.ttl));
    SystemTime::now().duration_since(last_used(path)).is_ok_and(|age| age <= ttl)
}

/// The similarity of two goals, from 0 to 1: the lower of edit distance and cosine similarity of the words.
fn similarity(one: &Redacted, other: &Redacted) -> f64 {
    let cut = |text: &Redacted| {
        normalized(text.as_str()).to_lowercase().chars().take(COMPARED_CHARACTERS).collect::<String>()
    };
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
