//! `fixpoint history`: the records of a run, one line each.

use fixpoint_runs::{ReadRun, RunDamage, RunDirectory, RunError, planning_history};
use serde_json::json;

use super::list::local_time;
use crate::app_context::AppContext;
use crate::arguments::HistoryArguments;
use crate::failure::Failure;
use crate::output::{Form, Output};
use crate::record_words::{decision_words, event_words};
use crate::repository::Repository;
use crate::text_layout::pad;

pub(crate) fn run(
    arguments: &HistoryArguments,
    app: &AppContext,
    output: &mut Output,
) -> Result<(), Failure> {
    let run = Repository::look(app)?.find(&arguments.target.run)?;
    let ReadRun { recorded, damage } = run.read()?;
    if let Some(kind) = &arguments.kind {
        let mut lines = planning_history(&recorded, app.lang);
        lines.retain(|line| kind == "all" || line.kind == kind);
        lines.iter().try_for_each(|line| output.json(line))?;
        return end(&run, damage, Form::Json, output);
    }
    for (number, record) in (1u64..).zip(&recorded.records) {
        match Form::from(arguments.target.json) {
            Form::Json => output.json(&json!({
                "seq": number, "at_ms": record.at, "event": record.event, "decision": record.decision
            }))?,
            Form::Text => {
                let at = local_time(record.at);
                let event = pad(&event_words(&record.event, app.lang), 40);
                let next = decision_words(&record.decision, app.lang);
                output.line(&format!("{number:>4} {at}  {event} → {next}"))?;
            }
        }
    }
    end(&run, damage, arguments.target.json.into(), output)
}

/// A history that damage cuts short ends with an error, and in JSON also with an object about it.
fn end(
    run: &RunDirectory,
    damage: Option<RunDamage>,
    form: Form,
    output: &mut Output,
) -> Result<(), Failure> {
    let Some(damage) = damage else { return Ok(()) };
    match form {
        Form::Json => output.json(&json!({ "damage": damage }))?,
        Form::Text => {}
    }
    Err(RunError::Damaged { run: run.id.clone(), damage }.into())
}
