//! The `fixpoint` command: the composition root. It reads arguments and surroundings, calls what the other crates
//! decide, and renders the result; it decides nothing itself.

mod arguments;
mod commands;
mod failure;
mod language;
mod output;
mod surroundings;

use std::process::ExitCode;

use clap::Parser;

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::output::Output;
use crate::surroundings::Surroundings;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let surroundings = Surroundings::of_this_process(&arguments);
    let mut output = Output::to_stdout(surroundings.lang);
    let result = commands::run(&arguments, &surroundings, &mut output).and_then(|()| output.finish());
    match result {
        // A reader that has seen enough is no failure of ours.
        Ok(()) | Err(Failure::ReaderGone) => ExitCode::SUCCESS,
        Err(failure) => {
            for line in failure.to_string().lines() {
                output::complain(&format!("fixpoint: {line}"));
            }
            ExitCode::from(failure.exit_code())
        }
    }
}
