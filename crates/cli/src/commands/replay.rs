//! `fixpoint replay`: a recorded run decided again.

use fixpoint_decide::run::{RunOrder, TaskSource};
use fixpoint_decide::task_run::TaskOrder;
use fixpoint_engine::replay;
use fixpoint_vocabulary::brief::Brief;
use serde_json::json;

use super::outcome::decision_words;
use crate::allowance;
use crate::app_context::AppContext;
use crate::arguments::ReplayArguments;
use crate::failure::Failure;
use crate::output::{Form, Output};
use crate::repository::Repository;

/// The exit code where something would have been decided otherwise without other settings: a defect, or another
/// version.
const NOT_IDENTICAL: u8 = 1;

pub(crate) fn run(arguments: &ReplayArguments, app: &AppContext, output: &mut Output) -> Result<u8, Failure> {
    let run = Repository::look(app)?.find(&arguments.run)?;
    let recorded = run.read()?;
    let (order, brief) = (recorded.header.order.clone(), recorded.header.brief.clone());
    let is_changed = !arguments.set.sets.is_empty();
    let (order, brief) = if is_changed { changed(&order, brief, arguments, app)? } else { (order, brief) };
    let replayed = replay(&recorded, order, brief);
    let difference = replayed.difference.as_ref().map(|difference| {
        let after = usize::try_from(difference.number).unwrap_or(usize::MAX);
        let judged = recorded.records.iter().skip(after).flat_map(|record| record.decision.task_decisions());
        (difference, judged.filter(|(_, decision)| decision.judged.is_some()).count())
    });
    match Form::from(arguments.json) {
        Form::Json => output.json(&json!({
            "run": run.id.0,
            "decisions": replayed.decisions,
            "identical": difference.is_none(),
            "difference": difference.as_ref().map(|(difference, after)| json!({
                "record": difference.number,
                "recorded": difference.recorded,
                "now": difference.now,
                "attempts_after": after,
            })),
        }))?,
        Form::Text => match &difference {
            None => output.line(&format!("{}: {} decisions, all the same", run.id, replayed.decisions))?,
            Some((difference, after)) => {
                output.line(&format!("{}: the same up to record {}", run.id, difference.number))?;
                output.line(&format!("  then: {}", decision_words(&difference.recorded, app.lang)))?;
                let now = difference.now.as_ref();
                let now = now.map_or_else(
                    || "the event would have no place".to_string(),
                    |now| decision_words(now, app.lang),
                );
                output.line(&format!("  now:  {now}"))?;
                output.line(&format!(
                    "  {after} attempts came after that and would not have been made, or not so"
                ))?;
            }
        },
    }
    Ok(if difference.is_some() && !is_changed { NOT_IDENTICAL } else { 0 })
}

/// The order with other settings: those the run had, with what was typed on top.
fn changed(
    order: &RunOrder,
    brief: Option<Brief>,
    arguments: &ReplayArguments,
    app: &AppContext,
) -> Result<(RunOrder, Option<Brief>), Failure> {
    let Some(brief) = brief else {
        return Err(Failure::BadInput("this run does not say which settings it had".into()));
    };
    let settings = app.changed(&brief.settings, &arguments.set)?;
    let order = match &order.tasks {
        TaskSource::Given(task) => {
            let under =
                TaskOrder::under(&settings, task.task.clone(), task.goals.clone(), task.guards.clone());
            let task = TaskOrder { implied_goals: task.implied_goals, test_edits: task.test_edits, ..under };
            RunOrder { budget: allowance::of(&settings.budget), ..RunOrder::given(task) }
        }
        TaskSource::Planned(_) => RunOrder { budget: allowance::of(&settings.budget), ..order.clone() },
    };
    Ok((order, Some(Brief { settings, ..brief })))
}
