//! The watchdog: the parent of the supervisor, which kills the tree if the supervisor is killed.
//!
//! It decides nothing else and sends nothing. It holds the socket open until it exits, so the process that started it
//! knows that the tree is gone when the socket is closed.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{Pid, setsid};

use super::SUPERVISOR;
use super::events::{Event, report_exits};
use super::termination::{Termination, TreeEnd};
use crate::tree;

pub(super) fn watch() -> io::Result<TreeEnd> {
    tree::set_process_name(c"fxp-watchdog");
    // In a session of its own it does not get Ctrl-C from the terminal. The process that started it passes on stops.
    setsid()?;
    tree::adopt_orphans()?;
    let supervisor = start_supervisor()?;
    if succeeded(supervisor) {
        return Ok(TreeEnd { stragglers: 0, left: 0 });
    }
    let (sender, events) = sync_channel(16);
    report_exits(supervisor, sender)?;
    let mut termination = Termination::new(supervisor, Duration::ZERO);
    termination.kill(Instant::now());
    loop {
        if let Some(end) = termination.end() {
            return Ok(end);
        }
        match events.recv_timeout(termination.wait_time(Instant::now())) {
            Ok(Event::NoChildren) => termination.no_children(),
            Ok(Event::ProgramExited(_) | Event::Ordered(_) | Event::ParentGone) => {}
            Err(_) => termination.tick(Instant::now()),
        }
    }
}

fn start_supervisor() -> io::Result<Pid> {
    let mut own: Vec<OsString> = std::env::args_os().collect();
    own.push(SUPERVISOR.into());
    let mut own = own.into_iter();
    let mut command = Command::new(tree::this_program()?);
    command.arg0(own.next().unwrap_or_default()).args(own).env_clear();
    let child = command.spawn()?;
    i32::try_from(child.id()).map(Pid::from_raw).map_err(io::Error::other)
}

/// Waits for the supervisor, and returns whether it reported that nothing is left.
fn succeeded(supervisor: Pid) -> bool {
    loop {
        match waitpid(supervisor, None) {
            Err(Errno::EINTR) => {}
            status => return status == Ok(WaitStatus::Exited(supervisor, 0)),
        }
    }
}
