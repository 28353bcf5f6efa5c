//! `fixpoint rm`: deletes one run with its records, output, prompts and commits.
//!
//! Never deletes a run that a process works on, nor a branch. What cannot be made again is deleted only with `--force`,
//! and the refusal names it.

use fixpoint_decide::run::RunStatus;
use fixpoint_ports::Workspaces;
use fixpoint_runs::{LoadedRun, RunDirectory, RunError, RunView};
use fixpoint_vocabulary::counted;
use serde_json::json;

use super::gc::{delete, has_undelivered_result};
use crate::app_context::AppContext;
use crate::arguments::RmArguments;
use crate::failure::Failure;
use crate::language::say;
use crate::output::{Form, Output};
use crate::repository::Repository;
use crate::terminal_text::harmless;
use crate::trust::is_confirmed;

/// Characters of the goal that the question shows.
const SHOWN: usize = 60;

pub(crate) fn run(arguments: &RmArguments, app: &AppContext, output: &mut Output) -> Result<(), Failure> {
    let repository = Repository::look(app)?;
    let run = repository.find(&arguments.run)?;
    refuse_running(&run)?;
    let loaded = run.load();
    if !arguments.force {
        match &loaded {
            Ok(loaded) => {
                let damaged = loaded.require_whole().map_err(|error| unknown_loss(&run, &error));
                damaged.and_then(|()| refuse_loss(&run, loaded.view()))?;
            }
            Err(RunError::NeverBegan { .. }) => {}
            Err(error) => {
                return Err(unknown_loss(&run, error));
            }
        }
    }
    if !arguments.yes && !is_agreed(&run, loaded.as_ref().ok(), app)? {
        return output.line(&say(app.lang, "nothing was deleted", "何も削除していません"));
    }
    let bytes = run.size();
    let lock = run.lock()?;
    // Changes that a dead process left in a workspace become commits of the run, which are then deleted with it.
    repository.workspaces.recover()?;
    delete(&repository, &run)?;
    drop(lock);
    let branch = loaded.as_ref().ok().and_then(|loaded| {
        let delivered = loaded.view().run.delivered()?;
        delivered.branch.as_ref().map(|branch| branch.name.clone())
    });
    tell(arguments, &run, bytes, branch.as_deref(), app, output)
}

fn tell(
    arguments: &RmArguments,
    run: &RunDirectory,
    bytes: u64,
    branch: Option<&str>,
    app: &AppContext,
    output: &mut Output,
) -> Result<(), Failure> {
    let id = &run.id;
    if Form::from(arguments.json) == Form::Json {
        return output.json(&json!({ "run": id.0, "removed": true, "bytes": bytes, "branch": branch }));
    }
    let kilobytes = bytes.div_ceil(1024);
    output.line(&say(
        app.lang,
        format!("deleted {id} ({kilobytes} KiB)"),
        format!("{id} を削除しました（{kilobytes} KiB）"),
    ))?;
    let kept = branch.map(|branch| {
        say(
            app.lang,
            format!("its branch stays; to delete it: git branch -D {branch}"),
            format!("ブランチは残っています。削除するには: git branch -D {branch}"),
        )
    });
    output.lines(kept)
}

fn refuse_running(run: &RunDirectory) -> Result<(), Failure> {
    match run.holder() {
        None => Ok(()),
        Some(_) => {
            Err(Failure::BadInput(format!("{id} is running; stop it first: fixpoint stop {id}", id = run.id)))
        }
    }
}

fn unknown_loss(run: &RunDirectory, error: &RunError) -> Failure {
    Failure::BadInput(format!("{error}; --force deletes {} all the same", run.id))
}

/// Fails if something would be lost that cannot be made again, and names it.
fn refuse_loss(run: &RunDirectory, view: RunView<'_>) -> Result<(), Failure> {
    let id = &run.id;
    let attempts = view
        .iterations()
        .filter(|(_, made)| made.attempt.as_ref().is_some_and(|attempt| attempt.result.changed_files > 0));
    let commits: Vec<&str> = attempts.map(|(_, made)| made.judged.commit.as_str()).collect();
    if has_undelivered_result(view) {
        let latest = commits.last().map(|commit| commit.chars().take(12).collect::<String>());
        let latest = latest.map(|commit| format!(", the latest is commit {commit}")).unwrap_or_default();
        return Err(Failure::BadInput(format!(
            "{id} has changes that were not delivered: {} with changes{latest}; look at them with `fixpoint diff {id}`; \
             --force deletes them",
            counted(commits.len(), "attempt")
        )));
    }
    match view.run.status() {
        RunStatus::Ended { .. } => Ok(()),
        RunStatus::New | RunStatus::Working | RunStatus::Paused { .. } => {
            let (tasks, made) = (view.run.tasks().count(), view.iterations().count());
            Err(Failure::BadInput(format!(
                "{id} is not finished, and `fixpoint resume {id}` could continue it; its {} and {} would be lost; \
                 --force deletes them",
                counted(tasks, "task"),
                counted(made, "attempt")
            )))
        }
    }
}

/// Asks the person at the terminal. Without one, `--yes` is required.
fn is_agreed(run: &RunDirectory, loaded: Option<&LoadedRun>, app: &AppContext) -> Result<bool, Failure> {
    let id = &run.id;
    if !app.can_ask() {
        return Err(Failure::BadInput(format!("nobody can be asked here; to delete {id}, add --yes")));
    }
    let goal = loaded.and_then(|loaded| loaded.header.spec.as_ref()).map(|spec| spec.goal.as_str());
    let goal: String = goal.unwrap_or_default().chars().take(SHOWN).collect();
    let goal = if goal.trim().is_empty() { String::new() } else { format!(" ({})", harmless(&goal)) };
    let question = say(
        app.lang,
        format!("Delete {id}{goal} with its records, output and commits? [y/N] "),
        format!("{id}{goal} を記録・出力・コミットとともに削除しますか？ [y/N] "),
    );
    is_confirmed(&question.replace('\n', " "))
}
