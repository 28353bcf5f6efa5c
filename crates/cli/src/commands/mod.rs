//! The commands, one file each.

mod cache;
mod calibrate;
mod check;
pub(crate) mod config;
pub(crate) mod decide;
pub(crate) mod demo;
mod doctor;
mod gc;
mod history;
mod init;
mod list;
mod logs;
mod loop_command;
mod outcome;
mod plan_text;
mod replay;
mod results;
mod resume;
mod rm;
mod run_command;
pub(crate) mod schema;
mod show;
pub(crate) mod simulate;
mod stop;
mod trust;

use clap::CommandFactory;

use crate::app_context::AppContext;
use crate::arguments::{Arguments, Command};
use crate::failure::Failure;
use crate::output::Output;

/// Runs the command that was typed and answers its exit code.
pub(crate) fn run(arguments: &Arguments, app: &AppContext, output: &mut Output) -> Result<u8, Failure> {
    match &arguments.command {
        Command::Loop(looped) => return loop_command::run(looped, app, output),
        Command::Run(run) => return run_command::run(run, app, output),
        Command::Plan(plan) => return run_command::plan(plan, app, output),
        Command::Calibrate(calibrate) => return calibrate::run(calibrate, app, output),
        Command::Check(check) => return check::run(check, app, output),
        Command::Resume(resume) => return resume::run(resume, app, output),
        Command::Stop(stop) => return stop::run(stop, app, output),
        Command::Apply(apply) => return results::apply(apply, app, output),
        Command::Doctor(doctor) => return doctor::run(doctor, app, output),
        Command::Init(init) => return init::run(init, app, output),
        Command::Demo(demo) => return demo::run(demo, app, output),
        Command::Replay(replay) => return replay::run(replay, app, output),
        Command::Diff(diff) => results::diff(diff, app, output)?,
        Command::Logs(logs) => logs::run(logs, app, output)?,
        Command::List(list) => list::run(list, app, output)?,
        Command::Status(run) => show::status(run, app, output)?,
        Command::Show(run) => show::show(run, app, output)?,
        Command::History(run) => history::run(run, app, output)?,
        Command::Explain(run) => show::explain(run, app, output)?,
        Command::Rm(rm) => rm::run(rm, app, output)?,
        Command::Gc(gc) => gc::run(gc, app, output)?,
        Command::Decide(decide) => decide::run(decide, output)?,
        Command::Cache(cache) => cache::run(cache, app, output)?,
        Command::Config(config) => config::run(config, app, output)?,
        Command::Trust(trust) => trust::run(trust, app, output)?,
        Command::Schema(schema) => schema::run(schema.name, output)?,
        Command::Simulate(simulate) => simulate::run(simulate, app, output)?,
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Arguments::command(), "fixpoint", &mut script);
            output.text(&String::from_utf8_lossy(&script))?;
        }
    }
    Ok(0)
}
