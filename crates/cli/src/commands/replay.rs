//! `fixpoint replay`: recomputes the decisions of a recorded run.

use fixpoint_decide::run::{RunOptions, TaskSource};
use fixpoint_decide::task_run::TaskOptions;
use fixpoint_engine::{Difference, replay};
use fixpoint_runs::{ReadRun, RunError};
use fixpoint_vocabulary::run_spec::RunSpec;
use fixpoint_vocabulary::{Lang, counted};
use serde_json::json;

use crate::allowance;
use crate::app_context::AppContext;
use crate::arguments::ReplayArguments;
use crate::failure::Failure;
use crate::language::say;
use crate::output::{Form, Output};
use crate::record_words::decision_words;
use crate::repository::Repository;

/// The exit code if a decision differs although no setting was changed: a defect, or another version.
const NOT_IDENTICAL: u8 = 1;

pub(crate) fn run(arguments: &ReplayArguments, app: &AppContext, output: &mut Output) -> Result<u8, Failure> {
    let run = Repository::look(app)?.find(&arguments.target.run)?;
    let ReadRun { recorded, damage } = run.read()?;
    let (options, spec) = (recorded.header.options.clone(), recorded.header.spec.clone());
    let is_changed = !arguments.set.sets.is_empty();
    let (options, spec) = if is_changed { changed(&options, spec, arguments, app)? } else { (options, spec) };
    let replayed = replay(&recorded, options, spec);
    let difference = replayed.difference.as_ref().map(|difference| {
        let after = usize::try_from(difference.number).unwrap_or(usize::MAX);
        let judged = recorded.records.iter().skip(after).flat_map(|record| record.decision.task_decisions());
        (difference, judged.filter(|(_, decision)| decision.judged.is_some()).count())
    });
    match Form::from(arguments.target.json) {
        Form::Json => output.json(&json!({
            "run": run.id.0,
            "decisions": replayed.decisions,
            "damage": damage,
            "identical": difference.is_none() && damage.is_none(),
            "difference": difference.as_ref().map(|(difference, after)| json!({
                "record": difference.number,
                "recorded": difference.recorded,
                "now": difference.now,
                "attempts_after": after,
            })),
        }))?,
        Form::Text => match &difference {
            None => {
                let (id, number) = (&run.id, replayed.decisions);
                output.line(&match &damage {
                    None => say(
                        app.lang,
                        format!("{id}: {}, all identical", counted(number, "decision")),
                        format!("{id}: {number}件の判定はすべて同一です"),
                    ),
                    Some(_) => say(
                        app.lang,
                        format!("{id}: {} before the damage, identical", counted(number, "decision")),
                        format!("{id}: 破損より前の{number}件の判定は同一です"),
                    ),
                })?;
            }
            Some((difference, after)) => {
                output.lines(difference_lines(&run.id.0, difference, *after, app.lang))?;
            }
        },
    }
    if let Some(damage) = damage {
        return Err(RunError::Damaged { run: run.id.clone(), damage }.into());
    }
    Ok(if difference.is_some() && !is_changed { NOT_IDENTICAL } else { 0 })
}

fn difference_lines(run: &str, difference: &Difference, after: usize, lang: Lang) -> Vec<String> {
    let number = difference.number;
    let recorded = decision_words(&difference.recorded, lang);
    let now = match &difference.now {
        Some(now) => decision_words(now, lang),
        None => say(lang, "this event could not happen", "このイベントは起こり得ない"),
    };
    vec![
        say(
            lang,
            format!("{run}: first difference at record {number}"),
            format!("{run}: レコード{number}で最初の相違"),
        ),
        say(lang, format!("  recorded: {recorded}"), format!("  記録: {recorded}")),
        say(lang, format!("  now:      {now}"), format!("  今回: {now}")),
        say(
            lang,
            format!("  after that, {} would have been different or not made", counted(after, "attempt")),
            format!("  それ以降の{after}回の試行は、異なるか行われません"),
        ),
    ]
}

/// The options with the run's own settings and `--set` on top.
fn changed(
    options: &RunOptions,
    spec: Option<RunSpec>,
    arguments: &ReplayArguments,
    app: &AppContext,
) -> Result<(RunOptions, Option<RunSpec>), Failure> {
    let Some(spec) = spec else {
        return Err(Failure::BadInput("this run has no recorded settings".into()));
    };
    let settings = app.changed(&spec.settings, &arguments.set)?;
    let options = match &options.tasks {
        TaskSource::Given(task) => {
            let under =
                TaskOptions::under(&settings, task.task.clone(), task.goals.clone(), task.guards.clone());
            let (implied_goals, test_edits) = (task.implied_goals, task.test_edits);
            RunOptions::given(TaskOptions { implied_goals, test_edits, ..under })
        }
        TaskSource::Planned(_) => options.clone(),
    };
    let options = RunOptions { budget: allowance::from_settings(&settings.budget), ..options };
    Ok((options, Some(RunSpec { settings, ..spec })))
}
