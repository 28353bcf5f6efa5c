//! `fixpoint simulate`: many tasks under this configuration, compared with two simpler loops in common use.

use clap::Args;
use fixpoint_simulate::{
    AGENTS, GOAL_TESTS, GUARD_TESTS, PolicyRow, Tally, TaskTable, WORLDS, simulate_tasks,
};
use fixpoint_vocabulary::counted;
use fixpoint_vocabulary::settings::Settings;
use serde_json::{Map, Value, json};

use crate::arguments::number;
use crate::failure::Failure;
use crate::output::Output;

const SEED: u64 = 1;
const RUNS: u32 = 1000;
/// Kinds of tasks that are listed.
const MOST_KINDS: usize = 20;

#[derive(Debug, Args)]
pub(crate) struct TasksArguments {
    /// Random seed; the same seed gives the same table [default: 1]
    #[arg(long)]
    seed: Option<u64>,
    /// Number of tasks [default: 1000]
    #[arg(long, value_name = "N", value_parser = number::<u32>(1..=1_000_000))]
    runs: Option<u32>,
    /// Also print a table for each kind of agent
    #[arg(long)]
    by_agent: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl TasksArguments {
    /// The first of these options that was given.
    pub(super) fn typed(&self) -> Option<&'static str> {
        let Self { seed, runs, by_agent, json } = self;
        let typed = [
            (seed.is_some(), "--seed"),
            (runs.is_some(), "--runs"),
            (*by_agent, "--by-agent"),
            (*json, "--json"),
        ];
        typed.into_iter().find_map(|(is_typed, name)| is_typed.then_some(name))
    }

    fn seed(&self) -> u64 {
        self.seed.unwrap_or(SEED)
    }

    fn runs(&self) -> u32 {
        self.runs.unwrap_or(RUNS)
    }
}

pub(super) fn run(
    arguments: &TasksArguments,
    settings: &Settings,
    output: &mut Output,
) -> Result<(), Failure> {
    let table = simulate_tasks(arguments.seed(), arguments.runs(), settings)
        .map_err(|error| Failure::Internal(error.to_string()))?;
    if arguments.json { as_json(&table, arguments, output) } else { as_text(&table, arguments, output) }
}

fn as_text(table: &TaskTable, arguments: &TasksArguments, output: &mut Output) -> Result<(), Failure> {
    let (seed, runs) = (arguments.seed(), arguments.runs());
    output.line(&format!(
        "{}, seed {seed}, at most {} each",
        counted(runs, "task"),
        counted(table.max_iterations, "attempt")
    ))?;
    output.line("")?;
    heading("policy", output)?;
    for row in &table.rows {
        line(row.policy.name(), &row.total, output)?;
    }
    output.line("")?;
    heading("only agents that cheat", output)?;
    for row in &table.rows {
        line(row.policy.name(), &row.cheating(), output)?;
    }
    output.line("")?;
    heading("only worlds hard to read", output)?;
    for row in &table.rows {
        line(row.policy.name(), &row.hard_to_read(), output)?;
    }
    if let Some(row) = table.rows.first() {
        output.line("")?;
        heading(&format!("{}, by world", row.policy.name()), output)?;
        for (world, tally) in &row.by_world {
            line(&format!("{} ({})", world.name(), tally.tasks), tally, output)?;
        }
        let hard = row.hard_to_read();
        output.line(&format!(
            "Of the tasks in worlds hard to read, {:.1} % are stopped falsely and would not be in a plain world.",
            hard.share(hard.stopped_by_world) * 100.0
        ))?;
    }
    if arguments.by_agent {
        for row in &table.rows {
            output.line("")?;
            heading(&format!("{}, by agent", row.policy.name()), output)?;
            for (agent, tally) in &row.by_agent {
                line(&format!("{} ({})", agent.name(), tally.tasks), tally, output)?;
            }
        }
        false_stops(table, output)?;
    }
    output.line("")?;
    notes(table, output)
}

/// Where the false stops come from: the kinds of tasks with most of them.
fn false_stops(table: &TaskTable, output: &mut Output) -> Result<(), Failure> {
    let Some(row) = table.rows.first() else { return Ok(()) };
    let mut kinds: Vec<_> = row.by_both.iter().filter(|(_, tally)| tally.false_stop > 0).collect();
    kinds.sort_by_key(|(_, tally)| std::cmp::Reverse(tally.false_stop));
    output.line("")?;
    heading(&format!("{}, most false stops", row.policy.name()), output)?;
    for ((agent, world), tally) in kinds.into_iter().take(MOST_KINDS) {
        let name = format!("{}, {}: {} of {}", agent.name(), world.name(), tally.false_stop, tally.tasks);
        line(&name, tally, output)?;
    }
    Ok(())
}

fn heading(first: &str, output: &mut Output) -> Result<(), Failure> {
    output.line(&format!(
        "{first:36} {:>8} {:>10} {:>8} {:>10} {:>9} {:>7}",
        "done", "false done", "unseen", "false stop", "attempts", "suites"
    ))
}

