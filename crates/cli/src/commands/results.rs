//! `fixpoint diff` and `apply`: what a run changed.

use fixpoint_execute::path_text;
use fixpoint_ports::{CommitId, DiffStyle, FileChange, Workspaces};
use fixpoint_runs::LoadedRun;
use fixpoint_vocabulary::{Cause, counted};
use fixpoint_workspaces::ApplyOutcome;
use serde_json::{Value, json};

use crate::app_context::AppContext;
use crate::arguments::{ApplyArguments, DiffArguments};
use crate::failure::Failure;
use crate::language::say;
use crate::output::{Form, Output};
use crate::repository::Repository;

/// The exit code where files in the working tree are in the way.
const CONFLICT: u8 = 5;

/// A run with its repository.
pub(super) struct FoundRun {
    repository: Repository,
    pub(super) run: LoadedRun,
}

pub(super) fn find(name: &str, app: &AppContext) -> Result<FoundRun, Failure> {
    let repository = Repository::look(app)?;
    let run = repository.find(name)?.load()?;
    Ok(FoundRun { repository, run })
}

impl FoundRun {
    /// Whether all of it or a part of it is done, so that there is a result.
    fn has_result(&self) -> bool {
        matches!(self.run.cause(), Some(Cause::Done | Cause::Partial))
    }

    /// The base, and the commit of the result or of an attempt.
    fn commits(&self, attempt: Option<u32>) -> Result<(CommitId, CommitId), Failure> {
        // Of a damaged run it may only be unknown.
        let nothing = |what: &str| match self.run.require_whole() {
            Ok(()) => Failure::BadInput(format!("{} has no {what} yet", self.run.directory.id)),
            Err(damaged) => damaged.into(),
        };
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

    pub(super) fn no_attempt(&self, number: u32) -> Failure {
        let (id, last) = (&self.run.directory.id, self.last_attempt());
        if let Err(damaged) = self.run.require_whole() {
            return damaged.into();
        }
        Failure::BadInput(format!("{id} has no attempt {number}; it has {last}"))
    }

    pub(super) fn last_attempt(&self) -> u32 {
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
                "done": found.run.cause() == Some(Cause::Done),
                "damage": found.run.damage,
                "files": files,
                "patch": String::from_utf8_lossy(&patch),
            }))?;
        }
        Form::Text => {
            if !found.has_result() && arguments.attempt.is_none() {
                app.notice(
                    "this run is not done; this is its best attempt",
                    "この実行は完了していません。以下は最良の試行です",
                );
            }
            let style = if arguments.stat { DiffStyle::Stat } else { DiffStyle::CompletePatch };
            output.bytes(&workspaces.diff(&base, &result, style)?)?;
        }
    }
    Ok(found.run.require_whole()?)
}

pub(crate) fn apply(
    arguments: &ApplyArguments,
    app: &AppContext,
    output: &mut Output,
) -> Result<u8, Failure> {
    let found = find(&arguments.target.run, app)?;
    // An attempt that was judged before the damage is known; whether the run is done is not.
    if arguments.attempt.is_none() {
        found.run.require_whole()?;
    }
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
