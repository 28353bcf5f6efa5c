//! `fixpoint diff`, `apply` and `logs`: what a run changed and what it printed.

use std::path::PathBuf;

use fixpoint_execute::{agent_log, check_log, path_text};
use fixpoint_ports::{CommitId, DiffStyle, Workspaces};
use fixpoint_runs::{FinishedChecks, Iteration, LoadedRun};
use fixpoint_vocabulary::Cause;
use fixpoint_vocabulary::work::CheckReport;
use fixpoint_workspaces::ApplyOutcome;
use serde_json::{Value, json};

use crate::app_context::AppContext;
use crate::arguments::{ApplyArguments, DiffArguments, LogsArguments};
use crate::failure::Failure;
use crate::output::{Form, Output};
use crate::repository::Repository;

/// A run with its repository.
struct Opened {
    repository: Repository,
    run: LoadedRun,
}

fn open(name: &str, app: &AppContext) -> Result<Opened, Failure> {
    let repository = Repository::look(app)?;
    let run = repository.find(name)?.load()?;
    Ok(Opened { repository, run })
}

impl Opened {
    /// Whether it has a result that was handed over: of all that was asked for, or of a part of it.
    fn is_delivered(&self) -> bool {
        matches!(self.run.view().cause(), Some(Cause::Done | Cause::Partial))
    }

    /// The base, and the commit of an attempt or the result.
    fn ends(&self, attempt: Option<u32>) -> Result<(CommitId, CommitId), Failure> {
        let nothing = |what: &str| Failure::BadInput(format!("{} has no {what} yet", self.run.directory.id));
        let base = self.run.view().base().ok_or_else(|| nothing("base"))?;
        let result = match attempt {
            None => self.run.view().result().ok_or_else(|| nothing("result"))?,
            Some(number) => {
                let mut iterations = self.run.view().iterations().map(|(_, iteration)| iteration);
                let found = iterations.find(|iteration| iteration.number == number);
                found.ok_or_else(|| nothing(&format!("attempt {number}")))?.judged.commit.clone()
            }
        };
        Ok((base.commit.clone(), result))
    }
}

pub(crate) fn diff(arguments: &DiffArguments, app: &AppContext, output: &mut Output) -> Result<(), Failure> {
    let opened = open(&arguments.run, app)?;
    let (base, result) = opened.ends(arguments.attempt)?;
    let workspaces = &opened.repository.workspaces;
    match Form::from(arguments.json) {
        Form::Json => {
            let changed = workspaces.changes(&base, &result)?;
            let files: Vec<Value> = changed
                .iter()
                .map(|change| {
                    json!({
                        "path": path_text(&change.path),
                        "kind": format!("{:?}", change.kind).to_lowercase(),
                        "lines": change.lines,
                    })
                })
                .collect();
            let patch = workspaces.diff(&base, &result, DiffStyle::Patch)?;
            output.json(&json!({
                "run": opened.run.directory.id.0,
                "base": base,
                "result": result,
                "done": opened.run.view().cause() == Some(Cause::Done),
                "files": files,
                "patch": String::from_utf8_lossy(&patch),
            }))
        }
        Form::Text => {
            if !opened.is_delivered() && arguments.attempt.is_none() {
                app.notices.say("this run is not done; what follows is its best attempt");
            }
            let style = if arguments.stat { DiffStyle::Stat } else { DiffStyle::Patch };
            output.bytes(&workspaces.diff(&base, &result, style)?)
        }
    }
}

