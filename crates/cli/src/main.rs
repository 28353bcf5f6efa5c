//! The `fixpoint` command: the composition root. It reads arguments and process globals, calls what the other crates
//! decide, and renders the result; it decides nothing itself.

mod agent;
mod allowance;
mod app_context;
mod arguments;
mod commands;
mod cost;
mod delivery_target;
mod dispatcher;
mod display;
mod environment;
mod failure;
mod forgotten_dashes;
mod judge_noise;
mod language;
mod output;
mod person;
mod prompt_text;
mod record_words;
mod repository;
mod sandbox;
mod scripted_person;
mod selected_checks;
mod session;
mod signals;
mod single_commands;
mod terminal_text;
mod text_layout;
mod trust;
mod usable_checks;
mod user_config_api;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use crate::app_context::AppContext;
use crate::arguments::Arguments;
use crate::output::Output;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    match words.next() {
        Some(first) if first == sandbox::SUPERVISE => return fixpoint_processes::supervisor_main(words),
        Some(first) if first == sandbox::LAUNCH => return fixpoint_sandbox::launcher_main(words),
        Some(_) | None => {}
    }
    let typed: Vec<OsString> = std::env::args_os().collect();
    let arguments = match Arguments::try_parse_from(&typed) {
        Ok(arguments) => arguments,
        Err(error) => {
            report_usage(&typed, &error);
            forgotten_dashes::hint(&typed, &error).iter().for_each(|hint| output::complain(hint));
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let app = AppContext::of_this_process(&arguments.global);
    let mut output = Output::to_stdout(app.lang);
    let result = commands::run(&arguments, &app, &mut output);
    // The command's own exit code tells more than that its output was lost.
    let codes = [result, output.finish().map(|()| 0)].map(|result| match result {
        Ok(code) => code,
        Err(failure) => {
            for line in failure.to_string().lines() {
                output::complain(&format!("fixpoint: {line}"));
            }
            failure.exit_code()
        }
    });
    ExitCode::from(codes.into_iter().find(|code| *code != 0).unwrap_or(0))
}

/// Errors of standard error are ignored: there is no other place to report them. A word that a terminal would obey is shown
/// without colours, and without what makes it obey.
fn report_usage(typed: &[OsString], error: &clap::Error) {
    let is_hostile = |word: &OsString| {
        let word = word.to_string_lossy();
        terminal_text::harmless(&word) != word
    };
    if typed.iter().any(is_hostile) {
        output::complain(error.render().to_string().trim_end());
    } else {
        let _ = error.print();
    }
}
