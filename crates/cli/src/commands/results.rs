//! `fixpoint diff`, `apply` and `logs`: what a run changed and what it printed.

use std::path::PathBuf;

use fixpoint_execute::{agent_log, check_log, path_text};
use fixpoint_ports::{CommitId, DiffStyle, FileChange, Workspaces};
use fixpoint_runs::{FinishedChecks, LoadedRun};
use fixpoint_vocabulary::work::CheckReport;
use fixpoint_vocabulary::{Cause, counted};
use fixpoint_workspaces::ApplyOutcome;
use serde_json::{Value, json};

use crate::app_context::AppContext;
use crate::arguments::{ApplyArguments, DiffArguments, LogsArguments};
use crate::failure::Failure;
use crate::language::say;
use crate::output::{Form, Output};
use crate::repository::Repository;

/// The exit code where files in the working tree are in the way.
const CONFLICT: u8 = 5;

/// A run with its repository.
struct FoundRun {
    repository: Repository,
    run: LoadedRun,
}

fn find(name: &str, app: &AppContext) -> Result<FoundRun, Failure> {
    let repository = Repository::look(app)?;
    let run = repository.find(name)?.load()?;
    Ok(FoundRun { repository, run })
}

impl FoundRun {
    /// Whether all of it or a part of it is done, so that there is a result.
    fn has_result(&self) -> bool {
        matches!(self.run.view().cause(), Some(Cause::Done | Cause::Partial))
    }

    /// The base, and the commit of the result or of an attempt.
    fn commits(&self, attempt: Option<u32>) -> Result<(CommitId, CommitId), Failure> {
        let nothing = |what: &str| Failure::BadInput(format!("{} has no {what} yet", self.run.directory.id));
        let base = self.run.view().base().ok_or_else(|| nothing("base"))?;
        let result = match attempt {
            None => self.run.view().result().ok_or_else(|| nothing("result"))?,
            Some(number) => {
                let mut iterations = self.run.view().iterations().map(|(_, iteration)| iteration);
                let found = iterations.find(|iteration| iteration.number == number);
                found.ok_or_else(|| self.no_attempt(number))?.judged.commit.clone()
            }
        };
        self.require_commits(&base.commit, &result)?;
        Ok((base.commit.clone(), result))
    }

    /// Fails if the commits are gone, as after the repository was deleted and created again at the same path.
    fn require_commits(&self, base: &CommitId, result: &CommitId) -> Result<(), Failure> {
        for commit in [base, result] {
            if !self.repository.workspaces.has_commit(commit)? {
                return Err(Failure::BadInput(format!(
                    "the commits of {} are no longer in this repository; if it was created again at the same path, \
                     this run belongs to the former one",
                    self.run.directory.id
                )));
            }
        }
        Ok(())
    }

    fn no_attempt(&self, number: u32) -> Failure {
        let (id, last) = (&self.run.directory.id, self.last_attempt());
        Failure::BadInput(format!("{id} has no attempt {number}; it has {last}"))
    }

    fn last_attempt(&self) -> u32 {
        self.run.view().iterations().map(|(_, iteration)| iteration.number).max().unwrap_or(0)
    }
}

pub(crate) fn diff(arguments: &DiffArguments, app: &AppContext, output: &mut Output) -> Result<(), Failure> {
    let found = find(&arguments.target.run, app)?;
    let (base, result) = found.commits(arguments.attempt)?;
    let workspaces = &found.repository.workspaces;
    match Form::from(arguments.target.json) {
        Form::Json => {
            let changed = workspaces.changes(&base, &result)?;
            let file = |change: &FileChange| {
                let kind = format!("{:?}", change.kind).to_lowercase();
                json!({ "path": path_text(&change.path), "kind": kind, "lines": change.lines })
            };
            let files: Vec<Value> = changed.iter().map(file).collect();
            let patch = workspaces.diff(&base, &result, DiffStyle::CompletePatch)?;
            output.json(&json!({
                "run": found.run.directory.id.0,
                "base": base,
                "result": result,
                "done": found.run.view().cause() == Some(Cause::Done),
                "files": files,
                "patch": String::from_utf8_lossy(&patch),
            }))
        }
        Form::Text => {
            if !found.has_result() && arguments.attempt.is_none() {
                app.notice(
                    "this run is not done; this is its best attempt",
                    "この実行は完了していません。以下は最良の試行です",
                );
            }
            let style = if arguments.stat { DiffStyle::Stat } else { DiffStyle::CompletePatch };
            output.bytes(&workspaces.diff(&base, &result, style)?)
        }
    }
}