pub(crate) fn apply(
    arguments: &ApplyArguments,
    app: &AppContext,
    output: &mut Output,
) -> Result<u8, Failure> {
    let opened = open(&arguments.run, app)?;
    let (base, result) = opened.ends(arguments.attempt)?;
    if !opened.is_delivered() && arguments.attempt.is_none() {
        let iterations: Vec<&Iteration> =
            opened.run.view().iterations().map(|(_, iteration)| iteration).collect();
        let best = iterations.iter().rev().find(|iteration| iteration.judged.commit == result);
        let number = best.map_or(1, |iteration| iteration.number);
        return Err(Failure::BadInput(format!(
            "{} is not done; to take its best attempt all the same: fixpoint apply {} --attempt {number}",
            opened.run.directory.id, opened.run.directory.id
        )));
    }
    let (word, paths, code) = match opened.repository.workspaces.apply(&base, &result)? {
        ApplyOutcome::Written(paths) => ("written", paths, 0),
        ApplyOutcome::Conflict(paths) => ("conflict", paths, 5),
    };
    let paths: Vec<String> = paths.iter().map(|path| path_text(path)).collect();
    match Form::from(arguments.json) {
        Form::Json => {
            output.json(&json!({ "run": opened.run.directory.id.0, "applied": word, "paths": paths }))?
        }
        Form::Text if code == 0 => {
            output.line(&match paths.len() {
                0 => "the working tree has it all already".to_string(),
                1 => "1 file written into the working tree; the index is as it was".to_string(),
                many => format!("{many} files written into the working tree; the index is as it was"),
            })?;
            paths.iter().try_for_each(|path| output.line(&format!("  {path}")))?;
        }
        Form::Text => {
            output.line("nothing was changed: these files were changed here too, or are in the way")?;
            paths.iter().try_for_each(|path| output.line(&format!("  {path}")))?;
            output.line(&format!(
                "→ commit your work, then merge the branch: git merge fixpoint/{}",
                opened.run.directory.id
            ))?;
        }
    }
    Ok(code)
}

/// A file with output, and what it is of.
struct Log {
    attempt: u32,
    of: String,
    path: PathBuf,
}

pub(crate) fn logs(arguments: &LogsArguments, app: &AppContext, output: &mut Output) -> Result<(), Failure> {
    let opened = open(&arguments.run, app)?;
    let is_wanted = |log: &&Log| {
        let of_kind = match (arguments.agent, arguments.checks) {
            (true, _) => log.of == "agent",
            (false, true) => log.of != "agent",
            (false, false) => true,
        };
        of_kind && arguments.attempt.is_none_or(|attempt| attempt == log.attempt)
    };
    let all = all_logs(&opened.run);
    let wanted: Vec<&Log> = all.iter().filter(is_wanted).collect();
    if wanted.is_empty() {
        app.notices.say("nothing was printed, or its files are gone");
    }
    for log in wanted {
        match Form::from(arguments.json) {
            Form::Json => output.json(&json!({
                "attempt": log.attempt, "of": log.of, "path": log.path.to_string_lossy()
            }))?,
            Form::Text => {
                output.line(&format!("== attempt {}: {}", log.attempt, log.of))?;
                let content = std::fs::read(&log.path)
                    .map_err(|source| Failure::Unreadable { path: log.path.clone(), source })?;
                output.bytes(&content)?;
                if !content.ends_with(b"\n") {
                    output.line("")?;
                }
            }
        }
    }
    Ok(())
}

/// Every log that exists, in the order of the run. The checks at the base belong to attempt 0.
fn all_logs(loaded: &LoadedRun) -> Vec<Log> {
    let outputs = loaded.directory.outputs();
    let view = loaded.view();
    let check_name = |number: u32| {
        let placed = view.run.checks().get(number as usize);
        placed.map_or_else(|| number.to_string(), |placed| placed.check.name.clone())
    };
    let of_checks = |attempt: u32, checks: &FinishedChecks| -> Vec<Log> {
        let numbered = checks.reports.iter().enumerate();
        let log = |(call, report): (usize, &CheckReport)| Log {
            attempt,
            of: check_name(report.check),
            path: check_log(&outputs, checks.command, call),
        };
        numbered.map(log).collect()
    };
    let agent =
        |attempt: u32, command| Log { attempt, of: "agent".into(), path: agent_log(&outputs, command) };
    let mut logs: Vec<Log> = Vec::new();
    for task in &view.history.tasks {
        logs.extend(task.baseline.iter().flat_map(|checks| of_checks(0, checks)));
        for iteration in &task.iterations {
            logs.extend(iteration.attempt.as_ref().map(|attempt| agent(iteration.number, attempt.command)));
            logs.extend(iteration.checks.iter().flat_map(|checks| of_checks(iteration.number, checks)));
        }
        let next = u32::try_from(task.iterations.len()).unwrap_or(u32::MAX).saturating_add(1);
        logs.extend(task.open_attempt().map(|attempt| agent(next, attempt.command)));
    }
    logs.retain(|log| log.path.is_file());
    logs
}
