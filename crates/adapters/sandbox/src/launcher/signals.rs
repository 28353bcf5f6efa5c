//! Signals of the outer process: it waits until its namespace has ended, and ends in the same way.

use std::process::ExitCode;

use nix::sys::signal::{SigHandler, Signal, raise};
use nix::sys::wait::WaitStatus;

use super::NOT_STARTED;
use super::first_process::ProgramEnd;

const STOPS: [Signal; 5] =
    [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGQUIT, Signal::SIGPIPE];

/// A stop is meant for the program, which gets it too. If this process ended, the kernel would kill the program at once.
pub(super) fn ignore_stops() {
    STOPS.iter().for_each(|stop| set(*stop, SigHandler::SigIgn));
}

fn set(number: Signal, handler: SigHandler) {
    // A stop that is not ignored only ends the program sooner; SIGKILL has only its default.
    let _ = crate::raw::set_signal(number, handler);
}

/// The program gets signals as if nothing had been between it and its supervisor.
pub(super) fn reset() {
    STOPS.iter().for_each(|stop| set(*stop, SigHandler::SigDfl));
}

/// Ends this process as the program ended.
pub(super) fn end_like(program: Option<ProgramEnd>, first: WaitStatus) -> ExitCode {
    match (program, first) {
        (Some(ProgramEnd::Exited(code)), _) => ExitCode::from(code),
        (Some(ProgramEnd::Killed(number)), _) => die(Signal::try_from(i32::from(number)).ok()),
        (None, WaitStatus::Exited(_, code)) => ExitCode::from(u8::try_from(code).unwrap_or(NOT_STARTED)),
        (None, WaitStatus::Signaled(_, number, _)) => die(Some(number)),
        (
            None,
            WaitStatus::Stopped(..)
            | WaitStatus::PtraceEvent(..)
            | WaitStatus::PtraceSyscall(_)
            | WaitStatus::Continued(_)
            | WaitStatus::StillAlive,
        ) => ExitCode::from(NOT_STARTED),
    }
}

fn die(number: Option<Signal>) -> ExitCode {
    if let Some(number) = number {
        // Some have a handler of the runtime.
        set(number, SigHandler::SigDfl);
        let _ = raise(number);
    }
    ExitCode::from(NOT_STARTED)
}
