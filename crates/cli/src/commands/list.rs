//! `fixpoint list`.

use fixpoint_runs::{RunDirectory, RunError, Summary, cause_name, status_words};
use fixpoint_vocabulary::{Lang, counted};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::app_context::AppContext;
use crate::arguments::ListArguments;
use crate::failure::Failure;
use crate::language::say;
use crate::output::{Form, Output};
use crate::repository::Repository;
use crate::text_layout::{fit, pad, shorten};

/// Columns of a goal that are shown.
const GOAL_WIDTH: usize = 40;

pub(crate) fn run(arguments: &ListArguments, app: &AppContext, output: &mut Output) -> Result<(), Failure> {
    let runs = Repository::look(app)?.state.list()?;
    let form = Form::from(arguments.json);
    if runs.is_empty() && form == Form::Text {
        app.notice(
            "this repository has no runs yet; see `fixpoint loop --help`",
            "このリポジトリにはまだ実行がありません。`fixpoint loop --help` を参照してください",
        );
    }
    for run in runs.into_iter().take(arguments.number) {
        // One that cannot be read must not hide the others.
        let line = match (run.load(), form) {
            (Err(error), Form::Json) => {
                output.json(&unread_json(&run, &error))?;
                continue;
            }
            (Err(error), Form::Text) => format!("{}  {}", run.id, unread_words(&error, app.lang)),
            (Ok(loaded), form) => {
                let summary = loaded.summary(app.lang);
                let goal = loaded.header.spec.as_ref().map(|spec| spec.goal.to_string());
                let goal = goal.unwrap_or_default().lines().next().unwrap_or_default().to_string();
                match form {
                    Form::Json => {
                        output.json(&json!({
                            "run": summary.run,
                            "status": summary.status,
                            "damage": summary.damage,
                            "cause": summary.cause,
                            "attempts": summary.iterations.len(),
                            "began_ms": summary.began_ms,
                            "branch": summary.branch,
                            "goal": fit(&goal, GOAL_WIDTH),
                        }))?;
                        continue;
                    }
                    Form::Text => as_line(&summary, &shorten(&goal, GOAL_WIDTH), app.lang),
                }
            }
        };
        output.line(&line)?;
    }
    Ok(())
}

/// A run of which nothing can be shown.
fn unread_json(run: &RunDirectory, error: &RunError) -> Value {
    let (status, damage) = match error {
        RunError::Damaged { damage, .. } => (Some("damaged"), Some(damage)),
        RunError::NeverBegan { .. } => (Some("never_began"), None),
        RunError::NoSuchRun(_)
        | RunError::NoRuns
        | RunError::Ambiguous { .. }
        | RunError::Unreadable { .. }
        | RunError::Held { .. }
        | RunError::Unavailable { .. } => (None, None),
    };
    json!({ "run": run.id.0, "status": status, "damage": damage, "error": error.to_string() })
}

fn unread_words(error: &RunError, lang: Lang) -> String {
    match error {
        RunError::Damaged { damage, .. } => {
            let problem = &damage.problem;
            say(lang, format!("damaged: {problem}"), format!("破損: {problem}"))
        }
        RunError::NeverBegan { .. } => say(
            lang,
            "never began: its process ended before the first record",
            "開始していません（最初の記録より前にプロセスが終了しました）",
        ),
        RunError::NoSuchRun(_)
        | RunError::NoRuns
        | RunError::Ambiguous { .. }
        | RunError::Unreadable { .. }
        | RunError::Held { .. }
        | RunError::Unavailable { .. } => {
            say(lang, format!("cannot be read: {error}"), format!("読み取れません: {error}"))
        }
    }
}

fn as_line(summary: &Summary, goal: &str, lang: Lang) -> String {
    let number = summary.cost.attempts;
    let attempts = say(lang, format!("{:>12}", counted(number, "attempt")), format!("試行{number:>3}回"));
    let line = format!(
        "{:21} {} {:18} {attempts}  {}  {goal}",
        summary.run,
        pad(status_words(summary.status, lang), 11),
        summary.cause.map(cause_name).unwrap_or_default(),
        local_time(summary.began_ms)
    );
    line.trim_end().to_string()
}

/// In the time zone of the user, to the minute.
pub(super) fn local_time(milliseconds: u64) -> String {
    let at = Timestamp::from_millisecond(i64::try_from(milliseconds).unwrap_or(0)).unwrap_or_default();
    at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}
