//! How much each judge's scores of the same plan vary, stored for each repository beyond a run.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fixpoint_decide::noise::{RepeatedScores, Sigma};
use fixpoint_decide::run::Run;
use fixpoint_vocabulary::Score;

use crate::app_context::AppContext;
use crate::repository::Repository;

/// Scores by judge: the model, and the version of the prompts it was asked with.
type ScoresByJudge = BTreeMap<String, RepeatedScores>;

fn path(repository: &Repository) -> PathBuf {
    repository.state.memory().join("judges.json")
}

fn key(model: &str) -> String {
    format!("{model} {}", fixpoint_prompts::prompt_version())
}

fn read(repository: &Repository) -> ScoresByJudge {
    let content = std::fs::read(path(repository)).unwrap_or_default();
    serde_json::from_slice(&content).unwrap_or_default()
}

/// The standard deviation of a judge's scores, where it was measured.
pub(crate) fn sigma(repository: &Repository, model: &str) -> Option<Sigma> {
    read(repository).get(&key(model)).and_then(RepeatedScores::sigma)
}

/// Adds scores that one judge gave; each inner list holds the scores of one plan.
pub(crate) fn add(repository: &Repository, model: &str, plans: &[Vec<Score>]) -> std::io::Result<()> {
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

/// Adds the scores of a run's plans.
pub(crate) fn add_from_run(repository: &Repository, run: &Run, app: &AppContext) {
    let Some(spec) = run.spec() else { return };
    let plans: Vec<Vec<Score>> = run.review().revisions.iter().map(|plan| plan.scores()).collect();
    if plans.iter().any(|plan| plan.len() > 1)
        && let Err(error) = add(repository, &spec.settings.models.judge, &plans)
    {
        app.notice(
            format!("the judge's scores could not be stored: {error}"),
            format!("判定者の採点を保存できません: {error}"),
        );
    }
}
