//! `fixpoint gc`: deletes old runs, workspaces and baselines; undelivered results only with `--force`, and never
//! a damaged run, of which nobody knows what it holds.

use std::time::Duration;

use fixpoint_decide::run::RunStatus;
use fixpoint_ports::Clock;
use fixpoint_runs::{FinishedAttempt, RunDirectory, RunError, RunView, TaskHistory};
use fixpoint_vocabulary::work::{BranchUpdate, Delivered, DeliveredBranch};
use fixpoint_vocabulary::{Cause, Lang, counted};
use fixpoint_workspaces::StoredRef;
use serde_json::json;

use crate::app_context::AppContext;
use crate::arguments::GcArguments;
use crate::failure::Failure;
use crate::language::say;
use crate::output::{Form, Output};
use crate::repository::Repository;
use crate::session::WallClock;

const DAY: Duration = Duration::from_secs(24 * 3600);
/// A run without records that is younger than this may be starting.
const STARTING: Duration = Duration::from_secs(60);

/// What becomes of results that were never delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Undelivered {
    Kept,
    Deleted,
}

/// Whether a run is deleted.
enum Fate {
    Delete,
    /// It is too young to be mentioned.
    Recent,
    /// It is kept, for this reason.
    Keep(String),
}

pub(crate) fn run(arguments: &GcArguments, app: &AppContext, output: &mut Output) -> Result<(), Failure> {
    let (repository, lang) = (Repository::look(app)?, app.lang);
    let age = DAY.saturating_mul(u32::try_from(arguments.days).unwrap_or(u32::MAX));
    let undelivered = if arguments.force { Undelivered::Deleted } else { Undelivered::Kept };
    let (mut removed, mut kept) = (Vec::new(), Vec::new());
    for run in repository.state.list()? {
        match fate(&repository, &run, age, undelivered, lang) {
            Fate::Recent => {}
            Fate::Keep(why) => kept.push((run.id.0, why)),
            Fate::Delete if arguments.dry_run => removed.push(run.id.0),
            Fate::Delete => match run.lock() {
                // It was resumed in the meantime.
                Err(RunError::Held { .. }) => kept.push((run.id.0, say(lang, "running", "実行中"))),
                Err(error) => kept.push((run.id.0, error.to_string())),
                Ok(_lock) => {
                    delete(&repository, &run)?;
                    removed.push(run.id.0);
                }
            },
        }
    }
    let slots = if arguments.dry_run { Vec::new() } else { repository.workspaces.prune_slots(age)? };
    let baselines = old_baselines(&repository, age.min(DAY));
    if !arguments.dry_run {
        for path in &baselines {
            std::fs::remove_file(path)
                .map_err(|source| Failure::Unwritable { path: path.clone(), source })?;
        }
    }
    match Form::from(arguments.json) {
        Form::Json => output.json(&json!({
            "dry_run": arguments.dry_run,
            "removed": removed,
            "workspaces": slots,
            "baselines": baselines.len(),
            "kept": kept.iter().map(|(run, why)| json!({ "run": run, "why": why })).collect::<Vec<_>>(),
        })),
        Form::Text => {
            let (en, ja) =
                if arguments.dry_run { ("would delete", "削除対象") } else { ("deleted", "削除") };
            output.lines(removed.iter().map(|run| format!("{} {run}", say(lang, en, ja))))?;
            let workspace = say(lang, "deleted workspace", "作業領域を削除");
            output.lines(slots.iter().map(|slot| format!("{workspace} {slot}")))?;
            let workspaces = (!arguments.dry_run).then_some(slots.len());
            output.line(&sum(removed.len(), workspaces, baselines.len(), lang))?;
            let kept_word = say(lang, "kept", "保持");
            output.lines(kept.iter().map(|(run, why)| format!("{kept_word} {run}: {why}")))
        }
    }
}

/// How much was deleted; `workspaces` is `None` in a dry run, which does not look for them.
fn sum(runs: usize, workspaces: Option<usize>, baselines: usize, lang: Lang) -> String {
    let (of_runs, of_baselines) = (counted(runs, "run"), counted(baselines, "baseline"));
    match workspaces {
        Some(number) => say(
            lang,
            format!("deleted {of_runs}, {}, {of_baselines}", counted(number, "workspace")),
            format!("実行{runs}件、作業領域{number}件、ベースライン{baselines}件を削除しました"),
        ),
        None => say(
            lang,
            format!("would delete {of_runs}, unused workspaces, {of_baselines}"),
            format!("削除対象: 実行{runs}件、未使用の作業領域、ベースライン{baselines}件"),
        ),
    }
}

