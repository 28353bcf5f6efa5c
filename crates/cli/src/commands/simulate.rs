//! `fixpoint simulate`: tables of what a configuration would do, and simulated crashes.
//!
//! Rejects arguments that would have no effect.

mod crash;
mod judging;
mod runs;
mod tasks;

use clap::{Args, Subcommand};

use crate::app_context::AppContext;
use crate::arguments::SetArguments;
use crate::failure::Failure;
use crate::output::Output;

use self::crash::CrashArguments;
use self::judging::JudgingArguments;
use self::runs::RunsArguments;
use self::tasks::TasksArguments;

const HELP: &str = "\
Without a command: simulates many tasks with made-up agents, and compares this
configuration with two simpler loops that are in common use. Nothing is executed
and no file is changed. The same seed gives the same table.

Examples:
  fixpoint simulate
  fixpoint simulate --by-agent --set convergence.stall_threshold=4
  fixpoint simulate judging
  fixpoint simulate runs";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct SimulateArguments {
    #[command(flatten)]
    set: SetArguments,
    #[command(flatten)]
    tasks: TasksArguments,
    #[command(subcommand)]
    command: Option<SimulateCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SimulateCommand {
    /// How often plans are compared wrongly: fixed threshold versus calibrated judge
    Judging(JudgingArguments),
    /// Complete runs with made-up goals, compared with simpler policies
    Runs(RunsArguments),
    /// One power loss in the middle of a task: does the task still end the same way?
    Crash(CrashArguments),
}

pub(crate) fn run(
    arguments: &SimulateArguments,
    app: &AppContext,
    output: &mut Output,
) -> Result<(), Failure> {
    let settings = || app.configuration(&arguments.set).map(|loaded| loaded.settings);
    if let (Some(typed), Some(_)) = (arguments.tasks.typed(), &arguments.command) {
        return Err(Failure::BadInput(format!(
            "`{typed}` has no effect before a subcommand; put it after the subcommand"
        )));
    }
    match &arguments.command {
        None => tasks::run(&arguments.tasks, &settings()?, output),
        Some(SimulateCommand::Judging(judging)) => judging::run(judging, &settings()?, output),
        Some(SimulateCommand::Runs(runs)) => runs::run(runs, &settings()?, output),
        Some(SimulateCommand::Crash(_)) if !arguments.set.sets.is_empty() => Err(Failure::BadInput(
            "`simulate crash` always uses the default settings, so that a crash can be reproduced; omit `--set`"
                .to_string(),
        )),
        Some(SimulateCommand::Crash(crash)) => crash::run(crash, output),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use fixpoint_simulate::{Agent, Crash, Project, Residue, World};

    use crate::arguments::{Arguments, Command};

    use super::*;

    fn parsed(line: &str) -> SimulateArguments {
        let arguments = Arguments::try_parse_from(line.split_whitespace()).expect("it can be typed");
        let Command::Simulate(simulate) = arguments.command else { panic!("{line}: {arguments:?}") };
        simulate
    }

    /// Catches a test that prints a command which cannot be typed, or means another crash.
    #[test]
    fn the_command_that_a_failure_prints_can_be_typed() {
        for (agent, world) in Agent::ALL.into_iter().zip(World::ALL.into_iter().cycle()) {
            for residue in [Residue::Short, Residue::Zeros] {
                let (project, crash) = (Project::new(7, agent, world), Crash { after_bytes: 99, residue });
                match parsed(&crash.command(&project).to_string()).command {
                    Some(SimulateCommand::Crash(typed)) => assert_eq!(typed.meant(), Some((project, crash))),
                    other @ (Some(SimulateCommand::Judging(_) | SimulateCommand::Runs(_)) | None) => {
                        panic!("{other:?}")
                    }
                }
            }
        }
    }

    #[test]
    fn what_would_have_no_effect_is_named() {
        for (line, typed) in [
            ("fixpoint simulate", None),
            ("fixpoint simulate --set max_workers=2 judging --seed 3", None),
            ("fixpoint simulate --seed 3 judging", Some("--seed")),
            ("fixpoint simulate --json judging", Some("--json")),
            ("fixpoint simulate --by-agent --runs 3", Some("--runs")),
        ] {
            assert_eq!(parsed(line).tasks.typed(), typed, "{line}");
        }
    }
}
