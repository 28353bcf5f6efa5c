//! `fixpoint list`, `status`, `show`, `history` and `explain`.

use fixpoint_runs::{
    Diagnosis, LoadedRun, Status, Summary, TaskView, cause_name, diagnosis_markdown, planning_history,
};
use fixpoint_vocabulary::ask::Reading;
use fixpoint_vocabulary::work::{CommandEnd, CommandResult, Event};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::json;

use super::outcome::{decision_words, screen};
use crate::app_context::AppContext;
use crate::arguments::{HistoryArguments, ListArguments, RunArguments};
use crate::failure::Failure;
use crate::output::{Form, Output};
use crate::repository::Repository;
use crate::text_layout::shell_line;

fn load(name: &str, app: &AppContext) -> Result<LoadedRun, Failure> {
    Ok(Repository::look(app)?.find(name)?.load()?)
}

pub(crate) fn list(arguments: &ListArguments, app: &AppContext, output: &mut Output) -> Result<(), Failure> {
    let runs = Repository::look(app)?.state.list()?;
    if runs.is_empty() && Form::from(arguments.json) == Form::Text {
        app.notices.say("this repository has no runs yet; `fixpoint loop --help` says how to begin one");
    }
    for run in runs.into_iter().take(arguments.number) {
        // One that cannot be read must not hide the others.
        let line = match run.load() {
            Err(error) => match Form::from(arguments.json) {
                Form::Json => json!({ "run": run.id.0, "error": error.to_string() }).to_string(),
                Form::Text => format!("{}  cannot be read: {error}", run.id),
            },
            Ok(loaded) => {
                let summary = loaded.summary(app.lang);
                let goal = loaded.header.brief.as_ref().map(|brief| brief.goal.to_string());
                let goal: String =
                    goal.unwrap_or_default().lines().next().unwrap_or_default().chars().take(40).collect();
                match Form::from(arguments.json) {
                    Form::Json => list_json(&summary, &goal).to_string(),
                    Form::Text => list_line(&summary, &goal),
                }
            }
        };
        output.line(&line)?;
    }
    Ok(())
}

fn list_json(summary: &Summary, goal: &str) -> serde_json::Value {
    json!({
        "run": summary.run,
        "status": summary.status,
        "cause": summary.cause,
        "attempts": summary.iterations.len(),
        "began_ms": summary.began_ms,
        "branch": summary.branch,
        "goal": goal,
    })
}

fn list_line(summary: &Summary, goal: &str) -> String {
    let cause = summary.cause.map(cause_name).unwrap_or_default();
    format!(
        "{:21} {:12} {:18} {:>3} attempts  {}  {goal}",
        summary.run,
        summary.status.name(),
        cause,
        summary.iterations.len(),
        when(summary.began_ms)
    )
}

/// A time as people here write it.
fn when(milliseconds: u64) -> String {
    let at = Timestamp::from_millisecond(i64::try_from(milliseconds).unwrap_or(0)).unwrap_or_default();
    at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}

pub(crate) fn status(arguments: &RunArguments, app: &AppContext, output: &mut Output) -> Result<(), Failure> {
    let loaded = load(&arguments.run, app)?;
    let summary = loaded.summary(app.lang);
    match Form::from(arguments.json) {
        Form::Json => output.json(&json!({
            "run": summary.run,
            "status": summary.status,
            "cause": summary.cause,
            "pid": summary.pid,
            "attempts": summary.iterations.len(),
            "stage": loaded.view().iterations().last().map_or(1, |(_, last)| last.judged.counts.stage),
            "cost": summary.cost,
        })),
        Form::Text => {
            let pid = summary.pid.map(|pid| format!(", process {pid}")).unwrap_or_default();
            output.line(&format!("{} {}{pid}", summary.run, loaded.status().name()))?;
            output.line(&format!(
                "{} attempts, {} check runs, {} s of work, {} interruptions",
                summary.cost.attempts,
                summary.cost.check_runs,
                summary.cost.seconds,
                summary.cost.interruptions
            ))?;
            let what = fixpoint_runs::explain(loaded.view(), app.lang).what;
            output.line(&what)
        }
    }
}

pub(crate) fn show(arguments: &RunArguments, app: &AppContext, output: &mut Output) -> Result<(), Failure> {
    let loaded = load(&arguments.run, app)?;
    let summary = loaded.summary(app.lang);
    if Form::from(arguments.json) == Form::Json {
        return output.json(&summary);
    }
    for line in screen(&summary.run, loaded.view(), app.lang) {
        output.line(&line)?;
    }
    output.line("")?;
    if let Some(brief) = &loaded.header.brief {
        output.line(&format!("agent      {}", shell_line(&brief.agent)))?;
        for placed in &brief.checks {
            output.line(&format!(
                "{:10} {}",
                format!("{:?}", placed.check.kind).to_lowercase(),
                placed.check.command
            ))?;
        }
        output.line(&format!("repository {}", brief.repository))?;
    }
    for (name, value) in [
        ("base", &summary.base),
        ("result", &summary.result),
        ("branch", &summary.branch),
        ("files", &Some(summary.directory.clone())),
    ] {
        if let Some(value) = value {
            output.line(&format!("{name:10} {value}"))?;
        }
    }
    let is_failed = |task: &TaskView<'_>| Status::of_task(task.task.status()) == Status::Failed;
    for task in loaded.view().tasks().filter(is_failed) {
        let diagnosis = Diagnosis::of(loaded.view().run, task, app.lang);
        output.line("")?;
        output.text(&diagnosis_markdown(&diagnosis, &summary.run, app.lang))?;
    }
    Ok(())
}

