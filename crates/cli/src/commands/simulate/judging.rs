//! `fixpoint simulate judging`: how often two plans are compared wrongly.

use clap::Args;
use fixpoint_simulate::{JudgingRow, Method, simulate_judging};
use fixpoint_vocabulary::settings::Settings;
use serde_json::{Value, json};

use crate::arguments::number;
use crate::failure::Failure;
use crate::output::Output;

#[derive(Debug, Args)]
pub(crate) struct JudgingArguments {
    /// Random seed; the same seed gives the same table
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Comparisons per row of the table
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = number::<u32>(1..=10_000_000))]
    runs: u32,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(
    arguments: &JudgingArguments,
    settings: &Settings,
    output: &mut Output,
) -> Result<(), Failure> {
    let JudgingArguments { seed, runs, json } = arguments;
    let rows = simulate_judging(*seed, *runs, &settings.refinement, &settings.judge);
    if *json {
        let rows: Vec<Value> = rows.iter().map(row_json).collect();
        output.json(&json!({ "seed": seed, "runs": runs, "rows": rows }))
    } else {
        table(&rows, *seed, *runs, output)
    }
}

fn method_name(method: Method) -> &'static str {
    match method {
        Method::FixedThreshold => "fixed threshold",
        Method::Calibrated => "calibrated, σ known",
        Method::CalibratedLearning => "calibrated, σ learned",
    }
}

fn row_json(row: &JudgingRow) -> Value {
    json!({
        "sigma": row.sigma,
        "method": method_name(row.method),
        "false_change": row.false_change(),
        "missed_change": row.missed_change(),
        "further_calls_unchanged": row.unchanged.further_calls,
        "further_calls_changed": row.improved.further_calls,
    })
}

fn table(rows: &[JudgingRow], seed: u64, runs: u32, output: &mut Output) -> Result<(), Failure> {
    output.line(&format!("{runs} comparisons per row, seed {seed}; each plan starts with one score"))?;
    output.line("false change:  two equally good plans are called different")?;
    output.line("missed change: a plan that is 8 points better is not recognised as better")?;
    output.line("further calls: judge calls after the first two, without and with a real change")?;
    output.line("")?;
    output.line("   σ  method                  false change  missed change  further calls")?;
    for row in rows {
        output.line(&format!(
            "{:4.1}  {:22}  {:10.1} %  {:11.1} %  {:6.2} {:6.2}",
            row.sigma,
            method_name(row.method),
            row.false_change() * 100.0,
            row.missed_change() * 100.0,
            row.unchanged.further_calls,
            row.improved.further_calls,
        ))?;
    }
    Ok(())
}
