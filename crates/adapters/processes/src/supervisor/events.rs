//! What can happen to a supervisor, from two threads that wait for it: the socket, and the deaths of children.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::SyncSender;
use std::thread;

use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::wire::{Order, Report, read_frame};

/// Something happened.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The process that started us wants this.
    Ordered(Order),
    /// The process that started us is gone, or talks nonsense.
    ParentGone,
    /// The program itself ended, as this report says.
    ProgramEnded(Report),
    /// There are no children left, dead or alive. None will come.
    Childless,
}

/// The first of the real-time signals stands for all of them: they have no names by which to tell them apart.
const REAL_TIME_SIGNAL: i32 = 34;

/// Waits for orders in a thread of its own, until there can be no more.
pub(super) fn listen(mut control: UnixStream, events: SyncSender<Event>) -> io::Result<()> {
    let wait = move || {
        loop {
            let order = read_frame(&mut control).ok().and_then(|body| Order::parse(&body).ok());
            let event = order.map_or(Event::ParentGone, Event::Ordered);
            let last = event == Event::ParentGone;
            if events.send(event).is_err() || last {
                return;
            }
        }
    };
    thread::Builder::new().spawn(wait).map(|_| ())
}

/// Waits for the deaths of all children, the adopted ones included, in a thread of its own.
pub(super) fn notice_deaths(program: Pid, events: SyncSender<Event>) -> io::Result<()> {
    let wait = move || {
        loop {
            let event = match waitpid(None, None) {
                Ok(WaitStatus::Exited(pid, code)) if pid == program => {
                    Event::ProgramEnded(Report::Exited(code))
                }
                Ok(WaitStatus::Signaled(pid, signal, _)) if pid == program => {
                    Event::ProgramEnded(Report::Signalled(signal as i32))
                }
                // A child died of a signal without a name; it was the program if that is no longer there.
                Err(Errno::EINVAL) if kill(program, None) == Err(Errno::ESRCH) => {
                    Event::ProgramEnded(Report::Signalled(REAL_TIME_SIGNAL))
                }
                Err(Errno::ECHILD) => Event::Childless,
                Ok(_) | Err(_) => continue,
            };
            let last = event == Event::Childless;
            if events.send(event).is_err() || last {
                return;
            }
        }
    };
    thread::Builder::new().spawn(wait).map(|_| ())
}