pub(crate) fn explain(
    arguments: &RunArguments,
    app: &AppContext,
    output: &mut Output,
) -> Result<(), Failure> {
    let loaded = load(&arguments.run, app)?;
    match Form::from(arguments.json) {
        Form::Json => {
            let told = fixpoint_runs::explain(loaded.view(), app.lang);
            output.json(&json!({
                "run": loaded.directory.id.0,
                "status": loaded.status(),
                "cause": loaded.view().cause(),
                "what": told.what,
                "evidence": told.evidence,
                "next": told.next,
            }))
        }
        Form::Text => screen(&loaded.directory.id.0, loaded.view(), app.lang)
            .iter()
            .try_for_each(|line| output.line(line)),
    }
}

/// What the planning history can hold.
const HISTORY_TYPES: [&str; 10] = [
    "all",
    "plan",
    "judgement",
    "refinement",
    "replan",
    "reflection",
    "revision",
    "action",
    "task",
    "completion",
];

pub(crate) fn history(
    arguments: &HistoryArguments,
    app: &AppContext,
    output: &mut Output,
) -> Result<(), Failure> {
    let recorded = Repository::look(app)?.find(&arguments.run)?.read()?;
    if let Some(kind) = &arguments.kind {
        if !HISTORY_TYPES.contains(&kind.as_str()) {
            let known = HISTORY_TYPES.join(", ");
            return Err(Failure::BadInput(format!("--type `{kind}`: there are {known}")));
        }
        let mut lines = planning_history(&recorded, app.lang);
        lines.retain(|line| kind == "all" || line.kind == kind);
        return lines.iter().try_for_each(|line| output.json(line));
    }
    for (number, record) in (1u64..).zip(&recorded.records) {
        match Form::from(arguments.json) {
            Form::Json => output.json(&json!({
                "seq": number, "at_ms": record.at, "event": record.event, "decision": record.decision
            }))?,
            Form::Text => {
                let at = when(record.at);
                let next = decision_words(&record.decision, app.lang);
                output.line(&format!("{number:>4} {at}  {:40} → {next}", event_words(&record.event)))?;
            }
        }
    }
    Ok(())
}

fn event_words(event: &Event) -> String {
    match event {
        Event::Begun => "begun".to_string(),
        Event::StopAsked => "a person asked to stop".to_string(),
        Event::Resumed { .. } => "resumed".to_string(),
        Event::Ended { command, end, took_ms } => {
            let what = match end {
                CommandEnd::Completed(CommandResult::Base(_)) => "base taken".to_string(),
                CommandEnd::Completed(CommandResult::Checks { reports }) => {
                    let failing: usize = reports.iter().map(|report| report.failures.len()).sum();
                    format!("{} checks ran, {failing} failures", reports.len())
                }
                CommandEnd::Completed(CommandResult::Attempt(result)) => {
                    format!("agent ended, {} files changed", result.changed_files)
                }
                CommandEnd::Completed(CommandResult::Grafted { .. }) => "files put back".to_string(),
                CommandEnd::Completed(CommandResult::Merged(merged)) => {
                    format!("two results together, {} conflicts", merged.conflicts.len())
                }
                CommandEnd::Completed(CommandResult::Answer(answer)) => match &answer.reading {
                    Reading::Document(_) => format!("{} answered", answer.model),
                    Reading::Unreadable { problem, .. } => format!("{}: unreadable: {problem}", answer.model),
                    Reading::Unanswered { why } => format!("no answer: {why}"),
                },
                CommandEnd::Completed(CommandResult::Person(_)) => "a person was asked".to_string(),
                CommandEnd::Completed(CommandResult::Recalled(_)) => "kept plans looked through".to_string(),
                CommandEnd::Completed(CommandResult::Kept) => "plan kept".to_string(),
                CommandEnd::Completed(CommandResult::Delivered(_)) => "result delivered".to_string(),
                CommandEnd::Failed { message } => format!("failed: {message}"),
                CommandEnd::Cancelled => "called off".to_string(),
                CommandEnd::Lost => "lost in a crash".to_string(),
            };
            format!("{command} {what} ({}.{:01} s)", took_ms / 1000, took_ms % 1000 / 100)
        }
    }
}
