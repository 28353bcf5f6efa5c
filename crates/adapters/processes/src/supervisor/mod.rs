//! What this program does when it is started again as a supervisor or its watchdog.
//!
//! Both get three descriptors: stdin is what the program will read, stdout is where it will write, and stderr is the
//! socket to the process that started them. They have no environment and no arguments that tell what they run.

mod events;
mod supervise;
mod termination;
mod watchdog;

use std::ffi::OsString;
use std::process::ExitCode;

pub(crate) use termination::{KILL_TIMEOUT, SETTLE_TIME};

/// The argument with which the watchdog starts the supervisor.
const SUPERVISOR: &str = "supervisor";

/// Supervises one program for the process that started this one. Must be called before anything else, with the arguments
/// that follow those of the command given to [`SupervisedProcesses::new`](crate::SupervisedProcesses::new).
pub fn supervisor_main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    // Stderr is the socket, and a panic must not write to it.
    std::panic::set_hook(Box::new(|_| {}));
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let end = match arguments.as_slice() {
        [] => watchdog::watch(),
        [role] if role == SUPERVISOR => supervise::supervise(),
        _ => return ExitCode::from(2),
    };
    // 0 means one thing only: nothing of the tree is left.
    match end {
        Ok(termination::TreeEnd { left: 0, .. }) => ExitCode::SUCCESS,
        Ok(termination::TreeEnd { .. }) | Err(_) => ExitCode::FAILURE,
    }
}
