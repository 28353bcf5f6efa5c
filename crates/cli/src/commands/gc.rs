//! `fixpoint gc`: old runs and workspaces removed, undelivered work only when told to.

use std::time::Duration;

use fixpoint_ports::Clock;
use fixpoint_runs::{RunDirectory, Status, Story};
use fixpoint_vocabulary::Cause;
use serde_json::json;

use crate::arguments::GcArguments;
use crate::failure::Failure;
use crate::output::{Form, Output};
use crate::repository::Repository;
use crate::session::WallClock;
use crate::surroundings::Surroundings;

const DAY: Duration = Duration::from_secs(24 * 3600);

/// What work that was never delivered is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    Precious,
    Expendable,
}

/// Why a run stays.
enum Stays {
    Young,
    UnderWay,
    Undelivered,
    Unreadable(String),
}

pub(crate) fn run(
    arguments: &GcArguments,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<(), Failure> {
    let repository = Repository::look(surroundings)?;
    let age = DAY.saturating_mul(u32::try_from(arguments.days).unwrap_or(u32::MAX));
    let work = if arguments.force { Work::Expendable } else { Work::Precious };
    let (mut removed, mut kept) = (Vec::new(), Vec::new());
    for run in repository.home.list()? {
        match stays(&run, age, work) {
            None if arguments.dry_run => removed.push(run.id.0),
            None => match run.lock() {
                // Somebody took it up since it was looked at.
                Err(_) => kept.push((run.id.0, "is under way".to_string())),
                Ok(_lock) => {
                    forget(&repository, &run)?;
                    removed.push(run.id.0);
                }
            },
            Some(Stays::Young) => {}
            Some(Stays::UnderWay) => kept.push((run.id.0, "is under way".to_string())),
            Some(Stays::Undelivered) => {
                kept.push((run.id.0, "holds work that was not delivered; --force removes it".to_string()));
            }
            Some(Stays::Unreadable(why)) => {
                kept.push((run.id.0, format!("cannot be read: {why}; --force removes it")))
            }
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
            let word = if arguments.dry_run { "would remove" } else { "removed" };
            removed.iter().try_for_each(|run| output.line(&format!("{word} {run}")))?;
            slots.iter().try_for_each(|slot| output.line(&format!("{word} workspace {slot}")))?;
            kept.iter().try_for_each(|(run, why)| output.line(&format!("kept {run}: {why}")))?;
            let workspaces = if arguments.dry_run {
                "unused workspaces".to_string()
            } else {
                format!("{} workspaces", slots.len())
            };
            output.line(&format!(
                "{word} {} runs, {workspaces}, {} baselines",
                removed.len(),
                baselines.len()
            ))
        }
    }
}

fn stays(run: &RunDirectory, age: Duration, work: Work) -> Option<Stays> {
    if run.holder().is_some() {
        return Some(Stays::UnderWay);
    }
    let recorded = match run.read() {
        Ok(opened) => opened.recorded,
        Err(_) if run.untouched_for() < age => return Some(Stays::Young),
        Err(_) if work == Work::Expendable => return None,
        Err(error) => return Some(Stays::Unreadable(error.to_string())),
    };
    let story = Story::of(&recorded);
    let since = Duration::from_millis(WallClock.now_ms().saturating_sub(story.latest));
    if since < age {
        return Some(Stays::Young);
    }
    let is_delivered = match Status::of(story.run.standing(), None) {
        // A process that died just then has made no branch; `fixpoint resume` does.
        Status::Done => run.is_delivered() || story.cause() == Some(Cause::AlreadySatisfied),
        Status::Failed | Status::Paused | Status::Interrupted | Status::Running => {
            story.iterations().next().is_none() && story.cause() != Some(Cause::Stopped)
        }
    };
    (!is_delivered && work == Work::Precious).then_some(Stays::Undelivered)
}

/// Lets go of a run's commits, then of its directory: what has no directory any more is found by nobody.
fn forget(repository: &Repository, run: &RunDirectory) -> Result<(), Failure> {
    let prefix = format!("{}/", run.id);
    let kept = repository.workspaces.stored_refs()?;
    let of_run: Vec<_> = kept.into_iter().filter(|kept| kept.reference.starts_with(&prefix)).collect();
    repository.workspaces.delete_refs(&of_run)?;
    Ok(run.remove()?)
}

fn old_baselines(repository: &Repository, age: Duration) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(repository.home.baselines()).into_iter().flatten().flatten();
    let is_old = |entry: &std::fs::DirEntry| {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        modified.is_ok_and(|modified| modified.elapsed().is_ok_and(|since| since > age))
    };
    entries.filter(is_old).map(|entry| entry.path()).collect()
}
