//! `fixpoint gc`: deletes old runs, workspaces and baselines; undelivered results only with `--force`.

use std::time::Duration;

use fixpoint_ports::Clock;
use fixpoint_runs::{RunDirectory, Status};
use fixpoint_vocabulary::{Cause, Lang, counted};
use serde_json::json;

use crate::app_context::AppContext;
use crate::arguments::GcArguments;
use crate::failure::Failure;
use crate::language::say;
use crate::output::{Form, Output};
use crate::repository::Repository;
use crate::session::WallClock;

const DAY: Duration = Duration::from_secs(24 * 3600);

/// What becomes of results that were never delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Undelivered {
    Kept,
    Deleted,
}

/// Why a run is not deleted.
enum KeepReason {
    Recent,
    Running,
    Undelivered,
    Unreadable(String),
}

pub(crate) fn run(arguments: &GcArguments, app: &AppContext, output: &mut Output) -> Result<(), Failure> {
    let (repository, lang) = (Repository::look(app)?, app.lang);
    let age = DAY.saturating_mul(u32::try_from(arguments.days).unwrap_or(u32::MAX));
    let undelivered = if arguments.force { Undelivered::Deleted } else { Undelivered::Kept };
    let (mut removed, mut kept) = (Vec::new(), Vec::new());
    for run in repository.state.list()? {
        match keep_reason(&run, age, undelivered) {
            None if arguments.dry_run => removed.push(run.id.0),
            None => match run.lock() {
                // It was resumed in the meantime.
                Err(_) => kept.push((run.id.0, say(lang, "running", "実行中"))),
                Ok(_lock) => {
                    delete(&repository, &run)?;
                    removed.push(run.id.0);
                }
            },
            Some(KeepReason::Recent) => {}
            Some(KeepReason::Running) => kept.push((run.id.0, say(lang, "running", "実行中"))),
            Some(KeepReason::Undelivered) => kept.push((
                run.id.0,
                say(
                    lang,
                    "has results that were not delivered; --force deletes it",
                    "納品されていない結果があります。削除するには --force",
                ),
            )),
            Some(KeepReason::Unreadable(why)) => kept.push((
                run.id.0,
                say(
                    lang,
                    format!("cannot be read: {why}; --force deletes it"),
                    format!("読み取れません: {why}。削除するには --force"),
                ),
            )),
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
            let deleted = Deleted { runs: &removed, workspaces: &slots, baselines: baselines.len() };
            let lines = if arguments.dry_run { deleted.dry_run(lang) } else { deleted.lines(lang) };
            lines.iter().try_for_each(|line| output.line(line))?;
            kept.iter().try_for_each(|(run, why)| {
                output.line(&say(lang, format!("kept {run}: {why}"), format!("保持 {run}: {why}")))
            })
        }
    }
}

/// What is deleted, or would be.
struct Deleted<'a> {
    runs: &'a [String],
    workspaces: &'a [String],
    baselines: usize,
}

impl Deleted<'_> {
    fn lines(&self, lang: Lang) -> Vec<String> {
        let runs = self.runs.iter().map(|run| say(lang, format!("deleted {run}"), format!("削除 {run}")));
        let workspaces = self.workspaces.iter().map(|workspace| {
            say(lang, format!("deleted workspace {workspace}"), format!("作業領域を削除 {workspace}"))
        });
        let (of_runs, of_workspaces, of_baselines) = (self.runs.len(), self.workspaces.len(), self.baselines);
        let sum = say(
            lang,
            format!(
                "deleted {}, {}, {}",
                counted(of_runs, "run"),
                counted(of_workspaces, "workspace"),
                counted(of_baselines, "baseline")
            ),
            format!("実行{of_runs}件、作業領域{of_workspaces}件、ベースライン{of_baselines}件を削除しました"),
        );
        runs.chain(workspaces).chain([sum]).collect()
    }

    fn dry_run(&self, lang: Lang) -> Vec<String> {
        let runs =
            self.runs.iter().map(|run| say(lang, format!("would delete {run}"), format!("削除対象 {run}")));
        let (of_runs, of_baselines) = (self.runs.len(), self.baselines);
        let sum = say(
            lang,
            format!(
                "would delete {}, unused workspaces, {}",
                counted(of_runs, "run"),
                counted(of_baselines, "baseline")
            ),
            format!("削除対象: 実行{of_runs}件、未使用の作業領域、ベースライン{of_baselines}件"),
        );
        runs.chain([sum]).collect()
    }
}

fn keep_reason(run: &RunDirectory, age: Duration, undelivered: Undelivered) -> Option<KeepReason> {
    if run.holder().is_some() {
        return Some(KeepReason::Running);
    }
    let loaded = match run.load() {
        Ok(loaded) => loaded,
        Err(_) if run.untouched_for() < age => return Some(KeepReason::Recent),
        Err(_) if undelivered == Undelivered::Deleted => return None,
        Err(error) => return Some(KeepReason::Unreadable(error.to_string())),
    };
    let view = loaded.view();
    let since = Duration::from_millis(WallClock.now_ms().saturating_sub(view.history.latest));
    if since < age {
        return Some(KeepReason::Recent);
    }
    let is_delivered = match Status::of(view.run.status(), None) {
        Status::Done => view.run.delivered().is_some() || view.cause() == Some(Cause::AlreadySatisfied),
        Status::Failed | Status::Paused | Status::Interrupted | Status::Running => {
            view.iterations().next().is_none() && view.cause() != Some(Cause::Stopped)
        }
    };
    (!is_delivered && undelivered == Undelivered::Kept).then_some(KeepReason::Undelivered)
}

/// Deletes a run's commits, then its directory: without the directory nobody would find the commits again.
fn delete(repository: &Repository, run: &RunDirectory) -> Result<(), Failure> {
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
