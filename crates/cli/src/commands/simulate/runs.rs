//! `fixpoint simulate runs`: complete runs with made-up goals, compared with simpler policies.

use clap::Args;
use fixpoint_simulate::{RunPolicy, RunTally, simulate_runs};
use fixpoint_vocabulary::counted;
use fixpoint_vocabulary::settings::Settings;
use serde::Serialize;
use serde_json::json;

use crate::arguments::number;
use crate::failure::Failure;
use crate::output::Output;

#[derive(Debug, Args)]
pub(crate) struct RunsArguments {
    /// Random seed; the same seed gives the same table
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of goals
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = number::<u32>(1..=1_000_000))]
    runs: u32,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(
    arguments: &RunsArguments,
    settings: &Settings,
    output: &mut Output,
) -> Result<(), Failure> {
    let rows = simulate_runs(arguments.seed, arguments.runs, settings)
        .map_err(|error| Failure::Internal(error.to_string()))?;
    if arguments.json { as_json(&rows, arguments, output) } else { as_text(&rows, arguments, output) }
}

fn as_text(
    rows: &[(RunPolicy, RunTally)],
    arguments: &RunsArguments,
    output: &mut Output,
) -> Result<(), Failure> {
    output.line(&format!("{}, seed {}", counted(arguments.runs, "goal"), arguments.seed))?;
    output.line("")?;
    output.line(&format!(
        "{:36} {:>8} {:>10} {:>8} {:>10} {:>7} {:>9} {:>11} {:>13}",
        "policy",
        "done",
        "false done",
        "unseen",
        "false stop",
        "calls",
        "attempts",
        "$ for done",
        "$ for failed"
    ))?;
    for (policy, tally) in rows {
        line(policy.name(), tally, output)?;
    }
    output.line("")?;
    output.lines([
        "done:        reported as done, and really done",
        "false done:  reported as done although a check of the run fails on the result, or files outside the scope changed",
        "unseen:      reported as done although something is missing that no check of the run asks for: the plan left it",
        "             out, or a task has no check, and the models that read the result missed it",
        "false stop:  stopped although another policy in this table really finished the same goal",
        "calls, attempts and dollars are averages per goal; prices are made up",
        "Agents, judges and goals are simulated: see crates/simulate/parameters/whole_runs.toml",
    ])
}

#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53")]
fn line(first: &str, tally: &RunTally, output: &mut Output) -> Result<(), Failure> {
    let percent = |number: u32| tally.share(number) * 100.0;
    output.line(&format!(
        "{first:36} {:6.1} % {:8.1} % {:6.1} % {:8.1} % {:7.1} {:9.1} {:11.2} {:13.2}",
        percent(tally.done),
        percent(tally.false_done),
        percent(tally.unseen),
        percent(tally.false_stop),
        tally.average(tally.model_calls as f64),
        tally.average(tally.attempts as f64),
        tally.average(tally.cost_of_done),
        tally.average(tally.cost_of_failed),
    ))
}

#[derive(Serialize)]
struct Row<'a> {
    policy: &'static str,
    #[serde(flatten)]
    tally: &'a RunTally,
}

fn as_json(
    rows: &[(RunPolicy, RunTally)],
    arguments: &RunsArguments,
    output: &mut Output,
) -> Result<(), Failure> {
    let rows: Vec<Row<'_>> =
        rows.iter().map(|(policy, tally)| Row { policy: policy.name(), tally }).collect();
    output.json(&json!({ "seed": arguments.seed, "runs": arguments.runs, "rows": rows }))
}
