//! The other side: what the same program does when it is started again to supervise.
//!
//! A supervisor is handed three descriptors: what the program will read, where it will write, and, in place of the
//! error stream, the socket to the process that started it. It has no environment and no telling arguments.

mod ending;
mod events;
mod guard;
mod keeper;

use std::ffi::OsString;
use std::process::ExitCode;

pub(crate) use ending::{KILL_BOUND, SETTLE};

/// The argument by which the guard starts the keeper.
const KEEPER: &str = "keeper";

/// Supervises one program, as told by the process that started this one. To be called first thing, with the
/// arguments that follow those of the command given to [`SupervisedProcesses::new`](crate::SupervisedProcesses::new).
pub fn supervisor_main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    // The error stream is the socket, on which a message for people would be noise.
    std::panic::set_hook(Box::new(|_| {}));
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let clean = match arguments.as_slice() {
        [] => guard::guard(),
        [role] if role == KEEPER => keeper::keep(),
        _ => return ExitCode::from(2),
    };
    // Success says one thing only: nothing of the tree is left.
    match clean {
        Ok(ending::Over { left: 0, .. }) => ExitCode::SUCCESS,
        Ok(ending::Over { .. }) | Err(_) => ExitCode::FAILURE,
    }
}
