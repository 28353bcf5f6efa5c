//! `fixpoint status`, `show` and `explain`: one run, in a few lines or in detail.

use fixpoint_engine::Recorded;
use fixpoint_runs::{Diagnosis, RunDirectory, Status, Story, Summary, diagnosis_markdown, status_words};
use fixpoint_vocabulary::settings::CheckKind;
use fixpoint_vocabulary::{Lang, counted};
use serde_json::json;

use super::outcome::{screen, summary};
use crate::app_context::AppContext;
use crate::arguments::RunArguments;
use crate::failure::Failure;
use crate::language::say;
use crate::output::{Form, Output};
use crate::repository::Repository;
use crate::text_layout::{pad, shell_line};

/// A run that was read from the disk.
pub(super) struct LoadedRun {
    run: RunDirectory,
    pub(super) recorded: Recorded,
    story: Story,
    holder: Option<u32>,
}

impl LoadedRun {
    pub(super) fn find(name: &str, app: &AppContext) -> Result<Self, Failure> {
        let run = Repository::look(app)?.find(name)?;
        let opened = run.read()?;
        let story = Story::of(&opened.recorded);
        Ok(Self { run, story, recorded: opened.recorded, holder: opened.holder })
    }

    fn status(&self) -> Status {
        Status::of(self.story.run.standing(), self.holder)
    }

    fn summary(&self, lang: Lang) -> Summary {
        summary(&self.run, &self.recorded, self.holder, lang)
    }
}

pub(crate) fn status(arguments: &RunArguments, app: &AppContext, output: &mut Output) -> Result<(), Failure> {
    let loaded = LoadedRun::find(&arguments.run, app)?;
    let summary = loaded.summary(app.lang);
    match Form::from(arguments.json) {
        Form::Json => output.json(&json!({
            "run": summary.run,
            "status": summary.status,
            "phase": loaded.story.run.phase(),
            "cause": summary.cause,
            "pid": summary.pid,
            "attempts": summary.iterations.len(),
            "stage": loaded.story.iterations().last().map_or(1, |(_, last)| last.judged.counts.stage),
            "cost": summary.cost,
        })),
        Form::Text => status_lines(&loaded, &summary, app.lang).iter().try_for_each(|line| output.line(line)),
    }
}

fn status_lines(loaded: &LoadedRun, summary: &Summary, lang: Lang) -> Vec<String> {
    let (run, status) = (&summary.run, status_words(loaded.status(), lang));
    let (pid, ja_pid) =
        summary.pid.map(|pid| (format!(", process {pid}"), format!("、プロセス {pid}"))).unwrap_or_default();
    let phase = loaded.story.run.phase().title();
    let phase = phase.in_lang(lang);
    let cost = &summary.cost;
    let (attempts, checks, seconds, interruptions) =
        (cost.attempts, cost.check_runs, cost.seconds, cost.interruptions);
    vec![
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
        fixpoint_runs::explain(&loaded.recorded, &loaded.story, lang).what,
    ]
}

pub(crate) fn show(arguments: &RunArguments, app: &AppContext, output: &mut Output) -> Result<(), Failure> {
    let loaded = LoadedRun::find(&arguments.run, app)?;
    let summary = loaded.summary(app.lang);
    if Form::from(arguments.json) == Form::Json {
        return output.json(&summary);
    }
    for line in screen(&summary.run, &loaded.recorded, &loaded.story, app) {
        output.line(&line)?;
    }
    output.line("")?;
    for line in details(&loaded, &summary, app.lang) {
        output.line(&line)?;
    }
    for task in loaded.story.tasks.iter().filter(|task| Status::of_task(task.task.step()) == Status::Failed) {
        let diagnosis = Diagnosis::of(&loaded.recorded, task, app.lang);
        output.line("")?;
        output.text(&diagnosis_markdown(&diagnosis, &summary.run, app.lang))?;
    }
    Ok(())
}

/// What the run was started with and where its results are, one per line.
fn details(loaded: &LoadedRun, summary: &Summary, lang: Lang) -> Vec<String> {
    let line = |en: &str, ja: &str, value: &str| format!("{} {value}", pad(&say(lang, en, ja), 12));
    let mut lines = Vec::new();
    if let Some(brief) = &loaded.recorded.opening.brief {
        if !brief.agent.is_empty() {
            lines.push(line("agent", "エージェント", &shell_line(&brief.agent)));
        }
        lines.extend(brief.checks.iter().map(|placed| match placed.check.kind {
            CheckKind::Goal => line("goal", "目標", &placed.check.command),
            CheckKind::Guard => line("guard", "ガード", &placed.check.command),
        }));
        lines.push(line("repository", "リポジトリ", &brief.repository));
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
    let loaded = LoadedRun::find(&arguments.run, app)?;
    match Form::from(arguments.json) {
        Form::Json => {
            let told = fixpoint_runs::explain(&loaded.recorded, &loaded.story, app.lang);
            output.json(&json!({
                "run": loaded.run.id.0,
                "status": loaded.status(),
                "cause": loaded.story.cause(),
                "what": told.what,
                "evidence": told.evidence,
                "next": told.next,
            }))
        }
        Form::Text => screen(&loaded.run.id.0, &loaded.recorded, &loaded.story, app)
            .iter()
            .try_for_each(|line| output.line(line)),
    }
}