fn fate(repository: &Repository, run: &RunDirectory, age: Duration, rule: Undelivered, lang: Lang) -> Fate {
    let unread = |error: &RunError| {
        say(
            lang,
            format!("cannot be read: {error}; --force deletes it"),
            format!("読み取れません: {error}。削除するには --force"),
        )
    };
    match run.checked_holder() {
        Ok(None) => {}
        Ok(Some(_)) => return Fate::Keep(say(lang, "running", "実行中")),
        Err(error) => return Fate::Keep(error.to_string()),
    }
    let loaded = match run.load() {
        Ok(loaded) => loaded,
        Err(RunError::NeverBegan { .. }) if run.untouched_for() < STARTING => return Fate::Recent,
        Err(RunError::NeverBegan { .. }) => return Fate::Delete,
        Err(RunError::Damaged { .. }) => return Fate::Keep(damaged_words(run, lang)),
        // It may be readable at another time.
        Err(error @ RunError::Unavailable { .. }) => return Fate::Keep(error.to_string()),
        Err(_) if run.untouched_for() < age => return Fate::Recent,
        Err(_) if rule == Undelivered::Deleted => return Fate::Delete,
        Err(error) => return Fate::Keep(unread(&error)),
    };
    if loaded.damage.is_some() {
        return Fate::Keep(damaged_words(run, lang));
    }
    let view = loaded.view();
    let since = Duration::from_millis(WallClock.now_ms().saturating_sub(view.history.latest));
    if since < age {
        return Fate::Recent;
    }
    let is_kept = !matches!(view.run.status(), RunStatus::Ended { .. })
        || has_undelivered_result(view)
        || has_interrupted_work(repository, run);
    if !is_kept || rule == Undelivered::Deleted {
        return Fate::Delete;
    }
    Fate::Keep(say(
        lang,
        "has results that were not delivered, or can be resumed; --force deletes it",
        "納品されていない結果があるか、再開できます。削除するには --force",
    ))
}

fn damaged_words(run: &RunDirectory, lang: Lang) -> String {
    let id = &run.id;
    say(
        lang,
        format!("damaged, so what it holds is not known; `fixpoint rm --force {id}` deletes it"),
        format!("破損しており、内容が分かりません。削除するには `fixpoint rm --force {id}`"),
    )
}

/// Whether a run has changes that are in no branch, patch or file of the user.
pub(super) fn has_undelivered_result(view: RunView<'_>) -> bool {
    match view.run.status() {
        RunStatus::Ended { cause: Cause::AlreadySatisfied } => false,
        RunStatus::Ended { cause: Cause::Done } => !view.run.delivered().is_some_and(is_at_its_place),
        RunStatus::Ended { .. } | RunStatus::New | RunStatus::Working | RunStatus::Paused { .. } => {
            let changed = |made: &FinishedAttempt| made.result.changed_files > 0;
            let open = |task: &TaskHistory| task.open_attempt().is_some_and(changed);
            view.iterations().any(|(_, made)| made.attempt.as_ref().is_none_or(changed))
                || view.history.tasks.iter().any(open)
        }
    }
}

/// Whether a delivery wrote a branch or a patch: a branch that has moved on is not replaced.
fn is_at_its_place(delivered: &Delivered) -> bool {
    let is_updated = |branch: &DeliveredBranch| branch.update == BranchUpdate::Updated;
    delivered.patch.is_some() || [&delivered.branch, &delivered.into].into_iter().flatten().any(is_updated)
}

/// Whether work of an interrupted agent was saved as a commit. A list that cannot be read may have some.
fn has_interrupted_work(repository: &Repository, run: &RunDirectory) -> bool {
    let prefix = format!("{}/", run.id);
    let is_work = |stored: &StoredRef| {
        stored.reference.strip_prefix(&prefix).is_some_and(|name| name.contains("interrupted"))
    };
    repository.workspaces.stored_refs().map_or(true, |refs| refs.iter().any(is_work))
}

/// Deletes a run's commits, then its directory: without the directory the commits would not be found again.
pub(super) fn delete(repository: &Repository, run: &RunDirectory) -> Result<(), Failure> {
    let prefix = format!("{}/", run.id);
    let kept = repository.workspaces.stored_refs()?;
    let of_run: Vec<_> = kept.into_iter().filter(|kept| kept.reference.starts_with(&prefix)).collect();
    repository.workspaces.delete_refs(&of_run)?;
    Ok(run.remove()?)
}

fn old_baselines(repository: &Repository, age: Duration) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(repository.state.baselines()).into_iter().flatten().flatten();
    let is_old = |entry: &std::fs::DirEntry| {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        modified.is_ok_and(|modified| modified.elapsed().is_ok_and(|since| since > age))
    };
    entries.filter(is_old).map(|entry| entry.path()).collect()
}