pub(crate) fn apply(
    arguments: &ApplyArguments,
    app: &AppContext,
    output: &mut Output,
) -> Result<u8, Failure> {
    let found = find(&arguments.target.run, app)?;
    let (base, result) = found.commits(arguments.attempt)?;
    if !found.has_result() && arguments.attempt.is_none() {
        let iterations = found.run.view().iterations().map(|(_, iteration)| iteration);
        let best = iterations.filter(|iteration| iteration.judged.commit == result).last();
        let (id, number) = (&found.run.directory.id, best.map_or(1, |iteration| iteration.number));
        return Err(Failure::BadInput(format!(
            "{id} is not done; to apply its best attempt anyway: fixpoint apply {id} --attempt {number}"
        )));
    }
    let applied = found.repository.workspaces.apply(&base, &result)?;
    let (word, paths, code) = match &applied {
        ApplyOutcome::Written(paths) => ("written", paths, 0),
        ApplyOutcome::Conflict(paths) => ("conflict", paths, CONFLICT),
        ApplyOutcome::Submodules(paths) => ("submodules", paths, CONFLICT),
    };
    let paths: Vec<String> = paths.iter().map(|path| path_text(path)).collect();
    let (run, lang, number) = (&found.run.directory.id.0, app.lang, paths.len());
    if Form::from(arguments.target.json) == Form::Json {
        output.json(&json!({ "run": run, "applied": word, "paths": paths }))?;
        return Ok(code);
    }
    output.line(&match &applied {
        ApplyOutcome::Written(_) if paths.is_empty() => {
            say(lang, "nothing to apply: the working tree has all changes", "適用済みです。変更はありません")
        }
        ApplyOutcome::Written(_) => say(
            lang,
            format!("{} written to the working tree; the index is unchanged", counted(number, "file")),
            format!("作業ツリーに{number}ファイルを書き込みました（インデックスは変更していません）"),
        ),
        ApplyOutcome::Submodules(_) => say(
            lang,
            "nothing was written: the result changes submodules, which `apply` never touches",
            "何も書き込んでいません。成果物はサブモジュールを変更していますが、`apply` はサブモジュールに触れません",
        ),
        ApplyOutcome::Conflict(_) => say(
            lang,
            "nothing was written: these files were also changed in the working tree",
            "何も書き込んでいません。次のファイルは作業ツリーでも変更されています",
        ),
    })?;
    output.lines(paths.iter().map(|path| format!("  {path}")))?;
    if let ApplyOutcome::Conflict(_) = &applied {
        output.line(&say(
            lang,
            format!("→ commit your work, then: git merge fixpoint/{run}"),
            format!("→ 作業をコミットしてから: git merge fixpoint/{run}"),
        ))?;
    }
    Ok(code)
}

/// A file with output.
struct Log {
    /// 0 for the checks at the base.
    attempt: u32,
    /// The name of the check; `None` for the agent.
    check: Option<String>,
    path: PathBuf,
}

pub(crate) fn logs(arguments: &LogsArguments, app: &AppContext, output: &mut Output) -> Result<(), Failure> {
    let found = find(&arguments.target.run, app)?;
    let is_wanted = |log: &&Log| {
        let of_kind = match (arguments.agent, arguments.checks) {
            (true, _) => log.check.is_none(),
            (false, true) => log.check.is_some(),
            (false, false) => true,
        };
        of_kind && arguments.attempt.is_none_or(|attempt| attempt == log.attempt)
    };
    let all = all_logs(&found.run);
    let last = all.iter().map(|log| log.attempt).max().unwrap_or(0).max(found.last_attempt());
    if let Some(number) = arguments.attempt.filter(|number| *number > last) {
        return Err(found.no_attempt(number));
    }
    let wanted: Vec<&Log> = all.iter().filter(is_wanted).collect();
    let is_cached = || {
        let history = found.run.view().history;
        !history.base_checks.is_empty() || history.tasks.iter().any(|task| !task.baseline.is_empty())
    };
    if wanted.is_empty() && arguments.attempt == Some(0) && is_cached() {
        app.notice(
            "no output: the baseline was cached, so the checks were not run before the first attempt",
            "出力はありません（保存済みのベースラインを使ったため、最初の試行の前にチェックを実行していません）",
        );
    } else if wanted.is_empty() {
        app.notice(
            "no output: nothing was printed, or the files were deleted",
            "出力はありません（何も出力されていないか、ファイルが削除されています）",
        );
    }
    for log in wanted {
        let (attempt, name) = (log.attempt, log.check.as_deref().unwrap_or("agent"));
        match Form::from(arguments.target.json) {
            Form::Json => output.json(&json!({
                "attempt": attempt, "of": name, "path": log.path.to_string_lossy()
            }))?,
            Form::Text => {
                output.line(&say(
                    app.lang,
                    format!("== attempt {attempt}: {name}"),
                    format!("== 試行{attempt}: {name}"),
                ))?;
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

/// Every log that exists, in the order of the run.
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
            check: Some(check_name(report.check)),
            path: check_log(&outputs, checks.command, call),
        };
        numbered.map(log).collect()
    };
    let agent = |attempt: u32, command| Log { attempt, check: None, path: agent_log(&outputs, command) };
    let base_checks = view.history.base_checks.iter().flat_map(|checks| of_checks(0, checks));
    let mut logs: Vec<Log> = base_checks.collect();
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
