//! `fixpoint status`, `show` and `explain`: one run, in a few lines or in detail.

use fixpoint_runs::{Diagnosis, LoadedRun, Status, Summary, TaskView, diagnosis_markdown, status_words};
use fixpoint_vocabulary::settings::CheckKind;
use fixpoint_vocabulary::{Lang, Text, counted};
use serde_json::json;

use super::outcome::screen;
use crate::app_context::AppContext;
use crate::arguments::RunArguments;
use crate::failure::Failure;
use crate::language::say;
use crate::output::{Form, Output};
use crate::repository::Repository;
use crate::text_layout::{pad, shell_line};

fn load(name: &str, app: &AppContext) -> Result<LoadedRun, Failure> {
    Ok(Repository::look(app)?.find(name)?.load()?)
}

pub(crate) fn status(arguments: &RunArguments, app: &AppContext, output: &mut Output) -> Result<(), Failure> {
    let loaded = load(&arguments.run, app)?;
    let summary = loaded.summary(app.lang);
    match Form::from(arguments.json) {
        Form::Json => output.json(&json!({
            "run": summary.run,
            "status": summary.status,
            "damage": summary.damage,
            "phase": loaded.folded.run.phase(),
            "cause": summary.cause,
            "pid": summary.pid,
            "attempts": summary.iterations.len(),
            "stage": loaded.view().iterations().last().map_or(1, |(_, last)| last.judged.counts.stage),
            "cost": summary.cost,
        }))?,
        Form::Text => output.lines(status_lines(&loaded, &summary, app.lang))?,
    }
    Ok(loaded.require_whole()?)
}

fn status_lines(loaded: &LoadedRun, summary: &Summary, lang: Lang) -> Vec<String> {
    let (run, status) = (&summary.run, status_words(loaded.status(), lang));
    let (pid, ja_pid) =
        summary.pid.map(|pid| (format!(", process {pid}"), format!("、プロセス {pid}"))).unwrap_or_default();
    let is_failed = summary.status == Status::Failed;
    let phase = if is_failed { Text::new("ended", "終了") } else { loaded.folded.run.phase().title() };
    let phase = phase.in_lang(lang);
    let cost = &summary.cost;
    let (attempts, checks, seconds, interruptions) =
        (cost.attempts, cost.check_runs, cost.seconds, cost.interruptions);
    let explanation = loaded.explain(lang);
    let mut lines = vec![
        say(lang, format!("{run}: {status}{pid}"), format!("{run}: {status}{ja_pid}")),
        say(lang, format!("phase: {phase}"), format!("フェーズ: {phase}")),
        say(
            lang,
            format!(
                "{}, {}, {seconds} s of work, {}",
                counted(attempts, "attempt"),
                counted(checks, "check run"),
                counted(interruptions, "interruption")
            ),
            format!("試行{attempts}回、チェック{checks}回、作業時間{seconds}秒、中断{interruptions}回"),
        ),
        explanation.what,
    ];
    let is_told = matches!(loaded.status(), Status::Interrupted | Status::Damaged);
    lines.extend(explanation.next.into_iter().filter(|_| is_told));
    lines
}

pub(crate) fn show(arguments: &RunArguments, app: &AppContext, output: &mut Output) -> Result<(), Failure> {
    let loaded = load(&arguments.run, app)?;
    let summary = loaded.summary(app.lang);
    if Form::from(arguments.json) == Form::Json {
        output.json(&summary)?;
        return Ok(loaded.require_whole()?);
    }
    // This is the command that the advice names.
    let is_other = |line: &String| !line.starts_with("`fixpoint show`");
    let mut explanation = loaded.explain(app.lang);
    explanation.next.retain(is_other);
    output.lines(screen(&summary.run, loaded.view(), explanation, app))?;
    output.line("")?;
    output.lines(details(&loaded, &summary, app.lang))?;
    let is_failed = |task: &TaskView<'_>| Status::of_task(task.task.status()) == Status::Failed;
    let diagnosed = loaded.view().tasks().filter(|task| loaded.damage.is_none() && is_failed(task));
    for task in diagnosed {
        let mut diagnosis = Diagnosis::of(&loaded.folded.run, task, app.lang);
        diagnosis.next.retain(is_other);
        output.line("")?;
        output.text(&diagnosis_markdown(&diagnosis, &summary.run, app.lang))?;
    }
    Ok(loaded.require_whole()?)
}

/// What the run was started with and where its results are, one per line.
fn details(loaded: &LoadedRun, summary: &Summary, lang: Lang) -> Vec<String> {
    let line = |en: &str, ja: &str, value: &str| format!("{} {value}", pad(&say(lang, en, ja), 12));
    let mut lines = Vec::new();
    if let Some(spec) = &loaded.header.spec {
        if !spec.agent.is_empty() {
            lines.push(line("agent", "エージェント", &shell_line(&spec.agent)));
        }
        lines.extend(spec.checks.iter().map(|placed| match placed.check.kind {
            CheckKind::Goal => line("goal", "目標", &placed.check.command),
            CheckKind::Guard => line("guard", "ガード", &placed.check.command),
        }));
        lines.push(line("repository", "リポジトリ", &spec.repository));
    }
    let places = [
        ("base", "ベース", summary.base.as_deref()),
        ("result", "結果", summary.result.as_deref()),
        ("branch", "ブランチ", summary.branch.as_deref()),
        ("files", "ファイル", Some(summary.directory.as_str())),
    ];
    lines.extend(places.into_iter().filter_map(|(en, ja, value)| Some(line(en, ja, value?))));
    lines
}

pub(crate) fn explain(
    arguments: &RunArguments,
    app: &AppContext,
    output: &mut Output,
) -> Result<(), Failure> {
    let loaded = load(&arguments.run, app)?;
    match Form::from(arguments.json) {
        Form::Json => {
            let explanation = loaded.explain(app.lang);
            output.json(&json!({
                "run": loaded.directory.id.0,
                "status": loaded.status(),
                "damage": loaded.damage,
                "cause": loaded.cause(),
                "what": explanation.what,
                "evidence": explanation.evidence,
                "next": explanation.next,
            }))?;
        }
        Form::Text => {
            let explanation = loaded.explain(app.lang);
            output.lines(screen(&loaded.directory.id.0, loaded.view(), explanation, app))?;
        }
    }
    Ok(loaded.require_whole()?)
}
