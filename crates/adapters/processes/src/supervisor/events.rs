//! The events of a supervisor, from two threads: orders from the socket, and exits of children.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::SyncSender;
use std::thread;

use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::protocol::{Report, StopOrder, read_frame};

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Event {
    Ordered(StopOrder),
    /// The process that started us is gone, or sent something that cannot be parsed.
    ParentGone,
    ProgramExited(Report),
    /// There are no children any more, not even zombies, and there will be none.
    NoChildren,
}

/// The first real-time signal, reported for all of them: `waitpid` of `nix` does not say which it was.
const REAL_TIME_SIGNAL: i32 = 34;

/// Waits for orders in a thread of its own, until the other end is gone.
pub(super) fn receive_orders(mut control: UnixStream, events: SyncSender<Event>) -> io::Result<()> {
    let wait = move || {
        loop {
            let order = read_frame(&mut control).ok().and_then(|body| StopOrder::parse(&body).ok());
            let event = order.map_or(Event::ParentGone, Event::Ordered);
            let last = event == Event::ParentGone;
            if events.send(event).is_err() || last {
                return;
            }
        }
    };
    thread::Builder::new().spawn(wait).map(|_| ())
}

/// Waits for the exits of all children, also of adopted ones, in a thread of its own.
pub(super) fn report_exits(program: Pid, events: SyncSender<Event>) -> io::Result<()> {
    let wait = move || {
        loop {
            let event = match waitpid(None, None) {
                Ok(WaitStatus::Exited(pid, code)) if pid == program => {
                    Event::ProgramExited(Report::Exited(code))
                }
                Ok(WaitStatus::Signaled(pid, signal, _)) if pid == program => {
                    Event::ProgramExited(Report::Signalled(signal as i32))
                }
                // A real-time signal killed a child; it was the program if that does not exist any more.
                Err(Errno::EINVAL) if kill(program, None) == Err(Errno::ESRCH) => {
                    Event::ProgramExited(Report::Signalled(REAL_TIME_SIGNAL))
                }
                Err(Errno::ECHILD) => Event::NoChildren,
                Ok(_) | Err(_) => continue,
            };
            let last = event == Event::NoChildren;
            if events.send(event).is_err() || last {
                return;
            }
        }
    };
    thread::Builder::new().spawn(wait).map(|_| ())
}
