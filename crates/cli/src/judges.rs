//! How much each judge's scores scatter, remembered beyond a run, for each repository.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fixpoint_decide::noise::{RepeatedScores, Sigma};
use fixpoint_decide::run::Run;
use fixpoint_engine::JournalHeader;
use fixpoint_vocabulary::Score;

use crate::output::Notices;
use crate::repository::Repository;

/// The judges of a repository by name: the model, and the version of the prompts it is asked with.
type Judges = BTreeMap<String, RepeatedScores>;

fn path(repository: &Repository) -> PathBuf {
    repository.state.memory().join("judges.json")
}

fn key(model: &str) -> String {
    format!("{model} {}", fixpoint_prompts::prompt_version())
}

fn read(repository: &Repository) -> Judges {
    let content = std::fs::read(path(repository)).unwrap_or_default();
    serde_json::from_slice(&content).unwrap_or_default()
}

/// How a judge's scores scatter, where that was measured.
pub(crate) fn sigma(repository: &Repository, model: &str) -> Option<Sigma> {
    read(repository).get(&key(model)).and_then(RepeatedScores::sigma)
}

/// Remembers scores that the same judge gave the same plan.
pub(crate) fn observe(repository: &Repository, model: &str, plans: &[Vec<Score>]) -> std::io::Result<()> {
    let mut judges = read(repository);
    let scores = judges.entry(key(model)).or_default();
    plans.iter().filter(|plan| plan.len() > 1).for_each(|plan| scores.observe(plan));
    let path = path(repository);
    let directory = repository.state.memory();
    std::fs::create_dir_all(&directory)?;
    let file = tempfile::NamedTempFile::new_in(&directory)?;
    serde_json::to_writer(&file, &judges)?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Remembers what a run's plans were scored.
pub(crate) fn remember(repository: &Repository, opening: &JournalHeader, run: &Run, notices: Notices) {
    let Some(brief) = &opening.brief else { return };
    let plans: Vec<Vec<Score>> = run.review().revisions.iter().map(|plan| plan.scores()).collect();
    if plans.iter().any(|plan| plan.len() > 1)
        && let Err(error) = observe(repository, &brief.settings.models.judge, &plans)
    {
        notices.say(&format!("the judge's scatter could not be remembered: {error}"));
    }
}