#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53")]
fn line(first: &str, tally: &Tally, output: &mut Output) -> Result<(), Failure> {
    let percent = |number: u32| tally.share(number) * 100.0;
    output.line(&format!(
        "{first:36} {:6.1} % {:8.1} % {:6.1} % {:8.1} % {:9.2} {:7.2}",
        percent(tally.done),
        percent(tally.false_done),
        percent(tally.unseen),
        percent(tally.false_stop),
        tally.average(tally.attempts as f64),
        tally.average(tally.suites),
    ))
}

fn notes(table: &TaskTable, output: &mut Output) -> Result<(), Failure> {
    output.lines([
        "done:        reported as done, and really done",
        "false done:  reported as done although tests are missing or fail with the base's tests and definitions, or",
        "             files outside the scope changed",
        "unseen:      reported as done although something is wrong that no check that ran could show: a test that is",
        "             now flaky, a test that is gone where no tests are named (code written only to satisfy",
        "             the tests is not simulated)",
        "false stop:  stopped although the agent would have finished within the allowed attempts",
        "attempts and suites are averages per task. A suite is every check run once; a single test that is run again",
    ])?;
    output.line(&format!(
        "counts as its share of its check's tests (goal {GOAL_TESTS}, guard {GUARD_TESTS})."
    ))?;
    output.lines([
        "The simple loops run all checks twice on the base and after each attempt. They are done when the goal",
        "passes and the guard passes or failed on the base already.",
        "Agents that cheat: cheats (weakens or deletes tests of the goal), hides-breaks (the same with tests of the",
        "guard that it broke), redefines (changes what a check does), plants (leaves ignored files that make",
        "later checks pass).",
        "Worlds hard to read: environment (checks fail because of their environment sometimes, once or twice in a",
        "row), no-reader (the output names no tests; failures are lines, one of them known), first-problems (the",
        "same, and only the first three are printed).",
    ])?;
    output.line(&format!("agents in %: {}", shares(AGENTS.map(|(agent, share)| (agent.name(), share)))))?;
    output.line(&format!("worlds in %: {}", shares(WORLDS.map(|(world, share)| (world.name(), share)))))?;
    if let Some(PolicyRow { total, .. }) = table.rows.first() {
        output.line("")?;
        output.line(&format!(
            "For its done tasks, Fixpoint ran {:.2} of the suites that a full run after each attempt and twice on the",
            total.share_of_everything(),
        ))?;
        output.line(&format!(
            "base would take ({:.2} if every test counts the same instead of every check).",
            total.share_of_everything_by_tests(),
        ))?;
    }
    Ok(())
}

fn shares<const N: usize>(shares: [(&str, u32); N]) -> String {
    shares.map(|(name, share)| format!("{name} {share}")).join(", ")
}

fn as_json(table: &TaskTable, arguments: &TasksArguments, output: &mut Output) -> Result<(), Failure> {
    let (seed, runs) = (arguments.seed(), arguments.runs());
    let row = |row: &PolicyRow| {
        let mut entry = tally_json(&row.total);
        entry.insert("policy".to_string(), row.policy.name().into());
        entry.insert("cheating".to_string(), tally_json(&row.cheating()).into());
        entry.insert("hard_to_read".to_string(), tally_json(&row.hard_to_read()).into());
        let worlds =
            row.by_world.iter().map(|(world, tally)| (world.name().to_string(), tally_json(tally).into()));
        entry.insert("by_world".to_string(), Value::Object(worlds.collect()));
        if arguments.by_agent {
            let agents = row
                .by_agent
                .iter()
                .map(|(agent, tally)| (agent.name().to_string(), tally_json(tally).into()));
            entry.insert("by_agent".to_string(), Value::Object(agents.collect()));
        }
        Value::Object(entry)
    };
    let rows: Vec<Value> = table.rows.iter().map(row).collect();
    output.json(&json!({ "seed": seed, "runs": runs, "max_iterations": table.max_iterations, "rows": rows }))
}

#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53")]
fn tally_json(tally: &Tally) -> Map<String, Value> {
    let fields = [
        ("tasks", json!(tally.tasks)),
        ("done", json!(tally.done)),
        ("false_done", json!(tally.false_done)),
        ("unseen", json!(tally.unseen)),
        ("stopped", json!(tally.stopped)),
        ("false_stop", json!(tally.false_stop)),
        ("stopped_by_world", json!(tally.stopped_by_world)),
        ("attempts_per_task", json!(tally.average(tally.attempts as f64))),
        ("suites_per_task", json!(tally.average(tally.suites))),
        ("suites_per_finished_task", json!(tally.suites_per_finished())),
        ("share_of_everything", json!(tally.share_of_everything())),
        ("share_of_everything_by_tests", json!(tally.share_of_everything_by_tests())),
    ];
    fields.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}
