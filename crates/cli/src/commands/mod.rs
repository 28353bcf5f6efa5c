//! The commands, one file each.

pub(crate) mod config;
pub(crate) mod decide;
pub(crate) mod demo;
pub(crate) mod schema;
pub(crate) mod simulate;

use clap::CommandFactory;

use crate::arguments::{Arguments, Command};
use crate::failure::Failure;
use crate::output::Output;
use crate::surroundings::Surroundings;

/// Runs the command that was typed.
pub(crate) fn run(
    arguments: &Arguments,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<(), Failure> {
    match &arguments.command {
        Command::Demo(demo) => demo::run(demo, output),
        Command::Decide(decide) => decide::run(decide, output),
        Command::Config(config) => config::run(config, surroundings, output),
        Command::Schema(schema) => schema::run(schema.name, output),
        Command::Simulate(simulate) => simulate::run(simulate, surroundings, output),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Arguments::command(), "fixpoint", &mut script);
            output.text(&String::from_utf8_lossy(&script))
        }
    }
}
