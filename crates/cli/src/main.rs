//! The `fixpoint` command: the composition root. It reads arguments and surroundings, calls what the other crates
//! decide, and renders the result; it decides nothing itself.

mod agent;
mod allowance;
mod arguments;
mod commands;
mod dispatcher;
mod display;
mod environment;
mod evidence;
mod failure;
mod judge_noise;
mod language;
mod output;
mod person;
mod personal;
mod prompt_text;
mod repository;
mod session;
mod signals;
mod staging;
mod surroundings;

use std::process::ExitCode;

use clap::Parser;

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::output::Output;
use crate::surroundings::Surroundings;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    if words.next().is_some_and(|first| first == session::SUPERVISE) {
        return fixpoint_processes::supervisor_main(words);
    }
    let arguments = Arguments::parse();
    let surroundings = Surroundings::of_this_process(&arguments);
    let mut output = Output::to_stdout(surroundings.lang);
    let result = commands::run(&arguments, &surroundings, &mut output);
    match result.and_then(|code| output.finish().map(|()| code)) {
        Ok(code) => ExitCode::from(code),
        // A reader that has seen enough is no failure of ours.
        Err(Failure::ReaderGone) => ExitCode::SUCCESS,
        Err(failure) => {
            for line in failure.to_string().lines() {
                output::complain(&format!("fixpoint: {line}"));
            }
            ExitCode::from(failure.exit_code())
        }
    }
}
