//! The commands, one file each.

mod cache;
mod calibrate;
mod check;
pub(crate) mod config;
pub(crate) mod decide;
pub(crate) mod demo;
mod doctor;
mod gc;
mod init;
mod looking;
mod looping;
mod outcome;
mod plan_text;
mod replay;
mod results;
mod running;
pub(crate) mod schema;
pub(crate) mod simulate;
mod steering;

use clap::CommandFactory;

use crate::arguments::{Arguments, Command};
use crate::failure::Failure;
use crate::output::Output;
use crate::surroundings::Surroundings;

/// Runs the command that was typed and answers its exit code.
pub(crate) fn run(
    arguments: &Arguments,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<u8, Failure> {
    match &arguments.command {
        Command::Loop(looped) => return looping::run(looped, surroundings, output),
        Command::Run(run) => return running::run(run, surroundings, output),
        Command::Plan(plan) => return running::plan(plan, surroundings, output),
        Command::Calibrate(calibrate) => return calibrate::run(calibrate, surroundings, output),
        Command::Check(check) => return check::run(check, surroundings, output),
        Command::Resume(resume) => return steering::resume(resume, surroundings, output),
        Command::Stop(stop) => return steering::stop(stop, surroundings, output),
        Command::Apply(apply) => return results::apply(apply, surroundings, output),
        Command::Doctor(doctor) => return doctor::run(doctor, surroundings, output),
        Command::Demo(demo) => return demo::run(demo, surroundings, output),
        Command::Replay(replay) => return replay::run(replay, surroundings, output),
        Command::Diff(diff) => results::diff(diff, surroundings, output)?,
        Command::Logs(logs) => results::logs(logs, surroundings, output)?,
        Command::Init(init) => init::run(init, surroundings, output)?,
        Command::List(list) => looking::list(list, surroundings, output)?,
        Command::Status(run) => looking::status(run, surroundings, output)?,
        Command::Show(run) => looking::show(run, surroundings, output)?,
        Command::History(run) => looking::history(run, surroundings, output)?,
        Command::Explain(run) => looking::explain(run, surroundings, output)?,
        Command::Gc(gc) => gc::run(gc, surroundings, output)?,
        Command::Decide(decide) => decide::run(decide, output)?,
        Command::Cache(cache) => cache::run(cache, surroundings, output)?,
        Command::Config(config) => config::run(config, surroundings, output)?,
        Command::Schema(schema) => schema::run(schema.name, output)?,
        Command::Simulate(simulate) => simulate::run(simulate, surroundings, output)?,
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Arguments::command(), "fixpoint", &mut script);
            output.text(&String::from_utf8_lossy(&script))?;
        }
    }
    Ok(0)
}
