//! `fixpoint replay`: a recorded run decided again.

use fixpoint_decide::task_run::{Decision, TaskOrder};
use fixpoint_engine::replay;
use fixpoint_runs::Story;
use serde_json::json;

use super::outcome::step_words;
use crate::arguments::ReplayArguments;
use crate::failure::Failure;
use crate::output::{Form, Output};
use crate::repository::Repository;
use crate::surroundings::Surroundings;

/// The exit code where something would have been decided otherwise without other settings: a defect, or another
/// version.
const NOT_IDENTICAL: u8 = 1;

pub(crate) fn run(
    arguments: &ReplayArguments,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<u8, Failure> {
    let run = Repository::look(surroundings)?.find(&arguments.run)?;
    let recorded = run.read()?.recorded;
    let recorded_order = recorded.opening.order.clone();
    let is_changed = !arguments.set.sets.is_empty();
    let order = if is_changed {
        changed(&recorded_order, &recorded.opening.brief, arguments, surroundings)?
    } else {
        recorded_order
    };
    let replayed = replay(&recorded, order);
    let story = Story::of(&recorded);
    let difference = replayed.difference.as_ref().map(|difference| {
        // What was judged before this record was judged the same; what came after it would not have happened so.
        let before = recorded
            .records
            .iter()
            .take(usize::try_from(difference.number).unwrap_or(usize::MAX).saturating_sub(1));
        let kept = before.filter(|record| record.decision.judged.is_some()).count();
        (difference, story.iterations.len().saturating_sub(kept + 1))
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
                output.line(&format!("  then: {}", words(&difference.recorded, surroundings)))?;
                let now = difference.now.as_ref();
                let now = now.map_or_else(
                    || "the event would have no place".to_string(),
                    |now| words(now, surroundings),
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
    order: &TaskOrder,
    brief: &Option<fixpoint_vocabulary::brief::Brief>,
    arguments: &ReplayArguments,
    surroundings: &Surroundings,
) -> Result<TaskOrder, Failure> {
    let Some(brief) = brief else {
        return Err(Failure::BadInput("this run does not say which settings it had".into()));
    };
    let settings = surroundings.changed(&brief.settings, &arguments.set)?;
    let under = TaskOrder::under(&settings, order.task.clone(), order.goals.clone(), order.guards.clone());
    Ok(TaskOrder { implied_goals: order.implied_goals, test_edits: order.test_edits, ..under })
}

fn words(decision: &Decision, surroundings: &Surroundings) -> String {
    match &decision.judged {
        Some(judged) => format!(
            "{}; {}; then {}",
            judged.verdict.progress.name(),
            judged.verdict.reason.text.in_lang(surroundings.lang),
            step_words(decision.step)
        ),
        None => step_words(decision.step),
    }
}
